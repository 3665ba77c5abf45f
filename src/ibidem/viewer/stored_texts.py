"""The texts of documents in `view.sqlite`, whole or in part, and which parts are in other documents."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.page_marks import page_starts
from ibidem.sentences.ignored_text import IgnoredText
from ibidem.viewer.database import Connections
from ibidem.viewer.ignored_parts import kept_ignored
from ibidem.viewer.rows import DOCUMENTS, side_of
from ibidem.viewer.shown_texts import cut_alike, shade
from ibidem.viewer.text_blocks import TextPlace, TextReader

Numbers = NDArray[np.int64]
_TEXTS_CACHED = 4  # a document in many pairs is read repeatedly
_DIGESTS_CACHED = 1 << 14
_FAMILIES_CACHED = 512  # the same footers are in document after document
_MOST_SPANS = 200_000  # counted for the shades of one document
MOST_EXCERPT_CHARS = 3_000
_LENGTHS = {"a": "q.a_length", "b": "q.a_length + q.b_longer"}

_GREY = 'SELECT start, "end" FROM repeats WHERE document = ? AND start >= ? AND start < ? ORDER BY start'


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8: whoever has the same file can compare."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class StoredTexts:
    """The texts of documents by number, for any thread."""

    def __init__(self, connections: Connections) -> None:
        self._rows, self._one = connections.rows, connections.one
        self._blocks = TextReader(connections.one)
        self._cached = lru_cache(maxsize=_TEXTS_CACHED)(self._read)
        self._marked = lru_cache(maxsize=_DIGESTS_CACHED)(self._mark)
        self._documents_of = lru_cache(maxsize=_FAMILIES_CACHED)(self._documents_with)

    def whole(self, number: int) -> str:
        """Return the whole text of a document; empty if it is not available."""
        return self._cached(number)

    def located(self, number: int, start: int, end: int) -> dict[str, Any]:
        """Return what evidence says of a place: where it is, on which page if there are pages, and the digest of the text."""
        digest, pages = self._marked(number)
        return {"start": start, "end": end, "page": bisect_right(pages, start) or None, "sha256": digest}

    def page(self, number: int, place: int) -> int | None:
        """Return the page of a character; None if the document has no pages or its text is not available."""
        return bisect_right(self._marked(number)[1], place) or None

    def pages(self, number: int) -> tuple[int, ...]:
        """Return where the pages of a document begin; none if it has no pages or its text is not available."""
        return self._marked(number)[1]

    def _mark(self, number: int) -> tuple[str | None, tuple[int, ...]]:
        text = self.whole(number)
        return text_digest(text) if text else None, tuple(page_starts(text))

    def known(self, number: int) -> str:
        """Return the text of a document, or the stored parts with NUL in between, so that offsets still match."""
        text = self.whole(number)
        if text:
            return text
        known, end = [], 0
        for piece in self._pieces(number):
            known += ["\0" * (piece["start"] - end), piece["text"]]
            end = piece["start"] + len(piece["text"])
        return "".join(known)

    def excerpt(self, number: int, start: int, end: int) -> str:
        """Return the beginning of a stretch of a document, as far as it is known."""
        return self.known(number)[start : min(end, start + MOST_EXCERPT_CHARS)].strip("\0")

    def excerpts(self, places: Iterable[tuple[int, int, int]]) -> tuple[list[str], bool]:
        """Return the same for several places of one passage, long ones cut after the same number of words, and whether any was.

        A place is a document with start and end.
        """
        places = list(places)
        texts = [self.excerpt(*place) for place in places]
        is_cut = [end - start > MOST_EXCERPT_CHARS for _, start, end in places]
        return cut_alike(texts, is_cut), any(is_cut)

    def shown(self, number: int, segments: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a document's text in the given segments; without any, in the stored texts of passages."""
        row = self._one(f"{DOCUMENTS} WHERE d.number = ?", [number])
        assert row is not None
        if not segments:
            segments = [dict(piece) for piece in self._pieces(number)]
        grey = [
            place
            for segment in segments
            for place in self._rows(_GREY, [number, segment["start"], segment["start"] + len(segment["text"])])
        ]
        ends = [(segment["start"], segment["start"] + len(segment["text"])) for segment in segments]
        ignored = [
            place for place in self._ignored_in(number) if any(place[0] < end and place[1] > start for start, end in ends)
        ]
        is_complete = len(segments) == 1 and segments[0]["start"] == 0 and len(segments[0]["text"]) == row["n_chars"]
        return {
            **side_of(row["number"], row["id"], row["time"], row["group_name"], row["title"], row["n_chars"]),
            "segments": segments,
            "is_complete": is_complete,
            "boilerplate": [list(place) for place in grey],
            "ignored": ignored,
            "pages": list(self.pages(number)),
            "sha256": self._marked(number)[0],
        }

    @cached_property
    def _ignored(self) -> IgnoredText | None:
        return kept_ignored(self._one)

    def _ignored_in(self, number: int) -> list[list[int]]:
        text = "" if self._ignored is None else self.whole(number)
        return [] if self._ignored is None or not text else [list(place) for place in self._ignored.spans(text)]

    def spans(self, number: int) -> Numbers:
        """Return the parts of a document that appear elsewhere, as rows: start, end, other document.

        A repeat group is in all its documents.
        """
        parts = []
        for side, other in (("a", "b"), ("b", "a")):
            rows = self._rows(
                f"SELECT q.{side}_start, q.{side}_start + {_LENGTHS[side]}, p.{other} "
                "FROM pairs p JOIN passages q ON q.pair = p.number "
                f"WHERE p.{side} = ? AND p.a <> p.b LIMIT {_MOST_SPANS}",
                [number],
            )
            parts.append(np.array([tuple(row) for row in rows], np.int64).reshape(-1, 3))
        room = _MOST_SPANS
        for start, end, family in self._rows('SELECT start, "end", family FROM repeats WHERE document = ?', [number]):
            others = self._documents_of(family)
            others = others[others != number][: max(room, 0)]
            room -= len(others)
            parts.append(np.stack([np.full(len(others), start), np.full(len(others), end), others], axis=1))
        return np.concatenate(parts)

    def _documents_with(self, family: int) -> Numbers:
        rows = self._rows("SELECT DISTINCT document FROM places WHERE family = ?", [family])
        return np.array([document for (document,) in rows], np.int64)

    def shades(self, number: int) -> list[dict[str, int]]:
        """Return which sentences of a document are in others, and in how many."""
        text = self.whole(number)
        return shade(text, self.spans(number)) if text else []

    def _read(self, number: int) -> str:
        row = self._one("SELECT block, first, last FROM documents WHERE number = ?", [number])
        return "" if row is None or row["block"] is None else self._blocks.read(TextPlace(*row))

    def _pieces(self, number: int) -> list[dict[str, Any]]:
        """Return the stored texts of passages, without overlap."""
        pieces: list[dict[str, Any]] = []
        end = 0
        for row in self._rows("SELECT start, text FROM pieces WHERE document = ? ORDER BY start", [number]):
            start, text = row
            if pieces and start < end:
                start, text = end, text[end - start :]
            if text:
                pieces.append({"start": start, "text": text})
                end = start + len(text)
        return pieces
