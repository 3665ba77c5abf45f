"""Bounds for two sets with a Jaccard similarity of at least p/q, as integers."""

from __future__ import annotations

from ibidem.execution.compiler import inlined_kernel


@inlined_kernel
def needed_overlap(size_x, size_y, p, q):
    """Return how many elements two sets must share: p (|x| + |y|) / (p + q), rounded up."""
    return (p * (size_x + size_y) + p + q - 1) // (p + q)


@inlined_kernel
def smallest_partner(size, p, q):
    """Return the size of the smallest set that a set may be similar to: p |x| / q, rounded up."""
    return (p * size + q - 1) // q


@inlined_kernel
def largest_partner(size, n_left, p, q):
    """Return the size of the largest set that a set may be similar to by sharing at most `n_left` elements with it."""
    return n_left * (p + q) // p - size


@inlined_kernel
def probe_prefix(size, p, q):
    """Return how many of a set's first elements are looked up: it shares one of them with any similar set."""
    return size - smallest_partner(size, p, q) + 1


@inlined_kernel
def index_prefix(size, p, q):
    """Return how many of a set's first elements have postings: those where similar sets that are not smaller meet it."""
    return size - needed_overlap(size, size, p, q) + 1
