"""Rows that are left after some rounds: few, or chains in which each document waits for the one before it.

What is left of the recursion is the rows that wait, their slots, and the first row of each slot that is known to stay; rows
known to go give nothing, and whoever finds a later row that stays finds the first one as well. Rows that share no slot,
not even through others, have no influence on each other. So each connected component of rows and slots is decided by itself,
one row after the other: a component is one task, in one partition's memory. If few rows are left, all of them are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.clusters.exchange.cut_order import Names, Places
from ibidem.clusters.exchange.cut_rounds import CUTS, PAIRS, STAYING, Undecided
from ibidem.clusters.exchange.cut_windows import Rule
from ibidem.clusters.kernels.cut_remainder import decide_rows
from ibidem.columns.components_exchange import EDGES, ROOTS, connect, home_of_nodes
from ibidem.columns.distinct import find, firsts, numbered
from ibidem.columns.hashes import FACTOR, GOLDEN
from ibidem.columns.parted_tables import table_of
from ibidem.execution.flow import Flow, Inputs, PartedTable, Sent, route_by_hash
from ibidem.execution.layout import Layout

_FACTOR = np.uint64(FACTOR)


def decide_left(flow: Flow, left: Undecided, at_once: bool, layout: Layout, rule: Rule) -> PartedTable:
    """Return the cuts, `CUTS`, among the rows that are left; at home. `at_once` is for few of them: they are one task."""

    def link(tables: Iterator[Any]) -> Iterator[Sent]:
        for table in tables:
            slots = table["slot"].to_numpy()
            yield Sent("pairs", table, route_by_hash(slots, n_partitions))
            if not at_once:
                edges = table_of([_row_nodes(Places.of(table)), slots], EDGES)
                yield Sent("edges", edges, route_by_hash(slots, n_partitions))

    def send(_: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        nodes = tables["roots"]["node"].to_numpy()
        order = np.argsort(nodes)
        for name in ("pairs", "staying"):
            at, waits = find(tables[name]["slot"].to_numpy(), nodes[order])
            roots = tables["roots"]["root"].to_numpy()[order[at[waits]]]
            yield Sent(name, tables[name].filter(pa.array(waits)), home_of_nodes(roots, n_partitions))

    def gather(_: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        yield Sent("pairs", tables["pairs"], 0)
        waits = find(tables["staying"]["slot"].to_numpy(), np.unique(tables["pairs"]["slot"].to_numpy()))[1]
        yield Sent("staying", tables["staying"].filter(pa.array(waits)), 0)

    def decide(_: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        cuts = _cuts_of(tables["pairs"], tables["staying"], rule)
        yield Sent("cuts", cuts, layout.home(cuts["document"].to_numpy()))

    n_partitions = flow.n_partitions
    linked = flow.map("cuts-left-links", left.pairs, link, {"edges": EDGES, "pairs": PAIRS})
    inputs: Inputs = {"pairs": linked["pairs"], "staying": left.staying}
    outputs = {"pairs": PAIRS, "staying": STAYING}
    if at_once:
        together = flow.reduce("cuts-left-rows", inputs, gather, outputs)
    else:
        roots = routed_roots(flow, "cuts-left", linked["edges"], lambda nodes: route_by_hash(nodes, n_partitions))
        together = flow.reduce("cuts-left-rows", {**inputs, "roots": roots}, send, outputs)
    return flow.reduce("cuts-left", together, decide, {"cuts": CUTS})["cuts"]


def routed_roots(flow: Flow, name: str, edges: PartedTable, route: Any) -> PartedTable:
    """Return the root of every node that has an edge, `(node, root)`, sent where `route` says that the node belongs."""

    def send(tables: Iterator[Any]) -> Iterator[Sent]:
        for table in tables:
            yield Sent("roots", table, route(table["node"].to_numpy()))

    return flow.map(f"{name}-roots", connect(flow, f"{name}-components", edges), send, {"roots": ROOTS})["roots"]


def _row_nodes(places: Places) -> Names:
    """Return a name for each row. Two rows of one name would only be decided in one task."""
    document, row = places.document.astype(np.uint64), places.row.astype(np.uint64)
    mixed: Names = document * _FACTOR + row * GOLDEN
    return (mixed ^ mixed >> np.uint64(32)) * _FACTOR


def _cuts_of(pairs: pa.Table, staying: pa.Table, rule: Rule) -> pa.Table:
    """Decide the rows of whole components in order."""
    n = pairs.num_rows
    places = Places.of(pairs).joined(Places.of(staying))
    order, example = numbered(*places.columns())
    slot, _ = numbered(np.concatenate([pairs["slot"].to_numpy(), staying["slot"].to_numpy()]))
    held = np.full(int(slot.max(initial=-1)) + 1, len(order), np.int64)
    np.minimum.at(held, slot[n:], order[n:])
    held[held == len(order)] = -1
    by_row = np.argsort(order[:n], kind="stable")
    heads = firsts(order[:n][by_row])
    rows = order[:n][by_row][heads]
    different = places.take(example)
    source = np.full(len(rows), -1, np.int64)
    decide_rows(
        rows, np.append(heads, n), slot[:n][by_row], different.document, different.row, rule.same_document, rule.size,
        held, source,
    )  # fmt: skip
    cut, matched = different.take(rows[source >= 0]), different.take(source[source >= 0])
    return table_of([cut.document, cut.row, matched.document, matched.row], CUTS)
