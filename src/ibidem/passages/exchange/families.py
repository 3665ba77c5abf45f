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
from ibidem.columns.distinct import find
from ibidem.columns.hashes import SEED, mix
from ibidem.columns.parted_tables import in_order, table_of
from ibidem.columns.ragged import ranges, starts_of
from ibidem.config import Config
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup
from ibidem.model import FAMILIES, FAMILY
from ibidem.passages.exchange.wordings import FIRST_PLACES, OTHER_WORDINGS, compare_wordings, sent_wordings
from ibidem.passages.families import Links, Places, family_columns, find_families, places_of, ranks_of, with_family
from ibidem.passages.wordings import PlaceTexts, digests_at, number_variants

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
# Places and their families: as they are numbered where they were found, or by their final numbers.
_MEMBERS = pa.schema([("place", pa.uint64()), ("family", pa.int64())])
_NUMBERS = pa.schema([("family", pa.int64()), ("number", pa.int64())])
_ASKED = pa.schema([("place", pa.uint64()), ASKER])
_NONE = np.iinfo(np.int64).max  # larger than the number of any family
_EXACT_CHARS = 8  # lengths are counted in so many bits


def find_in_partitions(
    flow: Flow, passages: PartedTable, texts: PartedTable, config: Config
) -> tuple[PartedTable, PartedTable]:
    """Return the families of all passages, in their order over the partitions, and the passages with their families."""
    schema = pa.schema([*passages.schema, FAMILY])
    if flow.count(passages) == 0:
        return PartedTable("families", _ROWS), PartedTable("passages", schema)
    given = _name_places(flow, passages, texts, config)
    named = given["named"]
    met = _meet(flow, passages, given)
    asked = met.pop("asked")
    layout = flow.layout

    def find(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        found, members = _families(partition, tables["places"], tables["links"])
        yield Sent("found", found, partition)
        yield Sent("members", members, partition)
        yield Sent("counts", _counted(found), 0)
        yield from sent_wordings(found, layout)

    outputs = {"found": _FOUND, "members": _MEMBERS, "counts": _COUNTS}
    outputs |= {"first_places": FIRST_PLACES, "other_wordings": OTHER_WORDINGS}
    found = flow.reduce("families", met, find, outputs)
    counts = flow.collect(found["counts"])
    compared = compare_wordings(flow, found.pop("found"), found, texts, config)
    families, numbers = _numbered(flow, compared, counts)
    del compared
    return families, _put_in(flow, passages, named, asked, _numbered_places(flow, found["members"], numbers), schema)


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
        digests = digests_at(PlaceTexts(documents["text"], row, places.start, places.end), config.sentences.hash_seed)
        at, times = pa.array(row), times_of(documents["time"].combine_chunks())
        columns = [keys, *places, documents["id"].take(at), times[row], documents["group"].take(at), digests]
        yield Sent("places", table_of(columns, _PLACES), home_of_nodes(keys, layout.n_partitions))

    asked = flow.reduce("families-spans", {"passages": passages}, ask, {"asked": _SPANS})["asked"]
    return flow.reduce("families-places", {"asked": asked, "texts": texts}, name, {"named": _NAMED, "places": _PLACES})


def _meet(flow: Flow, passages: PartedTable, given: dict[str, PartedTable]) -> dict[str, PartedTable]:
    """Return `places`, and passages as `links` between them, where all that passages connect meets.

    Also whose family is `asked` for, at the homes of the places.
    """
    n_partitions = flow.n_partitions

    def link(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        passages, named = in_order(tables["passages"], "number"), in_order(tables["named"], "span")
        a, b = (named["place"].to_numpy()[side::2] for side in (0, 1))
        columns = [a, b, *(passages[name] for name in _LINKS.names[2:])]
        chosen = np.flatnonzero(a != b)
        links = table_of(columns, _LINKS).take(pa.array(chosen))
        yield Sent("links", links, home_of_nodes(a[chosen], n_partitions))
        yield Sent("edges", links.select(["a", "b"]), 0)
        different = np.unique(np.concatenate([a[chosen], b[chosen]]))
        asked = table_of([different, np.full(len(different), partition)], _ASKED)
        yield Sent("asked", asked, home_of_nodes(different, n_partitions))

    def gather(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        nodes, order = np.unique(tables["roots"]["node"].to_numpy(), return_index=True)
        roots = tables["roots"]["root"].to_numpy()[order]
        for name, key in (("places", "place"), ("links", "a")):
            keys = tables[name][key].to_numpy()
            at = np.minimum(np.searchsorted(nodes, keys), max(0, len(nodes) - 1))
            known = np.flatnonzero(nodes[at] == keys) if len(nodes) else np.empty(0, np.int64)
            yield Sent(name, tables[name].take(pa.array(known)), home_of_nodes(roots[at[known]], n_partitions))

    named = given.pop("named")
    outputs = {"links": _LINKS, "edges": EDGES, "asked": _ASKED}
    linked = flow.reduce("families-links", {"passages": passages, "named": named}, link, outputs)
    roots = connect(flow, "families", linked.pop("edges"))
    inputs = {"roots": roots, "places": given.pop("places"), "links": linked.pop("links")}
    gathered = flow.reduce("families-met", inputs, gather, {"places": _PLACES, "links": _LINKS})
    return gathered | {"asked": linked["asked"]}


def _keys(places: Places) -> NDArray[np.uint64]:
    """Return the key of each place."""
    fold: Any = mix.py_func  # over a whole array at once
    keys = np.full(len(places.start), SEED)
    for column in places[:3]:
        keys = fold(keys, column.astype(np.uint64))
    return keys


def _families(partition: int, table: pa.Table, links: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return the rows of the families of places and links, all of which are here, not compared yet; and all their members."""
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
        _whole(table["group"]).take(chosen), number_variants(families.first, table["digest"].to_numpy()[rows]),
        np.ones(len(rows)),
    )  # fmt: skip
    numbers = [np.full(len(rows), partition), np.arange(len(rows)), places.document[rows], (places.end - places.start)[heads]]
    is_member = families.of_place >= 0
    members = table_of([keys[is_member], families.of_place[is_member] + 1], _MEMBERS)
    return table_of([*numbers, *shown.columns], _FOUND), members


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


def _numbered(flow: Flow, found: PartedTable, counts: pa.Table) -> tuple[PartedTable, PartedTable]:
    """Return the rows of families in order, numbered from 1, given how many there are of each size; and their numbers, where
    they were found.
    """
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
        numbers = n_before[partition] + 1 + np.arange(len(counts))
        family = np.repeat(numbers, counts[order])
        yield Sent("families", table_of([family, *rows.columns[1:]], _ROWS), partition)
        known = table_of([heads["family"].take(pa.array(order)), numbers], _NUMBERS)
        yield Sent("numbers", known, heads["found_at"].to_numpy()[order])

    sent = flow.map("families-sent", found, send, {"found": _FOUND})
    numbered = flow.reduce("families-numbered", sent, number, {"families": _ROWS, "numbers": _NUMBERS})
    return numbered["families"], numbered["numbers"]


def _numbered_places(flow: Flow, members: PartedTable, numbers: PartedTable) -> PartedTable:
    """Return the family of every place, by its final number, at the home of the place."""
    n_partitions = flow.n_partitions

    def number(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        family, final = (column.to_numpy() for column in tables["numbers"].columns)
        order = np.argsort(family)
        places, local = (column.to_numpy() for column in tables["members"].columns)
        known = table_of([places, final[order][np.searchsorted(family[order], local)]], _MEMBERS)
        yield Sent("members", known, home_of_nodes(places, n_partitions))

    return flow.reduce("families-members", {"members": members, "numbers": numbers}, number, {"members": _MEMBERS})["members"]


def _put_in(
    flow: Flow, passages: PartedTable, named: PartedTable, asked: PartedTable, members: PartedTable, schema: pa.Schema
) -> PartedTable:
    """Return the passages, in order, with their families: the larger one if their places belong to two."""

    def answer(asked: pa.Table, known: Mapping[str, pa.Table]) -> tuple[pa.Table, NDArray[np.int64]]:
        members = in_order(known["members"], "place")
        at, is_known = find(asked["place"].to_numpy(), members["place"].to_numpy())
        return members.take(pa.array(at[is_known])), np.flatnonzero(is_known)

    def put_in(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        passages, named = in_order(tables["passages"], "number"), in_order(tables["named"], "span")
        members = in_order(tables["members"], "place")
        a, b = (named["place"].to_numpy()[side::2] for side in (0, 1))
        numbers = np.append(members["family"].to_numpy(), _NONE)
        sides = []
        for places in (a, b):
            at, is_known = find(places, members["place"].to_numpy())
            sides.append(numbers[np.where(is_known, at, len(numbers) - 1)])
        family = np.where(a == b, _NONE, np.minimum(*sides))
        table = with_family(passages, np.where(family == _NONE, 0, family))
        yield Sent("passages", table.cast(schema), partition)

    answers = lookup(flow, "families-asked", asked, {"members": members}, answer, _MEMBERS)
    inputs = {"passages": passages, "named": named, "members": answers}
    return flow.reduce("passages-families", inputs, put_in, {"passages": schema})["passages"]
