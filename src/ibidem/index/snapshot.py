"""Snapshots: an index as of one commit, mapped into memory. It stays readable, whatever the writer does."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.errors import IndexDamagedError
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.index.array_files import REPAIR_STEP, check_arrays, map_arrays
from ibidem.index.catalog import Catalog
from ibidem.index.catalog_state import State
from ibidem.index.folder import Place
from ibidem.index.segment import Segment
from ibidem.index.vocabulary import WordCounts

_MOST_CHECKED_BYTES = 4 << 30  # an index up to this size is checked when opened; a larger one only by `verify`
_TRIES = 20


@dataclass(frozen=True)
class OpenSegment:
    """A segment, its file, and its kept documents."""

    name: str
    segment: Segment
    kept: NDArray[np.bool_]


@dataclass(frozen=True)
class Snapshot:
    """The segments of one commit in the order of their documents, and the frozen counts of words."""

    state: State
    parts: tuple[OpenSegment, ...]
    counts: WordCounts


class SnapshotReader:
    """Opens what the catalog names, and reuses what is still open; for any thread."""

    def __init__(self, catalog: Catalog, run_tasks: RunTasks = in_turn) -> None:
        self._folder = catalog.opened
        self._catalog, self._run_tasks = catalog, run_tasks
        self._mutex = threading.Lock()
        self._current: Snapshot | None = None
        self._counts: tuple[str | None, WordCounts] = (None, WordCounts.empty())

    def current(self) -> Snapshot:
        """Return the index as of the last commit."""
        with self._mutex:
            if self._current is None or self._current.state.mark != self._catalog.mark():
                self._current = self._load()
            return self._current

    def with_serials(self, ids: Sequence[str]) -> tuple[Snapshot, dict[str, int]]:
        """Return the index as of the last commit, and the serials of those of the ids that it has."""
        while True:
            mark, serials = self._catalog.mark_and_serials(ids)
            with self._mutex:
                if self._current is None or self._current.state.mark != mark:
                    self._current = self._load()
                if self._current.state.mark == mark:
                    return self._current, serials

    def _load(self) -> Snapshot:
        opened = {part.name: part for part in self._current.parts} if self._current else {}
        for attempt in range(_TRIES):
            state = self._catalog.state()
            try:
                return self._open(state, opened)
            except IndexDamagedError:
                # A missing file may have been merged away since the catalog was read; then there is a later commit.
                if attempt == _TRIES - 1 or self._catalog.mark() == state.mark:
                    raise
        raise AssertionError("the loop returns or raises")

    def _open(self, state: State, opened: dict[str, OpenSegment]) -> Snapshot:
        checks = sum(entry.n_bytes for entry in state.segments) <= _MOST_CHECKED_BYTES
        if state.vocabulary != self._counts[0]:
            counts = WordCounts.empty()
            if state.vocabulary is not None:
                counts = read_counts(self._folder / state.vocabulary, state.identity)
            self._counts = (state.vocabulary, counts)
        parts = []
        for entry in state.segments:
            part = opened.get(entry.name)
            if part is None:
                if checks:
                    check_arrays(self._folder / entry.name, self._run_tasks)
                segment = read_segment(self._folder / entry.name, state.identity)
                part = OpenSegment(entry.name, segment, kept_in(segment, state.removed))
            elif not self._is_kept_as_before(part.segment, state.removed):
                part = OpenSegment(entry.name, part.segment, kept_in(part.segment, state.removed))
            parts.append(part)
        parts.sort(key=lambda part: int(part.segment.serials[0]))
        return Snapshot(state, tuple(parts), self._counts[1])

    def _is_kept_as_before(self, segment: Segment, removed: NDArray[np.int64]) -> bool:
        """Return whether no document of a segment was removed since: there may be many tombstones, and few commits add any."""
        assert self._current is not None
        before = self._current.state.removed
        return before is removed or np.array_equal(_removed_near(segment, before), _removed_near(segment, removed))


def read_counts(place: Place, identity: str | None) -> WordCounts:
    """Check and map the word counts of a file, which must belong to the index with that identity."""
    check_arrays(place)
    arrays, about = map_arrays(place)
    _refuse_stranger(place, about, identity)
    return WordCounts.stored(arrays, about)


def read_segment(place: Place, identity: str | None) -> Segment:
    """Map the segment of a file, which must belong to the index with that identity."""
    arrays, about = map_arrays(place)
    _refuse_stranger(place, about, identity)
    try:
        return Segment.stored(arrays)
    except KeyError as error:
        raise IndexDamagedError(f"{place} has no column {error}", "Update ibidem, or build the index again.") from error


def _refuse_stranger(place: Place, about: Mapping[str, Any], identity: str | None) -> None:
    if about.get("index") not in (None, identity):  # earlier versions wrote no identity
        raise IndexDamagedError(f"{place} belongs to another index", REPAIR_STEP)


def kept_in(segment: Segment, removed: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which documents of a segment are not removed; the serials of removed ones are sorted."""
    kept = np.ones(segment.n_documents, np.bool_)
    removed = _removed_near(segment, removed)
    if len(removed) and len(kept):  # serials are sorted: a few removed ones are found without reading all
        place = np.minimum(np.searchsorted(segment.serials, removed), len(kept) - 1)
        kept[place[segment.serials[place] == removed]] = False
    kept.flags.writeable = False
    return kept


def _removed_near(segment: Segment, removed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the removed serials that a segment may have, from its first to its last one."""
    if not len(segment.serials):
        return removed[:0]
    begin, end = np.searchsorted(removed, [segment.serials[0], segment.serials[-1] + 1])
    return removed[begin:end]
