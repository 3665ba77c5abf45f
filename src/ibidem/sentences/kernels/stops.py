"""Kernels that judge a terminator: the end of a sentence, or an abbreviation, a number, an ellipsis, a quotation?"""

# ruff: noqa: SIM109 (tests against a tuple compile slowly)
from __future__ import annotations

import numpy as np

from ibidem.execution.compiler import inner_kernel
from ibidem.sentences.code_points import (
    BARE_STOP,
    BLANK,
    CASELESS,
    CLOSER,
    COMMA,
    CONTINUATION,
    DIGIT,
    ELLIPSIS,
    FIRST_TOKEN_KIND,
    FULL_STOP,
    LOWER,
    OPENER,
    PARAGRAPH,
    QUOTE,
    SEPARATOR,
    STRONG_STOP,
    UNSPACED,
    UPPER,
)
from ibidem.sentences.kernels.last_words import is_whole_word
from ibidem.sentences.kernels.lines import read_marker, skip_quote_markers
from ibidem.sentences.kernels.scan import (
    CONTINUATIONS,
    find_before,
    find_next_word,
    find_token,
    find_word_end,
    find_word_start,
    kind_at,
    kind_before,
    look_up,
    skip_blanks,
    skip_kinds,
)

# The categories of ibidem.sentences.abbreviations, which itself imports kernels.
BEFORE, NUMBER, AFTER, OPENER_WORD, ORDINAL, CLAUSE, WHOLE = 1, 2, 4, 8, 16, 32, 64
# A single letter of a script without case is an initial or "Dr.", but a syllable of Korean is a word.
_HANGUL_LEAD = 0xEA

# Verdicts.
GOES_ON, ENDS = np.int64(-2), np.int64(-1)
_MAX_MARKER_BYTES = 16
_MAX_TITLE_BYTES = 60


@inner_kernel
def _shape_of_word(kinds, start, end):
    """Return the shape of a word: 1 a letter, 2 letters with inner periods, 3 digits (and periods), 0 others.

    Shape 2 asks for one or two letters between the periods, as in "U.S", "Ph.D", "z.B"; "example.com" is a name.
    """
    letters = digits = periods = longest = part = 0
    for i in range(start, end):
        kind = kinds[i]
        if kind == FULL_STOP:
            periods += 1
            part = 0
        elif kind == DIGIT:
            digits += 1
        elif kind >= FIRST_TOKEN_KIND:
            letters += 1
            part += 1
            longest = part if part > longest else longest
    if letters == 0:
        return 3 if digits > 0 else 0
    if digits > 0:
        return 0
    if periods == 0:
        return 1 if letters == 1 else 0
    return 2 if longest <= 2 else 0


@inner_kernel
def _is_opener(data, kinds, word, end, words):
    """Return whether the word at `word` is one that sentences often start with, and not an initial."""
    word_end = find_word_end(kinds, word, end)
    if word_end == word or (word_end < end and data[word_end] == 46 and word_end - word <= 2):
        return False
    return look_up(data, word, word_end, words) & OPENER_WORD != 0


@inner_kernel
def _is_roman(data, kinds, word, end):
    """Return whether the word at `word` is a Roman numeral in capitals; "I" before a lower-case letter is the pronoun."""
    word_end = find_word_end(kinds, word, end)
    if word_end == word + 1 and data[word] == 73 and kind_at(kinds, skip_blanks(kinds, word_end, end), end) == LOWER:
        return False
    for i in range(word, word_end):
        byte = data[i]
        if not (byte == 73 or byte == 86 or byte == 88 or byte == 76 or byte == 67):
            return False
    return word < word_end < word + 8


@inner_kernel
def _ends_contraction(kinds, sentence, start):
    """Return whether the letter at `start` is that of "don't" or "the team's", and no initial."""
    if kind_before(kinds, start, sentence) != QUOTE or start - 1 <= sentence:
        return False
    return kind_before(kinds, find_before(kinds, start, sentence), sentence) >= FIRST_TOKEN_KIND


