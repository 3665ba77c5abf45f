"""What is on disk for good: in which order files and folders are synced, and where that cannot be done."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from ibidem.execution.durable_files import make_folder, replace_file, sync_file, sync_files, sync_folder


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is synced and renamed from now on, by name."""
    calls: list[str] = []
    replace = os.replace

    def fsync(descriptor: int) -> None:
        calls.append(f"sync {Path(os.readlink(f'/proc/self/fd/{descriptor}')).name}")

    def renamed(source: Any, target: Any) -> None:
        calls.append(f"name {Path(target).name}")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", renamed)
    return calls


def test_content_comes_before_its_name_and_the_folder_after(done: list[str], tmp_path: Path) -> None:
    (tmp_path / "aside").write_text("x")
    replace_file(tmp_path / "aside", tmp_path / "file")
    assert done == ["sync aside", "name file", f"sync {tmp_path.name}"]
    assert (tmp_path / "file").read_text() == "x"


def test_new_folders_are_synced_into_those_above_them(done: list[str], tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b" / "c")
    assert done == [f"sync {tmp_path.name}", "sync a", "sync b"]
    make_folder(tmp_path / "a" / "b" / "c")
    assert len(done) == 3
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "file")


def test_all_files_are_synced(done: list[str], tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}" for number in range(20)]
    for path in paths:
        path.touch()
    sync_files(paths)
    sync_files([])
    assert sorted(done) == sorted(f"sync {number}" for number in range(20))


@pytest.mark.parametrize(("number", "is_told"), [(errno.EINVAL, False), (errno.ENOTSUP, False), (errno.EIO, True)])
def test_what_cannot_be_synced_is_no_error_and_what_fails_is(
    number: int, is_told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    (tmp_path / "file").touch()
    monkeypatch.setattr(os, "fsync", fail)
    for sync, path in ((sync_file, tmp_path / "file"), (sync_folder, tmp_path)):
        if is_told:
            with pytest.raises(OSError, match=os.strerror(number)):
                sync(path)
        else:
            sync(path)
