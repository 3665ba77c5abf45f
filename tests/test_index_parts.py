"""A batch is searched in parts at the same time: the answers are those of the whole, and of every document alone."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.columns.page_marks import with_page_marks
from ibidem.errors import NoDocumentsError
from ibidem.index import joined_answers
from ibidem.index.answers import QueryResult
from ibidem.index.index import Index
from ibidem.index.joined_answers import parts_of
from tests.index_twins import Record, temporary_folder
from tests.test_index_alignment import collection_of


def told(result: QueryResult) -> tuple[Any, ...]:
    """Return everything that an answer tells, after the index has been closed."""
    verdicts = [
        (v.id, v.duplicated, v.n_sentences, v.n_known, v.n_common, v.sources, v.is_own_id_known) for v in result.verdicts
    ]
    by_document = [
        (result.hits_of(d), result.n_passages_of(d), result.passages_of(d), result.hits_in_context(d, 20), v.covered_share)
        for d, v in enumerate(result.verdicts)
    ]
    tables = [result.hits, result.passages, result.hits_with_texts(), result.with_texts()]
    return [table.to_pylist() for table in tables], [str(table.schema) for table in tables], verdicts, by_document, result.ids


def in_parts(index: Index, records: list[Record], size: int, **limits: Any) -> QueryResult:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joined_answers, "_FEWEST_DOCUMENTS", size)
        patch.setattr(joined_answers, "_MOST_DOCUMENTS", 10**6 if size > len(records) else size)
        return index.query(records, **limits)


@given(
    st.integers(0, 10**6), st.integers(1, 3), st.integers(0, 6), st.sampled_from(["words", "exact", "shingles"]), st.booleans(),
    st.integers(2, 5), st.integers(1, 2),
)  # fmt: skip
@settings(deadline=None, max_examples=25)
def test_parts_tell_what_the_whole_tells(
    seed: int, size: int, n_segments: int, signature: str, align: bool, max_places: int, workers: int
) -> None:
    chance = random.Random(seed)
    records = collection_of(seed, 12)
    for record in records[::4]:
        record["text"] = with_page_marks(record["text"].split("\n\n"))
    chance.shuffle(records)
    known, asked = records[:n_segments], records[n_segments:]
    asked += known[: n_segments // 2]  # these are not compared with themselves
    limits = {"min_sentences": chance.choice([1, 3]), "max_places": max_places, "align": align, "min_aligned_words": 8}
    with temporary_folder() as folder, Index(f"{folder}/i", signature=signature, workers=workers) as index:
        for record in known:
            index.add([record])
        whole, parts = (in_parts(index, asked, n, **limits) for n in (10**6, size))
        alone = [index.query([record], **limits) for record in asked]
    assert told(parts) == told(whole)
    columns = [name for name in parts.passages.column_names if not name.endswith("page")]
    for table in ("hits", "passages"):
        shown = [getattr(one, table) for one in alone]
        names = columns if table == "passages" else parts.hits.column_names
        assert [row for one in shown for row in one.select(names).to_pylist()] == getattr(parts, table).select(
            names
        ).to_pylist()


@given(st.lists(st.lists(st.integers(0, 2000), max_size=30), max_size=5), st.integers(1, 9), st.integers(1, 40))
def test_parts_have_every_document_once_and_in_order(sizes: list[list[int]], fewest: int, most: int) -> None:
    batches = [pa.record_batch({"text": pa.array(["x" * size for size in batch], pa.large_string())}) for batch in sizes]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joined_answers, "_FEWEST_DOCUMENTS", fewest)
        patch.setattr(joined_answers, "_MOST_DOCUMENTS", max(fewest, most))
        parts = parts_of(batches)
    texts = [text for part in parts for batch in part for text in batch.column("text").to_pylist()]
    assert texts == ["x" * size for batch in sizes for size in batch]
    assert all(sum(batch.num_rows for batch in part) for part in parts)


def test_a_large_batch_is_searched_in_parts(tmp_path: Path) -> None:
    records = collection_of(1, 40)
    with Index(tmp_path / "i") as index:
        index.add(records[:4])
        calls = np.zeros(1, np.int64)

        def counted(*arguments: Any, **keywords: Any) -> Any:
            calls[0] += 1
            return gather(*arguments, **keywords)

        with pytest.MonkeyPatch.context() as patch:
            from ibidem.index import index as module

            gather = module.gather_batches
            patch.setattr(module, "gather_batches", counted)
            assert index.query(records).ids == [record["id"] for record in records]
            assert calls[0] == 2
        with pytest.raises(NoDocumentsError):
            index.query([])
