"""What a killed run has left is neither used for another run nor lost without a word; what fails leaves nothing behind."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.execution.disk.run import DiskRun
from tests.cli.test_find import Run, said, write_jsonl
from tests.execution.disk.crashes import Crashes
from tests.execution.disk.sameness import files_of
from tests.execution.random_collections import random_records

PARTS = ("--partitions", "3", "--workers", "2")
FIND = ("find", "news.jsonl", "-o", "out", "--format", "jsonl", *PARTS)


@pytest.fixture(autouse=True)
def news(tmp_path: Path) -> None:
    """Two collections."""
    write_jsonl(tmp_path / "news.jsonl", random_records(3, 14))
    write_jsonl(tmp_path / "others.jsonl", random_records(5, 8, "e"))


def everything(folder: Path) -> dict[str, bytes]:
    """Return all files but the lock, which tells who came last."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != "lock"}


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (("find", "others.jsonl", "-o", "out"), "inputs are not the same (others.jsonl is new; news.jsonl was read before"),
        (("find", "news.jsonl", "others.jsonl", "-o", "out"), "inputs are not the same (others.jsonl is new)"),
        (("find", "news.jsonl", "--against", "others.jsonl", "-o", "out"), "inputs are not the same (others.jsonl is new)"),
        (("find", "news.jsonl", "-o", "out", "--min-similarity", "0.9"), "--min-similarity was '4/5' and is '9/10'"),
        (("find", "news.jsonl", "-o", "out", "--signature", "exact"), "signature was 'words' and is 'exact'"),
        (("find", "news.jsonl", "-o", "out", "--strict"), "strict was False and is True"),
        (("cluster", "news.jsonl", "-o", "out"), "verb was 'find' and is 'cluster'"),
        (("dedup", "news.jsonl", "-o", "out"), "verb was 'find' and is 'dedup'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_another_run_cannot_go_on_with_it(
    other: tuple[str, ...], told: str, run: Run, crashes: Crashes, tmp_path: Path
) -> None:
    crashes.kill(run, *FIND)
    before = everything(tmp_path / "out")
    answer = run(*other, *PARTS, "--resume")
    said(answer, 2, "the unfinished run was a different one: ", told, "or start over with --overwrite")
    assert everything(tmp_path / "out") == before
    said(run(*FIND, "--resume"), 0, "continuing after 4 finished stages")


def test_several_differences_are_named_at_once(run: Run, crashes: Crashes) -> None:
    crashes.kill(run, *FIND)
    answer = run("find", "others.jsonl", "-o", "out", "--min-similarity", "1/2", "--max-places", "7", "--resume")
    said(answer, 2, "others.jsonl is new", "--min-similarity was '4/5' and is '1/2'", "--max-places was 100 and is 7")


def test_an_input_that_has_changed(run: Run, crashes: Crashes, tmp_path: Path) -> None:
    crashes.kill(run, *FIND)
    path = tmp_path / "news.jsonl"
    times = path.stat().st_mtime
    os.utime(path, (times + 60, times + 60))
    said(run(*FIND, "--resume"), 2, "inputs are not the same (news.jsonl has changed)")
    os.utime(path, (times, times))
    data = path.read_text("utf-8")
    path.write_text(data.replace('"d1"', '"d1 "'), "utf-8")
    os.utime(path, (times, times))
    said(run(*FIND, "--resume"), 2, "inputs are not the same (news.jsonl has changed)")
    path.write_text(data, "utf-8")
    os.utime(path, (times, times))
    said(run(*FIND, "--resume"), 0, "continuing after 4 finished stages")


def test_an_input_less_or_on_the_other_side(run: Run, crashes: Crashes) -> None:
    crashes.kill(run, "find", "news.jsonl", "--against", "others.jsonl", "-o", "out", *PARTS)
    said(run("find", "news.jsonl", "-o", "out", "--resume"), 2, "inputs are not the same (")
    said(run("find", "others.jsonl", "--against", "news.jsonl", "-o", "out", "--resume"), 2, "inputs are not the same (")
    said(run("find", "news.jsonl", "others.jsonl", "-o", "out", "--resume"), 2, "inputs are not the same (")


