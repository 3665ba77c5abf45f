"""Kernels that find places of two documents worth aligning: rare words next to one another in both, in any order; or sixteen
words in a row.

A *bond* is two rare words in a row, or with one more between them; common ones are left out. Edited, reordered and translated
text keeps some of its bonds; by chance two texts have hardly any, and not close together. Bonds and runs of eight words
(octets) are *marks* of a text: equal ones meet. Words of sentences that also appear elsewhere, unchanged, are *closed*: marks
of closed words meet open ones only, for equal sentences are found without them.
"""

from __future__ import annotations

import numpy as np

from ibidem.alignment.kernels.seeds import OCTET_WORDS, equal_before, equal_from, next_cluster, put_task, sort_seeds
from ibidem.columns.hashes import FACTOR, mix
from ibidem.columns.kernels.machine_words import fetch_ahead
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel

STEM_SLOTS = 1 << 22
SLOT_BITS = np.uint32(10)
_SPREAD = np.uint64(FACTOR)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
RECTANGLE = 4
WINDOW = 9
_AHEAD = 16  # marks, for what is fetched early
MOST_SHIFT, SHIFT_PER_WORDS = 8, 8  # by how many words bonds in place may be farther apart in one text: one more in eight words


@outer_kernel
def count_stems(stems, counts):
    """Count stems by the first bits of their hashes; stems that share them are counted together."""
    for k in range(len(stems)):
        counts[stems[k] >> SLOT_BITS] += 1


@inlined_kernel
def _byte_of(key, wanted):
    """Return the byte of `wanted` that has the bit of a key. Keys may share bits."""
    return np.int64(key >> np.uint64(3)) & (len(wanted) - 1)


@inlined_kernel
def _bit_of(key):
    return np.uint8(1) << np.uint8(key & np.uint64(7))


@inlined_kernel
def put_mark(key, word, document, is_open, wanted, marks, n):
    """Add a mark if its key is wanted, and return how many there are. All are wanted if nothing is said about them."""
    keys, words, documents, openness = marks
    keys[n], words[n], documents[n], openness[n] = key, word, document, is_open
    # It is overwritten if it is not wanted: no jump, so that the next keys are looked up meanwhile.
    return n + (1 if len(wanted) == 0 else np.int64(wanted[_byte_of(key, wanted)] & _bit_of(key) != 0))


@outer_kernel
def list_bonds(stems, is_open, first, begin, end, counts, most, reach, wanted, marks):
    """List the bonds of documents [begin, end): key, first word, document, whether one of its words is open.

    A word is rare if it is counted at most `most` times. The two words of a bond are at most `reach` words apart, with at most
    one rare word between them.
    """
    n = np.int64(0)
    for document in range(begin, end):
        before = last = np.int64(-1)
        for k in range(first[document], first[document + 1]):
            if counts[stems[k] >> SLOT_BITS] > most:
                continue
            for other in (before, last):
                if other >= 0 and k - other <= reach and stems[k] != stems[other]:
                    low, high = min(stems[k], stems[other]), max(stems[k], stems[other])
                    key = ((np.uint64(low) << _HALF | np.uint64(high)) * _SPREAD) >> _HALF
                    n = put_mark(key, other, document, is_open[k] or is_open[other], wanted, marks, n)
            before, last = last, k
    return n


@outer_kernel
def mark_wanted(keys, most_places, wanted):
    """Mark the keys (sorted) that have two to `most_places` marks: others lead to no meeting."""
    start = 0
    while start < len(keys):
        end = start + 1
        while end < len(keys) and keys[end] == keys[start]:
            end += 1
        if 2 <= end - start <= most_places:
            key = np.uint64(keys[start])
            wanted[_byte_of(key, wanted)] |= _bit_of(key)
        start = end


@outer_kernel
def number_marks(keys):
    """Put the number of every mark below its key."""
    for i in range(len(keys)):
        keys[i] = keys[i] << _HALF | np.uint64(i)


