"""Kernels that find the words of texts, make their stems (what is left of them without endings), and say where they are."""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import GOLDEN, mix, stir
from ibidem.columns.kernels.machine_words import count_low_bytes, load_bytes, mark_others
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.sentences.code_points import (
    BLANK,
    BULLET,
    CLOSER,
    CLUSTER,
    COMMA,
    CONTINUATION,
    DASH,
    ELLIPSIS,
    FIRST_TOKEN_KIND,
    FULL_STOP,
    IGNORED,
    KIND_PAGES,
    MARK,
    NEWLINE,
    OPENER,
    PARAGRAPH,
    QUOTE,
    SEPARATOR,
    STRONG_STOP,
    UNSPACED,
    UPPER,
)
from ibidem.sentences.kernels.scan import count_chars
from ibidem.sentences.kernels.tokens import WORD_END, decode, look_up_page, tokenise_span

# A stem is the beginning of a word: endings differ between languages, but they are always at the end. Characters that carry
# more than a letter (Hangul syllables, Indic letters) count twice.
STEM_LETTERS = 6
STEM_BYTES = 64  # however many marks a word carries
# Where a stretch of words may begin or end: how strongly a text is divided before a word.
ATTACHED = 0  # no space before it, in spaced scripts: 2.25, config.txt, A_NAME; no full stop or capital divides these
WITHIN_CLAUSE = 1
CLAUSE_BOUND = 2  # a capital letter, or a colon or semicolon before it
STOP_BOUND = 3  # a full stop, an exclamation or question mark, a line break, or the comma at the end of a quotation before it
SENTENCE_BOUND = 4
_UNDERSCORE = 0x5F  # a quotation mark in some notations, but at the beginning of names too
_COLON, _SEMICOLON, _WIDE_COLON, _WIDE_SEMICOLON = 0x3A, 0x3B, 0x9A, 0x9B  # full-width ones are EF BC 9A and EF BC 9B
_CASE_BITS = np.uint64(0x2020202020202020)  # set in small letters and in digits
_ONE, _HALF = np.uint64(1), np.uint64(32)
_OF_WORD = np.uint32(0xFFFFFFFE)  # the last bit of a stem says whether its script has no spaces


@inlined_kernel
def _letters(data, i):
    """Return how many letters the character at `i` counts as, the same in all normal forms.

    Characters of three bytes count twice, except for full-width and accented Latin and Greek letters; sharp s also counts
    twice, as it folds to two letters. In a decomposed Hangul syllable, the first part counts for all.
    """
    lead = data[i]
    if lead < 0xE0:
        return 2 if lead == 0xC3 and data[i + 1] == 0x9F else 1
    if lead == 0xE1:
        second, third = data[i + 1], data[i + 2]
        if 0xB8 <= second <= 0xBF:
            return 2 if second == 0xBA and third == 0x9E else 1
        if second == 0x86 or second == 0x87 or (second == 0x85 and third >= 0xA0):
            return 0
    if lead == 0xEF and (data[i + 1] == 0xBC or data[i + 1] == 0xBD):
        return 1
    return 2


@inner_kernel
def find_word_end(data, kinds, i, end, most_letters):
    """Return where the word that starts at `i` ends, and where its stem does."""
    alone = kinds[i] == UNSPACED or kinds[i] == CLUSTER
    letters = _letters(data, i)
    stem_end = np.int64(-1)
    i += 1
    while i < end:
        kind = kinds[i]
        if kind in (CONTINUATION, MARK, IGNORED):
            i += 1
            continue
        if kind < FIRST_TOKEN_KIND or alone or kind in (UNSPACED, CLUSTER):
            break
        more = _letters(data, i)
        if stem_end < 0 and letters >= most_letters and more > 0:
            stem_end = i
        letters += more
        i += 1
    return i, stem_end if stem_end >= 0 else i


@inlined_kernel
def _bound_after(data, i, kind):
    """Return how strongly a character that is no letter, of which byte `i` is one, divides a text."""
    if NEWLINE <= kind <= BULLET and kind != CLOSER:
        return STOP_BOUND
    if data[i] == _COLON or data[i] == _SEMICOLON:
        return CLAUSE_BOUND
    if kind == COMMA and data[i] == 0xEF and (data[i + 2] == _WIDE_COLON or data[i + 2] == _WIDE_SEMICOLON):
        return CLAUSE_BOUND
    return WITHIN_CLAUSE


