"""Kernels that turn diagonals into passages, document by document: order, verification of every cell, chains across gaps.

A diagonal is (row in a, row in b, length), a run also has the number of its equal cells, a passage is (row a, end a, row b,
end b, sentences, flags: 1 equal, 2 two whole documents); all lie flat, one after the other. `words_before[row]` counts the
words of all sentences before it, rows or not, so that the words of any stretch are a subtraction.

Which of several equally good chains is taken depends on which document is a. So a pair is chained with the document of the
smaller `orientation` as a, whichever was read first, and its passages are turned back before they are put in reading order.
"""

from __future__ import annotations

import numpy as np

from ibidem.columns.kernels.shell_sort import shell_sort
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.matches.kernels.bounds import needed_overlap
from ibidem.matches.kernels.join import overlap_of

_LOOK_BACK = 50
_GAP_COST = 1.0  # words; prefers the nearer of two equal continuations


@outer_kernel
def group_by_document(diagonals, document, verify, first, grouped, most_runs):
    """Counting sort of the diagonals (flat) by document a; document d's are rows [first[d], first[d + 1]) of `grouped`.

    `most_runs[d]` bounds the runs that they can make: a run, and a cell that fails between two of them.
    """
    n = len(diagonals) // 3
    for i in range(n):
        first[document[diagonals[3 * i]] + 1] += 1
    for d in range(len(first) - 1):
        first[d + 1] += first[d]
    for i in range(n):
        d = document[diagonals[3 * i]]
        at = 3 * first[d]
        grouped[at] = diagonals[3 * i]
        grouped[at + 1] = diagonals[3 * i + 1]
        grouped[at + 2] = diagonals[3 * i + 2]
        most_runs[d] += (diagonals[3 * i + 2] + 1) // 2 if verify else 1
        first[d] += 1
    for d in range(len(first) - 1, 0, -1):
        first[d] = first[d - 1]
    first[0] = 0


@inlined_kernel
def _insert_triple(begin, gap, i, keys, ties, loads):
    """Order by key, then by tie."""
    key = keys[i]
    tie = ties[i]
    load = loads[i]
    while i >= begin + gap and (keys[i - gap] > key or (keys[i - gap] == key and ties[i - gap] > tie)):
        keys[i] = keys[i - gap]
        ties[i] = ties[i - gap]
        loads[i] = loads[i - gap]
        i -= gap
    keys[i] = key
    ties[i] = tie
    loads[i] = load


@inlined_kernel
def _insert_run(begin, gap, i, runs, scores):
    """Order by the rows where runs begin: other runs may begin between the pieces of a diagonal that was cut."""
    a = runs[4 * i]
    b = runs[4 * i + 1]
    length = runs[4 * i + 2]
    n_equal = runs[4 * i + 3]
    score = scores[i]
    while i >= begin + gap and (runs[4 * (i - gap)] > a or (runs[4 * (i - gap)] == a and runs[4 * (i - gap) + 1] > b)):
        for k in range(4):
            runs[4 * i + k] = runs[4 * (i - gap) + k]
        scores[i] = scores[i - gap]
        i -= gap
    runs[4 * i] = a
    runs[4 * i + 1] = b
    runs[4 * i + 2] = length
    runs[4 * i + 3] = n_equal
    scores[i] = score


_sort_triples = shell_sort(_insert_triple)
_sort_runs = shell_sort(_insert_run)


@inner_kernel
def _similarity(types, set_of_row, x, y, start, size, values, p, q):
    """Jaccard similarity of the types of two rows, or -1 below p/q."""
    if types[x] == types[y]:
        return 1.0
    t = set_of_row[x]
    u = set_of_row[y]
    needed = needed_overlap(size[t], size[u], p, q)
    overlap = overlap_of(values, start[t], size[t], start[u], size[u], needed)
    return overlap / (size[t] + size[u] - overlap) if overlap >= 0 else -1.0


