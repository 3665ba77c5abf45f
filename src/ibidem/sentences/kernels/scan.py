"""Kernels that scan UTF-8: they look around a position and count characters. Every scan is bounded, or never reads a byte
twice.

`kinds` has the kind of a character at its first byte and CONTINUATION at its other bytes, so scans go byte by byte.
"""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import SEED, mix
from ibidem.columns.kernels.machine_words import HIGH_BITS, count_continuations, load_bytes, load_word
from ibidem.execution.compiler import inner_kernel, outer_kernel
from ibidem.sentences.code_points import (
    BLANK,
    CASELESS,
    CONTINUATION,
    DASH,
    FIRST_TOKEN_KIND,
    FULL_STOP,
    IGNORED,
    KIND_PAGES,
    KINDS,
    MARK,
    NEWLINE,
    OPENER,
    PARAGRAPH,
    QUOTE,
    STRONG_STOP,
)
from ibidem.sentences.kernels.tokens import decode, look_up_page

_MAX_WORD_BYTES = 64
_MAX_OPENER_BYTES = 24
_CATEGORY_BITS = np.uint64(8)
_BYTE, _BYTE_BITS = np.uint64(255), np.uint64(8)
_ASCII_KINDS = np.uint64(KINDS)
_GREEK, _CYRILLIC, _ARMENIAN, _AFTER_ARMENIAN = 0x370, 0x400, 0x530, 0x58A  # where blocks of letters begin

# Sets of kinds, as bits. Typed, because numba compiles again for a plain constant.
CONTINUATIONS = np.int64(1 << CONTINUATION)
_GAPS = np.int64(1 << BLANK | 1 << IGNORED | 1 << CONTINUATION)
_BREAKS = np.int64(1 << NEWLINE | 1 << PARAGRAPH)
_BEFORE_WORDS = np.int64(_GAPS | 1 << OPENER | 1 << QUOTE | 1 << DASH)
_IN_WORDS = np.int64(1 << IGNORED | 1 << MARK | 1 << CONTINUATION)


@outer_kernel
def mark_kinds(data, code_points, kinds):
    """Write the kind of every character at its first byte, CONTINUATION at its others."""
    end = np.int64(len(data))
    i = np.int64(0)
    while i < end:
        word = load_word(data, i) if i + 8 <= end else HIGH_BITS
        if word & HIGH_BITS == 0:
            # Unsigned indices, because numba treats negative ones as counted from the end.
            for k in range(8):
                kinds[np.uint64(i + k)] = code_points[_ASCII_KINDS + (word & _BYTE)]
                word >>= _BYTE_BITS
            i += 8
            continue
        if data[i] < 0x80:
            kinds[i] = code_points[KINDS + data[i]]
            i += 1
            continue
        decoded = decode(data, i, end)
        code_point = decoded >> 3
        kinds[i] = look_up_page(code_points, KIND_PAGES, code_point)
        for k in range(i + 1, i + (decoded & 7)):
            kinds[k] = CONTINUATION
        i += decoded & 7
        # After a Greek letter ; asks, after an Armenian one : is the full stop.
        if code_point < _AFTER_ARMENIAN and i < end:
            if data[i] == (59 if code_point < _CYRILLIC else 58) and (
                _GREEK <= code_point < _CYRILLIC or code_point >= _ARMENIAN
            ):
                kinds[i] = STRONG_STOP
                i += 1


@inner_kernel
def find_before(kinds, i, low):
    """Return the first byte of the character that ends at `i`, or `low`."""
    i -= 1
    while i > low and kinds[i] == CONTINUATION:
        i -= 1
    return i


@inner_kernel
def kind_before(kinds, i, low):
    """Return the kind of the character that ends at `i`; the start of the text is a newline."""
    return np.int64(kinds[find_before(kinds, i, low)]) if i > low else NEWLINE


@inner_kernel
def kind_at(kinds, i, end):
    """Return the kind of the character at `i`; the end of the text is a newline."""
    return np.int64(kinds[i]) if i < end else NEWLINE


@inner_kernel
def skip_kinds(kinds, i, end, passed):
    """Return the first place from `i` on whose kind is not in the set `passed`."""
    while i < end and (passed >> kinds[i]) & 1:
        i += 1
    return i


@inner_kernel
def skip_blanks(kinds, i, end):
    """Return the position of the first character from `i` on that is neither a space nor ignored; newlines are not spaces."""
    return skip_kinds(kinds, i, end, _GAPS)


@inner_kernel
def find_next_word(kinds, i, end):
    """Return the position of the next word's first letter, past opening quotes, brackets, dashes and spaces, if near."""
    limit = i + _MAX_OPENER_BYTES
    return skip_kinds(kinds, i, limit if limit < end else end, _BEFORE_WORDS)


