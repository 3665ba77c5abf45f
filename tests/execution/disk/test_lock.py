"""One run at a time writes into an output folder."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from ibidem.errors import OutputExistsError, ResourceError
from ibidem.execution.disk import work_folder
from ibidem.execution.disk.work_folder import occupied
from ibidem.execution.locks import FileLock, HeldByAnotherError
from tests.cli.test_find import Run, said, write_jsonl
from tests.holding import holder
from tests.texts import documents, text


@pytest.fixture(autouse=True)
def news(tmp_path: Path) -> None:
    """A file of documents."""
    write_jsonl(tmp_path / "news.jsonl", documents(text(1, 2, 3, 4), text(1, 2, 3, 5), text(1, 2, 3, 4)))


def test_who_comes_second_is_turned_away_and_told_by_whom(run: Run, tmp_path: Path) -> None:
    with holder("ibidem.execution.disk.work_folder", "occupied", tmp_path / "out") as process:
        for verb in ("find", "cluster", "dedup"):
            for way in ((), ("--partitions", "3"), ("--overwrite",), ("--resume",)):
                answer = run(verb, "news.jsonl", "-o", "out", *way)
                said(answer, 2, f"another process (pid {process.pid}) has been writing to out since ")
                assert time.strftime("since %Y-", time.gmtime()) in answer.err
                assert "Wait until it has finished, or give another folder." in answer.err
        (tmp_path / "pairs.csv").write_text("a_id,b_id\nd0,d1\n")
        said(run("compare", "news.jsonl", "--pairs", "pairs.csv", "-o", "out"), 2, f"another process (pid {process.pid})")
        said(run("find", "news.jsonl", "-o", "elsewhere"), 0)
        process.communicate("")  # ends it in peace
        assert process.returncode == 0
    assert not (tmp_path / "out").exists()
    said(run("find", "news.jsonl", "-o", "out"), 0)


def test_a_killed_run_frees_the_folder(run: Run, tmp_path: Path) -> None:
    with holder("ibidem.execution.disk.work_folder", "occupied", tmp_path / "out") as process:
        process.kill()
        process.wait()
    for verb in ("find", "cluster", "dedup"):
        assert (tmp_path / "out" / ".work").exists()
        shutil.copytree(tmp_path / "out", tmp_path / verb)
        said(run(verb, "news.jsonl", "-o", verb), 0)
        assert not (tmp_path / verb / ".work").exists()


def test_a_dry_run_writes_nothing_and_waits_for_nobody(run: Run, tmp_path: Path) -> None:
    with holder("ibidem.execution.disk.work_folder", "occupied", tmp_path / "out"):
        for way in ((), ("--partitions", "3")):
            answer = run("dedup", "news.jsonl", "-o", "out", "--dry-run", *way)
            assert answer.code == 0, answer.err
            assert "1 whole document would be removed" in answer.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["news.jsonl", "out"]


def test_threads_of_one_process(tmp_path: Path) -> None:
    with occupied(tmp_path / "out"):
        told: list[str] = []

        def second() -> None:
            with pytest.raises(OutputExistsError) as caught, occupied(tmp_path / "out"):
                pass
            told.append(caught.value.message)

        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
        assert told[0].startswith(f"this process (pid {os.getpid()}) has been writing to {tmp_path / 'out'} since ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("way", [(), ("--partitions", "3")], ids=["memory", "disk"])
def test_files_of_others_in_the_work_folder_stay(run: Run, tmp_path: Path, way: tuple[str, ...]) -> None:
    note = tmp_path / "out" / ".work" / "stages" / "note.txt"
    note.parent.mkdir(parents=True)
    note.write_text("mine")
    said(run("find", "news.jsonl", "-o", "out", *way), 2 if way else 0)
    assert note.read_text() == "mine"
    assert [path.name for path in (tmp_path / "out" / ".work").iterdir()] == ["stages"]


def test_folders_that_were_made_go_and_others_stay(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    with occupied(tmp_path / "old" / "new" / "out"):
        pass
    assert not list((tmp_path / "old").iterdir())
    with occupied(tmp_path / "new" / "out") as place:
        (tmp_path / "new" / "out" / "run.json").write_text("{}")
        assert place.is_unfinished
    assert [path.name for path in (tmp_path / "new" / "out").iterdir()] == ["run.json"]


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path / "out" / ".work"))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(ResourceError, match=r"cannot write to .*out: Permission denied"), occupied(tmp_path / "out"):
        pass


def test_a_lock_whose_file_was_removed_meanwhile_is_not_taken_for_one(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with FileLock(path):
        path.unlink()
        with FileLock(path), pytest.raises(HeldByAnotherError, match="this process"), FileLock(path):
            pass
    with FileLock(path):
        assert path.read_text().startswith(f"pid {os.getpid()} since ")
    assert path.read_text() == ""


@pytest.mark.parametrize("moment", ["make_folder", "FileLock", "_held", "unlink"])
def test_an_interruption_at_any_moment_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """Whatever was just done is done, and then the signal comes; it comes once."""
    signals = iter([KeyboardInterrupt])

    def interrupt() -> None:
        for signal in signals:
            raise signal

    class InterruptedLock(FileLock):
        def __enter__(self) -> FileLock:
            super().__enter__()
            interrupt()
            return self

    class InterruptedSet(set[str]):
        def add(self, name: str) -> None:
            super().add(name)
            interrupt()

    def make(folder: Path) -> None:
        folder.mkdir(parents=True)
        interrupt()

    def unlink(path: Path) -> None:
        os.unlink(path)
        interrupt()

    if moment == "unlink":
        monkeypatch.setattr(Path, "unlink", unlink)
    else:
        changed = {"make_folder": make, "FileLock": InterruptedLock, "_held": InterruptedSet()}
        monkeypatch.setattr(work_folder, moment, changed[moment])
    with pytest.raises(KeyboardInterrupt), occupied(tmp_path / "a" / "out"):
        pass
    assert not (tmp_path / "a").exists()