@inner_kernel
def _starts_small(data, kinds, sentence, i, word, end, words):
    """Return whether a sentence starts in lower case at `word`, after the stop at `i`: "any idea? they were closed. it rained".

    A period may belong to an abbreviation that no list has; its word is short, and what follows is rarely an opener.
    """
    before = kind_before(kinds, i, sentence)
    opened = look_up(data, word, find_word_end(kinds, word, end), words)
    start = find_word_start(data, kinds, i, sentence)
    if kinds[i] != FULL_STOP:
        # "Oho! in Bremen": the mark belongs to a name.
        if data[i] == 33 and data[i + 1] != 33 and start > sentence and kinds[start] == UPPER:
            return False
        return before >= FIRST_TOKEN_KIND or (before == BLANK and opened & (CLAUSE | OPENER_WORD) != 0)
    if before == CLOSER:
        return opened & CLAUSE != 0
    is_letter = word + 1 >= end or data[word + 1] == 32
    if start == i:
        return before == SEPARATOR  # "It costs $400+. good luck"
    shape = _shape_of_word(kinds, start, i)
    if shape == 3:
        return opened & CLAUSE != 0 and not is_letter  # "5. i 6." counts in Croatian
    categories = look_up(data, start, i, words)
    if categories & WHOLE != 0 and opened & CLAUSE != 0:
        return True
    if shape == 1 and _ends_contraction(kinds, sentence, start):
        return True
    if i - start < 2 or shape != 0 or categories & (BEFORE | NUMBER | AFTER) != 0:
        return False
    if categories & WHOLE != 0 or (kinds[start] == LOWER and is_whole_word(data, kinds, start, i)):
        return True
    # "i" is also a word of Slavic and Scandinavian languages.
    is_word = i - start >= (4 if is_letter else 3)
    return opened & CLAUSE != 0 and (is_word or categories & (CLAUSE | OPENER_WORD) != 0)


@inner_kernel
def starts_unspaced(data, kinds, sentence, i, word, end, words):
    """Return whether a sentence starts at `word`, where no blank follows the stop at `i`: "It rained.The rest".

    Not in "Array.From(x)", "example.Com" or "page?the=1": a word of lower-case letters comes before the stop, and a word that
    opens sentences, on its own, after it.
    """
    start = find_word_start(data, kinds, i, sentence)
    if i - start < 2 or not (start == sentence or BLANK <= kind_before(kinds, start, sentence) <= PARAGRAPH):
        return False
    for k in range(start, i):
        if kinds[k] != LOWER and kinds[k] != CONTINUATION:
            return False
    word_end = find_word_end(kinds, word, end)
    after = kind_at(kinds, word_end, end)
    if after != BLANK and after != QUOTE and after != COMMA:
        return False
    return look_up(data, word, word_end, words) & (OPENER_WORD if kinds[word] == UPPER else CLAUSE) != 0


@inner_kernel
def is_abbreviation(data, kinds, sentence, i, word, end, words):
    """Return whether the words around the stop at `i` show that the sentence goes on. `word` is where the next word starts."""
    next_kind = kind_at(kinds, word, end)
    if next_kind == LOWER and kind_at(kinds, skip_kinds(kinds, word + 1, end, CONTINUATIONS), end) != UPPER:
        return not _starts_small(data, kinds, sentence, i, word, end, words)
    start = find_word_start(data, kinds, i, sentence)
    if start == i:
        return False
    shape = _shape_of_word(kinds, start, i)
    if shape == 1 and _ends_contraction(kinds, sentence, start):
        return False
    if shape == 3:
        # "2.1. Method", "§ 12. Rent": a number before all words belongs to what follows.
        if i - sentence <= _MAX_MARKER_BYTES and find_token(kinds, sentence, start) == start:
            return True
        if i - start > 2 or next_kind != UPPER:
            return False
        word_end = find_word_end(kinds, word, end)
        return look_up(data, word, word_end, words) & ORDINAL != 0
    categories = look_up(data, start, i, words)
    if categories & AFTER == 0 and categories & BEFORE != 0:
        return True
    if categories & NUMBER != 0 and (next_kind == DIGIT or _is_roman(data, kinds, word, end)):
        return True
    if categories & AFTER == 0 and shape == 0:
        return False
    if next_kind != UPPER and next_kind != DIGIT:
        if shape == 1 and next_kind == CASELESS and kinds[start] == CASELESS and data[start] < _HANGUL_LEAD:
            return True
        return next_kind != CASELESS and next_kind < UNSPACED
    if shape == 1:
        # "z. B. Der": the two letters are one abbreviation.
        if start - 3 >= sentence and data[start - 1] == 32 and data[start - 2] == 46:
            first = find_word_start(data, kinds, start - 2, sentence)
            categories = look_up(data, first, i, words)
            if categories & BEFORE != 0 and categories & AFTER == 0:
                return True
    if shape == 2 and next_kind == UPPER and i - start == 3 and (data[start] == 65 or data[start] == 80):
        if data[start + 1] == 46 and data[start + 2] == 77:
            return False
    return not _is_opener(data, kinds, word, end, words)


