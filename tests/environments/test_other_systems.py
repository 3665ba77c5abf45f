"""What is special to one operating system has a replacement on others: a simulated Windows and macOS find the same."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.test_find import Run, run, said

__all__ = ["run"]

ROOT = Path(__file__).parents[2]
# Runs several commands, so that all that is slow about a start comes once; what they print is divided by a line.
PROGRAM = """
import json, sys
from tests.environments.other_systems import become
become(sys.argv[1])
from ibidem.cli.main import main
for command in json.loads(sys.argv[2]):
    sys.argv = ["ibidem", *command]
    try:
        main()
    except SystemExit as end:
        assert not end.code, command
    print("\\0", end="", flush=True)
"""
SHARED = "The ferry left the harbour at noon with forty passengers, and nobody saw it again before the storm had passed. "
MORE = "Engineers replaced the pump with one taken from a sister ship that lay at the northern berth. "


def ibidem(system: str, *commands: Sequence[str | Path]) -> list[str]:
    """Run commands on a simulated system, one after the other; return what each printed."""
    listed = json.dumps([[str(word) for word in command] for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, system, listed], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\0")[:-1]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    bodies = [
        f"{SHARED}{MORE}One ends here.",
        f"Another begins. {SHARED}{MORE}",
        "Nothing of it is in the third text, which is short.",
    ]
    path.write_text("".join(json.dumps({"id": f"t{n}", "text": body}) + "\n" for n, body in enumerate(bodies)), "utf-8")
    return path


@pytest.mark.parametrize("system", ["windows", "macos"])
def test_a_run_in_memory_and_on_disk_finds_the_same(system: str, run: Run, texts: Path, tmp_path: Path) -> None:
    folders = {where: tmp_path / f"out-{where}" for where in ("linux", "memory", "disk")}
    commands = {where: ["find", texts, "-o", out, "--format", "jsonl"] for where, out in folders.items()}
    said(run(*map(str, commands["linux"])), 0)
    ibidem(system, commands["memory"], [*commands["disk"], "--memory", "64MB"])
    found = {where: (out / "passages.jsonl").read_text("utf-8") for where, out in folders.items()}
    assert found["linux"].count("\n") == 1
    assert set(found.values()) == {found["linux"]}
    for out in folders.values():
        assert json.loads((out / "run.json").read_text("utf-8"))["peak_memory_bytes"] >= 0


@pytest.mark.parametrize("system", ["windows", "macos"])
def test_an_index_grows_answers_and_is_locked(system: str, run: Run, texts: Path, tmp_path: Path) -> None:
    index = tmp_path / "news.idx"
    _, answer = ibidem(system, ["index", "add", index, texts], ["index", "query", index, texts])
    here = run("index", "query", str(index), str(texts))
    assert (here.code, here.out) == (0, answer)
    assert "t1" in answer
    ibidem(system, ["index", "remove", index, "t2"], ["index", "verify", index])


def test_the_lock_of_windows_excludes_others_and_says_who(tmp_path: Path) -> None:
    script = f"""
from tests.environments.other_systems import become; become("windows")
from pathlib import Path
from ibidem.execution.locks import FileLock, HeldByAnotherError
lock = FileLock(Path({str(tmp_path / "lock")!r}))
with lock:
    try:
        FileLock(lock.path).__enter__()
    except HeldByAnotherError as error:
        print(error.who)
with lock:
    print("again")
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "this process (pid" in done.stdout
    assert done.stdout.endswith("again\n")
