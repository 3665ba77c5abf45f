"""Kernels that split documents: one finds sentences in a single pass over the bytes, one cuts those that are too long.

Over-long stretches are cut at points determined by their own words, so that copies are cut alike.
"""

# ruff: noqa: SIM109 (tests against a tuple compile slowly)
from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import SEED, mix
from ibidem.columns.kernels.machine_words import EACH_BYTE, count_bits, count_low_bytes, load_bytes, load_word
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.sentences.code_points import (
    BLANK,
    BULLET,
    CASELESS,
    CLOSER,
    CLUSTER,
    COMMA,
    CONTINUATION,
    DIGIT,
    EVENT_BIT,
    FIRST_TOKEN_KIND,
    FULL_STOP,
    IGNORED,
    LOWER,
    MARK,
    NEWLINE,
    PARAGRAPH,
    UNSPACED,
    UPPER,
)
from ibidem.sentences.kernels.lines import (
    MAX_WRAPPED_COLUMNS,
    MIN_WRAPPED_COLUMNS,
    ends_at_newline,
    find_token_line,
    is_heading,
    is_item,
    measure_block,
    read_marker,
    skip_quote_markers,
)
from ibidem.sentences.kernels.scan import (
    CONTINUATIONS,
    find_content,
    find_next_word,
    find_token,
    kind_at,
    kind_before,
    skip_kinds,
    trim_end,
)
from ibidem.sentences.kernels.stops import ENDS, GOES_ON, ends_with_smile, is_abbreviation, judge_stop, starts_unspaced

_EVENTS = EACH_BYTE * np.uint64(EVENT_BIT)
_MIN_CLUSTERS = 20  # a space in Thai and similar scripts ends a sentence of this many clusters

# Pieces of over-long stretches.
MIN_PIECE_BYTES = 32  # unless it is the last of its span: a unit with its separator takes two bytes
_MIN_UNITS = 16
_MAX_UNITS = 96
_ONE_IN = np.uint64(31)
_HIGH = np.uint64(40)
_BYTE, _LAST = np.uint64(8), np.uint64(56)
_FOUR_BYTES = np.uint64(0xFFFFFFFF)
# The positions of the bit that only token characters have, and of those that only UNSPACED and CLUSTER have.
_TOKEN, _UNSPACED, _CLUSTER = np.uint64(5), np.uint64(2), np.uint64(3)


@inner_kernel
def find_next_item(data, kinds, sentence, i, end):
    """Return the start of the list marker that ends at `i` if it continues the count of the marker at `sentence`, else -1.

    "1. First 2. Second": the sentence starts with the marker 1, so 2 in the same style starts the next one.
    """
    start = i
    while start > sentence and i - start < 3 and 48 <= data[start - 1] <= 57:
        start -= 1
    if start == i:
        start = i - 1
    if start > sentence and data[start - 1] == 46 and data[i] == 41:
        return -1
    if start > sentence and data[start - 1] == 40:
        start -= 1
    if start <= sentence or kind_before(kinds, start, sentence) != BLANK:
        return -1
    marker = read_marker(data, kinds, sentence, end)
    # "J. K. Holt" continues the count by accident.
    if marker == 0 or (marker >> 32 == 8 | 1 and (marker >> 8) & 255 < 97):
        return -1
    following = read_marker(data, kinds, start, end)
    return start if following >> 8 == (marker >> 8) + 1 else -1


@inlined_kernel
def _may_end_marker(data, kinds, i, low):
    """Return whether the byte at `i` may end a list marker: a digit or a single letter precedes it."""
    if i <= low or data[i] > 46:
        return False
    before = kinds[i - 1]
    if before == DIGIT or i - 1 == low:
        return before == DIGIT
    gap = kinds[i - 2]
    return LOWER <= before <= UPPER and (gap == BLANK or gap == CONTINUATION or data[i - 2] == 40)


