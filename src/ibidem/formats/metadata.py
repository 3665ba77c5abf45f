"""What is known about documents from elsewhere: a table of times, groups and titles beside them, and their paths."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import Any, NamedTuple

from ibidem.config import DocumentsConfig
from ibidem.config.addresses import file_part, is_remote, shown_address
from ibidem.config.surface import given, named
from ibidem.errors import InputError, SettingsError
from ibidem.formats.byte_streams import BOM, READ_ERRORS, ByteStream
from ibidem.formats.file_encodings import detected_encoding
from ibidem.formats.line_streams import line_blocks
from ibidem.formats.partitions import DATES
from ibidem.formats.remote_files import look_up

NONE, AUTO = "none", "auto"
_KEYS = ("id", "doc_id", "document", "document_id", "file", "filename", "file_name", "path", "name", "source", "url")
_DELIMITERS = ",;\t|"
_MOST_FIELD_CHARS = 1 << 27


class Table(NamedTuple):
    """Rows beside documents: their numbers by key, what each says, and the names of the columns."""

    name: str
    by_key: Mapping[str, int]
    rows: Sequence[Mapping[str, Any]]
    key: str


def table_of(config: DocumentsConfig) -> Table | None:
    """Return the table that settings name, if any; InputError if it cannot be used."""
    if config.metadata == NONE:
        return None
    path = config.metadata
    if is_remote(path):
        found = look_up(path)
        if found is None:
            raise InputError(f"the metadata {shown_address(path)} are a folder, not a file", f"Check {named('metadata')}.")
        return _read(found, config.metadata_key, config.id_field, *found.state)
    try:
        state = os.stat(path)
    except OSError as error:
        message = f"cannot read the metadata {path}: {error.strerror}"
        raise InputError(message, f"Check {named('metadata')}.") from None
    return _read(path, config.metadata_key, config.id_field, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _read(path: str, wanted_key: str, id_field: str, *_state: int | str | None) -> Table:
    """Return a table; it is read again when its file has changed."""
    shown = shown_address(path)
    try:
        rows = list(_rows(path))
    except (*READ_ERRORS, ValueError, csv.Error, RecursionError) as error:
        known = "Give a CSV, TSV, JSON lines or Parquet file."
        raise InputError(f"cannot read the metadata {shown}: {error}", known) from error
    names = list(dict.fromkeys(name for row in rows[:100] for name in row))
    by_name = {name.casefold(): name for name in reversed(names)}
    choices = (id_field, *_KEYS) if wanted_key == AUTO else (wanted_key,)
    key = next((by_name[name.casefold()] for name in choices if name.casefold() in by_name), None)
    if key is None:
        columns = ", ".join(names[:40]) or "none"
        raise InputError(
            f"no column of {shown} says which document a row is about; its columns are {columns}",
            f"Name the column with ids or file names with {given('metadata_key', 'NAME')}.",
        )
    by_key: dict[str, int] = {}
    for number, row in enumerate(rows):
        value = row.get(key)
        if value not in (None, ""):
            by_key.setdefault(_plain(str(value)), number)
    return Table(shown, by_key, rows, key)


def _rows(path: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a table, as its name says."""
    suffixes = [suffix.lower() for suffix in PurePath(file_part(path)).suffixes]
    with ByteStream(path) as stream:
        if ".parquet" in suffixes:
            import pyarrow.parquet as pq

            with stream.open_at_any_place() as file:
                yield from pq.read_table(file).to_pylist()
            return
        if {".jsonl", ".ndjson"} & set(suffixes):
            for block in line_blocks(stream, "utf-8"):
                for line in block.split(b"\n"):
                    record = json.loads(line) if line.strip() else None
                    if isinstance(record, dict):
                        yield record
            return
        data = stream.read().removeprefix(BOM)
        text = data.decode(detected_encoding(data), "replace")  # spreadsheets write it in that of their system
        csv.field_size_limit(_MOST_FIELD_CHARS)
        head = text.partition("\n")[0]
        delimiter = "\t" if ".tsv" in suffixes else max(_DELIMITERS, key=head.count)
        for row in csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter):
            yield {str(name).strip(): value.strip() if isinstance(value, str) else value for name, value in row.items()}


