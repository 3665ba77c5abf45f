"""The results as flat tables: every row says which documents it is about, when they appeared, and what they say.

Rows are read from the views one by one. The strongest pairs come first, passages in the order of their pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ibidem.errors import UsageError
from ibidem.viewer.rows import DOCUMENTS, PAIRS, document_of, family_of, flat_pair, pair_of, passage_of, time_of
from ibidem.viewer.store import ViewStore

_TEXTS_CACHED = 16
_MOST_FAMILY_CHARS = 2_000
STRONGEST_FIRST = "ORDER BY p.interest DESC, p.number DESC"
LARGEST_FIRST = "ORDER BY f.n_documents * f.n_chars DESC, f.number"
_SIDES = ", ".join(
    f"{s}.id AS {s}_id, {s}.time AS {s}_time, g{s}.name AS {s}_group, {s}.title AS {s}_title, {s}.number AS {s}_document"
    for s in "ab"
)
_PASSAGES = f"""
  SELECT q.*, p.number AS pair_number, {_SIDES} FROM pairs p JOIN passages q ON q.pair = p.number
  JOIN documents a ON a.number = p.a JOIN documents b ON b.number = p.b
  LEFT JOIN groups ga ON ga.number = a."group" LEFT JOIN groups gb ON gb.number = b."group"
  {STRONGEST_FIRST}, q.number
"""
_PLACES = f"""
  SELECT f.number AS family, d.id, d.time, g.name AS group_name, d.title, m.start, m."end", d.number AS document
  FROM families f JOIN places m ON m.family = f.number JOIN documents d ON d.number = m.document
  LEFT JOIN groups g ON g.number = d."group" {LARGEST_FIRST}, m.document, m.start
"""
# The columns of each table, in order.
COLUMNS: dict[str, tuple[str, ...]] = {
    "pairs": (
        "pair", "a_id", "a_time", "a_group", "a_title", "a_n_chars", "b_id", "b_time", "b_group", "b_title", "b_n_chars",
        "n_passages", "shared", "longest", "similarity", "coverage_a", "coverage_b", "kind", "direction", "days", "year",
        "verdict", "note",
    ),
    "passages": (
        "pair", "number", "family", "a_id", "a_time", "a_group", "a_title", "a_start", "a_end", "a_page", "a_text", "b_id",
        "b_time", "b_group", "b_title", "b_start", "b_end", "b_page", "b_text", "n_sentences", "similarity", "kind",
        "direction",
    ),
    "families": (
        "family", "n_documents", "n_places", "n_groups", "n_chars", "first_time", "last_time", "is_repeat", "text",
    ),
    "places": ("family", "id", "time", "group", "title", "start", "end", "page", "text"),
    "documents": (
        "id", "time", "group", "title", "is_reference", "n_chars", "n_sentences", "reused_share", "first_share", "cluster",
        "n_pairs",
    ),
}  # fmt: skip
TIMES = frozenset({"time", "a_time", "b_time", "first_time", "last_time"})


class FlatTables:
    """The tables of one run."""

    def __init__(self, store: ViewStore) -> None:
        self.store = store
        self.summary: dict[str, Any] = store.summary()
        self.text = lru_cache(maxsize=_TEXTS_CACHED)(store.texts.known)

    @property
    def is_against(self) -> bool:
        """Whether documents were compared with those of a reference."""
        return bool(self.summary["is_against"])

    @property
    def has_passages(self) -> bool:
        """Whether the run located passages: `cluster` does not."""
        return self.summary["totals"]["passages"] is not None

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a table, with the columns that `COLUMNS` lists, and numbers of documents beside them."""
        return {
            "pairs": self._pairs, "passages": self._passages, "families": self._families, "places": self._places,
            "documents": self._documents,
        }[table]()  # fmt: skip

    def count(self, table: str) -> int:
        """Return how many rows a table has."""
        (row,) = self.store.stream(f"SELECT COUNT(*) FROM {table}")
        return int(row[0])

    def cut(self, document: int, start: int, end: int) -> str | None:
        """Return a stretch of a document; None if its text is not available."""
        return self.text(document)[start:end].strip("\0") or None

    def page(self, document: int, place: int) -> int | None:
        """Return the page of a character; None if the document has no pages."""
        return self.store.texts.page(document, place) if self.summary["has_pages"] else None

    def need_passages(self, form: str) -> None:
        """Raise unless the run located passages."""
        if not self.has_passages:
            raise UsageError(
                f"{form} lists passages, and this run of cluster has none", "Run `ibidem find`, or export xlsx, csv or gexf."
            )

    def _pairs(self) -> Iterator[dict[str, Any]]:
        for row in self.store.stream(f"{PAIRS} {STRONGEST_FIRST}"):
            pair = pair_of(row)
            yield flat_pair(pair) | {f"{side}_document": pair[side]["document"] for side in "ab"}

    def _passages(self) -> Iterator[dict[str, Any]]:
        for row in self.store.stream(_PASSAGES):
            names = ("a_id", "a_group", "a_title", "a_document", "b_id", "b_group", "b_title", "b_document")
            found = {"pair": row["pair_number"], **passage_of(row), **{name: row[name] for name in names}}
            for side in "ab":
                found[f"{side}_time"] = time_of(row[f"{side}_time"])
                found[f"{side}_page"] = self.page(row[f"{side}_document"], found[f"{side}_start"])
                found[f"{side}_text"] = self.cut(row[f"{side}_document"], found[f"{side}_start"], found[f"{side}_end"])
            yield found

    def _families(self) -> Iterator[dict[str, Any]]:
        for row in self.store.stream(f"SELECT f.* FROM families f {LARGEST_FIRST}"):
            text = self.store.families_texts.text(row, _MOST_FAMILY_CHARS)
            yield {**family_of(row, text), "text": text or None}

    def _places(self) -> Iterator[dict[str, Any]]:
        for row in self.store.stream(_PLACES):
            names = ("family", "id", "title", "start", "end", "document")
            text = self.cut(row["document"], row["start"], row["end"])
            place = {name: row[name] for name in names} | {"page": self.page(row["document"], row["start"])}
            yield place | {"group": row["group_name"], "time": time_of(row["time"]), "text": text}

    def _documents(self) -> Iterator[dict[str, Any]]:
        for row in self.store.stream(f"{DOCUMENTS} ORDER BY d.number"):
            yield document_of(row) | {"first_share": row["first_share"]}  # as in the table of the run


def later_side(passage: dict[str, Any], is_against: bool) -> str:
    """Return which side of a passage is the copy: the later one, or the checked one; if nothing is known, a."""
    return "b" if not is_against and passage["direction"] == "a_to_b" else "a"
