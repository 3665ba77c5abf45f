"""Kernels for pairs of words: those of sentences, and documents in which two of them meet close together."""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import FACTOR
from ibidem.columns.kernels.shell_sort import sort_numbers
from ibidem.execution.compiler import outer_kernel

_SPREAD = np.uint64(FACTOR)
_SAMPLE_SHIFT, _KEY_SHIFT = np.uint64(61), np.uint64(29)  # one of eight pairs; the key is made of the next 32 bits


@outer_kernel
def list_pairs(words, first, order, hashes, is_common, most_words, scratch, keys, types):
    """List one of eight pairs of words of every type, chosen by hash: its key and type. Return how many there are.

    Equal words of a type are adjacent. Common ones do not count; of more than `most_words`, those with the smallest hashes do.
    As many as there is room for are written.
    """
    n = np.int64(0)
    for k in range(len(order)):
        t = order[k]
        n_words = 0
        for i in range(first[t], first[t + 1]):
            word = words[i]
            if not is_common[word] and not (i > first[t] and words[i - 1] == word):
                scratch[n_words] = hashes[word]
                n_words += 1
        if n_words > most_words:
            sort_numbers(0, n_words, scratch)
            n_words = most_words
        for i in range(n_words):
            for j in range(i):
                product = (scratch[i] ^ scratch[j]) * _SPREAD
                if product >> _SAMPLE_SHIFT == 0:
                    if n < len(keys):
                        keys[n], types[n] = np.uint32(product >> _KEY_SHIFT), k
                    n += 1
    return n


@outer_kernel
def mark_near(pairs, a, b, keys, gap, is_near):
    """Mark meetings, sorted by pair of documents and place in a, that have another one of another key within `gap` sentences on
    both sides. `is_near` is initially all false.
    """
    for i in range(len(pairs)):
        for step in (1, -1):
            j = i + step
            while not is_near[i] and 0 <= j < len(pairs) and pairs[j] == pairs[i] and abs(a[j] - a[i]) <= gap:
                if keys[j] != keys[i] and abs(b[j] - b[i]) <= gap:
                    is_near[i] = is_near[j] = True
                j += step
