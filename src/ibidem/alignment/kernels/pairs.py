"""Kernels that align many pairs of texts, one by one.

The words of two texts, and their runs of two, four and eight words, are numbered: equal numbers are equal runs, and counts per
number are plain arrays. The table of numbers uses open addressing; a new stamp empties it.
"""

from __future__ import annotations

import numpy as np

from ibidem.alignment.kernels.ends import extend_passages
from ibidem.alignment.kernels.evidence import VERBATIM_MODELS, passages_of_seeds
from ibidem.alignment.kernels.grades import grade_against, measure_rates
from ibidem.alignment.kernels.room import PASSAGE, Text
from ibidem.alignment.kernels.seeds import common_octets, equal_from, merge_short, similar_sentences, weigh_sentences
from ibidem.alignment.kernels.stretches import best_stretches
from ibidem.alignment.kernels.summaries import best_summary, put_summary
from ibidem.columns.hashes import GOLDEN
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.sentences.kernels.stems import SENTENCE_BOUND

OUTCOME = 6  # pair, start and end in a, start and end in b, words in common
_HALF = np.uint64(32)
MOST_IN_DOCUMENT = (1 << 16) - 1  # of one word, as far as is counted
_LEAST_SENTENCE_WORDS = 3
_LEAST_HOPE_OF_PLACE = 0.5  # of the evidence that a passage needs, in a place and what is close to it


@inlined_kernel
def _number(table, mask, stamp, key, n):
    """Return the number of a key under this stamp, or `n` if it is new."""
    at = np.int64((key * GOLDEN) >> _HALF) & mask
    while table.stamps[at] == stamp:
        if table.keys[at] == key:
            return np.int64(table.numbers[at])
        at = (at + 1) & mask
    table.stamps[at] = stamp
    table.keys[at] = key
    table.numbers[at] = n
    return n


@inner_kernel
def _number_words(stems, in_document, starts, ends, table, mask, stamp, words, total, other):
    """Number the stems of spans [starts[i], ends[i]) in turn; return how many distinct ones there are.

    `total` is how often they are in the documents of the spans, as far as they are in the spans.
    """
    n, at = np.int64(0), np.int64(0)
    for k in range(starts[0], ends[0]):
        number = _number(table, mask, stamp, np.uint64(stems[k]), n)
        if number == n:
            total[n], other[n] = in_document[k], 0
            n += 1
        words[at] = number
        at += 1
    for k in range(starts[1], ends[1]):
        number = _number(table, mask, stamp, np.uint64(stems[k]), n)
        if number == n:
            total[n] = 0
            n += 1
        other[number] = in_document[k]
        words[at] = number
        at += 1
    for number in range(n):
        total[number] += other[number]
        other[number] = 0
    return n


@inner_kernel
def _number_runs(shorter, step, n_words, table, mask, stamp, runs):
    """Number runs of 2 * step words, each made of the shorter runs at its start and `step` words later.

    The last runs of a text reach beyond its end and are invalid; users of runs know where the text ends.
    """
    n = np.int64(0)
    for k in range(n_words):
        later = np.uint64(shorter[k + step] if k + step < n_words else -1)
        number = _number(table, mask, stamp, np.uint64(shorter[k]) << _HALF ^ (later & np.uint64(0xFFFFFFFF)), n)
        if number == n:
            n += 1
        runs[k] = number


@inlined_kernel
def _mask_for(n_words):
    """Return the mask of places in the table of numbers: only as much of it as a pair needs, so that it stays in the cache."""
    mask = np.int64(15)
    while mask < 2 * n_words:
        mask = 2 * mask + 1
    return mask


@inner_kernel
def number_text(stems, bounds, in_document, starts, ends, n_in_documents, text, room, stamp, unseen):
    """Bring two spans of words into one array: numbers of words, pairs and runs, and where stretches may begin."""
    n_words = text.n_words
    mask = _mask_for(n_words)
    n_different = _number_words(
        stems, in_document, starts, ends, room.table, mask, 4 * stamp, text.words, room.total, room.entries.sentence_counts
    )
    _number_runs(text.words, 1, n_words, room.table, mask, 4 * stamp + 1, text.pairs)
    _number_runs(text.pairs, 2, n_words, room.table, mask, 4 * stamp + 2, text.runs)
    at = np.int64(0)
    for side in range(2):
        for k in range(starts[side], ends[side]):
            text.bounds[at] = bounds[k]
            at += 1
    text.bounds[0] = text.bounds[text.n_a_words] = text.bounds[n_words] = SENTENCE_BOUND
    measure_rates(n_in_documents, n_different, room.total, unseen, room.grading.rates)


@inner_kernel
def number_octets(text, room):
    """Number the runs of eight words of a text that `number_text` has brought in: only seeds need them."""
    _number_runs(text.runs, 4, text.n_words, room.table, _mask_for(text.n_words), 4 * room.stamp[0] + 3, room.octets)


