"""Kernels of the gram join: keys of windows, sentences and texts, and flags of rows.

A *row* is a sentence with a class, counted over the whole collection in reading order; `document[row]` never decreases.
A *window* starts at a row and spans `size` rows of one document. Rows of equal keys form a group.
`classes` are never 0.
"""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import SEED, mix
from ibidem.execution.compiler import inlined_kernel, outer_kernel

# Flags of a row: the window, sentence or text that starts there occurs in too many places, or the window in more than one.
# A kind of gram is named by the flag of its hot places.
HOT_WINDOW, HOT_SENTENCE, REPEATED_WINDOW, HOT_TEXT = 1, 2, 4, 8
_ONE = np.uint64(1)


@inlined_kernel
def window_key(classes, row, size):
    """Return the key of the window that starts at a row; keys vary in all bits and are never 0."""
    key = SEED
    for k in range(row, row + size):
        key = mix(key, classes[k])
    return key | _ONE


@inlined_kernel
def sentence_key(classes, row):
    """Return the key of a sentence by itself."""
    return mix(SEED, classes[row]) | _ONE


@inlined_kernel
def text_key(classes, first, end):
    """Return the key of a document with the rows [first, end)."""
    key = mix(SEED, np.uint64(end - first))
    for row in range(first, end):
        key = mix(key, classes[row])
    return key | _ONE


@inlined_kernel
def key_of_kind(key, kind):
    """Return a key that differs by kind: grams of two kinds that consist of the same classes may have the same key."""
    return key ^ kind << np.uint64(56)


@outer_kernel
def window_keys(classes, document, size, keys):
    """Write the key of the window that starts at each row; rows too close to their document's end get 0."""
    n = len(classes)
    for row in range(n):
        last = row + size - 1
        if last >= n or document[last] != document[row]:
            keys[row] = 0
        else:
            keys[row] = window_key(classes, row, size)


@outer_kernel
def sentence_keys(classes, n_words, min_words, keys):
    """Write the key of each long sentence by itself, 0 for the others."""
    for row in range(len(classes)):
        keys[row] = sentence_key(classes, row) if n_words[row] >= min_words else np.uint64(0)


@outer_kernel
def whole_text_keys(classes, document_first, size, keys):
    """Write, at the first row of each document of fewer than `size` rows, the key of all its classes; 0 elsewhere."""
    for d in range(len(document_first) - 1):
        n = document_first[d + 1] - document_first[d]
        for row in range(document_first[d], document_first[d + 1]):
            keys[row] = 0
        if 0 < n < size:
            keys[document_first[d]] = text_key(classes, document_first[d], document_first[d + 1])


@outer_kernel
def cover_windows(flags, size, bit, covered):
    """Return which rows are in a window that has the bit."""
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
