"""The tables of passages and repeats, built from rows and sentence numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import NO_TIME, Collection
from ibidem.columns.ragged import starts_of
from ibidem.columns.rows import Rows
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.model import DIRECTIONS, KINDS, PASSAGES, REPEATS
from ibidem.passages import PassageRows, Repeat
from ibidem.passages.kernels import coverage as kernels

Numbers = NDArray[np.int64]
_KIND_WORDS, _DIRECTION_WORDS = pa.array(KINDS), pa.array(DIRECTIONS)


def passages_table(
    parts: list[PassageRows], rows: Rows, collection: Collection, min_sentences: int, run_tasks: RunTasks = in_turn
) -> pa.Table:
    """Return the passages in the schema PASSAGES. The parts are used up, so that passages are not there twice."""
    ids, times = collection.ids, collection.times  # made once, before several threads ask for them

    def locate(part: PassageRows) -> pa.Table:
        return _part_table(part, rows, collection, ids, times, min_sentences)

    full = (parts.pop(0) for _ in range(len(parts)))
    tables = list(run_tasks(locate, filter(len, full)))
    return pa.concat_tables(tables) if tables else PASSAGES.empty_table()


def _part_table(
    passages: PassageRows, rows: Rows, collection: Collection, ids: pa.Array, times: Numbers, min_sentences: int
) -> pa.Table:
    n = len(passages)
    names = np.empty((2, n), np.int32)
    places = np.empty((4, n), np.int64)
    kinds, directions = np.empty(n, np.int8), np.empty(n, np.int8)
    kernels.locate(
        passages.table, min_sentences, rows.document, rows.sentence, collection.start_char, collection.end_char,
        times, names, places, kinds, directions,
    )  # fmt: skip
    return passage_columns(names, places, passages.table[:, 4], passages.similarity, kinds, directions, ids)


def passage_columns(
    names: NDArray[np.int32],
    places: Numbers,
    n_sentences: NDArray[np.int32],
    similarity: NDArray[np.float64],
    kinds: NDArray[np.int8],
    directions: NDArray[np.int8],
    ids: pa.Array,
) -> pa.Table:
    """Return columns as a table in the schema PASSAGES; `names` are numbers of documents, a and b, `places` has four rows."""
    a, b = (pa.DictionaryArray.from_arrays(pa.array(side), ids) for side in names)
    a_start, a_end, b_start, b_end = (pa.array(column) for column in places)
    columns = [a, a_start, a_end, b, b_start, b_end, pa.array(n_sentences), pa.array(similarity)]
    for codes, words in ((kinds, _KIND_WORDS), (directions, _DIRECTION_WORDS)):
        columns.append(pa.DictionaryArray.from_arrays(pa.array(codes), words))
    return pa.Table.from_arrays(columns, schema=PASSAGES)


def in_reading_order(tables: Sequence[pa.Table]) -> pa.Table:
    """Return tables of passages of one collection as one: by document a, place in a, document b, place in b."""
    tables = [table for table in tables if table.num_rows] or list(tables[:1])
    table = pa.concat_tables(tables)
    a, b = (
        np.concatenate([np.empty(0, np.int64), *(chunk.indices.to_numpy() for chunk in table[f"{side}_id"].chunks)])
        for side in "ab"
    )
    # Two stable sorts by packed places: the tables are nearly in order, so there is little to do.
    by_b = np.argsort(b.astype(np.int64) << 32 | table["b_start"].to_numpy(), kind="stable")
    order = by_b[np.argsort((a.astype(np.int64) << 32 | table["a_start"].to_numpy())[by_b], kind="stable")]
    codes = {"a_id": a, "b_id": b}
    columns = []
    for field in table.schema:
        if field.name in codes:
            # The ids are the dictionary of every chunk: `take` would put them together anew.
            ids = tables[0][field.name].type
            dictionary = next((c.dictionary for t in tables for c in t[field.name].chunks), pa.array([], ids.value_type))
            columns.append(pa.DictionaryArray.from_arrays(pa.array(codes[field.name][order].astype(np.int32)), dictionary))
        else:
            columns.append(table[field.name].combine_chunks().take(pa.array(order)))
    return pa.Table.from_arrays(columns, schema=table.schema)


def repeats_table(groups: Sequence[Repeat], rows: Rows, collection: Collection) -> pa.Table:
    """Return the repeat groups in the schema REPEATS: those in most documents first, then the longest, by text and place."""
    texts, counts, sizes, places = [], [], [], []
    for group in groups:
        document, first, last = sentences_of(group, rows)
        start, end = collection.start_char[first].astype(np.int64), collection.end_char[last - 1].astype(np.int64)
        texts.append(collection.text(int(document[0]))[start[0] : end[0]])
        counts.append(len(np.unique(document)))
        sizes.append(len(document))
        places.append((document, start, end))
    firsts = [(int(document[0]), int(start[0]), sizes[g]) for g, (document, start, _) in enumerate(places)]
    order = sorted(range(len(groups)), key=lambda g: (-counts[g], -len(texts[g]), texts[g], firsts[g]))
    document, start, end = (np.concatenate([places[g][part] for g in order] or [np.empty(0, np.int64)]) for part in range(3))
    structs = pa.StructArray.from_arrays(
        [collection.ids.take(pa.array(document)), pa.array(start), pa.array(end)], names=["id", "start", "end"]
    )
    offsets = starts_of([sizes[g] for g in order])
    lists = pa.LargeListArray.from_arrays(pa.array(offsets), structs)
    columns = [pa.array([texts[g] for g in order], pa.large_string()), pa.array([counts[g] for g in order], pa.int64()), lists]
    return pa.Table.from_arrays([c.cast(f.type) for c, f in zip(columns, REPEATS, strict=True)], schema=REPEATS)


def sentences_of(group: Repeat, rows: Rows) -> tuple[Numbers, Numbers, Numbers]:
    """Return document, first sentence and sentence after the last of every place of a group."""
    first = rows.sentence[group.starts].astype(np.int64)
    last = rows.sentence[group.starts + (group.length - 1)].astype(np.int64) + 1
    return rows.document[group.starts].astype(np.int64), first, last


def first_place(documents: Numbers, times: Numbers, is_input: NDArray[np.bool_]) -> int:
    """Return which place counts as the first: the earliest; of one or no time the reference's, then in reading order."""
    return int(np.lexsort((documents, is_input, times, times == NO_TIME))[0])
