"""One process at a time: a file lock that the operating system releases however its owner ends."""

from __future__ import annotations

import errno
import os
import re
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from ibidem.execution.operating_system import PLAIN_FILE, lock, unlock, write_first

_CONTENT = re.compile(rb"pid (\d+) since (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC)\n")
_MAX_CONTENT_BYTES = 100


class HeldByAnotherError(Exception):
    """Another process has the lock; `who` and `since` say what is known about it."""

    def __init__(self, who: str, since: str) -> None:
        super().__init__(f"{who} is using it{since}")
        self.who = who
        self.since = since


class FileLock:
    """Locks a file inside a `with` block; anyone else gets a HeldByAnotherError at once.

    It excludes other processes and other threads alike: each lock opens the file again, and the lock belongs to the open file.
    If the file cannot be opened or written, OSError is raised. With the descriptor of an open folder (`dir_fd`), the file is
    the one of that name in that folder, wherever the path leads.
    """

    def __init__(self, path: Path, dir_fd: int | None = None) -> None:
        self.path = path
        self._target: Path | str = path if dir_fd is None else path.name
        self._dir_fd = dir_fd
        self._descriptor = -1

    def __enter__(self) -> FileLock:
        while True:
            descriptor = os.open(self._target, os.O_RDWR | os.O_CREAT | PLAIN_FILE, 0o666, dir_fd=self._dir_fd)
            try:
                lock(descriptor)
                if not self._is_the_file(descriptor):  # its last owner has removed it
                    os.close(descriptor)
                    continue
                now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
                content = f"pid {os.getpid()} since {now}\n".encode()
                write_first(descriptor, content)
                os.ftruncate(descriptor, len(content))
            except BaseException as error:
                is_held = isinstance(error, OSError) and error.errno in (errno.EWOULDBLOCK, errno.EACCES)
                problem = _held_by_another(descriptor) if is_held else None
                os.close(descriptor)
                if problem is not None:
                    raise problem from None
                raise
            self._descriptor = descriptor
            return self

    def __exit__(self, *problem: object) -> None:
        # The file stays unless its owner removes it: whoever gets a lock checks that it is still the file of that name.
        descriptor, self._descriptor = self._descriptor, -1
        with suppress(OSError):  # only so that the next refusal does not name this process
            os.ftruncate(descriptor, 0)
        try:
            unlock(descriptor)
        finally:
            os.close(descriptor)

    def is_held(self) -> bool:
        """Return whether this still excludes others: if the file is deleted, another process can lock a new one."""
        return self._descriptor >= 0 and self._is_the_file(self._descriptor)

    def _is_the_file(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(self._target, dir_fd=self._dir_fd))
        except FileNotFoundError:
            return False


def _held_by_another(descriptor: int) -> HeldByAnotherError:
    # Empty if the owner has only just locked it.
    os.lseek(descriptor, 0, os.SEEK_SET)
    content = _CONTENT.fullmatch(os.read(descriptor, _MAX_CONTENT_BYTES))
    if content is None:
        return HeldByAnotherError("another process", "")
    pid = int(content[1])
    who = f"{'this' if pid == os.getpid() else 'another'} process (pid {pid})"
    return HeldByAnotherError(who, f" since {content[2].decode()}")
