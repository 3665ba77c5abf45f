"""Kernels that choose which sentences of a query lead to documents, and translate types of a segment into its words."""

from __future__ import annotations

import numpy as np

from ibidem.columns.kernels.binary_search import first_not_below, place_of
from ibidem.columns.kernels.shell_sort import shell_sort, sort_numbers
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.index.kernels.segment import document_of, first_word, next_word


@outer_kernel
def choose_anchors(document_first, n_words, n_places, size, min_quote_words, max_places, is_anchor):
    """Mark the sentences whose places are examined: every passage shared with the index goes through one of them.

    `n_places` is 0 where nothing matches, -1 where a sentence is skipped. A passage of fewer than `size` sentences has a
    sentence of `min_quote_words` words, or is all of a short text; a longer one covers a window, and the window's sentence with
    the fewest places is enough. Sentences with more than `max_places` places are not examined.
    """
    shorter = size > 1 and min_quote_words > 0
    for d in range(len(document_first) - 1):
        n = 0  # sentences so far that are not skipped
        matched = 0  # how many of these in a row up to here match something
        everything = True
        for s in range(document_first[d], document_first[d + 1]):
            is_anchor[s] = False
            if n_places[s] < 0:
                continue
            n += 1
            matched = matched + 1 if n_places[s] > 0 else 0
            everything &= n_places[s] > 0
            if shorter and n_words[s] >= min_quote_words and 0 < n_places[s] <= max_places:
                is_anchor[s] = True
            if matched < size:
                continue
            best = np.int64(-1)
            covered = False
            k = s
            left = size
            while left > 0:  # the window that ends here
                if n_places[k] >= 0:
                    left -= 1
                    covered |= is_anchor[k]
                    if best < 0 or n_places[k] < n_places[best]:
                        best = k
                k -= 1
            if not covered and n_places[best] <= max_places:
                is_anchor[best] = True
        if shorter and everything and 0 < n < size:
            best = np.int64(-1)
            covered = False
            for s in range(document_first[d], document_first[d + 1]):
                if n_places[s] >= 0:
                    covered |= is_anchor[s]
                    if best < 0 or n_places[s] < n_places[best]:
                        best = s
            if not covered and n_places[best] <= max_places:
                is_anchor[best] = True


@outer_kernel
def shared_words(lists, types, local, numbers, filler, values, first):
    """Write sets of types in the words of the queries, in increasing order: `local` are their numbers in the segment, in
    increasing order, `numbers` those among the queries. Words that no query has get numbers from `filler` on: only their number
    matters. `first[0]` is set.
    """
    data = lists.data
    at = first[0]
    for k in range(len(types)):
        position, end = first_word(lists, types[k])
        word = np.int64(-1)
        begin = at
        n_others = 0
        while position < end:
            last = word
            word, position = next_word(data, position, last)
            if word == last:
                continue  # a repeat
            place = place_of(local, word)
            if place >= 0:
                values[at] = numbers[place]
            else:
                values[at] = filler + n_others
                n_others += 1
            at += 1
        sort_numbers(begin, at, values)
        first[k + 1] = at


@outer_kernel
def trim_documents(documents, document_first, types, sizes, matched, begins, ends):
    """Find the stretch of each document from its first to its last sentence of a matched type (in increasing order), and one
    more unskipped sentence on either side, so that a stretch is not taken for the whole document.
    """
    for k in range(len(documents)):
        low = document_first[documents[k]]
        high = document_first[documents[k] + 1]
        begin = high
        end = low
        for s in range(low, high):
            if place_of(matched, types[s]) >= 0:
                begin = min(begin, s)
                end = s + 1
        while begin > low:
            begin -= 1
            if sizes[types[begin]] > 0:
                break
        while end < high:
            end += 1
            if sizes[types[end - 1]] > 0:
                break
        begins[k] = begin
        ends[k] = end


@inlined_kernel
def _insert_scored(begin, gap, i, scores, numbers):
    score, number = scores[i], numbers[i]
    while i >= begin + gap and scores[i - gap] > score:
        scores[i], numbers[i] = scores[i - gap], numbers[i - gap]
        i -= gap
    scores[i], numbers[i] = score, number


_sort_scored = shell_sort(_insert_scored)