@inner_kernel
def _whole(a, b, length, document, document_first):
    """Whether a run covers both of its documents from end to end."""
    d = document[a]
    e = document[b]
    return (
        a == document_first[d]
        and a + length == document_first[d + 1]
        and b == document_first[e]
        and b + length == document_first[e + 1]
    )


@inner_kernel
def _has_long(x, y, length, n_words, min_words):
    """Whether a run holds a cell of `min_words` words on both sides."""
    longest = 0
    for k in range(length):
        longest = max(longest, min(n_words[x + k], n_words[y + k]))
    return longest >= min_words


@inner_kernel
def _words(first, end, n_words, words_before):
    """Words of rows [first, end) and of all sentences between them."""
    return words_before[end - 1] + n_words[end - 1] - words_before[first]


@inner_kernel
def _cut_runs(
    x, y, length, most, types, set_of_row, start, size, values, p, q, min_sentences, n_words, min_words, document,
    document_first, runs, scores, n,
):  # fmt: skip
    """Append the runs of one diagonal, cut at cells below p/q, from place n on; return the new n.

    Kept are runs of `min_sentences` cells, runs with a cell of `min_words` words on both sides, and whole documents; of a run
    of more than `most` cells, so many.
    """
    begin = 0
    score = 0.0
    n_equal = 0
    has_long = False
    for k in range(length + 1):
        similarity = _similarity(types, set_of_row, x + k, y + k, start, size, values, p, q) if k < length else -1.0
        if similarity >= 0.0:
            if k - begin >= most:
                continue
            score += similarity * (n_words[x + k] + n_words[y + k])
            n_equal += types[x + k] == types[y + k]
            has_long |= n_words[x + k] >= min_words and n_words[y + k] >= min_words
            continue
        n_cells = min(k - begin, most)
        if n_cells > 0 and (
            n_cells >= min_sentences or has_long or _whole(x + begin, y + begin, n_cells, document, document_first)
        ):
            runs[4 * n] = x + begin
            runs[4 * n + 1] = y + begin
            runs[4 * n + 2] = n_cells
            runs[4 * n + 3] = n_equal
            scores[n] = score
            n += 1
        begin = k + 1
        score = 0.0
        n_equal = 0
        has_long = False
    return n


@outer_kernel
def split_diagonals(diagonals, types, set_of_row, start, size, values, p, q, fill, pieces):
    """Split diagonals at cells below p/q; return how many pieces there are. Only with `fill` they are written."""
    n = 0
    for d in range(len(diagonals)):
        x = diagonals[d, 0]
        y = diagonals[d, 1]
        length = diagonals[d, 2]
        begin = 0
        for k in range(length + 1):
            if k < length and _similarity(types, set_of_row, x + k, y + k, start, size, values, p, q) >= 0.0:
                continue
            if k > begin:
                if fill:
                    pieces[n, 0] = x + begin
                    pieces[n, 1] = y + begin
                    pieces[n, 2] = k - begin
                n += 1
            begin = k + 1
    return n


@inner_kernel
def _link_runs(runs, scores, n, sentence, max_gap, scratch):
    """Find for each run the best run before it, and the order in which chains are taken: the best one first.

    `scratch` has four columns of n: scores so far, run before, and two for the order, which ends up in the last one.
    """
    best, before, rank, order = scratch[:n], scratch[n : 2 * n], scratch[2 * n : 3 * n], scratch[3 * n : 4 * n]
    for i in range(n):
        best[i] = np.int64(256 * scores[i])
        before[i] = -1
        for j in range(i - 1, max(0, i - _LOOK_BACK) - 1, -1):
            gap_a = sentence[runs[4 * i]] - sentence[runs[4 * j] + runs[4 * j + 2] - 1] - 1
            gap_b = sentence[runs[4 * i + 1]] - sentence[runs[4 * j + 1] + runs[4 * j + 2] - 1] - 1
            if gap_a < 0 or gap_b < 0 or gap_a > max_gap or gap_b > max_gap or max_gap == 0:
                continue
            total = best[j] + np.int64(256 * (scores[i] - _GAP_COST * (gap_a + gap_b)))
            if total > best[i]:
                best[i] = total
                before[i] = j
        rank[i] = i
        order[i] = i
    for i in range(n):
        best[i] = -best[i]
    _sort_triples(0, n, best, rank, order)


