"""Aligned passages located in their texts, one side after the other: each at the home of its document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.alignment import Words
from ibidem.alignment.exchange.aligned_pairs import ASKED
from ibidem.alignment.exchange.words import SKIPPED, STATES, words_in
from ibidem.alignment.places import locate_side
from ibidem.columns.collection import Collection
from ibidem.columns.parted_tables import collection_of, in_order, table_of
from ibidem.columns.ragged import flat
from ibidem.config import Config
from ibidem.execution.flow import Flow, Inputs, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.passages.coverage import Coverage

Numbers = NDArray[np.int64]

# A side of a passage, at the home of a. Characters and sentences count within the document; those covered are rows (none: an
# empty range). `low` and `high` are the characters of sentences before what is covered and up to its end, `whole` are all.
LOCATED = pa.schema(
    [
        ("key", pa.int64()),
        ("is_b", pa.bool_()),
        ("id", pa.large_string()),
        ("time", pa.int64()),
        *((name, pa.int64()) for name in ("start", "end", "first", "last", "covered_first", "covered_end")),
        ("digest", pa.uint64()),
        ("is_whole", pa.bool_()),
        *((name, pa.int64()) for name in ("low", "high", "whole")),
    ]
)


def locate_sides(
    flow: Flow, asked: PartedTable, stems: PartedTable, states: list[PartedTable], documents: PartedTable, texts: PartedTable,
    config: Config, layout: Layout,
) -> PartedTable:  # fmt: skip
    """Return where the sides of passages are, at the partitions that asked."""

    def locate(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        asked = tables["asked"]
        if asked.num_rows == 0:
            return
        wanted = np.unique(asked["document"].to_numpy())
        collection, words = with_texts(tables, wanted, config, layout)
        key, is_b, is_aligned, document, start, end, asker = (asked[name].to_numpy() for name in ASKED.names)
        at = np.searchsorted(wanted, document)
        first = collection.document_first[at]
        places, sentences, covered = (np.stack([start, end]).astype(np.int64) for _ in range(3))
        digests, is_whole = np.zeros(len(at), np.uint64), np.zeros(len(at), np.bool_)
        by_words = np.flatnonzero(is_aligned)
        spans = places[:, by_words] + words.document_first[at[by_words]]
        side = locate_side(spans.T, words, collection)
        places[:, by_words], sentences[:, by_words] = side.places, side.sentences - first[by_words]
        covered[:, by_words] = _rows_in(side.covered, tables["states"], wanted, collection) - first[by_words]
        digests[by_words], is_whole[by_words] = side.digests, side.is_whole
        coverage = Coverage(collection)
        slots, begins = coverage.first[at] + covered, coverage.first[at]
        low, high, before, after = (coverage.chars_before[slot] for slot in (*slots, begins, coverage.first[at + 1]))
        columns = [
            key, is_b, collection.ids.take(pa.array(at)), collection.times[at], *places, *sentences, *covered, digests,
            is_whole, low - before, high - before, after - before,
        ]  # fmt: skip
        yield Sent("located", table_of(columns, LOCATED), asker.astype(np.int64))

    inputs: Inputs = {"asked": asked, "stems": stems, "states": states, "documents": documents, "texts": texts}
    return flow.reduce("located", inputs, locate, {"located": LOCATED})["located"]


def with_texts(tables: Mapping[str, pa.Table], wanted: Numbers, config: Config, layout: Layout) -> tuple[Collection, Words]:
    """Return some `documents` of a home, in order, with their `texts`, sentences and bytes; and their words, by `stems`."""
    known = {name: chosen(tables[name], wanted) for name in ("stems", "documents", "texts")}
    return _collection(known, config, layout), words_in(known["stems"])


def chosen(table: pa.Table, wanted: Numbers) -> pa.Table:
    """Return the rows of documents, in order."""
    return in_order(table.filter(pa.array(np.isin(table["document"].to_numpy(), wanted))))


def _collection(known: Mapping[str, pa.Table], config: Config, layout: Layout) -> Collection:
    """Return documents with their texts, sentences and bytes."""
    collection = collection_of(known["documents"], layout)
    columns = [known["documents"][name] for name in ("id", "time", "group")] + [known["texts"]["text"]]
    batch = pa.table(columns, names=["id", "time", "group", "text"]).combine_chunks().to_batches()
    start_byte, end_byte = (flat(known["stems"], name) for name in ("start_byte", "end_byte"))
    return replace(collection, batches=batch, start_byte=start_byte, end_byte=end_byte, hash_seed=config.sentences.hash_seed)


def _rows_in(covered: Numbers, states: pa.Table, documents: Numbers, collection: Collection) -> Numbers:
    """Return sentences from the first row to the last one among those covered; an empty range if there is none."""
    document, sentence, state = (states[name].to_numpy() for name in STATES.names)
    skipped = (state == SKIPPED) & np.isin(document, documents)
    is_row = np.ones(len(collection.document), np.bool_)
    is_row[collection.document_first[np.searchsorted(documents, document[skipped])] + sentence[skipped]] = False
    rows = np.append(np.flatnonzero(is_row), 0)
    start, end = np.searchsorted(rows[:-1], covered)
    within: Numbers = np.where(start < end, np.stack([rows[start], rows[end - 1] + 1]), covered[0])
    return within
