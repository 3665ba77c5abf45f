"""The places of hot texts at the partitions of their keys: grouped into repeats, counted, and given their texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.components_exchange import EDGES
from ibidem.columns.parted_tables import cut_texts, in_order, table_of
from ibidem.columns.ragged import flat, lengths, starts_of
from ibidem.columns.rows import Pairing
from ibidem.config import Config
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup
from ibidem.execution.layout import Layout
from ibidem.matches import Cells, SortedSets
from ibidem.model import REPEATS
from ibidem.passages.coverage import CoveredPlaces
from ibidem.passages.exchange.pairs import COVERAGE, similarity_limit
from ibidem.passages.repeats import HotTexts, group_places
from ibidem.passages.tables import count_documents, list_places

PLACES = pa.schema(
    [
        ("key", pa.uint64()),
        ("length", pa.int32()),
        ("document", pa.int64()),
        ("row", pa.int32()),
        ("first_sentence", pa.int32()),
        ("end_sentence", pa.int32()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("id", pa.large_string()),
        ("time", pa.int64()),
        ("group_name", pa.uint64()),
        ("is_whole", pa.bool_()),
        ("is_reported", pa.bool_()),
        ("variant", pa.uint64()),
    ]
)
# The sentences of each variant of a text, so that they can be compared: digests, and sets where they have one.
VARIANTS = pa.schema(
    [
        ("key", pa.uint64()),
        ("variant", pa.uint64()),
        ("digests", pa.list_(pa.uint64())),
        ("set_sizes", pa.list_(pa.int32())),
        ("sets", pa.list_(pa.uint64())),
    ]
)
_UNTITLED = pa.schema([("number", pa.int64()), ("document", pa.int64()), ("start", pa.int64()), *list(REPEATS)[1:]])
# Nearly all repeats begin in early documents: only their first places are sent there, not all places.
_FIRSTS = pa.schema([*((name, pa.int64()) for name in ("number", "document", "start", "end")), ASKER])
_TITLES = pa.schema([("number", pa.int64()), ("text", REPEATS.field("text").type)])
_MOST_TOLD = 1 << 20  # repeats whose first documents are passed to mappers: 36 MB
# The table of repeats; the first place of each, by document number, breaks ties in its order.
PLACED_REPEATS = pa.schema([("document", pa.int64()), ("start", pa.int64()), *REPEATS])


def group_at_keys(flow: Flow, places: Mapping[str, PartedTable], config: Config, layout: Layout) -> dict[str, PartedTable]:
    """Return the repeats without their texts, and what they mean for their documents."""
    limit = similarity_limit(config)

    def group(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["places"]
        order = np.lexsort([table[name].to_numpy() for name in ("row", "document", "key")])
        table = table.take(pa.array(order)).combine_chunks()
        columns = {name: table[name].to_numpy() for name in PLACES.names if name != "id"}
        first = np.append(np.flatnonzero(np.diff(columns["key"], prepend=np.uint64(0))), table.num_rows)  # no key is 0
        cells, row = None, np.zeros(table.num_rows, np.int64)
        if limit[0] > 0:
            cells, row = _compared_variants(tables["variants"], columns["variant"], limit)
        heads = first[:-1]
        is_reported = np.logical_or.reduceat(columns["is_reported"], heads)
        texts = HotTexts(columns["key"][heads], columns["length"][heads], is_reported, first, row)
        documents, number = np.unique(columns["document"], return_inverse=True)
        pairing = _pairing(documents, number, columns["group_name"], config, layout)
        found = group_places(texts, cells, number.astype(np.int32), pairing)
        ids = table["id"].take(pa.array(found.rows)).combine_chunks()
        chosen = {name: column[found.rows] for name, column in columns.items()}
        yield from _sent_repeats(partition, found.first, chosen, ids, layout)

    inputs = {"places": places["places"], "variants": places["variants"]}
    outputs = {"untitled": _UNTITLED, "firsts": _FIRSTS, "coverage": COVERAGE, "edges": EDGES}
    return flow.reduce("repeats-groups", inputs, group, outputs)


def _compared_variants(
    table: pa.Table, variants: NDArray[np.uint64], limit: tuple[int, int]
) -> tuple[Cells, NDArray[np.int64]]:
    """Return how the sentences of variants are compared, and the first row of each place's variant."""
    known = table["variant"].to_numpy()
    order = np.argsort(known, kind="stable")
    # A variant with one hash has one text, whichever key it was sent with.
    at = order[np.searchsorted(known, variants, sorter=order)]
    digests, sizes = flat(table, "digests"), flat(table, "set_sizes")
    sets = SortedSets(starts_of(sizes)[:-1], sizes, flat(table, "sets"))
    cells = Cells(digests, sets, limit, np.arange(len(digests), dtype=np.int32))
    return cells, starts_of(lengths(table, "digests"))[at]