@inner_kernel
def _chain_pair(
    runs,
    scores,
    n,
    n_words,
    words_before,
    sentence,
    max_gap,
    min_words,
    document,
    document_first,
    passages,
    likeness,
    n_passages,
    scratch,
):
    """Append the passages that the n runs of one pair of documents make, best first; return their new number.

    Runs come in the order of their rows. The best chain is taken first, then the best of what is left; a chain that lies
    inside another on both sides is dropped. With `max_gap` 0 every run is a chain.
    """
    before, order = scratch[n : 2 * n], scratch[3 * n : 4 * n]
    if n == 1:
        before[0] = -1
        order[0] = 0
    else:
        _link_runs(runs, scores, n, sentence, max_gap, scratch)
    pair_begin = n_passages
    for k in range(n):
        i = order[k]
        if runs[4 * i + 2] < 0:  # taken
            continue
        a_end = runs[4 * i] + runs[4 * i + 2]
        b_end = runs[4 * i + 1] + runs[4 * i + 2]
        a = runs[4 * i]
        b = runs[4 * i + 1]
        score = 0.0
        n_sentences = 0
        n_equal = 0
        while i >= 0 and runs[4 * i + 2] >= 0:
            a = runs[4 * i]
            b = runs[4 * i + 1]
            score += scores[i]
            n_sentences += runs[4 * i + 2]
            n_equal += runs[4 * i + 3]
            runs[4 * i + 2] = -1
            i = before[i]
        inside = False
        for c in range(pair_begin, min(n_passages, pair_begin + 4 * _LOOK_BACK) if max_gap > 0 else pair_begin):
            if (
                passages[6 * c] <= a
                and a_end <= passages[6 * c + 1]
                and passages[6 * c + 2] <= b
                and b_end <= passages[6 * c + 3]
            ):
                inside = True
                break
        words_a = _words(a, a_end, n_words, words_before)
        words_b = _words(b, b_end, n_words, words_before)
        is_unbroken = n_sentences == a_end - a and n_sentences == b_end - b
        whole = is_unbroken and _whole(a, b, n_sentences, document, document_first)
        if inside or (min(words_a, words_b) < min_words and not whole):
            continue
        at = 6 * n_passages
        passages[at] = a
        passages[at + 1] = a_end
        passages[at + 2] = b
        passages[at + 3] = b_end
        passages[at + 4] = n_sentences
        equal = n_equal == sentence[a_end - 1] - sentence[a] + 1 and n_equal == sentence[b_end - 1] - sentence[b] + 1
        passages[at + 5] = 2 * whole + equal
        # A gap counts as words without likeness: they are in the span's words, not in the score.
        likeness[n_passages] = min(1.0, score / (words_a + words_b))
        n_passages += 1
    return n_passages


@inner_kernel
def _turn(passages, begin, end):
    """Swap the sides of passages [begin, end)."""
    for c in range(begin, end):
        for k in range(2):
            x = passages[6 * c + k]
            passages[6 * c + k] = passages[6 * c + 2 + k]
            passages[6 * c + 2 + k] = x


@inner_kernel
def _swap(passages, likeness, c, d):
    """Let two passages change places."""
    x = likeness[c]
    likeness[c] = likeness[d]
    likeness[d] = x
    for k in range(6):
        y = passages[6 * c + k]
        passages[6 * c + k] = passages[6 * d + k]
        passages[6 * d + k] = y


