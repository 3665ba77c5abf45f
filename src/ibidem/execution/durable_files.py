"""Durable files and names: what a run has reported as written survives a power cut.

A file that was written may be lost until it is synced, and a file that was synced can still lose its name until its folder is.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from ibidem.execution.operating_system import PLAIN_FILE, can_open_folders

_NOTHING_TO_SYNC = (errno.EINVAL, errno.ENOTSUP)  # some network file systems neither support nor need it
_AT_ONCE = 8  # a journaling file system syncs many files together for little more than one


def sync_file(path: Path) -> None:
    """Put the content of a file on disk."""
    how = os.O_RDONLY if can_open_folders() else os.O_RDWR  # Windows syncs only what may be written
    descriptor = os.open(path, how | PLAIN_FILE)
    try:
        _sync(descriptor)
    finally:
        os.close(descriptor)


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NOTHING_TO_SYNC:
            raise


def sync_files(paths: Sequence[Path]) -> None:
    """Put the contents of files on disk, several at once."""
    if paths:
        with ThreadPoolExecutor(min(_AT_ONCE, len(paths))) as pool:
            for _ in pool.map(sync_file, paths):
                pass


def sync_folder(folder: Path | int) -> None:
    """Put the names in a folder, given by path or open descriptor, on disk."""
    if isinstance(folder, int):
        _sync(folder)
    elif can_open_folders():  # Windows keeps its names by a journal
        sync_file(folder)


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, and put their names on disk."""
    missing = []
    for place in (folder, *folder.parents):
        if os.path.exists(place):
            break
        missing.append(place)
    folder.mkdir(parents=True, exist_ok=True)
    for place in reversed(missing):
        with suppress(PermissionError):  # a folder may be writable but not readable
            sync_folder(place.parent)


def replace_file(aside: Path, path: Path) -> None:
    """Rename a temporary file to its final name; content and name are durable when this returns."""
    sync_file(aside)
    os.replace(aside, path)
    with suppress(PermissionError):
        sync_folder(path.parent)
