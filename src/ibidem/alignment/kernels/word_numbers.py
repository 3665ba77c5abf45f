"""Kernels that give the words of two texts, and their runs of two, four and eight words, numbers of their own: equal numbers
are equal runs, and counts by number are plain arrays. Open addressing; a table is emptied by a new stamp.
"""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import GOLDEN
from ibidem.execution.compiler import inlined_kernel, inner_kernel

_HALF = np.uint64(32)


@inlined_kernel
def _number(keys, stamps, numbers, mask, stamp, key, n):
    """Return the number of a key: the one it has since this stamp, or `n` if it is new."""
    at = np.int64((key * GOLDEN) >> _HALF) & mask
    while stamps[at] == stamp:
        if keys[at] == key:
            return np.int64(numbers[at])
        at = (at + 1) & mask
    stamps[at] = stamp
    keys[at] = key
    numbers[at] = n
    return n


@inner_kernel
def number_words(stems, starts, ends, keys, stamps, numbers, mask, stamp, words):
    """Number the stems of spans [starts[i], ends[i]) one after the other; return how many different ones there are."""
    n, at = np.int64(0), np.int64(0)
    for side in range(2):
        for k in range(starts[side], ends[side]):
            number = _number(keys, stamps, numbers, mask, stamp, np.uint64(stems[k]), n)
            if number == n:
                n += 1
            words[at] = number
            at += 1
    return n


@inner_kernel
def number_runs(shorter, step, n_words, keys, stamps, numbers, mask, stamp, runs):
    """Number runs of 2 * step words, each made of the shorter runs at its start and `step` words later.

    The last ones of a text are shorter than they should be: they reach over its end, and those who look at runs know where
    that is.
    """
    n = np.int64(0)
    for k in range(n_words):
        later = np.uint64(shorter[k + step] if k + step < n_words else -1)
        number = _number(
            keys, stamps, numbers, mask, stamp, np.uint64(shorter[k]) << _HALF ^ (later & np.uint64(0xFFFFFFFF)), n
        )
        if number == n:
            n += 1
        runs[k] = number
