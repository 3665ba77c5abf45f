"""The budget for temporary files: counted as they are written, kept in every way of working, and said when it ends a run."""

from __future__ import annotations

import json
import shutil
import sys
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ibidem
from ibidem.errors import ResourceError
from ibidem.execution import disk_limit as disks
from ibidem.execution.disk_limit import DiskBudget, disk_budget
from ibidem.execution.progress import Progress, Step
from ibidem.execution.spill import SpillingColumn
from ibidem.formats import byte_streams
from tests.bombs import write_repeating_parquet
from tests.cli.test_find import Run, said, write_jsonl
from tests.execution.disk.sameness import files_of
from tests.execution.disk.test_resume import VERBS
from tests.execution.random_collections import random_records

PARTS = ("--partitions", "3", "--workers", "2")


@pytest.fixture
def news(tmp_path: Path) -> str:
    return write_jsonl(tmp_path / "news.jsonl", random_records(3, 60))


def stored_sizes(run: Run, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> dict[str, Any]:
    """Run to the end without a limit; return what run.json says of it."""
    said(run(*arguments, "-o", "whole"), 0, "of temporary files (")
    told: dict[str, Any] = json.loads(Path("whole/run.json").read_text())
    return told


@pytest.mark.parametrize("verb", VERBS)
def test_a_run_that_needs_more_ends_with_its_reason_and_leaves_nothing(
    verb: str, run: Run, news: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, *flags = VERBS[verb]
    told = stored_sizes(run, monkeypatch, name, news, *flags, *PARTS)
    peak = told["spilled_bytes_peak"]
    assert 0 < peak <= told["spilled_bytes"] <= told["max_disk_bytes"]
    before = sorted(map(str, tmp_path.rglob("*")))
    answer = run(name, news, "-o", "out", *flags, *PARTS, "--max-disk", f"{peak // 2}b")
    said(answer, 5, "temporary files would take ", "that --max-disk allows: ", "001-inputs ", "--max-disk ", "--resume")
    assert sorted(map(str, tmp_path.rglob("*"))) == before
    said(run(name, news, "-o", "enough", *flags, *PARTS, "--max-disk", f"{2 * peak}b"), 0, "allowed)")
    assert files_of(tmp_path / "enough") == files_of(tmp_path / "whole")


@pytest.mark.parametrize("verb", ["find words", "cluster", "dedup passages"])
def test_a_larger_budget_continues_a_run(
    verb: str, run: Run, news: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, *flags = VERBS[verb]
    peak = stored_sizes(run, monkeypatch, name, news, *flags, *PARTS)["spilled_bytes_peak"]
    call = (name, news, "-o", "out", *flags, *PARTS, "--resume")
    said(run(*call, "--max-disk", f"{peak * 9 // 10}b"), 5, "--max-disk allows")
    assert (tmp_path / "out" / ".work").exists()
    said(run(*call, "--max-disk", f"{peak // 2}b"), 5, "--max-disk allows")  # what is there counts
    said(run(*call, "--max-disk", f"{2 * peak}b"), 0, "continuing after ")
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")
    assert not (tmp_path / "out" / ".work").exists()


@pytest.mark.parametrize(
    ("verb", "settings"),
    [(ibidem.find, {}), (ibidem.find, {"signature": "exact"}), (ibidem.cluster, {}), (ibidem.dedup, {"level": "document"}),
     (ibidem.cluster, {"method": "spotsigs", "antecedents": "20"}),
     (ibidem.dedup, {"level": "passage"}), (ibidem.dedup, {"level": "sentence", "signature": "words"})],
)  # fmt: skip
def test_what_no_result_reads_is_gone_before_it_is_written(
    verb: Any, settings: dict[str, str], news: str, tmp_path: Path
) -> None:
    """Documents in sentences and shingles are the largest tables except for the inputs; a copy of these needs room, too."""
    with verb(str(tmp_path / news), partitions=3, tmp_dir=str(tmp_path), **settings):
        stored = {path.name.partition("-")[2] for path in tmp_path.rglob("*.arrows")}
    assert "inputs.documents.arrows" in stored
    used_up = (
        "sentences.documents", "classed.documents", "shingles.sets", "shingles.keys", "shingles.worded", "shingles.words",
        "spots.sets", "spots.keys",
    )  # fmt: skip
    assert not stored & {f"{name}.arrows" for name in used_up}


@pytest.mark.parametrize(("signature", "stage"), [("imatch", "keys"), ("fingerprint", "keys"), ("spotsigs", "types")])
def test_words_are_gone_when_signatures_are_made(signature: str, stage: str, news: str, tmp_path: Path) -> None:
    stored: dict[str, set[str]] = {}

    class Steps(Progress):
        def add_step(self, step: Step) -> None:
            stored[step.name] = {path.name.partition("-")[2] for path in tmp_path.rglob("*.arrows")}

    call = {"signature": signature, "antecedents": 20, "partitions": 3}  # a number of antecedents: their words are counted
    with ibidem.find(str(tmp_path / news), tmp_dir=str(tmp_path), progress=Steps(), **call):  # type: ignore[arg-type]
        pass
    assert "sentences.words.arrows" in stored["sentences"]
    assert "sentences.words.arrows" not in stored[stage]


def test_nothing_is_written_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted by the system's own calls, not by ours."""
    import os

    n_written = 0
    write = os.write

    def counting(descriptor: int, data: Any) -> int:
        nonlocal n_written
        n_written += len(data)
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", counting)
    settings = {"partitions": 2, "tmp_dir": str(tmp_path), "workers": 2}
    path = tmp_path / "news.jsonl"
    write_jsonl(path, random_records(3, 200))
    with pytest.raises(ResourceError, match="max_disk allows"):
        ibidem.find(str(path), max_disk="60kB", **settings)
    assert 0 < n_written <= 60_000
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_column_in_memory_that_is_spilled_counts(run: Run, news: str, tmp_path: Path) -> None:
    flags = ("--method", "pairs", "--memory", "0.1kB", "--shingle-size", "2")  # such a run is not done in parts
    answer = run("cluster", news, "-o", "out", *flags, "--max-disk", "100b")
    said(answer, 5, "--max-disk allows: shingles ")
    said(run("cluster", news, "-o", "out", *flags), 0, "of temporary files (")
    told = json.loads((tmp_path / "out" / "run.json").read_text())
    assert told["spilled_bytes"] == told["spilled_bytes_peak"] > 100
    column = SpillingColumn(np.uint64, 16, str(tmp_path), DiskBudget(40), "numbers")
    column.append(np.arange(2, dtype=np.uint64))  # in memory
    column.append(np.arange(3, dtype=np.uint64))
    with pytest.raises(ResourceError, match="numbers 48 bytes"):
        column.append(np.arange(1, dtype=np.uint64))
    assert len(column.finish()) == 5


def test_standard_input_that_is_stored_counts(run: Run, news: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n_bytes = (tmp_path / news).stat().st_size
    with open(news) as file:
        monkeypatch.setattr(sys, "stdin", file)
        said(run("dedup", "-", "-o", "out", "--max-disk", f"{n_bytes // 2}b"), 5, "standard input ")
    with open(news) as file:
        monkeypatch.setattr(sys, "stdin", file)
        said(run("dedup", "-", "-o", "out", "--max-disk", f"{n_bytes + 100}b", *PARTS), 5, "standard input ", "001-inputs ")
    assert sorted(path.name for path in tmp_path.iterdir()) == [news]


def test_a_small_file_that_stands_for_very_much_fills_no_disk(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(byte_streams, "LEAST_LIMIT_BYTES", 1_000_000)
    monkeypatch.setattr(byte_streams, "MOST_TIMES", 100)
    n_stored = write_repeating_parquet(tmp_path / "bomb.parquet", 20_000, 50_000)  # a gigabyte
    said(run("find", "bomb.parquet", "-o", "out", "--memory", "200MB", "--partitions", "2"), 0, "expands to more than")
    told = json.loads((tmp_path / "out" / "run.json").read_text())
    assert told["spilled_bytes"] < 10 * max(1_000_000, 100 * n_stored)


Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(
    ("free", "n_input_bytes", "most", "rule"),
    [
        (10**12, 10**9, 200 * 10**9, "200 times the inputs"),
        (10**12, 10**6, 4 * 10**9, "4.0 GB for small inputs"),
        (10**9, 10**9, 9 * 10**8, "90% of what is free in /tmp"),
        (10**12, None, 9 * 10**11, "90% of what is free in /tmp"),
    ],
)
def test_the_default(free: int, n_input_bytes: int | None, most: int, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disks.shutil, "disk_usage", lambda folder: Usage(10**13, 0, free))
    budget = disk_budget("auto", "/tmp", n_input_bytes)
    assert budget.most_bytes == most
    with pytest.raises(ResourceError) as caught:
        budget.take("stages", most + 1)
    assert rule in caught.value.message
    assert caught.value.next_step.startswith("Free some space there" if "free" in rule else "Allow more, for example max_disk=")
    assert disk_budget("5GB", "/tmp", n_input_bytes).most_bytes == 5 * 10**9


def test_what_is_given_back_can_be_used_again() -> None:
    budget = DiskBudget(100)
    for _ in range(10):
        budget.take("a", 60)
        budget.take("b", 40)
        budget.give_back("a", 60)
        budget.give_back("b", 40)
    assert budget.used() == {"spilled_bytes": 1000, "spilled_bytes_peak": 100, "max_disk_bytes": 100}
    budget.take("many", 99)
    with pytest.raises(ResourceError) as caught:
        budget.take("few", 2)
    limit = "temporary files would take 101 bytes, more than the 100 bytes that max_disk allows"
    assert caught.value.message == f"{limit}: many 99 bytes, few 2 bytes"


@pytest.mark.parametrize("size", ["much", "0", "-5MB"])
def test_a_size_that_is_none_is_refused(size: str, run: Run, news: str) -> None:
    said(
        run("find", news, "-o", "out", "--max-disk", size),
        2,
        f"--max-disk must be auto or a size such as 500MB or 4GB, not '{size}'",
    )


def test_a_folder_that_is_gone_is_said_elsewhere(tmp_path: Path) -> None:
    assert disk_budget("auto", tmp_path / "absent", None).most_bytes == sys.maxsize
    assert shutil.disk_usage(tmp_path).free > 0
