"""Sources: the files and Python objects with documents, what `run.json` records about them, and whether they changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import PurePath
from typing import Any

from ibidem.formats.byte_streams import STDIN
from ibidem.formats.registry import format_of

FileState = tuple[int, int, int, int] | None  # device, inode, bytes, nanoseconds of the last change; None: not there
_ARROW_METHODS = ("__arrow_c_stream__", "__arrow_c_array__", "with_format")


@dataclass(frozen=True)
class FileSource:
    """A file, or stdin. `name` is the path as given; `doc_id` is the id if the file is one document as a whole.

    Both are printable. `stored` is where it is read from, if that is not its name: a stream was put there, to be read more
    than once, or the path cannot be printed as it is.
    """

    name: str
    doc_id: str
    format: str | None
    stored: str | None = None

    @property
    def path(self) -> str:
        """Where it is read from."""
        return self.stored or self.name

    @property
    def n_bytes(self) -> int | None:
        """Size of the file, or None for a stream."""
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
    """Return what `run.json` records about a source: path, bytes and modification time of a file.

    The id of a file that is one document as a whole is added where it is not its path.
    """
    if isinstance(source, ObjectSource):
        return {"kind": "python object"}
    if source.name == STDIN or (size := source.n_bytes) is None:
        return {"kind": "stream", "path": source.name}
    description = {"path": source.name, "bytes": size, "modified": _time_of_change(source.path)}
    return description if source.doc_id == PurePath(source.name).as_posix() else description | {"id": source.doc_id}


def is_changed(path: str, description: Mapping[str, Any]) -> bool:
    """Return whether a file that is there differs from its description in `run.json`."""
    described = description.get("bytes"), description.get("modified")
    return os.path.isfile(path) and (os.path.getsize(path), _time_of_change(path)) != described


def sources_described(descriptions: Iterable[Mapping[str, Any]], folder: str) -> tuple[list[FileSource], list[str]]:
    """Return the files that `run.json` describes, as they were read from that folder, and the names of those not there."""
    sources, missing = [], []
    for description in descriptions:
        name = str(description.get("path", ""))
        path = os.path.join(folder, name)
        if description.get("kind") or not os.path.isfile(path):
            missing.append(name or str(description.get("kind", "an input")))
        else:
            sources.append(FileSource(name, str(description.get("id", PurePath(name).as_posix())), format_of(name), path))
    return sources, missing


def _time_of_change(path: str) -> str | None:
    try:
        return datetime.fromtimestamp(os.path.getmtime(path), timezone.utc).isoformat(timespec="seconds")
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


def _state(path: str) -> FileState:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
