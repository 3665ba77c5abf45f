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
from ibidem.execution.operating_system import PLAIN_FILE, can_open_folders

LOCK_FILE = "lock"  # beside the catalog and the files of arrays


class OpenFolder:
    """A folder that stays the same until it is closed. `path` is the user's name for it, `real_path` its resolved path."""

    def __init__(self, path: Path) -> None:
        """Open a folder; raise OSError if it cannot be opened."""
        self.path = path
        self.real_path = Path(os.path.realpath(path))
        self._is_open = True
        self._descriptor = os.open(self.real_path, os.O_RDONLY | os.O_DIRECTORY | PLAIN_FILE) if can_open_folders() else None
        self._status = os.stat(self.real_path) if self._descriptor is None else os.fstat(self._descriptor)

    def __truediv__(self, name: str) -> Place:
        return Place(self.path / name, self)

    def __str__(self) -> str:
        return str(self.path)

    @property
    def descriptor(self) -> int | None:
        """The open folder, as `dir_fd` takes it; None where folders cannot be opened, and paths have to do."""
        if not self._is_open:
            raise IndexStoreError(f"the index in {self.path} was closed", "Open it again.")
        return self._descriptor

    @property
    def handle(self) -> Path | int:
        """The folder as its open descriptor, or as its path where it has none."""
        descriptor = self.descriptor
        return self.real_path if descriptor is None else descriptor

    def close(self) -> None:
        """Close the folder and forget its descriptor, which may be reused."""
        descriptor, self._descriptor, self._is_open = self._descriptor, None, False
        if descriptor is not None:
            os.close(descriptor)

    def names(self) -> list[str]:
        """Return the names of what is in the folder, in order."""
        return sorted(os.listdir(self.handle))

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
        if self.folder is None:
            return str(self.path)
        return self.name if self._handle is not None else str(self.folder.real_path / self.name)

    def status(self, follow_symlinks: bool = False) -> os.stat_result:
        """Return the status of the file; of a symbolic link itself, not of its target, unless it is to be followed."""
        return os.stat(self._target, dir_fd=self._handle, follow_symlinks=follow_symlinks)

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
        return self.path.parent if self.folder is None else self.folder.handle


def moved(path: Path, what: str) -> IndexChangedError:
    """Return the error for an index that is no longer at its path."""
    return IndexChangedError(f"{path}: {what} since the index was opened", "Open it again; restart `ibidem serve` or `watch`.")