@inner_kernel
def find_seeds(text, room, limits):
    """Write all seeds of two texts; return how many, and the number of sentences of a."""
    n_a = merge_short(text.bounds, 0, text.n_a_words, _LEAST_SENTENCE_WORDS, room.firsts, 0)
    n_sentences = n_a + merge_short(text.bounds, text.n_a_words, text.n_words, _LEAST_SENTENCE_WORDS, room.firsts, n_a)
    for s in range(n_sentences):
        for i in range(room.firsts[s], room.firsts[s + 1]):
            room.sentence_of[i] = s
    weigh_sentences(text, room.firsts, n_sentences, room.seen, room.slot, room.entries)
    n = similar_sentences(n_a, n_sentences, room.entries, room.places, room.scores, limits, room.seeds)
    number_octets(text, room)
    n = common_octets(text, room.octets, room.sentence_of, n_a, room.places, room.seeds, n)
    return n, n_a


@inner_kernel
def _resolve(room, limits, n):
    """Set the evidence of passages that are not kept to 0.

    They are too short; or weak while others are word for word, so that what they share is more likely the subject; or passages
    with more evidence overlap them on both sides.
    """
    passages, evidence = room.passages, room.evidence
    has_verbatim = False
    for i in range(n):
        strength = min(evidence[2 * i], evidence[2 * i + 1])
        has_verbatim |= passages[PASSAGE * i + 4] < VERBATIM_MODELS and strength >= 2 * limits.min_evidence
    for i in range(n):
        at, strength = PASSAGE * i, min(evidence[2 * i], evidence[2 * i + 1])
        is_short = min(passages[at + 1] - passages[at], passages[at + 3] - passages[at + 2]) < limits.min_words
        is_weak = strength < limits.min_evidence * (
            limits.beside_verbatim if has_verbatim and passages[at + 4] >= VERBATIM_MODELS else 1
        )
        if is_short or is_weak:
            evidence[2 * i] = evidence[2 * i + 1] = 0.0
    for i in range(n):
        for j in range(n):
            of_i, of_j = evidence[2 * i] + evidence[2 * i + 1], evidence[2 * j] + evidence[2 * j + 1]
            if i == j or of_i == 0.0 or of_j < of_i or (of_j == of_i and j > i):
                continue
            meets = True
            for side in range(2):
                low = max(passages[PASSAGE * i + 2 * side], passages[PASSAGE * j + 2 * side])
                high = min(passages[PASSAGE * i + 2 * side + 1], passages[PASSAGE * j + 2 * side + 1])
                meets &= low < high
            if meets:
                evidence[2 * i] = evidence[2 * i + 1] = 0.0


@inner_kernel
def _words_in_common(text, a_start, a_end, b_start, b_end, room):
    """Return how many words of a stretch of a have their own counterpart in a stretch of b."""
    for k in range(b_start, b_end):
        room.grading.counts[text.words[k]] += 1
    n = np.int64(0)
    for k in range(a_start, a_end):
        if room.grading.counts[text.words[k]] > 0:
            room.grading.counts[text.words[k]] -= 1
            n += 1
    for k in range(b_start, b_end):
        room.grading.counts[text.words[k]] = 0
    return n


@inner_kernel
def _begin(stems, bounds, in_document, n_in_a, n_in_b, text, room, limits):
    """Bring two texts into the room."""
    room.stamp[0] += 1
    for k in range(len(room.graded)):
        room.graded[k] = -1
    number_text(stems, bounds, in_document, room.starts, room.ends, n_in_a + n_in_b, text, room, room.stamp[0], limits.unseen)


@inner_kernel
def _align(stems, bounds, in_document, n_in_a, n_in_b, text, room, limits):
    """Write the passages of two texts to the room; return how many. Those with evidence are kept."""
    _begin(stems, bounds, in_document, n_in_a, n_in_b, text, room, limits)
    if text.n_a_words == 0 or text.n_words == text.n_a_words:
        return np.int64(0)
    n_seeds, n_a = find_seeds(text, room, limits)
    n = passages_of_seeds(text, room.firsts, n_a, n_seeds, room, limits, room.passages, room.evidence)
    _resolve(room, limits, n)
    if limits.summaries:
        n = put_summary(text, n_in_a, n_in_b, room, limits, n)
    extend_passages(text, room, limits, n)
    return n


@inner_kernel
def _text_of(pair, spans, room):
    """Return the text of a pair of spans, whose words are not yet there."""
    for side in range(2):
        room.starts[side], room.ends[side] = spans[4 * pair + 2 * side], spans[4 * pair + 2 * side + 1]
    n_a_words = room.ends[0] - room.starts[0]
    return Text(room.words, room.pairs, room.runs, room.bounds, n_a_words, n_a_words + room.ends[1] - room.starts[1])


@inner_kernel
def _has_summary(text, n_in_a, n_in_b, room, limits):
    """Tell whether a stretch of one text sums up the other, unless it has been copied."""
    if text.n_words - text.n_a_words < n_in_b and text.n_a_words < n_in_a:
        return False
    return (
        best_summary(text, 0, n_in_b, room, limits, room.core) > 0.0
        or best_summary(text, 1, n_in_a, room, limits, room.place) > 0.0
    )


