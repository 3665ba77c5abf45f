"""Passages for formats that point into texts: where both sides are, with some words around them, and how to name a document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

from ibidem.viewer.exports.flat_tables import FlatTables, later_side

_ABSOLUTE = re.compile(r"(https?|ftp|file|urn|doi|ark):[^\s<>\"{}|\\^`]+")
_UNCHANGED = "/:@!$&'()*,;=~"
_CONTEXT_CHARS = 32


class Place(NamedTuple):
    """One side of a passage. The texts are None if they are not available."""

    document: int
    id: str
    title: str | None
    group: str | None
    time: str | None
    start: int
    end: int
    text: str | None


class PlacedPassage(NamedTuple):
    """A passage: `copy` is the later or the checked side, `source` the other one; `is_known` tells whether times say so."""

    number: int
    copy: Place
    source: Place
    is_known: bool
    kind: str
    similarity: float
    n_sentences: int
    family: int | None


def placed_passages(tables: FlatTables) -> Iterator[PlacedPassage]:
    """Yield all passages, numbered from 1."""
    for number, row in enumerate(tables.rows("passages"), 1):
        later = later_side(row, tables.is_against)
        copy, source = (
            Place(*(row[f"{side}_{name}"] for name in Place._fields)) for side in (later, "b" if later == "a" else "a")
        )
        is_known = tables.is_against or row["direction"] != "unknown"
        yield PlacedPassage(number, copy, source, is_known, row["kind"], row["similarity"], row["n_sentences"], row["family"])


def address_of(doc_id: str, base: str = "") -> str:
    """Return a URI reference for a document: its id if that is a URI, otherwise `base` and the id, escaped."""
    if _ABSOLUTE.fullmatch(doc_id):
        return quote(doc_id, safe=_UNCHANGED + "%?#[]+")
    # The first part of a relative reference must not look like a scheme.
    reference = quote(doc_id, safe=_UNCHANGED + "+")
    return base + (reference.replace(":", "%3A") if not base and ":" in reference.partition("/")[0] else reference)


def words_around(tables: FlatTables, place: Place) -> tuple[str, str]:
    """Return the characters before and after a place; empty if they are not available."""
    text = tables.text(place.document)
    before, after = text[max(0, place.start - _CONTEXT_CHARS) : place.start], text[place.end : place.end + _CONTEXT_CHARS]
    return before.rpartition("\0")[2], after.partition("\0")[0]


def region_of(tables: FlatTables, place: Place) -> dict[str, Any]:
    """Return lines and columns of a place, from 1, and its offset; without lines if the whole text is not available."""
    region: dict[str, Any] = {"charOffset": place.start, "charLength": place.end - place.start}
    text = tables.store.texts.whole(place.document)
    if not text:
        return region
    lines = {}
    for name, offset in (("start", place.start), ("end", place.end)):
        lines[f"{name}Line"] = text.count("\n", 0, offset) + 1
        lines[f"{name}Column"] = offset - (text.rfind("\n", 0, offset) + 1) + 1
    return {**lines, **region}