@inner_kernel
def _put_in_reading_order(passages, likeness, begin, end, scratch):
    """Sort passages [begin, end) by their rows: chains came best first, readers want the order of the text."""
    n = end - begin
    keys, ties, order = scratch[:n], scratch[n : 2 * n], scratch[2 * n : 3 * n]
    sorted_already = True
    for c in range(begin, end):
        keys[c - begin] = passages[6 * c]
        ties[c - begin] = passages[6 * c + 2]
        order[c - begin] = c
        if c > begin and passages[6 * c] <= passages[6 * c - 6]:
            sorted_already = False
    if sorted_already:
        return
    _sort_triples(0, n, keys, ties, order)
    # In place, cycle by cycle: order[c] says which passage belongs at place c, or c once it is there.
    for c in range(n):
        at = c
        while order[at] != begin + c:
            source = order[at] - begin
            order[at] = begin + at
            _swap(passages, likeness, begin + at, begin + source)
            at = source
        order[at] = begin + at


@outer_kernel
def assemble(
    document_from, document_to, first, diagonals, types, set_of_row, start, size, values, p, q, verify,
    min_sentences, min_words, min_quote_words, max_gap, n_words, words_before, sentence, document, document_first,
    orientation, columns, runs, scores, scratch, passages, likeness,
):  # fmt: skip
    """Write the passages of the diagonals of documents [document_from, document_to), in reading order; return their number.

    The last line of arguments is room, all of it flat: for the diagonals (3) and the runs (4, 1, 4) of a document, and for
    all passages (6, 1). The kernel makes no arrays itself, which halves the time that numba needs to compile it.
    """
    n_passages = np.int64(0)
    third = len(columns) // 3
    keys = columns[:third]
    ties = columns[third : 2 * third]
    loads = columns[2 * third :]
    for d in range(document_from, document_to):
        n = first[d + 1] - first[d]
        for i in range(n):
            at = 3 * (first[d] + i)
            x = np.int64(diagonals[at])
            y = np.int64(diagonals[at + 1])
            e = np.int64(document[y])
            turned = orientation[d] > orientation[e]
            keys[i] = e << 32 | (y - document_first[e] if turned else x - document_first[d])
            ties[i] = x if turned else y
            loads[i] = diagonals[at + 2]
        _sort_triples(0, n, keys, ties, loads)
        i = 0
        while i < n:
            e = keys[i] >> 32
            turned = orientation[d] > orientation[e]
            first_x = document_first[e] if turned else document_first[d]
            n_runs = np.int64(0)
            while i < n and keys[i] >> 32 == e:
                x = first_x + (keys[i] & 0xFFFFFFFF)
                y = ties[i]
                length = loads[i]
                # In one document a text must not run into its own copy.
                overlaps_itself = e == d and y - x < length
                most = y - x if overlaps_itself else length
                if verify:
                    n_runs = _cut_runs(
                        x, y, length, most, types, set_of_row, start, size, values, p, q, min_sentences, n_words,
                        min_quote_words, document, document_first, runs, scores, n_runs,
                    )  # fmt: skip
                elif not overlaps_itself or most >= min_sentences or _has_long(x, y, most, n_words, min_quote_words):
                    runs[4 * n_runs] = x
                    runs[4 * n_runs + 1] = y
                    runs[4 * n_runs + 2] = most
                    runs[4 * n_runs + 3] = most
                    scores[n_runs] = _words(x, x + most, n_words, words_before) + _words(y, y + most, n_words, words_before)
                    n_runs += 1
                i += 1
            if n_runs > 0:
                if verify:
                    _sort_runs(0, n_runs, runs, scores)
                pair_begin = n_passages
                n_passages = _chain_pair(
                    runs, scores, n_runs, n_words, words_before, sentence, max_gap, min_words, document, document_first,
                    passages, likeness, n_passages, scratch,
                )  # fmt: skip
                if turned:
                    _turn(passages, pair_begin, n_passages)
                _put_in_reading_order(passages, likeness, pair_begin, n_passages, scratch)
    return n_passages


@outer_kernel
def match_first_place(starts, length, types, set_of_row, start, size, values, p, q, alike):
    """Tell which places of a repeat group match its first one, sentence by sentence."""
    for i in range(len(starts)):
        alike[i] = True
        for k in range(length):
            if _similarity(types, set_of_row, starts[0] + k, starts[i] + k, start, size, values, p, q) < 0.0:
                alike[i] = False
                break
