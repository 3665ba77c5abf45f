"""Kernels that say where words stand, in characters."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

from ibidem.compiling import outer_kernel
from ibidem.sentences.char_kernels import count_chars
from ibidem.sentences.stem_kernels import end_of_word


@outer_kernel
def locate_words(data, text_starts, text_ends, word_bytes, sentence_bytes, sentence_chars, code_points, at_end, end_bytes, places):
    """Write the place of every word's start, or end, in characters of its text, and the byte after it.

    Bytes and characters of a word's sentence count from the text's start; characters are counted from there.
    """
    for i in range(len(places)):
        start = text_starts[i]
        at = start + word_bytes[i]
        if at_end:
            at = end_of_word(data, at, text_ends[i], code_points)
        end_bytes[i] = at - start
        places[i] = sentence_chars[i] + count_chars(data, start + sentence_bytes[i], at)


@outer_kernel
def place_sentences(word_bytes, first, documents, first_document, sentence_bytes, begins):
    """Write the first word of every sentence, or of what comes after it if it has none. Sentences are in reading order."""
    word = 0
    for s in range(len(begins)):
        text = documents[s] - first_document
        word = max(word, first[text])
        while word < first[text + 1] and word_bytes[word] < sentence_bytes[s]:
            word += 1
        begins[s] = word
