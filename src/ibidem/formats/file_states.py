"""Whether files are still those that were read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ibidem.formats.byte_streams import STDIN
from ibidem.formats.inputs import FileSource, Source

FileState = tuple[int, int, int, int] | None  # device, inode, bytes, nanoseconds of the last change; None: not there


def file_states(sources: Iterable[Source]) -> dict[str, FileState]:
    """Return the state of every file, by its name."""
    files = [source for source in sources if isinstance(source, FileSource) and source.path != STDIN]
    return {file.name: _state(file.path) for file in files}


def first_change(before: Mapping[str, FileState], now: Mapping[str, FileState]) -> str | None:
    """Return what happened to the first file that is not what it was, in words, or None."""
    for name, state in now.items():
        if name not in before:
            return f"{name} was not there when the inputs were read"
        if state != before[name]:
            return f"{name} changed after it was read"
    gone = next((name for name in before if name not in now), None)
    return None if gone is None else f"{gone} is gone since it was read"


def _state(path: str) -> FileState:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