@outer_kernel
def list_octets(stems, is_open, first, begin, end, hashes, wanted, marks):
    """List runs of eight words of documents [begin, end), winnowed: key, first word, document, whether an end is open.

    Of every WINDOW that follow one another the one with the smallest hash is listed, so of a run of OCTET_WORDS + WINDOW - 1
    words in two texts gives the same ones in both.
    """
    n = np.int64(0)
    for document in range(begin, end):
        low, n_octets = first[document], first[document + 1] - first[document] - OCTET_WORDS + 1
        smallest = listed = np.int64(-1)
        for k in range(n_octets):
            h = np.uint64(0)
            for i in range(OCTET_WORDS):
                h = mix(h, np.uint64(stems[low + k + i]))
            # Checked before the new hash replaces the one that leaves the window.
            is_gone = smallest <= k - WINDOW
            is_least = smallest < 0 or (not is_gone and h <= hashes[smallest % WINDOW])
            hashes[k % WINDOW] = h
            if is_least:
                smallest = k
            elif is_gone:
                smallest = k - WINDOW + 1
                for i in range(k - WINDOW + 2, k + 1):
                    if hashes[i % WINDOW] <= hashes[smallest % WINDOW]:
                        smallest = i
            # Texts shorter than a window have one too.
            if smallest != listed and (k >= WINDOW - 1 or k == n_octets - 1):
                listed = smallest
                at = low + smallest
                is_open_mark = is_open[at] or is_open[at + OCTET_WORDS - 1]
                n = put_mark(hashes[smallest % WINDOW] >> _HALF, at, document, is_open_mark, wanted, marks, n)
    return n


@outer_kernel
def list_runs(starts_a, starts_b, documents_a, documents_b, stems, document_first, least_words, rectangles):
    """List the runs of at least `least_words` equal words around meetings, as rectangles.

    Meetings are sorted by diagonal and place, so that those inside the previous run are skipped: no word is read twice.
    """
    n, last_diagonal, last_end = np.int64(0), np.int64(0), np.int64(-1)
    for i in range(len(starts_a)):
        a, b = starts_a[i], starts_b[i]
        if b - a == last_diagonal and a < last_end:
            continue
        left, right = documents_a[i], documents_b[i]
        before = equal_before(stems, a, b, document_first[left], document_first[right])
        after = equal_from(stems, a, b, document_first[left + 1], document_first[right + 1])
        last_diagonal, last_end = b - a, a + after
        if before + after >= least_words:
            at = RECTANGLE * n
            rectangles[at], rectangles[at + 1] = a - before, a + after
            rectangles[at + 2], rectangles[at + 3] = b - before, b + after
            n += 1
    return n


@inlined_kernel
def _end_of_group(keys, start):
    """Return the end of the group of equal keys (upper halves) that begins at `start`."""
    end = start + 1
    while end < len(keys) and keys[end] >> _HALF == keys[start] >> _HALF:
        end += 1
    return end


@outer_kernel
def list_meetings(keys, begin, end, most_places, documents, openness, side, group_numbers, counting, first, meetings):
    """List the marks [begin, end) that meet in two documents, one of them open, by the first one's document.

    Called twice: `counting` adds to `first` how many each document has. Then the meetings (mark of a, mark of b) are written to
    where `first` says; it counts them.
    """
    start = begin
    while start < end:
        after = _end_of_group(keys, start)
        for i in range(start, after):
            mark = np.int64(keys[min(i + _AHEAD, len(keys) - 1)] & _LOW)
            fetch_ahead(documents, mark)
            fetch_ahead(openness, mark)
        if 2 <= after - start <= most_places:
            for i in range(start, after):
                a = np.int64(keys[i] & _LOW)
                for j in range(i + 1, after):
                    b = np.int64(keys[j] & _LOW)
                    left, right = documents[a], documents[b]
                    if left == right or not (openness[a] or openness[b]):
                        continue
                    if len(side) > 0 and side[left] == side[right]:
                        continue
                    if len(group_numbers) > 0 and group_numbers[left] >= 0 and group_numbers[left] == group_numbers[right]:
                        continue
                    if not counting:
                        meetings[2 * first[left]], meetings[2 * first[left] + 1] = a, b
                    first[left] += 1
        start = after