@outer_kernel
def split_documents(data, kinds, offsets, words, documents, starts, ends):
    """Write document, start and end of every sentence, in reading order, and return their number; -1 if room is short.

    Bytes without an event are skipped; at an event, the text close to it is examined. `sentence` is the start of the current
    sentence, `seen` how far it is known to have no token character (or where its first one is).
    """
    document, n = np.int64(-1), np.int64(0)
    low = end = i = sentence = seen = line = own_text = block = block_end = np.int64(0)
    width = clusters = np.int64(0)
    while True:
        while i < end:
            events = load_word(kinds, i) & _EVENTS
            if events != 0:
                i += count_low_bytes(events)
                break
            i += 8
        if i > end:
            i = end
        # The current sentence ends at `cut`, if that is set, and the next one begins at `begin`.
        cut = begin = np.int64(-1)
        kind = kind_at(kinds, i, end)
        following = i + 1
        if i >= end:
            cut = end
        elif kind == NEWLINE or kind == PARAGRAPH:
            next_line = text = following
            if kind == PARAGRAPH or kind_at(kinds, following, end) < FIRST_TOKEN_KIND:
                following = skip_kinds(kinds, following, end, CONTINUATIONS)
                next_line = find_token_line(kinds, following, end)
                text = skip_quote_markers(data, kinds, next_line, end)
            if kind == PARAGRAPH or next_line > following:
                cut, begin, following = i, next_line, next_line
                block = block_end = next_line
            else:
                first, second = kinds[text], kinds[text + 1]
                ends_here = data[own_text] == 35 and is_heading(data, kinds, own_text, end)
                # A letter starts an item only as "a." or "a)".
                if not ends_here and (first <= DIGIT or second == FULL_STOP or second == CLOSER):
                    ends_here = is_item(data, kinds, text, end)
                if first < FIRST_TOKEN_KIND:
                    first = kind_at(kinds, find_next_word(kinds, text, end), end)
                if not ends_here and first != LOWER:
                    if i >= block_end:
                        width, block_end = measure_block(data, kinds, block, end)
                    ends_here = width < MIN_WRAPPED_COLUMNS or width > MAX_WRAPPED_COLUMNS
                    if not ends_here:
                        ends_here = ends_at_newline(data, kinds, line, own_text, i, text, end, width)
                if ends_here:
                    cut, begin = i, next_line
            line, own_text = next_line, text
        elif kind == CLUSTER:
            if clusters >= _MIN_CLUSTERS and kind_before(kinds, i, low) == BLANK:
                before = trim_end(kinds, sentence, i)
                last = kind_before(kinds, before, low)
                if last == CLUSTER or last == MARK:
                    cut, begin, clusters = before, i, 0
            clusters += 1
        elif kind == FULL_STOP and DIGIT <= kinds[i + 1] <= CASELESS and following < end:
            # Nothing ends inside "3.5" and "example.org"; a blank may be missing in "It rained.The rest".
            if kinds[following] == UPPER and i > sentence and kinds[i - 1] == LOWER:
                if starts_unspaced(data, kinds, sentence, i, following, end, words):
                    cut = begin = following
        elif data[i] == 41 and i > low and 58 <= data[i - 1 - (data[i - 1] == 45)] <= 59:
            if ends_with_smile(data, kinds, i, low, end):
                cut = begin = following
        elif kind != CLOSER or _may_end_marker(data, kinds, i, low):
            if seen < i:
                seen = find_token(kinds, seen, i)
            # Stops before the first word of a sentence do not end it.
            if seen < i and kind == BULLET:
                if kind_before(kinds, i, low) == BLANK:
                    cut = begin = i
            elif seen < i:
                sentence = find_content(data, kinds, sentence, seen, low)
                if _may_end_marker(data, kinds, i, low):
                    cut = find_next_item(data, kinds, sentence, i, end)
                if cut >= 0:
                    begin, following = cut, i
                elif kind != CLOSER:
                    following, verdict = judge_stop(data, kinds, low, sentence, i, end, words)
                    if verdict == ENDS or (
                        verdict != GOES_ON and not is_abbreviation(data, kinds, sentence, i, verdict, end, words)
                    ):
                        cut = begin = following
        if cut >= 0:
            if seen < cut:
                seen = find_token(kinds, seen, cut)
            if seen < cut:
                if n == len(starts):
                    return np.int64(-1)
                documents[n] = document
                starts[n] = find_content(data, kinds, sentence, seen, low)
                ends[n] = trim_end(kinds, seen, cut)
                n += 1
            sentence = seen = begin
            if kind != CLUSTER:
                clusters = 0
        if i < end:
            i = following
            continue
        document += 1
        if document == len(offsets) - 1:
            return n
        low, end = offsets[document], offsets[document + 1]
        i = find_token_line(kinds, low, end)
        own_text = skip_quote_markers(data, kinds, i, end)
        sentence = seen = line = block = block_end = i


