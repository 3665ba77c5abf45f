"""What is special to one operating system has a replacement on others: a simulated Windows and macOS find the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = "from tests.environments.other_systems import become; become('{}'); from ibidem.cli.main import main; main()"
SHARED = "The ferry left the harbour at noon with forty passengers, and nobody saw it again before the storm had passed. "
MORE = "Engineers replaced the pump with one taken from a sister ship that lay at the northern berth. "


def ibidem(system: str, *arguments: str | Path, code: int = 0, **options: str) -> subprocess.CompletedProcess[str]:
    """Run ibidem on a simulated system; "linux" is this one."""
    program = PROGRAM.format(system) if system != "linux" else "from ibidem.cli.main import main; main()"
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, **options})
    assert done.returncode == code, done.stderr
    return done


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
def test_a_run_in_memory_and_on_disk_finds_the_same(system: str, texts: Path, tmp_path: Path) -> None:
    found = {}
    for where, flags in {"linux": (), system: (), "disk": ("--memory", "64MB")}.items():
        out = tmp_path / f"out-{where}"
        ibidem(where if where == "linux" else system, "find", texts, "-o", out, "--format", "jsonl", *flags)
        found[where] = (out / "passages.jsonl").read_text("utf-8")
        assert json.loads((out / "run.json").read_text("utf-8"))["peak_memory_bytes"] >= 0
    assert found["linux"].count("\n") == 1
    assert set(found.values()) == {found["linux"]}


@pytest.mark.parametrize("system", ["windows", "macos"])
def test_an_index_grows_answers_and_is_locked(system: str, texts: Path, tmp_path: Path) -> None:
    index = tmp_path / "news.idx"
    ibidem(system, "index", "add", index, texts)
    answer = ibidem(system, "index", "query", index, texts).stdout
    assert answer == ibidem("linux", "index", "query", index, texts).stdout
    assert "t1" in answer
    ibidem(system, "index", "remove", index, "t2")
    ibidem(system, "index", "verify", index)


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
