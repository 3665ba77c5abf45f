"""Kernels that combine found and aligned passages: moving ends word by word, and choosing between overlapping ones.

A passage is a rectangle: a span of words in a and one in b. To find the passages of a pair of documents around a point without
reading all of them, passages of about one size are in a grid of cells of that size: each is in at most four cells, and what is
around a point is in one cell per size. Cells are slots of a table: `heads` has the last passage put into each (or -1),
`following` the one before it, with four entries per passage.
"""

from __future__ import annotations

import numpy as np

from ibidem.alignment.kernels.seeds import equal_before, equal_from
from ibidem.columns.hashes import SEED, mix
from ibidem.columns.kernels.shell_sort import sort_numbers
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.sentences.kernels.stems import ATTACHED, STOP_BOUND

ENTRIES = 4  # per passage: it may cross the corner of four cells
_HALF, _NEARLY_ALL = 0.5, 0.9
MOST_DIFFERENT = 6  # words of a difference that is crossed, and by how many more words may differ than are equal
MOST_BEYOND = 100  # equal words, after which no further difference is crossed: what is alike for long is found otherwise
MOST_REST = 3  # words of a sentence that belong to the rest of it, though they differ


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

    Fewer than `least_words` at one end may be chance and are left out.
    """
    for i in range(len(added)):
        low_a, high_a = document_first[documents[2 * i]], document_first[documents[2 * i] + 1]
        low_b, high_b = document_first[documents[2 * i + 1]], document_first[documents[2 * i + 1] + 1]
        is_one = documents[2 * i] == documents[2 * i + 1]
        if is_one:  # within one document, the two sides must not overlap
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
def count_common(spans, stems, room_a, room_b, counts):
    """Count the words that both sides of passages have, each as often as the side that has it less often."""
    for i in range(len(counts)):
        n_a, n_b = spans[4 * i + 1] - spans[4 * i], spans[4 * i + 3] - spans[4 * i + 2]
        for k in range(n_a):
            room_a[k] = stems[spans[4 * i] + k]
        for k in range(n_b):
            room_b[k] = stems[spans[4 * i + 2] + k]
        sort_numbers(0, n_a, room_a)
        sort_numbers(0, n_b, room_b)
        a, b, n = np.int64(0), np.int64(0), np.int64(0)
        while a < n_a and b < n_b:
            of_a, of_b = room_a[a], room_b[b]
            n += of_a == of_b
            a += of_a <= of_b
            b += of_b <= of_a
        counts[i] = n


@inlined_kernel
def _word_beyond(stems, at, step, k):
    """Return the word that comes k words after the one next to `at`, in the direction of `step`."""
    return stems[at + k] if step > 0 else stems[at - 1 - k]


@inner_kernel
def _equal_beyond(stems, a, b, step, of_a, of_b, n_a, n_b):
    """Return how many words are equal from the words on that come `of_a` after `a` and `of_b` after `b`, before n_a and n_b."""
    n = np.int64(0)
    while of_a + n < n_a and of_b + n < n_b:
        if _word_beyond(stems, a, step, of_a + n) != _word_beyond(stems, b, step, of_b + n):
            break
        n += 1
    return n


@inner_kernel
def _cross(stems, a, b, step, n_a, n_b, reached):
    """Find the smallest difference after the first two of `reached`, beyond which two words in a row are equal again; write how
    many words it has on both sides to the last two.

    Tells whether there is one of at most MOST_DIFFERENT words.
    """
    for size in range(1, MOST_DIFFERENT + 1):
        for fewer in range(size, -1, -1):
            for turn in range(2):
                of_a, of_b = (fewer, size) if turn else (size, fewer)
                if _equal_beyond(stems, a, b, step, reached[0] + of_a, reached[1] + of_b, n_a, n_b) >= 2:
                    reached[2], reached[3] = of_a, of_b
                    return True
    return False


@inner_kernel
def _words_of_sentence(bounds, at, step, n):
    """Return how many of `n` words remain of the sentence from `at` on."""
    for k in range(n):
        if bounds[at + step * k] >= STOP_BOUND:
            return k
    return n


@inner_kernel
def _rest_of_sentence(bounds, at, step, n):
    """Return how many of `n` words remain of the sentence from `at` on, if they are few; otherwise 0."""
    for k in range(min(MOST_REST, n) + 1):
        if bounds[at + step * k] >= STOP_BOUND:
            return k
    return 0


@inner_kernel
def _reach_across(stems, bounds, a, b, step, n_a, n_b, reached):
    """Go on from `a` and `b` across differences that have fewer words than are equal beyond them, and to the end of a sentence
    if few words remain of it on both sides; write how many words are reached to the first two of `reached`.

    There are n_a and n_b words. Returns how many of those reached are equal.
    """
    best_a = best_b = most = score = n = n_equal = np.int64(0)
    reached[0] = reached[1] = np.int64(0)
    while score > most - MOST_DIFFERENT and n < MOST_BEYOND and _cross(stems, a, b, step, n_a, n_b, reached):
        of_a, of_b = reached[0] + reached[2], reached[1] + reached[3]
        run = _equal_beyond(stems, a, b, step, of_a, of_b, n_a, n_b)
        score += run - max(reached[2], reached[3])
        n += run
        reached[0], reached[1] = of_a + run, of_b + run
        if score > most:
            best_a, best_b, most, n_equal = reached[0], reached[1], score, n
    while n_equal > 0 and bounds[a + step * best_a] == ATTACHED and bounds[b + step * best_b] == ATTACHED:
        best_a, best_b, n_equal = best_a - 1, best_b - 1, n_equal - 1
    rest_a = _rest_of_sentence(bounds, a + step * best_a, step, n_a - best_a)
    rest_b = _rest_of_sentence(bounds, b + step * best_b, step, n_b - best_b)
    if rest_a > 0 and rest_b > 0:
        best_a, best_b = best_a + rest_a, best_b + rest_b
    reached[0], reached[1] = best_a, best_b
    return n_equal


@outer_kernel
def extend_across(spans, documents, stems, bounds, document_first, least_words, reached, equal):
    """Move the ends of passages outwards across short differences, within their sentences, where at least `least_words` words
    before the end are equal.

    `equal` has how many equal words that adds. `reached` has room for four.
    """
    for i in range(len(equal)):
        equal[i] = 0
        for step in (1, -1):
            a, b = (spans[4 * i + 1], spans[4 * i + 3]) if step > 0 else (spans[4 * i], spans[4 * i + 2])
            # In scripts without spaces, the last character of an end is not the beginning of an equal word.
            last = step > 0 and stems[a - 1] != stems[b - 1] and (stems[a - 1] & stems[b - 1] & np.uint32(1)) != 0
            a, b = a - last, b - last
            n_a, n_b = (a - spans[4 * i], b - spans[4 * i + 2]) if step > 0 else (spans[4 * i + 1] - a, spans[4 * i + 3] - b)
            if _equal_beyond(stems, a, b, -step, 0, 0, n_a, n_b) < least_words:
                continue
            of_a, of_b = documents[2 * i], documents[2 * i + 1]
            n_a = document_first[of_a + 1] - a if step > 0 else a - document_first[of_a]
            n_b = document_first[of_b + 1] - b if step > 0 else b - document_first[of_b]
            if of_a == of_b:  # within one document, the two sides must not overlap
                n_a, n_b = (min(n_a, spans[4 * i + 2] - a), n_b) if step > 0 else (n_a, min(n_b, b - spans[4 * i + 1]))
            n_a, n_b = _words_of_sentence(bounds, a, step, n_a), _words_of_sentence(bounds, b, step, n_b)
            equal[i] += _reach_across(stems, bounds, a, b, step, n_a, n_b, reached)
            if last and reached[0] == 0:
                continue
            if step > 0:
                spans[4 * i + 1], spans[4 * i + 3] = a + reached[0], b + reached[1]
            else:
                spans[4 * i], spans[4 * i + 2] = a - reached[0], b - reached[1]


@inner_kernel
def _size_class(spans, i):
    """Return the class of a passage by its longer side: the number of bits that its length needs."""
    length = max(spans[4 * i + 1] - spans[4 * i], spans[4 * i + 3] - spans[4 * i + 2])
    bits = np.int64(0)
    while np.int64(1) << bits < length:
        bits += 1
    return bits


@inner_kernel
def _cell_slot(pair, bits, cell_a, cell_b, n_slots):
    """Return the slot of a cell; cells may share slots. The number of slots is a power of two."""
    key = mix(mix(mix(SEED, np.uint64(pair)), np.uint64(cell_a) << np.uint64(6) | np.uint64(bits)), np.uint64(cell_b))
    return np.int64(mix(key, SEED) & np.uint64(n_slots - 1))


@inner_kernel
def _put_into_cells(pair, spans, i, slack, heads, following):
    """Put a passage, wider by `slack` on all sides, into its cells; return its class."""
    bits = _size_class(spans, i)
    while np.int64(1) << bits < 2 * slack:  # so that it is still in at most four cells
        bits += 1
    bits += slack > 0
    low_a, high_a = (spans[4 * i] - slack) >> bits, (spans[4 * i + 1] + slack) >> bits
    low_b, high_b = (spans[4 * i + 2] - slack) >> bits, (spans[4 * i + 3] + slack) >> bits
    entry = ENTRIES * i
    for cell_a in range(low_a, high_a + 1):
        for cell_b in range(low_b, high_b + 1):
            slot = _cell_slot(pair, bits, cell_a, cell_b, len(heads))
            following[entry] = heads[slot]
            heads[slot] = entry
            entry += 1
    return bits


@outer_kernel
def mark_covered(rectangles, pairs, spans, span_pairs, slack, heads, following, is_covered):
    """Mark the rectangles inside a passage of their pair on both sides, except for `slack` words."""
    most_bits = np.int64(0)
    for j in range(len(span_pairs)):
        most_bits = max(most_bits, _put_into_cells(span_pairs[j], spans, j, slack, heads, following))
    for i in range(len(is_covered)):
        is_covered[i] = False
        a = (rectangles[4 * i] + rectangles[4 * i + 1]) // 2
        b = (rectangles[4 * i + 2] + rectangles[4 * i + 3]) // 2
        for bits in range(most_bits + 1):
            entry = heads[_cell_slot(pairs[i], bits, a >> bits, b >> bits, len(heads))]
            while entry >= 0 and not is_covered[i]:
                j = entry // ENTRIES
                inside = span_pairs[j] == pairs[i]
                for k in range(0, 4, 2):
                    inside &= rectangles[4 * i + k] >= spans[4 * j + k] - slack
                    inside &= rectangles[4 * i + k + 1] <= spans[4 * j + k + 1] + slack
                is_covered[i] = inside
                entry = following[entry]
            if is_covered[i]:
                break


@outer_kernel
def find_around(points, pairs, spans, span_pairs, slack, heads, following, around):
    """Write for each point (a word of a, one of b; flat) the longest passage of its pair that it is in, -1 if there is none.

    Words are counted from the passage's start on both sides, and must be as far from it except for `slack` words and what one
    side of the passage is longer than the other.
    """
    most_bits = np.int64(0)
    for j in range(len(span_pairs)):
        most_bits = max(most_bits, _put_into_cells(span_pairs[j], spans, j, 0, heads, following))
    for i in range(len(around)):
        a, b, longest, is_first = points[2 * i], points[2 * i + 1], np.int64(-1), False
        around[i] = -1
        for bits in range(most_bits + 1):
            entry = heads[_cell_slot(pairs[i], bits, a >> bits, b >> bits, len(heads))]
            while entry >= 0:
                j = np.int64(entry // ENTRIES)
                entry = following[entry]
                start_a, end_a, start_b, end_b = spans[4 * j], spans[4 * j + 1], spans[4 * j + 2], spans[4 * j + 3]
                if span_pairs[j] != pairs[i] or a < start_a or a >= end_a or b < start_b or b >= end_b:
                    continue
                size_a, size_b = end_a - start_a, end_b - start_b
                if abs((a - start_a) - (b - start_b)) > abs(size_a - size_b) + slack:
                    continue
                size, best = size_a + size_b, around[i]
                if size == longest:  # the first one by its place, in whatever order they come
                    is_first = start_a < spans[4 * best] or (start_a == spans[4 * best] and start_b < spans[4 * best + 2])
                if size > longest or (size == longest and is_first):
                    longest, around[i] = size, j


@inner_kernel
def _covers(spans, i, j, most_share):
    """Return whether passage i covers half of passage j on both sides, and at least `most_share` of it on one."""
    is_most = False
    for side in range(2):
        start, end = spans[4 * j + 2 * side], spans[4 * j + 2 * side + 1]
        low, high = max(start, spans[4 * i + 2 * side]), min(end, spans[4 * i + 2 * side + 1])
        if high - low < _HALF * (end - start):
            return False
        is_most |= high - low >= most_share * (end - start)
    return is_most


@outer_kernel
def choose_passages(pairs, spans, is_found, heads, following, is_kept):
    """Decide which passages are kept: an aligned one is dropped if a kept one of its pair covers half of it on both sides.

    One found by sentences is dropped only if, besides, nearly all of one side is inside an aligned one: what is left of the
    other side then has no counterpart. Passages that are preferred to others of their pair come first.
    """
    most_bits = np.int64(-1)
    for i in range(len(pairs)):
        is_kept[i] = True
        share = _NEARLY_ALL if is_found[i] else _HALF
        # What covers half of a stretch covers its middle, and is at least half as long.
        a, b = (spans[4 * i] + spans[4 * i + 1]) // 2, (spans[4 * i + 2] + spans[4 * i + 3]) // 2
        bits = max(np.int64(0), _size_class(spans, i) - 1)
        while bits <= most_bits and is_kept[i]:
            entry = heads[_cell_slot(pairs[i], bits, a >> bits, b >> bits, len(heads))]
            while entry >= 0:
                j = entry // ENTRIES
                if pairs[j] == pairs[i] and not (is_found[i] and is_found[j]) and _covers(spans, j, i, share):
                    is_kept[i] = False
                    break
                entry = following[entry]
            bits += 1
        if is_kept[i]:
            most_bits = max(most_bits, _put_into_cells(pairs[i], spans, i, 0, heads, following))
