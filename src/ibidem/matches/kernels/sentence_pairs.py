"""Kernels that list the pairs of matching sentences."""

from __future__ import annotations

from ibidem.columns.kernels.rows import may_pair
from ibidem.execution.compiler import outer_kernel
from ibidem.matches.kernels.join import similarity_of


@outer_kernel
def list_pairs(begin, end, rows, group_end, document, pairing, cells, has_cells, fill, first, second, similarity):
    """List the pairs of `rows[begin:end]` and later rows of the same group that may be compared and match; return how many.

    The group of place i ends at `group_end[i]`. Rows of a group have one class: where there are no cells, they are equal.
    Only with `fill` pairs are written.
    """
    n = 0
    for i in range(begin, end):
        x = rows[i]
        for j in range(i + 1, group_end[i]):
            y = rows[j]
            if not may_pair(document[x], document[y], pairing):
                continue
            alike = similarity_of(x, y, cells) if has_cells else 1.0
            if alike < 0.0:
                continue
            if fill:
                first[n] = x
                second[n] = y
                similarity[n] = alike
            n += 1
    return n
