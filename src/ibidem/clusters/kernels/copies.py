"""Kernels that decide, passage by passage, which words of edited copies are cut."""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import GOLDEN
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.sentences.kernels.stems import SENTENCE_BOUND

CUT, GIVES = np.uint8(1), np.uint8(2)  # of a word: it is removed; it is the kept copy of a sentence that is removed
PIECE = 5  # the passage, its first word and its end, words of it that the other side has, of how many
REACH_WORDS = 400  # how far from its expected place on the other side a stretch is looked for
FEW_WORDS = 5  # of a stretch: fewer have to be there in the same order
_WINDOW_RATIO, _MORE_WORDS = 2, 10  # of the other side's words, in which those of a stretch have to be together
_HALF = np.uint64(32)


@inlined_kernel
def _slot_of(token, stamp, table):
    """Return the slot of a word under this stamp, or the free one where it belongs."""
    tokens, stamps, _ = table
    mask = np.int64(len(tokens) - 1)
    slot = np.int64((np.uint64(token) * GOLDEN) >> _HALF) & mask
    while stamps[slot] == stamp and tokens[slot] != token:
        slot = (slot + 1) & mask
    return slot


@inner_kernel
def _number_there(words, start, end, low, high, stamp, table):
    """Return how many different words [start, end) has, and how many of them are together in a window of [low, high)."""
    tokens, stamps, counts = table
    n_different = np.int64(0)
    for k in range(start, end):
        slot = _slot_of(words[k], stamp, table)
        if stamps[slot] != stamp:
            stamps[slot], tokens[slot], counts[slot] = stamp, words[k], 0
            n_different += 1
    width = _WINDOW_RATIO * (end - start) + _MORE_WORDS
    n_here = n_most = np.int64(0)
    for k in range(low, high):
        slot = _slot_of(words[k], stamp, table)
        if stamps[slot] == stamp:
            counts[slot] += 1
            n_here += counts[slot] == 1
        if k - width >= low:
            slot = _slot_of(words[k - width], stamp, table)
            if stamps[slot] == stamp:
                counts[slot] -= 1
                n_here -= counts[slot] == 0
        n_most = max(n_most, n_here)
    return n_different, n_most


@inner_kernel
def _is_run(words, start, end, low, high):
    """Return whether the words [start, end) follow one another somewhere in [low, high)."""
    for at in range(low, high - (end - start) + 1):
        n = np.int64(0)
        while start + n < end and words[start + n] == words[at + n]:
            n += 1
        if start + n == end:
            return True
    return False


@outer_kernel
def cut_copies(spans, words, bounds, limit, states, table, pieces):
    """Cut what is still there of each passage, sentence by sentence, if its other side is kept; return the number of `pieces`.

    `spans` are start and end of the copy, start and end of what stays, flat, in the order of decision. A stretch of a sentence
    is cut if enough of its different words (at least the share `limit`, numerator and denominator) are close together on the
    other side, near the place where they are expected; a few words have to be there in the same order. Neighbouring stretches
    are one piece. Pieces are at most as many as `pieces` has room for; then -1. `table` has room for the words of a stretch.
    """
    n, stamp = np.int64(0), np.int64(0)
    for i in range(len(spans) // 4):
        a, end_a, b, end_b = spans[4 * i], spans[4 * i + 1], spans[4 * i + 2], spans[4 * i + 3]
        is_kept = True
        for k in range(b, end_b):
            if states[k] & CUT:
                is_kept = False
                break
        if not is_kept:
            continue
        last, start = np.int64(-1), a
        while start < end_a:
            if states[start]:
                start += 1
                continue
            end = start + 1
            while end < end_a and states[end] == 0 and bounds[end] != SENTENCE_BOUND:
                end += 1
            expected = b + (start - a) * (end_b - b) // (end_a - a)
            low, high = max(b, expected - REACH_WORDS), min(end_b, expected + end - start + REACH_WORDS)
            stamp += 1
            n_different, n_there = _number_there(words, start, end, low, high, stamp, table)
            is_copy = n_there * limit[1] >= limit[0] * n_different
            if is_copy and end - start < FEW_WORDS:
                is_copy = _is_run(words, start, end, low, high)
            if is_copy:
                for k in range(start, end):
                    states[k] = CUT
                if last < 0 or pieces[PIECE * last + 2] != start:
                    if PIECE * (n + 1) > len(pieces):
                        return -1
                    last = n
                    n += 1
                    pieces[PIECE * last], pieces[PIECE * last + 1] = i, start
                    pieces[PIECE * last + 3] = pieces[PIECE * last + 4] = 0
                pieces[PIECE * last + 2] = end
                pieces[PIECE * last + 3] += n_there
                pieces[PIECE * last + 4] += n_different
            start = end
    return n


@outer_kernel
def mark_waiting(documents, kept, is_open, waits):
    """Mark the documents that wait for another one which is decided elsewhere, or waits itself.

    Passages are in the order of their `documents`; `kept` is the earlier document, -1 if it is elsewhere. `is_open` says
    whether it is undecided, and afterwards whether it still is: whatever does not wait is decided in this round.
    """
    for i in range(len(documents)):
        if is_open[i]:
            if kept[i] >= 0 and not waits[kept[i]]:
                is_open[i] = False
            else:
                waits[documents[i]] = True
