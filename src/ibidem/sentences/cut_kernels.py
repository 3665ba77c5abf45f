"""The kernel that cuts over-long stretches where their own words say so, so that copies are cut alike."""

from __future__ import annotations

import numpy as np
from numba import njit

from ibidem.sentences.code_points import FOLD_PAGES, KIND_PAGES
from ibidem.sentences.hashing import SEED, mix
from ibidem.sentences.kinds import BLANK, COMMA, FIRST_TOKEN_KIND, IGNORED, MARK, UNSPACED
from ibidem.sentences.scan_kernels import trim_end
from ibidem.sentences.token_kernels import decode

_MIN_UNITS = 16
_MAX_UNITS = 96
_ONE_IN = np.uint64(31)
_HIGH = np.uint64(40)


@njit(cache=True, nogil=True)
def cut_span(data, start, end, code_points, cutting, starts, ends, n):
    """Return the number of units (words, unspaced characters, clusters) of a span; or cut it and return the new n.

    A piece has 16 to 96 units and ends after a comma, or after a unit whose hash says so.
    """
    units = 0
    piece = start
    in_word = False
    comma = 0
    h, unit_hash = SEED, SEED
    i = start
    while i < end:
        decoded = decode(data, i, end)
        code_point, size = decoded >> 3, decoded & 7
        kind = code_points[code_points[KIND_PAGES + (code_point >> 8)] + (code_point & 255)]
        if kind >= FIRST_TOKEN_KIND:
            form = np.int64(code_points[code_points[FOLD_PAGES + (code_point >> 8)] + (code_point & 255)])
            letter = np.uint64(form if form != 0 else code_point)
            if not in_word or kind >= UNSPACED:
                # Words are hashed by themselves, characters of unspaced scripts together with the one before.
                unit_hash = h
                if cutting and units >= _MIN_UNITS:
                    if units >= _MAX_UNITS or comma == 2 or (unit_hash >> _HIGH) & _ONE_IN == 0:
                        starts[n], ends[n] = piece, trim_end(data, piece, i, code_points)
                        n += 1
                        piece, units = i, 0
                units += 1
                h = mix(SEED, letter) if kind < UNSPACED else mix(mix(SEED, h & np.uint64(0xFFFF)), letter)
                if kind >= UNSPACED:
                    h = mix(h, letter)
            else:
                h = mix(h, letter)
            in_word = kind < UNSPACED
            comma = 0
        elif kind == COMMA:
            in_word = False
            comma = 1 if size == 1 else 2
        elif kind == BLANK:
            in_word = False
            comma = 2 if comma > 0 else 0
        elif kind != MARK and kind != IGNORED:
            in_word = False
        i += size
    if not cutting:
        return units
    starts[n], ends[n] = piece, end
    return n + 1


@njit(cache=True, nogil=True)
def cut_long_spans(data, documents, starts, ends, code_points, max_words):
    """Return documents, starts and ends with every span of more than `max_words` units cut into pieces."""
    room = 0
    is_long = np.zeros(len(starts), dtype=np.bool_)
    for span in range(len(starts)):
        # No more units than every second byte can begin one (but for expansions, which do not matter here).
        if ends[span] - starts[span] > 2 * max_words:
            units = cut_span(data, starts[span], ends[span], code_points, False, starts, ends, 0)
            if units > max_words:
                is_long[span] = True
                room += units // _MIN_UNITS + 1
    if room == 0:
        return documents, starts, ends
    cut_documents = np.empty(len(starts) + room, dtype=np.int32)
    cut_starts = np.empty(len(starts) + room, dtype=np.int64)
    cut_ends = np.empty(len(starts) + room, dtype=np.int64)
    n = 0
    for span in range(len(starts)):
        first = n
        if is_long[span]:
            n = cut_span(data, starts[span], ends[span], code_points, True, cut_starts, cut_ends, n)
        else:
            cut_starts[n], cut_ends[n] = starts[span], ends[span]
            n += 1
        cut_documents[first:n] = documents[span]
    return cut_documents[:n].copy(), cut_starts[:n].copy(), cut_ends[:n].copy()