def test_another_version(run: Run, crashes: Crashes, tmp_path: Path) -> None:
    crashes.kill(run, *FIND)
    path = tmp_path / "out" / ".work" / "work.json"
    told = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(told | {"version": "0.0.1"}), "utf-8")
    said(run(*FIND, "--resume"), 2, "version was '0.0.1' and is '")


def plan_file(path: Path, every: tuple[int, ...]) -> str:
    from ibidem import SamplingPlan

    SamplingPlan((0, 6, 10), every, {}).save(path)
    return path.name


def test_other_words(run: Run, crashes: Crashes, tmp_path: Path) -> None:
    words = tmp_path / "words.tsv"
    words.write_text("*\t9\nthe\t5\n")
    find = (*FIND, "--signature", "imatch", "--word-counts", "words.tsv")
    crashes.kill(run, *find)
    words.write_text("*\t9\nthe\t6\n")
    said(run(*find, "--resume"), 2, "the words of --word-counts are not the same")
    words.write_text("*,9\nthe,5\n")  # the same, written in another way
    said(run(*find, "--resume"), 0)


def test_another_sampling_plan(run: Run, crashes: Crashes, tmp_path: Path) -> None:
    plans = [plan_file(tmp_path / f"plan{n}.json", every) for n, every in enumerate([(1, 2, 4), (1, 1, 2)])]
    call = ("cluster", "news.jsonl", "-o", "out", "--format", "jsonl", "--shingle-size", "2")
    said(run("cluster", "news.jsonl", "-o", "whole", "--format", "jsonl", "--shingle-size", "2", "--plan", plans[0]), 0)
    crashes.kill(run, *call, *PARTS, "--plan", plans[0])
    for other in ((), ("--plan", plans[1])):
        said(run(*call, "--resume", *other), 2, "the sampling plan is not the same")
    said(run(*call, "--resume", "--plan", plans[0]), 0, "continuing after 4 finished stages")
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


@pytest.mark.parametrize("verb", ["find", "cluster", "dedup"])
def test_without_a_word_about_it(verb: str, run: Run, crashes: Crashes, tmp_path: Path) -> None:
    call = (verb, "news.jsonl", "-o", "out")
    crashes.kill(run, *call, *PARTS)
    before = everything(tmp_path / "out")
    for way in ((), PARTS):
        answer = run(*call, *way)
        said(answer, 2, "contains 4 finished stages (", ") of a run of `ibidem ")
        said(answer, 2, "Continue with --resume, or start over with --overwrite.")
        assert re.search(time.strftime(r"begun %Y-\d\d-\d\dT\d\d:\d\d:\d\d", time.gmtime()), answer.err)
        assert everything(tmp_path / "out") == before


@pytest.mark.parametrize("verb", ["find", "cluster", "dedup"])
@pytest.mark.parametrize("way", [(), PARTS], ids=["in memory", "stored"])
def test_starting_anew(verb: str, way: tuple[str, ...], run: Run, crashes: Crashes, tmp_path: Path) -> None:
    call = (verb, "news.jsonl", "-o", "out", *(() if verb == "dedup" else ("--format", "jsonl")))
    (tmp_path / "tmp").mkdir()
    crashes.kill(run, verb, "others.jsonl", "-o", "out", *PARTS, "--tmp-dir", "tmp")
    answer = run(*call, *way, "--overwrite")
    said(answer, 0)
    assert "going on" not in answer.err
    found = files_of(tmp_path / "out")
    assert not any(".work" in name for name in found)
    assert not list((tmp_path / "tmp").iterdir())
    shutil.rmtree(tmp_path / "out")
    said(run(*call), 0)
    assert files_of(tmp_path / "out") == found


