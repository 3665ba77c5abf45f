"""Views, read from `view.sqlite` page by page: only the requested page is in memory."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from ibidem.errors import ResourceError
from ibidem.viewer.database import Connections
from ibidem.viewer.family_texts import MOST_FAMILY_CHARS, FamilyTexts, contains
from ibidem.viewer.pair_details import add_snippets, counted_again
from ibidem.viewer.queries import (
    MOST_ROWS,
    VERDICTS,
    DocumentQuery,
    FamilyQuery,
    Pages,
    PairQuery,
    check_limit,
    read_cursor,
    where_of,
    write_cursor,
)
from ibidem.viewer.rows import (
    DOCUMENTS,
    JUDGED_PAIRS,
    PAIRS,
    STORED_VERDICTS,
    document_of,
    family_of,
    flat_pair,
    pair_of,
    passage_of,
    time_of,
)
from ibidem.viewer.shown_texts import aligned, around, mark_changes, shade, shades_in, variants_of
from ibidem.viewer.stored_texts import StoredTexts
from ibidem.viewer.story_cards import StoryCards, place_order
from ibidem.viewer.stretches import stretches_of

MOST_PASSAGES = 50_000  # shown per pair: more than any page can draw
_MOST_PLACES = 200  # shown per family
MOST_ARROWS = 400


class ViewStore:
    """Pairs, documents, families and what was left out, for any thread. Verdicts are stored in a file beside it.

    Verdicts are keyed by the ids of the two documents, in either order, so that they also apply to later runs. They can be set
    if `may_judge` is true. No query may take more than `most_seconds` of processor time, if that is given.
    """

    def __init__(self, path: Path, verdicts: Path | None, may_judge: bool = False, most_seconds: float | None = None) -> None:
        self._connections = Connections(path, verdicts, most_seconds)
        self.may_judge = may_judge
        self._rows, self._one = self._connections.rows, self._connections.one
        self._pages = Pages(self._connections)
        self.texts = StoredTexts(self._connections)
        self.families_texts = FamilyTexts(self._rows, self.texts.whole)
        self._connections.functions.update(families_with=self.families_texts.holding, contains=contains)
        self._meta = {name: json.loads(value) for name, value in self._rows("SELECT name, value FROM meta")}
        has_groups, is_against = (bool(self._meta["summary"][name]) for name in ("has_groups", "is_against"))
        self._stories = StoryCards(self._connections, self.texts, self.families_texts, has_groups, is_against)

    def close(self) -> None:
        """Close the files."""
        self._connections.close()

    def summary(self) -> dict[str, Any]:
        """Return a description of the run and how much it found."""
        summary: dict[str, Any] = self._meta["summary"]
        totals = summary["totals"]
        shown = {"pairs": totals["pairs"], "documents": totals["documents"], "families": totals["families"]}
        return {**summary, "facets": self._facets(), "shown": shown}

    def front(self) -> dict[str, Any]:
        """Return what the front page tells: headline, facts, and who took text from whom."""
        front: dict[str, Any] = self._meta["front"]
        return front

    def story_page(self, cursor: str | None, limit: int, is_folded: bool = False) -> dict[str, Any]:
        """Return a page of story cards, or of texts that stay in one outlet and boilerplate."""
        return self._stories.page(cursor, limit, is_folded)

    def distributions(self) -> dict[str, Any]:
        """Return the distributions of similarity, coverage and longest passage over all pairs."""
        distributions: dict[str, Any] = self._meta["distributions"]
        return distributions

    def distributions_of(self, query: PairQuery) -> dict[str, Any]:
        """Return the same for the pairs that match a query, whatever the cut-off of the distribution itself.

        So the bars above a cut-off are the pairs in the list.
        """
        return counted_again(self.distributions(), query, self._rows) if query.conditions() else self.distributions()

    def pairs(self, query: PairQuery) -> dict[str, Any]:
        """Return a page of pairs, each with the first words of its largest passage."""
        page = self._pages.page(query, "pairs p", PAIRS, pair_of)
        add_snippets(page["items"], self._rows, self.texts)
        return page

    def pairs_by_number(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """Return pairs in the order of their numbers as they are given, each once."""
        found = {number: self.pair_summary(number) for number in dict.fromkeys(numbers)}
        return [pair for pair in found.values() if pair is not None]

    def by_interest(self, numbers: Sequence[int]) -> list[int]:
        """Return numbers of pairs, the most interesting pair first."""
        order = "ORDER BY interest DESC, number DESC"
        rows = self._rows(
            f"SELECT number FROM pairs WHERE number IN (SELECT value FROM json_each(?)) {order}", [json.dumps(numbers)]
        )
        return [number for (number,) in rows]

    def flow(self, query: PairQuery, most: int = MOST_ARROWS) -> dict[str, Any]:
        """Return the pairs that share most among those that match a query."""
        where, values = where_of(query.conditions())
        keys = self._rows(
            f"SELECT p.number FROM pairs p {where} ORDER BY p.shared DESC, p.number DESC LIMIT ?", [*values, most]
        )
        numbers = [number for (number,) in keys]
        rows = self._rows(f"{PAIRS} WHERE p.number IN (SELECT value FROM json_each(?))", [json.dumps(numbers)])
        found = {row["number"]: pair_of(row) for row in rows}
        return {"items": [found[number] for number in numbers], "total": self._pages.total(query, "pairs p")}

    def pair_summary(self, number: int) -> dict[str, Any] | None:
        """Return one pair."""
        row = self._one(f"{PAIRS} WHERE p.number = ?", [number])
        if row is None:
            return None
        pair = pair_of(row)
        add_snippets([pair], self._rows, self.texts)
        return pair

    def pair(self, number: int, with_texts: bool = True, most_passages: int = MOST_PASSAGES) -> dict[str, Any] | None:
        """Return one pair with its passages and both texts."""
        pair = self.pair_summary(number)
        if pair is None:
            return None
        rows = self._rows("SELECT * FROM passages WHERE pair = ? ORDER BY number LIMIT ?", [number, most_passages])
        passages = [passage_of(row) for row in rows]
        texts = {side: self.texts.known(pair[side]["document"]) for side in "ab"}
        if not pair["n_passages"]:  # a pair of duplicates, whose passages were not located
            passages = aligned(texts["a"], texts["b"])[:most_passages]
        compared = mark_changes(passages, texts["a"], texts["b"])
        found: dict[str, Any] = {"pair": pair, "passages": passages, "n_passages": max(pair["n_passages"], len(passages))}
        found["stretches"] = stretches_of(passages, texts["a"], texts["b"], compared)
        if with_texts:
            for side in "ab":
                spans = [(p[f"{side}_start"], p[f"{side}_end"]) for p in passages]
                document = pair[side]["document"]
                found[side] = self.texts.shown(document, around(self.texts.whole(document), spans))
        return found

    def documents(self, query: DocumentQuery) -> dict[str, Any]:
        """Return a page of documents."""
        return self._pages.page(query, "documents d", DOCUMENTS, document_of)

    def document(self, number: int) -> dict[str, Any] | None:
        """Return one document, shaded by how many others contain each sentence, and its pairs."""
        row = self._one(f"{DOCUMENTS} WHERE d.number = ?", [number])
        if row is None:
            return None
        text = self.texts.whole(number)
        spans = self.texts.spans(number)
        shown = self.texts.shown(number, around(text, np.unique(spans[:, :2], axis=0).tolist()))
        pairs = self.pairs(PairQuery(document=number, sort="shared", limit=100))
        return {
            "document": document_of(row),
            "text": shown,
            "shades": shades_in(shade(text, spans) if text else [], shown["segments"]),
            "pairs": pairs["items"],
            "n_pairs": pairs["total"],
        }

    def sides_by_id(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        """Return details of documents by id; ids that are not in the results are left out."""
        found: dict[str, dict[str, Any]] = {}
        for begin in range(0, len(ids), MOST_ROWS):
            some = ids[begin : begin + MOST_ROWS]
            for row in self._rows(f"{DOCUMENTS} WHERE d.id IN ({', '.join('?' * len(some))}) ORDER BY d.number DESC", some):
                record = document_of(row)
                found[record["id"]] = {name: record[name] for name in ("document", "title", "group", "time")}
        return found

    def n_chars_in_pairs(self) -> int:
        """Return how many characters the documents that are in pairs have together, as far as is known."""
        return int(self._rows("SELECT SUM(n_chars) FROM documents WHERE n_pairs > 0")[0][0] or 0)

    def document_summary(self, number: int) -> dict[str, Any]:
        """Return one document without its text."""
        row = self._one(f"{DOCUMENTS} WHERE d.number = ?", [number])
        assert row is not None
        return document_of(row)

    def families(self, query: FamilyQuery) -> dict[str, Any]:
        """Return a page of families."""
        return self._pages.page(query, "families f", "SELECT f.* FROM families f", self._family_of)

    def family(self, number: int, most_places: int = _MOST_PLACES) -> dict[str, Any] | None:
        """Return one family: its wordings and where they appear, earliest first."""
        row = self._one("SELECT * FROM families WHERE number = ?", [number])
        if row is None:
            return None
        is_against = bool(self._meta["summary"]["is_against"])
        places = self._rows(
            'SELECT p.document, p.start, p."end", d.id, d.time, d.title, g.name AS group_name FROM places p '
            'JOIN documents d ON d.number = p.document LEFT JOIN groups g ON g.number = d."group" '
            f"WHERE p.family = ? ORDER BY {place_order(is_against)} LIMIT ?",
            [number, most_places],
        )
        members = [
            {
                "document": p["document"], "id": p["id"], "time": time_of(p["time"]), "group": p["group_name"],
                "title": p["title"], **self.texts.located(p["document"], p["start"], p["end"]),
            }
            for p in places
        ]  # fmt: skip
        text = self.families_texts.text(row, MOST_FAMILY_CHARS)
        excerpts, is_cut = self.texts.excerpts((m["document"], m["start"], m["end"]) for m in members)
        return {
            "family": self._family_of(row),
            "variants": variants_of(members, [excerpt or text for excerpt in excerpts], is_against, is_cut),
            "n_shown_places": len(members),
            "is_cut": is_cut,
        }

    def _family_of(self, row: sqlite3.Row) -> dict[str, Any]:
        return family_of(row, self.families_texts.text(row, MOST_FAMILY_CHARS))

    def skipped(self, cursor: str | None, limit: int) -> dict[str, Any]:
        """Return a page of the records that were left out."""
        check_limit(limit)
        after = -1 if cursor is None else read_cursor(cursor)[1]
        rows = self._rows("SELECT * FROM skipped WHERE number > ? ORDER BY number LIMIT ?", [after, limit + 1])
        return self._cut([dict(row) for row in rows], limit, self._pages.count("skipped", "", ()), drop="number")

    def verdicts(self, cursor: str | None, limit: int) -> dict[str, Any]:
        """Return a page of verdicts on pairs, by ids."""
        check_limit(limit)
        after = 0 if cursor is None else max(0, read_cursor(cursor)[1])
        rows = self._rows(f"{STORED_VERDICTS} ORDER BY first_id, second_id LIMIT ? OFFSET ?", [limit + 1, after])
        (total,) = self._rows("SELECT COUNT(*) FROM judged.verdicts")[0]
        items = [dict(row) for row in rows]
        return {
            "items": items[:limit],
            "total": total,
            "next": write_cursor(None, after + limit) if len(items) > limit else None,
        }

    def judged(self) -> tuple[list[sqlite3.Row], list[sqlite3.Row], int]:
        """Return the pairs with verdicts, the passages of these, and how many verdicts there are in all, of other runs too."""
        judged = f"SELECT number, verdict FROM ({JUDGED_PAIRS}) WHERE verdict IS NOT NULL"
        pairs = self._rows(
            f"SELECT p.number, v.verdict, p.distance, a.n_chars AS a_chars, b.n_chars AS b_chars FROM ({judged}) v "
            "JOIN pairs p ON p.number = v.number JOIN documents a ON a.number = p.a JOIN documents b ON b.number = p.b "
            "ORDER BY p.number"
        )
        passages = self._rows(f"SELECT * FROM passages WHERE pair IN (SELECT number FROM ({judged})) ORDER BY pair, number")
        (n_verdicts,) = self._rows("SELECT COUNT(*) FROM judged.verdicts WHERE verdict IS NOT NULL")[0]
        return pairs, passages, n_verdicts

    def set_verdict(self, number: int, verdict: str | None, note: str) -> dict[str, Any] | None:
        """Save a verdict on a pair and return the pair; None if there is no such pair."""
        if verdict is not None and verdict not in VERDICTS:
            raise ValueError(f"verdict must be one of {', '.join(VERDICTS)}, not {verdict!r}")
        pair = self.pair_summary(number)
        if pair is None:
            return None
        if not self.may_judge:
            raise ResourceError("verdicts cannot be saved here", "Serve a copy of the results in a writable folder.")
        ids = [pair["a"]["id"], pair["b"]["id"]]
        values: list[Any] = ids if self._meta["summary"]["is_against"] else sorted(ids)
        try:
            if verdict is None and not note:
                self._connections.judge("DELETE FROM verdicts WHERE first_id = ? AND second_id = ?", values)
            else:
                now = datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
                values = [*values, *ids, verdict, note, now]
                self._connections.judge("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        except sqlite3.Error as error:
            raise ResourceError(f"the verdict cannot be saved: {error}", "Check disk space.") from error
        return self.pair_summary(number)

    def rows(self, table: str, query: Any = None) -> Iterator[dict[str, Any]]:
        """Yield all rows of a table that match a query, flat, in its order."""
        kinds: dict[str, tuple[str, Callable[[Any], dict[str, Any]]]] = {
            "pairs": (PAIRS, lambda row: flat_pair(pair_of(row))),
            "documents": (DOCUMENTS, document_of),
            "families": ("SELECT f.* FROM families f", self._family_of),
            "passages": (
                "SELECT q.*, p.a, p.b, a.id AS a_id, b.id AS b_id FROM passages q JOIN pairs p ON p.number = q.pair "
                "JOIN documents a ON a.number = p.a JOIN documents b ON b.number = p.b",
                self._flat_passage,
            ),
            "skipped": ("SELECT source, position, reason, id FROM skipped", dict),
            "verdicts": (STORED_VERDICTS, dict),
        }
        select, tell = kinds[table]
        where, values = where_of(query.conditions()) if query is not None else ("", [])
        order = f"ORDER BY {query.order_by}" if query is not None and table != "passages" else ""
        with closing(self.stream(f"{select} {where} {order}", values)) as rows:
            yield from map(tell, rows)

    def _flat_passage(self, row: sqlite3.Row) -> dict[str, Any]:
        passage = passage_of(row)
        pages: dict[str, int | None] = {"a_page": None, "b_page": None}
        if self._meta["summary"]["has_pages"]:
            pages = {f"{side}_page": self.texts.page(row[side], passage[f"{side}_start"]) for side in "ab"}
        return {"pair": row["pair"], "a_id": row["a_id"], "b_id": row["b_id"], **passage, **pages}

    def stream(self, select: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Generator[sqlite3.Row, None, None]:
        """Yield all rows of a query, however long that takes."""
        # A separate connection: the rows are read while others query, possibly from several threads in turn.
        connection = self._connections.connect()
        try:
            yield from connection.execute(select, values)
        finally:
            connection.close()

    def _facets(self) -> dict[str, Any]:
        verdicts = self._rows(f"SELECT verdict, COUNT(*) FROM ({JUDGED_PAIRS}) WHERE verdict IS NOT NULL GROUP BY verdict")
        n_open = self._pages.count("pairs p", "", ()) - sum(n for _, n in verdicts)
        return {
            **self._meta["facets"],
            "verdicts": [{"verdict": verdict, "n_pairs": n} for verdict, n in (*verdicts, (None, n_open)) if n],
        }

    def _cut(self, items: list[dict[str, Any]], limit: int, total: int, drop: str) -> dict[str, Any]:
        following = write_cursor(None, items[limit - 1][drop]) if len(items) > limit else None
        shown = [{name: value for name, value in item.items() if name != drop} for item in items[:limit]]
        return {"items": shown, "total": total, "next": following}
