"""The folder of an index, opened once: every file is accessed within that folder, wherever its path leads later.

A path is resolved again each time it is used. While a process has an index open, a symbolic link can be switched, folders can
be renamed, or the process can change its directory; files written, opened and deleted by path would then belong to another
index.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ibidem.errors import IndexChangedError, IndexStoreError

LOCK_FILE = "lock"  # beside the catalog and the files of arrays


class OpenFolder:
    """A folder that stays the same until it is closed. `path` is the user's name for it, `real_path` its resolved path."""

    def __init__(self, path: Path) -> None:
        """Open a folder; raise OSError if it cannot be opened."""
        self.path = path
        self.real_path = Path(os.path.realpath(path))
        self._descriptor = os.open(self.real_path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._status = os.fstat(self._descriptor)

    def __truediv__(self, name: str) -> Place:
        return Place(self.path / name, self)

    def __str__(self) -> str:
        return str(self.path)

    @property
    def descriptor(self) -> int:
        """The open folder, as `dir_fd` takes it."""
        if self._descriptor < 0:
            raise IndexStoreError(f"the index in {self.path} was closed", "Open it again.")
        return self._descriptor

    def close(self) -> None:
        """Close the folder and forget its descriptor, which may be reused."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def names(self) -> list[str]:
        """Return the names of what is in the folder, in order."""
        return sorted(os.listdir(self.descriptor))

    def is_in_place(self) -> bool:
        """Return whether the path still leads to this folder."""
        try:
            return os.path.samestat(os.stat(self.real_path), self._status)
        except OSError:
            return False


@dataclass(frozen=True)
class Place:
    """A name in an open folder, or a plain path without one. `path` is for messages."""

    path: Path
    folder: OpenFolder | None = None

    @classmethod
    def of(cls, path: Path | Place) -> Place:
        """Return the place of a path."""
        return path if isinstance(path, Place) else cls(path)

    def __str__(self) -> str:
        return str(self.path)

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    def with_name(self, name: str) -> Place:
        """Return the place of another name in the same folder."""
        return Place(self.path.with_name(name), self.folder)

    @property
    def _handle(self) -> int | None:
        return None if self.folder is None else self.folder.descriptor

    @property
    def _target(self) -> str:
        return str(self.path) if self.folder is None else self.name

    def status(self) -> os.stat_result:
        """Return the status of the file; of a symbolic link itself, not of its target."""
        return os.stat(self._target, dir_fd=self._handle, follow_symlinks=False)

    def open(self, mode: str = "rb") -> IO[Any]:
        """Open the file; `wb` creates a new one."""
        return open(self._target, mode, opener=lambda name, flags: os.open(name, flags, 0o666, dir_fd=self._handle))

    def rename(self, name: str) -> Place:
        """Give the file another name in its folder; return its new place."""
        other = self.with_name(name)
        os.replace(self._target, other._target, src_dir_fd=self._handle, dst_dir_fd=self._handle)
        return other

    def unlink(self) -> None:
        """Delete the file."""
        os.unlink(self._target, dir_fd=self._handle)

    @property
    def parent(self) -> Path | int:
        """The folder, as a path or an open descriptor."""
        return self.path.parent if self.folder is None else self.folder.descriptor


def moved(path: Path, what: str) -> IndexChangedError:
    """Return the error for an index that is no longer at its path."""
    return IndexChangedError(f"{path}: {what} since the index was opened", "Open it again; restart `ibidem serve` or `watch`.")
