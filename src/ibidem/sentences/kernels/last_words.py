"""Kernels that look at the word before a period: may it be an abbreviation that no list has?"""


from __future__ import annotations

from ibidem.execution.compiler import inner_kernel
from ibidem.sentences.code_points import CONTINUATION

_MIN_WORD_LETTERS = 6  # a word as long as this before a period is rarely an abbreviation
_MIN_VOWEL_LETTERS = 4  # and one as long as this that ends in a vowel: words are cut short after a consonant


@inner_kernel
def _is_clipped(data, i):
    """Return whether the word before `i` ends like a clipped one, with l or r after another consonant: "gesetzl", "entspr"."""
    last, before = data[i - 1] | 32, data[i - 2] | 32
    is_vowel = before == 97 or before == 101 or before == 105 or before == 111 or before == 117 or before == 121
    return (last == 108 or last == 114) and not is_vowel and before != last and before != 114 and before != 119


@inner_kernel
def _ends_in_vowel(data, i):
    """Return whether the letter before `i` is a vowel, or y, of the Latin, Cyrillic or Greek script."""
    last, lead = data[i - 1], data[i - 2]
    if last < 0x80:
        last |= 32
        return last == 97 or last == 101 or last == 105 or last == 111 or last == 117 or last == 121
    if lead == 0xC3:  # all but ç, ñ, ð and þ
        return last >= 0xA0 and last != 0xA7 and last != 0xB0 and last != 0xB1 and last != 0xBE
    if lead == 0xD0:  # а е и й о
        return last == 0xB0 or last == 0xB5 or 0xB8 <= last <= 0xB9 or last == 0xBE
    if lead == 0xD1:  # у, ы to я, ё
        return last == 0x83 or 0x8B <= last <= 0x8F or last == 0x91
    if lead == 0xCE:  # ά to ί, α ε η ι ο
        return 0xAC <= last <= 0xAF or last == 0xB1 or last == 0xB5 or last == 0xB7 or last == 0xB9 or last == 0xBF
    return lead == 0xCF and (last == 0x85 or 0x89 <= last <= 0x8E)


@inner_kernel
def _ends_like_a_word(data, i, n_letters):
    """Return whether the word of ASCII letters before `i` ends as words do and abbreviations do not.

    That is two vowels and a consonant ("floor", "clean", "said"), "ck", "ght" or "ed"; of five letters, also "er" and "ing".
    """
    first, second, last = data[i - 3] | 32, data[i - 2] | 32, data[i - 1] | 32
    if second == 97 and (first == 101 or first == 111):  # ea, oa
        return True
    if (second == 101 or second == 111) and first == second:  # ee, oo
        return True
    if (second == 117 and first == 111) or (second == 105 and first == 97):  # ou, ai
        return True
    if second == 101 and last == 100:
        return True
    if (second == 99 and last == 107) or (first == 103 and second == 104 and last == 116):
        return True
    return n_letters > 4 and ((second == 101 and last == 114) or (first == 105 and second == 110 and last == 103))


@inner_kernel
def is_whole_word(data, kinds, start, i):
    """Return whether the word that ends at `i` is too long for an abbreviation that no list has."""
    n_letters = n_ascii = 0
    for k in range(start, i):
        n_letters += kinds[k] != CONTINUATION
        n_ascii += data[k] < 0x80
    if n_letters >= _MIN_VOWEL_LETTERS and _ends_in_vowel(data, i):
        return True
    if n_ascii == n_letters >= _MIN_VOWEL_LETTERS and _ends_like_a_word(data, i, n_letters):
        return True
    return n_ascii >= _MIN_WORD_LETTERS and not _is_clipped(data, i)
