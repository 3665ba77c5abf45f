"""The system calls of a process, as `strace` tells them.

`strace` is asked, not a library loaded before others (LD_PRELOAD): Python, SQLite and Arrow write from C, the C library calls
itself without passing through names that could be replaced, and a traced process cannot get around the kernel.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CALLS = (
    "open,openat,openat2,creat,write,pwrite64,writev,pwritev,pwritev2,truncate,ftruncate,rename,renameat,renameat2,link,linkat,"
    "unlink,unlinkat,symlink,symlinkat,mkdir,mkdirat,rmdir,fsync,fdatasync,sync,syncfs,msync,mmap,close,dup,dup2,dup3,fcntl,"
    "lseek,copy_file_range,sendfile,splice,fallocate,io_uring_setup,io_submit,clone,clone3,fork,vfork"
)
_STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')
_PATH_OF_DESCRIPTOR = re.compile(r"(?<=[\dD])<((?:\\x[0-9a-f]{2})*)>(?:\(deleted\))?")
_CALL = re.compile(r"(\w+)\((.*)\)\s+= (-?\d+|\?)", re.DOTALL)


class TraceError(Exception):
    """The trace has calls whose effect is not known, or ends too early."""


@cache
def why_not() -> str:
    """Return why no process can be traced here, or an empty text."""
    if not sys.platform.startswith("linux") or shutil.which("strace") is None:
        return "strace is not installed"
    tried = subprocess.run(["strace", "-f", "-o", os.devnull, "true"], capture_output=True, text=True)
    return f"strace may not trace: {tried.stderr.strip()[-200:]}" if tried.returncode else ""


def record(command: Sequence[str], log: Path, cwd: Path, environment: Mapping[str, str]) -> None:
    """Run a command to its end, and write its system calls to a log."""
    options = ["-f", "-y", "-xx", "-s", "1000000000", "-e", f"trace={_CALLS}", "-e", "signal=none", "-o", str(log)]
    ended = subprocess.run(["strace", *options, *command], cwd=cwd, env=dict(environment), capture_output=True, text=True)
    if ended.returncode:
        raise TraceError(f"the traced process ended with {ended.returncode}: {ended.stderr[-2000:]}")


def calls_in(log: Path) -> Iterator[tuple[Call | None, str, bool]]:
    """Yield for each call first that it began (None), and then, if it succeeded, the call: those of several threads overlap.

    With it come its thread, and whether that is one of the process that was started.
    """
    lines = log.read_text("ascii").splitlines()
    own = _threads(lines)
    begun: dict[str, str] = {}
    for line in lines:
        thread, _, text = line.partition(" ")
        text = text.strip()
        if text.startswith(("+++", "---")):
            continue
        if text.endswith("<unfinished ...>"):
            begun[thread] = text.removesuffix("<unfinished ...>")
            yield None, thread, thread in own
            continue
        if text.startswith("<... "):
            text = begun.pop(thread) + text.partition("resumed>")[2]
        else:
            yield None, thread, thread in own
        if call := _parse(text):
            yield call, thread, thread in own


def _threads(lines: Sequence[str]) -> set[str]:
    """Return the threads of the process that was started, as opposed to those of processes that it started."""
    starts: dict[str, str] = {}
    own: set[str] = set()
    for line in lines:
        thread, _, text = line.partition(" ")
        own = own or {thread}
        text = text.strip()
        if text.startswith("<... clone"):
            text = starts.pop(thread) + text.partition("resumed>")[2]
        if text.startswith("clone"):
            if text.endswith("<unfinished ...>"):
                starts[thread] = text.removesuffix("<unfinished ...>")
            elif thread in own and "CLONE_THREAD" in text:
                own.add(text.rpartition("= ")[2])
    return own


@dataclass(frozen=True)
class Call:
    """One call that succeeded: its arguments, with `$0`, `$1` … in the places of texts."""

    name: str
    arguments: list[str]
    texts: list[bytes]
    result: int

    def number(self, at: int) -> int:
        return int(self.arguments[at], 0)

    def text(self, at: int) -> bytes:
        return self.texts[int(self.arguments[at].removeprefix("$"))]


def _parse(line: str) -> Call | None:
    texts: list[bytes] = []

    def take_out(found: re.Match[str]) -> str:
        if found.re is _STRING and found[2]:
            raise TraceError("a text is cut off in the trace")
        texts.append(bytes.fromhex(found[1].replace("\\x", "")))
        return f"${len(texts) - 1}" if found.re is _STRING else f"@{len(texts) - 1}"

    line = _STRING.sub(take_out, line)
    line = _PATH_OF_DESCRIPTOR.sub(take_out, line)
    found = _CALL.match(line)
    if found is None:
        raise TraceError(f"a line that makes no sense: {line[:200]}")
    if found[3] == "?" or int(found[3]) < 0:
        return None
    return Call(found[1], _split(found[2]), texts, int(found[3]))


def _split(arguments: str) -> list[str]:
    """Cut arguments at the commas that are in no bracket."""
    parts, depth = [""], 0
    for sign in arguments:
        depth += (sign in "[{(") - (sign in ")}]")
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]