@inner_kernel
def _most_evidence(text, start, end, other_start, other_end, room, limits):
    """Return the evidence of the best stretch of one text, given all of the other, under any model."""
    grade_against(text, other_start, other_end, start, end, room, limits)
    best_stretches(room.grading, text.bounds, start, end, start, end, limits, room.models.stretches)
    most = room.models.stretches[0]
    for model in range(1, limits.n_models):
        most = max(most, room.models.stretches[model])
    return most


@inner_kernel
def _is_hopeful(text, room, limits):
    """Tell whether both texts have enough evidence for a passage to be found in them and around them."""
    least, n_a, n = _LEAST_HOPE_OF_PLACE * limits.min_evidence, text.n_a_words, text.n_words
    return (
        _most_evidence(text, 0, n_a, n_a, n, room, limits) >= least
        and _most_evidence(text, n_a, n, 0, n_a, room, limits) >= least
    )


@outer_kernel
def mark_promising(
    stems, bounds, in_document, spans, n_in_documents, pair, last_pair, room, limits, for_summaries, is_marked
):  # fmt: skip
    """Mark the pairs of spans [pair, last_pair) that are worth aligning, with their surroundings; or as whole texts, because a
    stretch of one may sum up the other.

    The other arguments are those of `align_pairs`.
    """
    for i in range(pair, last_pair):
        text = _text_of(i, spans, room)
        n_in_a, n_in_b = n_in_documents[2 * i], n_in_documents[2 * i + 1]
        _begin(stems, bounds, in_document, n_in_a, n_in_b, text, room, limits)
        if for_summaries:
            is_marked[i - pair] = _has_summary(text, n_in_a, n_in_b, room, limits)
        else:
            is_marked[i - pair] = _is_hopeful(text, room, limits)


@outer_kernel
def mark_turned(stems, spans, is_turned):
    """Mark the pairs of spans (flat) whose b is shorter than a, or equally long and first by its words."""
    for pair in range(len(is_turned)):
        a, end_a, b, end_b = spans[4 * pair], spans[4 * pair + 1], spans[4 * pair + 2], spans[4 * pair + 3]
        is_turned[pair] = end_b - b < end_a - a
        if end_b - b == end_a - a:
            n = equal_from(stems, a, b, end_a, end_b)
            is_turned[pair] = a + n < end_a and stems[b + n] < stems[a + n]


@outer_kernel
def align_pairs(stems, bounds, in_document, spans, n_in_documents, pair, last_pair, room, limits, outcomes):
    """Align the pairs of spans (start and end in a, start and end in b; flat) from `pair` on.

    `in_document` says how often each word is in its document, and `n_in_documents` how many words the two documents of a pair
    have (flat).

    An outcome has the columns named by OUTCOME, with places counted as in the spans. Returns the first pair that did not fit,
    and the number of outcomes. If called again from that pair, with the same room, it is not aligned again.
    """
    n_outcomes = np.int64(0)
    while pair < last_pair:
        text = _text_of(pair, spans, room)
        n, room.waiting[0] = room.waiting[0], 0
        if n == 0:
            n_in_a, n_in_b = n_in_documents[2 * pair], n_in_documents[2 * pair + 1]
            n = _align(stems, bounds, in_document, n_in_a, n_in_b, text, room, limits)
        n_kept = np.int64(0)
        for i in range(n):
            n_kept += room.evidence[2 * i] > 0.0
        if OUTCOME * (n_outcomes + n_kept) > len(outcomes):
            room.waiting[0] = n
            break
        for i in range(n):
            if room.evidence[2 * i] <= 0.0:
                continue
            at, out = PASSAGE * i, OUTCOME * n_outcomes
            outcomes[out] = pair
            for k in range(4):
                shift = room.starts[0] if k < 2 else room.starts[1] - text.n_a_words
                outcomes[out + 1 + k] = room.passages[at + k] + shift
            outcomes[out + 5] = _words_in_common(
                text, room.passages[at], room.passages[at + 1], room.passages[at + 2], room.passages[at + 3], room
            )
            n_outcomes += 1
        pair += 1
    return pair, n_outcomes


@outer_kernel
def count_in_documents(stems, document_first, table, numbers, counts, in_document):
    """Write how often every word is in its document: at most MOST_IN_DOCUMENT times.

    The table has at least twice as many slots as the longest document has words.
    """
    for document in range(len(document_first) - 1):
        start, n_words = document_first[document], document_first[document + 1] - document_first[document]
        mask = np.int64(15)
        while mask < 2 * n_words:
            mask = 2 * mask + 1
        n = np.int64(0)
        for k in range(n_words):
            number = _number(table, mask, document + 1, np.uint64(stems[start + k]), n)
            if number == n:
                counts[n] = 0
                n += 1
            counts[number] += 1
            numbers[k] = number
        for k in range(n_words):
            in_document[start + k] = min(counts[numbers[k]], MOST_IN_DOCUMENT)
