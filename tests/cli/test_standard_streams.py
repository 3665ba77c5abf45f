"""Standard streams that are closed, full or without a reader: a message and an exit code, or work as usual."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.texts import text

COMMAND = [sys.executable, "-m", "ibidem"]


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(f'{{"id": "d{n}", "text": "{text(1, 2, 3)}"}}\n' for n in range(3)))
    return path


def run(words: str, folder: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command line through a shell, which can close streams."""
    command = words.replace("ibidem", " ".join(COMMAND), 1)
    return subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=300, **options)


@pytest.mark.parametrize("verb", ["find", "cluster", "dedup"])
def test_standard_input_that_is_closed_is_told(verb: str, tmp_path: Path) -> None:
    done = run(f"ibidem {verb} - -o out <&-", tmp_path)
    assert done.returncode == 2
    assert "standard input is closed" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("words", ["--help", "find --help", "eval documents.jsonl documents.jsonl --json"])
def test_standard_output_that_takes_nothing_is_told(words: str, tmp_path: Path) -> None:
    row = '{"a_id": "x", "a_start": 0, "a_end": 9, "b_id": "y", "b_start": 0, "b_end": 9}\n'
    (tmp_path / "documents.jsonl").write_text(row)
    done = run(f"ibidem {words} >/dev/full", tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (5, False)
    assert "cannot read or write standard output: No space left" in done.stderr


def test_nobody_listens_and_the_work_goes_on(tmp_path: Path, collection: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [*COMMAND, "find", str(collection), "-o", "out", "--verbose", "--partitions", "2"]
    done = subprocess.run(command, stderr=writer, cwd=tmp_path, timeout=300, check=False)
    os.close(writer)
    assert done.returncode == 0
    assert (tmp_path / "out" / "run.json").exists()


def test_streams_that_are_closed_do_not_keep_a_run_from_its_end(tmp_path: Path, collection: Path) -> None:
    done = run(f"ibidem find {collection} -o out >&- 2>&- <&-", tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "out" / "run.json").exists()
