"""Signals while the program starts: it ends at once with the documented code, whatever is being loaded."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.waiting import LIMIT_SECONDS, wait_until

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
# Runs the command line, and stops at the import that is named: it says so, and goes on when a byte comes in.
STOPPING = """
import os, sys
wanted, said, go = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
class Stop:
    def find_spec(self, name, path=None, target=None):
        from ibidem.cli.signals import _loading
        if not wanted:
            os.write(said, f"{name} {bool(_loading)}\\n".encode())
        elif name == wanted:
            sys.meta_path.remove(self)
            os.write(said, b"stopped\\n")
            os.read(go, 1)
from ibidem.cli.main import main
sys.meta_path.insert(0, Stop())
sys.argv[1:4] = []
main()
"""
VERBS = {
    "find": ["find", "documents.jsonl", "-o", "out"],
    "cluster": ["cluster", "documents.jsonl", "-o", "out"],
    "dedup": ["dedup", "documents.jsonl", "-o", "out"],
    "compare": ["compare", "a.txt", "b.txt"],
    "index": ["index", "add", "news.idx", "documents.jsonl"],
    "watch": ["watch", "news.idx"],
    "serve": ["serve", "folder", "--port", "0"],
}
POINTS = [
    ("find", "click"),
    ("find", "ibidem.cli.verbs"),
    ("find", "ibidem.cli.find"),
    ("find", "ibidem.config"),
    ("find", "pyarrow"),
    ("find", "pyarrow.lib"),
    ("find", "numpy"),
    ("find", "numba"),
    ("find", "llvmlite"),
    ("find", "ibidem.api"),
    ("find", "ibidem.execution.warmup"),
    ("cluster", "pyarrow"),
    ("cluster", "numba"),
    ("dedup", "numba"),
    ("compare", "numba"),
    ("index", "numba"),
    ("watch", "ibidem.cli.watch"),
    ("watch", "pyarrow"),
    ("watch", "numba"),
    ("serve", "ibidem.cli.serve"),
    ("serve", "fastapi"),
    ("serve", "numba"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"id": name, "text": f"The ferries to the {name} islands left at seven. " * 3} for name in ("north", "south")]
    (tmp_path / "documents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for row in rows:
        (tmp_path / f"{'a' if row['id'] == 'north' else 'b'}.txt").write_text(row["text"])
    (tmp_path / "folder").mkdir()
    return tmp_path


@contextmanager
def started(folder: Path, verb: str, stop_at: str = "") -> Iterator[tuple[subprocess.Popen[bytes], int, int]]:
    """Run a verb; yield the process, what it says of imports, and where to write a byte for it to go on."""
    (said, its_said), (its_go, go) = os.pipe(), os.pipe()
    command = [sys.executable, "-c", STOPPING, stop_at, str(its_said), str(its_go), *VERBS[verb]]
    process = subprocess.Popen(
        command, cwd=folder, pass_fds=(its_said, its_go), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    os.close(its_said)
    os.close(its_go)
    try:
        yield process, said, go
    finally:
        process.kill()
        process.communicate()
        os.close(said)
        os.close(go)


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def interrupted(folder: Path, verb: str, stop_at: str, number: int, goes_on: bool = False) -> tuple[int, str]:
    """Send a signal while a module is being imported; return the exit code and what was said on standard error."""
    with started(folder, verb, stop_at) as (process, said, go):
        assert os.read(said, 100) == b"stopped\n", f"{stop_at} is not imported by {verb}"
        process.send_signal(number)
        if goes_on:
            os.write(go, b"!")
        _, err = process.communicate(timeout=LIMIT_SECONDS)
        return process.returncode, err.decode()


@pytest.mark.parametrize(("verb", "module"), POINTS)
def test_a_signal_while_a_library_loads_ends_the_process_at_once(folder: Path, verb: str, module: str) -> None:
    before = files_in(folder)
    # The import never ends: whoever waits for it waits for ever.
    assert interrupted(folder, verb, module, signal.SIGTERM) == (143, "ibidem: interrupted\n")
    assert files_in(folder) == before


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_every_signal_has_its_exit_code(folder: Path, number: int, code: int) -> None:
    assert interrupted(folder, "find", "numba", number) == (code, "ibidem: interrupted\n")


def imports_of(folder: Path, verb: str) -> Sequence[tuple[str, bool]]:
    """Return all modules that a verb imports, in order, and whether there is nothing to undo yet."""
    with started(folder, verb) as (process, said, _):
        lines = b"".join(iter(lambda: os.read(said, 1 << 16), b"")).decode().splitlines()
        assert process.wait(LIMIT_SECONDS) == 0
    pairs = [(name, is_loading == "True") for name, is_loading in map(str.split, lines)]
    return list(dict(reversed(pairs)).items())[::-1]  # each at its first import


def test_a_signal_at_any_import_of_a_run_leaves_nothing_behind(folder: Path) -> None:
    imported = imports_of(folder, "find")
    shutil.rmtree(folder / "out")
    before = files_in(folder)
    names = [name for name, is_loading in imported if is_loading]
    assert {"click", "pyarrow", "numpy", "numba", "ibidem.api"} <= set(names)
    for name in names[:: max(1, len(names) // 8)]:
        assert interrupted(folder, "find", name, signal.SIGTERM) == (143, "ibidem: interrupted\n"), name
        assert files_in(folder) == before
    later = [name for name, is_loading in imported if not is_loading]
    assert "ibidem.pipeline" in later
    for name in later[:: max(1, len(later) // 4)]:
        code, said = interrupted(folder, "find", name, signal.SIGTERM, goes_on=True)
        assert (code, said.splitlines()[-1]) == (143, "ibidem: interrupted"), name
        assert "Traceback" not in said
        assert files_in(folder) == before


SWALLOWING = {
    "an import": "import greedy",
    "a callback": "import ctypes; ctypes.CFUNCTYPE(None)(end)()",
    "the loading of a kernel": "from numba.like import load; load()",
    "a finalizer": "class Last:\n        def __del__(self): end()\n    Last()",
}
PROGRAM = """
import os, signal, sys, time
from ibidem.cli.signals import exit_code, interruptible
def end():
    os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(1000): pass
