"""One long column that stays in memory as long as it fits, and moves to a temporary file after that."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ibidem.execution.disk_limit import DiskBudget, no_room


@contextmanager
def temporary_folder(parent: str | None) -> Iterator[Path]:
    """Yield a folder that is deleted after the block."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="ibidem-", dir=parent)
    except OSError as error:
        raise no_room(parent or tempfile.gettempdir(), error) from error
    with folder as name:
        yield Path(name)


class SpillingColumn:
    """Grows in parts. Beyond `max_bytes` it is in a file in `folder` that disappears with the process, however that ends.

    `disk` counts the bytes of the file under the name `what`.
    """

    def __init__(
        self,
        dtype: Any,
        max_bytes: int = sys.maxsize,
        folder: str | None = None,
        disk: DiskBudget | None = None,
        what: str = "a column",
    ) -> None:
        self._column = np.empty(1 << 12, dtype)
        self._length = 0
        self._max_bytes = max_bytes
        self._folder = folder
        self._disk, self._what = disk or DiskBudget(), what
        self._file: IO[bytes] | None = None

    def append(self, part: NDArray[Any]) -> None:
        """Add values at the end."""
        end = self._length + len(part)
        if self._file is None and end * self._column.itemsize <= self._max_bytes:
            if end > len(self._column):
                # One growing block: nothing is in memory twice.
                self._column.resize(max(end, len(self._column) * 3 // 2), refcheck=False)
            self._column[self._length : end] = part
        else:
            n_new = end if self._file is None else len(part)
            self._disk.take(self._what, n_new * self._column.itemsize)
            try:
                if self._file is None:
                    self._file = tempfile.TemporaryFile(dir=self._folder, prefix="ibidem-")  # noqa: SIM115 (lives on)
                    self._file.write(self._column[: self._length].data)
                    self._column = np.empty(0, self._column.dtype)
                self._file.write(np.ascontiguousarray(part).data)
            except OSError as error:
                raise no_room(self._folder or tempfile.gettempdir(), error) from error
        self._length = end

    def finish(self) -> NDArray[Any]:
        """Return all values; a file is mapped into memory, to be read in order."""
        if self._file is None:
            self._column.resize(self._length, refcheck=False)
            return self._column
        try:
            with self._file as file:  # the mapping outlives it
                file.flush()
                return np.memmap(file, self._column.dtype, "r+", shape=(self._length,))
        except OSError as error:
            raise no_room(self._folder or tempfile.gettempdir(), error) from error
