"""Kernels of the gram join: left-maximal pairs of equal windows, sentences and whole texts, extended to their full runs.

Rows, windows and `classes` are those of `windows`, `flags` those of rows. The output is diagonals (row in a, row in b, length).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ibidem.columns.hashes import SEED, mix
from ibidem.columns.kernels.machine_words import fetch_ahead
from ibidem.columns.kernels.rows import may_pair
from ibidem.execution.compiler import growing_kernel, inlined_kernel, inner_kernel, twice
from ibidem.passages.kernels.windows import HOT_SENTENCE, HOT_WINDOW

_ONE = np.uint64(1)
_AHEAD = 16  # rows, for what is fetched early


class GramLimits(NamedTuple):
    """The places that a gram may have, the rows of a window, and the words of a long sentence."""

    max_places: int
    size: int
    min_words: int


@inner_kernel
def _write(found, n, a, b, length):
    """Write diagonal number n."""
    found[3 * n] = a
    found[3 * n + 1] = b
    found[3 * n + 2] = length


@inner_kernel
def _extend(classes, document, x, y):
    """Return the length of the common run of classes that starts at rows x < y."""
    n = len(classes)
    length = 0
    d = document[x]
    e = document[y]
    while (
        y + length < n
        and document[x + length] == d
        and document[y + length] == e
        and classes[x + length] == classes[y + length]
    ):
        length += 1
    return length


@inlined_kernel
def _before_window(row, flags, classes, document):
    """Return the class before a window; 0 if there is none or if a hot window precedes: such a row may seed with any other."""
    open_start = row == 0 or document[row - 1] != document[row] or flags[row - 1] & HOT_WINDOW
    return np.uint64(0) if open_start else classes[row - 1]


@inlined_kernel
def _before_sentence(row, size, classes, document):
    """Return a key of the `size - 1` classes before a row; 0 if its document has fewer."""
    key = SEED
    for k in range(1, size):
        if row - k < 0 or document[row - k] != document[row]:
            return np.uint64(0)
        key = mix(key, classes[row - k])
    return key | _ONE


@inlined_kernel
def _window_run(x, y, size, flags, classes, document):
    """Return the run that the windows at x and y seed: where it begins, and its length; 0 if another window seeds it."""
    a = x
    b = y
    # Only hot windows can be before a seed: walk back through them to where the run begins.
    while a > 0 and document[a - 1] == document[x] and document[b - 1] == document[y] and classes[a - 1] == classes[b - 1]:
        a -= 1
        b -= 1
        if not flags[a] & HOT_WINDOW:
            return a, b, 0
    length = _extend(classes, document, a, b)
    return a, b, length if length >= x - a + size else 0  # otherwise two windows of one key that differ


@inlined_kernel
def _sentence_run(x, y, size, flags, n_words, min_words, classes, document):
    """Return the run that the sentences at x and y seed: where it begins, and its length; 0 if it is found in another way.

    Windows find runs of `size`; a long cold cell that comes before in the same run is its seed.
    """
    d = document[x]
    e = document[y]
    a = x
    b = y
    if classes[x] != classes[y]:  # two sentences of one key that differ
        return a, b, 0
    length = 1
    while length < size and a > 0 and document[a - 1] == d and document[b - 1] == e and classes[a - 1] == classes[b - 1]:
        a -= 1
        b -= 1
        length += 1
        if n_words[a] >= min_words and n_words[b] >= min_words and not flags[a] & HOT_SENTENCE:
            return a, b, 0
    u = x + 1
    v = y + 1
    while length < size and v < len(classes) and document[u] == d and document[v] == e and classes[u] == classes[v]:
        u += 1
        v += 1
        length += 1
    return a, b, length if length < size else 0


@inlined_kernel
def _text_length(x, y, length, flags, n_words, min_words, classes):
    """Return the length of two documents that are the same from end to end; 0 if not, or if a long cold cell finds them."""
    for k in range(length):
        if classes[x + k] != classes[y + k]:
            return 0
        if n_words[x + k] >= min_words and n_words[y + k] >= min_words and not flags[x + k] & HOT_SENTENCE:
            return 0
    return length


@growing_kernel
def pair_rows(kind, members, first, group_from, group_to, limits, flags, rows, pairing):
    """Return the diagonals (row in a, row in b, length) seeded by the groups [group_from, group_to) of at most `max_places`
    rows.

    Those of group g are `members[first[g]:first[g + 1]]`; `kind` says which grams they have in common.
    HOT_WINDOW: each maximal run of equal classes with a cold window comes out once, from its first cold window. A pair is
    skipped when the rows before it are alike too and their window is cold, for then that window is the seed.
    HOT_SENTENCE: runs shorter than `size` with a long sentence, from their first long cold cell.
    HOT_TEXT: pairs of short documents that are alike from end to end and have no long cold cell; members are their first rows.
    """
    max_places = limits.max_places
    size = limits.size
    min_words = limits.min_words
    classes = rows.classes
    document = rows.document
    n_words = rows.n_words
    leads = pairing.leads
    found = np.empty(3 * 1024, np.int32)
    n_found = 0
    before = np.empty(max_places + 1, np.uint64)
    for group in range(group_from, group_to):
        begin = first[group]
        n = first[group + 1] - begin
        if n > max_places:
            continue
        # Rows with the same text before them are in a run that is seeded earlier, or found by windows: they make no pair.
        alike = True
        for i in range(n):
            ahead = members[min(begin + i + _AHEAD, len(members) - 1)]
            fetch_ahead(classes, ahead)
            fetch_ahead(document, ahead)
            fetch_ahead(flags, ahead)
            row = members[begin + i]
            if kind == HOT_WINDOW:
                before[i] = _before_window(row, flags, classes, document)
            elif kind == HOT_SENTENCE:
                before[i] = _before_sentence(row, size, classes, document)
            else:
                before[i] = 0
            if before[i] == 0 or before[i] != before[0]:
                alike = False
        if alike:
            continue
        for i in range(n):
            x = np.int64(members[begin + i])
            d = document[x]
            if len(leads) > 0 and not leads[d]:
                continue
            for j in range(i + 1, n):
                if before[i] != 0 and before[i] == before[j]:
                    continue
                y = np.int64(members[begin + j])
                if not may_pair(d, document[y], pairing):
                    continue
                a = x
                b = y
                if kind == HOT_WINDOW:
                    a, b, length = _window_run(x, y, size, flags, classes, document)
                elif kind == HOT_SENTENCE:
                    a, b, length = _sentence_run(x, y, size, flags, n_words, min_words, classes, document)
                else:
                    n_rows = rows.document_first[d + 1] - rows.document_first[d]
                    length = _text_length(x, y, n_rows, flags, n_words, min_words, classes)
                if length == 0:
                    continue
                if 3 * n_found == len(found):
                    found = twice(found)
                _write(found, n_found, a, b, length)
                n_found += 1
    return found[: 3 * n_found]
