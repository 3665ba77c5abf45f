"""The texts of families, for display and for search.

A family is searched by its longest place, whatever is between the words. The index of `view.sqlite` knows which families have
all groups of three letters of a term; whether they have the term itself is looked up in their texts.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

FEWEST_INDEXED_CHARS = 3
MOST_FAMILY_CHARS = 2_000  # displayed
_MOST_SEARCHED_CHARS = 20_000
_TERMS_CACHED = 64
_COLUMNS = ("number", "document", "start", "end", "text")
_PLACES = 'SELECT number, document, start, "end", text FROM families'
_IN_ORDER = "ORDER BY document, start, number"

Rows = Callable[[str, list[Any]], Sequence[Any]]


class FamilyTexts:
    """Reads families through `rows`, and the texts of documents through `text_of`, for any thread."""

    def __init__(self, rows: Rows, text_of: Callable[[int], str]) -> None:
        self._rows, self._text_of = rows, text_of
        self.holding = lru_cache(maxsize=_TERMS_CACHED)(self._holding)

    def text(self, row: sqlite3.Row | dict[str, Any], most_chars: int) -> str:
        """Return the beginning of a family's text; empty if it is not available."""
        if row["text"] is not None:
            return str(row["text"])[:most_chars]
        if row["document"] is None:
            return ""
        return self._text_of(row["document"])[row["start"] : min(row["end"], row["start"] + most_chars)]

    def beginning(self, number: int) -> str:
        """Return the beginning of a family's text by its number; empty if it is not available."""
        (row,) = self._rows(f"{_PLACES} WHERE number = ?", [number])
        return self.text(dict(zip(_COLUMNS, row, strict=True)), MOST_FAMILY_CHARS)

    def searched(self) -> Iterator[tuple[int, str]]:
        """Yield all families with their words, as they are indexed."""
        return self._words(self._rows(f"{_PLACES} {_IN_ORDER}", []))

    def _holding(self, term: str) -> str:
        """Return the numbers of the families whose words contain a term, in any case, as a JSON list."""
        term = " ".join(term.split())
        if len(term) < FEWEST_INDEXED_CHARS:
            rows = self._rows(f"{_PLACES} {_IN_ORDER}", [])
        else:
            found = [row[0] for row in self._rows("SELECT rowid FROM words WHERE words MATCH ?", [trigrams(term)])]
            if len(term) == FEWEST_INDEXED_CHARS:
                return json.dumps(found)
            rows = self._rows(f"{_PLACES} WHERE number IN (SELECT value FROM json_each(?)) {_IN_ORDER}", [json.dumps(found)])
        folded = term.casefold()
        return json.dumps([number for number, words in self._words(rows) if folded in words.casefold()])

    def _words(self, rows: Sequence[Any]) -> Iterator[tuple[int, str]]:
        of, text = None, ""
        for number, document, start, end, stored in rows:
            if stored is None and document is not None and document != of:
                of, text = document, self._text_of(document)
            passage = stored or ("" if document is None else text[start:end])
            if words := " ".join(passage[:_MOST_SEARCHED_CHARS].replace("\0", " ").split()):
                yield number, words


def trigrams(term: str) -> str:
    """Return the query for whatever contains all groups of three letters of a term."""
    groups = dict.fromkeys(term[at : at + FEWEST_INDEXED_CHARS] for at in range(len(term) - FEWEST_INDEXED_CHARS + 1))
    return " AND ".join('"' + group.replace('"', '""') + '"' for group in groups)


def contains(text: str | None, term: str) -> bool:
    """Return whether a text contains a term, in any case."""
    return text is not None and term.casefold() in text.casefold()
