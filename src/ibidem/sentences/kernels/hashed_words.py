"""Kernels of words as hashes: those of whole texts, keys of so many in a row, and where they are in their texts."""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import GOLDEN, mix, stir
from ibidem.columns.kernels.machine_words import count_low_bytes, load_bytes, mark_others
from ibidem.columns.kernels.text_checks import product, reduced
from ibidem.execution.compiler import outer_kernel
from ibidem.sentences.code_points import FIRST_TOKEN_KIND
from ibidem.sentences.kernels.scan import count_chars
from ibidem.sentences.kernels.stems import ends_word, find_word_end
from ibidem.sentences.kernels.tokens import WORD_END, tokenise_span

_CASE_BITS = np.uint64(0x2020202020202020)  # set in small letters and in digits
_FIELD = np.uint64((1 << 61) - 1)
_ONE = np.uint64(1)
_WHOLE_WORD = 1 << 62
_PACKED_LETTERS = 8
_BLANK = 0x20


@outer_kernel
def hash_words(data, kinds, offsets, code_points, seed, room, hashes, first):
    """Write the hash of every word, and where the words of each text begin: text i has [first[i], first[i + 1]).

    Equal words have equal hashes, however they are written; a character of an unspaced script is a word. `room` has space for
    the tokens of the longest text.
    """
    n = np.int64(0)
    for text in range(len(offsets) - 1):
        i, end = offsets[text], offsets[text + 1]
        while i < end:
            if kinds[i] < FIRST_TOKEN_KIND:
                i += 1
                continue
            word = load_bytes(data, i, end)
            n_letters = count_low_bytes(mark_others(word))
            if 0 < n_letters < _PACKED_LETTERS and ends_word(kinds, i + n_letters, end):
                letters = (word | _CASE_BITS) & ((_ONE << np.uint64(8 * n_letters)) - _ONE)
                h = mix(mix(seed[0], stir(letters, seed)), WORD_END)
                i += n_letters
            else:
                start = i
                i, _ = find_word_end(data, kinds, i, end, _WHOLE_WORD)
                n_tokens = tokenise_span(data, start, i, code_points, seed, room, 0)
                h = seed[0]
                for k in range(n_tokens):
                    h = room[k] if k == 0 else mix(h, room[k])
            hashes[n] = h
            n += 1
        first[text + 1] = n
    return n


@outer_kernel
def locate_words(data, kinds, offsets, texts, numbers, begins, ends):
    """Write where words begin and end, in characters of their texts; words are given in reading order, by text and number.

    The number after the last word gives the end of the text.
    """
    q = np.int64(0)
    while q < len(texts):
        text = texts[q]
        i, end = offsets[text], offsets[text + 1]
        word, n_chars, counted = np.int64(0), np.int64(0), i
        while q < len(texts) and texts[q] == text and i < end:
            if kinds[i] < FIRST_TOKEN_KIND:
                i += 1
                continue
            start = i
            i, _ = find_word_end(data, kinds, i, end, _WHOLE_WORD)
            if numbers[q] == word:
                begin = n_chars + count_chars(data, counted, start)
                n_chars = begin + count_chars(data, start, i)
                counted = i
                while q < len(texts) and texts[q] == text and numbers[q] == word:
                    begins[q], ends[q] = begin, n_chars
                    q += 1
            word += 1
        last = n_chars + count_chars(data, counted, end)
        while q < len(texts) and texts[q] == text:
            begins[q] = ends[q] = last
            q += 1


@outer_kernel
def number_words(data, kinds, offsets, texts, chars, counts):
    """Write how many words of a text begin before a character; characters are given in reading order, by text."""
    q = np.int64(0)
    while q < len(texts):
        text = texts[q]
        i, end = offsets[text], offsets[text + 1]
        n_words, n_chars, counted = np.int64(0), np.int64(0), i
        while q < len(texts) and texts[q] == text and i < end:
            if kinds[i] < FIRST_TOKEN_KIND:
                i += 1
                continue
            n_chars += count_chars(data, counted, i)
            counted = i
            while q < len(texts) and texts[q] == text and chars[q] <= n_chars:
                counts[q] = n_words
                q += 1
            i, _ = find_word_end(data, kinds, i, end, _WHOLE_WORD)
            n_words += 1
        while q < len(texts) and texts[q] == text:
            counts[q] = n_words
            q += 1


@outer_kernel
def gram_keys(words, first, size, point, keys):
    """Write the key of the `size` words that start at each word, 0 where the text ends before.

    Keys are values of a polynomial over a field at a secret point, and rolled on from word to word: different words have the
    same key with a probability below size / 2**61.
    """
    top = _ONE
    for _ in range(size - 1):
        top = product(top, point)
    for text in range(len(first) - 1):
        begin, end = first[text], first[text + 1]
        value = np.uint64(0)
        for i in range(begin, end):
            if i - begin >= size:
                gone = product(reduced(words[i - size]), top)
                value = value + _FIELD - gone
            value = reduced(product(reduced(value), point) + reduced(words[i]))
            start = i - size + 1
            if start >= begin:
                key = mix(value, GOLDEN)
                keys[start] = key if key != 0 else _ONE
        for start in range(max(begin, end - size + 1), end):
            keys[start] = 0


@outer_kernel
def blank_words(kinds, offsets, is_ignored, data):
    """Replace the bytes of some words by blanks; `data` is a copy of the texts."""
    word = np.int64(0)
    for text in range(len(offsets) - 1):
        i, end = offsets[text], offsets[text + 1]
        while i < end:
            if kinds[i] < FIRST_TOKEN_KIND:
                i += 1
                continue
            start = i
            i, _ = find_word_end(data, kinds, i, end, _WHOLE_WORD)
            if is_ignored[word]:
                for k in range(start, i):
                    data[k] = _BLANK
            word += 1
