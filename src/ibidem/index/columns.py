"""Columns as they lie in files: read-only, and strings as offsets and bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.texts import text_buffers


def frozen(column: NDArray[Any]) -> NDArray[Any]:
    """Return a contiguous read-only view: mapped columns are read-only, and numba compiles for each kind anew."""
    view = np.ascontiguousarray(column).view()
    view.flags.writeable = False
    return view


def strings(first: NDArray[np.int64], data: NDArray[np.uint8]) -> pa.LargeStringArray:
    """Return the strings `data[first[i]:first[i + 1]]`, not copied."""
    return pa.LargeStringArray.from_buffers(len(first) - 1, pa.py_buffer(first), pa.py_buffer(data))


def string_columns(column: pa.LargeStringArray) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return offsets and bytes of strings, none of them null."""
    if len(column) == 0:
        return np.zeros(1, np.int64), np.empty(0, np.uint8)
    data, first = text_buffers(column)
    return first - first[0], data[first[0] : first[-1]]
