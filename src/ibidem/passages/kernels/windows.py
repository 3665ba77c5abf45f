"""Kernels of the gram join: keys of windows, sentences and texts, and flags of rows.

A *row* is a sentence with a class, counted over the whole collection in reading order; `document[row]` never decreases.
A *window* starts at a row and spans `size` rows of one document. Rows of equal keys form a group.
`classes` are never 0.
"""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import SEED, mix
from ibidem.execution.compiler import outer_kernel

_ONE = np.uint64(1)


@outer_kernel
def window_keys(classes, document, size, keys):
    """Write the key of the window that starts at each row; rows too close to their document's end get 0, no key."""
    n = len(classes)
    for row in range(n):
        last = row + size - 1
        if last >= n or document[last] != document[row]:
            keys[row] = 0
            continue
        key = SEED
        for k in range(row, last + 1):
            key = mix(key, classes[k])
        keys[row] = key | _ONE


@outer_kernel
def sentence_keys(classes, n_words, min_words, keys):
    """Write the key of each long sentence by itself, 0 for the others. (Classes may be small; keys vary in all bits.)"""
    for row in range(len(classes)):
        keys[row] = mix(SEED, classes[row]) | _ONE if n_words[row] >= min_words else np.uint64(0)


@outer_kernel
def whole_text_keys(classes, document_first, size, keys):
    """Write, at the first row of each document of fewer than `size` rows, the key of all its classes; 0 elsewhere."""
    for d in range(len(document_first) - 1):
        n = document_first[d + 1] - document_first[d]
        if 0 < n < size:
            key = mix(SEED, np.uint64(n))
            for row in range(document_first[d], document_first[d + 1]):
                key = mix(key, classes[row])
                keys[row] = 0
            keys[document_first[d]] = key | _ONE
        else:
            for row in range(document_first[d], document_first[d + 1]):
                keys[row] = 0


@outer_kernel
def cover_windows(flags, size, bit, covered):
    """Tell which rows lie in a window that has the bit."""
    left = 0
    for row in range(len(flags)):
        if flags[row] & bit:
            left = size
        covered[row] = left > 0
        left -= 1


@outer_kernel
def mark_rows(rows, first, min_places, flags, bit):
    """Set `bit` in the flag of every row whose group has at least `min_places` rows."""
    for group in range(len(first) - 1):
        if first[group + 1] - first[group] >= min_places:
            for i in range(first[group], first[group + 1]):
                flags[rows[i]] |= bit
