"""Access to files: finds those below folders, and opens what can be read to an end, or refuses it with a reason."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple, cast

import pyarrow as pa

from ibidem.config.addresses import shown_address
from ibidem.config.surface import given
from ibidem.errors import InputError
from ibidem.formats.remote_access import NoRangesError
from ibidem.formats.remote_files import RemotePath, files_under
from ibidem.formats.remote_streams import RemotePages, RemoteStream, read_json

# How long to wait for a writer to open a named pipe.
MAX_PIPE_WAIT_SECONDS = 20.0
_SECONDS_BETWEEN_LOOKS = 0.05
# What other programs leave beside their results to mark them as complete.
_MARKERS = frozenset({"_SUCCESS"})
_UNFINISHED = frozenset({".work", "unfinished.json"})  # what ibidem leaves in a folder while it writes there
UNKNOWN_KIND = "unknown kind of file"
_NOT_FOLLOWED = "a link to a folder; links are not followed (name it as an input to read it)"


def unknown_kind(extension: str) -> str:
    """Return the reason for a file in a folder whose extension belongs to no format."""
    return f"{UNKNOWN_KIND} ({extension or 'no extension'})"


def is_unknown_kind(reason: str) -> bool:
    """Return whether a file was left out because its extension belongs to no format."""
    return reason.startswith(UNKNOWN_KIND)


def open_file(path: str) -> BinaryIO:
    """Open a file, here or elsewhere, or a named pipe with a writer, unbuffered; anything else raises OSError."""
    if isinstance(path, RemotePath):
        return cast(BinaryIO, RemoteStream(path))
    try:
        kind = os.stat(path).st_mode
    except FileNotFoundError:
        if os.path.islink(path):
            raise FileNotFoundError("No such file: a broken link") from None
        raise
    if stat.S_ISFIFO(kind):
        return _open_pipe(path)
    if (reason := not_to_be_read(kind)) and not (stat.S_ISCHR(kind) and _ends_by_itself(path)):
        raise OSError(reason)
    return open(path, "rb", buffering=0)


def last_change_ns(path: str, state: os.stat_result) -> int:
    """Return when a file was changed last: a database of SQLite or DuckDB also by what was written to the log beside it."""
    changes = [state.st_mtime_ns]
    for log in (f"{path}-wal", f"{path}.wal"):
        with suppress(OSError, ValueError):
            beside = os.stat(log)
            if beside.st_size:  # whoever reads an SQLite database may leave an empty one
                changes.append(beside.st_mtime_ns)
    return max(changes)


def open_at_any_place(path: str) -> Any:
    """Return a file that Arrow can seek in; None if that cannot be done."""
    if not isinstance(path, RemotePath):
        return pa.OSFile(path)
    try:
        return pa.PythonFile(RemotePages(path), mode="r")
    except NoRangesError:
        return None


def not_to_be_read(kind: int) -> str | None:
    """Return why something that is neither file nor folder nor pipe is not read, by the mode that `os.stat` gives."""
    if stat.S_ISSOCK(kind):
        return "a socket, not a file"
    if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
        return "a device, not a file; it may never end"
    return None


def _ends_by_itself(path: str) -> bool:
    """Return whether a device is the terminal, or the one that is always empty."""
    if os.path.exists(os.devnull) and os.path.samefile(path, os.devnull):
        return True
    with open(path, "rb", buffering=0) as file:
        return file.isatty()


def _open_pipe(path: str) -> BinaryIO:
    """Open a named pipe without waiting for ever for its other end."""
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    until = time.monotonic() + MAX_PIPE_WAIT_SECONDS
    try:
        while True:
            try:
                first = os.read(pipe, 1)
            except BlockingIOError:  # a writer is there but has not written yet
                first = b""
                break
            if first:
                break
            if time.monotonic() >= until:
                raise OSError("a named pipe that no program is writing to")
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        os.set_blocking(pipe, True)
        return _BegunPipe(pipe, first)
    except BaseException:
        os.close(pipe)
        raise


class _BegunPipe(FileIO):
    """A pipe whose first byte was already read."""

    def __init__(self, pipe: int, first: bytes) -> None:
        super().__init__(pipe, "rb")
        self._first = first

    def read(self, n_bytes: int | None = -1) -> bytes:
        """Return what comes next."""
        if self._first and n_bytes:
            first, self._first = self._first, b""
            return first if n_bytes == 1 else first + super().read(n_bytes - 1 if n_bytes > 0 else -1)
        return super().read(n_bytes)


class LeftOut(NamedTuple):
    """Something in a folder that is not read."""

    path: str
    reason: str


@dataclass
class FoundFiles:
    """Names of files relative to the folder, and what is left out and why."""

    names: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


def read_written(path: Path) -> list[str] | None:
    """Return the files that a cleaning says it has written, or None if the file does not say."""
    try:
        written = json.loads(path.read_text("utf-8"))["written"]
        return [str(name) for name in written]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def files_below(folder: str, is_known: Callable[[str], bool]) -> FoundFiles:
    """Return the files of known kinds below a folder; InputError if the folder itself cannot be read.

    Links to folders are not followed, so cycles of links are harmless; links to files are read.
    """
    found = FoundFiles()
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


def remote_files_below(folder: str, is_known: Callable[[str], bool]) -> tuple[FoundFiles, dict[str, RemotePath]]:
    """Return the same of a folder elsewhere, and where each of the files is."""
    files = files_under(folder)
    found = FoundFiles()
    names: dict[str, set[str]] = {}  # in each folder, those of files and folders
    for name in files:
        parts = name.split("/")
        for depth, part in enumerate(parts):
            names.setdefault("/".join(parts[:depth]), set()).add(part)
    if "unfinished.json" in names.get("", ()):
        raise _half_replaced(shown_address(folder))
    described = read_json(files["run.json"]) if "run.json" in files else None
    if isinstance(described, dict) and isinstance(written := described.get("written"), list):
        found.names = [str(name) for name in written if str(name) in files and is_known(str(name))]
        return found, files
    for name in files:
        parts = name.split("/")
        above = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
        if any(part.startswith(".") for part in parts) or any(_is_left_by_us(names[place]) for place in above):
            continue
        if is_known(parts[-1]):
            found.names.append(name)
        elif parts[-1] not in _MARKERS:
            found.left_out.append(LeftOut(name, unknown_kind(PurePath(name).suffix.lower())))
    return found, files


def _half_replaced(folder: str) -> InputError:
    message = f"{folder} is a half-replaced collection: a dedup run stopped while it was replacing the files"
    return InputError(message, f"Run dedup again with {given('overwrite', True)}.")


def _is_left_by_us(names: Collection[str]) -> bool:
    """Return whether a folder with such names contains results of an earlier run, or leftovers of a killed one."""
    return {"run.json", "skipped.jsonl"} <= set(names) or not _UNFINISHED.isdisjoint(names)


def _look(folder: str, place: str, is_known: Callable[[str], bool], found: FoundFiles) -> list[str]:
    """Take the files of one place below the folder, and return the folders in it."""
    try:
        with os.scandir(os.path.join(folder, place) if place else folder) as listed:
            entries = list(listed)
    except OSError as error:
        if not place:
            message = f"cannot read the folder {error.filename}: {error.strerror}"
            raise InputError(message, "Check its permissions.") from error
        found.left_out.append(LeftOut(os.path.join(folder, place), f"a folder that cannot be read: {error.strerror}"))
        return []
    names = {entry.name for entry in entries}
    if not place and "unfinished.json" in names:
        raise _half_replaced(folder)
    if place and _is_left_by_us(names):
        return []
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
                found.left_out.append(LeftOut(entry.path, unknown_kind(PurePath(entry.name).suffix.lower())))
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
    """Return why something that is neither file nor folder is not read."""
    try:
        if entry.is_file() or not (kind := entry.stat().st_mode):
            return None
    except OSError:
        return None
    return not_to_be_read(kind) or "a named pipe, not a file; name it as an input to read it"
