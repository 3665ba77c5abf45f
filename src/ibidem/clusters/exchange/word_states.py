"""What became of words when sentences were cut: which are cut, and which are the kept copies of others; at home.

Most passages are settled by this alone: those of which nothing is left to cut, and those whose other side is cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.alignment.exchange.located import chosen
from ibidem.alignment.exchange.words import SKIPPED, STATES, words_in
from ibidem.clusters.kernels.copies import CUT, GIVES
from ibidem.columns.collection import Collection
from ibidem.columns.parted_tables import collection_of, table_of
from ibidem.columns.ragged import ranges, starts_of
from ibidem.execution.flow import Flow, Inputs, PartedTable, Sent
from ibidem.execution.layout import Layout

Numbers = NDArray[np.int64]

# Words [start, end) of a document that have a state; those of all others are 0.
WORD_STATES = pa.schema([*((name, pa.int64()) for name in ("document", "start", "end")), ("state", pa.uint8())])
# Characters of sentences that are the kept copies of others, at the home of their document.
_GIVING = pa.schema([(name, pa.int64()) for name in ("document", "start", "end")])
_BITS = 32


def states_of_words(flow: Flow, spans: PartedTable, home: Inputs, layout: Layout) -> PartedTable:
    """Return the words that are cut with `spans`, and those that stay for them, `WORD_STATES`, at home.

    Of every home: its `documents`, `stems`, and `states` of sentences.
    """

    def send(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        columns = [tables["spans"][name].to_numpy() for name in ("matched", "matched_start", "matched_end")]
        yield Sent("giving", table_of(columns, _GIVING), layout.home(columns[0]))

    def mark(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        wanted = np.union1d(tables["spans"]["document"].to_numpy(), tables["giving"]["document"].to_numpy())
        if len(wanted) == 0:
            return
        words = words_in(chosen(tables["stems"], wanted))
        collection = collection_of(chosen(tables["documents"], wanted), layout)
        states = np.zeros(len(collection.document), np.uint8)
        states[_sentences_at(tables["giving"], wanted, collection)] = GIVES
        states[_skipped(tables["states"], wanted, collection)] = 0
        states[_sentences_at(tables["spans"], wanted, collection)] = CUT
        is_new = np.ones(len(states) + 1, np.bool_)
        is_new[1:-1] = (np.diff(states) != 0) | (np.diff(collection.document) != 0)
        bounds = np.flatnonzero(is_new)
        first, end = bounds[:-1], bounds[1:]
        first, end = first[states[first] != 0], end[states[first] != 0]
        at = collection.document[first]
        begins = words.document_first[at]
        columns = [wanted[at], words.sentence_first[first] - begins, words.sentence_first[end] - begins, states[first]]
        yield Sent("marked", table_of(columns, WORD_STATES), partition)

    giving = flow.reduce("copies-giving", {"spans": spans}, send, {"giving": _GIVING})
    known = {name: home[name] for name in ("documents", "stems", "states")}
    return flow.reduce("copies-states", {"spans": spans, **giving, **known}, mark, {"marked": WORD_STATES})["marked"]


class WordStates:
    """The states of words of a home."""

    def __init__(self, table: pa.Table) -> None:
        columns: Sequence[NDArray[Any]] = [table[name].to_numpy() for name in WORD_STATES.names]
        order = np.lexsort((columns[1], columns[0]))
        self._document, self._start, self._end, self._state = (column[order] for column in columns)

    def counts(self, document: Numbers, start: Numbers, end: Numbers) -> tuple[Numbers, Numbers]:
        """Return how many words of each span are cut, and how many have no state."""
        different = np.unique(np.concatenate([self._document, document]))
        keys = np.searchsorted(different, self._document) << _BITS | self._start
        at = np.searchsorted(different, document) << _BITS
        size = self._end - self._start
        n_marked, n_cut = (
            self._before(keys, at | end, sizes) - self._before(keys, at | start, sizes)
            for sizes in (size, np.where(self._state == CUT, size, 0))
        )
        return n_cut, end - start - n_marked

    def _before(self, keys: Numbers, places: Numbers, sizes: Numbers) -> Numbers:
        """Return how many of the words that rows have come before each place."""
        if len(keys) == 0:
            return np.zeros(len(places), np.int64)
        row = np.searchsorted(keys, places, side="right") - 1
        is_here = (row >= 0) & (keys[row] >> _BITS == places >> _BITS)
        whole: Numbers = starts_of(sizes)[row + np.where(is_here, 0, 1)]
        return whole + np.where(is_here, np.minimum(places - keys[row], sizes[row]), 0)

    def of_words(self, documents: Numbers, document_first: Numbers) -> NDArray[np.uint8]:
        """Return the state of every word of documents, which come in order."""
        states = np.zeros(int(document_first[-1]), np.uint8)
        known = np.flatnonzero(np.isin(self._document, documents))
        begins = document_first[np.searchsorted(documents, self._document[known])]
        sizes = (self._end - self._start)[known]
        states[ranges(begins + self._start[known], sizes)] = np.repeat(self._state[known], sizes)
        return states


def _sentences_at(spans: pa.Table, documents: Numbers, collection: Collection) -> Numbers:
    """Return the sentences of documents that begin in a span of characters."""
    document, start, end = (spans[name].to_numpy() for name in ("document", "start", "end"))
    at = np.searchsorted(documents, document) << _BITS
    begins = collection.document.astype(np.int64) << _BITS | collection.start_char
    low, high = np.searchsorted(begins, at | start), np.searchsorted(begins, at | end)
    return ranges(low, high - low)


def _skipped(states: pa.Table, documents: Numbers, collection: Collection) -> Numbers:
    """Return the sentences of documents that are in no row: whatever is kept between others has no copy that was cut."""
    document, sentence, state = (states[name].to_numpy() for name in STATES.names)
    known = (state == SKIPPED) & np.isin(document, documents)
    skipped: Numbers = collection.document_first[np.searchsorted(documents, document[known])] + sentence[known]
    return skipped
