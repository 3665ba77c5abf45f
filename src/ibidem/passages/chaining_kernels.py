"""Kernels that turn diagonals into passages: order, verification of every cell, chains across gaps.

A diagonal is (row in a, row in b, length). `words_before[row]` counts the words of all rows before it, so that the words
of any stretch are one subtraction.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ibidem.matches.kernels import overlap_of

_LOOK_BACK = 50
_GAP_COST = 1.0  # words; prefers the nearer of two equal continuations


@njit(cache=True, nogil=True)
def order_diagonals(diagonals, column, key_of_row, n_keys, order, ordered):
    """One pass of a radix sort: stable counting sort of `order` by the key of the row in `column`."""
    starts = np.zeros(n_keys + 1, np.int64)
    for i in range(len(order)):
        starts[key_of_row[diagonals[order[i], column]] + 1] += 1
    for k in range(n_keys):
        starts[k + 1] += starts[k]
    for i in range(len(order)):
        key = key_of_row[diagonals[order[i], column]]
        ordered[starts[key]] = order[i]
        starts[key] += 1


@njit(cache=True, nogil=True)
def verify_cells(diagonals, begin, end, types, start, size, values, p, q, size_min, n_words, min_words, document, document_first):
    """Score every cell of diagonals [begin, end) and cut where the similarity of a cell is below p/q.

    Kept are runs of `size_min` cells, runs with a cell of `min_words` words on both sides, and runs over two whole documents.
    Returns the runs, their scores (similarity times words, both sides) and how many of their cells are equal types.
    """
    runs = np.empty((max(16, end - begin), 3), np.int32)
    scores = np.empty(len(runs), np.float64)
    equal = np.empty(len(runs), np.int32)
    n_runs = 0
    for i in range(begin, end):
        x = diagonals[i, 0]
        y = diagonals[i, 1]
        length = diagonals[i, 2]
        run_begin = 0
        score = 0.0
        n_equal = 0
        has_long = False
        for k in range(length + 1):
            similarity = -1.0
            if k < length:
                t = types[x + k]
                u = types[y + k]
                if t == u:
                    similarity = 1.0
                else:
                    needed = (p * (size[t] + size[u]) + p + q - 1) // (p + q)
                    overlap = overlap_of(values, start[t], size[t], start[u], size[u], needed)
                    if overlap >= 0:
                        similarity = overlap / (size[t] + size[u] - overlap)
            if similarity >= 0.0:
                score += similarity * (n_words[x + k] + n_words[y + k])
                n_equal += t == u
                has_long |= n_words[x + k] >= min_words and n_words[y + k] >= min_words
                continue
            a = x + run_begin
            b = y + run_begin
            n = k - run_begin
            d = document[x]
            e = document[y]
            whole = a == document_first[d] and a + n == document_first[d + 1] and b == document_first[e] and b + n == document_first[e + 1]
            if n > 0 and (n >= size_min or has_long or whole):
                if n_runs == len(runs):
                    more_runs = np.empty((2 * n_runs, 3), np.int32)
                    more_runs[:n_runs] = runs
                    runs = more_runs
                    more_scores = np.empty(2 * n_runs, np.float64)
                    more_scores[:n_runs] = scores
                    scores = more_scores
                    more_equal = np.empty(2 * n_runs, np.int32)
                    more_equal[:n_runs] = equal
                    equal = more_equal
                runs[n_runs, 0] = a
                runs[n_runs, 1] = b
                runs[n_runs, 2] = n
                scores[n_runs] = score
                equal[n_runs] = n_equal
                n_runs += 1
            run_begin = k + 1
            score = 0.0
            n_equal = 0
            has_long = False
    return runs[:n_runs].copy(), scores[:n_runs].copy(), equal[:n_runs].copy()


@njit(cache=True, nogil=True)
def chain_runs(runs, scores, equal, document, words_before, max_gap, spans, counts, chain_scores):
    """Chain the runs of each pair of documents across gaps of at most `max_gap` rows on either side; return the number of chains.

    `runs` are in order of (document a, document b, row a, row b). The best chain is taken first, then the best of what is left;
    a chain that lies inside another on both sides is dropped. With `max_gap` 0 every run is a chain. `spans`: first and last row in a and in b, the last exclusive;
    `counts`: matched sentences and equal ones.
    """
    n = len(runs)
    best = np.empty(n, np.float64)
    before = np.empty(n, np.int64)
    taken = np.zeros(n, np.bool_)
    n_chains = 0
    begin = 0
    while begin < n:
        d = document[runs[begin, 0]]
        e = document[runs[begin, 1]]
        end = begin + 1
        while end < n and document[runs[end, 0]] == d and document[runs[end, 1]] == e:
            end += 1
        for i in range(begin, end):
            best[i] = scores[i]
            before[i] = -1
            for j in range(i - 1, max(begin, i - _LOOK_BACK) - 1, -1):
                gap_a = runs[i, 0] - runs[j, 0] - runs[j, 2]
                gap_b = runs[i, 1] - runs[j, 1] - runs[j, 2]
                if gap_a < 0 or gap_b < 0 or gap_a > max_gap or gap_b > max_gap:
                    continue
                total = best[j] + scores[i] - _GAP_COST * (gap_a + gap_b)
                if total > best[i]:
                    best[i] = total
                    before[i] = j
        ranked = np.argsort(-best[begin:end], kind="mergesort") if end - begin > 1 else np.zeros(1, np.int64)
        pair_begin = n_chains
        for k in range(end - begin):
            i = begin + ranked[k]
            if taken[i]:
                continue
            a_end = runs[i, 0] + runs[i, 2]
            b_end = runs[i, 1] + runs[i, 2]
            score = 0.0
            n_sentences = 0
            n_equal = 0
            head = i
            while i >= 0 and not taken[i]:
                taken[i] = True
                head = i
                score += scores[i]
                n_sentences += runs[i, 2]
                n_equal += equal[i]
                i = before[i]
            a = runs[head, 0]
            b = runs[head, 1]
            inside = False
            for c in range(pair_begin, min(n_chains, pair_begin + 4 * _LOOK_BACK) if max_gap > 0 else pair_begin):
                if spans[c, 0] <= a and a_end <= spans[c, 1] and spans[c, 2] <= b and b_end <= spans[c, 3]:
                    inside = True
                    break
            if inside:
                continue
            spans[n_chains, 0] = a
            spans[n_chains, 1] = a_end
            spans[n_chains, 2] = b
            spans[n_chains, 3] = b_end
            counts[n_chains, 0] = n_sentences
            counts[n_chains, 1] = n_equal
            # A gap counts as words without likeness: they are in the spans' words, not in the score.
            words = words_before[a_end] - words_before[a] + words_before[b_end] - words_before[b]
            chain_scores[n_chains] = score / words
            n_chains += 1
        if n_chains - pair_begin > 1:
            # Chains came best first; readers want the order of the text.
            chains = slice(pair_begin, n_chains)
            by_place = np.argsort(spans[chains, 0] << 32 | spans[chains, 2], kind="mergesort")
            spans[chains] = spans[chains][by_place]
            counts[chains] = counts[chains][by_place]
            chain_scores[chains] = chain_scores[chains][by_place]
        begin = end
    return n_chains
