"""The kernel that finds the sentences of documents in one pass over their bytes."""

# ruff: noqa: SIM109 (tests against a tuple compile slowly)
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from ibidem.sentences.hashing import inner_kernel, outer_kernel
from ibidem.sentences.kinds import (
    BARE_STOP,
    BLANK,
    BULLET,
    CLOSER,
    CLUSTER,
    CONTINUATION,
    DIGIT,
    ELLIPSIS,
    FULL_STOP,
    LOWER,
    MARK,
    NEWLINE,
    PARAGRAPH,
    STRONG_STOP,
    UPPER,
)
from ibidem.sentences.line_kernels import (
    ends_at_newline,
    find_token_line,
    is_heading,
    is_item,
    measure_block,
    read_marker,
    skip_quote_markers,
)
from ibidem.sentences.scan_kernels import (
    find_content,
    find_next_word,
    find_token,
    kind_at,
    kind_before,
    skip_kinds,
    trim_end,
)
from ibidem.sentences.stop_kernels import judge_stop

_STOPS = 1 << FULL_STOP | 1 << STRONG_STOP | 1 << BARE_STOP | 1 << ELLIPSIS
_EVENTS = _STOPS | 1 << NEWLINE | 1 << PARAGRAPH | 1 << CLOSER | 1 << BULLET | 1 << CLUSTER
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


@outer_kernel
def split_documents(data, kinds, offsets, words, documents, starts, ends):
    """Write document, start and end of every sentence, in reading order, and return their number; -1 if room is short.

    Bytes without an event are passed over; at an event the text around it is looked at, never far. `sentence` is the
    start of the current sentence, `seen` how far it is known to hold no token character (or where its first one is).
    """
    document, n = np.int64(-1), np.int64(0)
    low = end = i = sentence = seen = line = block = block_end = np.int64(0)
    width = clusters = np.int64(0)
    while True:
        while i < end and not (_EVENTS >> kinds[i]) & 1:
            i += 1
        # The current sentence ends at `cut`, if that is set, and the next one begins at `begin`.
        cut = begin = np.int64(-1)
        kind = kind_at(kinds, i, end)
        following = i + 1
        if i >= end:
            cut = end
        elif kind == CLUSTER:
            if clusters >= _MIN_CLUSTERS and kind_before(kinds, i, low) == BLANK:
                before = trim_end(kinds, sentence, i)
                last = kind_before(kinds, before, low)
                if last == CLUSTER or last == MARK:
                    cut, begin, clusters = before, i, 0
            clusters += 1
        elif kind == NEWLINE or kind == PARAGRAPH:
            following = skip_kinds(kinds, following, end, 1 << CONTINUATION)
            next_line = find_token_line(kinds, following, end)
            if kind == PARAGRAPH or next_line > following:
                cut, begin, following = i, next_line, next_line
                block = block_end = next_line
            else:
                text = skip_quote_markers(data, kinds, next_line, end)
                own_text = skip_quote_markers(data, kinds, line, end)
                ends_here = is_item(data, kinds, text, end) or is_heading(data, kinds, own_text, end)
                if not ends_here and kind_at(kinds, find_next_word(kinds, text, end), end) != LOWER:
                    if i >= block_end:
                        width, block_end = measure_block(data, kinds, block, end)
                    ends_here = ends_at_newline(data, kinds, line, own_text, i, text, end, width)
                if ends_here:
                    cut, begin = i, next_line
            line = next_line
        elif (_STOPS >> kind) & 1 or data[i] == 41:
            if seen < i:
                seen = find_token(kinds, seen, i)
            # Stops before the first word of a sentence end nothing.
            if seen < i:
                sentence = find_content(data, kinds, sentence, seen, low)
                if data[i] <= 46 and DIGIT <= kinds[i - 1] <= UPPER:
                    cut = find_next_item(data, kinds, sentence, i, end)
                if cut >= 0:
                    begin, following = cut, i
                elif data[i] != 41:
                    judged = judge_stop(data, kinds, low, sentence, i, end, words)
                    following = judged >> 1
                    if judged & 1:
                        cut = begin = following
        elif kind == BULLET and kind_before(kinds, i, low) == BLANK:
            if seen < i:
                seen = find_token(kinds, seen, i)
            if seen < i:
                cut = begin = i
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
        sentence = seen = line = block = block_end = i
