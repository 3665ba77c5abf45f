"""The writer's lock: one holder, however it ends."""

from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path

import pytest

from ibidem.errors import IndexLockedError, IndexWriteError, NoIndexError
from ibidem.index.commits import WriterLock
from tests.holding import holder


def test_another_process_is_turned_away_at_once_and_told_why(tmp_path: Path) -> None:
    with holder("ibidem.index.commits", "WriterLock", tmp_path) as process:
        with pytest.raises(IndexLockedError) as caught, WriterLock(tmp_path):
            pass
        assert f"another process (pid {process.pid}) has been writing to the index" in caught.value.message
        assert time.strftime("since %Y-%m-%d", time.gmtime()) in caught.value.message
        assert caught.value.next_step
        process.communicate("")  # ends it in peace
        assert process.returncode == 0
        with WriterLock(tmp_path):
            pass


def test_a_killed_holder_frees_the_lock(tmp_path: Path) -> None:
    with holder("ibidem.index.commits", "WriterLock", tmp_path) as process:
        process.kill()
        process.wait()
        assert f"pid {process.pid} " in (tmp_path / "lock").read_text()
        with WriterLock(tmp_path):
            assert (tmp_path / "lock").read_text().startswith(f"pid {os.getpid()} since ")


def test_threads_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    n_inside = 0
    most_inside = 0
    count = threading.Lock()
    turned_away = threading.Event()

    def write() -> None:
        nonlocal n_inside, most_inside
        for _ in range(200):
            try:
                with WriterLock(tmp_path):
                    with count:
                        n_inside += 1
                        most_inside = max(most_inside, n_inside)
                    time.sleep(0.0001)
                    with count:
                        n_inside -= 1
                    assert turned_away.wait(60)  # the first one stays until another thread has tried
            except IndexLockedError:
                turned_away.set()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most_inside == 1
    assert turned_away.is_set()


def test_this_process_is_called_this_process(tmp_path: Path) -> None:
    with WriterLock(tmp_path):
        with (
            pytest.raises(IndexLockedError, match=rf"this process \(pid {os.getpid()}\) has been writing"),
            WriterLock(tmp_path),
        ):
            pass
        (tmp_path / "lock").write_bytes(b"")  # the holder has not yet written who it is
        with pytest.raises(IndexLockedError, match="another process has been writing"), WriterLock(tmp_path):
            pass


def test_a_lock_can_be_taken_again_and_its_file_stays(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path)
    for _ in range(3):
        with lock, pytest.raises(IndexLockedError), lock:
            pass
        assert (tmp_path / "lock").read_bytes() == b""
    with pytest.raises(RuntimeError), lock:
        raise RuntimeError
    with lock:
        pass
    assert os.listdir(tmp_path) == ["lock"]


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    n_open = len(os.listdir("/proc/self/fd"))
    with WriterLock(tmp_path):
        for _ in range(3):
            with pytest.raises(IndexLockedError), WriterLock(tmp_path):
                pass
        assert len(os.listdir("/proc/self/fd")) == n_open + 1
    assert len(os.listdir("/proc/self/fd")) == n_open


def test_there_must_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(NoIndexError), WriterLock(folder):
            pass


@pytest.mark.parametrize("call", ["open", "pwrite"])
@pytest.mark.parametrize(
    ("number", "advice"), [(errno.EROFS, "Check permissions, and that the disk"), (errno.ENOSPC, "Free some space")]
)
def test_where_nothing_can_be_written_there_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, advice: str
) -> None:
    def refuse(*arguments: object, **options: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(f"ibidem.execution.locks.os.{call}", refuse)
    with pytest.raises(IndexWriteError, match=os.strerror(number)) as caught, WriterLock(tmp_path):
        pass
    assert advice in caught.value.next_step
    monkeypatch.undo()
    with WriterLock(tmp_path):
        pass
