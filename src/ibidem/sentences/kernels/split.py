"""The kernel that finds the sentences of documents in one pass over their bytes."""

# ruff: noqa: SIM109 (tests against a tuple compile slowly)
from __future__ import annotations

import numpy as np

from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
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
from ibidem.sentences.kernels.machine_words import EACH_BYTE, count_low_bytes, load_word
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
from ibidem.sentences.kernels.stops import ENDS, GOES_ON, is_abbreviation, judge_stop
from ibidem.sentences.kinds import (
    BLANK,
    BULLET,
    CASELESS,
    CLOSER,
    CLUSTER,
    CONTINUATION,
    DIGIT,
    EVENT_BIT,
    FIRST_TOKEN_KIND,
    FULL_STOP,
    LOWER,
    MARK,
    NEWLINE,
    PARAGRAPH,
    UPPER,
)

_EVENTS = EACH_BYTE * np.uint64(EVENT_BIT)
_MIN_CLUSTERS = 20  # a blank in Thai and its like ends a sentence of this many clusters


@inner_kernel
def find_next_item(data, kinds, sentence, i, end):
    """Return the start of the list marker that ends at `i` if it counts on from the marker at `sentence`, else -1.

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
    # "J. K. Holt" counts on by accident.
    if marker == 0 or (marker >> 32 == 8 | 1 and (marker >> 8) & 255 < 97):
        return -1
    following = read_marker(data, kinds, start, end)
    return start if following >> 8 == (marker >> 8) + 1 else -1


@inlined_kernel
def _may_end_marker(data, kinds, i, low):
    """Whether the byte at `i` may end a list marker: a digit or a letter by itself stands before it."""
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

    Bytes without an event are passed over; at an event the text around it is looked at, never far. `sentence` is the
    start of the current sentence, `seen` how far it is known to hold no token character (or where its first one is).
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
            # Nothing ends inside of "3.5" and "example.org".
            pass
        elif kind != CLOSER or _may_end_marker(data, kinds, i, low):
            if seen < i:
                seen = find_token(kinds, seen, i)
            # Stops before the first word of a sentence end nothing.
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
                    following, verdict = judge_stop(data, kinds, low, sentence, i, end)
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
