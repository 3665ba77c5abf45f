"""Which document of several stays, where no machine sees them all: a key by document, the smallest one comes first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.clusters.keep_rules import value_places
from ibidem.columns.collection import NO_TIME
from ibidem.columns.parted_tables import table_of
from ibidem.execution.checks import nothing_to_keep_by
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup
from ibidem.execution.layout import Layout

# Documents are in the order of (rank_key, document), which is that of `clusters.keep_order`.
RANKS = pa.schema([("document", pa.int64()), ("rank_key", pa.int64())])

_VALUES = pa.schema([("value", pa.large_string()), ("count", pa.int64()), ASKER])
_PLACES = pa.schema([("value", pa.large_string()), ("rank_key", pa.int64())])
_KNOWN = pa.schema([("n_known", pa.int64())])

_UNKNOWN = 1 << 60  # comes last; no time of a year below 38,000 is as large
_REFERENCE = -(1 << 62)  # comes first, whatever else the key says

Numbers = NDArray[np.int64]


def rank_keys(flow: Flow, name: str, documents: PartedTable, layout: Layout, rule: str) -> PartedTable:
    """Return rows of RANKS for all documents, at home, by a rule: first, longest, earliest, FIELD:max or FIELD:min.

    `documents` are at home, with their n_chars, time and group; the group is the value of the FIELD. Raises InputError where
    no document has what the rule looks at. All different values of a FIELD meet in one partition, with their counts.
    """
    if is_direct(rule):

        def rank(tables: Iterator[pa.Table]) -> Iterator[Sent]:
            for table in tables:
                numbers, times = table["document"].to_numpy(), times_of(table["time"])
                keys = direct_keys(rule, numbers, table["n_chars"].to_numpy(), times, layout)
                yield Sent("ranks", table_of([numbers, keys], RANKS), layout.home(numbers))
                yield Sent("known", table_of([[np.count_nonzero(times != NO_TIME)]], _KNOWN), 0)

        found = flow.map(f"{name}-ranks", documents, rank, {"ranks": RANKS, "known": _KNOWN})
    else:
        found = _rank_by_values(flow, name, documents, layout, rule)
    if rule not in ("first", "longest"):
        check_known(flow, found["known"], rule)
    return found["ranks"]


def is_direct(rule: str) -> bool:
    """Tell whether the key of a document follows from the document alone."""
    return ":" not in rule


def direct_keys(rule: str, documents: Numbers, n_chars: Numbers, times: Numbers, layout: Layout) -> Numbers:
    """Return the keys of documents by a rule that needs no other documents; `times` are smallest where unknown."""
    keys = np.zeros(len(documents), np.int64)
    if rule == "longest":
        keys = -n_chars
    elif rule == "earliest":
        keys = np.where(times == NO_TIME, _UNKNOWN, np.clip(times, -_UNKNOWN, _UNKNOWN - 1))
    return _with_side(keys, documents, layout)


def times_of(column: pa.ChunkedArray | pa.Array) -> Numbers:
    """Return times as microseconds since 1970, the smallest number where there is none."""
    times: Numbers = column.cast(pa.int64()).fill_null(NO_TIME).to_numpy()
    return times


def check_known(flow: Flow, known: PartedTable, rule: str) -> None:
    """Raise where counts of the documents that have what a rule looks at sum up to nothing."""
    if not pc.sum(flow.collect(known)["n_known"]).as_py():
        raise nothing_to_keep_by(rule)


def _with_side(keys: Numbers, documents: Numbers, layout: Layout) -> Numbers:
    return np.where(documents >= layout.n_input, keys + _REFERENCE, keys)


def _rank_by_values(flow: Flow, name: str, documents: PartedTable, layout: Layout, rule: str) -> dict[str, PartedTable]:
    def count(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        found = pc.value_counts(tables["documents"]["group"].combine_chunks().drop_null())
        counts = found.field("counts").to_numpy()
        values = [found.field("values"), counts, np.full(len(found), partition, np.int32)]
        yield Sent("values", table_of(values, _VALUES), 0)
        yield Sent("known", table_of([[counts.sum()]], _KNOWN), 0)

    def place(asked: pa.Table, _: Mapping[str, pa.Table]) -> pa.Table:
        different = asked["value"].combine_chunks().dictionary_encode()
        codes = different.indices.to_numpy()
        texts = different.dictionary.to_pylist()
        counts = np.bincount(codes, asked["count"].to_numpy(), minlength=len(texts))
        is_known, places = value_places(texts, counts)
        keys = np.where(is_known, -places if rule.endswith(":max") else places, _UNKNOWN)
        return table_of([asked["value"], keys[codes]], _PLACES)

    def rank(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        numbers = tables["documents"]["document"].to_numpy()
        places = tables["places"].combine_chunks()
        at = pc.index_in(tables["documents"]["group"], places["value"].combine_chunks()).fill_null(len(places)).to_numpy()
        keys = np.append(places["rank_key"].to_numpy(), _UNKNOWN)[at]
        yield Sent("ranks", table_of([numbers, _with_side(keys, numbers, layout)], RANKS), partition)

    counted = flow.reduce(f"{name}-values", {"documents": documents}, count, {"values": _VALUES, "known": _KNOWN})
    places = lookup(flow, f"{name}-places", counted.pop("values"), {}, place, _PLACES)
    inputs = {"documents": documents, "places": places}
    return {**flow.reduce(f"{name}-ranks", inputs, rank, {"ranks": RANKS}), "known": counted["known"]}
