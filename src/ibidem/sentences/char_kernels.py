"""Kernels that count characters in UTF-8."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

from ibidem.sentences.hashing import inner_kernel, outer_kernel


@inner_kernel
def count_chars(data, start, end):
    """Return the number of characters in a byte span that begins and ends between characters."""
    n_chars = 0
    for i in range(start, end):
        n_chars += (data[i] & 0xC0) != 0x80
    return n_chars


@outer_kernel
def count_offsets(data, offsets, documents, starts, ends, start_chars, end_chars):
    """Write the character offsets of byte spans that are in reading order, counted from their documents' starts."""
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
