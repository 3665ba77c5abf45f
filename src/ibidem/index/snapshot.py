"""Snapshots: an index as one commit left it, mapped into memory. What is open stays readable, whatever the writer does."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ibidem.errors import IndexDamagedError
from ibidem.index.catalog import Catalog, State
from ibidem.index.files import check_arrays, map_arrays
from ibidem.index.segment import Segment
from ibidem.index.vocabulary import WordCounts

_MOST_CHECKED_BYTES = 4 << 30  # an index up to this size is checked as it is opened; a larger one by `verify` only
_TRIES = 20


@dataclass(frozen=True)
class OpenSegment:
    """A segment, its file, and which of its documents are there."""

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
    """Opens what the catalog names, and keeps open what is still there; any thread may ask."""

    def __init__(self, folder: Path, catalog: Catalog) -> None:
        self._folder = folder
        self._catalog = catalog
        self._mutex = threading.Lock()
        self._current: Snapshot | None = None
        self._counts: tuple[str | None, WordCounts] = (None, WordCounts.empty())

    def current(self) -> Snapshot:
        """Return the index as the last commit left it."""
        with self._mutex:
            if self._current is None or self._current.state.generation != self._catalog.generation():
                self._current = self._load()
            return self._current

    def _load(self) -> Snapshot:
        opened = {part.name: part.segment for part in self._current.parts} if self._current else {}
        for attempt in range(_TRIES):
            state = self._catalog.state()
            try:
                return self._open(state, opened)
            except IndexDamagedError:
                # A file that is gone may have been merged away since the catalog was read; then there is a later commit.
                if attempt == _TRIES - 1 or self._catalog.generation() == state.generation:
                    raise
        raise AssertionError("the loop returns or raises")

    def _open(self, state: State, opened: dict[str, Segment]) -> Snapshot:
        checks = sum(entry.n_bytes for entry in state.segments) <= _MOST_CHECKED_BYTES
        if state.vocabulary != self._counts[0]:
            counts = WordCounts.empty()
            if state.vocabulary is not None:
                check_arrays(self._folder / state.vocabulary)
                counts = WordCounts.stored(*map_arrays(self._folder / state.vocabulary))
            self._counts = (state.vocabulary, counts)
        parts = []
        for entry in state.segments:
            if entry.name not in opened:
                if checks:
                    check_arrays(self._folder / entry.name)
                opened[entry.name] = read_segment(self._folder / entry.name)
            parts.append(OpenSegment(entry.name, opened[entry.name], kept_in(opened[entry.name], state.removed)))
        parts.sort(key=lambda part: int(part.segment.serials[0]))
        return Snapshot(state, tuple(parts), self._counts[1])


def read_segment(path: Path) -> Segment:
    """Map the segment of a file."""
    arrays, _ = map_arrays(path)
    try:
        return Segment.stored(arrays)
    except KeyError as error:
        raise IndexDamagedError(f"{path} has no column {error}", "Update ibidem, or build the index anew.") from error


def kept_in(segment: Segment, removed: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which documents of a segment are not removed."""
    kept = np.ones(segment.n_documents, np.bool_)
    if len(removed) and len(kept):  # serials rise: a few removed ones are found without a look at all
        place = np.minimum(np.searchsorted(segment.serials, removed), len(kept) - 1)
        kept[place[segment.serials[place] == removed]] = False
    kept.flags.writeable = False
    return kept
