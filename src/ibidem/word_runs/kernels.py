"""Kernels of word runs: which grams represent windows, and the runs that windows form."""

from __future__ import annotations

import numpy as np

from ibidem.execution.compiler import outer_kernel


@outer_kernel
def winnow(keys, first, width, queue, chosen):
    """Write for the stretch of `width` keys that starts at each word the place of its smallest key, the last of equal ones; -1
    if the text ends before. `queue` has room for `width` places.

    The choice depends on the keys alone: equal stretches choose equal keys at equal places.
    """
    for text in range(len(first) - 1):
        begin, end = first[text], first[text + 1]
        head = n = np.int64(0)  # a ring of places with increasing keys
        for i in range(begin, end):
            start = i - width + 1
            if keys[i] == 0:
                chosen[i] = -1
                if start >= begin:
                    chosen[start] = -1
                continue
            chosen[i] = -1
            while n > 0 and keys[queue[(head + n - 1) % width]] >= keys[i]:
                n -= 1
            if n > 0 and queue[head] < start:
                head = (head + 1) % width
                n -= 1
            queue[(head + n) % width] = i
            n += 1
            if start >= begin:
                chosen[start] = queue[head]


@outer_kernel
def link_windows(place, document, size, source_document, source_word, is_linked, starts, sizes, sources):
    """Write runs of windows whose sources follow one another: start, words, source document and word; return how many.

    Windows have `size` words, come in order, and have a `place` in the words of all texts.
    """
    n = np.int64(0)
    for i in range(len(place)):
        if not is_linked[i]:
            continue
        follows = i > 0 and is_linked[i - 1] and place[i] == place[i - 1] + 1 and document[i] == document[i - 1]
        if follows and source_document[i] == source_document[i - 1] and source_word[i] == source_word[i - 1] + 1:
            sizes[n - 1] += 1
            continue
        starts[n], sizes[n], sources[n, 0], sources[n, 1] = place[i], size, source_document[i], source_word[i]
        n += 1
    return n


@outer_kernel
def cut_runs(starts, sizes, is_protected, reached, pieces):
    """Write the pieces of runs that are not protected and in no earlier run: start, end and run; return how many.

    Runs come in order; a later one ends later. Without enough room, -1.
    """
    n = np.int64(0)
    for run in range(len(starts)):
        i, end = max(starts[run], reached), starts[run] + sizes[run]
        while i < end:
            if is_protected[i]:
                i += 1
                continue
            begin = i
            while i < end and not is_protected[i]:
                i += 1
            if n == len(pieces):
                return -1
            pieces[n, 0], pieces[n, 1], pieces[n, 2] = begin, i, run
            n += 1
        reached = max(reached, end)
    return n


@outer_kernel
def are_same(words, starts, sizes, sources, same):
    """Write whether each run has the same words as its source, compared one by one."""
    for run in range(len(starts)):
        same[run] = True
        for k in range(sizes[run]):
            if words[starts[run] + k] != words[sources[run] + k]:
                same[run] = False
                break


@outer_kernel
def find_sources(rows, group_first, document, position, source):
    """Write for every row of a group the one whose document is first by `position`, the earliest in it; rows are increasing."""
    for group in range(len(group_first) - 1):
        best = rows[group_first[group]]
        for k in range(group_first[group] + 1, group_first[group + 1]):
            if position[document[rows[k]]] < position[document[best]]:
                best = rows[k]
        for k in range(group_first[group], group_first[group + 1]):
            source[rows[k]] = best
