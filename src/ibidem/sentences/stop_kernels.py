"""Kernels that judge a terminator: does a sentence end here, or is it an abbreviation, a number, an ellipsis, a quotation?"""

from __future__ import annotations

from numba import njit

from ibidem.sentences.code_points import BYTE_FOLDS
from ibidem.sentences.kinds import (
    BARE_STOP,
    BLANK,
    CASELESS,
    CLOSER,
    COMMA,
    DIGIT,
    ELLIPSIS,
    FIRST_TOKEN_KIND,
    FULL_STOP,
    LOWER,
    OPENER,
    PARAGRAPH,
    QUOTE,
    STRONG_STOP,
    UNSPACED,
    UPPER,
)
from ibidem.sentences.line_kernels import find_token_line, is_item, read_marker, skip_quote_markers
from ibidem.sentences.scan_kernels import (
    find_next_word,
    find_word_end,
    find_word_start,
    hash_word,
    kind_at,
    kind_before,
    look_up,
    skip_blanks,
)

# The categories of ibidem.sentences.abbreviations, which imports kernels itself.
BEFORE, NUMBER, AFTER, OPENER_WORD, ORDINAL = 1, 2, 4, 8, 16


@njit(cache=True, nogil=True)
def _shape_of_word(data, start, end, code_points):
    """Return what an abbreviation looks like: 1 a letter, 2 letters with inner periods, 3 digits (and periods), 0 others.

    Shape 2 asks for one or two letters between the periods, as in "U.S", "Ph.D", "z.B"; "example.com" is a name.
    """
    letters = digits = periods = longest = part = 0
    i = start
    while i < end:
        found = kind_at(data, i, end, code_points)
        kind = found >> 3
        if kind == FULL_STOP:
            periods += 1
            part = 0
        elif kind == DIGIT:
            digits += 1
        elif kind >= FIRST_TOKEN_KIND:
            letters += 1
            part += 1
            longest = max(longest, part)
        i += found & 7
    if letters == 0:
        return 3 if digits > 0 else 0
    if digits > 0:
        return 0
    if periods == 0:
        return 1 if letters == 1 else 0
    return 2 if longest <= 2 else 0


@njit(cache=True, nogil=True)
def _is_opener(data, word, end, code_points, words):
    """Whether the word at `word` is one that sentences often start with, and not an initial."""
    word_end = find_word_end(data, word, end, code_points)
    if word_end == word or (word_end < end and data[word_end] == 46 and word_end - word <= 2):
        return False
    return look_up(hash_word(data, word, word_end, code_points), words) & OPENER_WORD != 0


@njit(cache=True, nogil=True)
def _is_roman(data, word, end, code_points):
    """Whether the word at `word` is a Roman numeral in capitals."""
    word_end = find_word_end(data, word, end, code_points)
    for i in range(word, word_end):
        byte = data[i]
        if not (byte == 73 or byte == 86 or byte == 88 or byte == 76 or byte == 67):
            return False
    return word < word_end < word + 8


@njit(cache=True, nogil=True)
def _is_abbreviation(data, sentence, i, word, end, code_points, words):
    """Whether the single period at `i` belongs to its word only. `word` is where the next word starts."""
    start = find_word_start(data, i, sentence, code_points)
    if start == i:
        return False
    shape = _shape_of_word(data, start, i, code_points)
    next_kind = kind_at(data, word, end, code_points) >> 3
    if shape == 3:
        if start == sentence or (start - sentence <= 8 and read_marker(data, sentence, end, code_points) != 0):
            return i - start <= 8
        if i - start > 2 or next_kind != UPPER:
            return False
        word_end = find_word_end(data, word, end, code_points)
        return look_up(hash_word(data, word, word_end, code_points), words) & ORDINAL != 0
    categories = look_up(hash_word(data, start, i, code_points), words)
    if categories & AFTER == 0 and categories & BEFORE != 0:
        return True
    if categories & NUMBER != 0 and (next_kind == DIGIT or _is_roman(data, word, end, code_points)):
        return True
    if categories & AFTER == 0 and shape == 0:
        return False
    if next_kind != UPPER and next_kind != DIGIT:
        return next_kind != CASELESS and next_kind < UNSPACED
    if shape == 1:
        # "z. B. Der": the two letters are one abbreviation.
        if i - start == 1 and start - 3 >= sentence and data[start - 1] == 32 and data[start - 2] == 46:
            first = find_word_start(data, start - 2, sentence, code_points)
            if first == start - 3:
                joined = hash_word(data, first, i, code_points)
                if look_up(joined, words) & BEFORE != 0:
                    return True
        marker = read_marker(data, sentence, end, code_points)
        if marker != 0 and i < sentence + (marker & 255):
            return True
    if shape == 2 and next_kind == UPPER and i - start == 3 and (data[start] == 65 or data[start] == 80):
        if data[start + 1] == 46 and data[start + 2] == 77:
            return False
    return not _is_opener(data, word, end, code_points, words)


