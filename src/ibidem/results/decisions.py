"""What happens to the records of input files, from tables that are read one source at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.columns.parted_tables import CHECK_NAMES
from ibidem.columns.text_checks import CheckKey
from ibidem.config.cleaning_settings import CleaningConfig
from ibidem.formats.decisions import Decision, Decisions, KnownTexts, Marks, SourceDecisions
from ibidem.model import COPY_MARKS, CUT_MARKS, DUPLICATE_MARKS, SNIPPET
from ibidem.results.storage import DecidedTable, Table

SNIPPET_CHARS = 120

Numbers = NDArray[np.int64]
# Gets texts as they are read again, by the positions of their records.
See: TypeAlias = Callable[[Numbers, pa.LargeStringArray], None]


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


class SourceRows:
    """The rows of a table about one source at a time. Sources follow one another."""

    def __init__(self, table: DecidedTable) -> None:
        self._table = table

    def of(self, source: str) -> list[tuple[int, int, pa.RecordBatch]]:
        """Return the rows of a source: the number of a batch, the first row, and the rows from there on."""
        return [(n, begin, self._batch(n).slice(begin, n_rows)) for n, begin, n_rows in self._places.get(source, ())]

    @cached_property
    def _places(self) -> dict[str, list[tuple[int, int, int]]]:
        """Where each source has rows: the number of a batch, the first row and how many."""
        found: dict[str, list[tuple[int, int, int]]] = {}
        for number in range(self._table.n_batches):
            sources = self._batch(number)["source"].dictionary_encode()
            names, codes = sources.dictionary.to_pylist(), sources.indices.to_numpy()
            for begin, end in pairwise(np.flatnonzero(np.diff(codes, prepend=-1, append=-1)).tolist()):
                found.setdefault(names[codes[begin]], []).append((number, begin, end - begin))
        return found

    @cached_property
    def _batch(self) -> Callable[[int], pa.RecordBatch]:
        return lru_cache(maxsize=2)(self._table.stored_batch)  # the next source mostly has its rows in the same one


class TableDecisions(Decisions):
    """Decisions from tables in reading order; those about one source at a time are in memory, as columns.

    `removed` has rows of `removed.jsonl`; `members`, where records are marked, all members of clusters. `snippets` sees the
    texts of removed records.
    """

    def __init__(
        self, removed: DecidedTable, members: DecidedTable | None, cleaning: CleaningConfig, key: CheckKey,
        snippets: Snippets | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._key = key
        self._cleaning = cleaning
        self._snippets = snippets
        self._rows = SourceRows(members if is_marking(cleaning) and members is not None else removed)
        self._last: tuple[str, SourceDecisions] | None = None

    def of_source(self, source: str) -> SourceDecisions:
        """Return all decisions about the records of one source."""
        if self._last is None or self._last[0] != source:
            see = None if self._snippets is None else self._snippets.of_source(source)
            self._last = source, decisions_of([rows for *_, rows in self._rows.of(source)], self._cleaning, self._key, see=see)
        return self._last[1]


class Snippets:
    """How removed texts begin, by the rows of `removed.jsonl`: known as soon as all records were read again."""

    def __init__(self, removed: DecidedTable) -> None:
        self._removed = removed
        self._rows = SourceRows(removed)
        self._found: dict[int, list[str | None]] = {}

    def of_source(self, source: str) -> See:
        """Return what sees the texts of one source."""
        places = self._rows.of(source)
        where = [(number, begin + row) for number, begin, rows in places for row in range(rows.num_rows)]
        return snippets_of([rows for *_, rows in places], "position", lambda row, text: self._put(*where[row], text))

    def _put(self, number: int, row: int, text: str) -> None:
        if number not in self._found:
            self._found[number] = [None] * self._removed.stored_batch(number).num_rows
        self._found[number][row] = text

    def stream(self) -> pa.RecordBatchReader:
        """Return the removed rows with their snippets, for one reading."""
        schema = pa.schema([*self._removed.schema, SNIPPET])

        def batches() -> Iterator[pa.RecordBatch]:
            for number, batch in enumerate(self._removed.batches()):
                column = pa.array(self._found.get(number) or [None] * batch.num_rows, SNIPPET.type)
                yield pa.RecordBatch.from_arrays([*batch.columns, column], schema=schema)

        return pa.RecordBatchReader.from_batches(schema, batches())


def snippets_of(batches: Sequence[pa.RecordBatch], by: str, put: Callable[[int, str], None]) -> See:
    """Return what sees texts, and puts the beginning of what is removed of each, for every row of some removed ones."""
    key, start, end = (_column(batches, name) for name in (by, "start", "end"))
    order = np.argsort(key, kind="stable")
    ordered = key[order]

    def see(positions: Numbers, texts: pa.LargeStringArray) -> None:
        low, high = (np.searchsorted(ordered, positions, side=side).tolist() for side in ("left", "right"))
        for place, (first, last) in enumerate(zip(low, high, strict=True)):
            if first < last:
                text = texts[place].as_py()
                for row in order[first:last].tolist():
                    put(row, snippet(text[start[row] : end[row]]))

    return see


def snippet(text: str) -> str:
    """Return the beginning of a text, on one line."""
    line = " ".join(text[: 2 * SNIPPET_CHARS].split())
    return line if len(line) <= SNIPPET_CHARS and len(text) <= 2 * SNIPPET_CHARS else line[: SNIPPET_CHARS - 1].rstrip() + "…"


def is_marking(cleaning: CleaningConfig) -> bool:
    """Return whether records get further columns."""
    return cleaning.mark_only or cleaning.mark_copies


def marks_of(cleaning: CleaningConfig, has_members: bool) -> Marks | None:
    """Return the columns that records get; `has_members`: whole documents were compared."""
    columns = [] if not cleaning.mark_only else [*DUPLICATE_MARKS] if has_members else [*CUT_MARKS]
    columns += [*COPY_MARKS] if cleaning.mark_copies else []
    return Marks(pa.schema(columns), dict.fromkeys(COPY_MARKS.names, 1)) if columns else None


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


def _column(batches: Sequence[pa.RecordBatch], name: str) -> Any:
    if not batches:
        return np.empty(0, np.int64)
    return np.concatenate([batch[name].to_numpy() for batch in batches])  # by itself: numbers of 64 bits keep their kind


def _groups(positions: Numbers) -> tuple[Numbers, Numbers]:
    """Return where the rows of each record begin, and the position of each; rows of a record follow one another."""
    bounds = np.flatnonzero(np.diff(positions, prepend=-1, append=-1))
    return bounds, positions[bounds[:-1]]


def decisions_of(
    batches: list[pa.RecordBatch], cleaning: CleaningConfig, key: CheckKey, by: str = "position", see: See | None = None
) -> SourceDecisions:
    """Return decisions out of rows in reading order: what is removed or, where records are marked, the members of clusters.

    The column `by` says which record a row is about. `see` gets the texts of records that are met again.
    """
    checks = np.stack([_column(batches, name).astype(np.uint64) for name in CHECK_NAMES], axis=1)
    positions = _column(batches, by)
    known = KnownTexts.of(key.of_texts, positions, checks, **({} if see is None else {"see": see}))
    if not is_marking(cleaning):
        return _dropped_and_cut(batches, known, by)
    of_members = bool(batches) and "cluster" in batches[0].schema.names
    return _marked_members(batches, known, by, cleaning) if of_members else _marked_cuts(batches, known, by)


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


def _marked_members(batches: list[pa.RecordBatch], known: KnownTexts, by: str, cleaning: CleaningConfig) -> SourceDecisions:
    positions, document, kept = _column(batches, by), _column(batches, "document"), _column(batches, "kept_document")
    cluster, copies = _column(batches, "cluster"), _column(batches, "copies")
    kept_id = pa.chunked_array([batch["kept_id"] for batch in batches], pa.large_string())
    is_gone = (document != kept) & (not cleaning.mark_only)
    stays = np.flatnonzero(~is_gone)

    def make(place: int) -> Decision:
        row = stays[place]
        original = None if document[row] == kept[row] else kept_id[row].as_py()
        marks = {"ibidem_cluster": int(cluster[row]), "ibidem_duplicate_of": original, "ibidem_copies": int(copies[row])}
        return Decision(marks=marks)

    return SourceDecisions(positions[is_gone], _ByPosition(positions[stays], make), known)
