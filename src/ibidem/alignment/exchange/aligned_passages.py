"""Aligned passages put into the table of passages, at the home of a.

Coverage is a sum: what alignment drops is subtracted, what it adds is added. Whether two documents are copies depends on all
passages of the pair: where alignment changed any, it is decided again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.alignment.exchange.aligned_pairs import ALIGNED, DROPPED, pairs_in
from ibidem.alignment.places import LocatedSide, directions_of, kinds_of, put_together
from ibidem.columns.components_exchange import EDGES
from ibidem.columns.distinct import order_by
from ibidem.columns.parted_tables import in_order, table_of
from ibidem.config import Config, passage_limits
from ibidem.execution.flow import Flow, Inputs, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.model import DIRECTIONS
from ibidem.passages.coverage import MIN_COVERAGE
from ibidem.passages.exchange.pairs import COVERAGE, FOUND, NAMELESS, NAMES, named, one_each

Numbers = NDArray[np.int64]
_SPAN = ("a_start", "a_end", "b_start", "b_end")
_BY_PLACE = ("a_document", "a_start", "b_document", "b_start")
_ROWS_AT_A_TIME = 1 << 16
_HALF = 32
_A_TO_B, _UNKNOWN = (DIRECTIONS.index(direction) for direction in ("a_to_b", "unknown"))


def put_in(
    flow: Flow, found: Mapping[str, PartedTable], outcomes: PartedTable, located: PartedTable, config: Config, layout: Layout
) -> dict[str, PartedTable]:
    """Return all `passages` in reading order, what is to be added to `coverage`, and the `edges` between copies.

    `found` has the `passages` that sentences found (`pairs.NAMELESS`), the `names` of their documents, and `copies`.
    """
    min_sentences = passage_limits(config).min_sentences
    a_is_first = not layout.has_reference

    def join(home: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        passages, outcomes = tables["passages"], in_order(tables["outcomes"], "key")
        kinds = outcomes["outcome"].to_numpy()
        is_b = tables["located"]["is_b"].to_numpy()
        # What is not dropped was located.
        sides = [in_order(tables["located"].filter(pa.array(chosen)), "key") for chosen in (~is_b, is_b)]
        is_aligned = kinds[kinds != DROPPED] == ALIGNED
        aligned = [table.filter(pa.array(is_aligned)) for table in sides]
        added = _aligned_rows(outcomes.filter(pa.array(kinds == ALIGNED)), aligned, min_sentences)
        is_dropped, ends = _dropped(passages, outcomes.filter(pa.array(kinds == DROPPED)))
        of_aligned = (table_of([added[f"{s}_document"], aligned[k]["id"]], NAMES) for k, s in enumerate("ab"))
        names = one_each(pa.concat_tables([tables["names"], *of_aligned]))
        yield from (Sent("passages", some, home) for some in _in_reading_order(passages, is_dropped, added, names))
        covered = [np.stack([side["covered_first"].to_numpy(), side["covered_end"].to_numpy()]) for side in aligned]
        yield from _sent_coverage(added, covered, 1, a_is_first, layout)
        yield from _sent_coverage(passages.filter(pa.array(is_dropped)), ends, -1, a_is_first, layout)
        yield Sent("edges", _copies(tables["copies"], outcomes, outcomes.filter(pa.array(kinds != DROPPED)), sides), 0)

    inputs: Inputs = {**found, "outcomes": outcomes, "located": located}
    return flow.reduce("passages-aligned", inputs, join, {"passages": FOUND, "coverage": COVERAGE, "edges": EDGES})


def _aligned_rows(outcomes: pa.Table, sides: Sequence[pa.Table], min_sentences: int) -> pa.Table:
    """Return aligned passages as rows of the table of passages (NAMELESS), not numbered yet."""
    a, b = sides
    spans = np.stack([outcomes[name].to_numpy() for name in _SPAN], axis=1).astype(np.int64)
    passages = put_together(
        _side(outcomes["a_document"], a), _side(outcomes["b_document"], b), spans, outcomes["n_common"].to_numpy()
    )
    columns = {
        "number": np.arange(len(passages)), "a_document": outcomes["a_document"], "b_document": outcomes["b_document"],
        "a_start": a["start"], "a_end": a["end"], "b_start": b["start"], "b_end": b["end"],
        "n_sentences": passages.n_sentences, "similarity": passages.similarity, "kind": kinds_of(passages, min_sentences),
        "direction": directions_of(a["time"].to_numpy(), b["time"].to_numpy()), "a_sentence": a["first"],
        "b_sentence": b["first"],
    }  # fmt: skip
    return table_of([columns[name] for name in NAMELESS.names], NAMELESS)


def _side(documents: pa.ChunkedArray, table: pa.Table) -> LocatedSide:
    places, sentences, covered = (
        np.stack([table[start].to_numpy(), table[end].to_numpy()])
        for start, end in (("start", "end"), ("first", "last"), ("covered_first", "covered_end"))
    )
    digests, is_whole = table["digest"].to_numpy(), table["is_whole"].to_numpy()
    return LocatedSide(documents.to_numpy(), places, sentences, covered, digests, is_whole)


def _in_reading_order(
    passages: pa.Table, is_dropped: NDArray[np.bool_], added: pa.Table, names: pa.Table
) -> Iterator[pa.Table]:
    """Yield passages (FOUND) by document a, place in a, document b, place in b.

    Of equal ones, those found by sentences come first. Not all at once: they may be many, and they are in memory already.
    """
    table = pa.concat_tables([passages, added])
    by_place, number = [table[name].to_numpy() for name in _BY_PLACE], table["number"].to_numpy()
    order = order_by(*by_place, np.arange(table.num_rows) >= passages.num_rows, number)
    order = order[~np.append(is_dropped, np.zeros(added.num_rows, np.bool_))[order]]
    for begin in range(0, len(order), _ROWS_AT_A_TIME):
        some = named(table.take(pa.array(order[begin : begin + _ROWS_AT_A_TIME])), names)
        yield some.set_column(0, FOUND.field("number"), pa.array(np.arange(begin, begin + some.num_rows)))


def _dropped(passages: pa.Table, dropped: pa.Table) -> tuple[NDArray[np.bool_], list[Numbers]]:
    """Return which passages are dropped, and from which sentence to which these are, in a and in b."""
    tables = (passages, dropped)
    documents = np.unique(np.concatenate([table[f"{side}_document"].to_numpy() for table in tables for side in "ab"]))
    pairs = [pairs_in(table, documents) for table in tables]
    is_dropped = np.isin(pairs[0], pairs[1])
    pairs[0], n = pairs[0][is_dropped], int(is_dropped.sum())
    # No two passages of a pair begin at the same sentences.
    starts = [(passages["a_sentence"].to_numpy()[is_dropped], passages["b_sentence"].to_numpy()[is_dropped])]
    starts.append((dropped["a_start"].to_numpy(), dropped["b_start"].to_numpy()))
    places = np.concatenate([a.astype(np.int64) << _HALF | b for a, b in starts])
    keys = np.concatenate([np.searchsorted(np.unique(pairs[1]), column) for column in pairs]) << _HALF
    keys |= np.unique(places, return_inverse=True)[1]
    order = np.argsort(keys[n:])
    is_same = np.isin(keys[:n], keys[n:])
    is_dropped[is_dropped] = is_same
    at = order[np.searchsorted(keys[n:][order], keys[:n][is_same])]
    ends = [np.stack([dropped[f"{side}_{end}"].to_numpy()[at] for end in ("start", "end")]) for side in "ab"]
    return is_dropped, ends


def _sent_coverage(
    passages: pa.Table, covered: Sequence[Numbers], times: int, a_is_first: bool, layout: Layout
) -> Iterator[Sent]:
    """Yield what passages add to the coverage of their documents, so many times, given which sentences they cover.

    Those that cover none in one of the documents add nothing.
    """
    counts = np.where((covered[0][0] < covered[0][1]) & (covered[1][0] < covered[1][1]), times, 0)
    directions = passages["direction"].to_numpy()
    a_earlier = (directions == _A_TO_B) | ((directions == _UNKNOWN) & a_is_first)
    for side, is_later in (("a", ~a_earlier), ("b", a_earlier)):
        documents = passages[f"{side}_document"].to_numpy()
        for slots, sign in zip(covered[side == "b"], (1, -1), strict=True):
            elsewhere = sign * counts
            columns = [documents, slots, elsewhere, np.where(is_later, elsewhere, 0)]
            yield Sent("coverage", table_of(columns, COVERAGE), layout.home(documents))


def _copies(copies: pa.Table, outcomes: pa.Table, remaining: pa.Table, sides: Sequence[pa.Table]) -> pa.Table:
    """Return the pairs of documents that are copies of one another: those found before, unless alignment changed them.

    `sides` are those of the remaining passages of such pairs.
    """
    documents = np.unique(np.concatenate([table[f"{s}_document"].to_numpy() for table in (copies, outcomes) for s in "ab"]))
    unchanged = copies.filter(pa.array(~np.isin(pairs_in(copies, documents), pairs_in(outcomes, documents))))
    has_rows = np.logical_and(*(side["covered_first"].to_numpy() < side["covered_end"].to_numpy() for side in sides))
    remaining = remaining.filter(pa.array(has_rows))
    pairs, first, which = np.unique(pairs_in(remaining, documents), return_index=True, return_inverse=True)
    is_copy = np.ones(len(pairs), np.bool_)
    for side in sides:
        low, high, whole = (side[name].to_numpy()[has_rows] for name in ("low", "high", "whole"))
        is_copy &= _united(which, low, high, len(pairs)) >= MIN_COVERAGE * whole[first]
    changed = remaining.take(pa.array(first[is_copy]))
    ends = []
    for name in ("a_document", "b_document"):
        ends.append(np.concatenate([unchanged[name].to_numpy(), changed[name].to_numpy()]))
    different = ends[0] != ends[1]
    return table_of([end[different].astype(np.uint64) for end in ends], EDGES)


def _united(which: Numbers, low: Numbers, high: Numbers, n: int) -> Numbers:
    """Return the length of each union of ranges; range i belongs to `which[i]`."""
    shift = which * (int(high.max(initial=0)) + 1)
    order = np.lexsort((low, which))
    low, high, which = (low + shift)[order], (high + shift)[order], which[order]
    reached = np.concatenate([[0], np.maximum.accumulate(high)[:-1]]) if len(high) else high
    lengths: Numbers = np.bincount(which, np.maximum(0, high - np.maximum(low, reached)), n).astype(np.int64)
    return lengths
