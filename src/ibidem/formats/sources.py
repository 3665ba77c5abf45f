"""Sources: the files and Python objects with documents, what `run.json` records about them, and whether they changed."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import PurePath
from typing import Any

from ibidem.config.addresses import HIDDEN, file_part, id_of_file, is_remote
from ibidem.errors import IbidemError
from ibidem.formats.byte_streams import STDIN
from ibidem.formats.file_access import last_change_ns
from ibidem.formats.registry import format_of
from ibidem.formats.remote_access import place_elsewhere
from ibidem.formats.remote_files import RemotePath, look_up

# Device, inode, bytes, nanoseconds of the last change; elsewhere, size and version. None: not there.
FileState = tuple[int, int, int, int] | tuple[int | None, str | None] | None
_ARROW_METHODS = ("__arrow_c_stream__", "__arrow_c_array__", "with_format")


@dataclass(frozen=True)
class FileSource:
    """A file, or stdin. `name` is its path as seen from the current folder, however it was given; `doc_id` is the id if the
    file is one document as a whole: the same path, with `/` on all systems.

    Both are printable. `stored` is where it is read from, if that is not its name: a stream was put there, to be read more
    than once, or the path cannot be printed as it is. `below` is its path in the folder that was the only input.
    """

    name: str
    doc_id: str
    format: str | None
    stored: str | None = None
    below: str | None = None

    @property
    def path(self) -> str:
        """Where it is read from."""
        return self.stored or self.name

    @property
    def n_bytes(self) -> int | None:
        """Size of the file, or None for a stream."""
        if isinstance(self.path, RemotePath):
            return self.path.n_bytes
        try:
            state = os.stat(self.path) if self.path != STDIN else None
        except OSError:
            return None
        return state.st_size if state is not None and stat.S_ISREG(state.st_mode) else None


@dataclass(frozen=True)
class ObjectSource:
    """A Python object that contains records: an Arrow stream, a data frame, or an iterable of dicts and documents."""

    name: str
    records: Any


Source = FileSource | ObjectSource


def has_arrow(item: Any) -> bool:
    """Return whether an object hands out Arrow data, by itself or after `with_format("arrow")`."""
    is_frame = hasattr(item, "columns") and hasattr(item, "itertuples")
    return is_frame or any(hasattr(item, name) for name in _ARROW_METHODS)


def describe_source(source: Source) -> dict[str, Any]:
    """Return what `run.json` records about a source: path, bytes and modification time, or version, of a file.

    The id of a file that is one document as a whole is added where it is not its path.
    """
    if isinstance(source, ObjectSource):
        return {"kind": "python object"}
    if isinstance(source.path, RemotePath):
        return _describe_remote(source, source.path)
    if source.name == STDIN or (size := source.n_bytes) is None:
        return {"kind": "stream", "path": source.name}
    description = {"path": source.name, "bytes": size, "modified": _time_of_change(source.path)}
    return description if source.doc_id == id_of_file(source.name) else description | {"id": source.doc_id}


def _describe_remote(source: FileSource, path: RemotePath) -> dict[str, Any]:
    if path.state == (None, None):  # nothing would tell that it has changed
        return {"kind": "stream", "path": source.name}
    return {"path": source.name, "bytes": path.n_bytes, "version": path.version}


def is_changed(path: str, description: Mapping[str, Any]) -> bool:
    """Return whether a file that is there differs from its description in `run.json`."""
    if "version" in description:
        found = _found_again(str(description["path"]))
        return found is not None and found.state != (description.get("bytes"), description["version"])
    described = description.get("bytes"), description.get("modified")
    return os.path.isfile(path) and (os.path.getsize(path), _time_of_change(path)) != described


def sources_described(
    descriptions: Iterable[Mapping[str, Any]], folder: str, others: Sequence[str] = ()
) -> tuple[list[FileSource], list[str]]:
    """Return the files that `run.json` describes, as they were read from that folder, and the names of those not there.

    If everything was moved together, a file is found in one of the `others`, by its path and its size; in several of them,
    by the time of its change as well, or not at all.
    """
    sources, missing = [], []
    for description in descriptions:
        name = str(description.get("path", ""))
        place = None if description.get("kind") else _place_of(description, folder, others)
        if place is None:
            missing.append(name or str(description.get("kind", "an input")))
        else:
            sources.append(FileSource(name, _described_id(description), format_of(name), place))
    return sources, missing


def _found_again(name: str) -> RemotePath | None:
    """Return a file elsewhere by its name; None if it is not there, or if the name does not show all of the address."""
    try:
        return None if HIDDEN in name else look_up(name)
    except IbidemError:
        return None


def _place_of(description: Mapping[str, Any], folder: str, others: Sequence[str]) -> str | None:
    name = str(description.get("path", ""))
    if is_remote(name):
        return _found_again(name)
    if os.path.isfile(path := os.path.join(folder, name)):
        return path
    moved = dict.fromkeys(os.path.join(other, name) for other in others if not os.path.isabs(name))
    alike = [path for path in moved if os.path.isfile(path) and os.path.getsize(path) == description.get("bytes")]
    if len(alike) > 1:
        alike = [path for path in alike if _time_of_change(path) == description.get("modified")]
    return alike[0] if len(alike) == 1 else None


def _described_id(description: Mapping[str, Any]) -> str:
    return str(description.get("id", id_of_file(str(description["path"]))))


def under_described_names(sources: Iterable[Source], descriptions: Iterable[Mapping[str, Any]]) -> list[Source]:
    """Return sources under the names and ids that `run.json` has for them, wherever they are now.

    A file is taken for the one with whose path its own path ends alike the longest, if there is one such file and no more.
    What is left is matched by name and size, then by the time of the last change as well; a single file may have another
    name. What could be one of several is returned as it is, like all others: a text must not appear under the id of another.
    """
    named = list(sources)
    known = [description for description in descriptions if description.get("path")]
    by_end: dict[tuple[str, ...], list[int]] = {}
    for row, description in enumerate(known):
        for end in _ends_of(str(description["path"])):
            by_end.setdefault(end, []).append(row)
    files = {number: source for number, source in enumerate(named) if isinstance(source, FileSource)}
    claims: dict[int, dict[int, list[int]]] = {}  # per description: the sources that end alike, by how long
    for number, source in files.items():
        end = next((end for end in _ends_of(os.path.abspath(source.path)) if end in by_end), ())
        if end and len(rows := by_end[end]) == 1:
            claims.setdefault(rows[0], {}).setdefault(len(end), []).append(number)
    longest = {row: by_length[max(by_length)] for row, by_length in claims.items()}
    matched = {row: numbers[0] for row, numbers in longest.items() if len(numbers) == 1}
    for depth in (2, 3):
        taken = set(matched.values())
        described = _alone({row: _traits(entry)[:depth] for row, entry in enumerate(known) if row not in matched})
        found = _alone({number: _traits_of_file(file)[:depth] for number, file in files.items() if number not in taken})
        matched.update((row, found[traits]) for traits, row in described.items() if traits in found)
    if not matched and len(named) == len(known) == len(files) == 1 and files[0].n_bytes == known[0].get("bytes"):
        matched[0] = 0
    for row, number in matched.items():
        source = files[number]
        named[number] = FileSource(str(known[row]["path"]), _described_id(known[row]), source.format, source.path)
    return named


def _traits(description: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what a file is known by, wherever it is: its name, its size, the time of its last change."""
    return PurePath(file_part(str(description["path"]))).name, description.get("bytes"), description.get("modified")


