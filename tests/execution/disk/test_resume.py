"""A run that was killed at any moment goes on by `--resume`, and ends as if nothing had happened."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_find import Run, said, write_jsonl
from tests.execution.disk.crashes import Crashes, State
from tests.execution.disk.sameness import files_of
from tests.execution.random_collections import random_records
from tests.texts import text

VERBS = {
    "find exact": ("find", "--signature", "exact", "--format", "jsonl"),
    "find words": ("find", "--format", "jsonl", "--no-align", "--keep-text", "--max-places", "3", "--families"),
    "find aligned": ("find", "--format", "jsonl", "--min-aligned-words", "8", "--keep-text"),
    "find sentences": (
        "find", "--format", "jsonl", "--signature", "imatch", "--sentence-pairs", "--postings", "--hash-seed", "3",
    ),
    "cluster": ("cluster", "--format", "jsonl", "--shingle-size", "2", "--min-similarity", "0.4"),
    "cluster spots": ("cluster", "--format", "jsonl", "--method", "spotsigs", "--shingle-size", "2", "--min-similarity", "0.4"),
    "dedup documents": ("dedup", "--shingle-size", "2", "--min-similarity", "0.4"),
    "dedup passages": ("dedup", "--level", "passage"),
    "dedup aligned": ("dedup", "--level", "passage", "--align", "--min-aligned-words", "8"),
}  # fmt: skip
PARTS = ("--partitions", "3", "--workers", "2")


@pytest.fixture
def collection(tmp_path: Path) -> list[str]:
    """Two files that share much, and a record that is left out."""
    copies = [{"id": f"c{n}", "text": " ".join(text(40 + n // 3, 50, 51, 60 + n) for _ in range(2))} for n in range(6)]
    write_jsonl(tmp_path / "one.jsonl", [*random_records(3, 14), {"id": "no text"}])
    write_jsonl(tmp_path / "two.jsonl", [*random_records(4, 8, "e"), *copies])
    return ["one.jsonl", "two.jsonl"]


def is_a_finished_stage_or_a_result(when: str, name: str) -> bool:
    return not name.endswith(".stage") or when == "after"


def some_of(states: list[State], number: int) -> list[State]:
    """Return every third state, others for each verb, and the first and the last few; `make soak` tries all."""
    if os.environ.get("HYPOTHESIS_PROFILE") == "many":
        return states
    return [*states[:2], *states[2 + number % 3 : -3 : 3], *states[-3:]]


@pytest.mark.parametrize("verb", VERBS)
def test_killed_at_any_moment(verb: str, run: Run, collection: list[str], crashes: Crashes, tmp_path: Path) -> None:
    name, *flags = VERBS[verb]
    said(run(name, *collection, "-o", "whole", *flags), 0)
    expected = files_of(tmp_path / "whole")
    assert all(expected[file] for file in expected if file.startswith(("passages", "duplicates", "removed")))
    with crashes.watched(is_a_finished_stage_or_a_result):
        said(run(name, *collection, "-o", "out", *flags, *PARTS), 0, "temporary files go to")
    assert files_of(tmp_path / "out") == expected
    n_stages = max(state.n_stages for state in crashes.states)
    assert n_stages >= 10
    assert {state.n_stages for state in crashes.states} == set(range(n_stages + 1))
    assert {"after work.json", "before run.json", "after run.json"} <= set(map(str, crashes.states))
    for state in some_of(crashes.states, list(VERBS).index(verb)):
        crashes.put_back(state)
        answer = run(name, *collection, "-o", "out", *flags, *PARTS, "--resume")
        said(answer, 0)
        if state.n_stages:
            assert f"continuing after {state.n_stages} finished stage{'s' * (state.n_stages > 1)}" in answer.err, state
        else:
            assert "continuing after" not in answer.err
        assert files_of(tmp_path / "out") == expected, f"killed {state}"
        assert not (tmp_path / "out" / ".work").exists()


def test_killed_while_a_stage_is_written(run: Run, collection: list[str], crashes: Crashes, tmp_path: Path) -> None:
    flags = VERBS["find exact"][1:]
    with crashes.watched(lambda when, name: when == "before" and name.endswith(".stage")):
        said(run("find", *collection, "-o", "out", *flags, *PARTS), 0)
    expected = files_of(tmp_path / "out")
    for state in crashes.states:  # all data of the stage are there, and it is not known as finished
        crashes.put_back(state)
        for path in (tmp_path / "out" / ".work").rglob("*.part"):
            path.write_bytes(path.read_bytes()[:-7])
        said(run("find", *collection, "-o", "out", *flags, *PARTS, "--resume"), 0)
        assert files_of(tmp_path / "out") == expected, f"killed {state}"


@pytest.mark.parametrize("flag", ["--resume", "--overwrite"])
def test_killed_while_the_folder_of_stages_is_made(
    flag: str, run: Run, collection: list[str], crashes: Crashes, tmp_path: Path
) -> None:
    said(run("find", *collection, "-o", "whole", "--format", "jsonl"), 0)
    call = ("find", *collection, "-o", "out", "--format", "jsonl", *PARTS)
    crashes.kill(run, *call, after_stages=0)
    begun = tmp_path / "out" / ".work" / "stages.part"
    begun.mkdir()
    (begun / "owner").touch()  # nothing written to it yet
    said(run(*call, flag), 0)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")
    assert not (tmp_path / "out" / ".work").exists()


def test_the_folder_of_stages_has_no_name_before_it_has_an_owner(
    run: Run, collection: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its owner nobody may continue with it or remove it: the output folder could not be used any more."""
    write = Path.write_text

    def killed(path: Path, *given: Any, **named: Any) -> int:
        if path.name == "owner":
            path.touch()
            raise KeyboardInterrupt
        return write(path, *given, **named)

    call = ("find", *collection, "-o", "out", "--format", "jsonl", *PARTS, "--resume")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", killed)
        said(run(*call), 130)
    assert (tmp_path / "out" / ".work" / "work.json").exists()
    said(run(*call), 0)
    assert not (tmp_path / "out" / ".work").exists()


