"""Windows that stand in two places: found by their keys alone, before anything else of them is sent.

Each partition sends a key once, however many places it has there, so no partition gets more rows for a text than there are
partitions. Windows that stand once are not heard of again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.clusters.exchange.cut_order import PLACE, Names, Numbers, Places, first_of_each
from ibidem.clusters.kernels.cuts import drop_short_windows
from ibidem.clusters.removals import ends_with_space, text_chars
from ibidem.columns.collection import Collection
from ibidem.columns.distinct import find, firsts
from ibidem.columns.parted_tables import collection_of, in_order, table_of
from ibidem.columns.ragged import flat, starts_of
from ibidem.columns.rows import Rows, rows_of
from ibidem.config import SET_SIGNATURES, Config, passage_limits
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.passages.kernels.windows import window_keys

_KEYS = pa.schema([("key", pa.uint64()), ("standing", pa.int8()), ("first", pa.int64()), ASKER])
# Keys of windows that may let one another go, where they stand; `first` is the first document of each, by number (where only
# equal rows match: 0).
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
# What a partition knows of a key: the one that follows it wherever it stands (0: this and that, or none), and the first place
# that may be a source.
WINDOWS = pa.schema([("key", pa.uint64()), ("following", pa.uint64()), *PLACE, ASKER])
_ONCE, _TWICE = 1, 3


@dataclass(frozen=True)
class Rule:
    """When rows go: the settings, as the level of cleaning takes them. With `similar`, rows match that are not equal."""

    size: int
    min_words: int
    max_gap: int
    same_document: bool
    similar: bool
    similarity: tuple[int, int]

    @classmethod
    def of(cls, config: Config) -> Rule:
        """Return the rule of a run."""
        limits = passage_limits(config)
        single = config.cleaning.level == "sentence"
        return cls(
            size=1 if single else limits.min_sentences,
            min_words=max(limits.min_words, limits.min_quote_words) if single else limits.min_words,
            max_gap=limits.max_gap_sentences,
            same_document=limits.same_document,
            similar=config.signatures.signature in SET_SIGNATURES,
            similarity=config.matches.min_similarity.as_integer_ratio(),
        )


def windows_of(documents: pa.Table, layout: Layout, rule: Rule) -> tuple[Collection, Rows, Names]:
    """Return documents, in order, as a collection with its rows, and the key of the window that starts at each row.

    Windows that cannot match have different keys, or none (0): too few words, or a row that interrupts. Such a row is known
    by nothing but its text, so it matches only where similar rows are looked for, of which those of equal texts match always.
    """
    collection = collection_of(documents, layout)
    classes = flat(documents, "classes")
    rows = rows_of(collection, classes, rule.max_gap)
    interrupts = classes[rows.sentence] == 0
    names = np.where(interrupts, ~collection.digest[rows.sentence] | np.uint64(1), rows.classes)
    keys = np.empty(len(names), np.uint64)
    window_keys(names, rows.document, rule.size, keys)
    if not rule.similar and interrupts.any():
        before = starts_of(interrupts)
        ends = np.minimum(np.arange(len(keys)) + rule.size, len(keys))
        keys[before[ends] > before[:-1]] = 0
    if rule.min_words > 1:
        drop_short_windows(keys, rows.n_words, rule.size, rule.min_words)
    return collection, rows, keys


def repeated_windows(flow: Flow, documents: PartedTable, layout: Layout, rule: Rule) -> PartedTable:
    """Return the keys of windows of which one may let another go, `REPEATED`, in every partition where they stand."""

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
        lowest = numbers[first] if rule.similar else np.zeros(len(first), np.int64)  # zeros cost next to nothing
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
    """Return the rows of repeated windows, `ROWS`, at home; and by key what each partition knows of them, `WINDOWS`."""

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
    """Return the columns of `WINDOWS` but for the asker."""
    at = np.flatnonzero(keys)
    beside = (np.diff(places.document) == 0) & (np.diff(places.row) == 1)
    following = np.zeros(len(keys), np.uint64)
    following[:-1][beside] = keys[1:][beside]
    windows = places.take(at)
    if layout.has_reference:
        windows = windows.put(windows.document < layout.n_input, Places.none(int((windows.document < layout.n_input).sum())))
    return merged_windows(keys[at], following[at], windows)


def merged_windows(keys: Names, following: Names, places: Places) -> tuple[NDArray[Any], ...]:
    """Return each key once: with the one that always follows it, or else 0, and with the first place there is."""
    order = np.argsort(keys, kind="stable")
    heads = firsts(keys[order])
    different, always = keys[order][heads], following[order][heads]
    if len(heads):
        always[np.maximum.reduceat(following[order], heads) != np.minimum.reduceat(following[order], heads)] = 0
    there = np.flatnonzero(places.document >= 0)
    first = there[first_of_each(keys[there], places.take(there))]
    best = Places.none(len(different)).put(np.searchsorted(different, keys[first]), places.take(first))
    return different, always, *best.columns()
