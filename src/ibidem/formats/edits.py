"""The changes of one file: decisions on one side, its records as they are read again on the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.config import DocumentsConfig
from ibidem.errors import InputError
from ibidem.formats.decisions import Decision, KnownTexts, Marks, Positions, SourceDecisions
from ibidem.formats.jobs import Outcome
from ibidem.formats.python_records import documents_of
from ibidem.formats.records import Wanted

# Reads records of one source again, as they were given to `meet`: the positions of documents are places in that list.
Reading = Callable[[list[Any], str, Wanted], Outcome]
_MOST_WAITING = 1 << 20  # characters, or bytes


def changed(what_happened: str) -> InputError:
    """Return the error for inputs that changed after the decision."""
    return InputError(what_happened, "Run it again, and do not change the inputs meanwhile.")


def changed_input(source: str, position: int | None = None) -> InputError:
    """Return the error for a file, or one of its records, that changed after the decision."""
    return changed(f"{source} changed after it was read{f' (record {position})' if position else ''}")


def values_again(values: list[Any], source: str, wanted: Wanted) -> Outcome:
    """Return the documents of records, given the value of the text field of each."""
    return documents_of([{wanted.config.text_field: value} for value in values], list(range(len(values))), [], source, wanted)


class Edits:
    """What happens to the records of one source. With `marks`, every record that stays gets more fields, and none is cut.

    Callers that change a record pass it to `meet`: a record that changed after the decision raises InputError.
    """

    def __init__(
        self, source: str, config: DocumentsConfig, decisions: SourceDecisions, marks: Marks | None, is_utf8: bool
    ) -> None:
        self.source = source
        self.text_field = config.text_field
        self.decisions = decisions
        self.marks = marks
        self.is_utf8 = is_utf8
        self.wanted = Wanted(config)
        self._n_asked = 0
        self._met = None if decisions.known is None else _MetRecords(decisions.known, source, self.wanted)

    def meet(self, position: int, record: Any, reading: Reading = values_again) -> None:
        """Take a record that was decided about: the value of its text field, or what `reading` makes documents of."""
        if self._met is not None:
            self._met.add(position, record, reading)
            self._check_met()

    def meet_text(self, position: int, text: str) -> None:
        """Take the text of a record that was decided about, as a reader would hand it out."""
        if self._met is not None:
            self._met.add(position, text, None)
            self._check_met()

    def meet_documents(self, batches: Iterable[Any]) -> None:
        """Take documents as a reader hands them out; those that nothing was decided about are skipped."""
        for batch in batches:
            if self._met is None:
                return
            self._met.add_documents(batch)
            self._check_met()

    def check_all_met(self) -> None:
        """Raise InputError unless all decided records were read again and are unchanged."""
        if self._met is not None:
            self._met.finish()
            self._check_met()

    def _check_met(self) -> None:
        if self._met is not None and self._met.unlike is not None:
            raise self.changed(self._met.unlike)

    def past_last(self, position: int) -> bool:
        """Return whether all records from a position on are unchanged."""
        return self.marks is None and position > self.decisions.last

    def between(self, first: int, end: int) -> list[tuple[int, Decision]]:
        """Return the decisions about positions from `first` up to before `end`; each may be asked for once."""
        found = self.decisions.between(first, end)
        self._n_asked += len(found)
        return found

    def at(self, position: int) -> Decision | None:
        """Return the decision about a position; it may be asked for once."""
        decision = self.decisions.at(position)
        self._n_asked += decision is not None
        return decision

    def finish(self) -> None:
        """Raise InputError if records that were decided about did not come, or are not what they were."""
        self.check_all_met()
        if self._n_asked != len(self.decisions):
            raise self.changed()

    def changed(self, position: int | None = None) -> InputError:
        """Return the error for a file whose records are not those that were decided about."""
        return changed_input(self.source, position)

    def remaining(self, text: str, decision: Decision) -> str:
        """Return the rest of a text."""
        try:
            return decision.remaining(text)
        except ValueError as error:
            raise self.changed() from error


class _MetRecords:
    """Records of one source that come again, read in the way of the readers; `unlike` says which one is not what it was.

    Only records that were decided about may be given, each once. They are compared a few at a time.
    """

    def __init__(self, known: KnownTexts, source: str, wanted: Wanted) -> None:
        self.unlike: int | None = None
        self._known = known
        self._source = source
        self._wanted = wanted
        self._waiting: dict[Reading | None, tuple[list[int], list[Any]]] = {}
        self._size = 0
        self._n_met = 0

    def add(self, position: int, record: Any, reading: Reading | None) -> None:
        """Take a record as `reading` expects it, or its text if that is None."""
        positions, records = self._waiting.setdefault(reading, ([], []))
        positions.append(position)
        records.append(record)
        self._size += len(record) if isinstance(record, (str, bytes)) else 1
        if self._size > _MOST_WAITING:
            self._compare_waiting()

    def add_documents(self, batch: pa.RecordBatch) -> None:
        """Take documents as a reader hands them out, among them others, which are skipped."""
        rows = np.flatnonzero(np.isin(batch.column("position").to_numpy(), self._known.positions))
        met = batch.take(pa.array(rows))
        self._compare(met.column("position").to_numpy(), met.column("text"))

    def finish(self) -> None:
        """Compare what is left; then all records have come that were decided about."""
        self._compare_waiting()
        if self.unlike is None and self._n_met != len(self._known.positions):
            self.unlike = 0  # it is not known which one

    def _compare_waiting(self) -> None:
        for reading, (positions, records) in self._waiting.items():
            places = np.array(positions, np.int64)
            if reading is None:
                self._compare(places, records)
            else:
                for batch in reading(records, self._source, self._wanted).batches:
                    self._compare(places[batch.column("position").to_numpy()], batch.column("text"))
        self._waiting.clear()
        self._size = 0

    def _compare(self, positions: Positions, texts: pa.LargeStringArray | list[str]) -> None:
        self._n_met += len(positions)
        if self.unlike is None:
            try:
                column = pa.array(texts, pa.large_string())
                self.unlike = self._known.first_unlike(positions, column)
                self._known.see(positions, column)
            except UnicodeError:  # no document has such a text
                self.unlike = int(positions[0])
