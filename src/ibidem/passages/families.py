"""Passage families: one passage in all places where it appears, built from pairs of places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.kernels.union_find import flatten
from ibidem.passages.kernels.families import unite_overlapping

Numbers = NDArray[np.int64]
# A span is compared with this many earlier ones in its document.
_MOST_BACK = 64


@dataclass(frozen=True)
class Families:
    """Places by family, in reading order. `first` has the row of each family's first place, and last the number of places.

    `of_passage` is the family of every passage. Families are numbered by their first passages.
    """

    first: Numbers
    document: Numbers
    start: Numbers
    end: Numbers
    of_passage: Numbers

    def __len__(self) -> int:
        return len(self.first) - 1


def find_families(document: Numbers, start: Numbers, end: Numbers) -> Families:
    """Return the families of n passages, given their 2n places: first those in a, then those in b.

    Two places belong to one family if a passage leads from one to the other, or if they are in one document and share at
    least three quarters of the longer one: with half, passages that overlap a little form long chains. Places of one family
    that overlap are one.
    """
    n = len(document) // 2
    parent = np.tile(np.arange(n, dtype=np.int32), 2)
    order = np.lexsort((end, start, document))
    unite_overlapping(parent, order, document, start, end, _MOST_BACK)
    flatten(parent)
    roots, of_span = np.unique(parent, return_inverse=True)
    first, places = _places(of_span.astype(np.int64), document, start, end, len(roots))
    return Families(first, document[places[0]], start[places[0]], places[1], of_span[:n].astype(np.int64))


def _places(
    family: Numbers, document: Numbers, start: Numbers, end: Numbers, n_families: int
) -> tuple[Numbers, tuple[Numbers, Numbers]]:
    """Return the first place of every family, and all places: the span that begins each one, and where it ends."""
    order = np.lexsort((-end, start, document, family))
    family, document, start, end = family[order], document[order], start[order], end[order]
    is_other: NDArray[np.bool_] = np.ones(len(order), bool)
    is_other[1:] = (np.diff(family) != 0) | (np.diff(document) != 0)
    # Every document of a family gets its own range of positions, so that no span reaches into the next one.
    origin = (np.cumsum(is_other) - 1) * (int(end.max(initial=0)) + 1)
    reached = np.maximum.accumulate(origin + end) if len(end) else end
    begins = is_other.copy()
    begins[1:] |= (origin + start)[1:] >= reached[:-1]
    rows = np.flatnonzero(begins)
    ends = (reached - origin)[np.append(rows[1:], len(order)) - 1] if len(rows) else rows
    first = np.searchsorted(family[rows], np.arange(n_families + 1))
    return first, (order[rows], ends)
