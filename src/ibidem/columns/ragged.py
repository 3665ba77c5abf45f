"""Ragged arrays: rows of different lengths, concatenated in one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.kernels.ragged import copy_ranges
from ibidem.errors import ResourceError


def flat(table: pa.Table, name: str) -> NDArray[Any]:
    """Return the values of a column of lists, concatenated."""
    values: NDArray[Any] = table[name].combine_chunks().flatten().to_numpy()
    return values


def lengths(table: pa.Table, name: str) -> NDArray[np.int64]:
    """Return how many values each row of a column of lists has."""
    import pyarrow.compute as pc

    counts: NDArray[np.int64] = pc.list_value_length(table[name]).to_numpy().astype(np.int64)
    return counts


def starts_of(counts: NDArray[Any] | Sequence[int]) -> NDArray[np.int64]:
    """Return where each of the concatenated rows begins, and where the last one ends."""
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, dtype=np.int64, out=starts[1:])
    return starts


def as_lists(values: NDArray[Any], counts: NDArray[np.int64], kind: pa.DataType) -> pa.ListArray:
    """Return values as lists of these lengths."""
    offsets = starts_of(counts)
    if offsets[-1] > np.iinfo(np.int32).max:
        raise ResourceError("more than two billion values in one partition", "Split very large documents.")
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(values, kind))


def ranges(begins: NDArray[np.int64] | int, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return `counts[i]` numbers from `begins[i]` on for each i, concatenated; `begins` may be one number for all."""
    before = np.cumsum(counts) - counts
    return np.repeat(begins - before, counts) + np.arange(int(counts.sum()))


def take_ranges(values: NDArray[Any], begins: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[Any]:
    """Return `counts[i]` values from `begins[i]` on for each i, concatenated."""
    out = np.empty(int(counts.sum()), values.dtype)
    copy_ranges(values, begins, counts.astype(np.int64), out)
    return out
