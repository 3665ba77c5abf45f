"""Kernels of the gram join: keys of windows, groups of equal windows, left-maximal pairs, extension.

A *row* is a sentence with a class, counted over the whole collection in reading order; `document[row]` never decreases.
A *window* starts at a row and spans `size` rows of one document. Windows with equal keys form a group.
`classes` are never 0. `hot` holds flags by row: 1 the window that starts here is hot, 2 the sentence itself is hot, 4 the
window stands elsewhere too.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ibidem.sentences.hashing import SEED, inner_kernel, mix, outer_kernel

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
def count_slots(keys, counts):
    """Count the keys by slot, up to 2: a key alone in its slot stands nowhere else and needs no sorting."""
    mask = np.uint64(len(counts) - 1)
    for row in range(len(keys)):
        key = keys[row]
        if key != 0:
            slot = (key >> np.uint64(7)) & mask
            if counts[slot] < 2:
                counts[slot] += 1


@outer_kernel
def pack_repeated(keys, counts, row_bits, packed):
    """Pack (high key bits, row) of every key that shares its slot into one word for sorting; return how many there are."""
    mask = np.uint64(len(counts) - 1)
    row_mask = (_ONE << np.uint64(row_bits)) - _ONE
    n = 0
    for row in range(len(keys)):
        key = keys[row]
        if key != 0 and counts[(key >> np.uint64(7)) & mask] > 1:
            packed[n] = (key & ~row_mask) | np.uint64(row)
            n += 1
    return n


@outer_kernel
def group_windows(packed, keys, row_bits, rows, first):
    """Unpack sorted words into groups of equal keys with two or more rows: `rows` rise inside a group, `first` bounds them.

    Keys that agree in their high bits only are told apart here, so packing loses nothing.
    """
    row_mask = (_ONE << np.uint64(row_bits)) - _ONE
    n_groups = 0
    n_rows = 0
    i = 0
    n = len(packed)
    first[0] = 0
    while i < n:
        head = packed[i] & ~row_mask
        used = head | row_mask  # no row has this number
        j = i + 1
        while j < n and packed[j] & ~row_mask == head:
            j += 1
        # Almost always one key; otherwise take the members of one key at a time, marking them as used.
        left = j - i
        k = i
        while left > 1:
            while packed[k] == used:
                k += 1
            key = keys[np.int64(packed[k] & row_mask)]
            begin = n_rows
            for m in range(k, j):
                if packed[m] != used:
                    row = np.int64(packed[m] & row_mask)
                    if keys[row] == key:
                        rows[n_rows] = row
                        n_rows += 1
                        packed[m] = used
                        left -= 1
            if n_rows - begin > 1:
                n_groups += 1
                first[n_groups] = n_rows
            else:
                n_rows = begin
        i = j
    return n_groups


@outer_kernel
def mark_rows(rows, first, min_places, flags, bit):
    """Set `bit` in the flag of every row whose group has at least `min_places` rows."""
    for group in range(len(first) - 1):
        if first[group + 1] - first[group] >= min_places:
            for i in range(first[group], first[group + 1]):
                flags[rows[i]] |= bit


@inner_kernel
def comparable(d, e, same_document, side, kin):
    """Whether two documents may be paired: not the same one unless asked for, not one side of `--against`, not kin."""
    if d == e:
        return same_document
    if len(side) > 0 and side[d] == side[e]:
        return False
    return not (len(kin) > 0 and kin[d] >= 0 and kin[d] == kin[e])


@njit(cache=True, nogil=True)
def _grow(pairs):
    larger = np.empty(2 * len(pairs), np.int32)
    for i in range(len(pairs)):
        larger[i] = pairs[i]
    return larger


@inner_kernel
def _extend(classes, document, x, y):
    """Length of the common run of classes that starts at rows x < y."""
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


@njit(cache=True, nogil=True)
def pair_windows(rows, first, group_from, group_to, max_places, size, hot, classes, document, same_document, side, kin):
    """Diagonals (row in a, row in b, length) seeded by the groups [group_from, group_to) of at most `max_places` windows.

    Each maximal run of equal classes with a cold window comes out once: from its first cold window. A pair is passed over
    when the rows before it are alike too and their window is cold, for then that window is the seed.
    """
    found = np.empty(3 * 1024, np.int32)
    n_found = 0
    before = np.empty(max_places + 1, np.uint64)
    for group in range(group_from, group_to):
        begin = first[group]
        n = first[group + 1] - begin
        if n > max_places:
            continue
        # 0 stands for "nothing before, or a hot window": such a row may seed with every other one.
        alike = True
        for i in range(n):
            row = rows[begin + i]
            open_start = row == 0 or document[row - 1] != document[row] or hot[row - 1] & 1
            before[i] = np.uint64(0) if open_start else classes[row - 1]
            if before[i] == 0 or before[i] != before[0]:
                alike = False
        if alike:
            continue
        for i in range(n):
            x = rows[begin + i]
            d = document[x]
            for j in range(i + 1, n):
                if before[i] != 0 and before[i] == before[j]:
                    continue
                y = rows[begin + j]
                if not comparable(d, document[y], same_document, side, kin):
                    continue
                # Only hot windows can lie before a seed: walk back through them to where the run begins.
                a = x
                b = y
                seeded_before = False
                while a > 0 and document[a - 1] == d and document[b - 1] == document[y] and classes[a - 1] == classes[b - 1]:
                    a -= 1
                    b -= 1
                    if not hot[a] & 1:
                        seeded_before = True
                        break
                if seeded_before:
                    continue
                length = _extend(classes, document, a, b)
                if length < x - a + size:  # two windows of one key that are not alike
                    continue
                if 3 * n_found == len(found):
                    found = _grow(found)
                found[3 * n_found] = a
                found[3 * n_found + 1] = b
                found[3 * n_found + 2] = length
                n_found += 1
    return found[: 3 * n_found]


@njit(cache=True, nogil=True)
def pair_documents(
    rows,
    first,
    group_from,
    group_to,
    max_places,
    hot,
    n_words,
    min_words,
    classes,
    document,
    document_first,
    same_document,
    side,
    kin,
):
    """Pairs of short documents that are alike from end to end; `rows` are their first rows.

    A pair with a long cold cell is passed over: `pair_sentences` finds it.
    """
    found = np.empty(3 * 1024, np.int32)
    n_found = 0
    for group in range(group_from, group_to):
        begin = first[group]
        n = first[group + 1] - begin
        if n > max_places:
            continue
        for i in range(n):
            x = rows[begin + i]
            d = document[x]
            length = document_first[d + 1] - document_first[d]
            for j in range(i + 1, n):
                y = rows[begin + j]
                if not comparable(d, document[y], same_document, side, kin):
                    continue
                found_by_sentence = False
                alike = True
                for k in range(length):
                    alike = alike and classes[x + k] == classes[y + k]
                    if n_words[x + k] >= min_words and n_words[y + k] >= min_words and not hot[x + k] & 2:
                        found_by_sentence = True
                        break
                if found_by_sentence or not alike:
                    continue
                if 3 * n_found == len(found):
                    found = _grow(found)
                found[3 * n_found] = x
                found[3 * n_found + 1] = y
                found[3 * n_found + 2] = length
                n_found += 1
    return found[: 3 * n_found]


@njit(cache=True, nogil=True)
def pair_sentences(
    rows, first, group_from, group_to, max_places, size, hot, n_words, min_words, classes, document, same_document, side, kin
):
    """Diagonals shorter than `size` that hold a long sentence, seeded by groups of equal long sentences (one row each).

    A pair is passed over when the run it lies in is `size` long (the windows find that one), or when a long cold cell
    stands before it in the same run (that cell is the seed).
    """
    found = np.empty(3 * 1024, np.int32)
    n_found = 0
    total = len(classes)
    context = np.empty(max_places + 1, np.uint64)
    for group in range(group_from, group_to):
        begin = first[group]
        n = first[group + 1] - begin
        if n > max_places:
            continue
        # Rows with the same `size - 1` classes before them can only meet inside a run of `size`: pair across contexts only.
        for i in range(n):
            row = rows[begin + i]
            key = SEED
            whole = True
            for k in range(1, size):
                if row - k < 0 or document[row - k] != document[row]:
                    whole = False
                    break
                key = mix(key, classes[row - k])
            context[i] = key | _ONE if whole else np.uint64(0)
        for i in range(n):
            x = rows[begin + i]
            d = document[x]
            for j in range(i + 1, n):
                if context[i] != 0 and context[i] == context[j]:
                    continue
                y = rows[begin + j]
                e = document[y]
                if classes[x] != classes[y]:  # two sentences of one key that are not alike
                    continue
                if not comparable(d, e, same_document, side, kin):
                    continue
                a = x
                b = y
                length = 1
                seeded_before = False
                while (
                    length < size
                    and a > 0
                    and document[a - 1] == d
                    and document[b - 1] == e
                    and classes[a - 1] == classes[b - 1]
                ):
                    a -= 1
                    b -= 1
                    length += 1
                    if n_words[a] >= min_words and n_words[b] >= min_words and not hot[a] & 2:
                        seeded_before = True
                        break
                if seeded_before:
                    continue
                u = x + 1
                v = y + 1
                while length < size and v < total and document[u] == d and document[v] == e and classes[u] == classes[v]:
                    u += 1
                    v += 1
                    length += 1
                if length >= size:
                    continue
                if 3 * n_found == len(found):
                    found = _grow(found)
                found[3 * n_found] = a
                found[3 * n_found + 1] = b
                found[3 * n_found + 2] = length
                n_found += 1
    return found[: 3 * n_found]