@inner_kernel
def find_token(kinds, i, end):
    """Return the place of the first token character in [i, end), or `end`."""
    while i < end and kinds[i] < FIRST_TOKEN_KIND:
        i += 1
    return i


@inner_kernel
def find_content(data, kinds, i, end, low):
    """Return the first position in [i, end) that is neither space, newline nor a mail quote marker at a line's start."""
    line_starts = i == low or data[i - 1] == 10
    while i < end:
        if (_BREAKS >> kinds[i]) & 1:
            line_starts = True
        elif not ((_GAPS >> kinds[i]) & 1 or (line_starts and data[i] == 62)):
            break
        i += 1
    return i


@inner_kernel
def trim_end(kinds, start, end):
    """Return the end of [start, end) without trailing spaces and newlines."""
    while end > start:
        k = find_before(kinds, end, start)
        if not BLANK <= kinds[k] <= PARAGRAPH:
            break
        end = k
    return end


@inner_kernel
def find_word_start(data, kinds, i, low):
    """Return the start of the word that ends at `i`, inner periods included; `i` if there is none or it is too long."""
    k = i
    limit = i - _MAX_WORD_BYTES
    limit = limit if limit > low else low
    while k > limit:
        kind = kinds[k - 1]
        if kind == FULL_STOP:
            # A period is inside a word only after a letter or a digit.
            before = kind_before(kinds, k - 1, low)
            if before < FIRST_TOKEN_KIND or before > CASELESS:
                break
        elif kind == CONTINUATION:
            k = find_before(kinds, k, low)
            is_degree = data[k] == 0xC2 and data[k + 1] == 0xB0
            if not (FIRST_TOKEN_KIND <= kinds[k] <= CASELESS or (_IN_WORDS >> kinds[k]) & 1 or is_degree):
                while kinds[k + 1] == CONTINUATION:
                    k += 1
                return k + 1
            continue
        elif not (FIRST_TOKEN_KIND <= kind <= CASELESS):
            break
        k -= 1
    return i if k <= limit and k > low else k


@inner_kernel
def find_word_end(kinds, i, end):
    """Return the end of the word that starts at `i`: letters, digits, marks; at most 64 bytes of it."""
    limit = i + _MAX_WORD_BYTES
    limit = limit if limit < end else end
    while i < limit and (FIRST_TOKEN_KIND <= kinds[i] <= CASELESS or (_IN_WORDS >> kinds[i]) & 1):
        i += 1
    return i


@inner_kernel
def hash_word(data, start, end):
    """Return the hash of a word, ASCII letters without case; spaces in it are ignored, so that "z. B" is "z.B"."""
    h = SEED
    for i in range(start, end):
        byte = data[i]
        if byte != 32:
            h = mix(h, np.uint64(byte | 32 if 65 <= byte <= 90 else byte))
    return h


@inner_kernel
def look_up(data, start, end, words):
    """Return the categories of a word, 0 for an unknown word.

    Open addressing: an entry is the word's hash with the categories in place of its last byte; 0 is a free slot.
    The table is made in ibidem.sentences.abbreviations.
    """
    mask = len(words) - 1
    key = hash_word(data, start, end) >> _CATEGORY_BITS
    slot = np.int64(key & np.uint64(mask))
    while words[slot] != 0:
        if words[slot] >> _CATEGORY_BITS == key:
            return np.int64(words[slot] & np.uint64(255))
        slot = (slot + 1) & mask
    return np.int64(0)


@inner_kernel
def is_ascii(data, start, end):
    """Return whether all bytes of a span are ASCII."""
    bits = np.uint64(0)
    for i in range(start, end, 8):
        bits |= load_bytes(data, i, end)
    return bits & HIGH_BITS == 0


@inner_kernel
def count_chars(data, start, end):
    """Return the number of characters in a byte span that begins and ends between characters."""
    n_chars = end - start
    for i in range(start, end, 8):
        n_chars -= count_continuations(load_bytes(data, i, end))
    return n_chars


@outer_kernel
def count_offsets(data, offsets, documents, starts, ends, start_chars, end_chars):
    """Write the character offsets of byte spans that are in reading order, counted from their documents' starts."""
    document, at_byte, at_char = np.int64(-1), np.int64(0), np.int64(0)
    plain = False
    for span in range(len(starts)):
        if documents[span] != document:
            document = documents[span]
            at_byte, at_char = offsets[document], np.int64(0)
            plain = is_ascii(data, at_byte, offsets[document + 1])
        if plain:
            start_chars[span], end_chars[span] = starts[span] - at_byte, ends[span] - at_byte
            continue
        at_char += count_chars(data, at_byte, starts[span])
        start_chars[span] = at_char
        at_char += count_chars(data, starts[span], ends[span])
        end_chars[span] = at_char
        at_byte = ends[span]
