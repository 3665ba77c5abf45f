"""Kernels that turn diagonals into passages, document by document: order, verification of every cell, chains across gaps.

A diagonal is (row in a, row in b, length), a run also has the number of its equal cells, a passage is a row of the table below;
all are stored flat. `words_before[row]` counts the words of all earlier sentences, rows or not, so that the words of any
stretch are a subtraction.

Which of several equally good chains is chosen depends on which document is a. So a pair is chained with the document of smaller
`orientation` as a, whichever was read first, and its passages are swapped back before sorting into reading order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.kernels.machine_words import fetch_ahead
from ibidem.columns.kernels.shell_sort import shell_sort
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.matches.kernels.join import similarity_of

# The columns of a table of passages: first row and end in a, the same in b, how many sentences match, and flags.
A_FIRST, A_END, B_FIRST, B_END, N_SENTENCES, FLAGS = range(6)
N_COLUMNS = 6
EQUAL, WHOLE = 1, 2  # flags: every sentence is equal; both documents from end to end

_AHEAD = 16  # diagonals, for what is fetched early: the other document is anywhere in the collection
_LOOK_BACK = 50
_GAP_COST = 1.0  # words; prefers the nearer of two equal continuations


class ChainLimits(NamedTuple):
    """What a run and a passage need: sentences, words, words of a quoted sentence; and how many sentences a gap may have."""

    min_sentences: int
    min_words: int
    min_quote_words: int
    max_gap: int


class ChainRoom(NamedTuple):
    """Working memory of `assemble`, all flat: for diagonals (3) and runs (4, 1, 4) of a document, and all passages (6, 1)."""

    diagonals: NDArray[np.int64]
    runs: NDArray[np.int64]
    scores: NDArray[np.float64]
    scratch: NDArray[np.int64]
    passages: NDArray[np.int32]
    likeness: NDArray[np.float64]

    @classmethod
    def of(cls, n_diagonals: int, n_runs: int, n_passages: int) -> ChainRoom:
        """Return room for this many diagonals and runs of a document, and passages."""
        sizes = (3 * n_diagonals, 4 * n_runs, n_runs, 4 * n_runs, N_COLUMNS * n_passages, n_passages)
        kinds: tuple[Any, ...] = (np.int64, np.int64, np.float64, np.int64, np.int32, np.float64)
        return cls(*(np.empty(size, kind) for size, kind in zip(sizes, kinds, strict=True)))


@outer_kernel
def group_by_document(diagonals, document, verify, first, grouped, most_runs):
    """Counting sort of the diagonals (flat) by document a; document d's are rows [first[d], first[d + 1]) of `grouped`.

    `most_runs[d]` bounds their runs: between two runs, one cell fails.
    """
    n = len(diagonals) // 3
    for i in range(n):
        fetch_ahead(document, diagonals[min(3 * (i + _AHEAD), 3 * n - 3)])
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
    """Order by the first rows of runs: other runs may begin between the pieces of a cut diagonal."""
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


@inlined_kernel
def _is_whole(a, b, length, rows):
    """Return whether a run covers both of its documents from end to end."""
    d = rows.document[a]
    e = rows.document[b]
    return (
        a == rows.document_first[d]
        and a + length == rows.document_first[d + 1]
        and b == rows.document_first[e]
        and b + length == rows.document_first[e + 1]
    )


@inner_kernel
def _has_long(x, y, length, n_words, min_words):
    """Return whether a run has a cell of `min_words` words on both sides."""
    longest = 0
    for k in range(length):
        longest = max(longest, min(n_words[x + k], n_words[y + k]))
    return longest >= min_words


@inner_kernel
def _words(first, end, n_words, words_before):
    """Return the words of rows [first, end) and of all sentences between them."""
    return words_before[end - 1] + n_words[end - 1] - words_before[first]


@inlined_kernel
def _cut_runs(x, y, length, most, cells, limits, rows, room, n):
    """Append the runs of one diagonal, cut at cells that do not match, from index n on; return the new n.

    Kept are runs of `min_sentences` cells, runs with a cell of `min_quote_words` words on both sides, and whole documents; of a
    run of more than `most` cells, `most`.
    """
    n_words = rows.n_words
    min_words = limits.min_quote_words
    begin = 0
    score = 0.0
    n_equal = 0
    has_long = False
    for k in range(length + 1):
        similarity = similarity_of(x + k, y + k, cells) if k < length else -1.0
        if similarity >= 0.0:
            if k - begin >= most:
                continue
            score += similarity * (n_words[x + k] + n_words[y + k])
            n_equal += cells.types[x + k] == cells.types[y + k]
            has_long |= n_words[x + k] >= min_words and n_words[y + k] >= min_words
            continue
        n_cells = min(k - begin, most)
        if n_cells > 0 and (n_cells >= limits.min_sentences or has_long or _is_whole(x + begin, y + begin, n_cells, rows)):
            room.runs[4 * n] = x + begin
            room.runs[4 * n + 1] = y + begin
            room.runs[4 * n + 2] = n_cells
            room.runs[4 * n + 3] = n_equal
            room.scores[n] = score
            n += 1
        begin = k + 1
        score = 0.0
        n_equal = 0
        has_long = False
    return n


@outer_kernel
def split_diagonals(diagonals, cells, fill, pieces):
    """Split diagonals at cells that do not match; return the number of pieces. They are written only with `fill`."""
    n = 0
    for d in range(len(diagonals)):
        x = diagonals[d, 0]
        y = diagonals[d, 1]
        length = diagonals[d, 2]
        begin = 0
        for k in range(length + 1):
            if k < length and similarity_of(x + k, y + k, cells) >= 0.0:
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
def _link_runs(runs, scores, n, position, max_gap, scratch):
    """Find for each run the best run before it, and the order in which chains are chosen: best first.

    `scratch` has four columns of n: scores so far, run before, and two for the order, which ends up in the last one.
    """
    best, before, rank, order = scratch[:n], scratch[n : 2 * n], scratch[2 * n : 3 * n], scratch[3 * n : 4 * n]
    for i in range(n):
        best[i] = np.int64(256 * scores[i])
        before[i] = -1
        for j in range(i - 1, max(0, i - _LOOK_BACK) - 1, -1):
            gap_a = position[runs[4 * i]] - position[runs[4 * j] + runs[4 * j + 2] - 1] - 1
            gap_b = position[runs[4 * i + 1]] - position[runs[4 * j + 1] + runs[4 * j + 2] - 1] - 1
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


@inlined_kernel
def _chain_pair(n, rows, limits, room, n_passages):
    """Append the passages from the n runs of one pair of documents, best first; return their new number.

    Runs are in the order of their rows. The best chain is chosen first, then the best of the rest; a chain inside another on
    both sides is dropped. With `max_gap` 0 every run is a chain.
    """
    runs, scores, passages = room.runs, room.scores, room.passages
    position, max_gap = rows.position, limits.max_gap
    before, order = room.scratch[n : 2 * n], room.scratch[3 * n : 4 * n]
    if n == 1:
        before[0] = -1
        order[0] = 0
    else:
        _link_runs(runs, scores, n, position, max_gap, room.scratch)
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
            other = N_COLUMNS * c
            if (
                passages[other + A_FIRST] <= a
                and a_end <= passages[other + A_END]
                and passages[other + B_FIRST] <= b
                and b_end <= passages[other + B_END]
            ):
                inside = True
                break
        words_a = _words(a, a_end, rows.n_words, rows.words_before)
        words_b = _words(b, b_end, rows.n_words, rows.words_before)
        is_unbroken = n_sentences == a_end - a and n_sentences == b_end - b
        whole = is_unbroken and _is_whole(a, b, n_sentences, rows)
        if inside or (min(words_a, words_b) < limits.min_words and not whole):
            continue
        at = N_COLUMNS * n_passages
        passages[at + A_FIRST] = a
        passages[at + A_END] = a_end
        passages[at + B_FIRST] = b
        passages[at + B_END] = b_end
        passages[at + N_SENTENCES] = n_sentences
        equal = n_equal == position[a_end - 1] - position[a] + 1 and n_equal == position[b_end - 1] - position[b] + 1
        passages[at + FLAGS] = WHOLE * whole + EQUAL * equal
        # Words in a gap count as different: they are in the span's words, not in the score.
        room.likeness[n_passages] = min(1.0, score / (words_a + words_b))
        n_passages += 1
    return n_passages


@inner_kernel
def _turn(passages, begin, end):
    """Swap the sides of passages [begin, end)."""
    for c in range(begin, end):
        for k in range(2):
            at_a = N_COLUMNS * c + A_FIRST + k
            at_b = N_COLUMNS * c + B_FIRST + k
            x = passages[at_a]
            passages[at_a] = passages[at_b]
            passages[at_b] = x


@inner_kernel
def _swap(passages, likeness, c, d):
    """Swap two passages."""
    x = likeness[c]
    likeness[c] = likeness[d]
    likeness[d] = x
    for k in range(N_COLUMNS):
        y = passages[N_COLUMNS * c + k]
        passages[N_COLUMNS * c + k] = passages[N_COLUMNS * d + k]
        passages[N_COLUMNS * d + k] = y


@inner_kernel
def _put_in_reading_order(passages, likeness, begin, end, scratch):
    """Sort passages [begin, end) by their rows: chains came best first, but readers want text order."""
    n = end - begin
    keys, ties, order = scratch[:n], scratch[n : 2 * n], scratch[2 * n : 3 * n]
    sorted_already = True
    for c in range(begin, end):
        keys[c - begin] = passages[N_COLUMNS * c + A_FIRST]
        ties[c - begin] = passages[N_COLUMNS * c + B_FIRST]
        order[c - begin] = c
        if c > begin and keys[c - begin] <= keys[c - begin - 1]:
            sorted_already = False
    if sorted_already:
        return
    _sort_triples(0, n, keys, ties, order)
    # In place, cycle by cycle: order[c] is the passage that belongs at c, or c once it is there.
    for c in range(n):
        at = c
        while order[at] != begin + c:
            source = order[at] - begin
            order[at] = begin + at
            _swap(passages, likeness, begin + at, begin + source)
            at = source
        order[at] = begin + at


@outer_kernel
def assemble(document_from, document_to, first, diagonals, cells, verify, limits, rows, orientation, room):
    """Write the passages of the diagonals of documents [document_from, document_to), in reading order; return their number.

    With `verify`, diagonals are cut at cells that do not match. The kernel receives its working memory and makes no arrays,
    which halves its compile time. Kernels that receive records are inlined: a call passes all fields of arrays.
    """
    document = rows.document
    document_first = rows.document_first
    n_words = rows.n_words
    words_before = rows.words_before
    runs = room.runs
    n_passages = np.int64(0)
    third = len(room.diagonals) // 3
    keys = room.diagonals[:third]
    ties = room.diagonals[third : 2 * third]
    loads = room.diagonals[2 * third :]
    for d in range(document_from, document_to):
        n = first[d + 1] - first[d]
        for i in range(n):
            at = 3 * (first[d] + i)
            fetch_ahead(document, diagonals[min(at + 3 * _AHEAD + 1, len(diagonals) - 2)])
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
                if i + _AHEAD < n:
                    later = keys[i + _AHEAD] >> 32
                    row = ties[i + _AHEAD]
                    if orientation[d] > orientation[later]:
                        row = document_first[later] + (keys[i + _AHEAD] & 0xFFFFFFFF)
                    fetch_ahead(n_words, row)
                    fetch_ahead(words_before, row)
                    if verify:
                        fetch_ahead(cells.types, row)
                x = first_x + (keys[i] & 0xFFFFFFFF)
                y = ties[i]
                length = loads[i]
                # Within one document, a text must not overlap its own copy.
                overlaps_itself = e == d and y - x < length
                most = y - x if overlaps_itself else length
                if verify:
                    n_runs = _cut_runs(x, y, length, most, cells, limits, rows, room, n_runs)
                elif (
                    not overlaps_itself
                    or most >= limits.min_sentences
                    or _has_long(x, y, most, n_words, limits.min_quote_words)
                ):
                    runs[4 * n_runs] = x
                    runs[4 * n_runs + 1] = y
                    runs[4 * n_runs + 2] = most
                    runs[4 * n_runs + 3] = most
                    room.scores[n_runs] = _words(x, x + most, n_words, words_before) + _words(
                        y, y + most, n_words, words_before
                    )
                    n_runs += 1
                i += 1
            if n_runs > 0:
                if verify:
                    _sort_runs(0, n_runs, runs, room.scores)
                pair_begin = n_passages
                n_passages = _chain_pair(n_runs, rows, limits, room, n_passages)
                if turned:
                    _turn(room.passages, pair_begin, n_passages)
                _put_in_reading_order(room.passages, room.likeness, pair_begin, n_passages, room.scratch)
    return n_passages
