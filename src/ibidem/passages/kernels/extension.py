"""Kernels that move the ends of passages outwards, word by word, as long as the texts of both documents say the same.

Of each side of a passage there are two stretches of bytes: what comes before it, and what comes after it; either may be cut off
before the document begins or ends. Words and their folding are those of sentences.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.hashes import SEED, mix
from ibidem.columns.kernels.machine_words import count_continuations, fetch_ahead, load_word
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.passages.kernels.chains import A_END, A_FIRST, B_END, B_FIRST
from ibidem.sentences.code_points import (
    BARE_STOP,
    CLOSER,
    CLUSTER,
    ELLIPSIS,
    FIRST_TOKEN_KIND,
    FULL_STOP,
    IGNORED,
    KIND_PAGES,
    MARK,
    OPENER,
    QUOTE,
    STRONG_STOP,
    UNSPACED,
)
from ibidem.sentences.kernels.scan import count_chars
from ibidem.sentences.kernels.tokens import decode, look_up_page, tokenise_span

N_STRETCH_ENDS = 8  # per passage: where what is before it begins and ends, and what is after it, in a and then in b
AFTER, BEFORE = 1, 2  # flags of ends
MOST_FOLDED_BYTES = 256  # longer words are the same only if they are written the same
# What is known of the words next to an end: that they are needed, that there are too few, that they may be any; or their hash.
TOO_FEW, NEEDED, ANY_WORDS, FIRST_HASH = 0, 1, 2, 3
_MOST_HASHED_BYTES = 2 * MOST_FOLDED_BYTES
_N_HASHES = np.uint64((1 << 16) - FIRST_HASH)
_AHEAD = 16  # passages, for what is fetched early
_NO_LIMIT = np.int64(1 << 62)
# Unsigned, so that smaller bytes wrap around.
_CASE_BIT, _FIRST_LETTER, _N_LETTERS, _FIRST_DIGIT, _N_DIGITS = (np.uint8(n) for n in (0x20, ord("a"), 26, ord("0"), 10))
# Sets of kinds, as bits. Typed, because numba compiles again for a plain constant.
_CLOSING = np.int64(1 << FULL_STOP | 1 << STRONG_STOP | 1 << BARE_STOP | 1 << ELLIPSIS | 1 << CLOSER | 1 << QUOTE)
_OPENING = np.int64(1 << OPENER | 1 << QUOTE)
_ALONE = np.int64(1 << UNSPACED | 1 << CLUSTER)
_IN_WORDS = np.int64(1 << IGNORED | 1 << MARK)


class Texts(NamedTuple):
    """The texts around passages: bytes of both sides, stretches (N_STRETCH_ENDS each), and whether these are cut off.

    `is_cut` has four flags per passage: before and after in a, then in b.
    """

    a: NDArray[np.uint8]
    b: NDArray[np.uint8]
    stretches: NDArray[np.int64]
    is_cut: NDArray[np.bool_]
    code_points: NDArray[np.int32]


class Extended(NamedTuple):
    """What becomes of passages: their `places`, how many words they gain at both ends, with which later one each is joined (or
    -1), whether an earlier one reaches it, and which ends are undecided (flags).
    """

    places: NDArray[np.int64]
    added: NDArray[np.int64]
    joined: NDArray[np.int64]
    is_reached: NDArray[np.bool_]
    undecided: NDArray[np.uint8]


@inlined_kernel
def _kind(decoded, code_points):
    return look_up_page(code_points, KIND_PAGES, decoded >> 3)


@inlined_kernel
def _step_back(data, begin, i):
    """Return where the character before `i` begins."""
    k = i - 1
    while k > begin and data[k] & 0xC0 == 0x80:
        k -= 1
    return k


@inlined_kernel
def _is_plain(byte):
    """Return whether a byte is a letter or a digit of ASCII."""
    return (byte | _CASE_BIT) - _FIRST_LETTER < _N_LETTERS or byte - _FIRST_DIGIT < _N_DIGITS


@inner_kernel
def _next_word(data, i, end, code_points):
    """Return where the next word begins and ends, and whether the stretch ends with it, or before it."""
    # Most words: letters and digits of ASCII, up to some other character of it.
    start = i
    while start < end and data[start] < 0x80 and not _is_plain(data[start]):
        start += 1
    stop = start
    while stop < end and _is_plain(data[stop]):
        stop += 1
    if start < stop < end and data[stop] < 0x80:
        return start, stop, False
    start = np.int64(-1)
    alone = False
    while i < end:
        decoded = decode(data, i, end)
        kind = _kind(decoded, code_points)
        is_alone = (_ALONE >> kind) & 1 != 0
        if start < 0:
            if kind >= FIRST_TOKEN_KIND:
                start, alone = i, is_alone
        elif (_IN_WORDS >> kind) & 1 == 0 and (kind < FIRST_TOKEN_KIND or alone or is_alone):
            return start, i, False
        i += decoded & 7
    return (start if start >= 0 else end), end, True


@inner_kernel
def _previous_word(data, begin, i, code_points):
    """Return where the word before `i` begins and ends, and whether the stretch begins with it, or after it."""
    stop = i
    while stop > begin and data[stop - 1] < 0x80 and not _is_plain(data[stop - 1]):
        stop -= 1
    start = stop
    while start > begin and _is_plain(data[start - 1]):
        start -= 1
    if begin < start < stop and data[start - 1] < 0x80:
        return start, stop, False
    start = stop = after_marks = np.int64(-1)
    while i > begin:
        k = _step_back(data, begin, i)
        kind = _kind(decode(data, k, i), code_points)
        is_alone = (_ALONE >> kind) & 1 != 0
        is_mark = (_IN_WORDS >> kind) & 1 != 0
        if start < 0:
            if kind >= FIRST_TOKEN_KIND:
                start, stop = k, after_marks if after_marks >= 0 else i
                if is_alone:
                    return start, stop, False
            elif not is_mark:
                after_marks = -1
            elif after_marks < 0:
                after_marks = i
        elif not is_mark:
            if kind < FIRST_TOKEN_KIND or is_alone:
                return start, stop, False
            start = k
        i = k
    return (start if start >= 0 else begin), (stop if stop >= 0 else begin), True


@inner_kernel
def _is_same_word(data_a, a, a_end, data_b, b, b_end, code_points, seed, room):
    """Return whether two words are the same, as in sentences: whatever their case, and however they are encoded."""
    n = a_end - a
    is_same = n == b_end - b
    k = np.int64(0)
    while is_same and k < n:
        x, y = data_a[a + k], data_b[b + k]
        is_same = x == y or (x < 0x80 and y < 0x80 and x | _CASE_BIT == y | _CASE_BIT)
        k += 1
    if is_same or max(n, b_end - b) > MOST_FOLDED_BYTES:
        return is_same
    # Letters of ASCII are equal to others only by their case.
    if data_a[a] < 0x80 and data_b[b] < 0x80 and data_a[a] | _CASE_BIT != data_b[b] | _CASE_BIT:
        return False
    n_a = tokenise_span(data_a, a, a_end, code_points, seed, room, 0)
    n_b = tokenise_span(data_b, b, b_end, code_points, seed, room, n_a)
    if n_b != 2 * n_a:
        return False
    n_same = 0
    while n_same < n_a and room[n_same] == room[n_a + n_same]:
        n_same += 1
    return n_same == n_a


@inner_kernel
def _reached(places, i, last, low_a, high_a, low_b, high_b):
    """Return which passage, of those from `i` to `last`, begins between these characters in a and in b; -1 if none does.

    They are in the order of their places in a.
    """
    while i < last and places[4 * i] < low_a:
        i += 1
    while i < last and places[4 * i] <= high_a:
        if low_b <= places[4 * i + 2] <= high_b:
            return i
        i += 1
    return np.int64(-1)


@inner_kernel
def _extend_after(i, last, is_one, least_words, places, texts, seed, room, extended):
    """Move the end of passage `i` behind the words that are the same, or to the next passage of the pair, the last of which is
    before `last`.
    """
    code_points = texts.code_points
    a, a_end, b, b_end = (
        texts.stretches[N_STRETCH_ENDS * i + 2],
        texts.stretches[N_STRETCH_ENDS * i + 3],
        texts.stretches[N_STRETCH_ENDS * i + 6],
        texts.stretches[N_STRETCH_ENDS * i + 7],
    )
    cut_a, cut_b = texts.is_cut[4 * i + 1], texts.is_cut[4 * i + 3]
    char_a, char_b = places[4 * i + 1], places[4 * i + 3]
    limit = places[4 * i + 2] if is_one else _NO_LIMIT  # within one document, the two sides must not overlap
    n, n_beyond = np.int64(0), np.int64(0)  # words up to the next passage, and in it
    met = np.int64(-1)
    at_a, at_b = a, b
    while met < 0 or n + n_beyond < least_words:
        start_a, stop_a, touches_a = _next_word(texts.a, at_a, a_end, code_points)
        start_b, stop_b, touches_b = _next_word(texts.b, at_b, b_end, code_points)
        if (start_a == a_end and not cut_a) or (start_b == b_end and not cut_b):  # no further word
            break
        if (touches_a and cut_a) or (touches_b and cut_b):
            extended.undecided[i] |= AFTER
            return
        is_same = _is_same_word(texts.a, start_a, stop_a, texts.b, start_b, stop_b, code_points, seed, room)
        if met < 0:
            next_a, next_b = char_a + count_chars(texts.a, a, start_a), char_b + count_chars(texts.b, b, start_b)
            if n > 0:
                met = _reached(places, i + 1, last, char_a, next_a, char_b, next_b)
            next_a += count_chars(texts.a, start_a, stop_a)
            if met < 0 and is_same and next_a <= limit:
                a, b, char_a = stop_a, stop_b, next_a
                char_b = next_b + count_chars(texts.b, start_b, stop_b)
                n += 1
            elif met < 0:
                break
        if not is_same:
            break
        at_a, at_b = stop_a, stop_b
        n_beyond += met >= 0
    if n + n_beyond < least_words:
        return
    if met >= 0:
        is_free = not extended.is_reached[met]
        extended.is_reached[met] = True
        if is_free and not is_one:
            extended.joined[i], extended.added[i] = met, n
            return
    if n < least_words:
        return
    while a < a_end and b < b_end and char_a < limit:
        decoded = decode(texts.a, a, a_end)
        if decoded != decode(texts.b, b, b_end) or (_CLOSING >> _kind(decoded, code_points)) & 1 == 0:
            break
        a, b, char_a, char_b = a + (decoded & 7), b + (decoded & 7), char_a + 1, char_b + 1
    if (a == a_end and cut_a) or (b == b_end and cut_b):
        extended.undecided[i] |= AFTER
        return
    extended.added[i] = n
    extended.places[4 * i + 1], extended.places[4 * i + 3] = char_a, char_b


@inner_kernel
def _extend_before(i, is_one, least_words, texts, seed, room, extended):
    """Move the beginning of passage `i` before the words that are the same."""
    code_points = texts.code_points
    low_a, a, low_b, b = (
        texts.stretches[N_STRETCH_ENDS * i],
        texts.stretches[N_STRETCH_ENDS * i + 1],
        texts.stretches[N_STRETCH_ENDS * i + 4],
        texts.stretches[N_STRETCH_ENDS * i + 5],
    )
    cut_a, cut_b = texts.is_cut[4 * i], texts.is_cut[4 * i + 2]
    char_a, char_b = extended.places[4 * i], extended.places[4 * i + 2]
    limit = extended.places[4 * i + 1] if is_one else np.int64(0)
    n = np.int64(0)
    while True:
        start_a, stop_a, touches_a = _previous_word(texts.a, low_a, a, code_points)
        start_b, stop_b, touches_b = _previous_word(texts.b, low_b, b, code_points)
        if (stop_a == low_a and not cut_a) or (stop_b == low_b and not cut_b):  # no word before
            break
        if (touches_a and cut_a) or (touches_b and cut_b):
            extended.undecided[i] |= BEFORE
            return
        next_b = char_b - count_chars(texts.b, start_b, b)
        if next_b < limit or not _is_same_word(texts.a, start_a, stop_a, texts.b, start_b, stop_b, code_points, seed, room):
            break
        char_a -= count_chars(texts.a, start_a, a)
        a, b, char_b = start_a, start_b, next_b
        n += 1
    if n < least_words:
        return
    while a > low_a and b > low_b and char_b > limit:
        before_a, before_b = _step_back(texts.a, low_a, a), _step_back(texts.b, low_b, b)
        decoded = decode(texts.a, before_a, a)
        if decoded != decode(texts.b, before_b, b) or (_OPENING >> _kind(decoded, code_points)) & 1 == 0:
            break
        a, b, char_a, char_b = before_a, before_b, char_a - 1, char_b - 1
    if (a == low_a and cut_a) or (b == low_b and cut_b):
        extended.undecided[i] |= BEFORE
        return
    extended.added[i] += n
    extended.places[4 * i], extended.places[4 * i + 2] = char_a, char_b


@outer_kernel
def extend_ends(pair_from, pair_to, pair_first, is_one, may_move, least_words, places, texts, seed, room, extended):
    """Write what becomes of the passages of pairs [pair_from, pair_to), whose texts these are.

    `places` are start and end in a and in b, in characters; `may_move` says which ends, as flags. Those of pair p are
    [pair_first[p], pair_first[p + 1]), in the order of their places in a and in b; `is_one` says per pair whether it is one
    document. Fewer equal words at an end than `least_words` may be chance and are left out. If equal words lead from one
    passage of a pair to another, the two are joined. `room` is for the tokens of two words.
    """
    for p in range(pair_from, pair_to):
        first, last = pair_first[p], pair_first[p + 1]
        for i in range(first, last):
            for end in range(4 * i, 4 * i + 4):
                extended.places[end] = places[end]
            extended.added[i], extended.joined[i] = 0, -1
            extended.is_reached[i], extended.undecided[i] = False, 0
        for i in range(first, last):
            if may_move[i] & AFTER:
                _extend_after(i, last, is_one[p], least_words, places, texts, seed, room, extended)
        for i in range(first, last):
            if may_move[i] & BEFORE and not extended.is_reached[i]:
                _extend_before(i, is_one[p], least_words, texts, seed, room, extended)


@inlined_kernel
def _fetch_ends(passages, i, sentence, after, before):
    """Have memory fetched that passages after the i-th need: their other side is anywhere in the collection."""
    if i + 2 * _AHEAD < len(passages):
        fetch_ahead(sentence, passages[i + 2 * _AHEAD, B_FIRST])
        fetch_ahead(after, sentence[passages[i + _AHEAD, B_END] - 1])
        fetch_ahead(before, sentence[passages[i + _AHEAD, B_FIRST]])


@outer_kernel
def mark_needed(passages, sentence, after, before):
    """Mark the ends of passages (rows of their table) at the sentences where they are."""
    for i in range(len(passages)):
        _fetch_ends(passages, i, sentence, after, before)
        after[sentence[passages[i, A_END] - 1]] = NEEDED
        after[sentence[passages[i, B_END] - 1]] = NEEDED
        before[sentence[passages[i, A_FIRST]]] = NEEDED
        before[sentence[passages[i, B_FIRST]]] = NEEDED


@inner_kernel
def words_after(data, i, end, least_words, code_points, seed, room):
    """Return what is known of the next words, so many of them."""
    start = stop = np.int64(-1)
    for _ in range(least_words):
        begin, i, _ = _next_word(data, i, end, code_points)
        if begin == end:
            return TOO_FEW
        start, stop = start if start >= 0 else begin, i
    return _hash_of_words(data, start, stop, code_points, seed, room)


@inner_kernel
def words_before(data, begin, i, least_words, code_points, seed, room):
    """Return what is known of the words before, so many of them."""
    start = stop = np.int64(-1)
    for _ in range(least_words):
        i, end, _ = _previous_word(data, begin, i, code_points)
        if end == begin:
            return TOO_FEW
        start, stop = i, stop if stop >= 0 else end
    return _hash_of_words(data, start, stop, code_points, seed, room)


@inner_kernel
def _hash_of_words(data, start, stop, code_points, seed, room):
    """Return a small hash that is the same for the same words."""
    if stop - start > _MOST_HASHED_BYTES:
        return ANY_WORDS
    token = SEED
    for k in range(tokenise_span(data, start, stop, code_points, seed, room, 0)):
        token = mix(token, room[k])
    return np.int64(token % _N_HASHES) + FIRST_HASH


@outer_kernel
def hash_ends(data, offsets, document, start_byte, end_byte, least_words, code_points, seed, room, after, before):
    """Replace marks of sentences by what is known of the words next to them; sentence s is in text `document[s]`."""
    for s in range(len(document)):
        low, high = offsets[document[s]], offsets[document[s] + 1]
        if after[s] == NEEDED:
            after[s] = words_after(data, low + np.int64(end_byte[s]), high, least_words, code_points, seed, room)
        if before[s] == NEEDED:
            before[s] = words_before(data, low, low + np.int64(start_byte[s]), least_words, code_points, seed, room)


@inlined_kernel
def _may_be_same(x, y):
    return min(x, y) == ANY_WORDS or (x == y and x > ANY_WORDS)


@outer_kernel
def find_movable(passages, sentence, after, before, may_move):
    """Write which ends of passages (rows of their table) have the same words next to them, as far as hashes tell."""
    for i in range(len(passages)):
        _fetch_ends(passages, i, sentence, after, before)
        may_move[i] = AFTER * _may_be_same(after[sentence[passages[i, A_END] - 1]], after[sentence[passages[i, B_END] - 1]])
        may_move[i] |= BEFORE * _may_be_same(before[sentence[passages[i, A_FIRST]]], before[sentence[passages[i, B_FIRST]]])


@outer_kernel
def find_places(data, begins, ends, places, found):
    """Write at which bytes characters are, counted from the beginning of their texts, which are given by their bytes.

    They are in the order of their texts and places.
    """
    text, at, char = np.int64(-1), np.int64(0), np.int64(0)
    for i in range(len(places)):
        if begins[i] != text:
            text, at, char = begins[i], begins[i], np.int64(0)
        while at + 8 <= ends[i]:
            n = 8 - count_continuations(load_word(data, at))
            if char + n > places[i]:
                break
            at, char = at + 8, char + n
        while at < ends[i] and (char < places[i] or data[at] & 0xC0 == 0x80):
            char += data[at] & 0xC0 != 0x80
            at += 1
        found[i] = at


@outer_kernel
def hash_places(data, begins, ends, places, is_before, least_words, code_points, seed, room, words):
    """Write what is known of the words after bytes of texts, or before them."""
    for i in range(len(places)):
        if is_before[i]:
            words[i] = words_before(data, begins[i], places[i], least_words, code_points, seed, room)
        else:
            words[i] = words_after(data, places[i], ends[i], least_words, code_points, seed, room)
