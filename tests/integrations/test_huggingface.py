"""Datasets of Hugging Face: map and filter with a prepared index, in processes, as streams, with caches."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from ibidem import Index
from ibidem.errors import InputError, UsageError
from ibidem.integrations.known_text import MARKS
from tests.integrations.conftest import KNOWN, NEW, REMAINING

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    datasets = pytest.importorskip("datasets")

from ibidem.integrations import huggingface
from ibidem.integrations.batches import IsNew, MarkKnown

COLUMNS = {"n": list(range(6)), "text": NEW}
# Processes that fork in a program with threads, as those of Arrow: Python warns of it since 3.12.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture(autouse=True)
def _no_bars() -> None:
    datasets.disable_progress_bars()


def made(streamed: bool) -> Any:
    dataset = datasets.Dataset.from_dict(COLUMNS)
    return dataset.to_iterable_dataset() if streamed else dataset


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("batch_size", [1, 4, 1000])
def test_rows_are_dropped_cut_and_marked(streamed: bool, batch_size: int, index_path: Path) -> None:
    dataset = made(streamed)
    kept = huggingface.drop_known(dataset, index_path, batch_size=batch_size)
    assert type(kept) is type(dataset)
    assert [row["n"] for row in kept] == [n for n, known in enumerate(KNOWN) if not known]
    cut = huggingface.cut_known(dataset, index_path, batch_size=batch_size)
    assert [(row["n"], row["text"]) for row in cut] == [(n, REMAINING[n]) for n in (0, 2, 3, 4, 5)]
    marked = huggingface.mark_known(dataset, index_path, batch_size=batch_size)
    assert set(marked.features) == {"n", "text", *MARKS.names}
    assert [row["ibidem_known"] for row in marked] == KNOWN
    assert [[span["matched_id"] for span in row["ibidem_spans"]] for row in marked][1:3] == [["old 1"], ["old 2"]]


def test_two_processes(index_path: Path) -> None:
    dataset = made(streamed=False)
    assert huggingface.drop_known(dataset, index_path, num_proc=2)["n"][:] == [0, 2, 4, 5]
    marked = huggingface.mark_known(dataset, index_path, num_proc=2)
    assert marked["ibidem_known"][:] == KNOWN
    with pytest.raises(UsageError, match="read by one process"):
        huggingface.drop_known(made(streamed=True), index_path, num_proc=2)


def test_splits_and_formats(index_path: Path) -> None:
    splits = datasets.DatasetDict({"train": made(streamed=False), "test": made(streamed=False).select(range(2))})
    kept = huggingface.drop_known(splits, index_path)
    assert {name: split.num_rows for name, split in kept.items()} == {"train": 4, "test": 1}
    shown = made(streamed=False).with_format("numpy", columns=["n"])
    changed = huggingface.cut_known(shown, index_path)
    assert (changed.format["type"], changed.format["columns"]) == ("numpy", ["n"])
    assert changed.with_format(None)["text"][:] == [REMAINING[n] for n in (0, 2, 3, 4, 5)]


def test_the_steps_themselves_in_map_and_filter(index_path: Path) -> None:
    dataset = made(streamed=False)
    assert dataset.filter(IsNew(index_path))["n"][:] == [0, 2, 4, 5]
    assert dataset.filter(IsNew(index_path), batched=True)["n"][:] == [0, 2, 4, 5]
    assert dataset.map(MarkKnown(index_path))["ibidem_known"][:] == KNOWN
    with pytest.raises(InputError, match="there is no column 'body'"):
        huggingface.mark_known(dataset, index_path, text_field="body")


def test_a_cache_notices_that_the_index_has_grown(tmp_path: Path) -> None:
    with Index(tmp_path / "new.idx") as index:
        index.add([{"id": "a", "text": NEW[1]}])
        datasets.Dataset.from_dict(COLUMNS).save_to_disk(str(tmp_path / "stored"))
        stored = datasets.load_from_disk(str(tmp_path / "stored"))
        first = huggingface.drop_known(stored, index.path)
        again = huggingface.drop_known(stored, index.path)
        assert (first.num_rows, first._fingerprint) == (5, again._fingerprint)
        index.add([{"id": "b", "text": NEW[0]}])
        assert huggingface.drop_known(stored, index.path)["n"][:] == [2, 3, 4, 5]
