"""Files as they are found on disk: opened if they can be read to an end, refused with a reason if not."""

from __future__ import annotations

import os
import stat
import time
from io import FileIO
from typing import BinaryIO

# For whoever is to write into a named pipe to begin.
MAX_PIPE_WAIT_SECONDS = 20.0
_SECONDS_BETWEEN_LOOKS = 0.05


def open_file(path: str) -> BinaryIO:
    """Open a file, or a named pipe that somebody writes to, without a buffer; whatever else it is, is an OSError."""
    try:
        kind = os.stat(path).st_mode
    except FileNotFoundError:
        if os.path.islink(path):
            raise FileNotFoundError("No such file: a link that leads nowhere") from None
        raise
    if stat.S_ISFIFO(kind):
        return _open_pipe(path)
    if (reason := not_to_be_read(kind)) and not (stat.S_ISCHR(kind) and _ends_by_itself(path)):
        raise OSError(reason)
    return open(path, "rb", buffering=0)


def not_to_be_read(kind: int) -> str | None:
    """Return why something that is neither file nor folder nor pipe is not read, by the mode that `os.stat` gives."""
    if stat.S_ISSOCK(kind):
        return "a socket, not a file"
    if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
        return "a device, not a file; it may never end"
    return None


def _ends_by_itself(path: str) -> bool:
    """Say whether a device is the terminal, or the one that is always empty."""
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
            except BlockingIOError:  # somebody is there, and has not written yet
                first = b""
                break
            if first:
                break
            if time.monotonic() >= until:
                raise OSError("a named pipe that no program writes to")
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        os.set_blocking(pipe, True)
        return _BegunPipe(pipe, first)
    except BaseException:
        os.close(pipe)
        raise


class _BegunPipe(FileIO):
    """A pipe whose first byte was taken already."""

    def __init__(self, pipe: int, first: bytes) -> None:
        super().__init__(pipe, "rb")
        self._first = first

    def read(self, n_bytes: int | None = -1) -> bytes:
        """Return what comes next."""
        if self._first and n_bytes:
            first, self._first = self._first, b""
            return first if n_bytes == 1 else first + super().read(n_bytes - 1 if n_bytes > 0 else -1)
        return super().read(n_bytes)
