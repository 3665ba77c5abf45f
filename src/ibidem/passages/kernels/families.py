"""Which spans of one text are the same place, judging by their overlap."""

from __future__ import annotations

from ibidem.columns.kernels.union_find import unite
from ibidem.execution.compiler import outer_kernel


@outer_kernel
def unite_overlapping(parent, order, document, start, end, most_back):
    """Join spans of one document that share at least three quarters of the longer one; `order` is by document, start and end.

    Each span is compared with at most `most_back` spans that begin before it: where more than that overlap, they are
    chained by their neighbours.
    """
    for i in range(len(order)):
        one = order[i]
        last = max(0, i - most_back)
        for j in range(i - 1, last - 1, -1):
            other = order[j]
            if document[other] != document[one]:
                break
            overlap = min(end[one], end[other]) - start[one]
            longer = max(end[one] - start[one], end[other] - start[other])
            if 4 * overlap >= 3 * longer:
                unite(parent, one, other)
