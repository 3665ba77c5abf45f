"""The kernel that finds the sentences of documents in one pass over their bytes."""

from __future__ import annotations

import numpy as np
from numba import njit

from ibidem.sentences.code_points import BYTE_FOLDS, EVENT_BYTES
from ibidem.sentences.kinds import BLANK, BULLET, CLUSTER, ELLIPSIS, FULL_STOP, MARK, NEWLINE, PARAGRAPH
from ibidem.sentences.line_kernels import (
    ends_at_newline,
    find_token_line,
    is_heading,
    is_item,
    measure_block,
    read_marker,
    skip_quote_markers,
)
from ibidem.sentences.scan_kernels import find_content, find_token, kind_at, kind_before, skip_blanks, trim_end
from ibidem.sentences.stop_kernels import judge_stop

_MIN_CLUSTERS = 20  # a blank in Thai and its like ends a sentence of this many clusters


@njit(cache=True, nogil=True)
def find_next_item(data, sentence, i, end, code_points):
    """Return the start of the list marker that ends at `i` if it goes on counting from the marker at `sentence`, else -1.

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
    if start <= sentence or kind_before(data, start, sentence, code_points) >> 3 != BLANK:
        return -1
    marker = read_marker(data, sentence, end, code_points)
    if marker == 0:
        return -1
    following = read_marker(data, start, end, code_points)
    return start if following >> 8 == (marker >> 8) + 1 else -1


@njit(cache=True, nogil=True)
def split_document(data, low, end, code_points, words, starts, ends, n):
    """Write the sentences of the document [low, end) to `starts[n:]` and `ends[n:]`; return the new n.

    Bytes without an event are passed over; at an event the text around it is looked at, never far. `sentence` is the start
    of the current sentence, `seen` how far it is known to hold no token character (or where its first one is).
    """
    i = find_token_line(data, low, end, code_points)
    sentence = seen = line = block = block_end = i
    width = clusters = 0
    cluster_end = -1
    while True:
        while i < end and code_points[EVENT_BYTES + data[i]] == 0:
            i += 1
        if i >= end:
            break
        found = kind_at(data, i, end, code_points)
        kind, size = found >> 3, found & 7
        # The current sentence ends at `cut`, if that is set, and the next one begins at `begin`.
        cut = begin = -1
        following = i + size
        if kind == CLUSTER:
            if clusters >= _MIN_CLUSTERS and 0 <= cluster_end < i:
                if skip_blanks(data, cluster_end, end, code_points) == i:
                    cut, begin, clusters = cluster_end, i, 0
            clusters += 1
            cluster_end = following
        elif kind == MARK:
            if cluster_end == i:
                cluster_end = following
        elif kind == NEWLINE or kind == PARAGRAPH:
            next_line = find_token_line(data, following, end, code_points)
            if kind == PARAGRAPH or next_line > following:
                cut, begin, following = i, next_line, next_line
                block = block_end = next_line
            else:
                text = skip_quote_markers(data, next_line, end, code_points)
                own_text = skip_quote_markers(data, line, end, code_points)
                ends_here = is_item(data, text, end, code_points) or is_heading(data, own_text, end, code_points)
                if not ends_here:
                    if i >= block_end:
                        width, block_end = measure_block(data, block, end, code_points)
                    ends_here = ends_at_newline(data, line, i, text, end, width, code_points)
                if ends_here:
                    cut, begin = i, next_line
            line = next_line
        elif FULL_STOP <= kind <= ELLIPSIS or data[i] == 41:
            if seen < i:
                seen = find_token(data, seen, i, code_points)
            # Stops before the first word of a sentence end nothing.
            if seen < i:
                sentence = find_content(data, sentence, seen, low, code_points)
                if data[i] <= 46 and code_points[BYTE_FOLDS + data[i - 1]] != 0:
                    cut = find_next_item(data, sentence, i, end, code_points)
                if cut >= 0:
                    begin, following = cut, i
                elif data[i] != 41:
                    judged = judge_stop(data, low, sentence, i, end, code_points, words)
                    following = judged >> 1
                    if judged & 1:
                        cut = begin = following
        elif kind == BULLET and kind_before(data, i, low, code_points) >> 3 == BLANK:
            if seen < i:
                seen = find_token(data, seen, i, code_points)
            if seen < i:
                cut = begin = i
        i = following
        if cut >= 0:
            if seen < cut:
                seen = find_token(data, seen, cut, code_points)
            if seen < cut:
                starts[n] = find_content(data, sentence, seen, low, code_points)
                ends[n] = trim_end(data, seen, cut, code_points)
                n += 1
            sentence = seen = begin
            if kind != CLUSTER:
                clusters = 0
    if seen < end:
        seen = find_token(data, seen, end, code_points)
    if seen < end:
        starts[n] = find_content(data, sentence, seen, low, code_points)
        ends[n] = trim_end(data, seen, end, code_points)
        n += 1
    return n


@njit(cache=True, nogil=True)
def split_documents(data, offsets, code_points, words):
    """Return document number, start and end of every sentence, in reading order."""
    n_documents = len(offsets) - 1
    capacity = (offsets[n_documents] - offsets[0]) // 64 + 64
    documents = np.empty(capacity, dtype=np.int32)
    starts = np.empty(capacity, dtype=np.int64)
    ends = np.empty(capacity, dtype=np.int64)
    n = 0
    for document in range(n_documents):
        # A sentence has a token character and, but for the last one, something that ends it.
        room = n + (offsets[document + 1] - offsets[document]) // 2 + 2
        if room > capacity:
            capacity += capacity // 2 + room
            documents, starts, ends = _grown(documents, capacity), _grown(starts, capacity), _grown(ends, capacity)
        first = n
        n = split_document(data, offsets[document], offsets[document + 1], code_points, words, starts, ends, n)
        documents[first:n] = document
    return documents[:n].copy(), starts[:n].copy(), ends[:n].copy()


@njit(cache=True, nogil=True)
def _grown(values, capacity):
    grown = np.empty(capacity, dtype=values.dtype)
    grown[: len(values)] = values
    return grown