@njit(cache=True, nogil=True)
def _skip_spaced_dots(data, i, end, code_points):
    """Return the end of the dots " . . ." that follow `i`."""
    while i + 1 < end and data[i] == 32 and data[i + 1] == 46:
        kind = kind_at(data, i + 2, end, code_points) >> 3
        if not (BLANK <= kind <= FULL_STOP or kind == CLOSER or kind == QUOTE):
            break
        i += 2
        while i < end and data[i] == 46:
            i += 1
    return i


@njit(cache=True, nogil=True)
def _skip_closers(data, i, end, code_points):
    """Return the place after closing quotes and brackets, stops that follow them, and reference marks like [12]."""
    closed = False
    while i < end:
        found = kind_at(data, i, end, code_points)
        kind = found >> 3
        if kind == CLOSER or kind == QUOTE:
            closed = True
            i += found & 7
        elif closed and FULL_STOP <= kind <= BARE_STOP:
            i += found & 7
        elif data[i] == 91 and i + 2 < end and 48 <= data[i + 1] <= 57:
            k = i + 2
            while k < end and k - i < 6 and 48 <= data[k] <= 57:
                k += 1
            if k >= end or data[k] != 93:
                break
            i = k + 1
        elif kind == BLANK:
            # French: a blank stands before the closing guillemet.
            k = i + (found & 7)
            if k + 1 < end and data[k] == 0xC2 and data[k + 1] == 0xBB:
                after = kind_at(data, k + 2, end, code_points) >> 3
                if BLANK <= after <= BARE_STOP or after == COMMA:
                    closed = True
                    i = k + 2
                    continue
            break
        else:
            break
    return i


@njit(cache=True, nogil=True)
def judge_stop(data, low, sentence, i, end, code_points, words):
    """Return `place << 1 | ends` for the terminator at `i`: whether the sentence ends at `place`, or goes on from there."""
    if data[i] == 46 and i + 1 < end and code_points[BYTE_FOLDS + data[i + 1]] != 0:
        return (i + 1) << 1
    dots = 0
    bare = strong = False
    k = i
    while k < end:
        found = kind_at(data, k, end, code_points)
        kind = found >> 3
        if kind == FULL_STOP:
            dots += 1
        elif kind == ELLIPSIS:
            dots += 3
        elif kind == STRONG_STOP:
            strong = True
        elif kind == BARE_STOP:
            bare = True
        else:
            break
        k += found & 7
    run_end = k
    only_dots = not strong and not bare
    if only_dots:
        k = _skip_spaced_dots(data, k, end, code_points)
        for place in range(run_end, k):
            dots += data[place] == 46
    before = kind_before(data, i, low, code_points) >> 3
    if before == OPENER:
        return k << 1
    stop_end = k
    k = _skip_closers(data, k, end, code_points)
    kind = kind_at(data, k, end, code_points) >> 3
    blank_follows = BLANK <= kind <= PARAGRAPH
    if bare:
        if kind == COMMA or (k > stop_end and not blank_follows and kind != OPENER):
            return k << 1
        # The full-width period is a decimal point too.
        if data[i] == 0xEF and data[i + 2] == 0x8E and DIGIT <= kind < UNSPACED:
            return k << 1
        return k << 1 | 1
    if not blank_follows:
        return k << 1 | (strong and k == stop_end and kind == UNSPACED and before == UNSPACED)
    text = skip_blanks(data, k, end, code_points)
    if text < end and BLANK <= kind_at(data, text, end, code_points) >> 3 <= PARAGRAPH:
        # The end of a line: paragraphs and list items are the newline's business.
        if find_token_line(data, text + 1, end, code_points) != text + 1:
            return k << 1
        text = skip_quote_markers(data, text + 1, end, code_points)
        if is_item(data, text, end, code_points):
            return k << 1
    found = kind_at(data, text, end, code_points)
    if found >> 3 == COMMA or found >> 3 == CLOSER or FULL_STOP <= found >> 3 <= ELLIPSIS:
        return k << 1
    word = find_next_word(data, text, end, code_points)
    found = kind_at(data, word, end, code_points)
    if found >> 3 == LOWER and kind_at(data, word + (found & 7), end, code_points) >> 3 != UPPER:
        return k << 1
    if only_dots:
        if BLANK <= before <= PARAGRAPH:
            return k << 1 | (dots > 3)
        if run_end == i + 1 and stop_end > run_end and dots >= 3:
            return run_end << 1 | 1
        if dots == 1 and k == stop_end and _is_abbreviation(data, sentence, i, word, end, code_points, words):
            return k << 1
    return k << 1 | 1