@inner_kernel
def _skip_spaced_dots(data, kinds, i, end):
    """Return the end of the dots " . . ." that follow `i`."""
    while i + 1 < end and data[i] == 32 and data[i + 1] == 46:
        kind = kind_at(kinds, i + 2, end)
        if not (BLANK <= kind <= FULL_STOP or kind == CLOSER or kind == QUOTE):
            break
        i += 2
        while i < end and data[i] == 46:
            i += 1
    return i


@inner_kernel
def _opens(data, i, end):
    """Return whether “ or ‘ is at `i`, which closes in German but opens after a full-width stop."""
    return i + 2 < end and data[i] == 0xE2 and data[i + 1] == 0x80 and (data[i + 2] == 0x9C or data[i + 2] == 0x98)


@inner_kernel
def _find_reference_end(data, i, end):
    """Return where the bracket of the reference mark at `i` closes, as in [12], or -1."""
    if i + 2 >= end or data[i] != 91 or not 48 <= data[i + 1] <= 57:
        return -1
    k = i + 2
    while k < end and k - i < 6 and 48 <= data[k] <= 57:
        k += 1
    return k if k < end and data[k] == 93 else -1


@inner_kernel
def _find_face_end(data, kinds, i, end):
    """Return the end of the face at `i`, such as :-) or ;P, if a blank follows, or -1."""
    if i + 2 >= end or not 58 <= data[i] <= 59:
        return -1
    k = i + 1
    while k < end and k - i < 3 and (data[k] == 45 or data[k] == 39):
        k += 1
    mouth = k
    while k < end and k - mouth < 8 and data[k] == data[mouth]:
        k += 1
    kind = kind_at(kinds, mouth, end)
    is_mouth = kind == OPENER or kind == CLOSER or data[mouth] | 32 == 100 or data[mouth] | 32 == 112
    return k if is_mouth and BLANK <= kind_at(kinds, k, end) <= PARAGRAPH else -1


@inner_kernel
def ends_with_smile(data, kinds, i, low, end):
    """Return whether the bracket at `i` ends a face like :-) and a capital or a number follows: a sentence ends there too."""
    eyes = i - 1 if i > low and data[i - 1] != 45 else i - 2
    if eyes <= low or not (data[eyes] == 58 or data[eyes] == 59) or kinds[eyes - 1] != BLANK:
        return False
    if kind_at(kinds, i + 1, end) != BLANK:
        return False
    kind = kind_at(kinds, skip_blanks(kinds, i + 1, end), end)
    return kind == UPPER or kind == DIGIT


@inner_kernel
def _skip_closers(data, kinds, i, end, bare):
    """Return the place after closing quotes and brackets, stops that follow them, and reference marks like [12]."""
    closed = False
    while i < end:
        kind = kinds[i]
        if bare and _opens(data, i, end):
            break
        if kind == CLOSER or kind == QUOTE or (closed and FULL_STOP <= kind <= BARE_STOP):
            closed = True
        elif kind == OPENER:
            k = _find_reference_end(data, i, end)
            if k < 0:
                break
            i = k
        elif kind == BLANK:
            k = skip_kinds(kinds, i + 1, end, CONTINUATIONS)
            reference = _find_reference_end(data, k, end)
            if reference >= 0 and BLANK <= kind_at(kinds, reference + 1, end) <= PARAGRAPH:
                i = reference + 1
                continue
            # French: a space precedes the closing guillemet.
            if k + 1 >= end or data[k] != 0xC2 or data[k + 1] != 0xBB:
                break
            after = kind_at(kinds, k + 2, end)
            if not (BLANK <= after <= BARE_STOP or after == COMMA):
                break
            closed = True
            i = k
        else:
            break
        i = skip_kinds(kinds, i + 1, end, CONTINUATIONS)
    return i


