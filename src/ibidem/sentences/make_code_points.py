"""Writes `code_points.npz`, the code-point tables, out of this Python's `unicodedata`.

    python -m ibidem.sentences.make_code_points

The file is committed, so that every version of Python splits and tokenises in the same way.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.sentences import code_points as kinds

TABLE_PATH = Path(__file__).with_name("code_points.npz")
N_CODE_POINTS = 0x110000
PAGE_SIZE = 256

_UNSPACED_RANGES = (
    (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x3035), (0x3038, 0x303C), (0x3041, 0x3098),
    (0x309D, 0x309F), (0x30A1, 0x30FA), (0x30FC, 0x312F), (0x31A0, 0x31BF), (0x31F0, 0x31FF), (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9D), (0x1AFF0, 0x1B16F), (0x20000, 0x3FFFD),
)  # fmt: skip
_CLUSTER_RANGES = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F))
_GEORGIAN = ((0x10D0, 0x10FA), (0x10FD, 0x10FF))  # in lower case by its category, but sentences begin with it
# Default-ignorable although their category is Mn or Lo.
_IGNORED_RANGES = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0), (0xE0000, 0xE0FFF),
)  # fmt: skip
_CHARACTERS = {
    kinds.BLANK: "\t\r\v\x1c\x1d\x1e\x1f\x85\u2028",
    kinds.NEWLINE: "\n",
    kinds.PARAGRAPH: "\f\u2029",
    kinds.FULL_STOP: ".",
    kinds.STRONG_STOP: "!?‼‽⁇⁈⁉؟؛۔։᠃᠉܀܁܂߹",
    kinds.BARE_STOP: "。｡！？．।॥።፧፨။។៕།༎᪨᪩꯫︒︕︖꘎꘏",
    kinds.ELLIPSIS: "…",
    kinds.QUOTE: "\"'`*_＂＇“”„‟‘’‚‛«»‹›",
    kinds.OPENER: "¿¡",
    kinds.COMMA: ",;:、，；：､،፣፤᠂",
    kinds.DASH: "-‐‑‒–—―−〜～",
    kinds.BULLET: "•‣⁃◦▪●■",
}


def _in_ranges(code_point: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(low <= code_point <= high for low, high in ranges)


def fold(character: str) -> str:
    """Return the canonical form of one character: compatibility-decomposed and caseless."""
    text = unicodedata.normalize("NFD", character).casefold()
    text = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFKD", text)


def kind_of(character: str) -> int:
    """Return the kind of one character, by its category, its script and the lists above."""
    code_point, category = ord(character), unicodedata.category(character)
    for kind, characters in _CHARACTERS.items():
        if character in characters:
            return kind
    if category == "Cf" or _in_ranges(code_point, _IGNORED_RANGES):
        return kinds.IGNORED
    if category[0] == "M" or (category[0] == "L" and unicodedata.category(fold(character)[0])[0] == "M"):
        return kinds.MARK
    # Some forms of Arabic letters are marks on a space: they would be empty words and sentences.
    if category[0] == "L" and all(unicodedata.category(part)[0] in "MZ" for part in fold(character)):
        return kinds.SEPARATOR
    if category != "Cn" and category[0] in "LNS" and _in_ranges(code_point, _UNSPACED_RANGES):
        return kinds.UNSPACED
    if category[0] == "L" and _in_ranges(code_point, _CLUSTER_RANGES):
        return kinds.CLUSTER
    if _in_ranges(code_point, _GEORGIAN):
        return kinds.CASELESS
    by_category = {
        "Zs": kinds.BLANK, "Pe": kinds.CLOSER, "Pf": kinds.CLOSER, "Ps": kinds.OPENER, "Pi": kinds.OPENER,
        "Lu": kinds.UPPER, "Lt": kinds.UPPER, "Ll": kinds.LOWER,
        "Nd": kinds.DIGIT, "Nl": kinds.DIGIT, "No": kinds.DIGIT,
    }  # fmt: skip
    return by_category.get(category, kinds.CASELESS if category[0] == "L" else kinds.SEPARATOR)


def _paged(values: NDArray[Any]) -> tuple[NDArray[np.uint16], NDArray[Any]]:
    """Return the page number of every 256 code points, and the distinct pages, concatenated."""
    numbers: dict[bytes, int] = {}
    pages = values.reshape(-1, PAGE_SIZE)
    index = np.array([numbers.setdefault(page.tobytes(), len(numbers)) for page in pages], dtype=np.uint16)
    return index, np.frombuffer(b"".join(numbers), dtype=values.dtype)


def make_tables() -> dict[str, NDArray[Any]]:
    """Return the tables by name.

    `folds` has 0 for a character that is its own canonical form, the code point of a single-character form, or minus the
    position in `expansions` of a longer form: its length, then its code points.
    """
    kind_values = np.zeros(N_CODE_POINTS, dtype=np.uint8)
    fold_values = np.zeros(N_CODE_POINTS, dtype=np.int32)
    expansions = [0]
    places: dict[str, int] = {}
    for code_point in range(N_CODE_POINTS):
        character = chr(code_point)
        kind = kind_values[code_point] = kind_of(character)
        # Hangul syllables are decomposed by arithmetic, separators have no form at all.
        if (kind < kinds.FIRST_TOKEN_KIND and kind != kinds.MARK) or 0xAC00 <= code_point <= 0xD7A3:
            continue
        form = fold(character)
        if len(form) == 1 and form != character:
            fold_values[code_point] = ord(form)
        elif len(form) > 1:
            if form not in places:
                places[form] = len(expansions)
                expansions += [len(form), *map(ord, form)]
            fold_values[code_point] = -places[form]
    kind_pages, kind_values = _paged(kind_values)
    fold_pages, fold_values = _paged(fold_values)
    return {
        "kind_pages": kind_pages,
        "kinds": kind_values,
        "fold_pages": fold_pages,
        "folds": fold_values,
        "expansions": np.array(expansions, dtype=np.int32),
        "unicode_version": np.array(unicodedata.unidata_version),
    }


def main() -> None:
    """Write the tables next to this module."""
    tables: dict[str, Any] = make_tables()
    np.savez_compressed(TABLE_PATH, **tables)


if __name__ == "__main__":
    main()
