"""Rounds that decide rows: rows ask their slots which rows are there, and slots collect what is known about their rows.

The *pairs* are at home: each waiting row with each of its slots. Each slot has the first place known to be kept. In a round,
every partition sends to each slot in which one of its rows is waiting the first undecided row and the first row just found to
be kept. The slot answers with the first place of all that is not known to be cut, and the first that is kept. A slot receives
at most two rows from a partition and returns one, whatever the number of places.

What is left after the rounds is a few rows, or chains in which each document waits for the one before it: the waiting rows,
their slots, and the first row of each slot that is known to be kept. Rows known to be cut cannot be sources, and any row that
finds a later kept row also finds the first one. Rows that share no slot, not even through others, do not influence each other.
So each connected component of rows and slots is decided separately, row by row: a component is one task, in the memory of one
partition. If few rows are left, all of them are one task.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.clusters.cut_rule import Rule
from ibidem.clusters.exchange.cut_windows import (
    PLACE,
    ROWS,
    WINDOWS,
    Names,
    Numbers,
    Places,
    Truths,
    first_of_each,
    merged_windows,
)
from ibidem.clusters.kernels.cuts import decide_rows
from ibidem.columns.components_exchange import EDGES, home_of_nodes, routed_roots
from ibidem.columns.distinct import find, firsts, numbered
from ibidem.columns.hashes import FACTOR, GOLDEN
from ibidem.columns.parted_tables import table_of
from ibidem.columns.ragged import ranges, starts_of
from ibidem.execution.flow import ASKER, Flow, Inputs, PartedTable, Sent, lookup, route_by_hash
from ibidem.execution.layout import Layout

# Waiting rows, with each of their slots.
PAIRS = pa.schema([*PLACE, ("slot", pa.uint64())])
# Rows known to be kept: the first one of a slot, as known to one partition or to all.
STAYING = pa.schema([("slot", pa.uint64()), *PLACE])
# Cut rows, each with the row that it is cut for.
CUTS = pa.schema([("document", pa.int64()), ("row", pa.int64()), ("matched", pa.int64()), ("matched_row", pa.int64())])
_KNOWN_WINDOWS = pa.schema([field for field in WINDOWS if field.name != ASKER.name])
_WAITING = pa.schema([*STAYING, ("partition", pa.int32())])
_ANSWERS = pa.schema([*STAYING, *((f"staying_{name}", kind) for name, kind in PLACE)])
_LEFT = pa.schema([("n_pairs", pa.int64())])
_FACTOR = np.uint64(FACTOR)
_DECIDED = {"cuts": CUTS, "pairs": PAIRS, "staying": STAYING, "waiting": _WAITING, "left": _LEFT}


@dataclass(frozen=True)
class Undecided:
    """What is left after some rounds: the waiting rows, and the first kept row of each slot, in blocks of two rounds."""

    n_pairs: int
    pairs: PartedTable
    staying: list[PartedTable]


def first_round(flow: Flow, rows: PartedTable, windows: PartedTable, layout: Layout, rule: Rule) -> dict[str, PartedTable]:
    """Decide what the first place of each window settles. With a reference, that is everything."""

    def merge(asked: pa.Table, _: Mapping[str, pa.Table]) -> pa.Table:
        keys = asked["key"].to_numpy()
        merged = merged_windows(keys, asked["following"].to_numpy(), Places.of(asked))
        return table_of([*merged], _KNOWN_WINDOWS).take(pa.array(np.searchsorted(merged[0], keys)))

    def decide(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        places, slots, first = _slots_of(tables["rows"], tables["windows"], rule.size)
        if layout.has_reference:
            inputs = places.document < layout.n_input
            places, slots, first = places.take(inputs), slots[inputs], first.take(inputs)
        staying = first if layout.has_reference else Places.none(len(first))
        yield from _decided(places, slots, first, staying, partition, n_partitions, rule, layout.has_reference)

    n_partitions = flow.n_partitions
    merged = lookup(flow, "cuts-windows", windows, {}, merge, _KNOWN_WINDOWS)
    return flow.reduce("cuts-round-1", {"rows": rows, "windows": merged}, decide, _DECIDED)


def more_rounds(
    flow: Flow, decided: dict[str, PartedTable], most_rounds: int, few_pairs: int, rule: Rule
) -> tuple[list[PartedTable], Undecided]:
    """Continue until few rows are waiting, or up to `most_rounds` rounds in total. Return the cuts and what is left."""

    def answer(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        yield from _answered(tables["staying"], tables["waiting"], partition)

    def decide(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        slots, answers = tables["pairs"]["slot"].to_numpy(), tables["answers"]
        named = answers["slot"].to_numpy()
        order = np.argsort(named)
        at = order[find(slots, named[order])[0]]
        first, staying = Places.of(answers).take(at), Places.of(answers, "staying_").take(at)
        yield from _decided(Places.of(tables["pairs"]), slots, first, staying, partition, n_partitions, rule, False)

    n_partitions = flow.n_partitions
    cuts, staying = [decided["cuts"]], [decided["staying"]]
    for number in count(2):
        n_pairs = int(flow.collect(decided["left"])["n_pairs"].to_numpy().sum())
        if n_pairs <= few_pairs or number > most_rounds:
            break
        asked: Inputs = {"staying": staying, "waiting": decided["waiting"]}
        answered = flow.reduce(f"cuts-slots-{number}", asked, answer, {"answers": _ANSWERS, "staying": STAYING})
        inputs = {"pairs": decided["pairs"], "answers": answered["answers"]}
        decided = flow.reduce(f"cuts-round-{number}", inputs, decide, _DECIDED)
        cuts.append(decided["cuts"])
        staying = [answered["staying"], decided["staying"]]
    return cuts, Undecided(n_pairs, decided["pairs"], staying)


def decide_left(flow: Flow, left: Undecided, at_once: bool, layout: Layout, rule: Rule) -> PartedTable:
    """Return the cuts among the remaining rows, `CUTS`, at home. With `at_once`, for few rows, they are one task."""

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


def _slots_of(rows: pa.Table, windows: pa.Table, size: int) -> tuple[Places, Names, Places]:
    """Return every row with each of its slots and the first place of that slot.

    A slot is a place in a window. If a window is always followed by the same one, then rows that share one of its slots, except
    the first, also share the slot of the next window: the former adds nothing. So of windows that always follow one another,
    such as those of a text copied as a whole, only the last one that begins at or before a row gives its slot: one slot instead
    of `size`.
    """
    rows = rows.sort_by([("document", "ascending"), ("row", "ascending")])
    places, keys = Places.of(rows), rows["key"].to_numpy()
    assert rows.schema.equals(ROWS)
    windows = windows.sort_by("key")
    at = find(keys, windows["key"].to_numpy())[0]
    starts = np.flatnonzero(keys)
    here, there = starts[:-1], starts[1:]
    linked = (there - here == 1) & (np.diff(places.document[starts]) == 0) & (np.diff(places.row[starts]) == 1)
    if len(starts):
        linked &= windows["following"].to_numpy()[at[here]] == keys[there]
    begins = starts[np.flatnonzero(np.append(True, ~linked)[: len(starts)])]
    lasts = starts[np.flatnonzero(np.append(~linked, True)[: len(starts)])]
    counts = lasts - begins + size
    row = ranges(begins, counts)
    window = np.minimum(np.repeat(lasts, counts), row)
    offset = row - window
    slots = keys[window] + offset.astype(np.uint64) * GOLDEN
    first = Places.of(windows).take(at[window])
    return places.take(row), slots, Places(first.rank, first.document, first.row + offset)


def may_give(source: Places, row: Places, rule: Rule, is_reference: bool = False) -> Truths:
    """Return which places come before their row, and may be its source if they are kept."""
    there: Truths = source.document >= 0
    if is_reference:
        return there
    earlier = (source.rank < row.rank) | ((source.rank == row.rank) & (source.document < row.document))
    if rule.same_document:
        earlier = np.where(source.document == row.document, source.row <= row.row - rule.size, earlier)
    there &= earlier
    return there


def _decided(
    row: Places, slots: Names, first: Places, staying: Places, partition: int, n_partitions: int, rule: Rule, is_reference: bool
) -> Iterator[Sent]:
    """Decide rows, given with their slots, by the first place of a slot not known to be cut and the first one kept."""
    n = len(slots)
    number, example = numbered(row.document, row.row)
    gives, kept_gives = may_give(first, row, rule, is_reference), may_give(staying, row, rule, is_reference)
    order, place = numbered(*first.joined(staying).columns())
    never = np.int64(len(order))
    first_left, first_kept = np.full(len(example), never), np.full(len(example), never)
    np.minimum.at(first_left, number[gives], order[:n][gives])
    np.minimum.at(first_kept, number[kept_gives], order[n:][kept_gives])
    stays, goes = first_left == never, first_kept < never
    settled = goes & (first_kept == first_left)  # no row before the source can still turn out to be kept
    cut, source = row.take(example[settled]), first.joined(staying).take(place[first_kept[settled]])
    yield Sent("cuts", table_of([cut.document, cut.row, source.document, source.row], CUTS), partition)
    found = np.flatnonzero(stays[number])
    found = found[first_of_each(slots[found], row.take(found))]
    yield Sent("staying", _by_slot(STAYING, slots[found], row.take(found)), route_by_hash(slots[found], n_partitions))
    waits = np.flatnonzero(~(stays | settled)[number])
    if len(waits) == 0:
        return
    yield Sent("pairs", table_of([*row.take(waits).columns(), slots[waits]], PAIRS), partition)
    yield Sent("left", table_of([np.array([len(waits)])], _LEFT), 0)
    open_slots = np.unique(slots[waits])
    undecided = waits[~goes[number[waits]]]
    undecided = undecided[first_of_each(slots[undecided], row.take(undecided))]
    at = np.searchsorted(open_slots, slots[undecided])
    first_undecided = Places.none(len(open_slots)).put(at, row.take(undecided))
    table = _by_slot(_WAITING, open_slots, first_undecided, np.full(len(open_slots), partition))
    yield Sent("waiting", table, route_by_hash(open_slots, n_partitions))


def _by_slot(schema: pa.Schema, slots: Names, places: Places, *more: Numbers) -> pa.Table:
    return table_of([slots, *places.columns(), *more], schema)


def _answered(staying: pa.Table, waiting: pa.Table, partition: int) -> Iterator[Sent]:
    """Send every partition that waits for a slot the first row there; store the kept rows of slots that are waited for."""
    asked, partitions = waiting["slot"].to_numpy(), waiting["partition"].to_numpy().astype(np.int64)
    slots = np.unique(asked)
    kept_slots, kept = staying["slot"].to_numpy(), Places.of(staying)
    chosen = np.flatnonzero(find(kept_slots, slots)[1])
    chosen = chosen[first_of_each(kept_slots[chosen], kept.take(chosen))]
    stays = Places.none(len(slots)).put(np.searchsorted(slots, kept_slots[chosen]), kept.take(chosen))
    left = Places.of(waiting).joined(kept.take(chosen))
    names = np.concatenate([asked, kept_slots[chosen]])
    there = np.flatnonzero(left.document >= 0)
    there = there[first_of_each(names[there], left.take(there))]
    first = Places.none(len(slots)).put(np.searchsorted(slots, names[there]), left.take(there))
    answers = _by_slot(_ANSWERS, slots, first, *stays.columns()).take(pa.array(np.searchsorted(slots, asked)))
    yield Sent("answers", answers, partitions)
    state = _by_slot(STAYING, kept_slots[chosen], kept.take(chosen))
    yield Sent("staying", state, partition)


def _row_nodes(places: Places) -> Names:
    """Return a name for each row. If two rows had the same name, they would only share a task."""
    document, row = places.document.astype(np.uint64), places.row.astype(np.uint64)
    mixed: Names = document * _FACTOR + row * GOLDEN
    return (mixed ^ mixed >> np.uint64(32)) * _FACTOR


def _cuts_of(pairs: pa.Table, staying: pa.Table, rule: Rule) -> pa.Table:
    """Decide the rows of whole components in order."""
    places = Places.of(pairs).joined(Places.of(staying))
    slots, _ = numbered(np.concatenate([pairs["slot"].to_numpy(), staying["slot"].to_numpy()]))
    # Rows are numbered in order; those of one document are as far apart as in the document.
    document, different = numbered(places.rank, places.document)
    n_rows = np.zeros(len(different), np.int64)
    np.maximum.at(n_rows, document, places.row + 1)
    first = starts_of(n_rows)
    number = first[document] + places.row
    order = np.argsort(number, kind="stable")
    heads = firsts(number[order])
    example = order[heads]
    rows, document = number[example], document[example]
    source = np.full(len(rows), -1, np.int64)
    held = np.full(int(slots.max(initial=-1)) + 1, -1, np.int64)
    decide_rows(
        rows, first[document], first[document + 1], example >= pairs.num_rows, rule.lag(int(first[-1])),
        np.append(heads, len(order)), slots[order], np.empty(0, np.int64), held, source,
    )  # fmt: skip
    goes = source >= 0
    cut, matched = places.take(example[goes]), places.take(example[np.searchsorted(rows, source[goes])])
    return table_of([cut.document, cut.row, matched.document, matched.row], CUTS)