def _traits_of_file(file: FileSource) -> tuple[Any, ...]:
    return PurePath(file_part(file.path)).name, file.n_bytes, _time_of_change(file.path)


def _alone(traits: Mapping[int, tuple[Any, ...]]) -> dict[tuple[Any, ...], int]:
    """Return whose traits are those of no other, by traits."""
    counts = Counter(traits.values())
    return {each: key for key, each in traits.items() if counts[each] == 1 and each[1] is not None}


def _ends_of(path: str) -> Iterator[tuple[str, ...]]:
    """Yield what a path ends with, the whole of it first, its last part last."""
    parts = PurePath(path).parts
    return (parts[begin:] for begin in range(len(parts)))


def _time_of_change(path: str) -> str | None:
    try:
        seconds = last_change_ns(path, os.stat(path)) / 1e9
        return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds")
    except (OSError, ValueError, OverflowError):  # just removed, or a time beyond the year 9999
        return None


def file_states(sources: Iterable[Source]) -> dict[str, FileState]:
    """Return the state of every file, by its name."""
    files = [source for source in sources if isinstance(source, FileSource) and source.path != STDIN]
    return {file.name: _state(file.path) for file in files}


def first_change(before: Mapping[str, FileState], now: Mapping[str, FileState]) -> str | None:
    """Describe what happened to the first changed file, or return None."""
    for name, state in now.items():
        if name not in before:
            return f"{name} did not exist when the inputs were read"
        if state != before[name]:
            return f"{name} changed after it was read"
    gone = next((name for name in before if name not in now), None)
    return None if gone is None else f"{gone} has disappeared since it was read"


def place_of(source: FileSource) -> str:
    """Return where a file is, the same for all paths that lead there."""
    return place_elsewhere(source.path) if is_remote(source.path) else os.path.realpath(source.path)


def _state(path: str) -> FileState:
    if isinstance(path, RemotePath):
        return path.state
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, last_change_ns(path, found)
