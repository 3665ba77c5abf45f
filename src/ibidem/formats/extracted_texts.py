"""Texts taken out of files that are more than text, with what these say about themselves, as documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa

from ibidem.formats import times
from ibidem.formats.byte_streams import UnfoldedError
from ibidem.formats.jobs import Outcome
from ibidem.formats.records import Records, Wanted, check, strings

NO_TEXT = "there is no text in it"


class UnreadableError(Exception):
    """A file is not what its name says, is damaged, or needs a library or a password that is not there."""


def missing_library(what: str, library: str) -> UnreadableError:
    """Return the reason for files that an optional library reads."""
    return UnreadableError(f"reading {what} needs {library}: pip install 'ibidem[office]'")


@dataclass(frozen=True)
class Extracted:
    """A text, and further fields: `title`, `time`, `author` and whatever the format knows."""

    text: str
    fields: Mapping[str, Any] = field(default_factory=dict)


class ExtractedRow(NamedTuple):
    """Where a document is, the id that it has by itself, and its text or the reason why there is none."""

    source: str
    position: int
    doc_id: str | None
    found: Extracted | str


class Budget:
    """How many bytes the parts of a compressed file may have together."""

    def __init__(self, n_bytes: int) -> None:
        self.n_left = n_bytes

    def take(self, n_bytes: int) -> None:
        """Count bytes; raise UnfoldedError if they are too many."""
        self.n_left -= n_bytes
        if self.n_left < 0:
            raise UnfoldedError


def documents_of_extracted(rows: Sequence[ExtractedRow], wanted: Wanted, n_bytes: int = 0) -> Outcome:
    """Return the documents of extracted texts. Settings may name any of their fields as time, group or id."""
    _, id_name, time_name, group_name = wanted.names
    problems = {row: each.found for row, each in enumerate(rows) if isinstance(each.found, str)}
    texts, ids, moments, groups, others = [], [], [], [], []
    for each in rows:
        found = Extracted("") if isinstance(each.found, str) else each.found
        fields = found.fields
        texts.append(found.text or None)
        ids.append(str(fields[id_name]) if fields.get(id_name) else each.doc_id)
        moments.append(fields.get(time_name))
        groups.append(str(fields[group_name]) if fields.get(group_name) else None)
        others.append({name: value for name, value in fields.items() if name not in wanted.names and value})
    for row, text in enumerate(texts):
        if not text or not text.strip():
            problems.setdefault(row, NO_TEXT)
    times_read = times.from_values(moments, wanted.config.date_format)
    known = times_read.is_valid().to_pylist()
    records = Records(
        strings(texts, "text", problems),
        [each.position for each in rows],
        [each.source for each in rows],
        strings(ids, id_name, problems),
        times_read,
        strings([_writable(group) for group in groups], group_name, {}),
        has_own_ids=True,
        cleaned=pa.array([True] * len(rows)),
        problems=problems,
        others=others if wanted.other_fields else None,
        unread_times=[(row, time) for row, time in enumerate(moments) if time and not known[row]],
    )
    return check(records, wanted, n_bytes)


def _writable(value: str | None) -> str | None:
    return None if value is None else value.encode("utf-8", "replace").decode("utf-8")
