"""Kernels that count characters in UTF-8."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_chars(data, start, end):
    """Return the number of characters in a byte span that begins and ends between characters."""
    n_chars = 0
    for i in range(start, end):
        n_chars += (data[i] & 0xC0) != 0x80
    return n_chars


@njit(cache=True, nogil=True)
def char_offsets(data, offsets, documents, starts, ends):
    """Return the character offsets of byte spans that are in reading order, counted from their documents' starts."""
    start_chars = np.empty(len(starts), dtype=np.uint32)
    end_chars = np.empty(len(starts), dtype=np.uint32)
    document, at_byte, at_char = -1, 0, 0
    for span in range(len(starts)):
        if documents[span] != document:
            document = documents[span]
            at_byte, at_char = offsets[document], 0
        at_char += count_chars(data, at_byte, starts[span])
        start_chars[span] = at_char
        at_char += count_chars(data, starts[span], ends[span])
        end_chars[span] = at_char
        at_byte = ends[span]
    return start_chars, end_chars
