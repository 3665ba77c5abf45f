"""Kernels that follow equal words of two texts, and tell which of two texts comes first."""

from __future__ import annotations

from ibidem.execution.compiler import inner_kernel, outer_kernel


@inner_kernel
def equal_from(stems, a, b, end_a, end_b):
    """Return how many words from `a` and from `b` on are the same, before the two ends."""
    n = 0
    while a + n < end_a and b + n < end_b and stems[a + n] == stems[b + n]:
        n += 1
    return n


@inner_kernel
def equal_before(stems, a, b, start_a, start_b):
    """Return how many words before `a` and before `b` are the same, from the two starts on."""
    n = 0
    while a - n > start_a and b - n > start_b and stems[a - n - 1] == stems[b - n - 1]:
        n += 1
    return n


@outer_kernel
def mark_turned(stems, spans, is_turned):
    """Mark the pairs of spans (flat) whose b is shorter than a, or of the same length and first by its words."""
    for pair in range(len(is_turned)):
        a, end_a, b, end_b = spans[4 * pair], spans[4 * pair + 1], spans[4 * pair + 2], spans[4 * pair + 3]
        is_turned[pair] = end_b - b < end_a - a
        if end_b - b == end_a - a:
            n = equal_from(stems, a, b, end_a, end_b)
            is_turned[pair] = a + n < end_a and stems[b + n] < stems[a + n]
