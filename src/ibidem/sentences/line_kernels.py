"""Kernels for what lines tell: paragraphs, list items, headings, and whether text is wrapped by hand."""

from __future__ import annotations

import numpy as np
from numba import njit

from ibidem.sentences.kinds import (
    BLANK,
    BULLET,
    CLOSER,
    FIRST_TOKEN_KIND,
    LOWER,
    NEWLINE,
    PARAGRAPH,
    UNSPACED,
)
from ibidem.sentences.scan_kernels import find_next_word, kind_at, skip_blanks

_MIN_WRAPPED_COLUMNS = 40
_MAX_WRAPPED_COLUMNS = 160
_SLACK_COLUMNS = 4  # lines of unspaced scripts end a character early for the sake of punctuation


@njit(cache=True, nogil=True)
def find_token_line(data, i, end, code_points):
    """Return the start of the first line from `i` on that holds a token character, or `end`."""
    line = i
    while i < end:
        if data[i] == 10:
            i += 1
            line = i
            continue
        found = kind_at(data, i, end, code_points)
        if found >> 3 >= FIRST_TOKEN_KIND:
            return line
        i += found & 7
        if found >> 3 == PARAGRAPH:
            line = i
    return end


@njit(cache=True, nogil=True)
def skip_quote_markers(data, i, end, code_points):
    """Return the place where a line's own text starts, past blanks and mail quote markers."""
    while True:
        i = skip_blanks(data, i, end, code_points)
        if i >= end or data[i] != 62:
            return i
        i += 1


@njit(cache=True, nogil=True)
def read_marker(data, i, end, code_points):
    """Return `style << 32 | value << 8 | n_bytes` of the list marker at `i`, or 0 if there is none.

    Markers are `1.` `1)` `1.)` `(1)` with up to three digits, or one ASCII letter; a bullet may stand before them.
    """
    start = i
    found = kind_at(data, i, end, code_points)
    if found >> 3 == BULLET:
        i = skip_blanks(data, i + (found & 7), end, code_points)
    bracketed = i < end and data[i] == 40
    if bracketed:
        i += 1
    value, digits = 0, 0
    while i < end and digits < 4 and 48 <= data[i] <= 57:
        value = value * 10 + np.int64(data[i]) - 48
        digits += 1
        i += 1
    if digits > 3 or i >= end:
        return 0
    style = 0
    if digits == 0:
        letter = np.int64(data[i])
        if not 97 <= letter | 32 <= 122:
            return 0
        value, style = letter, 8
        i += 1
    if i < end and data[i] == 46 and not bracketed:
        style |= 1
        i += 1
    if i < end and data[i] == 41:
        style |= 2
        i += 1
    if style & 3 == 0:
        return 0
    if bracketed:
        style |= 4
    kind = kind_at(data, i, end, code_points) >> 3
    if not BLANK <= kind <= PARAGRAPH:
        return 0
    return style << 32 | value << 8 | min(i - start, 255)


@njit(cache=True, nogil=True)
def is_heading(data, i, end, code_points):
    """Whether the line's text at `i` starts as a Markdown heading."""
    k = i
    while k < end and data[k] == 35 and k - i < 7:
        k += 1
    return 0 < k - i < 7 and kind_at(data, k, end, code_points) >> 3 == BLANK


@njit(cache=True, nogil=True)
def is_item(data, i, end, code_points):
    """Whether the line's text at `i` starts as a list item or a heading."""
    found = kind_at(data, i, end, code_points)
    if found >> 3 == BULLET:
        return True
    first = data[i] if i < end else 0
    if first == 42 or first == 45 or first == 43:
        return kind_at(data, i + 1, end, code_points) >> 3 == BLANK
    if first == 35:
        return is_heading(data, i, end, code_points)
    marker = read_marker(data, i, end, code_points)
    # "J." at the start of a line is an initial more often than a marker.
    return marker != 0 and marker >> 32 != 8 | 1


@njit(cache=True, nogil=True)
def count_columns(data, start, end):
    """Return the width of a stretch in columns: two for the wide characters of East Asia, one for all others."""
    columns = 0
    for i in range(start, end):
        byte = data[i]
        columns += (byte & 0xC0) != 0x80
        columns += (0xE3 <= byte <= 0xED) | (byte == 0xEF)
    return columns


@njit(cache=True, nogil=True)
def measure_block(data, i, end, code_points):
    """Return the width of the widest line of the block of lines at `i`, and the end of the block.

    A block ends before a line without token characters. Lines of one word, such as addresses, say nothing about wrapping.
    """
    widest = 0
    while i < end:
        line = i
        has_token = False
        words, in_word = 0, False
        while i < end and data[i] != 10:
            found = kind_at(data, i, end, code_points)
            kind = found >> 3
            if kind == PARAGRAPH:
                break
            if kind == BLANK:
                in_word = False
            elif not in_word or kind == UNSPACED:
                in_word = True
                words += 1
            has_token = has_token or kind >= FIRST_TOKEN_KIND
            i += found & 7
        if not has_token:
            return widest, line
        if words > 2:
            widest = max(widest, count_columns(data, line, i))
        if i < end and data[i] != 10:
            return widest, i
        i += 1
    return widest, end


@njit(cache=True, nogil=True)
def ends_at_newline(data, line, i, text, end, width, code_points):
    """Whether the newline at `i` was meant as a break: the next line's first word, at `text`, would have fitted.

    `line` is the start of the line that ends at `i`; `width` is the width of its block.
    """
    word = find_next_word(data, text, end, code_points)
    found = kind_at(data, word, end, code_points)
    kind = found >> 3
    if kind == LOWER:
        return False
    if width < _MIN_WRAPPED_COLUMNS or width > _MAX_WRAPPED_COLUMNS:
        return True
    columns = count_columns(data, line, i)
    if kind == UNSPACED:
        return columns + _SLACK_COLUMNS <= width
    k = text
    while k < end and k - text < _MAX_WRAPPED_COLUMNS:
        found = kind_at(data, k, end, code_points)
        if BLANK <= found >> 3 <= PARAGRAPH:
            break
        k += found & 7
    return columns + 1 + count_columns(data, text, k) <= width