@inlined_kernel
def _bound_units(kinds, start, end):
    """Return an upper bound for the units of a span: token characters that come first or are unspaced."""
    bound = 0
    before = np.uint64(0)
    for i in range(start, end, 8):
        word = load_bytes(kinds, i, end)
        tokens = (word >> _TOKEN) & EACH_BYTE
        before |= tokens << _BYTE
        bound += count_bits(tokens & (~before | word >> _UNSPACED | word >> _CLUSTER))
        before = tokens >> _LAST
    return bound


@outer_kernel
def cut_long_spans(data, kinds, documents, starts, ends, max_words, cut_documents, cut_starts, cut_ends):
    """Write the spans, those of more than `max_words` units cut into pieces, and return the number of all pieces.

    Units are words, unspaced characters and clusters. A piece has 16 to 96 units and ends after a comma, or after a
    unit whose hash says so. The hash of a word is its own, that of a character of an unspaced script is made of the
    last four bytes, in part of the character before it.
    """
    n = np.int64(0)
    for span in range(len(starts)):
        first, piece, end = n, starts[span], ends[span]
        if end - piece > 2 * max_words and _bound_units(kinds, piece, end) > max_words:
            units = all_units = comma = np.int64(0)
            in_word = False
            h = SEED
            last_bytes = np.uint64(0)
            for i in range(piece, end):
                kind = kinds[i]
                byte = np.uint64(data[i] | 32 if 65 <= data[i] <= 90 else data[i])
                last_bytes = (last_bytes << _BYTE) | byte
                if kind >= FIRST_TOKEN_KIND:
                    unspaced = kind >= UNSPACED
                    if unspaced or not in_word:
                        if unspaced or h == SEED:
                            h = mix(SEED, (last_bytes >> _BYTE) & _FOUR_BYTES)
                        if units >= _MIN_UNITS and (units >= _MAX_UNITS or comma == 2 or (h >> _HIGH) & _ONE_IN == 0):
                            cut_starts[n], cut_ends[n] = piece, trim_end(kinds, piece, i)
                            n += 1
                            piece, units = i, 0
                        units += 1
                        all_units += 1
                        h = SEED
                    in_word = not unspaced
                    comma = 0
                    if in_word:
                        h = mix(h, byte)
                elif kind == CONTINUATION:
                    if in_word:
                        h = mix(h, byte)
                elif kind == COMMA:
                    in_word = False
                    comma = 1 if data[i] < 0x80 else 2
                elif kind == BLANK:
                    in_word = False
                    comma = 2 if comma > 0 else 0
                elif kind != MARK and kind != IGNORED:
                    in_word = False
            if all_units <= max_words:
                n, piece = first, starts[span]
        cut_starts[n], cut_ends[n] = piece, end
        n += 1
        for k in range(first, n):
            cut_documents[k] = documents[span]
    return n
