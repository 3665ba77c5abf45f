"""Kernels of the tables: passages from rows to characters, and what of each document stands elsewhere."""

from __future__ import annotations

from ibidem.columns.collection import NO_TIME
from ibidem.execution.compiler import outer_kernel

_EXACT, _NEAR, _QUOTE = 0, 1, 2
_EQUAL, _WHOLE = 1, 2
_UNKNOWN, _A_TO_B, _B_TO_A = 0, 1, 2


@outer_kernel
def locate(passages, min_sentences, document, sentence, start_char, end_char, times, names, places, kinds, directions):
    """Write for every passage its two documents, its four offsets, its kind and its direction."""
    for i in range(len(passages)):
        for side in range(2):
            first = passages[i, 2 * side]
            last = passages[i, 2 * side + 1] - 1
            names[side, i] = document[first]
            places[2 * side, i] = start_char[sentence[first]]
            places[2 * side + 1, i] = end_char[sentence[last]]
        if passages[i, 4] < min_sentences and not passages[i, 5] & _WHOLE:
            kinds[i] = _QUOTE
        else:
            kinds[i] = _EXACT if passages[i, 5] & _EQUAL else _NEAR
        time_a = times[names[0, i]]
        time_b = times[names[1, i]]
        if time_a == time_b or min(time_a, time_b) == NO_TIME:
            directions[i] = _UNKNOWN
        else:
            directions[i] = _A_TO_B if time_a < time_b else _B_TO_A


@outer_kernel
def mark_passages(
    passages,
    document,
    sentence,
    times,
    a_is_first,
    chars_before,
    document_first,
    min_coverage,
    elsewhere,
    before,
    counted,
    first_number,
    copies_a,
    copies_b,
):
    """Mark what stands elsewhere and what stands somewhere before; return the number of pairs that are copies of one another.

    Marks are +1 at the first sentence and -1 after the last, to be summed up. Passages come pair by pair; a pair is a copy
    if its passages cover the share `min_coverage` of both documents. `counted` is -1 for every sentence at first; passages are
    numbered from `first_number` on, over all calls.
    """
    n_copies = 0
    pair = first_number
    covered_a = 0
    covered_b = 0
    for i in range(len(passages)):
        a = sentence[passages[i, 0]]
        a_end = sentence[passages[i, 1] - 1] + 1
        b = sentence[passages[i, 2]]
        b_end = sentence[passages[i, 3] - 1] + 1
        d = document[passages[i, 0]]
        e = document[passages[i, 2]]
        elsewhere[a] += 1
        elsewhere[a_end] -= 1
        elsewhere[b] += 1
        elsewhere[b_end] -= 1
        a_first = a_is_first
        if times[d] != NO_TIME and times[e] != NO_TIME and times[d] != times[e]:
            a_first = times[d] < times[e]
        later = b if a_first else a
        later_end = b_end if a_first else a_end
        before[later] += 1
        before[later_end] -= 1
        is_last = i + 1 == len(passages) or document[passages[i + 1, 0]] != d or document[passages[i + 1, 2]] != e
        if is_last and pair == first_number + i:  # the only one of its pair
            covered_a = chars_before[a_end] - chars_before[a]
            covered_b = chars_before[b_end] - chars_before[b]
        else:
            # A sentence that several passages of the pair share is counted once: `counted` keeps the last pair that saw it.
            for s in range(a, a_end):
                if counted[s] != pair:
                    counted[s] = pair
                    covered_a += chars_before[s + 1] - chars_before[s]
            for s in range(b, b_end):
                if counted[s] != pair:
                    counted[s] = pair
                    covered_b += chars_before[s + 1] - chars_before[s]
        if is_last:
            whole_a = chars_before[document_first[d + 1]] - chars_before[document_first[d]]
            whole_b = chars_before[document_first[e + 1]] - chars_before[document_first[e]]
            if d != e and covered_a >= min_coverage * whole_a and covered_b >= min_coverage * whole_b:
                copies_a[n_copies] = d
                copies_b[n_copies] = e
                n_copies += 1
            covered_a = 0
            covered_b = 0
            pair = first_number + i + 1
    return n_copies


@outer_kernel
def mark_places(first, last, earliest, elsewhere, before):
    """Mark the places of a repeat group in the same way; all but the earliest have something before them."""
    for i in range(len(first)):
        elsewhere[first[i]] += 1
        elsewhere[last[i]] -= 1
        if i != earliest:
            before[first[i]] += 1
            before[last[i]] -= 1


@outer_kernel
def share_by_document(elsewhere, before, chars_before, document_first, shares):
    """Sum up the marks: of each document's characters, the share that stands elsewhere and the share first seen here."""
    n_elsewhere = 0
    n_before = 0
    for d in range(len(document_first) - 1):
        reused = 0
        first = 0
        for s in range(document_first[d], document_first[d + 1]):
            n_elsewhere += elsewhere[s]
            n_before += before[s]
            if n_elsewhere > 0:
                chars = chars_before[s + 1] - chars_before[s]
                reused += chars
                first += chars if n_before == 0 else 0
        total = max(1, chars_before[document_first[d + 1]] - chars_before[document_first[d]])
        shares[0, d] = reused / total
        shares[1, d] = first / total
