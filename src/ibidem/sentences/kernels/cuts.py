"""The kernel that cuts over-long stretches where their own words say so, so that copies are cut alike."""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import SEED, mix
from ibidem.execution.compiler import inlined_kernel, outer_kernel
from ibidem.sentences.kernels.machine_words import EACH_BYTE, count_bits, load_bytes
from ibidem.sentences.kernels.scan import trim_end
from ibidem.sentences.kinds import BLANK, COMMA, CONTINUATION, FIRST_TOKEN_KIND, IGNORED, MARK, UNSPACED

MIN_BYTES = 32  # of a piece that is not the last one of its span: a unit takes two bytes, with what separates it
_MIN_UNITS = 16
_MAX_UNITS = 96
_ONE_IN = np.uint64(31)
_HIGH = np.uint64(40)
_BYTE, _LAST = np.uint64(8), np.uint64(56)
_FOUR_BYTES = np.uint64(0xFFFFFFFF)
# The places of the bits that only token characters have, and of those that UNSPACED and CLUSTER have besides.
_TOKEN, _UNSPACED, _CLUSTER = np.uint64(5), np.uint64(2), np.uint64(3)


@inlined_kernel
def _bound_units(kinds, start, end):
    """Return a number that the units of a span do not exceed: token characters that are the first or unspaced."""
    bound = 0
    before = np.uint64(0)
    for i in range(start, end, 8):
        word = load_bytes(kinds, i, end)
        tokens = (word >> _TOKEN) & EACH_BYTE
        before |= tokens << _BYTE
        bound += count_bits(tokens & (~before | word >> _UNSPACED | word >> _CLUSTER))
        before = tokens >> _LAST
    return bound


@outer_kernel
def cut_long_spans(data, kinds, documents, starts, ends, max_words, cut_documents, cut_starts, cut_ends):
    """Write the spans, those of more than `max_words` units cut into pieces, and return the number of all pieces.

    Units are words, unspaced characters and clusters. A piece has 16 to 96 units and ends after a comma, or after a
    unit whose hash says so. The hash of a word is its own, that of a character of an unspaced script is made of the
    last four bytes, in part of the character before it.
    """
    n = np.int64(0)
    for span in range(len(starts)):
        first, piece, end = n, starts[span], ends[span]
        if end - piece > 2 * max_words and _bound_units(kinds, piece, end) > max_words:
            units = all_units = comma = np.int64(0)
            in_word = False
            h = SEED
            last_bytes = np.uint64(0)
            for i in range(piece, end):
                kind = kinds[i]
                byte = np.uint64(data[i] | 32 if 65 <= data[i] <= 90 else data[i])
                last_bytes = (last_bytes << _BYTE) | byte
                if kind >= FIRST_TOKEN_KIND:
                    unspaced = kind >= UNSPACED
                    if unspaced or not in_word:
                        if unspaced or h == SEED:
                            h = mix(SEED, (last_bytes >> _BYTE) & _FOUR_BYTES)
                        if units >= _MIN_UNITS and (units >= _MAX_UNITS or comma == 2 or (h >> _HIGH) & _ONE_IN == 0):
                            cut_starts[n], cut_ends[n] = piece, trim_end(kinds, piece, i)
                            n += 1
                            piece, units = i, 0
                        units += 1
                        all_units += 1
                        h = SEED
                    in_word = not unspaced
                    comma = 0
                    if in_word:
                        h = mix(h, byte)
                elif kind == CONTINUATION:
                    if in_word:
                        h = mix(h, byte)
                elif kind == COMMA:
                    in_word = False
                    comma = 1 if data[i] < 0x80 else 2
                elif kind == BLANK:
                    in_word = False
                    comma = 2 if comma > 0 else 0
                elif kind != MARK and kind != IGNORED:
                    in_word = False
            if all_units <= max_words:
                n, piece = first, starts[span]
        cut_starts[n], cut_ends[n] = piece, end
        n += 1
        for k in range(first, n):
            cut_documents[k] = documents[span]
    return n
