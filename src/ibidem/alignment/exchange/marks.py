"""Marks: every one goes to the partition of its key; equal ones meet there, and their meetings go to buckets.

A key with more places than a mark may have leads to nothing. So of one key, a portion of a home sends no more than show this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.alignment import Words
from ibidem.alignment.candidates import BOND_REACH_WORDS, MOST_PLACES, Column, Marks, most_of_rare, room_for_marks
from ibidem.alignment.exchange.words import CLOSED, STATES, CommonStems, words_in
from ibidem.alignment.kernels import candidates as kernels
from ibidem.alignment.quotations import are_wanted, list_quotations
from ibidem.alignment.refinement import LEAST_EXTENSION_WORDS
from ibidem.columns.hashes import GOLDEN, SEED, mix
from ibidem.columns.kernels.transit import PlacedMarks, list_mark_meetings
from ibidem.columns.parted_tables import in_order, portions, table_of
from ibidem.columns.postings import postings_of
from ibidem.columns.ragged import lengths, starts_of
from ibidem.columns.texts import read_only
from ibidem.config import Config
from ibidem.execution.flow import Flow, Inputs, PartedTable, Sent, order_of
from ibidem.execution.layout import Layout
from ibidem.passages.exchange.pairs import SIDES

# Where a side of a passage is: its words, and hashes of the next few on either side, 0 if there are too few.
PLACES = pa.schema(
    [
        *(field for field in SIDES if field.name != "bucket"),
        ("start_word", pa.int32()),
        ("end_word", pa.int32()),
        ("before", pa.uint64()),
        ("after", pa.uint64()),
    ]
)
KINDS = ("bonds", "octets", "quotations")  # of marks; the last one only if short passages are wanted
BOND, OCTET, QUOTATION = range(3)
_WORDS_AT_A_TIME = 1 << 18
_MEETINGS_AT_A_TIME = 1 << 20


def send_marks(
    flow: Flow, stems: PartedTable, states: list[PartedTable], sides: PartedTable, common: CommonStems,
    n_documents: int, config: Config, layout: Layout,
) -> dict[str, PartedTable]:  # fmt: skip
    """Return marks of all kinds at the homes of their keys, and the `places` of sides where they were asked for."""
    most = most_of_rare(n_documents)
    schema = _mark_schema(config, layout)

    def mark(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = in_order(tables["stems"])
        documents, words = table["document"].to_numpy(), words_in(table)
        yield _sent_places(tables["sides"], documents, words, lengths(table, "sentence_first"))
        is_open = _open_words(tables["states"], documents, words, lengths(table, "sentence_first"))
        groups = table["group"].to_numpy() if config.passages.skip_same_group else None
        listers = _listers(words, is_open, common, most, config.alignment.min_aligned_words)
        for task in portions(np.diff(words.document_first) + 1, _WORDS_AT_A_TIME):
            marks = room_for_marks(words, task)
            for name, list_marks in listers.items():
                yield _sent_marks(name, marks, list_marks(task, marks), documents, words, groups, schema, layout)

    inputs: Inputs = {"stems": stems, "states": states, "sides": sides}
    kinds = KINDS if are_wanted(config.alignment.min_aligned_words) else KINDS[:QUOTATION]
    return flow.reduce("marks", inputs, mark, {**dict.fromkeys(kinds, schema), "places": PLACES})


def meet(flow: Flow, marks: Mapping[str, PartedTable], layout: Layout) -> PartedTable:
    """Return the meetings of marks in two documents that may be compared, one of them open, in the bucket of their pair."""

    schema = meeting_schema(layout)

    def reduce(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        for name, table in tables.items():
            documents, words = table["document"].to_numpy(), table["word"].to_numpy()
            for a, b in _meetings(table, layout):
                pairs = documents[a], documents[b]
                columns = [*pairs, words[a], words[b], np.full(len(a), KINDS.index(name))]
                yield Sent("meetings", table_of(columns, schema), layout.bucket(*(side.astype(np.int64) for side in pairs)))

    inputs = {name: marks[name] for name in KINDS if name in marks}
    return flow.reduce("marks-met", inputs, reduce, {"meetings": schema})["meetings"]


def meeting_schema(layout: Layout) -> pa.Schema:
    """Return the schema of meetings: two documents, a word in each, and which kind of mark meets, as its number in KINDS."""
    documents = [(f"{side}_document", _number_type(layout)) for side in "ab"]
    return pa.schema([*documents, *((f"{side}_word", pa.uint32()) for side in "ab"), ("kind", pa.uint8())])


def _mark_schema(config: Config, layout: Layout) -> pa.Schema:
    columns = [("key", pa.uint32()), ("document", _number_type(layout)), ("word", pa.uint32()), ("is_open", pa.bool_())]
    return pa.schema([*columns, ("group", pa.uint64())] if config.passages.skip_same_group else columns)


def _number_type(layout: Layout) -> pa.DataType:
    """Return a type for numbers of documents: marks are many, and four bytes are enough in nearly all collections."""
    return pa.uint32() if layout.n_records < 1 << 32 else pa.int64()


def _listers(
    words: Words, is_open: NDArray[np.bool_], common: CommonStems, most: int, min_words: int
) -> dict[str, Callable[[tuple[int, int], Marks], int]]:
    """Return for each kind what writes the marks of documents, and returns their number."""
    everything = np.empty(0, np.uint8)
    given = words.stem, is_open, words.document_first
    counts = common.stem_counts()

    def list_bonds(task: tuple[int, int], marks: Marks) -> int:
        return kernels.list_bonds(*given, *task, counts, most, BOND_REACH_WORDS, everything, marks)  # type: ignore[no-any-return]

    def list_octets(task: tuple[int, int], marks: Marks) -> int:
        hashes = np.empty(kernels.WINDOW, np.uint64)
        return kernels.list_octets(*given, *task, hashes, everything, marks)  # type: ignore[no-any-return]

    if not are_wanted(min_words):
        return {"bonds": list_bonds, "octets": list_octets}
    rarity = common.rarity()

    def list_quoted(task: tuple[int, int], marks: Marks) -> int:
        return list_quotations(words, is_open, task, rarity, min_words, everything, marks)

    return {"bonds": list_bonds, "octets": list_octets, "quotations": list_quoted}


def _sent_marks(
    name: str, marks: Marks, n: int, documents: NDArray[np.int64], words: Words, groups: Column | None, schema: pa.Schema,
    layout: Layout,
) -> Sent:  # fmt: skip
    keys = marks.keys[:n].astype(np.uint32)
    chosen = np.flatnonzero(~_too_many(keys))
    routes = (keys[chosen].astype(np.int64) * layout.n_partitions) >> 32
    order = order_of(routes)  # here, so that columns are put in order only once
    chosen, routes = chosen[order], routes[order]
    document = marks.documents[chosen]
    columns = [
        keys[chosen],
        documents[document],
        marks.words[chosen] - words.document_first[document],
        marks.openness[chosen],
        *([] if groups is None else [groups[document]]),
    ]
    return Sent(name, table_of(columns, schema), routes)


def _too_many(keys: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return which of several equal keys need not be sent: one more than a mark may have places is enough."""
    slots = keys & np.uint32((1 << max(10, len(keys).bit_length())) - 1)
    crowded = np.flatnonzero(np.bincount(slots)[slots] > MOST_PLACES)  # most keys are not, so there is little to sort
    crowded = crowded[np.argsort(keys[crowded], kind="stable")]
    is_first = np.ones(len(crowded), np.bool_)
    is_first[1:] = keys[crowded][1:] != keys[crowded][:-1]
    first = np.flatnonzero(is_first)
    rank = np.arange(len(crowded)) - first[np.cumsum(is_first) - 1]
    are_too_many = np.zeros(len(keys), np.bool_)
    are_too_many[crowded[rank > MOST_PLACES]] = True
    return are_too_many


