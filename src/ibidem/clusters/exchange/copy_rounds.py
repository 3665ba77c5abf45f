"""Rounds that decide edited copies: a document is decided once all documents that its passages may leave as copies are.

Documents have an order, and the kept side of a passage is in the earlier one (see `clusters.copies`). A document depends on
nothing but what became of the words on these sides. So each home decides, in this order, all documents that wait for none of
another home, and sends those that wait for them which of their words are cut; then the next round begins. By the usual rule,
documents of a home wait for those of earlier homes only: there are at most as many rounds as homes. Once little is left, one
task decides it all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.alignment import Words
from ibidem.clusters.copies import cut_words
from ibidem.clusters.kernels.copies import CUT, GIVES, mark_waiting
from ibidem.columns.parted_tables import table_of
from ibidem.columns.ragged import as_lists, flat, lengths, ranges, starts_of, take_ranges
from ibidem.config import Config
from ibidem.execution.flow import Flow, Inputs, PartedTable, Sent
from ibidem.execution.layout import Layout

Numbers = NDArray[np.int64]
Truths = NDArray[np.bool_]

MOST_AT_ONCE = 1 << 22  # words that one task decides: about 100 MB
_BITS = 32

# Passages where their copy is decided, by words within their documents: the copy, what stays, and whether that is decided.
_SIDE = ("document", "rank", "start", "end")
_KEPT = ("kept", "kept_rank", "kept_start", "kept_end")
COPIES = pa.schema([*((name, pa.int64()) for name in (*_SIDE, *_KEPT)), ("is_decided", pa.bool_())])
# Words of a document from `start` on: hashes, how strongly the text is divided before each, and what became of them.
EXCERPTS = pa.schema(
    [
        ("document", pa.int64()),
        ("start", pa.int64()),
        ("words", pa.list_(pa.uint32())),
        ("bounds", pa.list_(pa.uint8())),
        ("states", pa.list_(pa.uint8())),
    ]
)
# Partitions that wait for a document, at its home.
WAITING = pa.schema([("document", pa.int64()), ("place", pa.int64())])
# What is cut, at home: the document, its words, the document that keeps them, and how many words are there, of how many.
PIECES = pa.schema([(name, pa.int64()) for name in ("document", "start", "end", "matched", "n_there", "n_different")])
# A piece, by its document and first word, and the words that stay instead, at the home of their document.
ASKED = pa.schema([(name, pa.int64()) for name in ("document", "start", "matched", "matched_start", "matched_end")])
_CUT = pa.schema([*PIECES, *(ASKED.field(name) for name in ("matched_start", "matched_end"))])
# Decided documents and which of their words are cut; one row more for each document, without words.
_NEWS = pa.schema([(name, pa.int64()) for name in ("document", "start", "end")])
_LEFT = pa.schema([("n_words", pa.int64())])
_CARRIED = {"copies": COPIES, "excerpts": EXCERPTS, "waiting": WAITING, "news": _NEWS}
_ROUND = {**_CARRIED, "pieces": PIECES, "asked": ASKED, "left": _LEFT}


def decide_copies(
    flow: Flow, found: Mapping[str, PartedTable], config: Config, layout: Layout
) -> tuple[list[PartedTable], list[PartedTable]]:
    """Return the pieces that are cut, `PIECES`, at home, and where the words that stay are `ASKED` for.

    `found` are `copies` and `excerpts` at the home of the copy, and `waiting` at the home of the other document.
    """
    limit = config.cleaning.min_copy_similarity

    def decide(place: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        words = _PlacedWords(tables["excerpts"])
        words.cut(tables["news"])
        copies = _in_order(words.not_settled(tables["copies"]))
        # What had copies here and has none left is decided, too: nothing of it is cut.
        decided = np.union1d(tables["news"]["document"].to_numpy(), tables["copies"]["document"].to_numpy())
        waits, is_open = _waiting(copies, decided, place, layout)
        ready, left = (copies.filter(pa.array(which)) for which in (~waits, waits))
        spans = np.concatenate([words.at(ready, side) for side in (_SIDE, _KEPT)], axis=1)
        pieces, words.states = cut_words(spans, words.words, words.states, limit)
        cut = _cut(pieces, spans, ready)
        yield Sent("pieces", cut.select(PIECES.names), layout.home(cut["document"].to_numpy()))
        yield Sent("asked", cut.select(ASKED.names), layout.home(cut["matched"].to_numpy()))
        yield from _sent_news(tables["waiting"], cut, np.unique(left["document"].to_numpy()), place)
        if left.num_rows == 0:
            return
        last = len(COPIES) - 1
        left = left.set_column(last, COPIES.field(last), pa.array(~is_open[waits]))
        remaining = words.only(np.union1d(left["document"].to_numpy(), left["kept"].to_numpy()))
        yield Sent("copies", left, place)
        yield Sent("excerpts", remaining, place)
        yield Sent("left", table_of([[int(lengths(remaining, "words").sum())]], _LEFT), 0)

    def gather(_: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        yield from (Sent(name, tables[name], 0) for name in _CARRIED if name != "waiting")

    given: dict[str, PartedTable] = {**found, "news": PartedTable("news", _NEWS)}
    pieces, asked, is_gathered = [], [], False
    for number in count(1):
        inputs: Inputs = {name: given[name] for name in _CARRIED}
        given = flow.reduce(f"copies-round-{number}", inputs, decide, _ROUND)
        pieces.append(given["pieces"])
        asked.append(given["asked"])
        n_left = int(flow.collect(given["left"])["n_words"].to_numpy().sum())
        if n_left == 0:
            return pieces, asked
        assert not is_gathered, "a document waits for none of those that are decided"
        if n_left <= MOST_AT_ONCE:
            # All documents are in one place then, and none waits for another one elsewhere.
            inputs = {name: given[name] for name in _CARRIED}
            given, is_gathered = flow.reduce(f"copies-left-{number}", inputs, gather, _CARRIED), True
    raise AssertionError("rounds end when nothing is left")


class _PlacedWords:
    """The words of excerpts, by document and place; those that several excerpts have are there once."""

    def __init__(self, excerpts: pa.Table) -> None:
        self._documents = np.unique(excerpts["document"].to_numpy())
        at, start = np.searchsorted(self._documents, excerpts["document"].to_numpy()), excerpts["start"].to_numpy()
        sizes = lengths(excerpts, "words")
        self._document, self._start, end = united_spans(at, start, start + sizes)
        self._size = end - self._start
        self._first = starts_of(self._size)
        n_words = int(self._first[-1])
        here = ranges(self._positions(at, start), sizes)
        stems, bounds, self.states = np.empty(n_words, np.uint32), np.zeros(n_words + 1, np.uint8), np.zeros(n_words, np.uint8)
        stems[here], bounds[here] = flat(excerpts, "words"), flat(excerpts, "bounds")
        states = flat(excerpts, "states")
        for state in (GIVES, CUT):  # a document may have been decided since some of its excerpts were made
            self.states[here[states == state]] = state
        self.words = Words(stems, bounds, self._first, self._first)

    def _positions(self, at: Numbers, word: Numbers) -> Numbers:
        """Return the position of words of documents, which are numbered here; those without an excerpt have any."""
        row = np.searchsorted(self._document << _BITS | self._start, at << _BITS | word, side="right") - 1
        positions: Numbers = self._first[row] + word - self._start[row]
        return positions

    def at(self, copies: pa.Table, side: tuple[str, ...]) -> Numbers:
        """Return start and end of one side of passages."""
        document, _, start, end = (copies[name].to_numpy() for name in side)
        begins = self._positions(np.searchsorted(self._documents, document), start)
        return np.stack([begins, begins + end - start], axis=1)

    def not_settled(self, copies: pa.Table) -> pa.Table:
        """Return passages without those of which nothing is left to cut, or whose other side is cut."""
        n_free, n_cut = (starts_of(states) for states in (self.states == 0, self.states == CUT))
        (copy, copy_end), (kept, kept_end) = (self.at(copies, side).T for side in (_SIDE, _KEPT))
        return copies.filter(pa.array((n_free[copy_end] > n_free[copy]) & (n_cut[kept_end] == n_cut[kept])))

    def cut(self, news: pa.Table) -> None:
        """Mark the words of decided documents that are cut, as far as they are here."""
        document, start, end = (news[name].to_numpy() for name in _NEWS.names)
        known = np.isin(document, self._documents)
        at, start, end = np.searchsorted(self._documents, document[known]), start[known], end[known]
        word, at = ranges(start, end - start), np.repeat(at, end - start)
        row = np.searchsorted(self._document << _BITS | self._start, at << _BITS | word, side="right") - 1
        here = (row >= 0) & (self._document[row] == at) & (word < (self._start + self._size)[row])
        self.states[(self._first[row] + word - self._start[row])[here]] = CUT

    def only(self, documents: Numbers) -> pa.Table:
        """Return the words of some documents as excerpts."""
        rows = np.flatnonzero(np.isin(self._documents[self._document], documents))
        first, size = self._first[rows], self._size[rows]
        columns = (self.words.stem, pa.uint32()), (self.words.bounds, pa.uint8()), (self.states, pa.uint8())
        lists = [as_lists(take_ranges(values, first, size), size, kind) for values, kind in columns]
        return table_of([self._documents[self._document[rows]], self._start[rows], *lists], EXCERPTS)


def united_spans(owner: Numbers, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return spans [low, high) of several owners, in order; those of one owner that touch or overlap are one."""
    order = np.lexsort((low, owner))
    owner, low, high = owner[order], low[order], high[order]
    reached = np.maximum.accumulate(owner << _BITS | high)
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (owner << _BITS | low)[1:] > reached[:-1]
    first = np.flatnonzero(is_first)
    return owner[first], low[first], np.maximum.reduceat(high, first) if len(first) else high