def test_stages_that_are_damaged(run: Run, crashes: Crashes, tmp_path: Path) -> None:
    crashes.kill(run, *FIND, after_stages=6)
    for path in (tmp_path / "out").rglob("*.arrows"):
        data = bytearray(path.read_bytes())
        data[-20] ^= 255
        path.write_bytes(data)
    said(run(*FIND, "--resume"), 5, "is damaged", "Run again with --overwrite instead.")
    said(run(*FIND, "--overwrite"), 0)


def test_what_is_known_of_the_stages_is_damaged(run: Run, crashes: Crashes, tmp_path: Path) -> None:
    crashes.kill(run, *FIND)
    (tmp_path / "out" / ".work" / "work.json").write_text("{", "utf-8")
    said(run(*FIND, "--resume"), 2, "work.json cannot be read", "--overwrite")
    said(run(*FIND), 2, "work.json cannot be read", "--overwrite")
    said(run(*FIND, "--overwrite"), 0)
    assert not (tmp_path / "out" / ".work").exists()


# What fails.


def failing(kind: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Have the next run fail; return its further flags."""
    replace = os.replace
    n_stages = 0

    def interrupted(source: Any, target: Any) -> None:
        nonlocal n_stages
        replace(source, target)
        n_stages += str(target).endswith(".stage")
        if n_stages == 5:
            raise KeyboardInterrupt

    if kind == "interrupted":
        monkeypatch.setattr(os, "replace", interrupted)
    return {"no such field": ("--time-field", "when"), "skipped": ("--strict",)}.get(kind, ())


FAILURES = {"interrupted": 130, "no such field": 3, "skipped": 3}


@pytest.mark.parametrize("kind", FAILURES)
@pytest.mark.parametrize("place", ["out", "deep/in/out"])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_what_fails_leaves_nothing(
    kind: str, place: str, elsewhere: bool, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_jsonl(tmp_path / "news.jsonl", [*random_records(3, 14), {"id": "no text"}])
    before = sorted(path.name for path in tmp_path.iterdir())
    (tmp_path / "tmp").mkdir()
    way = (*PARTS, "--tmp-dir", "tmp") if elsewhere else PARTS
    with monkeypatch.context() as patch:
        said(run("find", "news.jsonl", "-o", place, *way, *failing(kind, patch)), FAILURES[kind])
    assert not list((tmp_path / "tmp").iterdir())
    (tmp_path / "tmp").rmdir()
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_an_interrupted_run_that_is_to_be_resumed_keeps_its_stages(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(run(*FIND), 0)
    expected = files_of(tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    with monkeypatch.context() as patch:
        said(run(*FIND, "--resume", *failing("interrupted", patch)), 130)
    said(run(*FIND), 2, "contains 5 finished stages")
    said(run(*FIND, "--resume"), 0, "continuing after 5 finished stages")
    assert files_of(tmp_path / "out") == expected


@pytest.mark.parametrize("verb", [("find",), ("cluster",), ("dedup",), ("dedup", "--level", "passage")], ids=" ".join)
def test_a_run_interrupted_after_its_last_stage_keeps_them_all(
    verb: tuple[str, ...], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: DiskRun) -> dict[str, Any]:
        raise KeyboardInterrupt

    name, *flags = verb
    call = (name, "news.jsonl", "-o", "out", *flags, *PARTS, "--resume")
    with monkeypatch.context() as patch:
        patch.setattr(DiskRun, "facts", interrupted)
        said(run(*call), 130)
    assert list((tmp_path / "out" / ".work" / "stages").glob("*.stage"))
    said(run(*call), 0, "continuing after ")


def test_wrong_settings_are_told_of_before_anything_is_touched(run: Run, crashes: Crashes, tmp_path: Path) -> None:
    crashes.kill(run, *FIND)
    before = everything(tmp_path)
    said(run(*FIND, "--resume", "--memory", "much"), 2, "memory")
    said(run(*FIND, "--overwrite", "--min-similarity", "2"), 2, "--min-similarity")
    assert everything(tmp_path) == before


def test_no_documents(run: Run, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "empty.jsonl", [{"id": "a", "text": ""}])
    for verb in ("find", "cluster", "dedup"):
        said(run(verb, "empty.jsonl", "-o", "out", *PARTS), 3, "the inputs contain no documents")
        said(run(verb, "news.jsonl", "--against", "empty.jsonl", "-o", "out", *PARTS), 3, "the reference contains no documents")
        assert not (tmp_path / "out").exists()
        for _ in range(2):
            said(run(verb, "empty.jsonl", "-o", "out", *PARTS, "--resume"), 3, "the inputs contain no documents")
        shutil.rmtree(tmp_path / "out")


@pytest.mark.parametrize("verb", ["find", "dedup"])
def test_a_full_disk(verb: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, data: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "tmp").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        answer = run(verb, "news.jsonl", "-o", "out", *PARTS, "--tmp-dir", "tmp")
    said(answer, 5, "cannot write temporary files to ", "/tmp/ibidem-", os.strerror(errno.ENOSPC), "--tmp-dir")
    assert not (tmp_path / "out").exists()
    assert not list((tmp_path / "tmp").iterdir())


def test_an_error_of_another_kind_is_not_taken_for_one_of_the_output_folder(tmp_path: Path) -> None:
    from ibidem.execution.disk.work_folder import occupied

    with pytest.raises(FileNotFoundError, match="mine"), occupied(tmp_path / "out"):
        raise FileNotFoundError(errno.ENOENT, "mine")
    assert not (tmp_path / "out").exists()


def test_folders_of_others_are_left_alone(run: Run, tmp_path: Path) -> None:
    precious = tmp_path / "proj" / "stages" / "precious.txt"
    precious.parent.mkdir(parents=True)
    precious.write_text("mine")
    with pytest.raises(ibidem.UsageError, match="files other than stages"):
        ibidem.find(str(tmp_path / "news.jsonl"), work_dir=str(tmp_path / "proj"), partitions=2)
    # What a work folder says of its stages may be wrong, or ill meant.
    (tmp_path / "out" / ".work").mkdir(parents=True)
    (tmp_path / "out" / ".work" / "work.json").write_text(json.dumps({"stages": str(precious.parent), "owner": "me"}))
    said(run("find", "news.jsonl", "-o", "out", *PARTS), 0)
    assert precious.read_text() == "mine"


def test_a_work_folder_is_for_one_result(tmp_path: Path) -> None:
    call: dict[str, Any] = {"work_dir": str(tmp_path / "work"), "partitions": 2}
    with ibidem.find(str(tmp_path / "news.jsonl"), **call) as result:
        with pytest.raises(ibidem.UsageError, match="this process"):
            ibidem.find(str(tmp_path / "news.jsonl"), overwrite=True, **call)
        assert result.documents.num_rows
    with pytest.raises(ibidem.UsageError, match="was closed"):
        assert result.documents
    ibidem.find(str(tmp_path / "news.jsonl"), **call).close()


def test_what_cannot_be_compared_cannot_be_resumed(run: Run, tmp_path: Path) -> None:
    said(run("find", "-", "-o", "out", "--resume"), 2, "standard input cannot be resumed")
    said(run("cluster", "news.jsonl", "-o", "out", "--resume", "--method", "pairs"), 2, "cannot be resumed")
    said(run("dedup", "news.jsonl", "--dry-run", "--resume"), 2, "--dry-run")
    with pytest.raises(ibidem.UsageError, match="Python objects"):
        ibidem.find([{"id": "a", "text": "One."}], work_dir=str(tmp_path / "work"), resume=True)
    with pytest.raises(ibidem.UsageError, match="work_dir"):
        ibidem.find(str(tmp_path / "news.jsonl"), resume=True)


@pytest.mark.parametrize("level", ["document", "passage"])
def test_a_file_on_both_sides_is_said_before_there_is_anything_to_resume(level: str, run: Run, tmp_path: Path) -> None:
    call = ("dedup", "news.jsonl", "--against", "news.jsonl", "-o", "out", "--level", level, *PARTS)
    for more in ((), ("--resume",)):
        said(run(*call, *more), 3, "news.jsonl is both an input and a reference")
        assert not (tmp_path / "out").exists()
