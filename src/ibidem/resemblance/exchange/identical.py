"""Identical documents meet by their digest: one represents the others on its side, and those on two sides are pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.components_exchange import EDGES, home_of_nodes
from ibidem.columns.parted_tables import table_of
from ibidem.columns.text_checks import settle_digests
from ibidem.execution.flow import Flow, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.resemblance import representatives
from ibidem.resemblance.exchange.shingles import KEYED

# Documents represented by another one; at home.
COPIES = pa.schema([("document", pa.int64())])
# Documents that represent themselves, and those they represent: both at the home of the former as a node.
NODES = pa.schema([("document", pa.int64()), ("rank_key", pa.int64()), ("size", pa.int64())])
MEMBERS = pa.schema([("document", pa.int64()), ("representative", pa.int64())])
# Documents paired by a method that does not find all pairs; at their homes as nodes.
BY_COMMON = pa.schema([("document", pa.int64())])
# Pairs of duplicates, at the home of a as a node.
FOUND = pa.schema(
    [
        ("a", pa.int64()),
        ("b", pa.int64()),
        ("similarity", pa.float64()),
        ("containment_a", pa.float64()),
        ("containment_b", pa.float64()),
    ]
)

Numbers = NDArray[np.int64]


def find_identical(flow: Flow, keyed: PartedTable, layout: Layout) -> dict[str, PartedTable]:
    """Return `copies`, `nodes` and `members`, and pairs of identical documents of both sides as `found` and `edges`."""

    def represent(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        document = tables["keyed"]["document"].to_numpy()
        order = np.argsort(document)
        document, digest, *checks, rank_key, size = (tables["keyed"][name].to_numpy()[order] for name in KEYED.names)
        digest = settle_digests(digest, np.stack(checks, axis=1))
        rank = np.empty(len(document), np.int64)
        rank[np.lexsort((document, rank_key))] = np.arange(len(document))
        representative = representatives(digest, (document >= layout.n_input).astype(np.int8), rank)
        is_wanted = representative == np.arange(len(representative))

        wanted, copies = np.flatnonzero(is_wanted), np.flatnonzero(~is_wanted)
        columns = [document[wanted], rank_key[wanted], size[wanted]]
        yield Sent("nodes", table_of(columns, NODES), node_homes(document[wanted], layout))
        yield Sent("copies", table_of([document[copies]], COPIES), layout.home(document[copies]))
        standing = document[representative[copies]]
        yield Sent("members", table_of([document[copies], standing], MEMBERS), node_homes(standing, layout))
        # One document represents all of its side, so there are at most two identical ones, and they are neighbours; the
        # reference's is second.
        order = wanted[np.lexsort((wanted, digest[wanted]))]
        same = np.flatnonzero(digest[order][1:] == digest[order][:-1])
        a, b = document[order[same]], document[order[same + 1]]
        yield from send_found(a, b, [np.ones(len(a))] * 3, layout)

    outputs = {"copies": COPIES, "nodes": NODES, "members": MEMBERS, "found": FOUND, "edges": EDGES}
    return flow.reduce("identical-documents", {"keyed": keyed}, represent, outputs)


def send_found(a: Numbers, b: Numbers, scores: list[NDArray[np.float64]], layout: Layout) -> Iterator[Sent]:
    """Send pairs of duplicates, also as edges."""
    yield Sent("found", table_of([a, b, *scores], FOUND), node_homes(a, layout))
    yield Sent("edges", table_of([a.astype(np.uint64), b.astype(np.uint64)], EDGES), 0)


def node_homes(documents: Numbers, layout: Layout) -> Numbers:
    """Return the homes of documents as nodes."""
    return home_of_nodes(documents.astype(np.uint64), layout.n_partitions)
