"""Texts in many scripts, and a plain twin that says where their words are."""

# ruff: noqa: E501

from __future__ import annotations

import re
import unicodedata

from hypothesis import strategies as st

from ibidem.sentences import code_points as kinds
from ibidem.sentences.code_points import KIND_PAGES, load_code_points
from ibidem.sentences.make_code_points import kind_of

PIECES = (
    "one", "Two", "harbour", "Überfähre", "e\u0301te\u0301", "cliche\u0301", "naı\u0308ve", "ﬁne", "Straße", "x", "B9", "2024",
    "гавань", "θάλασσα", "كِتَاب", "हिन्दी", "한국어", "각\u1112\u1161\u11ab", "漢", "字々", "カ", "か\u3099", "ー", "ภาษา", "น\u0e49ำ", "ລາວ",
    "co\u00adop", "ze\u200bro", "👩\u200d🚀", "🏝\ufe0f", "—", "…", "'s", "\u0301", "\u200d",
)  # fmt: skip
GAPS = (" ", " ", " ", "", ", ", ". ", "! ", "。", "\n", "\n\n", " (", ") ", "-", "\u00a0", "\t")
TEXTS = st.one_of(
    st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(GAPS)), max_size=40).map(
        lambda pieces: "".join(piece + gap for piece, gap in pieces)
    ),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cn", "Co"]), max_size=40),
)

_SINGLE = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3098\u309d-\u309f\u30a1-\u30fa\u30fc-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U0001aff0-\U0001b16f\U00020000-\U0003fffd"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f"
)


def is_plain(text: str) -> bool:
    """Return whether a text has none of the characters that belong to two kinds: letters that are marks, signs and numbers.

    Nor has it characters that are newer than the tables, or than this Python: the twin goes by this Python's Unicode.
    """
    for character in text:
        if _kind_in_tables(character) != kind_of(character):
            return False
        category, first = unicodedata.category(character), unicodedata.normalize("NFKD", character)[0]
        if category[0] in "SN" and (0x2E7F < ord(character) < 0xAC00 or is_alone(character)):
            return False
        if category[0] == "L" and (unicodedata.category(first)[0] in "MZ" or _is_ignored(character)):
            return False
    return True


def _kind_in_tables(character: str) -> int:
    tables, page = load_code_points(), ord(character) >> 8
    return int(tables[tables[KIND_PAGES + page] + (ord(character) & 255)])


def _is_ignored(character: str) -> bool:
    return character in "\u115f\u1160\u3164\uffa0"


def words_of_text(text: str) -> list[tuple[int, int]]:
    """Return words as spans of characters: runs of letters and digits with their marks; one character of unspaced scripts."""
    extending = "".join(
        re.escape(c)
        for c in sorted(set(text))
        if unicodedata.category(c)[0] == "M" or unicodedata.category(c) == "Cf" or c == "ำ"
    )
    letter = "".join(re.escape(c) for c in sorted(set(text)) if unicodedata.category(c)[0] in "LN" and c != "ำ")
    if not letter:
        return []
    more = f"[{extending}]*" if extending else ""
    single = f"(?=[{_SINGLE}])[{letter}]{more}"
    return [match.span() for match in re.finditer(rf"{single}|(?:(?![{_SINGLE}])[{letter}]{more})+", text)]


def is_alone(word: str) -> bool:
    """Return whether a word is one character of an unspaced script."""
    return re.match(f"[{_SINGLE}]", word) is not None


def letters_of(character: str) -> int:
    """Return how many letters a character counts for: those that say more than letters of Latin and Greek do count twice."""
    if "\u1160" <= character <= "\u11ff":  # the rest of a syllable
        return 0
    if character in "ßẞ":
        return 2
    if "\u1e00" <= character <= "\u1fff" or "\uff00" <= character <= "\uff7f":
        return 1
    return 2 if len(character.encode()) >= 3 else 1


def stem_of(word: str) -> str:
    """Return the folded beginning of a word: six letters."""
    n, end = 0, len(word)
    for k, character in enumerate(word):
        if unicodedata.category(character)[0] in "LN":
            if n >= 6 and letters_of(character) > 0:
                end = k
                break
            n += letters_of(character)
    visible = "".join(c for c in word[:end] if unicodedata.category(c) != "Cf" and c not in "\ufe0f")
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", visible).casefold())
    return unicodedata.normalize("NFD", folded)


OPENING = (kinds.OPENER, kinds.SEPARATOR, kinds.DASH, kinds.FULL_STOP)
CLOSING = (
    kinds.CLOSER, kinds.SEPARATOR, kinds.FULL_STOP, kinds.STRONG_STOP, kinds.BARE_STOP, kinds.ELLIPSIS, kinds.MARK,
    kinds.IGNORED,
)  # fmt: skip


def with_signs(text: str, words: list[tuple[int, int]], number: int, sentence: int) -> tuple[int, int]:
    """Return where a word begins and ends with the signs beside it: those before it that open or mark it, those after it that
    close or end it; none if they join it to another word of a spaced script. Its sentence begins at `sentence`.
    """
    start, end = words[number]
    is_first = number == 0 or words[number - 1][0] < sentence
    before = sentence if is_first else words[number - 1][1]
    low = start
    while low > before and (kind_of(text[low - 1]) in OPENING or text[low - 1] == "_"):
        low -= 1
    if not is_first and is_alone(text[slice(*words[number - 1])]):
        while before < start and (kind_of(text[before]) in CLOSING or text[before] == "_"):
            before += 1  # it belongs to the character before it
        low = max(low, before)
    elif low == before and not is_first:
        low = start
    after = words[number + 1][0] if number + 1 < len(words) else len(text)
    high = end
    while high < after and (kind_of(text[high]) in CLOSING or text[high] == "_"):
        high += 1
    if high == after and number + 1 < len(words) and not is_alone(text[slice(*words[number + 1])]):
        high = end
    return low, high
