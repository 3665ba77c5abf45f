"""Claims: quotations as they appear in files, with their line and the source that they are attributed to, if any."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ibidem.alignment.differences import word_places
from ibidem.columns.page_marks import PageMap
from ibidem.errors import InputError
from ibidem.index.quotations import FEWEST_WORDS

# An opening mark, and the one that closes it; the same straight mark does both.
_MARKS = {
    "“": "”", "„": "“”", "«": "»", "»": "«", "‹": "›", "「": "」", "『": "』", "《": "》", "＂": "＂", '"': '"', "”": "”",
}  # fmt: skip
_SINGLE = re.compile(r"(?<!\w)‘(?P<text>[^‘\n]{8,2000}?)’(?!\w)")
_MOST_CHARS = 5_000
_NAMED = r"\[\^(?P<note>[^\]\s]+)\]|\[@(?P<cited>[^\]\s,;]+)[^\]]*\]|\((?P<named>[^()\n]{1,300})\)"
_ATTRIBUTION = re.compile(rf"[.,;:!?]?\s{{0,2}}(?:{_NAMED})")
_FOOTNOTE = re.compile(r"^\[\^(?P<note>[^\]\s]+)\]:[ \t]*(?P<text>.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_BLOCK = re.compile(r"(?:^[ \t]{0,3}>.*\n?)+", re.MULTILINE)
_QUOTATION_FIELDS = ("quotation", "quote", "text")


@dataclass(frozen=True)
class Claim:
    """A quotation, the line (0 if that is unknown) and the page it begins on, and the document it is attributed to, by id."""

    quotation: str
    line: int
    source: str | None = None
    page: int | None = None


def claims_of(text: str, name: str, is_known: Callable[[str], bool]) -> list[Claim]:
    """Return the claims of a file: JSON lines, or text and Markdown with quotation marks.

    `is_known` says whether there is a document of an id: only such a name is a source. Pages are those marked in the text.
    """
    if name.lower().endswith((".jsonl", ".ndjson")):
        return list(_of_records(text, name))
    notes = {match["note"]: match["text"] for match in _FOOTNOTE.finditer(text)}
    body = _FOOTNOTE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    pages = PageMap(text)
    return [
        Claim(quotation, 1 + text.count("\n", 0, start), _source(body[end : end + 400], notes, is_known), pages.place(start)[0])
        for start, end, quotation in _quoted(body)
    ]


def _of_records(text: str, name: str) -> Iterator[Claim]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise InputError(f"{name}, line {number}: {error}", "Each line must be a JSON object.") from None
        field = next((f for f in _QUOTATION_FIELDS if isinstance(record, dict) and isinstance(record.get(f), str)), None)
        source = record.get("source") if isinstance(record, dict) else None
        if field is None or not isinstance(source, str | None):
            step = "Each line needs a field quotation, and may have a field source, the id of a document: both are strings."
            raise InputError(f"{name}, line {number}: there is no quotation", step)
        yield Claim(record[field], number, source)


def _quoted(text: str) -> list[tuple[int, int, str]]:
    """Return where quotations of enough words are, and what they say: those in quotation marks, and quoted blocks."""
    found: list[tuple[int, int, str]] = []
    for block in _BLOCK.finditer(text):
        own = re.sub(r"^[ \t]{0,3}>[ \t]?", "", block[0], flags=re.MULTILINE).strip()
        found.append((block.start(), block.end(), own))
    at = 0
    while at < len(text):
        closing = _MARKS.get(text[at])
        inside = next((end for start, end, _ in found if start <= at < end), None)
        if inside is not None:
            at = inside
            continue
        end = -1 if closing is None else _closing(text, at, closing)
        if end < 0:
            at += 1
            continue
        found.append((at, end + 1, text[at + 1 : end]))
        at = end + 1
    found += [
        (m.start(), m.end(), m["text"]) for m in _SINGLE.finditer(text) if not any(s <= m.start() < e for s, e, _ in found)
    ]
    return sorted(each for each in found if len(word_places(each[2])) >= FEWEST_WORDS)


def _closing(text: str, start: int, closing: str) -> int:
    """Return where a quotation ends that begins with a mark; -1 if it does not end in its paragraph."""
    if text[start] in closing and (start and text[start - 1].isalnum()):
        return -1  # it closes something
    paragraph = re.compile(r"\n[ \t]*\n").search(text, start)
    limit = min(start + _MOST_CHARS, len(text) if paragraph is None else paragraph.start())
    ends = [end for mark in closing if (end := text.find(mark, start + 1, limit)) >= 0]
    return min(ends, default=-1)


def _source(after: str, notes: dict[str, str], is_known: Callable[[str], bool]) -> str | None:
    """Return the document that the words after a quotation name: in a footnote, a citation or in parentheses."""
    named = _ATTRIBUTION.match(after)
    if named is None:
        return None
    if named["cited"]:
        return str(named["cited"])  # a key says that there is a source, known or not
    text = notes.get(named["note"], "") if named["note"] else named["named"]
    whole = text.strip().strip(".")
    words = (word.strip(".,;:()[]<>\"'“”`") for word in text.split())
    return next((each for each in (whole, *words) if each and is_known(each)), None)