@inner_kernel
def _is_in_title(data, i, end):
    """Return whether the title bracket 》 or 〉 closes soon after `i`, in the same clause: 《你好！世界》 is one name."""
    limit = i + _MAX_TITLE_BYTES
    for k in range(i, limit if limit < end - 2 else end - 2):
        if data[k] == 10:
            return False
        if data[k] == 0xE3 and data[k + 1] == 0x80:
            last = data[k + 2]
            if 0x88 <= last <= 0x8B or last == 0x82:
                return last == 0x89 or last == 0x8B
    return False


@inner_kernel
def judge_stop(data, kinds, low, sentence, i, end, words):
    """Return where the sentence ends or continues after the terminator at `i`, and which of the two.

    The verdict is GOES_ON or ENDS, or the position of the next word if only that word and the one before the period can decide:
    then `is_abbreviation` must be called.
    """
    if i - sentence < _MAX_MARKER_BYTES:
        marker = read_marker(data, kinds, sentence, end)
        if i < sentence + (marker & 255):
            return sentence + (marker & 255), GOES_ON
    dots = 0
    bare = strong = False
    k = i
    while k < end:
        kind = kinds[k]
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
        k = skip_kinds(kinds, k + 1, end, CONTINUATIONS)
    run_end = k
    only_dots = not strong and not bare
    if only_dots:
        k = _skip_spaced_dots(data, kinds, k, end)
        for place in range(run_end, k):
            dots += data[place] == 46
    before = kind_before(kinds, i, low)
    if before == OPENER:
        return k, GOES_ON
    stop_end = k
    k = _skip_closers(data, kinds, k, end, bare)
    kind = kind_at(kinds, k, end)
    blank_follows = BLANK <= kind <= PARAGRAPH
    if bare:
        closed = k > stop_end and kind_before(kinds, k, low) != BARE_STOP
        if kind == COMMA or (closed and not blank_follows and kind != OPENER and not _opens(data, k, end)):
            return k, GOES_ON
        if data[i] == 0xEF and k == stop_end and not blank_follows and _is_in_title(data, k, end):
            return k, GOES_ON
        # The full-width period is also a decimal point.
        if data[i] == 0xEF and data[i + 2] == 0x8E and DIGIT <= kind < UNSPACED:
            return k, GOES_ON
        return k, ENDS
    if not blank_follows:
        if strong and k == stop_end and kind == UNSPACED and before == UNSPACED:
            return k, ENDS
        if k == stop_end and LOWER <= kind <= UPPER and before == LOWER and k - i < _MAX_MARKER_BYTES:
            second = kind_at(kinds, skip_kinds(kinds, k + 1, end, CONTINUATIONS), end)
            if dots > 2 and kind == UPPER and second == LOWER:
                return k, ENDS
            if (strong or kind == UPPER) and starts_unspaced(data, kinds, sentence, i, k, end, words):
                return k, ENDS
        return k, GOES_ON
    text = skip_blanks(kinds, k, end)
    if text >= end:
        return k, GOES_ON
    # Newlines are handled elsewhere (paragraphs, list items); here they count as spaces.
    wrapped = BLANK <= kinds[text] <= PARAGRAPH
    if wrapped:
        text = skip_quote_markers(data, kinds, text + 1, end)
    kind = kind_at(kinds, text, end)
    if kind == COMMA or kind == CLOSER or FULL_STOP <= kind <= ELLIPSIS:
        face_end = _find_face_end(data, kinds, text, end)
        return (face_end, ENDS) if face_end >= 0 else (k, GOES_ON)
    if data[text] == 0xC2 and (data[text + 1] == 0xA1 or data[text + 1] == 0xBF):
        return k, ENDS  # ¡ and ¿ open sentences, in lower case too
    word = find_next_word(kinds, text, end)
    if kind_at(kinds, word, end) == LOWER:
        second = skip_kinds(kinds, word + 1, end, CONTINUATIONS)
        if kind_at(kinds, second, end) != UPPER:
            # After dots, a quotation or a bracket, and before a dash, the sentence goes on.
            alone = k == stop_end and word == text and (dots == 0 or (dots == 1 and only_dots))
            return k, word if alone else GOES_ON
    if only_dots:
        if BLANK <= before <= PARAGRAPH and dots > 1:
            opens = kind_at(kinds, word, end) == UPPER and _is_opener(data, kinds, word, end, words)
            return k, ENDS if dots > 3 or opens else GOES_ON
        if run_end == i + 1 and stop_end > run_end and dots >= 3 and not wrapped:
            return run_end, ENDS
        if dots == 1 and k == stop_end:
            return k, word
    return k, ENDS
