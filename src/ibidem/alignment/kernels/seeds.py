"""Kernels that find seeds, group them into clusters, and follow equal words.

A *seed* is a pair of sentences, one from each text, that share enough to be examined closely. Sentences are compared by their
words, weighted by how few sentences of both texts contain them (tf-isf). Two are a seed if the cosine of their weights and
either the Dice coefficient of their word sets or the share of the smaller set in the larger reach their limits. In addition,
any run of eight words in both texts is a seed: so every common run of sixteen words has one, even in unsplit text, tables and
half sentences.

Seeds close to one another on both sides, in any order, are one *cluster*.
"""

from __future__ import annotations

import math

import numpy as np

from ibidem.alignment.kernels.room import OCTET_PLACES, SEEDS_A_SENTENCE, TASK
from ibidem.columns.kernels.shell_sort import shell_sort
from ibidem.execution.compiler import inlined_kernel, inner_kernel

OCTET_WORDS = 8
_LEAST_SHARED_WORDS = 4
_FREQUENT = 64  # words in more sentences than this, and in an eighth of all, mean nothing
_MOST_SENTENCES = 256  # nor do words in more than this: the work stays linear in the words


@inner_kernel
def merge_short(is_bound, start, end, least_words, firsts, at):
    """Write where sentences start to `firsts[at:]`, and `end` after them; return how many there are.

    Those of fewer words than `least_words` are joined to the next one, the last one to the previous one.
    """
    n = np.int64(0)
    firsts[at] = start
    for k in range(start + 1, end):
        if is_bound[k] and k - firsts[at + n] >= least_words:
            n += 1
            firsts[at + n] = k
    if n > 0 and end - firsts[at + n] < least_words:
        n -= 1
    firsts[at + n + 1] = end
    return n + 1


