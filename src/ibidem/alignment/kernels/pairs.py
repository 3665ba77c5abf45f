"""Kernels that align many pairs of texts, one by one.

The words of two texts, and their runs of two, four and eight words, are numbered: equal numbers are equal runs, and counts per
number are plain arrays. The table of numbers uses open addressing; a new stamp empties it.
"""

from __future__ import annotations

import numpy as np

from ibidem.alignment.kernels.ends import extend_passages
from ibidem.alignment.kernels.evidence import (
    N_GRADES,
    VERBATIM_MODELS,
    best_stretch,
    best_stretches,
    grade_against,
    measure_rates,
    passages_of_seeds,
)
from ibidem.alignment.kernels.room import PASSAGE, Text
from ibidem.alignment.kernels.seeds import common_octets, equal_from, merge_short, similar_sentences, weigh_sentences
from ibidem.columns.hashes import GOLDEN
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.sentences.kernels.stems import SENTENCE_BOUND

OUTCOME = 6  # pair, start and end in a, start and end in b, words in common
_HALF = np.uint64(32)
MOST_IN_DOCUMENT = (1 << 16) - 1  # of one word, as far as is counted
_LEAST_SENTENCE_WORDS = 3
_LEAST_HOPE_OF_PLACE = 0.5  # of the evidence that a passage needs, in a place and what is close to it
# What makes a stretch a summary of the whole other text.
_SUMMARY_RATIO = 2  # words of the text that is summed up, at least, for each of the summary
_MOST_OF_TEXT = 0.4  # of its own text
_MOST_AROUND_PER_WORD = -0.3  # evidence of the words around it
_LEAST_OWN_EVIDENCE, _LEAST_OWN_EVIDENCE_PER_WORD = 12.0, 0.25  # of its words that are in no passage
_MOST_COPIED = 0.5  # of its words, in one passage word for word
_RARE_COUNT, _WINDOW_RATIO, _MOST_IN_WINDOW = 4, 2, 0.8  # how many of the rare words may be from one window of the other text


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
def _evidence_of(grades, low, high, weights, n_models):
    """Return the evidence of words [low, high) under the model of summaries."""
    total = 0.0
    for k in range(low, high):
        total += weights[n_models * N_GRADES + grades[k]]
    return total


@inner_kernel
def _is_own_work(start, end, side, room, limits, n):
    """Tell whether a stretch draws on the other text beyond the passages found in it: a few copied sentences are no summary,
    nor is a single long copy with a few words more.
    """
    for i in range(n):
        at = PASSAGE * i + 2 * side
        if room.evidence[2 * i] > 0.0 and room.passages[PASSAGE * i + 4] < VERBATIM_MODELS:
            n_copied = min(end, room.passages[at + 1]) - max(start, room.passages[at])
            if n_copied > _MOST_COPIED * (end - start):
                return False
    evidence, n_words = 0.0, np.int64(0)
    for k in range(start, end):
        is_covered = False
        for i in range(n):
            at = PASSAGE * i + 2 * side
            is_covered |= room.evidence[2 * i] > 0.0 and room.passages[at] <= k and k < room.passages[at + 1]
        if not is_covered:
            evidence += limits.weights[limits.n_models * N_GRADES + room.grading.grades[k]]
            n_words += 1
    return evidence >= _LEAST_OWN_EVIDENCE and evidence >= _LEAST_OWN_EVIDENCE_PER_WORD * n_words


@inner_kernel
def _is_spread(text, start, end, other_start, other_end, room):
    """Tell whether the rare words of a stretch come from all over the other text, rather than from one place in it."""
    used, words = room.grading.used, text.words
    for k in range(start, end):
        used[words[k]] = 1
    width = min(_WINDOW_RATIO * (end - start), other_end - other_start)
    n_all, n_here, n_most = np.int64(0), np.int64(0), np.int64(0)
    for k in range(other_start, other_end):
        is_rare = used[words[k]] > 0 and room.total[words[k]] <= _RARE_COUNT
        n_all += is_rare
        n_here += is_rare
        gone = k - width
        if gone >= other_start and used[words[gone]] > 0 and room.total[words[gone]] <= _RARE_COUNT:
            n_here -= 1
        n_most = max(n_most, n_here)
    for k in range(start, end):
        used[words[k]] = 0
    return n_most <= _MOST_IN_WINDOW * n_all


