"""The files below a folder, in an order that no file system decides, and what of it is not read."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import NamedTuple

from ibidem.errors import InputError
from ibidem.formats.file_access import not_to_be_read

# What other programs leave beside their results to say that they are complete.
_MARKERS = frozenset({"_SUCCESS"})
_UNFINISHED = frozenset({".work", "unfinished.json"})  # what ibidem leaves in a folder while it writes there
_NOT_FOLLOWED = "a link to a folder, which is not followed; name it as an input to have it read"


class LeftOut(NamedTuple):
    """Something that is not read though it is called like something that is."""

    path: str
    reason: str


@dataclass
class Found:
    """Names of files relative to the folder, what is left out and why, and how many files of which unknown kinds."""

    names: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    unknown_kinds: Counter[str] = field(default_factory=Counter)


def read_written(path: Path) -> list[str] | None:
    """Return the files that a cleaning says it has written, or None if the file says nothing of that."""
    try:
        written = json.loads(path.read_text("utf-8"))["written"]
        return [str(name) for name in written]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def files_below(folder: str, is_known: Callable[[str], bool]) -> Found:
    """Return the files of known kinds below a folder; InputError if the folder itself cannot be read.

    Links to folders are not followed, so that no circle of links can be walked in; links to files are read.
    """
    found = Found()
    written = read_written(Path(folder) / "run.json")
    if written is not None:  # a cleaned collection: its files, and not the tables about them
        found.names = [name for name in written if is_known(name)]
    else:
        places = [""]
        while places:
            places.extend(_look(folder, places.pop(), is_known, found))
    found.names.sort(key=lambda path: PurePath(path).parts)
    found.left_out.sort()
    return found


def _look(folder: str, place: str, is_known: Callable[[str], bool], found: Found) -> list[str]:
    """Take the files of one place below the folder, and return the folders in it."""
    try:
        with os.scandir(os.path.join(folder, place) if place else folder) as listed:
            entries = list(listed)
    except OSError as error:
        if not place:
            message = f"cannot read the folder {error.filename}: {error.strerror}"
            raise InputError(message, "Give folders that you may read.") from error
        found.left_out.append(LeftOut(os.path.join(folder, place), f"a folder that cannot be read: {error.strerror}"))
        return []
    names = {entry.name for entry in entries}
    if not place and "unfinished.json" in names:
        message = f"{folder} holds a cleaned collection whose files were being replaced when the run ended"
        raise InputError(message, "Clean it again with --overwrite.")
    if place and ({"run.json", "skipped.jsonl"} <= names or names & _UNFINISHED):
        return []  # results of an earlier run, or what a killed one has left of them, are no input
    inner = []
    for entry in (entry for entry in entries if not entry.name.startswith(".")):
        name = os.path.join(place, entry.name)
        if _is_folder(entry):
            if entry.is_symlink():
                found.left_out.append(LeftOut(entry.path, _NOT_FOLLOWED))
            else:
                inner.append(name)
        elif not is_known(entry.name):
            if entry.name not in _MARKERS:
                found.unknown_kinds[PurePath(entry.name).suffix.lower() or "without an extension"] += 1
        elif reason := _why_not(entry):
            found.left_out.append(LeftOut(entry.path, reason))
        else:
            found.names.append(name)
    return inner


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself, for instance: whoever opens it will report that
        return False


def _why_not(entry: os.DirEntry[str]) -> str | None:
    """Return why something is not read that is neither file nor folder."""
    try:
        if entry.is_file() or not (kind := entry.stat().st_mode):
            return None
    except OSError:
        return None
    return not_to_be_read(kind) or "a named pipe, not a file; it is read if it is named itself"