def _meetings(table: pa.Table, layout: Layout) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Yield the marks that meet, the rows of a and of b, some at a time."""
    keys = table["key"].to_numpy().astype(np.uint64)
    keys += np.uint64(1)
    keys *= GOLDEN  # postings need keys that use all bits
    met = postings_of(keys)
    del keys
    of_marks = [read_only(table[name].to_numpy()) for name in ("document", "word", "is_open")]
    of_marks.append(read_only(table["group"].to_numpy() if "group" in table.column_names else np.empty(0, np.uint64)))
    n_input = layout.n_input if layout.has_reference else -1
    room = max(_MEETINGS_AT_A_TIME, MOST_PLACES * (MOST_PLACES - 1) // 2)  # enough for one key
    key = 0
    while key < len(met.first) - 1:
        a, b = (np.empty(room, np.int32) for _ in range(2))
        key, n = list_mark_meetings(key, met.first, met.rows, MOST_PLACES, PlacedMarks(*of_marks), n_input, a, b)
        yield a[:n], b[:n]


def _sent_places(asked: pa.Table, documents: NDArray[np.int64], words: Words, n_sentences: NDArray[np.int64]) -> Sent:
    """Answer where sides are, in the buckets that asked."""
    bucket, document, first, end = (asked[name].to_numpy() for name in SIDES.names)
    at = np.searchsorted(documents, document)
    before = starts_of(n_sentences)[at]
    start_word, end_word = words.sentence_first[before + first], words.sentence_first[before + end]
    low, high = words.document_first[at], words.document_first[at + 1]
    columns = [document, first, end, start_word - low, end_word - low]
    n = LEAST_EXTENSION_WORDS
    columns += [_hashes(words, start_word - n, start_word - n >= low), _hashes(words, end_word, end_word + n <= high)]
    return Sent("places", table_of(columns, PLACES), bucket.astype(np.int64))


def _hashes(words: Words, begins: NDArray[np.int64], is_known: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return a hash, never 0, of the few words from each place on; 0 where they are not known."""
    fold: Any = mix.py_func
    hashes = np.zeros(len(begins), np.uint64)
    hashes[is_known] = SEED
    for k in range(LEAST_EXTENSION_WORDS):
        hashes[is_known] = fold(hashes[is_known], words.stem[begins[is_known] + k].astype(np.uint64))
    hashes[is_known] |= np.uint64(1)
    return hashes


def _open_words(
    states: pa.Table, documents: NDArray[np.int64], words: Words, n_sentences: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which words are in sentences that appear nowhere else unchanged."""
    document, sentence, state = (states[name].to_numpy() for name in STATES.names)
    closed = state == CLOSED
    is_open = np.ones(len(words.sentence_first) - 1, np.bool_)
    is_open[starts_of(n_sentences)[np.searchsorted(documents, document[closed])] + sentence[closed]] = False
    return np.repeat(is_open, np.diff(words.sentence_first))
