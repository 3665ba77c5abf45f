"""Repeat groups over all machines: text that stands in too many places to be paired, each once with its places.

Hot windows that always follow one another are one text. Every partition says once a key what stands beside its windows;
where all agree, windows are linked, and each document walks along its own links: a linked text lies in it in one piece.
The places of one group end in one partition, as they do in one row of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.columns.components_exchange import EDGES
from ibidem.columns.hashes import SEED, mix
from ibidem.columns.parted_tables import PlacedDocuments, distinct_pairs, in_order, placed_documents, table_of
from ibidem.columns.ragged import as_lists, ranges, take_ranges
from ibidem.columns.texts import hash_strings
from ibidem.config import Config, passage_limits
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.passages.coverage import Coverage
from ibidem.passages.exchange.excerpts import compared_sets
from ibidem.passages.exchange.grams import keys_by_kind
from ibidem.passages.exchange.pairs import COVERAGE, similarity_limit
from ibidem.passages.exchange.places import HOT
from ibidem.passages.exchange.repeat_groups import PLACED_REPEATS, PLACES, VARIANTS, entitle, group_places
from ibidem.passages.flags import HOT_TEXT, HOT_WINDOW
from ibidem.passages.repeats import apart

_LINKS = pa.schema([(name, pa.uint64()) for name in ("key", "following", "preceding")])
_BESIDE = _LINKS.append(ASKER)


def find_repeats(
    flow: Flow, documents: PartedTable, hot: PartedTable, texts: PartedTable, config: Config, layout: Layout
) -> dict[str, PartedTable]:
    """Return `repeats` (in no order), `coverage` at home and `edges` between documents that are nearly one hot text."""
    if flow.count(hot) == 0:  # as in most small collections: nothing to link, to locate or to group
        return {
            tag: PartedTable(tag, kind) for tag, kind in (("repeats", PLACED_REPEATS), ("coverage", COVERAGE), ("edges", EDGES))
        }
    links = _link(flow, hot, layout)
    places = _locate(flow, documents, hot, links, config, layout)
    found = group_places(flow, places, config, layout)
    coverage, edges = found.pop("coverage"), found.pop("edges")
    return {"coverage": coverage, "edges": edges, "repeats": entitle(flow, found, texts, layout)}


def _link(flow: Flow, hot: PartedTable, layout: Layout) -> PartedTable:
    """Return, in every partition that has a hot window, the keys of the windows that always follow and precede it."""

    def summarise(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["hot"].filter(pc.equal(tables["hot"]["bit"], HOT_WINDOW))
        columns = _agreed(*(table[name].to_numpy() for name in ("key", "following", "preceding")))
        table = table_of([*columns, np.full(len(columns[0]), partition)], _BESIDE)
        yield Sent("beside", table, route_by_hash(columns[0], layout.n_partitions))

    def agree(asked: pa.Table, _: Mapping[str, pa.Table]) -> pa.Table:
        agreed = _agreed(*(asked[name].to_numpy() for name in _LINKS.names))
        return table_of([*agreed], _LINKS).take(pa.array(np.searchsorted(agreed[0], asked["key"].to_numpy())))

    beside = flow.reduce("repeats-beside", {"hot": hot}, summarise, {"beside": _BESIDE})["beside"]
    return lookup(flow, "repeats-links", beside, {}, agree, _LINKS)


def _agreed(keys: NDArray[np.uint64], *beside: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], ...]:
    """Return the distinct keys and, for each column, the value that all rows of a key have, or 0 where they differ."""
    known, which = np.unique(keys, return_inverse=True)
    agreed = []
    for column in beside:
        least, most = np.full(len(known), ~np.uint64(0)), np.zeros(len(known), np.uint64)
        np.minimum.at(least, which, column)
        np.maximum.at(most, which, column)
        agreed.append(np.where(least == most, most, np.uint64(0)))
    return known, *agreed


def _locate(
    flow: Flow, documents: PartedTable, hot: PartedTable, links: PartedTable, config: Config, layout: Layout
) -> dict[str, PartedTable]:
    """Return the `places` of all groups and the `variants` that stand there, by group."""
    size = passage_limits(config).min_sentences
    limit = similarity_limit(config)

    def locate(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        if tables["hot"].num_rows == 0:
            return
        wanted = np.unique(tables["hot"]["document"].to_numpy())
        table = in_order(tables["documents"])
        table = table.take(pa.array(np.searchsorted(table["document"].to_numpy(), wanted)))
        placed = placed_documents(table, config, layout)
        bit, key, document, row, _, _, is_kept = (tables["hot"][name].to_numpy() for name in HOT.names)
        document = np.searchsorted(placed.documents, document)
        start_row = placed.rows.document_first[document] + row
        n_rows = np.diff(placed.rows.document_first)[document]
        length = np.where(bit == HOT_TEXT, n_rows, 1)
        windows = bit == HOT_WINDOW
        starts, heads, head_lengths = _walk(start_row[windows], key[windows], tables["links"], placed, size)
        groups = np.concatenate([heads, keys_by_kind(key, bit)[~windows]])
        lengths = np.concatenate([head_lengths, length[~windows]])
        starts = np.concatenate([starts, start_row[~windows]])
        is_kept = np.concatenate([np.ones(len(heads), np.bool_), is_kept[~windows]])
        yield _emit_places(groups, lengths, starts, is_kept, placed, layout)
        if limit[0] > 0:
            yield _emit_variants(groups, lengths, starts, table, placed, layout)

    inputs = {"documents": documents, "hot": hot, "links": links}
    return flow.reduce("repeats-places", inputs, locate, {"places": PLACES, "variants": VARIANTS})


def _walk(
    rows: NDArray[np.int64], keys: NDArray[np.uint64], links: pa.Table, placed: PlacedDocuments, size: int
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64]]:
    """Return the places of linked hot windows: first row, the key of the first window, and the length in rows."""
    order = np.argsort(rows)
    rows, keys = rows[order], keys[order]
    n = len(rows)
    known = links["key"].to_numpy()
    by_key = np.argsort(known)
    at = by_key[np.searchsorted(known[by_key], keys)]
    following, preceding = links["following"].to_numpy()[at], links["preceding"].to_numpy()[at]
    document = placed.rows.document[rows]
    linked = np.zeros(n, np.bool_)
    linked[:-1] = (rows[1:] == rows[:-1] + 1) & (document[1:] == document[:-1]) & (following[:-1] == keys[1:])
    linked[:-1] &= (preceding[1:] == keys[:-1]) & (keys[1:] != keys[:-1])
    is_head = np.ones(n, np.bool_)
    is_head[1:] = ~linked[:-1]
    heads = np.flatnonzero(is_head)
    counts = np.diff(np.append(heads, n)) - 1 + size
    order = np.lexsort((rows[heads], keys[heads]))  # rows of a document follow one another: so do its places of a text
    starts, texts, counts = rows[heads][order], keys[heads][order], counts[order]
    keep = apart(starts, document[heads][order], texts, counts)
    return starts[keep], texts[keep], counts[keep]


def _emit_places(
    groups: NDArray[np.uint64],
    length: NDArray[np.int64],
    starts: NDArray[np.int64],
    is_kept: NDArray[np.bool_],
    placed: PlacedDocuments,
    layout: Layout,
) -> Sent:
    rows, collection = placed.rows, placed.collection
    document = rows.document[starts].astype(np.int64)
    first = rows.sentence[starts].astype(np.int64)
    end = rows.sentence[starts + length - 1].astype(np.int64) + 1
    group_numbers = hash_strings(collection.groups.fill_null("")) | np.uint64(1)
    group_numbers[collection.groups.is_null().to_numpy(zero_copy_only=False)] = 0
    columns = [
        groups,
        length,
        placed.documents[document],
        placed.row_of_document[starts],
        first - collection.document_first[document],
        end - collection.document_first[document],
        collection.start_char[first],
        collection.end_char[end - 1],
        collection.ids.take(pa.array(document)),
        collection.times[document],
        group_numbers[document],
        Coverage(collection).is_whole(document, first, end),
        is_kept,
        _variants(length, starts, placed),
    ]
    return Sent("places", table_of(columns, PLACES), route_by_hash(groups, layout.n_partitions))


def _variants(length: NDArray[np.int64], starts: NDArray[np.int64], placed: PlacedDocuments) -> NDArray[np.uint64]:
    """Return for every place a hash of its sentences."""
    fold: Any = mix.py_func
    digests = placed.collection.digest[placed.rows.sentence]
    variants = np.full(len(starts), SEED)
    for k in range(int(length.max(initial=0))):
        inside = length > k
        variants[inside] = fold(variants[inside], digests[starts[inside] + k])
    return variants


def _emit_variants(
    groups: NDArray[np.uint64],
    length: NDArray[np.int64],
    starts: NDArray[np.int64],
    table: pa.Table,
    placed: PlacedDocuments,
    layout: Layout,
) -> Sent:
    """Return the sentences of every variant of every group, once a partition."""
    variants = _variants(length, starts, placed)
    chosen = distinct_pairs(groups, variants)
    set_of_sentence, sets = compared_sets(table, placed)
    counts = length[chosen]
    sentences = placed.rows.sentence[ranges(starts[chosen], counts)]
    chosen_sets = set_of_sentence[sentences]
    sizes = sets.size[chosen_sets].astype(np.int64)
    hashes = take_ranges(sets.values, sets.start[chosen_sets], sizes)
    of_variant = np.bincount(np.repeat(np.arange(len(chosen)), counts), sizes, len(chosen)).astype(np.int64)
    columns = [
        groups[chosen],
        variants[chosen],
        as_lists(placed.collection.digest[sentences], counts, pa.uint64()),
        as_lists(sizes, counts, pa.int32()),
        as_lists(hashes, of_variant, pa.uint64()),
    ]
    return Sent("variants", table_of(columns, VARIANTS), route_by_hash(groups[chosen], layout.n_partitions))
