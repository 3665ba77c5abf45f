"""Excerpts: the first readable words of a text, on one line.

Marked-up texts begin with tags, front matter, tables of links or code, which tell a reader nothing. An excerpt begins after
them, if prose follows; the places of passages stay what they are.
"""

from __future__ import annotations

import re

_MOST_SKIPPED_CHARS = 1_500
_LEAST_PROSE_SHARE = 0.4  # of the characters of a line: letters outside markup
_FRONT_MATTER = re.compile(r"\s*(---|\+\+\+)\s*\n.*?\n\1\s*\n", re.DOTALL)
_FENCE = re.compile(r"\s*(```|~~~)")
_TAG = r"</?[A-Za-z](?:[^<>\"']|\"[^\"<>]*\"|'[^'<>]*')*>|<!--.*?-->|<![A-Z][^<>]*>|<\?[^<>]*>"
_TEMPLATE = r"\{\{[^{}]*\}\}|\{%[^{}]*%\}"
_NOTICE = r"\[![A-Z]+\]"  # of a quotation that is set apart
# Names of tags that excerpts leave out: anything else in angle brackets may be a word of the text.
_NAMES = (
    "a|abbr|article|aside|b|blockquote|body|br|button|caption|center|cite|code|dd|del|details|dfn|div|dl|dt|em|figcaption|figure|"
    "font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|kbd|label|li|link|main|mark|meta|nav|ol|option|p|pre|q|s|"
    "samp|script|section|select|small|source|span|strong|style|sub|summary|sup|table|tbody|td|tfoot|th|thead|title|tr|tt|u|ul|var|video"
)
# What a text may begin with: also the rest of a tag, and the marks of headings, lists, quotations and rules.
_LEADING = re.compile(rf"(?:/?(?:{_NAMES})>)?(?:\s|{_TAG}|{_TEMPLATE}|{_NOTICE}|[*=_~#|>.:-])+", re.DOTALL)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)")
_MARKUP = re.compile(rf"{_TAG}|{_TEMPLATE}|{_NOTICE}|!?\[[^\[\]]*\]\([^()]*\)|`[^`]*`|https?://\S+", re.DOTALL)
_HTML = re.compile(rf"</?(?:{_NAMES})(?:\s(?:[^<>\"']|\"[^\"<>]*\"|'[^'<>]*')*)?/?>|<!--.*?-->", re.DOTALL | re.IGNORECASE)


def excerpt(text: str, most: int) -> str:
    """Return the first readable words of a text on one line, cut between words if it has spaces.

    Tags of HTML and the targets of links are left out.
    """
    rest = text[prose_start(text) :]
    some = rest[: 8 * most]
    words = _line(_LINK.sub(r"\1", _HTML.sub(" ", some))) or _line(some)
    if len(words) <= most:
        return words if len(some) == len(rest) else f"{words}…"
    cut = words[:most]
    space = cut.rfind(" ")
    return (cut[:space] if space > most // 2 else cut).rstrip(" ,.;:–—-") + "…"


def prose_start(text: str) -> int:
    """Return where the first words begin that are not markup or code; 0 if no prose is near the beginning."""
    text = text[: 2 * _MOST_SKIPPED_CHARS]
    front = _FRONT_MATTER.match(text)
    at = front.end() if front else 0
    is_code = False
    while at < min(len(text), _MOST_SKIPPED_CHARS):
        start = _after_marks(text, at)
        following = text.find("\n", start) + 1 or len(text)
        line = text[start:following]
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code and _is_prose(line):
            return start
        at = following
    start = _after_marks(text, 0)
    return start if start < len(text) else 0


def _line(text: str) -> str:
    return " ".join(text.split())


def _after_marks(text: str, at: int) -> int:
    leading = _LEADING.match(text, at)
    return leading.end() if leading else at


def _is_prose(line: str) -> bool:
    n_letters = sum(map(str.isalpha, _MARKUP.sub(" ", line)))
    return n_letters > 0 and n_letters >= _LEAST_PROSE_SHARE * sum(not character.isspace() for character in line)
