"""The changes of one file: decisions on the one side, records as they stand in the file on the other."""

from __future__ import annotations

import json

from ibidem.cleaning.decisions import Decision, SourceDecisions
from ibidem.cleaning.json_fields import add_fields, cut_field, names_of
from ibidem.cleaning.marks import Marks
from ibidem.errors import InputError

# As the reader parses, but numbers are only passed over: Python refuses very long ones.
_PARSER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)


class Edits:
    """What happens to the records of one source. With `marks` nothing is taken out, every record gets more fields."""

    def __init__(self, source: str, text_field: str, decisions: SourceDecisions, marks: Marks | None, is_utf8: bool) -> None:
        self.source = source
        self.text_field = text_field
        self.decisions = decisions
        self.marks = marks
        self._is_utf8 = is_utf8
        self._n_met = 0

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
        """Raise InputError if records that were decided about did not come."""
        if self._n_met != len(self.decisions):
            raise self.changed()

    def changed(self) -> InputError:
        """Return the error for a file whose records are not those that were decided about."""
        return InputError(f"{self.source} is not what it was when it was read", "Leave the files alone and run again.")

    def remaining(self, text: str, decision: Decision) -> str:
        """Return what stays of a text."""
        try:
            return decision.remaining(text)
        except ValueError as error:
            raise self.changed() from error

    def cut_object(self, source: str, decision: Decision) -> str:
        """Return a JSON object, given as its source text, with what stays of its text."""
        try:
            return cut_field(source, self.text_field, decision.cuts)
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