@inlined_kernel
def is_joined(stems, bounds, k):
    """Return whether the stem of word k is that of two characters of an unspaced script. There must be a bound after k."""
    return bounds[k + 1] == WITHIN_CLAUSE and (stems[k] & stems[k + 1] & np.uint32(1)) != 0


@inner_kernel
def _join_alone(stems, bounds, begin, end):
    """Replace the stem of each character of an unspaced script by that of this and the next one, unless something divides them.

    A single one is no more of a word than a syllable is: it is too frequent to tell anything.
    """
    for k in range(begin, end - 1):
        if is_joined(stems, bounds, k):
            both = np.uint64(stems[k]) << _HALF | np.uint64(stems[k + 1])
            stems[k] = np.uint32((both * GOLDEN) >> _HALF) | np.uint32(1)


@outer_kernel
def stem_words(
    data, kinds, offsets, code_points, seed, most_letters, sentence_bytes, room, stems, bounds, first, sentence_first
):
    """Write the hash of every word's stem, how strongly the text is divided before it, and the first words of texts and
    sentences; text i has [first[i], first[i + 1]).

    Sentences are given by their first bytes, in reading order. A character of an unspaced script is a word. A stem has
    `most_letters`; `room` has space for its tokens: STEM_BYTES + 1.
    """
    n, sentence = np.int64(0), np.int64(0)
    for text in range(len(offsets) - 1):
        i, end = offsets[text], offsets[text + 1]
        bound, last, is_apart, is_alone = WITHIN_CLAUSE, BLANK, True, False
        while i < end:
            kind = kinds[i]
            if kind < FIRST_TOKEN_KIND:
                if kind != CONTINUATION:
                    if last in (FULL_STOP, STRONG_STOP):  # it needs something other than a letter after it
                        bound = max(bound, STOP_BOUND)
                    if kind not in (FULL_STOP, STRONG_STOP):
                        bound = max(bound, _bound_after(data, i, kind))
                    if (kind == QUOTE and last == COMMA) or (kind == COMMA and last == QUOTE):
                        bound = max(bound, STOP_BOUND)
                    is_apart |= BLANK <= kind <= PARAGRAPH
                    last = kind
                i += 1
                continue
            # A character of an unspaced script needs no space before it.
            is_apart |= is_alone or kind in (UNSPACED, CLUSTER)
            if (last in (FULL_STOP, STRONG_STOP)) and (kind in (UNSPACED, CLUSTER)):
                bound = max(bound, STOP_BOUND)
            if kind == UPPER and bound < CLAUSE_BOUND:
                bound = CLAUSE_BOUND
            if bound <= CLAUSE_BOUND and not is_apart:
                bound = ATTACHED
            while sentence < len(sentence_bytes) and sentence_bytes[sentence] <= i:
                sentence_first[sentence] = n
                sentence += 1
                bound = SENTENCE_BOUND
            bounds[n] = bound
            bound, last, is_apart = WITHIN_CLAUSE, SEPARATOR, False
            is_alone = kind in (UNSPACED, CLUSTER)
            # Words of a few letters of ASCII, which most are, are hashed as `tokenise_span` hashes them.
            word = load_bytes(data, i, end)
            n_letters = count_low_bytes(mark_others(word))
            if n_letters > most_letters or (n_letters > 0 and ends_word(kinds, i + n_letters, end)):
                n_letters = min(n_letters, most_letters)
                letters = (word | _CASE_BITS) & ((_ONE << np.uint64(8 * n_letters)) - _ONE)
                token = mix(mix(seed[0], stir(letters, seed)), WORD_END)
                i += n_letters
                while i < end and not ends_word(kinds, i, end):
                    i += 1
            else:
                start = i
                i, stem_end = find_word_end(data, kinds, i, end, most_letters)
                n_tokens = tokenise_span(data, start, min(stem_end, start + STEM_BYTES), code_points, seed, room, 0)
                token = room[0] if n_tokens > 0 else seed[0]  # a few characters fold to nothing
            stems[n] = np.uint32(token >> _HALF) & _OF_WORD | np.uint32(is_alone)
            n += 1
        _join_alone(stems, bounds, first[text], n)
        first[text + 1] = n
        # Sentences without words begin where the next one does.
        while sentence < len(sentence_bytes) and sentence_bytes[sentence] < end:
            sentence_first[sentence] = n
            sentence += 1
    while sentence < len(sentence_bytes):
        sentence_first[sentence] = n
        sentence += 1
    return n


