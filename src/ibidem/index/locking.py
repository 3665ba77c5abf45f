"""One writer at a time: a lock on a file of the index that the operating system frees however its holder ends."""

from __future__ import annotations

import errno
import fcntl
import os
import re
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from ibidem.errors import IndexLockedError, NoIndexError
from ibidem.index.files import write_problem

LOCK_FILE = "lock"

_CONTENT = re.compile(rb"pid (\d+) since (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC)\n")
_MAX_CONTENT_BYTES = 100


class WriterLock:
    """Holds the right to write to the index in `folder` inside a `with` block; whoever else asks is turned away at once.

    It excludes other processes and other threads of this one alike: each lock opens the file anew, and the lock belongs to
    what was opened. Readers need no lock.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_FILE
        self._descriptor = -1

    def __enter__(self) -> WriterLock:
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoIndexError(f"there is no folder {self._path.parent}", "Check the path of the index.") from error
        except OSError as error:
            raise write_problem(self._path, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
            content = f"pid {os.getpid()} since {now}\n".encode()
            os.pwrite(descriptor, content, 0)
            os.ftruncate(descriptor, len(content))
        except BaseException as error:
            is_held = isinstance(error, OSError) and error.errno in (errno.EWOULDBLOCK, errno.EACCES)
            problem = self._held_by_another(descriptor) if is_held else None
            os.close(descriptor)
            if problem is not None:
                raise problem from None
            if isinstance(error, OSError):
                raise write_problem(self._path, error) from error
            raise
        self._descriptor = descriptor
        return self

    def __exit__(self, *problem: object) -> None:
        # The file stays. If it were removed, a writer that had opened it before could lock the removed file while
        # another one locks a new file of that name: two writers.
        descriptor, self._descriptor = self._descriptor, -1
        with suppress(OSError):  # only so that the next one to be turned away is not told of this process
            os.ftruncate(descriptor, 0)
        try:
            # Closing alone would leave the lock with processes forked meanwhile, which share what was opened.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        finally:
            os.close(descriptor)

    def _held_by_another(self, descriptor: int) -> IndexLockedError:
        # Empty when the holder has only just come: then nothing is known of it.
        content = _CONTENT.fullmatch(os.pread(descriptor, _MAX_CONTENT_BYTES, 0))
        if content is None:
            who, since = "another process", ""
        else:
            pid = int(content[1])
            who = f"{'this' if pid == os.getpid() else 'another'} process (pid {pid})"
            since = f" since {content[2].decode()}"
        return IndexLockedError(
            f"{who} has been writing to the index in {self._path.parent}{since}",
            "Wait until it has finished, or stop it, and run this again.",
        )