@outer_kernel
def choose_scores(first, scores, n_places, wanted, sorted_scores, sorted_numbers, least, left):
    """Find for each query the least score of the matches to be examined, and whether there are others.

    Query t has the matches `[first[t], first[t + 1])`. The best ones are examined, equally good ones together, until they have
    `wanted[t]` places.
    """
    for t in range(len(first) - 1):
        begin, end = first[t], first[t + 1]
        for k in range(begin, end):
            sorted_scores[k], sorted_numbers[k] = scores[k], n_places[k]
        _sort_scored(begin, end, sorted_scores, sorted_numbers)
        n = np.int64(0)
        k = end
        least[t] = np.inf
        while k > begin and n < wanted[t]:
            least[t] = sorted_scores[k - 1]
            while k > begin and sorted_scores[k - 1] == least[t]:
                k -= 1
                n += sorted_numbers[k]
        left[t] = k > begin


@outer_kernel
def mark_types_in(types, documents, places, is_in):
    """Mark which types (-1: none) occur in a document each."""
    for i in range(len(types)):
        is_in[i] = False
        if types[i] >= 0:
            d = documents[i]
            low, high = np.int64(places.first[types[i]]), np.int64(places.first[types[i] + 1])
            at = first_not_below(places.sentences, places.document_first[d], low, high)
            is_in[i] = at < high and places.sentences[at] < places.document_first[d + 1]


@outer_kernel
def take_places(types, bounds, places, most_documents, fill, match, document, sentence):
    """Find the places of the given types in kept documents, by type, up to `most_documents` documents; return their number.

    They are written only with `fill`: which of the types, the document, the sentence. Of each type, only sentences before its
    bound count (all if there are no bounds).
    """
    n = 0
    document_first = places.document_first
    n_all = np.int64(len(document_first) - 1)
    for k in range(len(types)):
        n_documents = 0
        d = np.int64(-1)
        counts = False
        for at in range(places.first[types[k]], places.first[types[k] + 1]):
            s = np.int64(places.sentences[at])
            if len(bounds) > 0 and s >= bounds[k]:
                break
            if d < 0 or s >= document_first[d + 1]:
                # The document of a sentence: it is usually not far after the previous one.
                step = np.int64(1)
                low = d + 1
                while low + step < n_all and document_first[low + step] <= s:
                    low += step
                    step *= 2
                d = first_not_below(document_first, s + 1, low + 1, min(low + step, n_all)) - 1
                counts = len(places.kept) == 0 or places.kept[d]
                n_documents += counts
                if n_documents > most_documents:
                    break
            if counts:
                if fill:
                    match[n] = k
                    document[n] = d
                    sentence[n] = s
                n += 1
    return n


@inner_kernel
def _sift_down(heap, n):
    """Restore a max-heap of n numbers after its first number changed."""
    at = 0
    value = heap[0]
    while 2 * at + 1 < n:
        child = 2 * at + 1
        if child + 1 < n and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value


@inner_kernel
def _sift_up(heap, n, value):
    """Add a number to a max-heap of n numbers."""
    at = n
    while at > 0 and heap[(at - 1) // 2] < value:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = value


@outer_kernel
def find_oldest(match_first, types, equal, wanted, places, heap, until, chosen, n_places):
    """Find for each query the sentence of a segment up to which its places are the oldest `wanted` ones, and subtract these
    from `wanted`. Choose the matches that have such a place, or are equal; return their number, and write how many places each
    has.

    Query t has the types `types[match_first[t]:match_first[t + 1]]`; `equal[t]` does not count, and only places in kept
    documents do. `until` is the sentence after the last of them, or the number of sentences if there are fewer. `heap` has room
    for the largest of `wanted`, if there are that many sentences.
    """
    n_chosen = 0
    for t in range(len(match_first) - 1):
        n = 0
        until[t] = len(places.sentences) if wanted[t] > 0 else 0
        for k in range(match_first[t], match_first[t + 1]):
            if types[k] == equal[t] or wanted[t] == 0:
                continue
            for at in range(places.first[types[k]], places.first[types[k] + 1]):
                s = np.int64(places.sentences[at])
                if n == wanted[t] and s > heap[0]:
                    break
                if len(places.kept) > 0 and not places.kept[document_of(s, places.document_first)]:
                    continue
                if n < wanted[t]:
                    _sift_up(heap, n, s)
                    n += 1
                else:
                    heap[0] = s
                    _sift_down(heap, n)
        if n > 0 and n == wanted[t]:
            until[t] = heap[0] + 1
        wanted[t] -= n
        for k in range(match_first[t], match_first[t + 1]):
            first = np.int64(places.first[types[k]])
            if types[k] == equal[t] or places.sentences[first] < until[t]:
                chosen[n_chosen], n_places[n_chosen] = k, np.int64(places.first[types[k] + 1]) - first
                n_chosen += 1
    return n_chosen
