"""The changes of one file: decisions on the one side, records as they stand in the file on the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ibidem.config import DocumentsConfig
from ibidem.errors import InputError
from ibidem.formats.decisions import Decision, SourceDecisions
from ibidem.formats.json_fields import add_fields, cut_field, names_of
from ibidem.formats.known_texts import MetRecords
from ibidem.formats.mark_columns import Marks
from ibidem.formats.records import Wanted

# As the reader parses, but numbers are only passed over: Python refuses very long ones.
_PARSER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)


def changed(what_happened: str) -> InputError:
    """Return the error for inputs that are not what was decided about."""
    return InputError(what_happened, "Leave the inputs alone while dedup runs, and run it again.")


def changed_input(source: str, position: int | None = None) -> InputError:
    """Return the error for a file, or a record of it, that is not what was decided about."""
    return changed(f"{source} changed after it was read{f' (record {position})' if position else ''}")


def _ignore(text: str) -> None:
    """Leave a text alone."""


class Edits:
    """What happens to the records of one source. With `marks` nothing is taken out, every record gets more fields.

    Whoever changes a record says what it is (`meet`): a record that is not what was decided about is an InputError.
    """

    def __init__(
        self, source: str, config: DocumentsConfig, decisions: SourceDecisions, marks: Marks | None, is_utf8: bool
    ) -> None:
        self.source = source
        self.text_field = config.text_field
        self.decisions = decisions
        self.marks = marks
        self.wanted = Wanted(config)
        self._is_utf8 = is_utf8
        self._n_met = 0
        self._met = None if decisions.known is None else MetRecords(decisions.known, source, self.wanted)

    def meet(self, position: int, text: Any) -> None:
        """Take the value of the text field of a record that was decided about."""
        if self._met is not None:
            self._met.add(position, text)
            self._check_met()

    def meet_line(self, position: int, line: bytes) -> None:
        """Take a record that was decided about, as a JSON line."""
        if self._met is not None:
            self._met.add_line(position, line)
            self._check_met()

    def meet_documents(self, batches: Iterable[Any]) -> None:
        """Take documents as a reader hands them out; those that nothing was decided about are passed over."""
        for batch in batches:
            if self._met is None:
                return
            self._met.add_documents(batch)
            self._check_met()

    def check_all_met(self) -> None:
        """Raise InputError unless all records that were decided about have come, and are what they were."""
        if self._met is not None:
            self._met.finish()
            self._check_met()

    def _check_met(self) -> None:
        if self._met is not None and self._met.unlike is not None:
            raise self.changed(self._met.unlike)

    def past_last(self, position: int) -> bool:
        """Say whether all records from a position on stay as they are."""
        return self.marks is None and position > self.decisions.last

    def between(self, first: int, end: int) -> list[tuple[int, Decision]]:
        """Return the decisions about positions from `first` up to before `end`; each may be asked for once."""
        found = self.decisions.between(first, end)
        self._n_met += len(found)
        return found

    def at(self, position: int) -> Decision | None:
        """Return the decision about a position; it may be asked for once."""
        decision = self.decisions.at(position)
        self._n_met += decision is not None
        return decision

    def finish(self) -> None:
        """Raise InputError if records that were decided about did not come, or are not what they were."""
        self.check_all_met()
        if self._n_met != len(self.decisions):
            raise self.changed()

    def changed(self, position: int | None = None) -> InputError:
        """Return the error for a file whose records are not those that were decided about."""
        return changed_input(self.source, position)

    def remaining(self, text: str, decision: Decision) -> str:
        """Return what stays of a text."""
        try:
            return decision.remaining(text)
        except ValueError as error:
            raise self.changed() from error

    def cut_met_object(self, position: int, source: str, decision: Decision) -> str:
        """Do as `cut_object` does, and take the text for that of the record: it is read already."""
        on_text = partial(self._met.add_text, position) if self._met is not None else _ignore
        cut = self.cut_object(source, decision, on_text)
        self._check_met()
        return cut

    def cut_object(self, source: str, decision: Decision, on_text: Callable[[str], None] = _ignore) -> str:
        """Return a JSON object, given as its source text, with what stays of its text."""
        try:
            return cut_field(source, self.text_field, decision.cuts, on_text)
        except ValueError as error:
            raise self.changed() from error

    def mark_value(self, source: str, decision: Decision | None) -> str:
        """Return a JSON value with the marks if it is an object; anything else stays as it is."""
        assert self.marks is not None
        try:
            value = _PARSER.decode(source)
        except (ValueError, RecursionError):
            # Arrow's parser reads what is nested too deeply for Python's; anything else is broken.
            value = None if decision is None else dict.fromkeys(names_of(source))
        if not isinstance(value, dict):
            return source
        self.marks.check(value, self.source)
        return add_fields(source, self.marks.as_json(decision, not self._is_utf8 or source.isascii()))
