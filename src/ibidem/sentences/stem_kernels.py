"""Kernels that find the words of texts, each with its place, and make their stems: what is left of them without endings."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from ibidem.compiling import inner_kernel, outer_kernel
from ibidem.sentences.code_points import KIND_PAGES
from ibidem.sentences.kinds import CLUSTER, CONTINUATION, FIRST_TOKEN_KIND, IGNORED, MARK, UNSPACED
from ibidem.sentences.token_kernels import decode, look_up_page, tokenise_span

# A stem is the beginning of a word: endings differ between languages, that they stand at the end does not. Characters of
# three bytes and more (syllables of Hangul, letters of India) say more than letters do, and count twice.
STEM_LETTERS = 6
STEM_BYTES = 64  # however many marks a word carries


@outer_kernel
def stem_words(data, kinds, offsets, code_points, room, stems, starts, first):
    """Write the stem's hash and the first byte (from its text's start) of every word; text i has [first[i], first[i + 1]).

    A character of an unspaced script is a word. `room` holds the tokens of a stem: STEM_BYTES + 1 of them.
    """
    n = np.int64(0)
    for text in range(len(offsets) - 1):
        i, end = offsets[text], offsets[text + 1]
        while i < end:
            kind = kinds[i]
            if kind < FIRST_TOKEN_KIND:
                i += 1
                continue
            start = i
            alone = kind == UNSPACED or kind == CLUSTER
            letters = 2 if data[i] >= 0xE0 else 1
            stem_end = np.int64(-1)
            i += 1
            while i < end:
                kind = kinds[i]
                if kind == CONTINUATION or kind == MARK or kind == IGNORED:
                    i += 1
                    continue
                if kind < FIRST_TOKEN_KIND or alone or kind == UNSPACED or kind == CLUSTER:
                    break
                if stem_end < 0 and letters >= STEM_LETTERS:
                    stem_end = i
                letters += 2 if data[i] >= 0xE0 else 1
                i += 1
            if stem_end < 0:
                stem_end = i
            if stem_end - start > STEM_BYTES:
                stem_end = start + STEM_BYTES
            tokenise_span(data, start, stem_end, code_points, room, 0)
            stems[n] = np.uint32(room[0] >> np.uint64(32))
            starts[n] = start - offsets[text]
            n += 1
        first[text + 1] = n
    return n


@inner_kernel
def end_of_word(data, start, end, code_points):
    """Return where the word that starts at a byte ends, before `end`; the rules are those of `stem_words`."""
    decoded = decode(data, start, end)
    kind = look_up_page(code_points, KIND_PAGES, decoded >> 3)
    alone = kind == UNSPACED or kind == CLUSTER
    i = start + (decoded & 7)
    while i < end:
        decoded = decode(data, i, end)
        kind = look_up_page(code_points, KIND_PAGES, decoded >> 3)
        if kind != MARK and kind != IGNORED and (kind < FIRST_TOKEN_KIND or alone or kind == UNSPACED or kind == CLUSTER):
            break
        i += decoded & 7
    return i
