"""Kernels that say where words stand, in characters."""

from __future__ import annotations

from ibidem.execution.compiler import outer_kernel
from ibidem.sentences.kernels.scan import count_chars
from ibidem.sentences.kernels.stems import find_word


@outer_kernel
def locate_words(
    data, text_starts, text_ends, sentence_bytes, sentence_chars, numbers, code_points, at_end, word_bytes, places
):
    """Write where words begin, or end, in characters of their texts, and in bytes.

    A word is given by its number in its sentence, which begins at a byte and character of the text.
    """
    for i in range(len(places)):
        start = text_starts[i] + sentence_bytes[i]
        at = find_word(data, start, text_ends[i], code_points, numbers[i], at_end)
        word_bytes[i] = at - text_starts[i]
        places[i] = sentence_chars[i] + count_chars(data, start, at)
