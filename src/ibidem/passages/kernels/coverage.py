"""Kernels of the tables: passages from rows to characters, and which parts of each document also appear elsewhere."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.collection import NO_TIME
from ibidem.columns.kernels.machine_words import fetch_ahead
from ibidem.execution.compiler import outer_kernel
from ibidem.passages.kernels.chains import A_END, A_FIRST, B_END, B_FIRST, EQUAL, FLAGS, N_SENTENCES, WHOLE

_AHEAD = 16  # passages, for what is fetched early
_EXACT, _NEAR, _QUOTE = 0, 1, 2
_UNKNOWN, _A_TO_B, _B_TO_A = 0, 1, 2


class CoverageColumns(NamedTuple):
    """Coverage per slot: the first slot of each document, characters before, the sums, and the last pair counted."""

    first: NDArray[np.int64]
    chars_before: NDArray[np.int64]
    elsewhere: NDArray[np.int32]
    before: NDArray[np.int32]
    counted: NDArray[np.int32]


@outer_kernel
def locate(
    passages, min_sentences, document, sentence, start_char, end_char, document_first, times, names, places, kinds, directions,
    sentences,
):  # fmt: skip
    """Write for every passage its two documents, its four offsets, its kind, its direction and its two first sentences.

    These are counted in their documents, whose sentences begin at `document_first`.
    """
    for i in range(len(passages)):
        if i + 2 * _AHEAD < len(passages):
            # The other side is anywhere in the collection.
            fetch_ahead(sentence, passages[i + 2 * _AHEAD, B_FIRST])
            fetch_ahead(document, passages[i + 2 * _AHEAD, B_FIRST])
            fetch_ahead(start_char, sentence[passages[i + _AHEAD, B_FIRST]])
            fetch_ahead(end_char, sentence[passages[i + _AHEAD, B_END] - 1])
        for side in range(2):
            first = passages[i, B_FIRST if side else A_FIRST]
            last = passages[i, B_END if side else A_END] - 1
            names[side, i] = document[first]
            sentences[side, i] = sentence[first] - document_first[document[first]]
            places[2 * side, i] = start_char[sentence[first]]
            places[2 * side + 1, i] = end_char[sentence[last]]
        if passages[i, N_SENTENCES] < min_sentences and not passages[i, FLAGS] & WHOLE:
            kinds[i] = _QUOTE
        else:
            kinds[i] = _EXACT if passages[i, FLAGS] & EQUAL else _NEAR
        time_a = times[names[0, i]]
        time_b = times[names[1, i]]
        if time_a == time_b or min(time_a, time_b) == NO_TIME:
            directions[i] = _UNKNOWN
        else:
            directions[i] = _A_TO_B if time_a < time_b else _B_TO_A


@outer_kernel
def count_before(document_first, start_char, end_char, chars_before):
    """Write for each slot how many characters the sentences of all slots before it have, and last their number."""
    slot, n_chars = np.int64(0), np.int64(0)
    for d in range(len(document_first) - 1):
        for s in range(document_first[d], document_first[d + 1]):
            chars_before[slot] = n_chars
            n_chars += np.int64(end_char[s]) - np.int64(start_char[s])
            slot += 1
        chars_before[slot] = n_chars
        slot += 1
    chars_before[slot] = n_chars


@outer_kernel
def add_passages(passages, first_number, document, sentence, times, a_is_first, coverage, min_coverage, copies):
    """Add what appears elsewhere and what appears earlier; return the number of pairs that are copies of one another.

    Passages are grouped by pair; a pair is a copy if its passages cover the share `min_coverage` of both documents. They are
    numbered from `first_number` on, over all calls.
    """
    document_first = coverage.first
    chars_before = coverage.chars_before
    elsewhere = coverage.elsewhere
    before = coverage.before
    counted = coverage.counted
    n_copies = 0
    pair = first_number
    covered_a = 0
    covered_b = 0
    for i in range(len(passages)):
        if i + 2 * _AHEAD < len(passages):
            # The other side is anywhere in the collection.
            fetch_ahead(sentence, passages[i + 2 * _AHEAD, B_FIRST])
            fetch_ahead(document, passages[i + 2 * _AHEAD, B_FIRST])
            slot = sentence[passages[i + _AHEAD, B_FIRST]] + document[passages[i + _AHEAD, B_FIRST]]
            fetch_ahead(elsewhere, slot)
            fetch_ahead(before, slot)
            fetch_ahead(chars_before, slot)
        d = document[passages[i, A_FIRST]]
        e = document[passages[i, B_FIRST]]
        a = sentence[passages[i, A_FIRST]] + d
        a_end = sentence[passages[i, A_END] - 1] + d + 1
        b = sentence[passages[i, B_FIRST]] + e
        b_end = sentence[passages[i, B_END] - 1] + e + 1
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
        is_last = i + 1 == len(passages) or document[passages[i + 1, A_FIRST]] != d or document[passages[i + 1, B_FIRST]] != e
        if is_last and pair == first_number + i:  # the only one of its pair
            covered_a = chars_before[a_end] - chars_before[a]
            covered_b = chars_before[b_end] - chars_before[b]
        else:
            # A sentence in several passages of the pair is counted once: `counted` has the last pair that included it.
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
                copies[0, n_copies] = d
                copies[1, n_copies] = e
                n_copies += 1
            covered_a = 0
            covered_b = 0
            pair = first_number + i + 1
    return n_copies


@outer_kernel
def add_up(slots, more_elsewhere, more_before, elsewhere, before):
    """Add to the coverage of slots."""
    for i in range(len(slots)):
        elsewhere[slots[i]] += more_elsewhere[i]
        before[slots[i]] += more_before[i]


@outer_kernel
def share_by_document(elsewhere, before, chars_before, document_first, shares):
    """Sum up coverage: of each document's characters, the share that appears elsewhere and the share first seen here."""
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
