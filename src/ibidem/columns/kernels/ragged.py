"""Kernels of ragged arrays."""

from __future__ import annotations

from ibidem.execution.compiler import outer_kernel


@outer_kernel
def copy_ranges(values, begins, counts, out):
    """Write `counts[i]` values from `begins[i]` on for each i, concatenated."""
    n = 0
    for i in range(len(begins)):
        begin = begins[i]
        for k in range(counts[i]):
            out[n] = values[begin + k]
            n += 1
