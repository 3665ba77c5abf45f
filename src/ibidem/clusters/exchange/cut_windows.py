"""Windows that occur in two places: found by their keys alone, before anything else of them is sent.

Each partition sends a key once, however many places it has there, so no partition receives more rows for a text than there are
partitions. Windows that occur once are not used again. Rows are ordered by the rank of their document, then its number, then
the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.clusters.cut_rule import Rule
from ibidem.clusters.removals import ends_with_space, text_chars
from ibidem.columns.collection import Collection
from ibidem.columns.distinct import find, firsts
from ibidem.columns.parted_tables import collection_of, in_order, table_of
from ibidem.columns.ragged import flat, starts_of
from ibidem.columns.rows import Rows, rows_of
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup, route_by_hash
from ibidem.execution.layout import Layout

Numbers = NDArray[np.int64]
Names = NDArray[np.uint64]
Truths = NDArray[np.bool_]

PLACE: list[tuple[str, Any]] = [("rank", pa.int64()), ("document", pa.int64()), ("row", pa.int64())]
_KEYS = pa.schema([("key", pa.uint64()), ("standing", pa.int8()), ("first", pa.int64()), ASKER])
# Keys of windows that may be cut for one another, where they occur; `first` is the first document of each, by number (0 if only
# equal rows match).
REPEATED = pa.schema([("key", pa.uint64()), ("first", pa.int64())])
# Rows of such windows, at home: `key` is 0 where none begins; `after` is where the next sentence starts, or the text ends;
# `text_chars` are the characters of the document without the space before its first sentence; `check` is what a row and its
# source must have in common before text goes.
ROWS = pa.schema(
    [
        *PLACE,
        ("key", pa.uint64()),
        ("sentence", pa.int64()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("after", pa.int64()),
        ("text_chars", pa.int64()),
        ("check", pa.uint64()),
    ]
)
# What a partition knows about a key: the key that always follows it (0: various or none), and the first place that may be a
# source.
WINDOWS = pa.schema([("key", pa.uint64()), ("following", pa.uint64()), *PLACE, ASKER])
_ONCE, _TWICE = 1, 3


@dataclass(frozen=True)
class Places:
    """Rows, by the rank and number of their document and their own number in it. Document -1 means no place."""

    rank: Numbers
    document: Numbers
    row: Numbers

    def __len__(self) -> int:
        return len(self.document)

    @classmethod
    def of(cls, table: pa.Table, prefix: str = "") -> Places:
        """Return the places of a table whose columns begin with the prefix."""
        return cls(*(table[prefix + name].to_numpy() for name, _ in PLACE))

    @classmethod
    def none(cls, count: int) -> Places:
        """Return this many empty places."""
        return cls(np.zeros(count, np.int64), np.full(count, -1, np.int64), np.zeros(count, np.int64))

    def take(self, chosen: NDArray[Any]) -> Places:
        """Return some of the places."""
        return Places(self.rank[chosen], self.document[chosen], self.row[chosen])

    def put(self, chosen: NDArray[Any], others: Places) -> Places:
        """Return the places with some of them replaced."""
        columns = [self.rank.copy(), self.document.copy(), self.row.copy()]
        for column, values in zip(columns, (others.rank, others.document, others.row), strict=True):
            column[chosen] = values
        return Places(*columns)

    def columns(self) -> list[Numbers]:
        """Return the columns as `PLACE` names them."""
        return [self.rank, self.document, self.row]

    def joined(self, others: Places) -> Places:
        """Return these places and the others after them."""
        pairs = zip(self.columns(), others.columns(), strict=True)
        return Places(*(np.concatenate(pair) for pair in pairs))


def first_of_each(names: Names, places: Places) -> NDArray[np.int64]:
    """Return for each distinct name, in increasing order, the index of its first place in the order of rows."""
    order = np.lexsort((places.row, places.document, places.rank, names))
    return order[firsts(names[order])]


def windows_of(documents: pa.Table, layout: Layout, rule: Rule) -> tuple[Collection, Rows, Names]:
    """Return documents, in order, as a collection with its rows, and the key of the window that starts at each row.

    Windows that cannot match have different keys, or none (0): too few words, or a row that interrupts. Such a row has only its
    text, so it matches only where similar rows do, and there rows with equal texts always match.
    """
    collection = collection_of(documents, layout)
    classes = flat(documents, "classes")
    rows = rows_of(collection, classes, rule.max_gap)
    interrupts = classes[rows.sentence] == 0
    names = np.where(interrupts, ~collection.digest[rows.sentence] | np.uint64(1), rows.classes)
    keys = rule.window_keys(names, rows)
    if not rule.similar and interrupts.any():
        before = starts_of(interrupts)
        ends = np.minimum(np.arange(len(keys)) + rule.size, len(keys))
        keys[before[ends] > before[:-1]] = 0
    return collection, rows, keys


def repeated_windows(flow: Flow, documents: PartedTable, layout: Layout, rule: Rule) -> PartedTable:
    """Return the keys of windows that may be cut for one another, `REPEATED`, in every partition where they occur."""

    def send(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        given = in_order(tables["documents"])
        _, rows, keys = windows_of(given, layout, rule)
        numbers = given["document"].to_numpy()[rows.document]
        order = np.argsort(keys, kind="stable")
        order = order[np.searchsorted(keys[order], 1) :]
        heads = firsts(keys[order])
        first, last = order[heads], order[np.append(heads[1:], len(order)) - 1] if len(order) else order
        if layout.has_reference:
            standing = (numbers[first] < layout.n_input) + 2 * (numbers[last] >= layout.n_input)
        else:
            twice = numbers[first] != numbers[last]
            standing = np.where(twice | (rule.same_document & (first != last)), _TWICE, _ONCE)
        lowest = numbers[first] if rule.similar else np.zeros(len(first), np.int64)  # zeros compress to almost nothing
        table = table_of([keys[first], standing, lowest, np.full(len(first), partition)], _KEYS)
        yield Sent("keys", table, route_by_hash(keys[first], flow_partitions))

    def answer(asked: pa.Table, _: Mapping[str, pa.Table]) -> tuple[pa.Table, Numbers]:
        keys, standing, first = (asked[name].to_numpy() for name in ("key", "standing", "first"))
        order = np.argsort(keys, kind="stable")
        heads = firsts(keys[order])
        counts = np.diff(np.append(heads, len(order)))
        both = np.bitwise_or.reduceat(standing[order], heads) == _TWICE
        useful = np.repeat(both if has_reference else both | (counts > 1), counts)
        lowest = np.repeat(np.minimum.reduceat(first[order], heads), counts)
        chosen = order[useful]
        return table_of([keys[chosen], lowest[useful]], REPEATED), chosen

    flow_partitions, has_reference = flow.n_partitions, layout.has_reference
    keys = flow.reduce("cuts-keys", {"documents": documents}, send, {"keys": _KEYS})["keys"]
    return lookup(flow, "cuts-repeated", keys, {}, answer, REPEATED)


def repeated_rows(
    flow: Flow, documents: PartedTable, ranks: PartedTable, repeated: PartedTable, layout: Layout, rule: Rule
) -> tuple[PartedTable, PartedTable]:
    """Return the rows of repeated windows, `ROWS`, at home; and by key what each partition knows about them, `WINDOWS`."""

    def look(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        given = in_order(tables["documents"])
        collection, rows, keys = windows_of(given, layout, rule)
        keys[~find(keys, np.sort(tables["repeated"]["key"].to_numpy()))[1]] = 0
        starts = np.flatnonzero(keys)
        inside = np.zeros(len(keys) + 1, np.int64)
        np.add.at(inside, starts, 1)
        np.add.at(inside, starts + rule.size, -1)
        chosen = np.flatnonzero(np.cumsum(inside[:-1]) > 0)
        document = rows.document[chosen]
        ranked = in_order(tables["ranks"])
        numbers = given["document"].to_numpy()[document]
        rank = ranked["rank_key"].to_numpy()[find(numbers, ranked["document"].to_numpy())[0]]
        places = Places(rank, numbers, chosen - rows.document_first[document])
        sentence = rows.sentence[chosen].astype(np.int64)
        first = collection.document_first
        # Rows of other signatures match if their classes are equal, whatever their words.
        checks = flat(given, "check") if "check" in given.column_names else None
        found = table_of(
            [
                *places.columns(),
                keys[chosen],
                sentence - first[document],
                collection.start_char[sentence],
                collection.end_char[sentence],
                ends_with_space(collection, sentence),
                text_chars(collection, document),
                rows.classes[chosen] if checks is None else checks[sentence],
            ],
            ROWS,
        )
        yield Sent("rows", found, partition)
        known = _known(keys[chosen], places, layout)
        table = table_of([*known, np.full(len(known[0]), partition)], WINDOWS)
        yield Sent("windows", table, route_by_hash(known[0], n_partitions))

    n_partitions = flow.n_partitions
    inputs = {"documents": documents, "ranks": ranks, "repeated": repeated}
    found = flow.reduce("cuts-rows", inputs, look, {"rows": ROWS, "windows": WINDOWS})
    return found["rows"], found["windows"]


def _known(keys: Names, places: Places, layout: Layout) -> tuple[NDArray[Any], ...]:
    """Return the columns of `WINDOWS` except the asker."""
    at = np.flatnonzero(keys)
    beside = (np.diff(places.document) == 0) & (np.diff(places.row) == 1)
    following = np.zeros(len(keys), np.uint64)
    following[:-1][beside] = keys[1:][beside]
    windows = places.take(at)
    if layout.has_reference:
        windows = windows.put(windows.document < layout.n_input, Places.none(int((windows.document < layout.n_input).sum())))
    return merged_windows(keys[at], following[at], windows)


def merged_windows(keys: Names, following: Names, places: Places) -> tuple[NDArray[Any], ...]:
    """Return each key once, with the key that always follows it, or 0, and its first place."""
    order = np.argsort(keys, kind="stable")
    heads = firsts(keys[order])
    different, always = keys[order][heads], following[order][heads]
    if len(heads):
        always[np.maximum.reduceat(following[order], heads) != np.minimum.reduceat(following[order], heads)] = 0
    there = np.flatnonzero(places.document >= 0)
    first = there[first_of_each(keys[there], places.take(there))]
    best = Places.none(len(different)).put(np.searchsorted(different, keys[first]), places.take(first))
    return different, always, *best.columns()
