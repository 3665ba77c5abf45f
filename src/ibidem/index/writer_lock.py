"""One writer at a time: a lock on a file of the index. Readers need none."""

from __future__ import annotations

from pathlib import Path

from ibidem.errors import IndexChangedError, IndexLockedError, NoIndexError
from ibidem.execution.locks import FileLock, HeldByAnotherError
from ibidem.index.array_files import write_problem
from ibidem.index.folder import OpenFolder

LOCK_FILE = "lock"


class WriterLock:
    """Holds the right to write to the index in `folder` inside a `with` block; whoever else asks is turned away at once."""

    def __init__(self, folder: Path | OpenFolder) -> None:
        if isinstance(folder, OpenFolder):
            self._lock = FileLock(folder.path / LOCK_FILE, folder.descriptor)
        else:
            self._lock = FileLock(folder / LOCK_FILE)

    def __enter__(self) -> WriterLock:
        folder = self._lock.path.parent
        try:
            self._lock.__enter__()
        except HeldByAnotherError as error:
            raise IndexLockedError(
                f"{error.who} has been writing to the index in {folder}{error.since}",
                "Wait until it has finished, or stop it, and run this again.",
            ) from None
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoIndexError(f"there is no folder {folder}", "Check the path of the index.") from error
        except OSError as error:
            raise write_problem(self._lock.path, error) from error
        return self

    def __exit__(self, *problem: object) -> None:
        self._lock.__exit__(*problem)

    def check(self) -> None:
        """Raise `IndexChangedError` if the lock file was deleted or replaced: another process may be writing by now."""
        if not self._lock.is_held():
            message = f"{self._lock.path} was deleted or replaced while this process was writing to the index"
            raise IndexChangedError(message, "Run it again when no other process writes to the index; never delete that file.")
