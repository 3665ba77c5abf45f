"""The kernel that cuts over-long stretches where their own words say so, so that copies are cut alike."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit

from ibidem.sentences.hashing import SEED, inner_kernel, mix
from ibidem.sentences.kinds import BLANK, COMMA, CONTINUATION, FIRST_TOKEN_KIND, IGNORED, MARK, UNSPACED
from ibidem.sentences.scan_kernels import trim_end

_MIN_UNITS = 16
_MAX_UNITS = 96
_ONE_IN = np.uint64(31)
_HIGH = np.uint64(40)
_BYTE = np.uint64(8)
_FOUR_BYTES = np.uint64(0xFFFFFFFF)


@inner_kernel
def cut_span(data, kinds, start, end, cutting, starts, ends, n):
    """Return the number of units (words, unspaced characters, clusters) of a span; or cut it and return the new n.

    A piece has 16 to 96 units and ends after a comma, or after a unit whose hash says so. The hash of a word is its
    own, that of a character of an unspaced script is made of the last four bytes, in part of the character before it.
    """
    units = np.int64(0)
    piece = start
    in_word = False
    comma = 0
    h = SEED
    last_bytes = np.uint64(0)
    for i in range(start, end):
        kind = kinds[i]
        byte = np.uint64(data[i] | 32 if 65 <= data[i] <= 90 else data[i])
        last_bytes = (last_bytes << _BYTE) | byte
        if kind >= FIRST_TOKEN_KIND:
            unspaced = kind >= UNSPACED
            if unspaced or not in_word:
                if unspaced or h == SEED:
                    h = mix(SEED, (last_bytes >> _BYTE) & _FOUR_BYTES)
                if cutting and units >= _MIN_UNITS:
                    if units >= _MAX_UNITS or comma == 2 or (h >> _HIGH) & _ONE_IN == 0:
                        starts[n], ends[n] = piece, trim_end(kinds, piece, i)
                        n += 1
                        piece, units = i, 0
                units += 1
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
    if not cutting:
        return units
    starts[n], ends[n] = piece, end
    return n + 1


@njit(cache=True, nogil=True)
def cut_long_spans(data, kinds, n_spans, documents, starts, ends, max_words):
    """Return number, documents, starts and ends of the spans, those of more than `max_words` units cut into pieces."""
    room = 0
    is_long = np.zeros(n_spans, dtype=np.bool_)
    for span in range(n_spans):
        # No more units than every second byte can begin one (but for expansions, which do not matter here).
        if ends[span] - starts[span] > 2 * max_words:
            units = cut_span(data, kinds, starts[span], ends[span], max_words < 0, starts, ends, np.int64(0))
            if units > max_words:
                is_long[span] = True
                room += units // _MIN_UNITS + 1
    if room == 0:
        return n_spans, documents, starts, ends
    cut_documents = np.empty(n_spans + room, dtype=np.int64)
    cut_starts = np.empty(n_spans + room, dtype=np.int64)
    cut_ends = np.empty(n_spans + room, dtype=np.int64)
    n = np.int64(0)
    for span in range(n_spans):
        first = n
        if is_long[span]:
            n = cut_span(data, kinds, starts[span], ends[span], max_words > 0, cut_starts, cut_ends, n)
        else:
            cut_starts[n], cut_ends[n] = starts[span], ends[span]
            n += 1
        for piece in range(first, n):
            cut_documents[piece] = documents[span]
    return n, cut_documents, cut_starts, cut_ends
