"""Kernels that bring found and aligned passages together: ends moved word by word, and which of two that overlap stays."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

from ibidem.alignment.equal_kernels import equal_before, equal_from
from ibidem.compiling import inner_kernel, outer_kernel

_HALF, _NEARLY_ALL = 0.5, 0.9


@outer_kernel
def word_spans(passages, sentence, sentence_first, spans):
    """Write the spans of words that passages (first row and end in a, first row and end in b) cover, flat."""
    for i in range(len(passages)):
        for side in range(2):
            spans[4 * i + 2 * side] = sentence_first[sentence[passages[i, 2 * side]]]
            spans[4 * i + 2 * side + 1] = sentence_first[sentence[passages[i, 2 * side + 1] - 1] + 1]


@outer_kernel
def extend_equal(spans, documents, stems, document_first, least_words, added):
    """Move the ends of passages outwards as long as the words are the same on both sides; `added` has how many they are.

    Fewer than `least_words` on one end may be chance, and are left out.
    """
    for i in range(len(added)):
        low_a, high_a = document_first[documents[2 * i]], document_first[documents[2 * i] + 1]
        low_b, high_b = document_first[documents[2 * i + 1]], document_first[documents[2 * i + 1] + 1]
        is_one = documents[2 * i] == documents[2 * i + 1]
        if is_one:  # a text and its copy do not run into one another
            high_a = spans[4 * i + 2]
        a, b = spans[4 * i + 1], spans[4 * i + 3]
        n = equal_from(stems, a, b, high_a, high_b)
        added[i] = 0
        if n >= least_words:
            spans[4 * i + 1], spans[4 * i + 3] = a + n, b + n
            added[i] = n
        if is_one:
            low_b = spans[4 * i + 1]
        a, b = spans[4 * i], spans[4 * i + 2]
        n = equal_before(stems, a, b, low_a, low_b)
        if n >= least_words:
            spans[4 * i], spans[4 * i + 2] = a - n, b - n
            added[i] += n


@outer_kernel
def mark_covered(rectangles, first, last, spans, slack, is_covered):
    """Mark the rectangles that lie in a passage on both sides, all but `slack` words; those of its pair are [first, last)."""
    for i in range(len(is_covered)):
        is_covered[i] = False
        for j in range(first[i], last[i]):
            inside = True
            for k in range(0, 4, 2):
                inside &= rectangles[4 * i + k] >= spans[4 * j + k] - slack
                inside &= rectangles[4 * i + k + 1] <= spans[4 * j + k + 1] + slack
            if inside:
                is_covered[i] = True
                break


@inner_kernel
def _covers(spans, i, j, share):
    """Tell whether passage i covers at least a share of passage j on both sides."""
    for side in range(2):
        start, end = spans[4 * j + 2 * side], spans[4 * j + 2 * side + 1]
        low, high = max(start, spans[4 * i + 2 * side]), min(end, spans[4 * i + 2 * side + 1])
        if high - low < share * (end - start):
            return False
    return True


@outer_kernel
def choose_passages(pairs, spans, is_found, is_kept):
    """Decide which passages stay: an aligned one goes if one of its pair that stays covers half of it on both sides.

    One that was found by sentences goes only if nearly all of it lies in an aligned one. Passages come pair by pair, and those
    that are to be kept rather than others first.
    """
    start = 0
    while start < len(pairs):
        end = start + 1
        while end < len(pairs) and pairs[end] == pairs[start]:
            end += 1
        for i in range(start, end):
            is_kept[i] = True
            share = _NEARLY_ALL if is_found[i] else _HALF
            for j in range(start, i):
                if is_kept[j] and not (is_found[i] and is_found[j]) and _covers(spans, j, i, share):
                    is_kept[i] = False
                    break
        start = end
