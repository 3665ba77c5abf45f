"""`dedup --keep-copies N`: so many documents of each cluster stay, in memory, on disk and over partitions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibidem
from tests.execution.parity import removed_apart
from tests.execution.random_collections import random_records

SETTINGS: dict[str, Any] = {"shingle_size": 2, "min_similarity": 0.5}


@given(st.integers(0, 1 << 30), st.integers(1, 4), st.sampled_from(["first", "longest"]), st.booleans())
def test_so_many_of_each_cluster_stay(seed: int, n_copies: int, keep: str, split: bool) -> None:
    records = random_records(seed, 12)
    against = random_records(seed, 3, "r") if split else None
    settings = {**SETTINGS, "keep": keep}
    every = ibidem.dedup(records, against=against, **settings).removed.to_pylist()
    result = ibidem.dedup(records, against=against, keep_copies=n_copies, **settings)
    rows = result.removed.to_pylist()
    numbers = {record["id"]: number for number, record in enumerate(records)}
    by_kept: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(every, key=lambda row: numbers[row["id"]]):
        by_kept.setdefault(row["matched_id"], []).append(row)
    expected = [row for members in by_kept.values() for row in members[n_copies - 1 :]]
    assert rows == sorted(expected, key=lambda row: numbers[row["id"]])
    for n_partitions in (1, 3):
        assert removed_apart(records, against, n_partitions, keep_copies=n_copies, **settings) == rows


@pytest.mark.parametrize("storage", [{}, {"partitions": 2}])
def test_marks_are_of_what_is_removed(tmp_path: Path, storage: dict[str, Any]) -> None:
    path = tmp_path / "in.jsonl"
    text = " ".join(f"word{k}" for k in range(20))
    path.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name in "abcd"))
    with ibidem.dedup(path, keep_copies=2, **storage) as result:
        result.write(tmp_path / "out", mark_only=True)
        assert [row["id"] for row in result.removed.to_pylist()] == ["c", "d"]
    marked = map(json.loads, (tmp_path / "out" / "in.jsonl").read_text().splitlines())
    assert [row["ibidem_duplicate_of"] for row in marked] == [None, None, "a", "a"]


def test_parts_of_documents_are_not_counted() -> None:
    with pytest.raises(ibidem.UsageError, match="whole documents"):
        ibidem.dedup(["a b c", "d e f"], level="passage", keep_copies=2)
