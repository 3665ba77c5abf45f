"""Kernels that choose which sentences of a query lead to documents, and translate types of a segment into its words."""

from __future__ import annotations

import numpy as np

from ibidem.columns.kernels.binary_search import first_not_below, place_of
from ibidem.columns.kernels.shell_sort import sort_numbers
from ibidem.execution.compiler import inner_kernel, outer_kernel
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


@outer_kernel
def take_places(types, places, most_documents, fill, match, document, sentence):
    """Find the places of the given types in kept documents, by type, up to `most_documents` documents; return their number.

    They are written only with `fill`: which of the types, the document, the sentence.
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
def find_oldest(match_first, types, equal, wanted, places, heap, until):
    """Find for each query the sentence of a segment up to which its places are the oldest `wanted` ones, and subtract these
    from `wanted`.

    Query t has the types `types[match_first[t]:match_first[t + 1]]`; `equal[t]` does not count, and only places in kept
    documents do. `until` is the sentence after the last of them, or the number of sentences if there are fewer. `heap` has room
    for the largest of `wanted`, if there are that many sentences.
    """
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


@outer_kernel
def count_other_documents(of_sentence, same_id, not_before, first, serials, counts):
    """Count per sentence the documents with its type that come before its own and have another id.

    Type t occurs in the documents `serials[first[t]:first[t + 1]]`, in increasing order; `same_id` and `not_before` are per
    sentence.
    """
    for s in range(len(of_sentence)):
        begin = first[of_sentence[s]]
        end = first_not_below(serials, not_before[s], begin, first[of_sentence[s] + 1])
        counts[s] = end - begin
        for k in range(begin, end):
            if serials[k] == same_id[s]:
                counts[s] -= 1
                break
