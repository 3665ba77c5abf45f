"""Lines of a printed page as running text: hyphenated words are joined, and lines of scripts without spaces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

# PDFium's sign for a hyphen at the end of a line, which is used for all such hyphens here.
HYPHENATED = "\ufffe"
_FULL_SHARE = 0.6  # of the longest line
_HYPHENS = "-\u00ad\u2010\u00ac\u2e17"  # also the not sign and the double oblique hyphen of old prints and their OCR
_AT_END = re.compile(rf"(?<=[^\W\d_])[{_HYPHENS}{HYPHENATED}]$")
_HYPHENATED = re.compile(rf"(?<![^\W\d_])([^\W\d_]+){HYPHENATED}\s*([^\W\d_]+)?")
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"  # kana and Chinese characters
_UNSPACED_END, _UNSPACED_BEGIN = re.compile(rf"[{_UNSPACED}\uff0c\u3001\uff1a\uff1b]$"), re.compile(rf"[{_UNSPACED}]")
_BROKEN_PAGE = re.compile(rf"(?<![^\W\d_])([^\W\d_]+)(?:{HYPHENATED}|[{_HYPHENS}])$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_COMPOUND = re.compile(r"(?<![^\W\d_])[^\W\d_]+-[^\W\d_]+")


def join_lines(lines: Sequence[tuple[str, bool]]) -> str:
    """Return lines, each with whether it begins a paragraph, as text. Hyphens at line ends are HYPHENATED in it.

    What follows a full line continues it; what follows a short one, as in verse and lists, is a line of its own.
    """
    text: list[str] = []
    n_full = _FULL_SHARE * max((len(line) for line, _ in lines), default=0)
    for line, is_apart in lines:
        before = text[-1] if text else ""
        if not before:
            pass
        elif is_apart:
            text.append("\n\n")
        elif _AT_END.search(before) and line[:1].isalpha():
            text[-1] = before[:-1] + HYPHENATED
        elif not (_UNSPACED_END.search(before) and _UNSPACED_BEGIN.match(line)):
            text.append(" " if len(before) >= n_full else "\n")
        text.append(line)
    return "".join(text)


def without_hyphenation(texts: Sequence[str]) -> list[str]:
    """Return texts of one document with hyphenated words as they are otherwise written.

    A hyphen stays where the document has it inside of a line too (well-known), or before a capital.
    """
    known = {word.casefold() for text in texts for word in _COMPOUND.findall(text)}

    def joined(found: re.Match[str]) -> str:
        first, second = found[1], found[2] or ""
        compound = f"{first}-{second}"
        keeps = not second or (second[0].isupper() and not first.isupper()) or compound.casefold() in known
        return compound if keeps else first + second

    return [_HYPHENATED.sub(joined, text).replace(HYPHENATED, "-") if HYPHENATED in text else text for text in texts]


def join_pages(pages: Sequence[str]) -> list[str]:
    """Return pages with words that begin at the end of one and end on the next as part of the first; empty ones between."""
    joined = list(pages)
    full = [number for number, page in enumerate(joined) if page]
    for before, number in pairwise(full):
        begun = _BROKEN_PAGE.search(joined[before])
        rest = _FIRST_WORD.match(joined[number]) if begun is not None else None
        if begun is not None and rest is not None and rest[0][0].islower():
            joined[before] = joined[before][: begun.end(1)] + rest[0]
            joined[number] = joined[number][rest.end() :].lstrip(" ")
    return joined
