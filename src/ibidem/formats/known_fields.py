"""The fields that inputs have, for messages about one that they do not have."""

from __future__ import annotations

from typing import Any

from ibidem.errors import IbidemError
from ibidem.formats.byte_streams import READ_ERRORS
from ibidem.formats.copy_files import InputFile, format_of_source
from ibidem.formats.inputs import resolve, without_iterators
from ibidem.formats.python_inputs import column_names
from ibidem.formats.records import UnfitTableError, shown_names
from ibidem.formats.registry import FORMATS, load_format
from ibidem.formats.sources import FileSource, Source


def fields_seen(inputs: Any, encoding: str) -> str:
    """Return which fields inputs have, to be added to a message: those of the first input that has any."""
    try:
        sources = resolve(without_iterators(inputs), is_read=True).sources
    except IbidemError:  # what only Spark can read
        return ""
    return fields_of(sources, encoding)


def fields_of(sources: list[Source], encoding: str) -> str:
    """Return the same, given the sources."""
    for source in sources:
        names = field_names(source, encoding)
        if names:
            where = f" of {source.name}" if isinstance(source, FileSource) else ""
            return f"; the fields{where} are {shown_names(names)}"
    return ""


def field_names(source: Source, encoding: str, of_all: bool = False) -> list[str]:
    """Return the names of the fields, as far as the beginning tells; or those of all records."""
    if not isinstance(source, FileSource):
        return column_names(source.records, of_all)
    try:
        kind = format_of_source(source)
        if not FORMATS[kind].has_fields:
            return []
        file = InputFile(source, kind, encoding, lambda n_bytes: None)
        with file:
            return list(load_format(kind).field_names(file, of_all))
    except (*READ_ERRORS, UnfitTableError):
        return []