try:
  with interruptible():
    {statement}
    while True: time.sleep(0.01)
except KeyboardInterrupt:
    sys.exit(exit_code())
"""


@pytest.mark.parametrize("what", SWALLOWING)
def test_what_swallows_an_interruption_does_not_keep_the_run_from_its_end(what: str, tmp_path: Path) -> None:
    (tmp_path / "greedy.py").write_text(
        "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGTERM)\n    for _ in range(1000): pass\n"
        "except BaseException: pass\n"
    )
    if what == "the loading of a kernel":
        (tmp_path / "numba").mkdir()
        (tmp_path / "numba" / "__init__.py").touch()
        (tmp_path / "numba" / "like.py").write_text(
            "import os, signal\ndef load():\n    try:\n        os.kill(os.getpid(), signal.SIGTERM)\n"
            "        for _ in range(1000): pass\n    except BaseException as error:\n        raise SystemError from error\n"
        )
    program = PROGRAM.format(statement=SWALLOWING[what])
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
    )
    assert (done.returncode, done.stdout) == (143, "")
    assert "Traceback" not in done.stderr


def test_the_process_that_compiles_aside_ends_with_its_parent(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "ibidem.execution.warmup", "words", "find"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},  # there is much to compile
    ) as process:  # fmt: skip
        assert process.stdin is not None
        process.stdin.close()  # as by the end of the parent
        assert process.wait(LIMIT_SECONDS) == 1


# Stands in for Java: it answers what version it is, and never gets any further.
JAVA = """#!/bin/sh
[ "$1" = -version ] && { echo 'openjdk version "21.0.2"' >&2; exit 0; }
echo $$ > java.pid.part && mv java.pid.part java.pid
exec cat
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_java_starts_ends_both(number: int, code: int, folder: Path) -> None:
    pytest.importorskip("pyspark")
    java = folder / "bin" / "java"
    java.parent.mkdir()
    java.write_text(JAVA)
    java.chmod(0o755)
    with subprocess.Popen(
        [sys.executable, "-m", "ibidem", "find", "documents.jsonl", "-o", "out", "--engine", "spark"], cwd=folder,
        env={**os.environ, "JAVA_HOME": str(folder)}, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        wait_until((folder / "java.pid").exists, "a start of Java")
        process.send_signal(number)
        assert process.wait(LIMIT_SECONDS) == code
        assert process.stderr is not None
        assert "ibidem: interrupted" in process.stderr.read().splitlines()  # what starts Java may say something after it
    wait_until(lambda: not is_running(int((folder / "java.pid").read_text())), "an end of Java")
    assert not (folder / "out").exists()


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/status")  # one that has ended is there until somebody asks for how
    return not (status.exists() and "\nState:\tZ" in status.read_text())