def _pairing(
    documents: NDArray[np.int64], number: NDArray[np.int64], names: NDArray[np.uint64], config: Config, layout: Layout
) -> Pairing:
    """Return which documents may be compared; `number` is that of the document at each place, `names` its group (0: none)."""
    group_numbers = np.empty(0, np.int32)
    if config.passages.skip_same_group:
        of_document = np.empty(len(documents), np.uint64)
        of_document[number] = names
        group_numbers = np.where(of_document == 0, -1, np.unique(of_document, return_inverse=True)[1]).astype(np.int32)
    return Pairing(config.passages.same_document, layout.side(documents), group_numbers)


def _sent_repeats(
    partition: int, first: NDArray[np.int64], places: Mapping[str, NDArray[Any]], ids: pa.Array, layout: Layout
) -> Iterator[Sent]:
    """Yield what later stages need to know about repeats, given their places, by repeat."""
    document, heads = places["document"], first[:-1]
    number = np.arange(len(heads))
    lists = list_places(first, ids, places["start"], places["end"])
    columns = [number, document[heads], places["start"][heads], count_documents(first, document), lists]
    yield Sent("untitled", table_of(columns, _UNTITLED), partition)
    columns = [number, document[heads], places["start"][heads], places["end"][heads], np.full(len(heads), partition)]
    yield Sent("firsts", table_of(columns, _FIRSTS), layout.home(document[heads]))
    is_input = (document < layout.n_input) & layout.has_reference
    slots = places["first_sentence"], places["end_sentence"]
    covered = CoveredPlaces(first, document, *slots, places["time"], is_input, places["is_whole"])
    for added in covered.added():
        yield Sent("coverage", table_of([document, *added], COVERAGE), layout.home(document))
    yield Sent("edges", table_of([end.astype(np.uint64) for end in covered.copies()], EDGES), 0)


def entitle(flow: Flow, found: dict[str, PartedTable], texts: PartedTable, layout: Layout) -> PartedTable:
    """Return the repeats with their texts, taken from their first places; what was `found` is released."""

    def take(asked: pa.Table, known: Mapping[str, pa.Table]) -> pa.Table:
        documents = in_order(known["texts"])
        at = np.searchsorted(documents["document"].to_numpy(), asked["document"].to_numpy())
        titles = cut_texts(documents["text"], at, asked["start"].to_pylist(), asked["end"].to_pylist())
        return table_of([asked["number"], titles], _TITLES)

    def put_together(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        untitled, titles = (in_order(tables[name], "number") for name in ("untitled", "titles"))
        columns = [untitled["document"], untitled["start"], titles["text"], untitled["n_documents"], untitled["places"]]
        yield Sent("repeats", table_of(columns, PLACED_REPEATS), partition)

    firsts = found.pop("firsts")
    if flow.count(firsts) <= _MOST_TOLD:
        texts = _wanted_texts(flow, firsts, texts, layout)
    titles = lookup(flow, "repeats-titles", firsts, {"texts": texts}, take, _TITLES)
    untitled = {"untitled": found.pop("untitled"), "titles": titles}
    return flow.reduce("repeats-texts", untitled, put_together, {"repeats": PLACED_REPEATS})["repeats"]


def _wanted_texts(flow: Flow, firsts: PartedTable, texts: PartedTable, layout: Layout) -> PartedTable:
    """Return the texts of the repeats' first documents: mappers learn which these are, and send no others."""
    wanted = np.unique(flow.collect(firsts)["document"].to_numpy())

    def choose(tables: Iterator[pa.Table]) -> Iterator[Sent]:
        for table in tables:
            documents = table["document"].to_numpy()
            chosen = np.isin(documents, wanted)
            if chosen.any():
                yield Sent("texts", table.filter(pa.array(chosen)), layout.home(documents[chosen]))

    return flow.map("repeats-wanted", texts, choose, {"texts": texts.schema})["texts"]
