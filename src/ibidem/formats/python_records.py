"""Records as Python objects, from files and from the caller: which field means what, and which values are valid."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np

from ibidem.formats import times
from ibidem.formats.arrow_records import arrow_batches, arrow_jobs
from ibidem.formats.byte_streams import READ_ERRORS
from ibidem.formats.field_paths import with_paths
from ibidem.formats.jobs import Job, Outcome, weighed
from ibidem.formats.python_inputs import Texts
from ibidem.formats.records import Records, Wanted, check, missing_text, strings, surrogate_in
from ibidem.formats.sources import ObjectSource, has_arrow
from ibidem.model import Document, Skipped

MAX_JOB_CHARS = 4 << 20
# The size of a record besides its text, so that many tiny ones also make a job.
_RECORD_CHARS = 1000


def read_object(source: ObjectSource, wanted: Wanted) -> Iterator[Job]:
    """Yield jobs for all records of a Python object; their position is their number, from 1."""
    if has_arrow(source.records):
        position = 1
        for batch in arrow_batches(source.records):
            yield from arrow_jobs(batch, position, source.name, wanted)
            position += batch.num_rows
        return
    text_name, id_name, *_ = wanted.names
    records = source.records.records(text_name, id_name) if isinstance(source.records, Texts) else source.records
    items = enumerate(records, 1)
    found = ((_as_mapping(item, wanted) if isinstance(item, Document) else item, position, None) for position, item in items)
    yield from record_jobs(found, source.name, wanted, lambda: 0)


def _as_mapping(document: Document, wanted: Wanted) -> dict[str, Any]:
    text_name, id_name, time_name, group_name = wanted.names
    named = {group_name: document.group, time_name: document.time, id_name: document.id, text_name: document.text}
    # A user's field used as the group is not hidden by an empty group.
    return {**document.fields, **{name: value for name, value in named.items() if value is not None}}


class Unusable(str):
    """The reason why there is no record at a position."""


def record_jobs(
    found: Iterable[tuple[Any, int, int | None]], source: str, wanted: Wanted, take_count: Callable[[], int]
) -> Iterator[Job]:
    """Yield a job for each handful of records. What came before damage is handed out before the damage is raised.

    Each comes with its position, and with the characters that it was written in if they are known. What is no mapping is
    skipped, for its own reason if it is `Unusable`. `take_count` returns how many bytes were read since the last call.
    """
    collector = RecordCollector(source, wanted)
    try:
        for value, position, n_chars in found:
            collector.add(value, position, n_chars)
            if collector.n_chars >= MAX_JOB_CHARS:
                yield collector.job(take_count())
                collector = RecordCollector(source, wanted)
    except READ_ERRORS:
        yield collector.job(take_count())
        raise
    yield collector.job(take_count())


class RecordCollector:
    """Gathers Python objects until they are worth a job."""

    def __init__(self, source: str, wanted: Wanted) -> None:
        self.n_chars = 0
        self._source = source
        self._wanted = wanted
        self._found: list[Mapping[str, Any]] = []
        self._positions: list[int] = []
        self._skipped: list[Skipped] = []

    def add(self, value: Any, position: int, n_chars: int | None = None) -> None:
        """Take one object, which was written in `n_chars` if that is known; what is no mapping is skipped."""
        if isinstance(value, Mapping):
            value = with_paths(value, self._wanted.names) if self._wanted.has_paths else value
            self._found.append(self._wanted.only_wanted(value))
            self._positions.append(position)
            if n_chars is None or not self._wanted.other_fields:
                text = value.get(self._wanted.config.text_field)
                n_chars = len(text) if isinstance(text, str) else 0
            self.n_chars += _RECORD_CHARS + n_chars
        else:
            reason = str(value) if isinstance(value, Unusable) else f"not a record but {kind_of(value)}"
            self._skipped.append(Skipped(self._source, position, reason))

    def job(self, n_bytes: int) -> Job:
        """Return the job that makes documents of what was gathered."""
        job = functools.partial(documents_of, self._found, self._positions, self._skipped, self._source, self._wanted, n_bytes)
        return weighed(job, self.n_chars)


def documents_of(
    found: list[Mapping[str, Any]],
    positions: list[int],
    skipped: list[Skipped],
    source: str,
    wanted: Wanted,
    n_bytes: int = 0,
    invalid_bytes: Mapping[int, int] | None = None,
) -> Outcome:
    """Make documents from Python objects.

    `skipped` is what was left out before; `invalid_bytes` says of some rows where their line is no UTF-8.
    """
    if wanted.has_paths:
        found = [with_paths(record, wanted.names) for record in found]
    records = _records_of(found, positions, source, wanted)
    for row, byte in (invalid_bytes or {}).items():
        if row in records.problems:
            records.problems[row] = f"invalid UTF-8 at byte {byte} of the line"
    for row, record in enumerate(found):
        if record.get(wanted.config.text_field) is None:
            records.problems.setdefault(row, missing_text(wanted, record))
    outcome = check(records, wanted, n_bytes)
    outcome.skipped = sorted(outcome.skipped + skipped, key=lambda record: record.position)
    return outcome


def _records_of(found: list[Mapping[str, Any]], positions: list[int], source: str, wanted: Wanted) -> Records:
    """Return Python objects with the meaning that settings give their fields as records."""
    text_name, id_name, time_name, group_name = wanted.names
    problems: dict[int, str] = {}
    texts: list[str | None] = []
    doc_ids: list[str | None] = []
    groups: list[str | None] = []
    for row, record in enumerate(found):
        text, doc_id, group = record.get(text_name), record.get(id_name), record.get(group_name)
        if text is not None and not isinstance(text, str):
            problems[row] = f"field '{text_name}' contains {kind_of(text)}, not text"
        if doc_id is not None and not _is_name(doc_id):
            problems.setdefault(row, f"field '{id_name}' contains {kind_of(doc_id)}, neither text nor a number")
        texts.append(text if isinstance(text, str) else None)
        doc_ids.append(str(doc_id) if _is_name(doc_id) else None)
        groups.append(str(group) if _is_name(group) and surrogate_in(str(group)) is None else None)
    given = [record.get(time_name) for record in found]
    moments = times.from_values(given, wanted.config.date_format)
    unread = []
    if moments.null_count:
        known = moments.is_valid().to_pylist()
        unread = [(row, time) for row, time in enumerate(given) if time not in (None, "") and not known[row]]
    return Records(
        strings(texts, text_name, problems),
        positions,
        source,
        strings(doc_ids, id_name, problems),
        moments,
        strings(groups, group_name, {}),
        unread_times=unread,
        html=wanted.config.html,
        problems=problems,
        others=[wanted.others(record) for record in found] if wanted.other_fields else None,
    )


def whole_number(digits: str) -> int | str:
    """Return the number that JSON's digits mean; Python refuses to read very long ones, which stay text."""
    try:
        return int(digits)
    except ValueError:
        return digits


def kind_of(value: Any) -> str:
    """Return what a value is, in words of JSON."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, Real) else f"a {type(value).__name__}")


def _is_name(value: Any) -> bool:
    return isinstance(value, (str, Real)) and not isinstance(value, (bool, np.bool_))
