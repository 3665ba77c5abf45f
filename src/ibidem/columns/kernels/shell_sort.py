"""Shell sort: in place, without recursion, and fast for the short lists that kernels sort.

The algorithm is always the same. What differs is how a row moves to its place: its columns, their layout in memory, and its
key. So a sort is made from the kernel that does this.
"""

from __future__ import annotations

from ibidem.execution.compiler import inlined_kernel, inner_kernel


def shell_sort(insert):
    """Return a kernel that sorts rows [begin, end) of its columns.

    `insert(begin, gap, i, *columns)` moves row i down by multiples of `gap`, not below `begin`, past all rows that belong after
    it.
    """

    @inner_kernel
    def sort(begin, end, *columns):
        n = end - begin
        gap = 1
        while gap < n // 3:
            gap = 3 * gap + 1
        while gap > 0:
            for i in range(begin + gap, end):
                insert(begin, gap, i, *columns)
            gap //= 3

    return sort


@inlined_kernel
def _insert_number(begin, gap, i, values):
    value = values[i]
    while i >= begin + gap and values[i - gap] > value:
        values[i] = values[i - gap]
        i -= gap
    values[i] = value


sort_numbers = shell_sort(_insert_number)