def _in_order(copies: pa.Table) -> pa.Table:
    """Return passages in the order of decision: by the documents of copies, the longest first (see `copies.in_order`)."""
    column = {name: copies[name].to_numpy() for name in COPIES.names}
    longest_first = column["start"] - column["end"]
    keys = [column[name] for name in ("kept_end", "kept_start", "kept", "kept_rank", "start")]
    return copies.take(pa.array(np.lexsort((*keys, longest_first, column["document"], column["rank"]))))


def _waiting(copies: pa.Table, decided: Numbers, place: int, layout: Layout) -> tuple[Truths, Truths]:
    """Return which passages, in order, are of a document that still waits, and which of them it waits for.

    `decided` are documents known to be decided, unless passages of them are here.
    """
    document, kept = copies["document"].to_numpy(), copies["kept"].to_numpy()
    pending = np.unique(document)
    at = np.minimum(np.searchsorted(pending, kept), max(0, len(pending) - 1))
    is_pending = pending[at] == kept if len(pending) else np.empty(0, np.bool_)
    is_decided = ~is_pending & (np.isin(kept, decided) | (layout.home(kept) == place)) | copies["is_decided"].to_numpy()
    is_open, waits = ~is_decided, np.zeros(len(pending), np.bool_)
    mark_waiting(np.searchsorted(pending, document), np.where(is_pending, at, -1), is_open, waits)
    return waits[np.searchsorted(pending, document)], is_open


