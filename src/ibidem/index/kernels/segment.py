"""Kernels that write and read the parts of a segment: lists of words per type, postings per word, places per type.

Numbers are stored as variable-length bytes, seven bits each; the last byte of a number is below 128. A *list* is the number of
words of a type and then its words from the rarest (the highest number) down, each as the difference to the one before; repeats
are kept. A *posting* lists the types that contain a word, in increasing order, in the same way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.hashes import SEED, mix
from ibidem.columns.kernels.binary_search import first_not_below
from ibidem.columns.kernels.shell_sort import sort_numbers
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.matches.kernels.bounds import probe_prefix

Numbers = NDArray[Any]
LONG_GAP = 255


class ByteLists(NamedTuple):
    """Lists of numbers as bytes (lists of words by type, or postings by word): list i is `data[first[i]:first[i + 1]]`."""

    first: Numbers
    data: Numbers


class Places(NamedTuple):
    """Where types occur: type u is the sentences `sentences[first[u]:first[u + 1]]`, in increasing order.

    Document d has the sentences `[document_first[d], document_first[d + 1])`. Only `kept` documents count; all if it is empty.
    """

    first: Numbers
    sentences: Numbers
    document_first: Numbers
    kept: Numbers


class Gaps(NamedTuple):
    """How many characters are between each sentence and what follows it: LONG_GAP for those listed separately."""

    after: Numbers
    long_sentences: Numbers
    long: Numbers


@inlined_kernel
def write_number(data, at, number):
    """Write a number at byte `at`; return the byte after it."""
    while number >= 128:
        data[at] = number & 127 | 128
        number >>= 7
        at += 1
    data[at] = number
    return at + 1


@inlined_kernel
def read_number(data, at):
    """Return the number at byte `at`, and the byte after it."""
    byte = np.int64(data[at])
    at += 1
    number = byte & 127
    shift = 7
    while byte >= 128:
        byte = np.int64(data[at])
        at += 1
        number |= (byte & 127) << shift
        shift += 7
    return number, at


@inlined_kernel
def first_word(lists, u):
    """Return where the words of list u begin, and where they end."""
    _, position = read_number(lists.data, np.int64(lists.first[u]))
    return position, np.int64(lists.first[u + 1])


@inlined_kernel
def next_word(data, position, word):
    """Return the word at a byte of a list, `word` being the one before (-1: none), and the byte after it.

    Repeated words are returned again.
    """
    number, position = read_number(data, position)
    return number if word < 0 else word - number, position


@inlined_kernel
def number_length(number):
    """Return the bytes that a number takes."""
    length = 1
    while number >= 128:
        number >>= 7
        length += 1
    return length


@outer_kernel
def count_types(words, first, last_type, counts):
    """Count per word the types that contain it; `last_type` is initially all -1."""
    for t in range(len(first) - 1):
        for i in range(first[t], first[t + 1]):
            word = words[i]
            if last_type[word] != t:
                last_type[word] = t
                counts[word] += 1


@outer_kernel
def write_lists(words, first, order, rank, scratch, lists, list_first, sizes):
    """Write the lists of the types in the given order, with words renamed to their ranks; return the bytes written.

    `sizes` are the numbers of distinct words, 255 for all from there on.

    `words` is also brought into that order and naming, with each type sorted: later steps read it again.
    """
    at = 0
    for k in range(len(order)):
        list_first[k] = at
        t = order[k]
        n = first[t + 1] - first[t]
        for i in range(n):
            scratch[i] = rank[words[first[t] + i]]
        sort_numbers(0, n, scratch)
        at = write_number(lists, at, n)
        size = 0
        for i in range(n - 1, -1, -1):
            words[first[t] + i] = scratch[i]
            at = write_number(lists, at, scratch[i] if i == n - 1 else scratch[i + 1] - scratch[i])
            size += i == n - 1 or scratch[i + 1] != scratch[i]
        sizes[k] = min(size, 255)
    list_first[len(order)] = at
    return at


@outer_kernel
def write_postings(words, first, order, sizes, p, q, last_type, fill, cursor, postings):
    """Move the cursor of each word over the bytes of its posting, and with `fill` write them; `last_type` is initially all -1.

    Words of a type are sorted. Only its rarest ones count: as many as ensure that a set with p/q of them has one (all if p is
    0).
    """
    for k in range(len(order)):
        t = order[k]
        left = _prefix_length(words, first[t], first[t + 1], sizes[k], p, q)
        before = -1
        for i in range(first[t + 1] - 1, first[t] - 1, -1):
            word = words[i]
            if word == before:
                continue
            if left == 0:
                break
            left -= 1
            number = k - max(0, last_type[word])
            if fill:
                cursor[word] = write_number(postings, cursor[word], number)
            else:
                cursor[word] += number_length(number)
            last_type[word] = k
            before = word


@inner_kernel
def _prefix_length(words, begin, end, size, p, q):
    """Return how many of the rarest words of a type any type with p/q of its words shares one of; `size` 255 may be more."""
    n = np.int64(size)
    if n == 255:
        n = 0
        for i in range(begin, end):
            n += i == begin or words[i] != words[i - 1]
    return probe_prefix(n, p, q)


@inlined_kernel
def add_to_fingerprint(key, word_hash):
    """Fold a word into a fingerprint. Addition ignores order, as sorting would, and counts repeats."""
    return key + mix(SEED, word_hash)


@outer_kernel
def fingerprint_types(words, first, order, hashes, is_common, keys):
    """Write the fingerprint of every type from its words that are not common; 0 if none is left."""
    for k in range(len(order)):
        t = order[k]
        key = np.uint64(0)
        n = 0
        for i in range(first[t], first[t + 1]):
            if not is_common[words[i]]:
                key = add_to_fingerprint(key, hashes[words[i]])
                n += 1
        keys[k] = key | np.uint64(1) if n > 0 else np.uint64(0)


@outer_kernel
def list_occurrences(type_of_sentence, occurrence_first, occurrences):
    """Counting sort of the sentences by type; `occurrence_first` is initially all 0 and has one entry more than types."""
    for s in range(len(type_of_sentence)):
        occurrence_first[type_of_sentence[s] + 1] += 1
    for t in range(len(occurrence_first) - 1):
        occurrence_first[t + 1] += occurrence_first[t]
    for s in range(len(type_of_sentence)):
        t = type_of_sentence[s]
        occurrences[occurrence_first[t]] = s
        occurrence_first[t] += 1
    for t in range(len(occurrence_first) - 1, 0, -1):
        occurrence_first[t] = occurrence_first[t - 1]
    occurrence_first[0] = 0


@outer_kernel
def read_lists(lists, wanted, word_base, words, first):
    """Read the lists of the wanted types back into words, renumbered from `word_base` on; `first[0]` is set."""
    data = lists.data
    at = first[0]
    for k in range(len(wanted)):
        position, end = first_word(lists, wanted[k])
        word = np.int64(-1)
        while position < end:
            word, position = next_word(data, position, word)
            words[at] = word_base + word
            at += 1
        first[k + 1] = at


@outer_kernel
def read_lengths(lists, wanted, lengths):
    """Write the number of words of the wanted types."""
    for k in range(len(wanted)):
        lengths[k], _ = read_number(lists.data, np.int64(lists.first[wanted[k]]))


@outer_kernel
def find_hashes(hashes, order, wanted, found):
    """Write the index of each wanted number in a column of uniform 64-bit numbers, or -1.

    The column is sorted, or sorted in the given order (empty for none). Interpolation: a hash itself says roughly where it is,
    so three or four reads replace twenty.
    """
    in_order = len(order) > 0
    for k in range(len(wanted)):
        value = wanted[k]
        low = np.int64(0)
        high = np.int64(len(hashes))  # the place is in [low, high)
        floor = np.uint64(0)
        ceiling = np.uint64(0xFFFFFFFFFFFFFFFF)
        found[k] = -1
        steps = 0
        while low < high:
            if steps < 6 and high - low > 8:
                share = np.float64(value - floor) / (np.float64(ceiling - floor) + 1.0)
                middle = min(high - 1, low + np.int64(share * (high - low)))
            else:
                middle = (low + high) // 2
            steps += 1
            place = np.int64(order[middle]) if in_order else middle
            at = hashes[place]
            if at == value:
                found[k] = place
                break
            if at < value:
                low = middle + 1
                floor = at
            else:
                high = middle
                ceiling = at


@inlined_kernel
def sentence_end(s, d, document_first, n_chars, start_char, gaps):
    """Return where a sentence of a document ends: before the next one begins, or the text ends."""
    bound = n_chars[d] if s + 1 == document_first[d + 1] else np.int64(start_char[s + 1])
    gap = np.int64(gaps.after[s])
    if gap == LONG_GAP:
        at = first_not_below(gaps.long_sentences, s, np.int64(0), np.int64(len(gaps.long_sentences)))
        gap = np.int64(gaps.long[at])
    return bound - gap


@outer_kernel
def find_ends(sentences, documents, document_first, n_chars, start_char, gaps, ends):
    """Write where sentences of these documents end."""
    for k in range(len(sentences)):
        ends[k] = sentence_end(np.int64(sentences[k]), documents[k], document_first, n_chars, start_char, gaps)


@outer_kernel
def find_halves(heads, tails, wanted, first, size):
    """Find numbers of 32 bits among sorted ones: write where each begins, and how often it is there.

    `tails` are the lower halves of the sorted ones; those of upper half h are `tails[heads[h]:heads[h + 1]]`.
    """
    for k in range(len(wanted)):
        head, tail = np.int64(wanted[k] >> np.uint32(16)), np.int64(wanted[k] & np.uint32(0xFFFF))
        end = np.int64(heads[head + 1])
        first[k] = first_not_below(tails, tail, np.int64(heads[head]), end)
        size[k] = first_not_below(tails, tail + 1, first[k], end) - first[k]


@inner_kernel
def document_of(sentence, document_first):
    """Return the document of a sentence."""
    return first_not_below(document_first, sentence + 1, np.int64(1), np.int64(len(document_first) - 1)) - 1


@outer_kernel
def count_documents(types, document_first, kept, lists, last_document, counts):
    """Count per word the kept documents that contain it; `last_document` is initially all -1."""
    data = lists.data
    for d in range(len(kept)):
        if not kept[d]:
            continue
        for s in range(document_first[d], document_first[d + 1]):
            position, end = first_word(lists, np.int64(types[s]))
            word = np.int64(-1)
            while position < end:
                word, position = next_word(data, position, word)
                if last_document[word] != d:
                    last_document[word] = d
                    counts[word] += 1
