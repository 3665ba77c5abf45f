"""Many removed documents: a commit that removes none costs what it costs without them. Statements are counted, not seconds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.index import snapshot
from ibidem.index.catalog_state import Tombstones
from ibidem.index.index import Index
from tests.index_faults import records

N_DOCUMENTS = 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an index with many tombstones in one segment."""
    with Index(tmp_path / "index") as index:
        index.add(records({f"d{number}": (number,) for number in range(N_DOCUMENTS)}))
        index.remove([f"d{number}" for number in range(15)])
        assert index.info()["removed_documents"] == 15
    return tmp_path / "index"


@contextmanager
def statements_of(index: Index) -> Iterator[list[str]]:
    statements: list[str] = []
    index._catalog._connection.set_trace_callback(statements.append)
    try:
        yield statements
    finally:
        index._catalog._connection.set_trace_callback(None)


def reading(statements: list[str]) -> list[str]:
    """Return the statements that go through all tombstones."""
    return [statement for statement in statements if "FROM removed" in statement and "WHERE" not in statement]


def test_a_commit_does_not_read_the_tombstones(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Index(folder) as index, Index(folder) as other:
        for each in (index, other):
            each.check(records({"?": (1,)}))
        looked: list[int] = []
        kept_in = snapshot.kept_in

        def counted(segment: snapshot.Segment, removed: np.ndarray) -> np.ndarray:
            looked.append(segment.n_documents)
            return kept_in(segment, removed)

        monkeypatch.setattr(snapshot, "kept_in", counted)
        with statements_of(index) as statements:
            index.add(records({"new": (1000,)}))
            index.check(records({"?": (1000,)}))
        assert any("INSERT INTO documents" in statement for statement in statements)
        assert reading(statements) == []
        with statements_of(other) as statements:  # of another process: what it knows has not changed either
            assert len(other) == N_DOCUMENTS - 15 + 1
        assert statements
        assert reading(statements) == []
        assert looked == [1, 1]  # only the new segment, once for each reader


def test_a_replaced_document_is_one_tombstone_more(folder: Path) -> None:
    with Index(folder) as index:
        index.check(records({"?": (1,)}))
        with statements_of(index) as statements:
            index.add(records({"d20": (2000,)}), replace=True)
        assert reading(statements) == []
        assert index.info()["removed_documents"] == 16
        assert index.verify() == []


def test_tombstones_that_another_process_changed_are_read_again(folder: Path) -> None:
    with Index(folder) as index, Index(folder) as other:
        assert len(index) == N_DOCUMENTS - 15
        other.remove(["d20"])
        assert len(index) == N_DOCUMENTS - 16
        assert not index.check({"id": "?", "text": records({"": (20,)})[0]["text"]}, min_hits=1).duplicated


@settings(max_examples=200, deadline=None)
@given(*(st.sets(st.integers(0, 30)) for _ in range(3)))
def test_tombstones_change_as_sets_do(before: set[int], removed: set[int], settled: set[int]) -> None:
    removed -= before
    tombstones = Tombstones.of("x", np.array(sorted(before), np.int64)).changed("y", removed, settled)
    expected = sorted((before | removed) - settled)
    assert tombstones.serials.tolist() == expected
    assert tombstones.total == sum(expected)
    assert tombstones.at == ("y" if removed or settled else "x")
