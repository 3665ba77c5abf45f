"""Families over many partitions: spans become places where their documents are, and places that passages connect meet.

A place is known by a key, and a family is found where all places are that passages connect with it. Only numbers go there, and
one row per place. Families are then numbered from the largest to the smallest: counts say which partition gets which sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import times_of
from ibidem.columns.components_exchange import EDGES, connect, home_of_nodes
from ibidem.columns.hashes import SEED, mix
from ibidem.columns.parted_tables import in_order, table_of
from ibidem.columns.ragged import ranges, starts_of
from ibidem.config import Config
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent
from ibidem.model import FAMILIES
from ibidem.passages.families import Links, Places, digests_at, family_columns, find_families, places_of, ranks_of

_INTS = ("document", "start", "end")
# `span` is twice the number of the passage, and one more for side b.
_SPANS = pa.schema([("span", pa.int64()), *((name, pa.int64()) for name in _INTS), ASKER])
_NAMED = pa.schema([("span", pa.int64()), ("place", pa.uint64())])
_PLACES = pa.schema(
    [
        ("place", pa.uint64()),
        *((name, pa.int64()) for name in Places._fields),
        ("id", pa.large_string()),
        ("time", pa.int64()),
        ("group", pa.large_string()),
        ("digest", pa.uint64()),
    ]
)
_LINKS = pa.schema(
    [
        ("a", pa.uint64()),
        ("b", pa.uint64()),
        *((name, pa.int64()) for name in Links._fields[2:6]),
        ("similarity", pa.float64()),
    ]
)
_ROWS = pa.schema(
    [
        pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type, field.nullable)
        for field in FAMILIES
    ]
)
# The rows of families as they are found: by a partition, in its order; the document, and the length of the first place.
_FOUND = pa.schema([*((name, pa.int64()) for name in ("found_at", "row", "document", "n_chars")), *_ROWS])
_COUNTS = pa.schema([("size", pa.int64()), ("n_families", pa.int64()), ("n_rows", pa.int64())])
_EXACT_CHARS = 8  # lengths are counted in so many bits


def find_in_partitions(flow: Flow, passages: PartedTable, texts: PartedTable, config: Config) -> PartedTable:
    """Return the families of all passages, in their order over the partitions."""
    if flow.count(passages) == 0:
        return PartedTable("families", _ROWS)
    met = _meet(flow, passages, _name_places(flow, passages, texts, config))

    def find(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        found = _families(partition, tables["places"], tables["links"])
        yield Sent("found", found, partition)
        yield Sent("counts", _counted(found), 0)

    found = flow.reduce("families", met, find, {"found": _FOUND, "counts": _COUNTS})
    return _numbered(flow, found["found"], flow.collect(found["counts"]))


def _name_places(flow: Flow, passages: PartedTable, texts: PartedTable, config: Config) -> dict[str, PartedTable]:
    """Return the key of each span's place (`named`), where the passage is, and the `places`, where their keys are."""
    layout = flow.layout

    def ask(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["passages"]
        for number, side in enumerate("ab"):
            span, document = 2 * table["number"].to_numpy() + number, table[f"{side}_document"].to_numpy()
            columns = [span, document, table[f"{side}_start"], table[f"{side}_end"], np.full(len(span), partition)]
            yield Sent("asked", table_of(columns, _SPANS), layout.home(document))

    def name(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        asked = tables["asked"]
        if asked.num_rows == 0:
            return
        places, of_span = places_of(*(asked[name].to_numpy() for name in _INTS))
        keys = _keys(places)
        yield Sent("named", table_of([asked["span"], keys[of_span]], _NAMED), asked["asker"].to_numpy().astype(np.int64))
        documents = in_order(tables["texts"])
        row = np.searchsorted(documents["document"].to_numpy(), places.document)
        digests = digests_at(documents["text"], row, places.start, places.end, config.sentences.hash_seed)
        at, times = pa.array(row), times_of(documents["time"].combine_chunks())
        columns = [keys, *places, documents["id"].take(at), times[row], documents["group"].take(at), digests]
        yield Sent("places", table_of(columns, _PLACES), home_of_nodes(keys, layout.n_partitions))

    asked = flow.reduce("families-spans", {"passages": passages}, ask, {"asked": _SPANS})["asked"]
    return flow.reduce("families-places", {"asked": asked, "texts": texts}, name, {"named": _NAMED, "places": _PLACES})


def _meet(flow: Flow, passages: PartedTable, given: dict[str, PartedTable]) -> dict[str, PartedTable]:
    """Return `places`, and passages as `links` between them, where all that passages connect meets."""
    n_partitions = flow.n_partitions

    def link(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        passages, named = in_order(tables["passages"], "number"), in_order(tables["named"], "span")
        a, b = (named["place"].to_numpy()[side::2] for side in (0, 1))
        columns = [a, b, *(passages[name] for name in _LINKS.names[2:])]
        chosen = np.flatnonzero(a != b)
        links = table_of(columns, _LINKS).take(pa.array(chosen))
        yield Sent("links", links, home_of_nodes(a[chosen], n_partitions))
        yield Sent("edges", links.select(["a", "b"]), 0)

    def gather(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        nodes, order = np.unique(tables["roots"]["node"].to_numpy(), return_index=True)
        roots = tables["roots"]["root"].to_numpy()[order]
        for name, key in (("places", "place"), ("links", "a")):
            keys = tables[name][key].to_numpy()
            at = np.minimum(np.searchsorted(nodes, keys), max(0, len(nodes) - 1))
            known = np.flatnonzero(nodes[at] == keys) if len(nodes) else np.empty(0, np.int64)
            yield Sent(name, tables[name].take(pa.array(known)), home_of_nodes(roots[at[known]], n_partitions))

    named = given.pop("named")
    linked = flow.reduce("families-links", {"passages": passages, "named": named}, link, {"links": _LINKS, "edges": EDGES})
    roots = connect(flow, "families", linked.pop("edges"))
    inputs = {"roots": roots, "places": given.pop("places"), "links": linked.pop("links")}
    return flow.reduce("families-met", inputs, gather, {"places": _PLACES, "links": _LINKS})


def _keys(places: Places) -> NDArray[np.uint64]:
    """Return the key of each place."""
    fold: Any = mix.py_func  # over a whole array at once
    keys = np.full(len(places.start), SEED)
    for column in places[:3]:
        keys = fold(keys, column.astype(np.uint64))
    return keys


def _families(partition: int, table: pa.Table, links: pa.Table) -> pa.Table:
    """Return the rows of the families of places and links, all of which are here."""
    table = table.take(pa.array(np.lexsort([table[name].to_numpy() for name in ("end", "start", "document")]))).combine_chunks()
    places = Places(*(table[name].to_numpy() for name in Places._fields))
    keys = table["place"].to_numpy()
    order = np.argsort(keys)
    a, b = (order[np.searchsorted(keys, links[side].to_numpy(), sorter=order)] for side in "ab")
    columns = (links[name].to_numpy() for name in _LINKS.names[2:])
    times, ids = table["time"].to_numpy(), _whole(table["id"])
    families = find_families(places, Links(a, b, *columns), times, ranks_of(ids))
    rows, sizes = families.places, np.diff(families.first)
    heads = np.repeat(rows[families.first[:-1]], sizes)
    chosen = pa.array(rows)
    shown = family_columns(
        families, ids.take(chosen).dictionary_encode(), places.start[rows], places.end[rows], times[rows],
        _whole(table["group"]).take(chosen), table["digest"].to_numpy()[rows],
    )  # fmt: skip
    numbers = [np.full(len(rows), partition), np.arange(len(rows)), places.document[rows], (places.end - places.start)[heads]]
    return table_of([*numbers, *shown.columns], _FOUND)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def _sizes(found: pa.Table) -> NDArray[np.int64]:
    """Return numbers that are smaller for larger families: by documents, then by roughly how long the first place is."""
    n_documents, n_chars = found["n_documents"].to_numpy(), found["n_chars"].to_numpy()
    shift = np.maximum(np.frexp(n_chars.astype(np.float64))[1].astype(np.int64) - _EXACT_CHARS, 0)
    sizes: NDArray[np.int64] = -(n_documents << 16 | shift << _EXACT_CHARS + 1 | n_chars >> shift)
    return sizes


def _counted(found: pa.Table) -> pa.Table:
    sizes, which = np.unique(_sizes(found), return_inverse=True)
    n_families = np.bincount(which, found["is_first"].to_numpy(), len(sizes)).astype(np.int64)
    return table_of([sizes, n_families, np.bincount(which, minlength=len(sizes))], _COUNTS)


def _numbered(flow: Flow, found: PartedTable, counts: pa.Table) -> PartedTable:
    """Return the rows of families in order, numbered from 1, given how many there are of each size."""
    sizes, which = np.unique(counts["size"].to_numpy(), return_inverse=True)
    n_families, n_rows = (np.bincount(which, counts[name].to_numpy(), len(sizes)) for name in ("n_families", "n_rows"))
    before = starts_of(n_rows.astype(np.int64))
    partition_of = before[:-1] * flow.n_partitions // max(1, int(before[-1]))
    n_before = np.zeros(flow.n_partitions + 1, np.int64)
    np.add.at(n_before, partition_of + 1, n_families.astype(np.int64))
    n_before = np.cumsum(n_before)

    def send(tables: Iterator[pa.Table]) -> Iterator[Sent]:
        for table in tables:
            yield Sent("found", table, partition_of[np.searchsorted(sizes, _sizes(table))])

    def number(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["found"]
        table = table.take(pa.array(np.lexsort([table[name].to_numpy() for name in ("row", "found_at")]))).combine_chunks()
        first = np.append(np.flatnonzero(table["is_first"].to_numpy()), table.num_rows)
        heads, counts = table.take(pa.array(first[:-1])), np.diff(first)
        by = [heads[name].to_numpy() for name in ("document", "start", "n_chars", "n_documents")]
        order = np.lexsort((by[0], by[1], ranks_of(_whole(heads["id"])), -by[2], -by[3]))  # as `find_families` orders them
        rows = table.take(pa.array(ranges(first[:-1][order], counts[order]))).select(_ROWS.names)
        family = np.repeat(n_before[partition] + 1 + np.arange(len(counts)), counts[order])
        yield Sent("families", table_of([family, *rows.columns[1:]], _ROWS), partition)

    sent = flow.map("families-sent", found, send, {"found": _FOUND})
    return flow.reduce("families-numbered", sent, number, {"families": _ROWS})["families"]
