"""Kernels that find short quotations: words in a row that say too much to be in two texts by chance.

What a word says is its information in bits: how rarely it comes at all, or after the word before it. So a rare word says much,
and a phrase that everybody uses says little, though no single word of it is frequent. It depends on nothing but the words and
the collection: a *quotation mark*, the shortest run from a word on that says enough, is the same wherever the run appears.
"""

from __future__ import annotations

import math

import numpy as np

from ibidem.alignment.kernels.candidates import SLOT_BITS, put_mark
from ibidem.columns.hashes import GOLDEN, mix
from ibidem.execution.compiler import inlined_kernel, outer_kernel
from ibidem.sentences.kernels.stems import STOP_BOUND

UNITS_PER_BIT = 16  # information is counted in whole units: sums are exact, in any order
MOST_QUOTED_WORDS = 32  # in a mark
_AFTER_OTHER = 0.75  # how likely a word depends on the one before it
_UNSEEN = 0.5  # how often a word is expected elsewhere that is only in quotations
_HALF = np.uint64(32)


@inlined_kernel
def pair_slot(stem, following):
    """Return where two words in a row are counted."""
    return np.int64(np.uint32(((np.uint64(stem) << _HALF | np.uint64(following)) * GOLDEN) >> _HALF) >> SLOT_BITS)


@outer_kernel
def count_pairs(stems, first, counts):
    """Count two words in a row by the first bits of their hash; those that share them are counted together."""
    for document in range(len(first) - 1):
        for k in range(first[document], first[document + 1] - 1):
            counts[pair_slot(stems[k], stems[k + 1])] += 1


@outer_kernel
def list_pair_slots(stems, first, slots):
    """Write where two words in a row are counted, for all of them; return how many there are."""
    n = np.int64(0)
    for document in range(len(first) - 1):
        for k in range(first[document], first[document + 1] - 1):
            slots[n] = pair_slot(stems[k], stems[k + 1])
            n += 1
    return n


@outer_kernel
def trim_runs(spans, bounds, most_words, least_words):
    """Move the ends of runs (start and end in a, start and end in b; flat), in place, where one text is divided and the other
    is not, and at most `most_words` are beyond: these are equal by chance. Runs keep `least_words`.
    """
    for i in range(len(spans) // 4):
        for end in range(2):
            step = -1 if end else 1
            a, b = spans[4 * i + end], spans[4 * i + 2 + end]
            size = spans[4 * i + 1] - spans[4 * i]
            for k in range(min(most_words, size - least_words), 0, -1):
                if (bounds[a + step * k] >= STOP_BOUND) != (bounds[b + step * k] >= STOP_BOUND):
                    spans[4 * i + end], spans[4 * i + 2 + end] = a + step * k, b + step * k
                    break


@inlined_kernel
def _units(chance):
    """Return the information of what has this chance."""
    return np.int64(-UNITS_PER_BIT * math.log2(chance))


@outer_kernel
def list_quotations(
    stems, is_open, first, begin, end, words, pairs, n_words, least_words, least_units, informations, wanted, marks
):
    """List the quotation marks of documents [begin, end): key, first word, document, whether an end is open.

    `words` and `pairs` have how often words, and two words in a row, occur beyond what a few quotations explain. `informations`
    has room for those of a document.
    """
    n = np.int64(0)
    for document in range(begin, end):
        low, size = first[document], first[document + 1] - first[document]
        for k in range(size):
            stem = stems[low + k]
            chance = (words[stem >> SLOT_BITS] + _UNSEEN) / n_words
            informations[2 * k] = _units(chance)
            if k > 0:
                before = stems[low + k - 1]
                share = pairs[pair_slot(before, stem)] / max(words[before >> SLOT_BITS], np.int32(1))
                chance = _AFTER_OTHER * min(share, 1.0) + (1.0 - _AFTER_OTHER) * chance
            informations[2 * k + 1] = _units(chance)
        for k in range(size - least_words + 1):
            total = informations[2 * k]
            h = mix(np.uint64(0), np.uint64(stems[low + k]))
            for i in range(k + 1, min(size, k + MOST_QUOTED_WORDS)):
                total += informations[2 * i + 1]
                h = mix(h, np.uint64(stems[low + i]))
                if total >= least_units and i - k + 1 >= least_words:
                    is_open_mark = is_open[low + k] or is_open[low + i]
                    n = put_mark(h >> _HALF, low + k, document, is_open_mark, wanted, marks, n)
                    break
    return n
