"""Ctrl-C, requests to end, and disks that are full: one message, the right exit code, and nothing half done left behind."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.test_find import Run
from tests.waiting import LIMIT_SECONDS, wait_until_taken

COMMAND = [sys.executable, "-m", "ibidem"]
VERBS = {
    "find": ["find", "-", "-o", "out"],
    "cluster": ["cluster", "-", "-o", "out"],
    "dedup": ["dedup", "-", "-o", "out"],
    "index": ["index", "add", "news.idx", "-"],
}
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
# Work that is interrupted, and takes as long to end as standard input is open.
KERNEL = """
import sys, threading
from ibidem.cli import signals as interrupting
interrupting.PATIENCE_SECONDS = float(sys.argv[1])
try:
    with interrupting.interruptible():
        try:
            print("working", flush=True)
            threading.Event().wait()
        except KeyboardInterrupt:
            print("ending", flush=True)
            sys.stdin.read()
except KeyboardInterrupt:
    pass
sys.exit(interrupting.exit_code())
"""


def line(number: int) -> bytes:
    text = f"Number {number} of the ferries to the northern islands left the small harbour at seven. " * 3
    return json.dumps({"id": str(number), "text": text}).encode() + b"\n"


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.name != "news.idx" and "news.idx" not in path.parts)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("verb", VERBS)
def test_an_interrupted_verb_leaves_nothing(verb: str, number: int, code: int, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    with subprocess.Popen(
        [*COMMAND, *VERBS[verb], "-q"], cwd=tmp_path, env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        assert started.stdin is not None
        assert started.stderr is not None
        started.stdin.write(line(1) + line(2))
        wait_until_taken(started.stdin)
        started.send_signal(number)
        assert started.wait(LIMIT_SECONDS) == code
        assert started.stderr.read().decode().splitlines()[-1] == "ibidem: interrupted"
    assert left_in(tmp_path) == ["tmp"]


@contextmanager
def interrupted(patience_seconds: float) -> Iterator[subprocess.Popen[str]]:
    """Yield a process that has been interrupted, and has not ended."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", KERNEL, str(patience_seconds)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == "working\n"
        started.send_signal(signal.SIGTERM)
        assert started.stdout.readline() == "ending\n"
        yield started


def test_a_run_that_takes_longer_to_end_says_that_it_waits() -> None:
    with interrupted(0.1) as started:
        assert started.stderr is not None
        waiting = "ibidem: interrupted; waiting for the current step (press Ctrl-C again to quit at once)\n"
        assert started.stderr.readline() == waiting
        assert started.communicate(timeout=LIMIT_SECONDS) == ("", "")  # it closes standard input
        assert started.returncode == 143


def test_a_run_that_ends_soon_says_nothing_of_waiting() -> None:
    with interrupted(LIMIT_SECONDS) as started:
        assert started.communicate(timeout=LIMIT_SECONDS) == ("", "")
        assert started.returncode == 143


def test_a_second_request_ends_at_once() -> None:
    with interrupted(LIMIT_SECONDS) as started:
        started.send_signal(signal.SIGTERM)
        assert started.wait(LIMIT_SECONDS) == 143  # though standard input is open


def test_a_full_disk_does_not_stop_kernels_that_are_not_compiled_yet(tmp_path: Path) -> None:
    """Numba cannot store what it compiles either: it is compiled all the same, and the run fails where it writes results."""
    (tmp_path / "documents.jsonl").write_bytes(line(1) + line(2))
    done = subprocess.run(
        [*COMMAND, "cluster", "documents.jsonl", "-o", "out", "-q"], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )  # fmt: skip
    assert done.returncode == 5
    assert done.stderr.startswith("ibidem: cannot write to out: ")


@contextmanager
def small_disk(n_bytes: int) -> Iterator[None]:
    """Let no file of this process grow beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("form", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize("verb", ["find", "cluster"])
def test_a_full_disk_leaves_what_was_there(run: Run, verb: str, form: str, tmp_path: Path) -> None:
    command = [verb, "documents.jsonl", "-q", "--format", form, "--overwrite", "-o"]
    (tmp_path / "documents.jsonl").write_bytes(line(1) + line(2))
    assert run(*command, "out").code == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    texts = [json.loads(line(k))["text"] for k in range(40)]
    rows = [json.dumps({"id": f"{i}-{'x' * 3000}", "text": texts[i % 40]}) for i in range(80)]
    (tmp_path / "documents.jsonl").write_text("\n".join(rows))
    for folder in ("out", "new"):
        with small_disk(2000):
            answer = run(*command, folder)
        assert answer.code == 5
        assert answer.err.startswith(f"ibidem: cannot write to {folder}: ")
        assert "File too large" in answer.err
        assert "Traceback" not in answer.err
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
    assert not (tmp_path / "new").exists() or not list((tmp_path / "new").iterdir())