@inlined_kernel
def ends_word(kinds, i, end):
    """Return whether the word before `i` ends there: no letter, mark or part of a character follows."""
    if i >= end:
        return True
    kind = kinds[i]
    if kind in (CONTINUATION, MARK, IGNORED):
        return False
    return kind < FIRST_TOKEN_KIND or kind in (UNSPACED, CLUSTER)


@inlined_kernel
def _may_lead(kind, character):
    """Return whether a sign right before a word belongs to it: what opens or marks it, not what ends what is before it.

    Quotation marks belong to the text that quotes, so they are no part of what is quoted.
    """
    return kind in (OPENER, SEPARATOR, DASH, FULL_STOP) or character == _UNDERSCORE


@inlined_kernel
def _may_follow(kind, character):
    """Return whether a sign right after a word belongs to it: what closes or ends it, not what leads on to the next one."""
    return kind in (CLOSER, SEPARATOR) or FULL_STOP <= kind <= ELLIPSIS or character == _UNDERSCORE


@inner_kernel
def _end_of_signs(data, i, end, code_points):
    """Return the end of the signs right after the word that ends at `i`: `i` if a word follows them right away."""
    at = i
    while at < end:
        decoded = decode(data, at, end)
        kind = look_up_page(code_points, KIND_PAGES, decoded >> 3)
        if kind >= FIRST_TOKEN_KIND and kind != UNSPACED and kind != CLUSTER:
            return i
        if not (_may_follow(kind, decoded >> 3) or kind in (MARK, IGNORED)):
            break
        at += decoded & 7
    return at


@inner_kernel
def _find_word(data, start, end, code_points, number, at_end, found):
    """Write the byte where the word of this number, counted from the one at or after `start`, begins or ends to `found`; and
    where it does with the signs that belong to it, such as brackets.

    The rules are those of `stem_words`.
    """
    i, n = start, np.int64(-1)
    open_word, alone = False, False
    signs, is_joined_on = start, False  # where signs right before the next word begin; whether a word is right before them
    is_taken = False  # whether the next sign belongs to the character of an unspaced script before it, if it may
    while i < end:
        decoded = decode(data, i, end)
        kind = look_up_page(code_points, KIND_PAGES, decoded >> 3)
        if open_word and (kind in (MARK, IGNORED)):
            i += decoded & 7
            continue
        is_letter = kind >= FIRST_TOKEN_KIND
        is_single = kind in (UNSPACED, CLUSTER)
        if open_word and (not is_letter or alone or is_single):
            if at_end and n == number:
                found[0], found[1] = i, _end_of_signs(data, i, end, code_points)
                return
            open_word, signs, is_joined_on, is_taken = False, i, not (alone or is_single), alone
        if is_letter and not open_word:
            n += 1
            open_word, alone = True, is_single
            if not at_end and n == number:
                found[0], found[1] = i, i if is_joined_on else signs
                return
        i += decoded & 7
        is_taken = is_taken and not is_letter and (_may_follow(kind, decoded >> 3) or kind in (MARK, IGNORED))
        if is_taken:
            signs = i
        elif not is_letter and not _may_lead(kind, decoded >> 3):
            signs, is_joined_on = i, False
    found[0] = found[1] = end


@outer_kernel
def locate_words(
    data, text_starts, text_ends, sentence_bytes, sentence_chars, numbers, code_points, at_end, word_bytes, places, found
):
    """Write where words begin, or end: in bytes, and in characters of their texts with the signs that belong to them.

    A word is given by its number in its sentence, which begins at a byte and character of the text. `found` has room for two.
    """
    for i in range(len(places)):
        start = text_starts[i] + sentence_bytes[i]
        _find_word(data, start, text_ends[i], code_points, numbers[i], at_end, found)
        word_bytes[i] = found[0] - text_starts[i]
        places[i] = sentence_chars[i] + count_chars(data, start, found[1])
