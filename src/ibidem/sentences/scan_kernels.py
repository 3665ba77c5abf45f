"""Kernels that read characters and words around a place in UTF-8; every scan is bounded."""

from __future__ import annotations

import numpy as np
from numba import njit

from ibidem.sentences.code_points import FOLD_PAGES, KIND_PAGES, KINDS
from ibidem.sentences.hashing import SEED, mix
from ibidem.sentences.kinds import (
    BLANK,
    DASH,
    FIRST_TOKEN_KIND,
    FULL_STOP,
    IGNORED,
    MARK,
    NEWLINE,
    OPENER,
    PARAGRAPH,
    QUOTE,
    UNSPACED,
)
from ibidem.sentences.token_kernels import decode

_MAX_WORD_BYTES = 64
_MAX_OPENER_BYTES = 24
_DEGREE = 0xB0
_CATEGORY_BITS = np.uint64(8)


@njit(cache=True, nogil=True)
def kind_at(data, i, end, code_points):
    """Return `kind << 3 | n_bytes` of the character at `i`; at the end it is a newline of no bytes."""
    if i >= end:
        return NEWLINE << 3
    if data[i] < 0x80:
        return np.int64(code_points[KINDS + data[i]]) << 3 | 1
    decoded = decode(data, i, end)
    code_point = decoded >> 3
    kind = np.int64(code_points[code_points[KIND_PAGES + (code_point >> 8)] + (code_point & 255)])
    return kind << 3 | decoded & 7


@njit(cache=True, nogil=True)
def kind_before(data, i, low, code_points):
    """Return `kind << 3 | n_bytes` of the character that ends at `i`; at the start it is a newline of no bytes."""
    if i <= low:
        return NEWLINE << 3
    k = i - 1
    while k > low and (data[k] & 0xC0) == 0x80 and i - k < 4:
        k -= 1
    return kind_at(data, k, i, code_points) & ~7 | (i - k)


@njit(cache=True, nogil=True)
def skip_blanks(data, i, end, code_points):
    """Return the place of the first character from `i` on that is neither blank nor ignored; newlines are not blank."""
    while i < end:
        found = kind_at(data, i, end, code_points)
        if found >> 3 != BLANK and found >> 3 != IGNORED:
            break
        i += found & 7
    return i


@njit(cache=True, nogil=True)
def find_token(data, i, end, code_points):
    """Return the place of the first token character in [i, end), or `end`."""
    while i < end:
        found = kind_at(data, i, end, code_points)
        if found >> 3 >= FIRST_TOKEN_KIND:
            return i
        i += found & 7
    return end


@njit(cache=True, nogil=True)
def find_content(data, i, end, low, code_points):
    """Return the first place in [i, end) that is neither blank, newline nor a mail quote marker at the start of a line."""
    line_starts = i == low or data[i - 1] == 10
    while i < end:
        found = kind_at(data, i, end, code_points)
        kind = found >> 3
        if kind == NEWLINE or kind == PARAGRAPH:
            line_starts = True
        elif not (kind == BLANK or kind == IGNORED or (line_starts and data[i] == 62)):
            return i
        i += found & 7
    return end


@njit(cache=True, nogil=True)
def trim_end(data, start, end, code_points):
    """Return the end of [start, end) without the blanks and newlines at its end."""
    while end > start:
        found = kind_before(data, end, start, code_points)
        if not BLANK <= found >> 3 <= PARAGRAPH:
            break
        end -= found & 7
    return end


@njit(cache=True, nogil=True)
def find_next_word(data, i, end, code_points):
    """Return the place of the next word's first letter, past opening quotes, brackets, dashes and blanks, if it is near."""
    limit = min(end, i + _MAX_OPENER_BYTES)
    while i < limit:
        found = kind_at(data, i, end, code_points)
        kind = found >> 3
        if not (kind == OPENER or kind == QUOTE or kind == DASH or kind == BLANK or kind == IGNORED):
            break
        i += found & 7
    return i


@njit(cache=True, nogil=True)
def find_word_start(data, i, low, code_points):
    """Return the start of the word that ends at `i`, inner periods included; `i` if there is none or it is too long."""
    k = i
    limit = max(low, i - _MAX_WORD_BYTES)
    while k > limit:
        found = kind_before(data, k, low, code_points)
        kind = found >> 3
        if kind == FULL_STOP:
            # A period is inside a word only if a letter or a digit stands before it.
            before = kind_before(data, k - 1, low, code_points) >> 3
            if before < FIRST_TOKEN_KIND or before >= UNSPACED:
                break
        elif kind < FIRST_TOKEN_KIND and kind != MARK and kind != IGNORED:
            if not (data[k - 1] == _DEGREE and data[k - 2] == 0xC2):
                break
        elif kind >= UNSPACED:
            break
        k -= found & 7
    return i if k <= limit and k > low else k


@njit(cache=True, nogil=True)
def find_word_end(data, i, end, code_points):
    """Return the end of the word that starts at `i`: letters, digits, marks; at most 64 bytes of it."""
    limit = min(end, i + _MAX_WORD_BYTES)
    while i < limit:
        found = kind_at(data, i, end, code_points)
        kind = found >> 3
        if (kind < FIRST_TOKEN_KIND and kind != MARK and kind != IGNORED) or kind >= UNSPACED:
            break
        i += found & 7
    return i


@njit(cache=True, nogil=True)
def hash_word(data, start, end, code_points):
    """Return the caseless hash of a word."""
    h = SEED
    i = start
    while i < end:
        decoded = decode(data, i, end)
        code_point = decoded >> 3
        i += decoded & 7
        form = np.int64(code_points[code_points[FOLD_PAGES + (code_point >> 8)] + (code_point & 255)])
        h = mix(h, np.uint64(form if form != 0 else code_point))
    return h


@njit(cache=True, nogil=True)
def look_up(h, words):
    """Return the categories of a word's hash, 0 for an unknown word.

    Open addressing: an entry is the hash with the categories in place of its last byte; 0 is a free slot.
    """
    mask = len(words) - 1
    key = h >> _CATEGORY_BITS
    slot = np.int64(key & np.uint64(mask))
    while words[slot] != 0:
        if words[slot] >> _CATEGORY_BITS == key:
            return np.int64(words[slot] & np.uint64(255))
        slot = (slot + 1) & mask
    return 0


@njit(cache=True, nogil=True)
def fill_word_table(data, first, categories, code_points, words):
    """Enter words into an empty table that is larger than their number."""
    mask = len(words) - 1
    for word in range(len(first) - 1):
        key = hash_word(data, first[word], first[word + 1], code_points) >> _CATEGORY_BITS
        slot = np.int64(key & np.uint64(mask))
        while words[slot] != 0 and words[slot] >> _CATEGORY_BITS != key:
            slot = (slot + 1) & mask
        words[slot] |= key << _CATEGORY_BITS | np.uint64(categories[word])
