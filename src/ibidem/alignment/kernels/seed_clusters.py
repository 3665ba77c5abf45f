"""Kernels that put seeds together: those near one another on both sides, in any order, are one cluster."""

from __future__ import annotations

import numpy as np

from ibidem.columns.kernels.shell_sort import shell_sort
from ibidem.execution.compiler import inlined_kernel, inner_kernel

TASK = 5  # first seed, end, side to cut by, whether the other side has been looked at, gap


@inlined_kernel
def _insert_seed(begin, gap, i, seeds, side):
    """Order seeds (flat pairs) by one side."""
    key, other = seeds[2 * i + side], seeds[2 * i + 1 - side]
    while i >= begin + gap and seeds[2 * (i - gap) + side] > key:
        seeds[2 * i + side] = seeds[2 * (i - gap) + side]
        seeds[2 * i + 1 - side] = seeds[2 * (i - gap) + 1 - side]
        i -= gap
    seeds[2 * i + side], seeds[2 * i + 1 - side] = key, other


sort_seeds = shell_sort(_insert_seed)


@inner_kernel
def put_task(tasks, n, start, end, side, is_whole, gap):
    """Put a task on the stack; return its new height."""
    at = TASK * n
    tasks[at], tasks[at + 1], tasks[at + 2], tasks[at + 3], tasks[at + 4] = start, end, side, is_whole, gap
    return n + 1


@inner_kernel
def next_cluster(seeds, tasks, n, span):
    """Cut the seeds of the top task until a cluster is left that no gap divides on either side.

    Its first seed, end and gap are written to `span`; returns the new height of the stack, or -1 if there is nothing left.
    """
    while n > 0:
        n -= 1
        start, end, side, is_whole, gap = (
            tasks[TASK * n], tasks[TASK * n + 1], tasks[TASK * n + 2], tasks[TASK * n + 3], tasks[TASK * n + 4],
        )  # fmt: skip
        sort_seeds(start, end, seeds, side)
        first = start
        for i in range(start + 1, end + 1):
            if i < end and seeds[2 * i + side] - seeds[2 * (i - 1) + side] <= gap + 1:
                continue
            if first == start and i == end:
                if is_whole:
                    span[0], span[1], span[2] = start, end, gap
                    return n
                n = put_task(tasks, n, start, end, 1 - side, 1, gap)
            else:
                n = put_task(tasks, n, first, i, 1 - side, 0, gap)
            first = i
    return np.int64(-1)
