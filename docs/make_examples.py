"""Runs the commands that the README and the docs show, and writes what they print below them.

    python docs/make_examples.py

A block `console` is a session: lines after `$ ` are run, and what follows is what they print. A block `sh` is run, too, in the
README, in *Get started* and in the guides; elsewhere its options are checked. Each page has a folder of its own, with the
examples of the repository and files that stand in for the user's.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import shlex
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pyarrow.json
import pyarrow.parquet

from ibidem.cli.main import main
from ibidem.cli.verbs import ibidem as program

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
NEWS = ROOT / "examples" / "newsroom" / "documents.jsonl"
WORKED = [ROOT / "README.md", DOCS / "get-started.md", *sorted((DOCS / "guides").glob("*.md"))]
CHECKED = [page for folder in ("reference", "operations") for page in sorted((DOCS / folder).glob("*.md"))]
_BLOCK = re.compile(r"^```(console|sh)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SHELL = re.compile(r"[|<>;&*~]")
_VARYING = re.compile(r"\d[\d,]*(\.\d+)?(?= (s|kB|MB|bytes per sentence)\b)|\d[\d,]* documents?(?= per second)")
_SERVER_SECONDS = 300  # for machines with much else to do
_WARC = """WARC/1.0\r
WARC-Type: response\r
WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>\r
WARC-Date: 2031-04-17T06:45:00Z\r
WARC-Target-URI: http://harbour-post.example/page\r
Content-Type: application/http; msgtype=response\r
Content-Length: {size}\r
\r
{body}\r
\r
"""


class ExampleError(Exception):
    """A command of the docs does not do what it should."""


@contextlib.contextmanager
def workspace() -> Iterator[Path]:
    """Give a folder in which the commands of a page can be run, and go there."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "examples").symlink_to(ROOT / "examples")
        _stand_ins(folder)
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(here)


def _stand_ins(folder: Path) -> None:
    """Write the files that users have: articles, an archive, a mailbox, pages."""
    lines = NEWS.read_text("utf-8").splitlines(keepends=True)
    for name, some in (("articles/april.jsonl", lines[:20]), ("archive/old.jsonl", lines[20:30])):
        (folder / name).parent.mkdir()
        (folder / name).write_text("".join(some), "utf-8")
    table = pyarrow.json.read_json(io.BytesIO("".join(lines[30:]).encode()))
    pyarrow.parquet.write_table(table, folder / "new.parquet")
    (folder / "mail.jsonl.gz").write_bytes(gzip.compress("".join(lines[:10]).encode()))
    words = "".join(f"<p>{paragraph}</p>" for paragraph in ("The ferry was late. " * 5, "Nobody minded at all. " * 5))
    body = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body><main>{words}</main></body></html>"
    (folder / "crawl.warc.gz").write_bytes(gzip.compress(_WARC.format(size=len(body), body=body).encode()))
    commands = folder / ".commands"
    commands.mkdir()
    command = commands / "ibidem"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ibidem "$@"\n', "utf-8")
    command.chmod(command.stat().st_mode | stat.S_IXUSR)


def run(command: str) -> str:
    """Run a command in the present folder and return what it prints; raise if it fails."""
    words = shlex.split(command, comments=True)
    if words[0] == "ibidem" and words[1] in ("serve", "mcp"):
        return _serve(words)
    if words[0] == "ibidem" and not _SHELL.search(command.partition(" #")[0]):
        code, said = _call(words[1:])
    else:
        path = f"{os.getcwd()}/.commands{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command], env=_environment() | {"PATH": path}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        code, said = done.returncode, done.stdout
    if code not in (0, -13, 141):  # the last two: the reader of a pipe has seen enough
        raise ExampleError(f"{command}: exit code {code}\n{said}")
    return "".join(line for line in said.splitlines(keepends=True) if not line.startswith("ibidem: "))


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "LINES"}  # with it, COLUMNS alone would not count
    return kept | {"COLUMNS": "80", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def _call(arguments: list[str]) -> tuple[int, str]:
    """Run the program in this process, which is quicker."""
    words, code, said = sys.argv, 0, io.StringIO()
    size = {name: os.environ.pop(name) for name in ("COLUMNS", "LINES") if name in os.environ}
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            sys.argv, os.environ["COLUMNS"] = ["ibidem", *arguments], "80"
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            sys.argv = words
            os.environ.pop("COLUMNS")
            os.environ |= size
    return code, said.getvalue()


def _serve(words: list[str]) -> str:
    """Start the server at a free port, wait until it says where it is, and end it."""
    command = [sys.executable, "-m", "ibidem", *words[1:], "--port", "0"]
    with open("server.log", "w+", encoding="utf-8") as log:
        server = subprocess.Popen(command, env=_environment(), stdout=log, stderr=subprocess.STDOUT)
        try:
            end = time.monotonic() + _SERVER_SECONDS
            while time.monotonic() < end and server.poll() is None:
                if "http://" in Path("server.log").read_text("utf-8"):
                    return ""
                time.sleep(0.1)
        finally:
            server.terminate()
            server.wait()
        raise ExampleError(f"{shlex.join(words)}: {Path('server.log').read_text('utf-8')}")


def run_or_check(command: str) -> None:
    """Run a line of a block `sh`, or check what cannot be run here: `make`, `pip` and the shell's own."""
    words = shlex.split(command, comments=True)
    if words[:1] == ["make"]:
        if not re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE):
            raise ExampleError(f"{command}: no such target")
    elif words and words[0] not in (".", "pip"):
        run(command)


def check_options(command: str) -> None:
    """Check that the options of a command exist, without running it."""
    for part in command.split(" #")[0].split("|"):
        words = shlex.split(re.sub(r"[<>] *\S+", "", part))
        if words[:1] == ["ibidem"]:
            _parse(program, words[1:], None)


def _parse(command: click.Command, words: list[str], parent: click.Context | None) -> None:
    try:
        if isinstance(command, click.Group):
            with click.Context(command, parent=parent) as context:
                _, below, rest = command.resolve_command(context, words)
                assert below is not None
            _parse(below, rest, context)
        else:
            command.make_context(command.name, list(words), parent=parent).close()
    except click.ClickException as error:
        raise ExampleError(f"{' '.join(words)}: {error.format_message()}") from error


def session(text: str) -> str:
    """Run a session and return it with what is printed now; what differs only in times and sizes stays."""
    lines: list[str] = []
    for part in re.split(r"^(?=\$ )", text, flags=re.MULTILINE):
        command, _, before = part.partition("\n")
        if command:
            printed = run(command.removeprefix("$ "))
            same = _VARYING.sub("N", printed) == _VARYING.sub("N", before)
            lines += [f"{command}\n", before if same else printed]
    return "".join(lines)


def refreshed(page: Path) -> str:
    """Return a page with every block run, or checked."""
    text = page.read_text("utf-8")

    def fresh(found: re.Match[str]) -> str:
        language, block = found.groups()
        if language == "console":
            return f"```console\n{session(block)}```"
        for line in filter(str.strip, re.sub(r"\\\n\s*", "", block).splitlines()):
            if page in WORKED:
                run_or_check(line)
            else:
                check_options(line)
        return found.group(0)

    if not _BLOCK.search(text):
        return text
    with workspace():
        return _BLOCK.sub(fresh, text)


if __name__ == "__main__":
    for page in [*WORKED, *CHECKED]:
        page.write_text(refreshed(page), "utf-8")
