"""Groups of places in one partition each: split where sentences only resemble, checked, counted, and given their texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
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
from ibidem.passages import Repeat
from ibidem.passages.chains import matching_places
from ibidem.passages.exchange.pairs import COVERAGE, similarity_limit
from ibidem.passages.tables import first_place

PLACES = pa.schema(
    [
        ("group", pa.uint64()),
        ("length", pa.int32()),
        ("document", pa.int64()),
        ("row", pa.int32()),
        ("first_sentence", pa.int32()),
        ("end_sentence", pa.int32()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("id", pa.large_string()),
        ("time", pa.int64()),
        ("group_numbers", pa.uint64()),
        ("is_whole", pa.bool_()),
        ("is_kept", pa.bool_()),
        ("variant", pa.uint64()),
    ]
)
# The sentences of each variant of a group, so that they can be compared: digests, and sets where they have one.
VARIANTS = pa.schema(
    [
        ("group", pa.uint64()),
        ("variant", pa.uint64()),
        ("digests", pa.list_(pa.uint64())),
        ("set_sizes", pa.list_(pa.int32())),
        ("sets", pa.list_(pa.uint64())),
    ]
)
_UNTITLED = pa.schema([("number", pa.int64()), ("document", pa.int64()), ("start", pa.int64()), *list(REPEATS)[1:]])
# Groups begin in early documents, nearly all of them: only where they begin is sent there, and their places are not.
_FIRSTS = pa.schema([*((name, pa.int64()) for name in ("number", "document", "start", "end")), ASKER])
_TITLES = pa.schema([("number", pa.int64()), ("text", REPEATS.field("text").type)])
_MOST_TOLD = 1 << 20  # groups whose first documents mappers may be told of: 36 MB
# The table of repeats; the first place of each, by document number, settles ties of its order.
PLACED_REPEATS = pa.schema([("document", pa.int64()), ("start", pa.int64()), *REPEATS])


def group_places(flow: Flow, places: Mapping[str, PartedTable], config: Config, layout: Layout) -> dict[str, PartedTable]:
    """Return the groups without their texts, and what they mean for their documents."""
    limit = similarity_limit(config)

    def group(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["places"]
        keys = [table[name].to_numpy() for name in ("row", "document", "group")]
        table = table.take(pa.array(np.lexsort(keys))).combine_chunks()
        columns = {name: table[name].to_numpy() for name in PLACES.names if name != "id"}
        bounds = np.flatnonzero(np.diff(columns["group"], prepend=np.uint64(0), append=np.uint64(0)))
        found: list[NDArray[np.int64]] = []
        compare = _Comparison(tables["variants"], limit) if limit[0] > 0 else None
        for begin, end in pairwise(bounds.tolist()):
            if not columns["is_kept"][begin:end].any():
                continue
            places = np.arange(begin, end)
            parts = [places] if compare is None else compare.split(places, columns)
            found.extend(part for part in parts if _allows(part, columns, config, layout))
        yield from _emit_groups(partition, found, columns, table["id"], layout)

    inputs = {"places": places["places"], "variants": places["variants"]}
    outputs = {"untitled": _UNTITLED, "firsts": _FIRSTS, "coverage": COVERAGE, "edges": EDGES}
    return flow.reduce("repeats-groups", inputs, group, outputs)


class _Comparison:
    """Splits groups into matching places, by the sets of the variants that stand there."""

    def __init__(self, variants: pa.Table, limit: tuple[int, int]) -> None:
        self._variants = variants["variant"].to_numpy()
        self._order = np.argsort(self._variants, kind="stable")
        counts = lengths(variants, "digests")
        self._row = np.cumsum(counts) - counts
        digests, sizes = flat(variants, "digests"), flat(variants, "set_sizes")
        sets = SortedSets(starts_of(sizes)[:-1], sizes, flat(variants, "sets"))
        self._cells = Cells(digests, sets, limit, np.arange(len(digests), dtype=np.int32))

    def split(self, places: NDArray[np.int64], columns: Mapping[str, NDArray[Any]]) -> list[NDArray[np.int64]]:
        """Return the groups of matching places of one group of equal classes."""
        # A variant of one hash has one text, whichever group sent it.
        at = self._order[np.searchsorted(self._variants, columns["variant"][places], sorter=self._order)]
        group = Repeat(self._row[at].astype(np.int32), int(columns["length"][places[0]]))
        return [places[chosen] for chosen in matching_places(group, self._cells)]


def _allows(places: NDArray[np.int64], columns: Mapping[str, NDArray[Any]], config: Config, layout: Layout) -> bool:
    """Whether the places hold a pair of documents that may be compared."""
    documents, which = np.unique(columns["document"][places], return_inverse=True)
    side = layout.side(documents)
    group_numbers = np.empty(0, np.int32)
    if config.passages.skip_same_group:
        names = np.empty(len(documents), np.uint64)
        names[which] = columns["group_numbers"][places]
        group_numbers = np.where(names == 0, -1, np.unique(names, return_inverse=True)[1]).astype(np.int32)
    return Pairing(config.passages.same_document, side, group_numbers).allows(which.astype(np.int32))


def _emit_groups(
    partition: int,
    found: list[NDArray[np.int64]],
    columns: Mapping[str, NDArray[Any]],
    ids: pa.ChunkedArray,
    layout: Layout,
) -> Iterator[Sent]:
    firsts = np.array([places[0] for places in found], np.int64)
    n_documents = [len(np.unique(columns["document"][places])) for places in found]
    every = np.concatenate([np.empty(0, np.int64), *found])
    structs = pa.StructArray.from_arrays(
        [ids.take(pa.array(every)).combine_chunks(), pa.array(columns["start"][every]), pa.array(columns["end"][every])],
        names=["id", "start", "end"],
    )
    offsets = starts_of([len(places) for places in found])
    lists = pa.LargeListArray.from_arrays(pa.array(offsets), structs).cast(REPEATS.field("places").type)
    number = np.arange(len(firsts))
    documents, starts = columns["document"][firsts], columns["start"][firsts]
    yield Sent("untitled", table_of([number, documents, starts, n_documents, lists], _UNTITLED), partition)
    heads = [number, documents, starts, columns["end"][firsts], np.full(len(firsts), partition)]
    yield Sent("firsts", table_of(heads, _FIRSTS), layout.home(documents))
    is_input = (columns["document"] < layout.n_input) & layout.has_reference
    before = np.ones(len(every), np.int32)
    edges = [np.empty((0, 2), np.uint64)]
    for first, places in zip(offsets[:-1], found, strict=True):
        document = columns["document"][places]
        before[first + first_place(document, columns["time"][places], is_input[places])] = 0
        whole = document[columns["is_whole"][places]].astype(np.uint64)
        edges.append(np.stack([np.repeat(whole[:1], max(0, len(whole) - 1)), whole[1:]], axis=1))
    document, elsewhere = columns["document"][every], np.ones(len(every), np.int32)
    for name, sign in (("first_sentence", 1), ("end_sentence", -1)):
        coverage = [document, columns[name][every], sign * elsewhere, sign * before]
        yield Sent("coverage", table_of(coverage, COVERAGE), layout.home(document))
    yield Sent("edges", table_of(list(np.concatenate(edges).T.copy()), EDGES), 0)


def entitle(flow: Flow, found: dict[str, PartedTable], texts: PartedTable, layout: Layout) -> PartedTable:
    """Return the groups with their texts, taken from their first places; what was `found` is let go of."""

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
    """Return the texts of the groups' first documents: told which ones they are, mappers send no others."""
    wanted = np.unique(flow.collect(firsts)["document"].to_numpy())

    def choose(tables: Iterator[pa.Table]) -> Iterator[Sent]:
        for table in tables:
            documents = table["document"].to_numpy()
            chosen = np.isin(documents, wanted)
            if chosen.any():
                yield Sent("texts", table.filter(pa.array(chosen)), layout.home(documents[chosen]))

    return flow.map("repeats-wanted", texts, choose, {"texts": texts.schema})["texts"]
