"""The caller's inputs, resolved to a list of sources in reading order."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from ibidem.config import DocumentsConfig
from ibidem.config.addresses import id_of_file, is_remote, shown_address
from ibidem.config.surface import named
from ibidem.errors import IbidemError, InputError, UsageError
from ibidem.formats.byte_streams import STDIN
from ibidem.formats.file_access import files_below, is_unknown_kind, remote_files_below
from ibidem.formats.file_names import CurrentFolder
from ibidem.formats.printable_names import printable, printable_path
from ibidem.formats.python_inputs import Taken, missing_path, settle, with_prefix
from ibidem.formats.registry import FORMATS, format_of
from ibidem.formats.remote_files import RemotePath, files_matching, has_magic, look_up
from ibidem.formats.sources import FileSource, ObjectSource, Source, describe_source
from ibidem.model import Document, Skipped

# What addresses meant when they were looked up last: a run describes what it has read, and not what is there when it ends.
_last_seen: dict[str, Resolved] = {}
_DATABASES = tuple(extension for kind in FORMATS.values() if kind.is_database for extension in kind.extensions)
REPEATED = "given more than once; it was read once"
_MOST_NAMED = 3


@dataclass
class Resolved:
    """Resolved inputs: sources in reading order, and what is left out of them, with the reason."""

    sources: list[Source] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    here: CurrentFolder = field(default_factory=CurrentFolder)

    def add_file(self, path: str) -> None:
        """Add a file that was named by its path or by a pattern."""
        self.sources.append(_file_source(self.here.known_as(path)))

    def add_folder(self, path: str, alone: bool) -> None:
        """Add the files below a folder; `alone` if there is no other input, so that copies can keep their paths in it."""
        found = files_below(path, lambda name: format_of(name) is not None)
        folder = self.here.known_as(path)
        for relative in found.names:
            self.sources.append(_file_source(os.path.join(folder, relative), relative if alone else None))
        left_out = ((os.path.join(folder, os.path.relpath(left.path, path)), left.reason) for left in found.left_out)
        self.skipped.extend(Skipped(printable(name), 0, reason) for name, reason in left_out)

    def add_remote(self, address: str, alone: bool) -> None:
        """Add the file or the files that an address means."""
        if has_magic(address):
            paths = files_matching(address)
            if not paths:
                raise InputError(f"no file matches {shown_address(address)}", "Check the spelling.")
            self.sources += [_file_source(path) for path in paths]
        elif (path := look_up(address)) is not None:
            self.sources.append(_file_source(path))
        else:
            found, paths_below = remote_files_below(address, lambda name: format_of(name) is not None)
            self.sources += [_file_source(paths_below[name], name if alone else None) for name in found.names]
            self.skipped += [
                Skipped(printable(shown_address(paths_below[left.path])), 0, left.reason) for left in found.left_out
            ]

    def without_repeated(self) -> Resolved:
        """Return the same with every file once, however often its path was given."""
        seen: set[str] = set()
        sources: list[Source] = []
        skipped = list(self.skipped)
        for source in self.sources:
            place = _place(source.path) if isinstance(source, FileSource) and source.path != STDIN else None
            if place is not None and place in seen:
                skipped.append(Skipped(source.name, 0, REPEATED))
                continue
            if place is not None:
                seen.add(place)
            sources.append(source)
        return Resolved(sources, skipped, self.here)

    def without_file(self, path: str) -> Resolved:
        """Return the same without a file that is no input, though it may be in a folder of them."""
        left = [source for source in self.sources if not isinstance(source, FileSource) or _place(source.path) != _place(path)]
        return Resolved(left, self.skipped, self.here)


def resolve_inputs(inputs: Any) -> list[Source]:
    """Return the sources that inputs mean; a path or pattern without any file is an InputError."""
    return resolve(inputs).sources


def resolve(inputs: Any, is_read: bool = False) -> Resolved:
    """Return the sources that inputs mean, and what is left out of folders.

    With `is_read`, they existed before: files removed since are not an error.
    """
    given = settle(inputs)
    alone = len(given) == 1
    resolved = Resolved()
    n_objects = 0
    for item in given:
        if isinstance(item, FileSource):
            resolved.sources.append(item)
        elif not _is_path(item):
            n_objects += 1
            name = "records" if n_objects == 1 else f"records{n_objects}"
            (item,) = [item] if n_objects == 1 else with_prefix([item], f"{name}:")
            resolved.sources.append(ObjectSource(name, item.records if isinstance(item, Taken) else item))
        elif is_remote(os.fspath(item)):
            _add_remote(resolved, str(os.fspath(item)), alone, is_read)
        elif os.path.isdir(item) and os.fspath(item) != STDIN:
            resolved.add_folder(str(os.fspath(item)), alone)
        else:
            for path in _files_named(str(os.fspath(item)), is_read):
                resolved.add_file(path)
    return resolved


def _place(path: str) -> str:
    """Return a path or address as it can be compared."""
    return str(path) if is_remote(path) or path == STDIN else os.path.abspath(path)


def _add_remote(resolved: Resolved, address: str, alone: bool, is_read: bool) -> None:
    """Add what an address means; if it was read before, what it meant then."""
    seen = _last_seen.get(address)
    if seen is None or not is_read:
        seen = Resolved()
        try:
            seen.add_remote(address, alone)
        except IbidemError:
            if not is_read:
                raise
            seen.sources = [_file_source(RemotePath(address, None, None))]
        _last_seen[address] = seen
    taken = {source.name for source in resolved.sources if isinstance(source, FileSource)}
    for source in seen.sources:
        assert isinstance(source, FileSource)
        resolved.sources.append(_distinct(source, taken))
        taken.add(resolved.sources[-1].name)
    resolved.skipped += seen.skipped


def _distinct(source: FileSource, taken: Collection[str]) -> FileSource:
    """Return a source under a name of its own: two addresses may be shown alike, as what may be secret is not shown."""
    numbers = (f"{source.name} ({number})" for number in count(2))
    name = source.name if source.name not in taken else next(each for each in numbers if each not in taken)
    return source if name == source.name else replace(source, name=name, doc_id=id_of_file(name))


def check_query(inputs: Any, config: DocumentsConfig) -> None:
    """Raise if there is a query and no input can be a database: it would choose nothing."""
    if config.query == DocumentsConfig().query:
        return
    files = [source for source in resolve(without_iterators(inputs)).sources if isinstance(source, FileSource)]
    formats = {source.format for source in files if source.path != STDIN}
    if not any(name is None or FORMATS[name].is_database for name in formats):
        message = f"{named('query')} chooses rows of a database, and no input is one"
        raise UsageError(message, f"Leave it out, or name a file that ends in {', '.join(_DATABASES)}.")


def files_of_unknown_kind(inputs: Any) -> list[Skipped]:
    """Return the files in folders that are left out because their extensions belong to no format."""
    return [record for record in resolve(without_iterators(inputs), is_read=True).skipped if is_unknown_kind(record.reason)]


def given_names(inputs: Any) -> str:
    """Return the paths among inputs as they were given, to be shown to people; the first ones if they are many."""
    given = settle(without_iterators(inputs), on_spark=True)
    paths = [printable(shown_address(os.fspath(item))) for item in given if _is_path(item)]
    more = f" and {len(paths) - _MOST_NAMED:,} more" if len(paths) > _MOST_NAMED else ""
    return ", ".join(paths[:_MOST_NAMED]) + more


def source_names(inputs: Any) -> set[str]:
    """Return the names of all files that inputs mean, also of those that are left out."""
    resolved = resolve(without_iterators(inputs), is_read=True)
    return {source.name for source in resolved.sources} | {record.source for record in resolved.skipped}


def input_size(inputs: Any) -> int | None:
    """Return the bytes of all input files together, or None if that cannot be known in advance."""
    total = 0
    for source in resolve_inputs(without_iterators(inputs)):
        size = source.n_bytes if isinstance(source, FileSource) else None
        if size is None:
            return None
        total += size
    return total


def describe_inputs(inputs: Any, is_reference: bool = False) -> list[dict[str, Any]]:
    """Return what `run.json` records about the inputs: path, bytes and modification time of each file, and its side."""
    side = {"reference": True} if is_reference else {}
    return [describe_source(source) | side for source in resolve(without_iterators(inputs), is_read=True).sources]


def _is_path(item: Any) -> bool:
    return isinstance(item, (str, os.PathLike))


def without_iterators(inputs: Any) -> Any:
    """Return inputs with a placeholder for what can be read only once and must not be touched before."""
    if isinstance(inputs, (list, tuple)) and not all(isinstance(item, (str, Mapping, Document)) for item in inputs):
        return [without_iterators(item) for item in inputs]
    return {} if isinstance(inputs, Iterator) else inputs


def _files_named(path: str, is_read: bool) -> list[str]:
    """Return the files that a path or pattern means."""
    if path == STDIN or os.path.lexists(path):
        return [path]
    # A path without wildcards matches itself only, and it is not there.
    hits = sorted(hit for hit in glob.glob(path, recursive=True) if not os.path.isdir(hit))
    if not hits and is_read:
        return [path]
    if not hits:
        raise missing_path(path, printable(path))
    return hits


def _file_source(path: str, below: str | None = None) -> FileSource:
    name = printable_path(shown_address(path))
    kind = None if path == STDIN else format_of(path)
    shown_below = None if below is None else printable_path(below)
    stored = None if name == path and not isinstance(path, RemotePath) else path
    return FileSource(name, id_of_file(name), kind, stored, shown_below)
