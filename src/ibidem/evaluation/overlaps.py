"""Which true and found passages meet, and how many characters stretches cover."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ibidem.evaluation.document_numbers import MAX_CHARS, Numbers, Passages

_BLOCK_ROWS = 1 << 18  # more do not stay in the processor's cache


class Meetings(NamedTuple):
    """True and found passages that meet, by row, in the order of the truth; and the stretches they share, by side."""

    truth: Numbers
    found: Numbers
    starts: Numbers
    ends: Numbers


def find_meetings(truth: Passages, found: Passages) -> Meetings:
    """Return all pairs of a true and a found passage of the same two documents that overlap on both sides."""
    order = np.argsort(found.pair * MAX_CHARS + found.starts[0], kind="stable")
    # Passages of about one length at a time: a long one reaches over all the short ones behind it.
    length_class = np.frexp(np.maximum(found.ends[0] - found.starts[0], 0)[order])[1]
    classes = [order[length_class == each] for each in np.unique(length_class)] or [order]
    blocks = [block for chosen in classes for block in _meetings_by_block(truth, found.take(chosen), chosen)]
    joined = Meetings(*(np.concatenate(column, axis=-1) for column in zip(*blocks, strict=True)))
    if len(classes) == 1:
        return joined
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    by_truth = np.lexsort((place[joined.found], joined.truth))
    return Meetings(*(column[..., by_truth] for column in joined))


def count_covered(owner: Numbers, start: Numbers, end: Numbers, n_owners: int) -> Numbers:
    """Return how many characters the stretches of each owner cover, each character counted once."""
    order = np.argsort(owner * MAX_CHARS + start)
    owner, start, end = owner[order], start[order], end[order]
    first, last = owner * MAX_CHARS + start, owner * MAX_CHARS + end
    # Up to where the stretches before have counted; those of other owners end before this one's text begins.
    reached = np.maximum.accumulate(np.concatenate([np.zeros(1, np.int64), last]))[:-1]
    fresh = np.maximum(last - np.maximum(first, reached), 0)
    return np.bincount(owner, weights=fresh, minlength=n_owners).astype(np.int64)


def _meetings_by_block(truth: Passages, found: Passages, rows: Numbers) -> Iterator[Meetings]:
    """Look on side 0 for what can overlap, then at both sides; a block is so many candidates at once.

    Found passages come in their order on side 0; `rows` says which ones they are.
    """
    # The farthest end so far rises with the rows, so that the first row that can reach into a passage is looked up.
    reach = np.maximum.accumulate(found.pair * MAX_CHARS + found.ends[0])
    low = np.searchsorted(reach, truth.pair * MAX_CHARS + truth.starts[0], side="right")
    high = np.searchsorted(found.pair * MAX_CHARS + found.starts[0], truth.pair * MAX_CHARS + truth.ends[0], side="left")
    n_candidates = np.maximum(high - low, 0)
    total = np.concatenate([[0], np.cumsum(n_candidates)])
    row = 0
    while True:
        next_row = max(row + 1, int(np.searchsorted(total, total[row] + _BLOCK_ROWS, side="right")) - 1)
        counts = n_candidates[row:next_row]
        of_truth = np.repeat(np.arange(row, row + len(counts)), counts)
        before = np.cumsum(counts) - counts
        of_found = np.arange(len(of_truth)) + np.repeat(low[row:next_row] - before, counts)
        for side in (1, 0):  # what was looked up on side 0 mostly overlaps there
            overlaps = found.starts[side, of_found] < truth.ends[side, of_truth]
            overlaps &= truth.starts[side, of_truth] < found.ends[side, of_found]
            of_truth, of_found = of_truth[overlaps], of_found[overlaps]
        starts = np.maximum(truth.starts[:, of_truth], found.starts[:, of_found])
        ends = np.minimum(truth.ends[:, of_truth], found.ends[:, of_found])
        shared = (starts < ends).all(axis=0)  # an empty stretch lies inside others, and shares nothing with them
        yield Meetings(of_truth[shared], rows[of_found[shared]], starts[:, shared], ends[:, shared])
        row = next_row
        if row >= len(n_candidates):
            return
