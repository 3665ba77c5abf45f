"""A full disk: the exit code says so, and space can be gained by removing documents, without any to begin with."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ibidem.errors import IndexSpaceError, ResourceError
from ibidem.index.array_files import write_problem
from ibidem.index.index import Index
from tests.index_faults import Texts, problems_of, records

IBIDEM = [sys.executable, "-c", "from ibidem.cli.main import main; main()"]
_DISK_BYTES = 400 << 10
_FILLING_BYTES = 4 << 10


def texts_of(prefix: str, n_documents: int, first: int) -> Texts:
    """Return documents of three sentences of their own."""
    return {f"{prefix}{number:03}": tuple(range(first + 3 * number, first + 3 * number + 3)) for number in range(n_documents)}


HALF, WHOLE, REST = texts_of("half", 40, 0), texts_of("whole", 40, 200), texts_of("rest", 40, 400)
MOST = dict(list(HALF.items())[:30])
LEFT = {name: numbers for name, numbers in HALF.items() if name not in MOST}


def make(folder: Path) -> Path:
    """Make an index of three segments, the first of which cannot be freed without being written again."""
    with Index(folder) as index:
        for part in (HALF, WHOLE, REST):
            index.add(records(part))
        assert index.info()["segments"] == 3
    return folder


def full(*arguments: Any) -> int:
    raise IndexSpaceError("no space left", "Free some space.")


def test_removing_frees_whole_segments_before_it_writes_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make(tmp_path / "index")
    with Index(folder) as index:
        monkeypatch.setattr("ibidem.index.commits.write_arrays", full)
        assert index.remove([*MOST, *WHOLE]) == len(MOST) + len(WHOLE)
        assert index.info()["segments"] == 2
        assert len(list(folder.glob("segment-*.ibi"))) == 2
    assert problems_of(folder, [LEFT | REST]) == ([], 0)


def test_compacting_frees_whole_segments_before_it_writes_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make(tmp_path / "index")
    with Index(folder) as index:
        monkeypatch.setattr("ibidem.index.writer.Writer._tidy", lambda writer: None)  # as if it had been killed before
        index.remove([*MOST, *WHOLE])
        assert index.info()["segments"] == 3
        monkeypatch.setattr("ibidem.index.commits.write_arrays", full)
        with pytest.raises(IndexSpaceError):
            index.compact()
        assert index.info()["segments"] == 2
        assert len(list(folder.glob("segment-*.ibi"))) == 2
    assert problems_of(folder, [LEFT | REST]) == ([], 0)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_a_lack_of_resources(number: int) -> None:
    error = write_problem(Path("index"), OSError(number, os.strerror(number)))
    assert isinstance(error, ResourceError)
    assert error.exit_code == 5
    assert write_problem(Path("index"), OSError(errno.EROFS, "")).exit_code == 4


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a small disk in memory."""
    mounted = tmp_path / "disk"
    mounted.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_DISK_BYTES}", "none", str(mounted)], capture_output=True)
    if made.returncode:
        pytest.skip("no right to mount a disk")
    yield mounted
    subprocess.run(["umount", "-l", str(mounted)], check=True)


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*IBIDEM, *map(str, arguments)], capture_output=True, text=True)


def fill(disk: Path) -> None:
    """Leave less space than anything needs but a small commit."""
    state = os.statvfs(disk)
    (disk / "filling").write_bytes(bytes(max(0, state.f_bavail * state.f_frsize - 12 * _FILLING_BYTES)))


def test_a_small_disk(small_disk: Path, tmp_path: Path) -> None:
    folder = make(small_disk / "index")
    fill(small_disk)
    new = tmp_path / "new.jsonl"
    more = texts_of("new", 60, 600)
    new.write_text("".join(json.dumps(record) + "\n" for record in records(more)))
    added = run("index", "add", folder, new)
    assert added.returncode == 5, added.stderr
    assert "No space left" in added.stderr or "full" in added.stderr
    assert "Free some space" in added.stderr
    assert problems_of(folder, [HALF | WHOLE | REST]) == ([], 0)
    (tmp_path / "ids").write_text("\n".join([*MOST, *WHOLE]))
    removed = run("index", "remove", folder, "--from", tmp_path / "ids")
    assert removed.returncode == 0, removed.stderr
    assert len(list(folder.glob("segment-*.ibi"))) <= 2
    added = run("index", "add", folder, new)
    assert added.returncode == 0, added.stderr
    assert problems_of(folder, [LEFT | REST | more]) == ([], 0)


def test_no_space_even_for_a_journal_is_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    folder = make(small_disk / "index")
    state = os.statvfs(small_disk)
    (small_disk / "filling").write_bytes(bytes(state.f_bavail * state.f_frsize))
    removed = run("index", "remove", folder, *WHOLE)
    assert removed.returncode == 5, removed.stderr
    assert problems_of(folder, [HALF | WHOLE | REST]) == ([], 0)
