"""Kernels of the gram join: left-maximal pairs of equal windows, sentences and whole texts, extended to their full runs.

Rows, windows and `classes` are those of `kernels`; `hot` holds its flags: 1 the window that starts here is hot, 2 the
sentence itself is hot. What comes out are diagonals (row in a, row in b, length), one after the other.
"""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import SEED, mix
from ibidem.execution.compiler import growing_kernel, inner_kernel, twice

_ONE = np.uint64(1)


@inner_kernel
def comparable(d, e, same_document, side, kin):
    """Whether two documents may be paired: not the same one unless asked for, not one side of `--against`, not kin."""
    if d == e:
        return same_document
    if len(side) > 0 and side[d] == side[e]:
        return False
    return not (len(kin) > 0 and kin[d] >= 0 and kin[d] == kin[e])


@inner_kernel
def _write(found, n, a, b, length):
    """Write diagonal number n."""
    found[3 * n] = a
    found[3 * n + 1] = b
    found[3 * n + 2] = length


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


@growing_kernel
def pair_windows(rows, first, group_from, group_to, max_places, size, hot, classes, document, same_document, side, kin, leads):
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
            if len(leads) > 0 and not leads[d]:
                continue
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
                    found = twice(found)
                _write(found, n_found, a, b, length)
                n_found += 1
    return found[: 3 * n_found]


@growing_kernel
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
    leads,
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
            if len(leads) > 0 and not leads[d]:
                continue
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
                    found = twice(found)
                _write(found, n_found, x, y, length)
                n_found += 1
    return found[: 3 * n_found]


@growing_kernel
def pair_sentences(
    rows, first, group_from, group_to, max_places, size, hot, n_words, min_words, classes, document, same_document, side, kin,
    leads,
):  # fmt: skip
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
            if len(leads) > 0 and not leads[d]:
                continue
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
                    found = twice(found)
                _write(found, n_found, a, b, length)
                n_found += 1
    return found[: 3 * n_found]
