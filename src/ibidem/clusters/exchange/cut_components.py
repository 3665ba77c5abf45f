"""Cuts where similar rows match: documents connected by windows of classes are decided together.

Which rows are cut depends on the order of documents and on the leaders chosen so far, so documents are decided one by one, by
the same code as in memory. Deciding a document only reads and writes its own rows and the state of its windows: the kept rows
of equal texts and the leaders of equal classes. A window in two documents puts both into one connected component, so documents
of different components share nothing, and each component gets the same result as among all documents. **A component is one
task**, in the memory of one partition. If one footer is in all documents, that is nearly the whole collection; use the exact
signature then, which has no such limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ibidem.clusters import find_cuts
from ibidem.clusters.cut_rule import Rule
from ibidem.clusters.exchange.cut_windows import windows_of
from ibidem.clusters.removals import READING_ORDER, SPANS, cut_spans
from ibidem.columns.collection import Collection
from ibidem.columns.components_exchange import EDGES, home_of_nodes, routed_roots
from ibidem.columns.distinct import find, firsts, numbered
from ibidem.columns.parted_tables import CLASSED, collection_of, in_order, table_of
from ibidem.columns.ragged import flat, lengths, ranges, starts_of
from ibidem.columns.rows import rows_of
from ibidem.columns.sets import HashSets
from ibidem.execution.flow import Flow, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.matches import Cells, TypeSets, sort_sets
from ibidem.signatures import SentenceTypes, collapse_sentences

_RANKED = pa.schema([*CLASSED, ("rank_key", pa.int64())])


def similar_spans(
    flow: Flow, documents: PartedTable, ranks: PartedTable, repeated: PartedTable, layout: Layout, rule: Rule
) -> PartedTable:
    """Return what is cut where similar rows match, as `SPANS`."""

    def link(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        given, repeated = in_order(tables["documents"]), tables["repeated"].sort_by("key")
        _, rows, keys = windows_of(given, layout, rule)
        at, known = find(keys, repeated["key"].to_numpy())
        first = repeated["first"].to_numpy()[at[known]]
        other = given["document"].to_numpy()[rows.document[known]]
        apart = first != other
        first, other = first[apart].astype(np.uint64), other[apart].astype(np.uint64)
        _, example = numbered(first, other)
        edges = table_of([first[example], other[example]], EDGES)
        yield Sent("edges", edges, home_of_nodes(first[example], n_partitions))

    def send(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        given, ranked = in_order(tables["documents"]), in_order(tables["ranks"])
        numbers = given["document"].to_numpy()
        order = find(numbers, ranked["document"].to_numpy())[0]
        given = given.append_column("rank_key", ranked["rank_key"].take(pa.array(order))).cast(_RANKED)
        nodes = tables["roots"]["node"].to_numpy().astype(np.int64)
        by_node = np.argsort(nodes)
        at, linked = find(numbers, nodes[by_node])
        roots = tables["roots"]["root"].to_numpy()[by_node[at[linked]]]
        yield Sent("documents", given.filter(pa.array(linked)), home_of_nodes(roots, n_partitions))
        if rule.same_document and not layout.has_reference:
            # Documents that share nothing with others are decided at home.
            yield Sent("spans", _spans(given.filter(pa.array(~linked)), layout, rule), partition)

    def decide(_: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        spans = _spans(in_order(tables["documents"]), layout, rule)
        yield Sent("spans", spans, layout.home(spans["document"].to_numpy()))

    def finish(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        yield Sent("spans", tables["spans"].sort_by(READING_ORDER), partition)

    n_partitions = flow.n_partitions
    edges = flow.reduce("cuts-links", {"documents": documents, "repeated": repeated}, link, {"edges": EDGES})["edges"]
    roots = routed_roots(flow, "cuts", edges, lambda nodes: layout.home(nodes.astype(np.int64)))
    inputs = {"documents": documents, "ranks": ranks, "roots": roots}
    sent = flow.reduce("cuts-documents", inputs, send, {"documents": _RANKED, "spans": SPANS})
    decided = flow.reduce("cuts-components", {"documents": sent["documents"]}, decide, {"spans": SPANS})
    return flow.reduce("cuts", {"spans": [sent["spans"], decided["spans"]]}, finish, {"spans": SPANS})["spans"]


def _spans(documents: pa.Table, layout: Layout, rule: Rule) -> pa.Table:
    """Return what is cut from documents that share nothing with others."""
    collection = collection_of(documents, layout)
    numbers = documents["document"].to_numpy()
    rows = rows_of(collection, flat(documents, "classes"), rule.max_gap)
    types = collapse_sentences(collection.digest)
    cells = Cells(types.of_sentence[rows.sentence], _type_sets(documents, collection, types), rule.similarity)
    is_reference = numbers >= layout.n_input if layout.has_reference else np.empty(0, np.bool_)
    cuts = find_cuts(rows, documents["rank_key"].to_numpy(), cells, rule, is_reference)
    gone = cut_spans(collection, rows, cuts)
    return replace(gone, document=numbers[gone.document], matched=numbers[gone.matched]).spans()


def _type_sets(documents: pa.Table, collection: Collection, types: SentenceTypes) -> TypeSets:
    """Return the sets of the types that have one; a type that is similar to no other is never compared and has none."""
    sizes = flat(documents, "set_sizes").astype(np.int64)
    sentence = np.repeat(collection.document_first[:-1], lengths(documents, "compared")) + flat(documents, "compared")
    of_set = types.of_sentence[sentence]
    order = np.argsort(of_set, kind="stable")
    chosen = order[firsts(of_set[order])]
    counts = np.zeros(len(types), np.int64)
    counts[of_set[chosen]] = sizes[chosen]
    first = starts_of(counts)
    at = ranges((np.cumsum(sizes) - sizes)[chosen], sizes[chosen])
    return sort_sets(HashSets(flat(documents, "sets")[at], first))