@inner_kernel
def weigh_sentences(text, firsts, n_sentences, seen, slot, entries):
    """Write the distinct words of every sentence with their weights, and the norms."""
    n = np.int64(0)
    entries.first[0] = 0
    for s in range(n_sentences):
        for k in range(firsts[s], firsts[s + 1]):
            word = text.words[k]
            if seen[word] != s + 1:
                seen[word] = s + 1
                slot[word] = n
                entries.words[n] = word
                entries.weights[n] = 1.0
                entries.sentence_counts[word] += 1
                n += 1
            else:
                entries.weights[slot[word]] += 1.0
        entries.first[s + 1] = n
    most = min(_FREQUENT + n_sentences // 8, _MOST_SENTENCES)
    for s in range(n_sentences):
        norm = 0.0
        for k in range(entries.first[s], entries.first[s + 1]):
            count = entries.sentence_counts[entries.words[k]]
            weight = entries.weights[k] * math.log(n_sentences / count) if count <= most else 0.0
            entries.weights[k] = weight
            norm += weight * weight
        entries.norms[s] = math.sqrt(norm)
    for k in range(text.n_words):
        seen[text.words[k]] = 0


@inner_kernel
def similar_sentences(n_a, n_sentences, entries, places, scores, limits, seeds):
    """Write the seeds (sentence of a, sentence of b) from similar sentences, flat; return how many.

    Sentences are numbered consecutively, those of b from `n_a` on. For each sentence of a, the SEEDS_A_SENTENCE best are kept.
    """
    entry_words, entry_first, head, following = entries.words, entries.first, places.head, places.following
    dots, shared, touched, best = scores.dots, scores.shared, scores.touched, scores.best
    most = min(_FREQUENT + n_sentences // 8, _MOST_SENTENCES)
    n = np.int64(0)
    for s in range(n_a, n_sentences):
        for k in range(entry_first[s], entry_first[s + 1]):
            following[k] = head[entry_words[k]]
            head[entry_words[k]] = k
            entries.sentence[k] = s
    for s in range(n_a):
        n_touched = np.int64(0)
        for k in range(entry_first[s], entry_first[s + 1]):
            if entries.sentence_counts[entry_words[k]] > most:
                continue
            other = head[entry_words[k]]
            while other >= 0:
                t = entries.sentence[other]
                if shared[t] == 0:
                    touched[n_touched] = t
                    n_touched += 1
                shared[t] += 1
                dots[t] += entries.weights[k] * entries.weights[other]
                other = following[other]
        n_kept = np.int64(0)
        size = entry_first[s + 1] - entry_first[s]
        for i in range(n_touched):
            t = touched[i]
            other_size = entry_first[t + 1] - entry_first[t]
            product = entries.norms[s] * entries.norms[t]
            cosine = dots[t] / product if product > 0.0 else 0.0
            alike = 2 * shared[t] >= limits.least_dice * (size + other_size)
            if not alike and shared[t] >= _LEAST_SHARED_WORDS:
                alike = shared[t] >= limits.least_share * min(size, other_size)
            shared[t] = 0
            dots[t] = 0.0
            if not alike or cosine < limits.least_cosine:
                continue
            # The best few, worst last.
            if n_kept == SEEDS_A_SENTENCE:
                if cosine <= best[n_kept - 1]:
                    continue
                n_kept -= 1
            at = n_kept
            while at > 0 and best[at - 1] < cosine:
                best[at] = best[at - 1]
                seeds[2 * (n + at) + 1] = seeds[2 * (n + at - 1) + 1]
                at -= 1
            best[at] = cosine
            seeds[2 * (n + at) + 1] = t - n_a
            n_kept += 1
        for i in range(n_kept):
            seeds[2 * (n + i)] = s
        n += n_kept
    for k in range(entry_first[n_a], entry_first[n_sentences]):
        head[entry_words[k]] = -1
    return n


@inner_kernel
def common_octets(text, octets, sentence_of, n_a, places, seeds, n):
    """Write the seeds from runs of eight words in both texts, after the `n` already there; return how many there are.

    Every run of either text is looked up in the other, where its first few places count.
    """
    end_a, end_b = text.n_a_words - OCTET_WORDS + 1, text.n_words - OCTET_WORDS + 1
    n = _octets_of_one(octets, 0, end_a, text.n_a_words, end_b, False, sentence_of, n_a, places, seeds, n)
    return _octets_of_one(octets, text.n_a_words, end_b, 0, end_a, True, sentence_of, n_a, places, seeds, n)


@inner_kernel
def _octets_of_one(octets, start, end, other_start, other_end, is_turned, sentence_of, n_a, places, seeds, n):
    """Look up the runs [start, end) of one text among those [other_start, other_end) of the other; `is_turned`: it is b."""
    head, following = places.head, places.following
    for k in range(other_end - 1, other_start - 1, -1):
        following[k] = head[octets[k]]
        head[octets[k]] = k
    last_a, last_b = np.int64(-1), np.int64(-1)
    for k in range(start, end):
        other = head[octets[k]]
        for _ in range(OCTET_PLACES):
            if other < 0:
                break
            a, b = (other, k) if is_turned else (k, other)
            of_a, of_b = np.int64(sentence_of[a]), np.int64(sentence_of[b]) - n_a
            if of_a != last_a or of_b != last_b:
                seeds[2 * n], seeds[2 * n + 1] = of_a, of_b
                last_a, last_b = of_a, of_b
                n += 1
            other = following[other]
    for k in range(other_start, other_end):
        head[octets[k]] = -1
    return n


@inlined_kernel
def _insert_seed(begin, gap, i, seeds, side):
    """Order seeds (flat pairs) by one side."""
    key, other = seeds[2 * i + side], seeds[2 * i + 1 - side]
    while i >= begin + gap and seeds[2 * (i - gap) + side] > key:
        seeds[2 * i + side] = seeds[2 * (i - gap) + side]
        seeds[2 * i + 1 - side] = seeds[2 * (i - gap) + 1 - side]
        i -= gap
    seeds[2 * i + side], seeds[2 * i + 1 - side] = key, other


sort_seeds = shell_sort(_insert_seed)


@inner_kernel
def put_task(tasks, n, start, end, side, is_whole, gap):
    """Put a task on the stack; return its new height."""
    at = TASK * n
    tasks[at], tasks[at + 1], tasks[at + 2], tasks[at + 3], tasks[at + 4] = start, end, side, is_whole, gap
    return n + 1


@inner_kernel
def next_cluster(seeds, tasks, n, span):
    """Cut the seeds of the top task until a cluster remains that no gap divides on either side.

    Its first seed, end and gap are written to `span`; returns the new height of the stack, or -1 if there is nothing left.
    """
    while n > 0:
        n -= 1
        start, end, side, is_whole, gap = (
            tasks[TASK * n], tasks[TASK * n + 1], tasks[TASK * n + 2], tasks[TASK * n + 3], tasks[TASK * n + 4],
        )  # fmt: skip
        sort_seeds(start, end, seeds, side)
        first = start
        for i in range(start + 1, end + 1):
            if i < end and seeds[2 * i + side] - seeds[2 * (i - 1) + side] <= gap + 1:
                continue
            if first == start and i == end:
                if is_whole:
                    span[0], span[1], span[2] = start, end, gap
                    return n
                n = put_task(tasks, n, start, end, 1 - side, 1, gap)
            else:
                n = put_task(tasks, n, first, i, 1 - side, 0, gap)
            first = i
    return np.int64(-1)


@inner_kernel
def equal_from(stems, a, b, end_a, end_b):
    """Return how many words from `a` and from `b` on are the same, before the two ends."""
    n = 0
    while a + n < end_a and b + n < end_b and stems[a + n] == stems[b + n]:
        n += 1
    return n


@inner_kernel
def equal_before(stems, a, b, start_a, start_b):
    """Return how many words before `a` and before `b` are the same, not beyond the two starts."""
    n = 0
    while a - n > start_a and b - n > start_b and stems[a - n - 1] == stems[b - n - 1]:
        n += 1
    return n