@inner_kernel
def _best_summary(text, side, n_in_other, room, limits, summary):
    """Write the stretch of one text that draws most on the whole of the other to `summary`; return its evidence, 0 if none.

    A summary is much shorter than what it sums up, and part of a text that is otherwise about something else. If only a part of
    the other document is here, there is none. Whether it has been copied is not asked here.
    """
    own_start = text.n_a_words if side else np.int64(0)
    own_end = text.n_words if side else text.n_a_words
    other_start = np.int64(0) if side else text.n_a_words
    other_end = text.n_a_words if side else text.n_words
    if other_end - other_start < n_in_other:
        return 0.0
    grade_against(text, other_start, other_end, own_start, own_end, room, limits)
    grades, weights, n_models = room.grading.grades, limits.weights, limits.n_models
    evidence = best_stretch(
        grades, text.bounds, own_start, own_end, own_start, own_end, weights, n_models, limits.end_costs, np.inf, room.found
    )
    start, end = room.found[0], room.found[1]
    n_words = end - start
    if evidence < max(limits.min_summary_evidence, limits.min_evidence) or n_words < limits.min_words:
        return 0.0
    if other_end - other_start < _SUMMARY_RATIO * n_words or n_words > _MOST_OF_TEXT * (own_end - own_start):
        return 0.0
    around = _evidence_of(grades, own_start, start, weights, n_models) + _evidence_of(grades, end, own_end, weights, n_models)
    if around > _MOST_AROUND_PER_WORD * (own_end - own_start - n_words):
        return 0.0
    if not _is_spread(text, start, end, other_start, other_end, room):
        return 0.0
    summary[2 * side], summary[2 * side + 1] = start, end
    summary[2 - 2 * side], summary[3 - 2 * side] = other_start, other_end
    return evidence


@inner_kernel
def _put_summary(text, n_in_a, n_in_b, room, limits, n):
    """Add a summary, if there is one, and drop the passages that lie in it. Returns how many passages there are."""
    of_a = _best_summary(text, 0, n_in_b, room, limits, room.core)
    if of_a > 0.0 and not _is_own_work(room.core[0], room.core[1], 0, room, limits, n):
        of_a = 0.0
    of_b = _best_summary(text, 1, n_in_a, room, limits, room.place)
    if of_b > 0.0 and not _is_own_work(room.place[2], room.place[3], 1, room, limits, n):
        of_b = 0.0
    side = 1 if of_b > of_a else 0
    most = max(of_a, of_b)
    if most <= 0.0:
        return n
    start, end = (room.place[2], room.place[3]) if side else (room.core[0], room.core[1])
    for i in range(n):
        at = PASSAGE * i + 2 * side
        if room.passages[at] < end and start < room.passages[at + 1]:
            room.evidence[2 * i] = room.evidence[2 * i + 1] = 0.0
    for k in range(4):
        room.passages[PASSAGE * n + k] = room.place[k] if side else room.core[k]
    room.passages[PASSAGE * n + 4] = limits.n_models
    room.evidence[2 * n] = room.evidence[2 * n + 1] = most
    return n + 1


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
        n = _put_summary(text, n_in_a, n_in_b, room, limits, n)
    extend_passages(text, room, limits, n)
    return n


@inner_kernel
def _text_of(pair, spans, room):
    """Return the text of a pair of spans, whose words are not yet there."""
    for side in range(2):
        room.starts[side], room.ends[side] = spans[4 * pair + 2 * side], spans[4 * pair + 2 * side + 1]
    n_a_words = room.ends[0] - room.starts[0]
    return Text(room.words, room.pairs, room.runs, room.bounds, n_a_words, n_a_words + room.ends[1] - room.starts[1])


@outer_kernel
def mark_summaries(stems, bounds, in_document, spans, n_in_documents, pair, last_pair, room, limits, is_marked):
    """Mark the pairs of spans [pair, last_pair) in which a stretch of one text sums up the other, unless it has been copied.

    The arguments are those of `align_pairs`.
    """
    for i in range(pair, last_pair):
        text = _text_of(i, spans, room)
        n_in_a, n_in_b = n_in_documents[2 * i], n_in_documents[2 * i + 1]
        is_marked[i - pair] = False
        if text.n_words - text.n_a_words < n_in_b and text.n_a_words < n_in_a:
            continue
        _begin(stems, bounds, in_document, n_in_a, n_in_b, text, room, limits)
        is_marked[i - pair] = (
            _best_summary(text, 0, n_in_b, room, limits, room.core) > 0.0
            or _best_summary(text, 1, n_in_a, room, limits, room.place) > 0.0
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


@outer_kernel
def mark_hopeful(stems, bounds, in_document, spans, n_in_documents, pair, last_pair, room, limits, is_marked):
    """Mark the pairs of spans [pair, last_pair) that have enough evidence on both sides to be aligned with their surroundings.

    The arguments are those of `align_pairs`.
    """
    least = _LEAST_HOPE_OF_PLACE * limits.min_evidence
    for i in range(pair, last_pair):
        text = _text_of(i, spans, room)
        _begin(stems, bounds, in_document, n_in_documents[2 * i], n_in_documents[2 * i + 1], text, room, limits)
        n_a, n = text.n_a_words, text.n_words
        is_marked[i - pair] = (
            _most_evidence(text, 0, n_a, n_a, n, room, limits) >= least
            and _most_evidence(text, n_a, n, 0, n_a, room, limits) >= least
        )


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