@inlined_kernel
def _with_enough(start, stop, meetings, documents, least_bonds, n_met):
    """Move the meetings of documents that meet often enough to the front, in their order; return where they end.

    `n_met` counts by document, and is 0 between calls. Most documents meet once or twice: these need not be sorted.
    """
    for i in range(start, stop):
        fetch_ahead(documents, np.int64(meetings[2 * min(i + _AHEAD, stop - 1) + 1]))
        n_met[documents[meetings[2 * i + 1]]] += 1
    kept = start
    for i in range(start, stop):
        if n_met[documents[meetings[2 * i + 1]]] >= least_bonds:
            a, b = meetings[2 * i], meetings[2 * i + 1]
            # What is kept changes places with what is not, so that no meeting is lost.
            meetings[2 * i], meetings[2 * i + 1] = meetings[2 * kept], meetings[2 * kept + 1]
            meetings[2 * kept], meetings[2 * kept + 1] = a, b
            kept += 1
    for i in range(start, stop):
        n_met[documents[meetings[2 * i + 1]]] = 0
    return kept


@inner_kernel
def _are_in_place(places, start, end):
    """Tell whether bonds are about as far from one another in one text as in the other, give or take a few words."""
    low = high = places[2 * start + 1] - places[2 * start]
    first = last = places[2 * start]
    for i in range(start + 1, end):
        shift = places[2 * i + 1] - places[2 * i]
        low, high = min(low, shift), max(high, shift)
        first, last = min(first, places[2 * i]), max(last, places[2 * i])
    return high - low <= MOST_SHIFT + (last - first) // SHIFT_PER_WORDS


@inner_kernel
def _list_clusters(places, n_places, least_bonds, max_gap, in_place, tasks, span, rectangles, n):
    """List the rectangles around clusters of bonds (word of a, word of b; flat) that gaps do not divide, with `in_place` only
    if they are; return how many there are now.
    """
    height = put_task(tasks, 0, 0, n_places, 0, 0, max_gap)
    while True:
        height = next_cluster(places, tasks, height, span)
        if height < 0:
            return n
        if span[1] - span[0] < least_bonds:
            continue
        # A bond that repeats on the other side counts once.
        is_enough = True
        for side in range(2):
            sort_seeds(span[0], span[1], places, side)
            n_different = 1
            for i in range(span[0] + 1, span[1]):
                n_different += places[2 * i + side] != places[2 * i - 2 + side]
            is_enough &= n_different >= least_bonds
            rectangles[RECTANGLE * n + 2 * side] = places[2 * span[0] + side]
            rectangles[RECTANGLE * n + 2 * side + 1] = places[2 * span[1] - 2 + side] + 1
        n += is_enough and (not in_place or _are_in_place(places, span[0], span[1]))


@outer_kernel
def list_rectangles(
    begin, end, first, meetings, words, documents, least_bonds, max_gap, n_met, places, tasks, span, rectangles
):  # fmt: skip
    """List the rectangles (words of a, words of b) of documents a [begin, end) where enough bonds meet close together.

    If there are none in two documents, bonds that are in place may be twice as far from one another: a noisy copy has few.
    The meetings of a document change places. `n_met` has a 0 for every document.
    """
    n = np.int64(0)
    for document in range(begin, end):
        start = first[document]
        stop = _with_enough(start, first[document + 1], meetings, documents, least_bonds, n_met)
        sort_seeds(start, stop, meetings, 1)  # bonds are numbered in reading order, so this also sorts by document b
        while start < stop:
            other = documents[meetings[2 * start + 1]]
            after = start + 1
            while after < stop and documents[meetings[2 * after + 1]] == other:
                after += 1
            if after - start >= least_bonds:
                for i in range(start, after):
                    at = 2 * (i - start)
                    places[at], places[at + 1] = words[meetings[2 * i]], words[meetings[2 * i + 1]]
                n_before = n
                n = _list_clusters(places, after - start, least_bonds, max_gap, False, tasks, span, rectangles, n)
                if n == n_before:
                    n = _list_clusters(places, after - start, least_bonds, 2 * max_gap, True, tasks, span, rectangles, n)
            start = after
    return n
