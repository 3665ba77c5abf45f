"""Kernels that turn byte spans into token hashes and token hashes into digests.

The hash of a word depends only on its folded characters, however they were written. ASCII letters and digits are processed
eight at a time: the first in the lowest byte, any rest before the next other character and at the end of the word.
"""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import SEED, mix, stir
from ibidem.columns.kernels.machine_words import count_low_bytes, load_bytes, load_word, mark_others
from ibidem.columns.kernels.text_checks import check_list
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.sentences.code_points import FIRST_TOKEN_KIND, FOLD_PAGES, IGNORED, KIND_PAGES, MARK, UNSPACED

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_SEVEN = np.uint64(7)
_CASE_BITS = np.uint64(0x2020202020202020)  # set in small letters and in digits
_NOT_ASCII = np.uint64(1 << 63)  # no eight ASCII letters look like a code point with this bit
WORD_END = np.uint64(0x2545F4914F6CDD1D)
# What the scan is currently inside.
_NOTHING, _WORD, _RUN_OF_TWOS, _RUN_OF_THREES = 0, 1, 2, 3


@inlined_kernel
def decode(data, i, end):
    """Return `code_point << 3 | n_bytes` of the character at `i`; broken UTF-8 gives U+FFFD of one byte."""
    lead = np.int64(data[i])
    if lead < 0x80:
        return lead << 3 | 1
    if 0xC2 <= lead < 0xE0 and i + 1 < end:
        return ((lead & 0x1F) << 6 | np.int64(data[i + 1]) & 0x3F) << 3 | 2
    if 0xE0 <= lead < 0xF0 and i + 2 < end:
        return ((lead & 0x0F) << 12 | (np.int64(data[i + 1]) & 0x3F) << 6 | np.int64(data[i + 2]) & 0x3F) << 3 | 3
    if 0xF0 <= lead < 0xF5 and i + 3 < end:
        high = (lead & 0x07) << 18 | (np.int64(data[i + 1]) & 0x3F) << 12
        code_point = high | (np.int64(data[i + 2]) & 0x3F) << 6 | np.int64(data[i + 3]) & 0x3F
        if code_point < 0x110000:
            return code_point << 3 | 4
    return 0xFFFD << 3 | 1


@inlined_kernel
def look_up_page(code_points, pages, code_point):
    """Return the table entry of a code point; `pages` is where the table's page numbers are."""
    # Unsigned indices, because numba treats negative ones as counted from the end.
    page = code_points[np.uint64(pages + (code_point >> 8))]
    return np.int64(code_points[np.uint64(page + (code_point & 255))])


@inner_kernel
def _end_token(mode, units, before, previous, h, letters, marks, seed):
    """Return the hash of a word, or of the last units of a run: as many as its mode says, or all if there are fewer."""
    if letters != _NONE:
        h = mix(h, stir(letters, seed))
    if marks != _NONE:
        h = mix(h, marks)
    if mode == _WORD:
        # One more step, because the last of eight letters has hardly changed the low bits.
        return mix(h, WORD_END)
    token = seed[0]
    if mode == _RUN_OF_THREES and units >= 3:
        token = mix(token, before)
    if units >= 2:
        token = mix(token, previous)
    return mix(token, h)


