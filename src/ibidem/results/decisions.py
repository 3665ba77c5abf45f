"""What happens to the records of input files, from tables that are read one source at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.columns.parted_tables import CHECK_NAMES
from ibidem.columns.text_checks import CheckKey
from ibidem.formats.decisions import Decision, Decisions, KnownTexts, SourceDecisions
from ibidem.results.storage import DecidedTable, Table

Numbers = NDArray[np.int64]


class Change(NamedTuple):
    """What happens to a document, by its number: what is cut out of it (None: all of it is removed); and its check."""

    document: int
    cuts: tuple[tuple[int, int], ...] | None
    check: tuple[int, ...]


def changes_of(removed: Table) -> Iterator[Change]:
    """Yield the documents that change, in order, given what is removed."""
    waiting: Change | None = None
    spans: list[tuple[int, int]] = []
    for batch in removed.stored_batches():
        columns = (batch[name].to_pylist() for name in ("document", "start", "end", "removed", *CHECK_NAMES))
        for document, start, end, what, *check in zip(*columns, strict=True):
            if waiting is None or document != waiting.document:
                if waiting is not None:
                    yield waiting._replace(cuts=waiting.cuts and tuple(spans))
                waiting, spans = Change(document, None if what == "document" else ((start, end),), tuple(check)), []
            spans.append((start, end))
    if waiting is not None:
        yield waiting._replace(cuts=waiting.cuts and tuple(spans))


class TableDecisions(Decisions):
    """Decisions from tables in reading order; those about one source at a time are in memory, as columns.

    `removed` has rows of `removed.jsonl`; `members`, where records are only marked, all members of clusters.
    """

    def __init__(self, removed: DecidedTable, members: DecidedTable | None, mark_only: bool, key: CheckKey) -> None:
        super().__init__()
        self._key = key
        self._mark_only = mark_only
        self._rows = members if mark_only and members is not None else removed
        self._last: tuple[str, SourceDecisions] | None = None

    def of_source(self, source: str) -> SourceDecisions:
        """Return all decisions about the records of one source."""
        if self._last is None or self._last[0] != source:
            chosen = [self._batch(number).slice(begin, n_rows) for number, begin, n_rows in self._places.get(source, ())]
            self._last = source, decisions_of(chosen, self._mark_only, self._key)
        return self._last[1]

    @cached_property
    def _places(self) -> dict[str, list[tuple[int, int, int]]]:
        """Where each source has rows: the number of a batch, the first row and how many. Sources follow one another."""
        found: dict[str, list[tuple[int, int, int]]] = {}
        for number in range(self._rows.n_batches):
            sources = self._batch(number)["source"].dictionary_encode()
            names, codes = sources.dictionary.to_pylist(), sources.indices.to_numpy()
            for begin, end in pairwise(np.flatnonzero(np.diff(codes, prepend=-1, append=-1)).tolist()):
                found.setdefault(names[codes[begin]], []).append((number, begin, end - begin))
        return found

    @cached_property
    def _batch(self) -> Callable[[int], pa.RecordBatch]:
        return lru_cache(maxsize=2)(self._rows.stored_batch)  # the next source mostly has its rows in the same one


class _ByPosition(Mapping[int, Decision]):
    """Decisions by position, each made on request: columns take a tenth of the memory."""

    def __init__(self, positions: Numbers, make: Callable[[int], Decision]) -> None:
        self._order = np.argsort(positions, kind="stable")
        self._positions = positions[self._order]
        self._make = make

    def __len__(self) -> int:
        return len(self._positions)

    def __iter__(self) -> Iterator[int]:
        yield from self._positions.tolist()

    def __getitem__(self, position: int) -> Decision:
        place = int(np.searchsorted(self._positions, position))
        if place == len(self._positions) or self._positions[place] != position:
            raise KeyError(position)
        return self._make(int(self._order[place]))


def _column(batches: list[pa.RecordBatch], name: str) -> Any:
    if not batches:
        return np.empty(0, np.int64)
    return np.concatenate([batch[name].to_numpy() for batch in batches])  # by itself: numbers of 64 bits keep their kind


def _groups(positions: Numbers) -> tuple[Numbers, Numbers]:
    """Return where the rows of each record begin, and the position of each; rows of a record follow one another."""
    bounds = np.flatnonzero(np.diff(positions, prepend=-1, append=-1))
    return bounds, positions[bounds[:-1]]


def decisions_of(batches: list[pa.RecordBatch], mark_only: bool, key: CheckKey, by: str = "position") -> SourceDecisions:
    """Return decisions out of rows in reading order: what is removed or, with `mark_only`, also the members of clusters.

    The column `by` says which record a row is about.
    """
    checks = np.stack([_column(batches, name).astype(np.uint64) for name in CHECK_NAMES], axis=1)
    known = KnownTexts.of(key.of_texts, _column(batches, by), checks)
    if not mark_only:
        return _dropped_and_cut(batches, known, by)
    of_members = bool(batches) and "cluster" in batches[0].schema.names
    return _marked_members(batches, known, by) if of_members else _marked_cuts(batches, known, by)


def _dropped_and_cut(batches: list[pa.RecordBatch], known: KnownTexts, by: str) -> SourceDecisions:
    parts = [batch.filter(pc.equal(batch["removed"], "passage")) for batch in batches]
    whole = [batch.filter(pc.equal(batch["removed"], "document")) for batch in batches]
    start, end = _column(parts, "start"), _column(parts, "end")
    bounds, positions = _groups(_column(parts, by))

    def make(row: int) -> Decision:
        part = slice(bounds[row], bounds[row + 1])
        return Decision(cuts=tuple(zip(start[part].tolist(), end[part].tolist(), strict=True)))

    return SourceDecisions(np.unique(_column(whole, by)), _ByPosition(positions, make), known)


def _marked_cuts(batches: list[pa.RecordBatch], known: KnownTexts, by: str) -> SourceDecisions:
    start, end = _column(batches, "start"), _column(batches, "end")
    kept = pa.chunked_array([batch["matched_id"] for batch in batches], pa.large_string())
    bounds, positions = _groups(_column(batches, by))

    def make(row: int) -> Decision:
        part = slice(int(bounds[row]), int(bounds[row + 1]))
        ids = kept.slice(part.start, part.stop - part.start).to_pylist()
        cuts = zip(start[part].tolist(), end[part].tolist(), ids, strict=True)
        return Decision(marks={"ibidem_cuts": [{"start": a, "end": b, "id": name} for a, b, name in cuts]})

    return SourceDecisions(np.empty(0, np.int64), _ByPosition(positions, make), known)


def _marked_members(batches: list[pa.RecordBatch], known: KnownTexts, by: str) -> SourceDecisions:
    document, kept = _column(batches, "document"), _column(batches, "kept_document")
    cluster = _column(batches, "cluster")
    kept_id = pa.chunked_array([batch["kept_id"] for batch in batches], pa.large_string())

    def make(row: int) -> Decision:
        original = None if document[row] == kept[row] else kept_id[row].as_py()
        return Decision(marks={"ibidem_cluster": int(cluster[row]), "ibidem_duplicate_of": original})

    return SourceDecisions(np.empty(0, np.int64), _ByPosition(_column(batches, by), make), known)