def _cut(pieces: Numbers, spans: Numbers, copies: pa.Table) -> pa.Table:
    """Return what is cut, by words within documents."""
    of = copies.take(pa.array(pieces[:, 0]))
    shift = of["start"].to_numpy() - spans[pieces[:, 0], 0]
    columns = [
        of["document"], pieces[:, 1] + shift, pieces[:, 2] + shift, of["kept"], pieces[:, 3], pieces[:, 4], of["kept_start"],
        of["kept_end"],
    ]  # fmt: skip
    return table_of(columns, _CUT)


def _sent_news(waiting: pa.Table, cut: pa.Table, undecided: Numbers, here: int) -> Iterator[Sent]:
    """Send the partitions that wait for decided documents which words are cut; the others keep waiting."""
    document, place = waiting["document"].to_numpy(), waiting["place"].to_numpy()
    waits_on = np.isin(document, undecided)
    yield Sent("waiting", waiting.filter(pa.array(waits_on)), here)
    chosen = ~waits_on & (place != here)
    document, place = document[chosen], place[chosen]
    yield Sent("news", table_of([document, np.zeros(len(document)), np.zeros(len(document))], _NEWS), place)
    known = cut.take(pa.array(np.argsort(cut["document"].to_numpy(), kind="stable")))
    of_pieces = known["document"].to_numpy()
    low, high = np.searchsorted(of_pieces, document), np.searchsorted(of_pieces, document, side="right")
    rows = pa.array(ranges(low, high - low))
    yield Sent("news", known.select(_NEWS.names).take(rows), np.repeat(place, high - low))