def _plain(key: str) -> str:
    """Return an id or path as it is compared: with slashes, and without `./` before it."""
    plain = key.strip().replace("\\", "/")
    return plain.removeprefix("./")


class Additions:
    """What is added to documents of one reading: from the table, and from their paths. Counts what fits nothing."""

    def __init__(self, config: DocumentsConfig) -> None:
        self._config = config
        self.table = table_of(config)
        self._used: set[int] = set()
        self._patterns = {name: _pattern(f"{name}_from", getattr(config, f"{name}_from")) for name in ("time", "group")}
        if self.table is not None:
            names = {name for row in self.table.rows[:100] for name in row}
            by_name = {name.casefold(): name for name in sorted(names, reverse=True)}
            times = (config.time_field, *(DATES if config.time_field == DocumentsConfig().time_field else ()))
            self._time = next((by_name[name.casefold()] for name in times if name.casefold() in by_name), None)
            self._group = by_name.get(config.group_field.casefold())

    @property
    def is_any(self) -> bool:
        """Whether there is anything to add."""
        return self.table is not None or any(self._patterns.values())

    def row(self, doc_id: str, source: str) -> Mapping[str, Any] | None:
        """Return the row about a document: by its id, or by the path or the name of its file, with or without extension."""
        if self.table is None:
            return None
        for key in _names_of(doc_id, source):
            number = self.table.by_key.get(key)
            if number is not None:
                self._used.add(number)
                return self.table.rows[number]
        return None

    def time(self, row: Mapping[str, Any] | None, source: str) -> Any:
        """Return the time that a row has, or the path of a file; None if neither has one."""
        value = None if row is None or self._time is None else row.get(self._time)
        if isinstance(value, int) and str(self._time).casefold() == "year" and 0 < value < 10_000:
            return f"{value:04}"  # a number is otherwise seconds since 1970
        return value if value not in (None, "") else self._in_path("time", source)

    def group(self, row: Mapping[str, Any] | None, source: str) -> str | None:
        """Return the group that a row has, or the path of a file; None if neither has one."""
        value = None if row is None or self._group is None else row.get(self._group)
        return str(value) if value not in (None, "") else self._in_path("group", source)

    def others(self, row: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return what else a row says."""
        if row is None or self.table is None:
            return {}
        return {name: row[name] for name in row if name not in (self.table.key, self._time, self._group) and row[name] != ""}

    def unused(self) -> list[str]:
        """Return the keys of rows that no document has asked for."""
        if self.table is None:
            return []
        return [key for key, number in self.table.by_key.items() if number not in self._used]

    def _in_path(self, name: str, source: str) -> str | None:
        pattern = self._patterns[name]
        found = None if pattern is None else pattern.search(source.replace("\\", "/"))
        if found is None:
            return None
        return found[name] if name in found.re.groupindex else found[1] if found.re.groups else found[0]


@lru_cache(maxsize=4096)
def _names_of(doc_id: str, source: str) -> tuple[str, ...]:
    """Return the keys that a document may have, the surest first."""
    path, name = PurePath(_plain(source)), PurePath(_plain(doc_id))
    ids = [doc_id.strip(), name.as_posix()]
    # A record with an id of its own is not described by a row about its file.
    if not name.as_posix().startswith(path.as_posix()):
        return tuple(dict.fromkeys(ids))
    ends = [path.as_posix(), *("/".join(path.parts[begin:]) for begin in range(1, len(path.parts)))]
    return tuple(dict.fromkeys([*ids, *ends, path.name.partition(".")[0], path.stem]))


def _pattern(name: str, given_pattern: str) -> re.Pattern[str] | None:
    if given_pattern == NONE:
        return None
    try:
        return re.compile(given_pattern)
    except re.error as error:
        raise SettingsError([f"{named(name)} must be a regular expression, not '{given_pattern}': {error}"]) from None