@inner_kernel
def tokenise_span(data, start, end, code_points, seed, tokens, n):
    """Write the tokens of one span to `tokens[n:]`, which has room for one token per byte and one more; return the new n.

    `seed` is what `seed_of` gives. Marks are added, not chained, so that their order, which differs between normal forms, does
    not affect the hash.
    """
    mode, units, n_bits = np.int64(_NOTHING), np.int64(0), np.int64(0)
    h = before = previous = seed[0]
    # Up to seven ASCII letters not yet in `h`; they take `n_bits`.
    letters = marks = _NONE
    extendable = False
    expansion = expansion_end = code_point = np.int64(0)
    i = start
    last = end if end < len(data) - 15 else len(data) - 15
    while i < end or expansion < expansion_end:
        # Most words, and what is between words: up to fifteen letters without a branch.
        while i < last and mode == _NOTHING and expansion == expansion_end:
            word = load_word(data, i)
            others = mark_others(word)
            n_letters = count_low_bytes(others)
            other = others & (~others + _ONE)
            token = mix(seed[0], stir((word | _CASE_BITS) & ((other >> _SEVEN) - _ONE), seed))
            # The next eight, in advance: it is hard to predict whether they are needed.
            next_word = load_word(data, i + 8)
            next_others = mark_others(next_word)
            next_other = next_others & (~next_others + _ONE)
            next_packed = (next_word | _CASE_BITS) & ((next_other >> _SEVEN) - _ONE)
            n_next_letters = count_low_bytes(next_others)
            if other == _NONE:
                word, other = next_word, next_other
                n_letters += n_next_letters
                token = mix(token, stir(next_packed, seed)) if next_packed != _NONE else token
            if other & ~word == _NONE or i + n_letters > end:
                break
            tokens[n] = mix(token, WORD_END)
            n += n_letters != 0
            i += n_letters + 1
        if i >= end and expansion == expansion_end:
            break
        separated = False
        if expansion == expansion_end and data[i] < 0x80:
            word = load_bytes(data, i, end)
            others = mark_others(word)
            other = others & (~others + _ONE)
            n_letters = count_low_bytes(others)
            packed = (word | _CASE_BITS) & ((other >> _SEVEN) - _ONE)
            separated = other & ~word != _NONE
            i += n_letters + separated
            wanted = _WORD if n_letters > 0 else _NOTHING
        else:
            if expansion < expansion_end:
                code_point = np.int64(code_points[expansion])
                expansion += 1
            else:
                decoded = decode(data, i, end)
                code_point = decoded >> 3
                i += decoded & 7
                form = look_up_page(code_points, FOLD_PAGES, code_point)
                if form < 0:
                    expansion = 1 - form
                    expansion_end = expansion + code_points[-form]
                    continue
                if form > 0:
                    code_point = form
            kind = look_up_page(code_points, KIND_PAGES, code_point)
            if kind == IGNORED:
                continue
            if kind == MARK:
                if extendable:
                    marks += mix(seed[0], stir(np.uint64(code_point), seed))
                continue
            wanted = _WORD if kind >= FIRST_TOKEN_KIND else _NOTHING
            if kind >= UNSPACED:
                wanted = _RUN_OF_TWOS if kind == UNSPACED else _RUN_OF_THREES
            packed = np.uint64(code_point)
            if kind == UNSPACED and mode == _RUN_OF_TWOS and marks == _NONE:
                # Most characters of unspaced scripts.
                if units >= 2:
                    tokens[n] = mix(mix(seed[0], previous), h)
                    n += 1
                previous, h = h, mix(seed[0], stir(packed, seed))
                units += 1
                extendable = True
                continue
            n_letters = np.int64(code_point < 0x80)
        extendable = wanted != _NOTHING and not separated
        if mode != wanted:
            # What separates words does not end a run.
            if wanted == _NOTHING and mode != _WORD:
                continue
            if mode != _NOTHING:
                tokens[n] = _end_token(mode, units, before, previous, h, letters, marks, seed)
                n += 1
            mode, units, marks, letters, n_bits = wanted, 0, _NONE, _NONE, 0
            h = seed[0]
        if wanted == _NOTHING:
            continue
        if marks != _NONE or n_letters == 0:
            if letters != _NONE:
                h, letters, n_bits = mix(h, stir(letters, seed)), _NONE, 0
            if marks != _NONE:
                h, marks = mix(h, marks), _NONE
        if wanted != _WORD:
            if units >= wanted:
                tokens[n] = _end_token(mode, units, before, previous, h, letters, marks, seed)
                n += 1
            before, previous = previous, h
            h = mix(seed[0], stir(packed, seed))
            units += 1
        elif n_letters > 0:
            letters |= packed << np.uint64(n_bits)
            n_bits += n_letters * 8
            if n_bits >= 64:
                h = mix(h, stir(letters, seed))
                n_bits -= 64
                letters = packed >> np.uint64(n_letters * 8 - n_bits) if n_bits > 0 else _NONE
            if separated:
                tokens[n] = _end_token(mode, units, before, previous, h, letters, marks, seed)
                n += 1
                mode, letters, n_bits = _NOTHING, _NONE, 0
        elif 0xAC00 <= code_point <= 0xD7A3:
            syllable = code_point - 0xAC00
            h = mix(h, stir(_NOT_ASCII | np.uint64(0x1100 + syllable // 588), seed))
            h = mix(h, stir(_NOT_ASCII | np.uint64(0x1161 + syllable % 588 // 28), seed))
            if syllable % 28 != 0:
                h = mix(h, stir(_NOT_ASCII | np.uint64(0x11A7 + syllable % 28), seed))
        else:
            h = mix(h, stir(_NOT_ASCII | packed, seed))
    if mode != _NOTHING:
        tokens[n] = _end_token(mode, units, before, previous, h, letters, marks, seed)
        n += 1
    return n


@outer_kernel
def tokenise(data, starts, ends, code_points, seed, span, tokens, first, digests, places, checks):
    """Tokenise the spans from `span` on; return the first one that does not fit in `tokens`.

    Where the tokens of a span end is written to `first[span + 1]`. If there is room for digests, only they are needed: the
    tokens of every span then overwrite those of the previous one, from 0 on. The same goes for checks, at `places`.
    """
    while span < len(starts):
        keeping = len(digests) == 0
        n = first[span] if keeping else np.int64(0)
        if n + ends[span] - starts[span] >= len(tokens):
            break
        n = tokenise_span(data, starts[span], ends[span], code_points, seed, tokens, n)
        first[span + 1] = n
        if not keeping:
            h = SEED
            for k in range(n):
                h = mix(h, tokens[k])
            digests[span] = h
            if len(checks) > 0:
                check_list(tokens, 0, n, places, checks, span)
        span += 1
    return span


@outer_kernel
def fold_tokens(tokens, first, digests):
    """Write the digest of every list of tokens."""
    for span in range(len(digests)):
        h = SEED
        for k in range(first[span], first[span + 1]):
            h = mix(h, tokens[k])
        digests[span] = h
