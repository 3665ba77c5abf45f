"""Kernels that turn byte spans into token hashes and token hashes into digests."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit

from ibidem.sentences.code_points import BYTE_FOLDS, FOLD_PAGES, KIND_PAGES
from ibidem.sentences.hashing import SEED, inner_kernel, mix
from ibidem.sentences.kinds import CLUSTER, FIRST_TOKEN_KIND, IGNORED, MARK, UNSPACED

_NO_MARKS = np.uint64(0)
# What the scan is in the middle of.
_NOTHING, _WORD, _RUN_OF_TWOS, _RUN_OF_THREES = 0, 1, 2, 3


@inner_kernel
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


@inner_kernel
def _run_token(units, order, before, previous, current):
    """Return the hash of the last `order` units of a run, or of all of them if there are fewer."""
    h = SEED
    if order == 3 and units >= 3:
        h = mix(h, before)
    if units >= 2:
        h = mix(h, previous)
    return mix(h, current)


@inner_kernel
def tokenise_span(data, start, end, code_points, tokens, n):
    """Write the tokens of one span to `tokens[n:]`, which has room for a token a byte and one more; return the new n.

    Marks are summed up, not chained, so that their order, which normal forms differ in, has no part in the hash.
    """
    mode, units, marks = _NOTHING, 0, _NO_MARKS
    h = before = previous = SEED
    extendable = False
    expansion = expansion_end = 0
    i = start
    while i < end or expansion < expansion_end:
        if expansion == expansion_end:
            letter = code_points[BYTE_FOLDS + data[i]]
            if letter != 0:
                if mode != _WORD:
                    if mode != _NOTHING:
                        tokens[n] = _run_token(
                            units, mode, before, previous, h if marks == _NO_MARKS else mix(h, marks)
                        )
                        n += 1
                    mode, h, marks = _WORD, SEED, _NO_MARKS
                elif marks != _NO_MARKS:
                    h, marks = mix(h, marks), _NO_MARKS
                extendable = True
                h = mix(h, np.uint64(letter))
                i += 1
                while i < end:
                    letter = code_points[BYTE_FOLDS + data[i]]
                    if letter == 0:
                        break
                    h = mix(h, np.uint64(letter))
                    i += 1
                continue
            if data[i] < 0x80:
                i += 1
                extendable = False
                if mode == _WORD:
                    tokens[n] = h if marks == _NO_MARKS else mix(h, marks)
                    n += 1
                    mode, marks = _NOTHING, _NO_MARKS
                continue
            decoded = decode(data, i, end)
            code_point = decoded >> 3
            i += decoded & 7
            form = np.int64(code_points[code_points[FOLD_PAGES + (code_point >> 8)] + (code_point & 255)])
            if form < 0:
                expansion = 1 - form
                expansion_end = expansion + code_points[-form]
                continue
            if form > 0:
                code_point = form
        else:
            code_point = np.int64(code_points[expansion])
            expansion += 1
        kind = code_points[code_points[KIND_PAGES + (code_point >> 8)] + (code_point & 255)]
        if kind == IGNORED:
            continue
        if kind == MARK:
            if extendable:
                marks += mix(SEED, np.uint64(code_point))
            continue
        if kind < FIRST_TOKEN_KIND:
            extendable = False
            if mode == _WORD:
                tokens[n] = h if marks == _NO_MARKS else mix(h, marks)
                n += 1
                mode, marks = _NOTHING, _NO_MARKS
            continue
        extendable = True
        if marks != _NO_MARKS:
            h, marks = mix(h, marks), _NO_MARKS
        wanted = _RUN_OF_TWOS if kind == UNSPACED else _RUN_OF_THREES if kind == CLUSTER else _WORD
        if mode != wanted:
            if mode == _WORD:
                tokens[n] = h
                n += 1
            elif mode != _NOTHING:
                tokens[n] = _run_token(units, mode, before, previous, h)
                n += 1
            mode, units, h = wanted, 0, SEED
        if wanted == _WORD:
            if 0xAC00 <= code_point <= 0xD7A3:
                syllable = code_point - 0xAC00
                h = mix(h, np.uint64(0x1100 + syllable // 588))
                h = mix(h, np.uint64(0x1161 + syllable % 588 // 28))
                if syllable % 28 != 0:
                    h = mix(h, np.uint64(0x11A7 + syllable % 28))
            else:
                h = mix(h, np.uint64(code_point))
            continue
        if units >= wanted:
            tokens[n] = _run_token(units, wanted, before, previous, h)
            n += 1
        before, previous = previous, h
        h = mix(SEED, np.uint64(code_point))
        units += 1
    if mode != _NOTHING:
        if marks != _NO_MARKS:
            h = mix(h, marks)
        tokens[n] = h if mode == _WORD else _run_token(units, mode, before, previous, h)
        n += 1
    return n


@njit(cache=True, nogil=True)
def tokenise(data, starts, ends, code_points):
    """Return the tokens of all spans, with room left over after them, and where each span's tokens begin."""
    n_bytes = np.int64(0)
    for span in range(len(starts)):
        n_bytes += ends[span] - starts[span]
    tokens = np.empty(n_bytes // 5 + 64, dtype=np.uint64)
    first = np.zeros(len(starts) + 1, dtype=np.int64)
    n = np.int64(0)
    for span in range(len(starts)):
        room = n + ends[span] - starts[span] + 1
        if room > len(tokens):
            grown = np.empty(room + len(tokens) // 2, dtype=np.uint64)
            for k in range(n):
                grown[k] = tokens[k]
            tokens = grown
        n = tokenise_span(data, starts[span], ends[span], code_points, tokens, n)
        first[span + 1] = n
    return tokens, first


@njit(cache=True, nogil=True)
def count_and_digest(data, starts, ends, code_points):
    """Return the number of tokens and the digest of every span, without keeping the tokens."""
    n_tokens = np.empty(len(starts), dtype=np.int32)
    digests = np.empty(len(starts), dtype=np.uint64)
    tokens = np.empty(4096, dtype=np.uint64)
    for span in range(len(starts)):
        room = ends[span] - starts[span] + 1
        if room > len(tokens):
            tokens = np.empty(room * 2, dtype=np.uint64)
        n = tokenise_span(data, starts[span], ends[span], code_points, tokens, np.int64(0))
        h = SEED
        for k in range(n):
            h = mix(h, tokens[k])
        n_tokens[span], digests[span] = n, h
    return n_tokens, digests


@njit(cache=True, nogil=True)
def fold_tokens(tokens, first):
    """Return the digest of every list of tokens."""
    digests = np.empty(len(first) - 1, dtype=np.uint64)
    for span in range(len(first) - 1):
        h = SEED
        for k in range(first[span], first[span + 1]):
            h = mix(h, tokens[k])
        digests[span] = h
    return digests