def test_stages_lose_their_name_on_disk_before_they_are_removed(
    run: Run, collection: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut may keep any of the removals: without its owner, a folder that has its name again can never be used."""
    done: list[str] = []

    def noted(module: Any, name: str) -> None:
        call = getattr(module, name)

        def noting(*given: Any, **named: Any) -> Any:
            path = os.readlink(f"/proc/self/fd/{given[0]}") if name == "fsync" else given[-1]
            done.append(f"{name} {Path(path).name}")
            return call(*given, **named)

        monkeypatch.setattr(module, name, noting)

    for module, name in ((os, "rename"), (os, "fsync"), (shutil, "rmtree")):
        noted(module, name)
    said(run("find", *collection, "-o", "out", "--format", "jsonl", *PARTS), 0)
    renamed = done.index("rename stages.gone")
    assert done[renamed : renamed + 3] == ["rename stages.gone", "fsync .work", "rmtree stages.gone"]


def test_killed_again_and_again(run: Run, collection: list[str], crashes: Crashes, tmp_path: Path) -> None:
    said(run("find", *collection, "-o", "whole", "--format", "jsonl"), 0)
    call = ("find", *collection, "-o", "out", "--format", "jsonl", *PARTS)
    crashes.kill(run, *call, after_stages=2)
    for n_before in range(2, 8):
        answer = crashes.kill(run, *call, "--resume", after_stages=1)
        assert f"continuing after {n_before} finished stages" in answer.err
    said(run(*call, "--resume"), 0, "continuing after 8 finished stages")
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_stages_that_are_gone_are_told_of(run: Run, collection: list[str], crashes: Crashes, tmp_path: Path) -> None:
    said(run("find", *collection, "-o", "whole", "--format", "jsonl"), 0)
    call = ("find", *collection, "-o", "out", "--format", "jsonl", *PARTS)
    crashes.kill(run, *call, after_stages=4)
    shutil.rmtree(tmp_path / "out" / ".work" / "stages")
    said(run(*call, "--resume"), 0, "no finished stage in", "starting over")
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_killed_while_everything_is_removed(
    run: Run, collection: list[str], crashes: Crashes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = shutil.rmtree

    def half_done(path: Any, **settings: Any) -> None:
        """Remove every second file, as far as a kill has let it come, and go on."""
        files = sorted(file for file in Path(path).rglob("*") if file.is_file() and file.name != "lock")
        for file in files[::2]:
            file.unlink()
        if files:
            crashes.take("while removing", path)
        remove(path, **settings)

    call = ("find", *collection, "-o", "out", "--format", "jsonl", *PARTS)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", half_done)
        said(run(*call), 0)
    expected = files_of(tmp_path / "out")
    assert crashes.states
    for state in crashes.states:
        crashes.put_back(state)
        said(run(*call, "--resume"), 0)
        assert files_of(tmp_path / "out") == expected
        assert not (tmp_path / "out" / ".work").exists()
        crashes.put_back(state)
        said(run(*call), 2, "out already contains results")  # they are whole


def test_another_share_of_the_machine_is_fine(run: Run, collection: list[str], crashes: Crashes, tmp_path: Path) -> None:
    said(run("find", *collection, "-o", "whole", "--format", "jsonl"), 0)
    ways = [("--workers", "1"), ("--memory", "8GB"), ("--partitions", "1"), (), ("--memory", "1MB", "--workers", "3")]
    for way in ways:
        crashes.kill(run, "find", *collection, "-o", "out", "--format", "jsonl", *PARTS, after_stages=6)
        answer = run("find", *collection, "-o", "out", "--format", "jsonl", "--resume", *way)
        said(answer, 0, "continuing after 6 finished stages")
        assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")
        shutil.rmtree(tmp_path / "out")


def test_other_results_may_be_asked_for(run: Run, collection: list[str], crashes: Crashes, tmp_path: Path) -> None:
    said(run("find", *collection, "-o", "whole", "--format", "csv", "--keep-text"), 0)
    crashes.kill(run, "find", *collection, "-o", "out", *PARTS)
    said(run("find", *collection, "-o", "out", "--format", "csv", "--keep-text", "--resume"), 0, "continuing after")
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_nothing_is_done_twice(run: Run, collection: list[str], crashes: Crashes) -> None:
    call = ("cluster", *collection, "-o", "out", *PARTS, "--verbose")
    with crashes.watched(lambda when, name: (when, name) == ("after", "run.json")):
        first = run(*call)
    crashes.put_back(crashes.states[0])
    again = run(*call, "--resume")
    said(again, 0, f"continuing after {crashes.states[0].n_stages} finished stage{'s' * (crashes.states[0].n_stages > 1)}")
    assert sum("on disk" in line for line in first.err.splitlines()) > 10
    assert not any("on disk" in line for line in again.err.splitlines())


@pytest.mark.parametrize("verb", ["find exact", "dedup passages"])
def test_stages_in_another_folder(verb: str, run: Run, collection: list[str], crashes: Crashes, tmp_path: Path) -> None:
    name, *flags = VERBS[verb]
    said(run(name, *collection, "-o", "whole", *flags), 0)
    call = (name, *collection, "-o", "out", *flags)
    (tmp_path / "tmp").mkdir()
    for again in (("--tmp-dir", "tmp"), (), ("--tmp-dir", "elsewhere")):  # where they are is known
        crashes.kill(run, *call, *PARTS, "--tmp-dir", "tmp")
        assert list((tmp_path / "tmp").rglob("*.stage"))
        assert not list((tmp_path / "out").rglob("*.stage"))
        said(run(*call, "--resume", *again), 0, "continuing after 4 finished stages")
        assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")
        assert not list((tmp_path / "tmp").iterdir())
        shutil.rmtree(tmp_path / "out")
    crashes.kill(run, *call, *PARTS, "--tmp-dir", "tmp")
    shutil.rmtree(tmp_path / "tmp")  # somebody has tidied up
    said(run(*call, "--resume"), 0)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_resumed_from_elsewhere(
    run: Run, collection: list[str], crashes: Crashes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = [str(tmp_path / name) for name in collection]
    (tmp_path / "begun").mkdir()
    monkeypatch.chdir(tmp_path / "begun")  # what is below the current folder would be named as it is seen from there
    said(run("find", *inputs, "-o", "../whole", "--format", "jsonl"), 0)
    crashes.kill(run, "find", *inputs, "-o", "../out", "--format", "jsonl", *PARTS)
    (tmp_path / "out").rename(tmp_path / "moved")
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    answer = run("find", *inputs, "-o", str(tmp_path / "moved"), "--format", "jsonl", "--resume")
    said(answer, 0, "continuing after 4 finished stages")
    assert files_of(tmp_path / "moved") == files_of(tmp_path / "whole")
    assert not list((tmp_path / "deep").iterdir())


def test_killed_before_any_stage_was_finished(run: Run, collection: list[str], crashes: Crashes, tmp_path: Path) -> None:
    call = ("find", *collection, "-o", "out", "--format", "jsonl")
    said(run(*call), 0)
    expected = files_of(tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    for again in (("--resume",), (), ("--overwrite",)):
        crashes.kill(run, *call, *PARTS, after_stages=0)
        answer = run(*call, *PARTS, *again)
        said(answer, 0)
        assert "continuing after" not in answer.err
        assert files_of(tmp_path / "out") == expected
        shutil.rmtree(tmp_path / "out")


def test_there_is_nothing_to_resume(run: Run, collection: list[str], tmp_path: Path) -> None:
    for flags in ((), PARTS):
        said(run("find", *collection, "-o", "out", "--resume", *flags), 0)
        said(run("find", *collection, "-o", "out", "--resume", *flags), 2, "out already contains results")
        shutil.rmtree(tmp_path / "out")
