"""Kernels that interpret lines: paragraphs, list items, headings, and whether text is wrapped by hand."""

# ruff: noqa: SIM109 (tests against a tuple compile slowly)
from __future__ import annotations

import numpy as np

from ibidem.columns.kernels.machine_words import (
    EACH_BYTE,
    HIGH_BITS,
    count_continuations,
    count_low_bytes,
    count_wide,
    load_bytes,
    load_word,
)
from ibidem.execution.compiler import inlined_kernel, inner_kernel
from ibidem.sentences.code_points import (
    BLANK,
    BULLET,
    CONTINUATION,
    FIRST_TOKEN_KIND,
    NEWLINE,
    PARAGRAPH,
    UNSPACED,
)
from ibidem.sentences.kernels.scan import find_token, kind_at, skip_blanks

MIN_WRAPPED_COLUMNS = 40
MAX_WRAPPED_COLUMNS = 160
_SLACK_COLUMNS = 4  # lines of unspaced scripts may end a character early because of punctuation
_MAX_MARKER_BLANKS = 16  # between a bullet and a number; a bound, so that no text is scanned repeatedly
# NEWLINE and PARAGRAPH differ in their lowest bit.
_BREAKS = EACH_BYTE * np.uint64(PARAGRAPH)


@inlined_kernel
def _mark_breaks(kinds):
    """Return a word whose lowest set bit is in the first of eight kinds that is NEWLINE or PARAGRAPH."""
    differences = (kinds | EACH_BYTE) ^ _BREAKS
    return (differences - EACH_BYTE) & ~differences & HIGH_BITS


@inner_kernel
def find_token_line(kinds, i, end):
    """Return the start of the first line from `i` on with a token character, or `end`."""
    line = i
    while i < end:
        kind = kinds[i]
        if kind >= FIRST_TOKEN_KIND:
            return line
        i += 1
        if kind == NEWLINE or kind == PARAGRAPH:
            while i < end and kinds[i] == CONTINUATION:
                i += 1
            line = i
    return end


@inner_kernel
def skip_quote_markers(data, kinds, i, end):
    """Return where a line's own text starts, after spaces and mail quote markers."""
    while True:
        i = skip_blanks(kinds, i, end)
        if i >= end or data[i] != 62:
            return i
        i += 1


@inner_kernel
def count_quote_markers(data, start, end):
    """Return the number of mail quote markers in the stretch before a line's own text."""
    n_markers = 0
    for i in range(start, end):
        n_markers += data[i] == 62
    return n_markers


@inner_kernel
def read_marker(data, kinds, i, end):
    """Return `style << 32 | value << 8 | n_bytes` of the list marker at `i`, or 0 if there is none.

    Markers are `1.` `1)` `1.)` `(1)` with up to three digits, or one ASCII letter; a bullet may precede them.
    """
    start = i
    if kind_at(kinds, i, end) == BULLET:
        i = skip_blanks(kinds, i + 1, end if end - i < _MAX_MARKER_BLANKS else i + _MAX_MARKER_BLANKS)
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
    if not BLANK <= kind_at(kinds, i, end) <= PARAGRAPH:
        return 0
    n_bytes = i - start if i - start < 255 else 255
    return style << 32 | value << 8 | n_bytes


@inner_kernel
def is_heading(data, kinds, i, end):
    """Return whether the line's text at `i` starts as a Markdown heading."""
    k = i
    while k < end and data[k] == 35 and k - i < 7:
        k += 1
    return 0 < k - i < 7 and kind_at(kinds, k, end) == BLANK


@inner_kernel
def is_item(data, kinds, i, end):
    """Return whether the line's text at `i` starts as a list item or a heading."""
    if kind_at(kinds, i, end) == BULLET:
        return True
    first = data[i] if i < end else 0
    if first == 42 or first == 45 or first == 43:
        return kind_at(kinds, i + 1, end) == BLANK
    if first == 35:
        return is_heading(data, kinds, i, end)
    marker = read_marker(data, kinds, i, end)
    # "J." at the start of a line is an initial more often than a marker.
    return marker != 0 and marker >> 32 != 8 | 1


@inner_kernel
def count_columns(data, start, end):
    """Return the width of a stretch in columns: two for the wide characters of East Asia, one for all others."""
    columns = end - start
    for i in range(start, end, 8):
        word = load_bytes(data, i, end)
        if word & HIGH_BITS != 0:
            columns += count_wide(word) - count_continuations(word)
    return columns


@inner_kernel
def _has_three_words(kinds, start, end):
    """Return whether a line has more than two words; characters of unspaced scripts are words."""
    words, in_word = 0, False
    for i in range(start, end):
        kind = kinds[i]
        if kind == BLANK:
            in_word = False
        elif not in_word or kind == UNSPACED:
            in_word = True
            words += 1
            if words > 2:
                return True
    return False


@inner_kernel
def measure_block(data, kinds, i, end):
    """Return the width of the widest line of the block of lines at `i`, and the end of the block.

    A block ends before a line without token characters. Lines of one or two words, such as addresses, do not count.
    """
    widest = 0
    while i < end:
        line = i
        while i < end:
            breaks = _mark_breaks(load_word(kinds, i))
            if breaks != 0:
                i += count_low_bytes(breaks)
                break
            i += 8
        if i > end:
            i = end
        if find_token(kinds, line, i) == i:
            return widest, line
        # A column takes at least one byte: short lines need no counting.
        if i - line > widest:
            columns = count_columns(data, line, i)
            if columns > widest and _has_three_words(kinds, line, i):
                widest = columns
        if i < end and kinds[i] == PARAGRAPH:
            return widest, i
        i += 1
    return widest, end


@inner_kernel
def ends_at_newline(data, kinds, line, own_text, i, text, end, width):
    """Return whether the newline at `i` was meant as a break: the next line's first word, at `text`, would have fitted.

    Asked only if that word is not in lower case and if the width is one that text is wrapped at.
    `line` is the start of the line that ends at `i`, `own_text` that of its text; `width` is the width of its block.
    """
    if count_quote_markers(data, line, own_text) != count_quote_markers(data, i + 1, text):
        return True
    columns = count_columns(data, line, i)
    if kind_at(kinds, text, end) == UNSPACED:
        return columns + _SLACK_COLUMNS <= width
    k = text
    while k < end and k - text < MAX_WRAPPED_COLUMNS and not BLANK <= kinds[k] <= PARAGRAPH:
        k += 1
    return columns + 1 + count_columns(data, text, k) <= width
