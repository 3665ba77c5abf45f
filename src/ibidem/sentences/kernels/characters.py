"""Kernels that count characters in UTF-8."""

from __future__ import annotations

import numpy as np

from ibidem.execution.compiler import inner_kernel, outer_kernel
from ibidem.sentences.kernels.machine_words import HIGH_BITS, count_continuations, load_bytes


@inner_kernel
def is_ascii(data, start, end):
    """Whether all bytes of a span are ASCII."""
    bits = np.uint64(0)
    for i in range(start, end, 8):
        bits |= load_bytes(data, i, end)
    return bits & HIGH_BITS == 0


@inner_kernel
def count_chars(data, start, end):
    """Return the number of characters in a byte span that begins and ends between characters."""
    n_chars = end - start
    for i in range(start, end, 8):
        n_chars -= count_continuations(load_bytes(data, i, end))
    return n_chars


@outer_kernel
def count_offsets(data, offsets, documents, starts, ends, start_chars, end_chars):
    """Write the character offsets of byte spans that are in reading order, counted from their documents' starts."""
    document, at_byte, at_char = np.int64(-1), np.int64(0), np.int64(0)
    plain = False
    for span in range(len(starts)):
        if documents[span] != document:
            document = documents[span]
            at_byte, at_char = offsets[document], np.int64(0)
            plain = is_ascii(data, at_byte, offsets[document + 1])
        if plain:
            start_chars[span], end_chars[span] = starts[span] - at_byte, ends[span] - at_byte
            continue
        at_char += count_chars(data, at_byte, starts[span])
        start_chars[span] = at_char
        at_char += count_chars(data, starts[span], ends[span])
        end_chars[span] = at_char
        at_byte = ends[span]
