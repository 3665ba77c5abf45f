"""Binary search among sorted numbers."""

from __future__ import annotations

import numpy as np

from ibidem.execution.compiler import inlined_kernel


@inlined_kernel
def first_not_below(values, value, low, high):
    """Return the first index in [low, high) whose number is not below `value`; `high` if all are below."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@inlined_kernel
def place_of(values, value):
    """Return the first index of `value`, or -1 if it is not among the numbers."""
    place = first_not_below(values, value, np.int64(0), np.int64(len(values)))
    return place if place < len(values) and values[place] == value else np.int64(-1)
