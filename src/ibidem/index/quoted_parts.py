"""What editors do to quotations: an ellipsis for what was left out, brackets for what was put in or changed."""

from __future__ import annotations

import re
from typing import NamedTuple

from ibidem.alignment.differences import word_places

_LEFT_OUT = r"[\[(]\s*(?:…|\.\s?\.\s?\.(?:\s?\.)?)\s*[\])]|…|\.\s?\.\s?\.(?:\s?\.)?|⋯|［…］"
_ONE_LETTER = re.compile(r"(?<!\w)\[([^\W\d_])\](?=[^\W\d_])")
_REMARK = re.compile(r"\[\s*(?:sic|sic!|!|\?|recte|emphasis added|my emphasis)\s*\]", re.IGNORECASE)
_CUT = re.compile(rf"(?P<left_out>{_LEFT_OUT})|(?P<put_in>\[[^\[\]]{{0,200}}\])", re.DOTALL)


class QuotedPart(NamedTuple):
    """A run of words of a quotation, from `start` to `end` in its characters.

    `may_skip` says whether the source may have words between the part before and this one: `any` number of them after an
    ellipsis, a `few` after something in brackets, `none` otherwise.
    """

    start: int
    end: int
    text: str
    may_skip: str


def parts_of(quotation: str) -> list[QuotedPart]:
    """Return the parts of a quotation between ellipses and brackets; parts without words are left out.

    >>> [(part.text, part.may_skip) for part in parts_of("The bridge … stays [until May] closed")]
    [('The bridge ', 'none'), (' stays ', 'any'), (' closed', 'few')]
    """
    parts: list[QuotedPart] = []
    begin, may_skip = 0, "none"
    text = plain(quotation)
    cuts = [(cut.start(), cut.end(), "any" if cut["left_out"] else "few") for cut in _CUT.finditer(text)]
    for start, end, after in [*cuts, (len(text), len(text), "none")]:
        own = text[begin:start]
        if word_places(own):
            parts.append(QuotedPart(begin, start, own, may_skip if parts else "none"))
            may_skip = after
        elif may_skip != "any":
            may_skip = after
        begin = end
    return parts


def plain(quotation: str) -> str:
    """Return a quotation of the same length, with remarks as spaces, and brackets around single letters as soft hyphens, which
    words ignore.
    """
    text = _REMARK.sub(lambda match: " " * len(match[0]), quotation)
    return _ONE_LETTER.sub(lambda match: f"\u00ad{match[1]}\u00ad", text)
