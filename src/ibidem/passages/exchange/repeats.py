"""Repeats over many partitions: text that occurs in too many places to be paired, each once with its places.

Every partition reports once per key which windows are next to it; where all agree, windows are linked, and each partition joins
those of its documents. The places of one text are sent to one partition, because they form one row of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.components_exchange import EDGES
from ibidem.columns.distinct import distinct, places_of
from ibidem.columns.hashes import SEED, mix
from ibidem.columns.parted_tables import PlacedDocuments, distinct_pairs, in_order, placed_documents, table_of
from ibidem.columns.ragged import as_lists, ranges, take_ranges
from ibidem.columns.texts import hash_strings
from ibidem.config import Config
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.passages.coverage import Coverage
from ibidem.passages.exchange.excerpts import HOT, compared_sets
from ibidem.passages.exchange.pairs import COVERAGE, similarity_limit
from ibidem.passages.exchange.repeat_groups import PLACED_REPEATS, PLACES, VARIANTS, entitle, group_at_keys
from ibidem.passages.repeats import HotPlaces, HotTexts, Links, agree_on_links, group_by_key, join_windows

_LINKS = pa.schema([(name, pa.uint64()) for name in Links._fields])
_BESIDE = _LINKS.append(ASKER)


def find_repeats(
    flow: Flow, documents: PartedTable, hot: PartedTable, texts: PartedTable, config: Config, layout: Layout
) -> dict[str, PartedTable]:
    """Return `repeats` (in no order), `coverage` at home and `edges` between documents that are nearly one hot text."""
    if flow.count(hot) == 0:  # as in most small collections: nothing to link, locate or group
        return {
            tag: PartedTable(tag, kind) for tag, kind in (("repeats", PLACED_REPEATS), ("coverage", COVERAGE), ("edges", EDGES))
        }
    links = _link(flow, hot, layout)
    places = _locate(flow, documents, hot, links, config, layout)
    found = group_at_keys(flow, places, config, layout)
    coverage, edges = found.pop("coverage"), found.pop("edges")
    return {"coverage": coverage, "edges": edges, "repeats": entitle(flow, found, texts, layout)}


def _link(flow: Flow, hot: PartedTable, layout: Layout) -> PartedTable:
    """Return, in every partition that has a hot window, the keys of the windows that always follow and precede it."""

    def summarise(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        links = _agreed(tables["hot"])
        table = table_of([*links, np.full(len(links.key), partition)], _BESIDE)
        yield Sent("beside", table, route_by_hash(links.key, layout.n_partitions))

    def agree(asked: pa.Table, _: Mapping[str, pa.Table]) -> pa.Table:
        links = _agreed(asked)
        return table_of([*links], _LINKS).take(pa.array(np.searchsorted(links.key, asked["key"].to_numpy())))

    beside = flow.reduce("repeats-beside", {"hot": hot}, summarise, {"beside": _BESIDE})["beside"]
    return lookup(flow, "repeats-links", beside, {}, agree, _LINKS)


def _agreed(table: pa.Table) -> Links:
    beside = Links(*(table[name].to_numpy() for name in Links._fields))
    return agree_on_links(beside, group_by_key(beside.key))


def _locate(
    flow: Flow, documents: PartedTable, hot: PartedTable, links: PartedTable, config: Config, layout: Layout
) -> dict[str, PartedTable]:
    """Return the `places` of all texts and the `variants` found there, by the keys of the texts."""
    limit = similarity_limit(config)

    def locate(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        if tables["hot"].num_rows == 0:
            return
        wanted = distinct(tables["hot"]["document"].to_numpy())
        table = in_order(tables["documents"])
        table = table.take(pa.array(places_of(wanted, table["document"].to_numpy())))
        placed = placed_documents(table, config, layout)
        hot = _hot_places(tables["hot"], placed)
        texts = join_windows(hot, group_by_key(hot.key), _links(tables["links"]), placed.rows)
        yield _sent_places(texts, placed, layout)
        if limit[0] > 0:
            yield _sent_variants(texts, table, placed, layout)

    inputs = {"documents": documents, "hot": hot, "links": links}
    return flow.reduce("repeats-places", inputs, locate, {"places": PLACES, "variants": VARIANTS})


def _hot_places(table: pa.Table, placed: PlacedDocuments) -> HotPlaces:
    """Return hot places in the order of rows, which are counted over the documents that are available."""
    columns = {name: table[name].to_numpy() for name in HOT.names}
    row = placed.rows.document_first[places_of(columns.pop("document"), placed.documents)] + columns.pop("row")
    order = np.argsort(row, kind="stable")
    return HotPlaces(row=row[order], **{name: column[order] for name, column in columns.items()})


def _links(table: pa.Table) -> Links:
    order = np.argsort(table["key"].to_numpy())
    return Links(*(table[name].to_numpy()[order] for name in Links._fields))


def _sent_places(texts: HotTexts, placed: PlacedDocuments, layout: Layout) -> Sent:
    rows, collection, starts = placed.rows, placed.collection, texts.row
    n_places = np.diff(texts.first)
    keys, length = np.repeat(texts.key, n_places), np.repeat(texts.length, n_places)
    document = rows.document[starts].astype(np.int64)
    first = rows.sentence[starts].astype(np.int64)
    end = rows.sentence[starts + length - 1].astype(np.int64) + 1
    group_numbers = hash_strings(collection.groups.fill_null("")) | np.uint64(1)
    group_numbers[collection.groups.is_null().to_numpy(zero_copy_only=False)] = 0
    columns = [
        keys,
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
        np.repeat(texts.is_reported, n_places),
        _variants(length, starts, placed),
    ]
    return Sent("places", table_of(columns, PLACES), route_by_hash(keys, layout.n_partitions))


def _variants(length: NDArray[np.int64], starts: NDArray[np.int64], placed: PlacedDocuments) -> NDArray[np.uint64]:
    """Return for every place a hash of its sentences."""
    fold: Any = mix.py_func
    digests = placed.collection.digest[placed.rows.sentence]
    variants = np.full(len(starts), SEED)
    for k in range(int(length.max(initial=0))):
        inside = length > k
        variants[inside] = fold(variants[inside], digests[starts[inside] + k])
    return variants


def _sent_variants(texts: HotTexts, table: pa.Table, placed: PlacedDocuments, layout: Layout) -> Sent:
    """Return the sentences of every variant of every text, each variant once per partition."""
    starts, n_places = texts.row, np.diff(texts.first)
    keys, length = np.repeat(texts.key, n_places), np.repeat(texts.length, n_places)
    variants = _variants(length, starts, placed)
    chosen = distinct_pairs(keys, variants)
    set_of_sentence, sets = compared_sets(table, placed)
    counts = length[chosen]
    sentences = placed.rows.sentence[ranges(starts[chosen], counts)]
    chosen_sets = set_of_sentence[sentences]
    sizes = sets.size[chosen_sets].astype(np.int64)
    hashes = take_ranges(sets.values, sets.start[chosen_sets], sizes)
    of_variant = np.bincount(np.repeat(np.arange(len(chosen)), counts), sizes, len(chosen)).astype(np.int64)
    columns = [
        keys[chosen],
        variants[chosen],
        as_lists(placed.collection.digest[sentences], counts, pa.uint64()),
        as_lists(sizes, counts, pa.int32()),
        as_lists(hashes, of_variant, pa.uint64()),
    ]
    return Sent("variants", table_of(columns, VARIANTS), route_by_hash(keys[chosen], layout.n_partitions))
