"""From the tables of a run to `view.sqlite`: documents, pairs, passages, families, and what was left out."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ibidem.columns.collection import NO_TIME
from ibidem.execution.progress import Progress
from ibidem.model import KINDS
from ibidem.passages.families import Families, Places, Spans, families_of, ranks_of
from ibidem.viewer.database import ANSWER_SCHEMA, INDICES, create
from ibidem.viewer.document_pairs import (
    Numbers,
    PairColumns,
    PassageColumns,
    Shares,
    days_between,
    distributions_of,
    earliest_shares,
    own_chars,
    pair_up,
)
from ibidem.viewer.document_rows import DocumentsAdded
from ibidem.viewer.family_texts import FamilyTexts
from ibidem.viewer.front import FrontPage
from ibidem.viewer.ignored_parts import keep_ignored
from ibidem.viewer.material import Material
from ibidem.viewer.rows import UNIT
from ibidem.viewer.run_description import closest_mirrors, describe_inputs, describe_settings, left_out
from ibidem.viewer.stories import Placed
from ibidem.viewer.text_blocks import TextPlace, TextReader

_ROWS_AT_ONCE = 50_000
_INTEREST_UNIT = 100_000_000
_MOST_FACETS = 200


def build_views(material: Material, path: Path, is_searched: bool = True, progress: Progress | None = None) -> None:
    """Write the file behind the views. Documents are read one by one, never all in memory.

    Without `is_searched`, the word index is left out, which takes half the time: a report is searched in the browser.
    `progress` shows how far it is.
    """
    progress = progress or Progress()
    connection = create(path)
    try:
        connection.execute("BEGIN")
        _Builder(material, connection, is_searched, progress).build()
        connection.execute("COMMIT")
        with progress.stage("view tables"):
            connection.executescript(INDICES)
        connection.execute("INSERT INTO meta VALUES ('facets', ?)", (json.dumps(_facets(connection)),))
    finally:
        connection.close()


class _Builder:
    """Fills the tables one by one; each uses the numbers of earlier ones."""

    def __init__(self, material: Material, connection: sqlite3.Connection, is_searched: bool, progress: Progress) -> None:
        self.is_searched = is_searched
        self.progress = progress
        self.material = material
        self.connection = connection
        self.documents = DocumentsAdded(material, connection)
        self.texts = TextReader(lambda query, values: connection.execute(query, values).fetchone())
        self.family_texts = FamilyTexts(self._rows, self._text_of)
        self.placed: list[Placed] = []
        self.edited: set[int] = set()  # families with a changed wording

    def build(self) -> None:
        """Fill all tables."""
        # A bar that counts documents and families instead of bytes.
        with self.progress.stage("view texts", self.material.run.get("counts", {}).get("documents")):
            self.documents.add_all(lambda: self.progress.add_bytes(1))
        with self.progress.stage("view tables"):
            pairs = self._add_results()
            self._place_texts_of_families()
        if self.is_searched:
            self._index_words()
        self._describe(pairs)

    def _add_results(self) -> PairColumns:
        """Fill the tables of pairs, passages and families; return the pairs."""
        passages, pairs = self._pairs()
        if passages is None:
            self._add_pairs(pairs, pairs.interest)
            self._add_clusters(pairs)
            self._add_repeats(0)
        else:
            found = self._families(passages)
            n_places = np.append(np.diff(found[1].first), 2)[found[2]]  # the last one is for passages without a family
            self._add_pairs(pairs, pairs.interest_of(own_chars(passages, pairs, n_places)))
            self._add_families(passages, pairs, *found)
            shares = earliest_shares(passages, np.array(self.documents.n_chars, np.int64)).tolist()
            rows = ((share, number) for number, share in enumerate(shares))
            self.connection.executemany("UPDATE documents SET earliest_share = ? WHERE number = ?", rows)
        return pairs

    def _pairs(self) -> tuple[PassageColumns | None, PairColumns]:
        n_chars, times = np.array(self.documents.n_chars, np.int64), np.array(self.documents.times, np.int64)
        table = self.material.passages
        if table is None:
            assert self.material.duplicates is not None
            return None, self._duplicates(self.material.duplicates, n_chars, times)
        a, b = self.documents.numbers_of(table["a_id"], False), self.documents.numbers_of(table["b_id"], True)
        passages, pairs = pair_up(PassageColumns.of(table, a, b), n_chars, times)
        for side in ("a", "b"):
            if f"{side}_text" in table.column_names:
                self._add_pieces(a if side == "a" else b, table[f"{side}_start"], table[f"{side}_text"])
        return passages, pairs

    def _add_pieces(self, documents: Numbers, starts: pa.ChunkedArray, texts: pa.ChunkedArray) -> None:
        """Store the texts of passages for documents whose texts are not available."""
        rows = np.flatnonzero(~np.array(self.documents.has_text, bool)[documents])
        lengths = pc.utf8_length(texts).to_numpy()[rows]
        rows = rows[np.argsort(-lengths, kind="stable")]  # of passages with the same start, the longest is stored
        _, longest = np.unique(np.stack([documents[rows], starts.to_numpy()[rows]]), axis=1, return_index=True)
        for row in rows[longest].tolist():
            values = (int(documents[row]), starts[row].as_py(), texts[row].as_py())
            self.connection.execute("INSERT INTO pieces VALUES (?, ?, ?)", values)

    def _duplicates(self, table: pa.Table, n_chars: Numbers, times: Numbers) -> PairColumns:
        a, b = self.documents.numbers_of(table["a_id"], False), self.documents.numbers_of(table["b_id"], True)
        similarity, of_a, of_b = (table[c].to_numpy() for c in ("similarity", "containment_a", "containment_b"))
        # Of a text whose length is not known, the other one says how much they share.
        sides = [np.where(n_chars[side] < 0, np.inf, share * n_chars[side]) for share, side in ((of_a, a), (of_b, b))]
        shared = np.nan_to_num(np.minimum(*sides), posinf=0).astype(np.int64)
        both = (times[a] != NO_TIME) & (times[b] != NO_TIME)
        direction = np.where(both & (times[a] < times[b]), 1, np.where(both & (times[a] > times[b]), 2, 0))
        none = np.zeros(len(a) + 1, np.int64)
        return PairColumns(
            none, a, b, shared, none[1:], similarity, of_a, of_b, (similarity < 1).astype(np.int64), direction,
            days_between(times[a], times[b]),
        )  # fmt: skip

    def _add_pairs(self, pairs: PairColumns, interest: Shares) -> None:
        groups, times = np.array(self.documents.groups, np.int64), np.array(self.documents.times, np.int64)
        later = np.maximum(times[pairs.a], times[pairs.b])
        years = later.astype("datetime64[us]").astype("datetime64[Y]").astype(np.int64) + 1970
        years = _or_none(np.where(later == NO_TIME, NO_TIME, years), NO_TIME)
        scaled = np.round(interest * _INTEREST_UNIT).astype(np.int64)
        columns = [
            np.arange(len(pairs)), pairs.a, pairs.b, np.diff(pairs.first), pairs.shared, pairs.longest,
            _distance(pairs.similarity), _covered(pairs.coverage_a), _covered(pairs.coverage_b), pairs.kind, pairs.direction,
            scaled, _or_none(groups[pairs.a], -1), _or_none(groups[pairs.b], -1), years,
        ]  # fmt: skip
        self._insert("pairs", columns)
        n_pairs = np.bincount(pairs.a, minlength=len(times)) + np.bincount(pairs.b, minlength=len(times))
        n_pairs -= np.bincount(pairs.a[pairs.a == pairs.b], minlength=len(times))
        having = np.flatnonzero(n_pairs)
        rows = zip(n_pairs[having].tolist(), having.tolist(), strict=True)
        self.connection.executemany("UPDATE documents SET n_pairs = ? WHERE number = ?", rows)

    def _families(self, passages: PassageColumns) -> tuple[Places, Families, Numbers]:
        """Return the places that passages name, their families, and the family of each passage."""
        names = [""] * len(self.documents.times)
        for side, ids in self.documents.ids.items():
            for number, name in zip(self.documents.numbers[side], ids, strict=True):
                names[number] = name
        spans = Spans(*(getattr(passages, column) for column in Spans._fields))
        times = np.array(self.documents.times, np.int64)
        return families_of(spans, times, ranks_of(pa.array(names, pa.large_string())))

    def _add_families(
        self, passages: PassageColumns, pairs: PairColumns, places: Places, families: Families, of_passage: Numbers
    ) -> None:
        self.edited = set((np.unique(of_passage[passages.similarity < 1]) + 1).tolist())
        pair = np.repeat(np.arange(len(pairs)), np.diff(pairs.first))
        in_pair = np.arange(len(passages)) - pairs.first[pair] + 1
        lengths = passages.a_end - passages.a_start
        self._insert(
            "passages",
            [
                pair, in_pair, passages.a_start, lengths, passages.b_start, passages.b_end - passages.b_start - lengths,
                passages.n_sentences, _distance(passages.similarity), passages.kind, passages.direction,
                _or_none(of_passage + 1, 0),
            ],
        )  # fmt: skip
        # Numbers are those of the table of families, which count from 1.
        family = np.repeat(np.arange(len(families)), np.diff(families.first))
        rows = np.lexsort((places.start[families.places], places.document[families.places], family))
        document, start, end = (column[families.places[rows]] for column in places[:3])
        self._add_places(family, document, start, end, len(families), 1, is_repeat=False)
        self._add_repeats(len(families) + 1)

    def _add_clusters(self, pairs: PairColumns) -> None:
        table = self.material.clusters
        if table is None or not table.num_rows:
            return
        documents = self.documents.numbers_of(table["id"], False)
        _, family = np.unique(table["cluster"].to_numpy(), return_inverse=True)
        order = np.lexsort((documents, family))
        ends = np.maximum(np.array(self.documents.n_chars, np.int64)[documents], 0)[order]
        n_families = int(family.max()) + 1
        of_document = np.full(len(self.documents.times), -1, np.int64)
        of_document[documents] = family
        self.edited = set(np.unique(of_document[pairs.a[pairs.similarity < 1]]).tolist())
        self._add_places(family[order], documents[order], np.zeros_like(ends), ends, n_families, 0, is_repeat=False)

    def _add_repeats(self, first_number: int) -> None:
        repeats = self.material.repeats
        if repeats is None or not repeats.num_rows:
            return
        numbers = {
            side: dict(zip(self.documents.ids[side], self.documents.numbers[side], strict=True)) for side in (True, False)
        }
        for row, (text, places) in enumerate(zip(repeats["text"].to_pylist(), repeats["places"].to_pylist(), strict=True)):
            at = [(numbers[False].get(p["id"], numbers[True].get(p["id"])), p["start"], p["end"]) for p in places]
            columns = np.array(sorted({place for place in at if place[0] is not None}), np.int64).reshape(-1, 3).T
            document, start, end = columns
            self._add_places(np.zeros_like(document), document, start, end, 1, first_number + row, is_repeat=True)
            self.connection.execute("UPDATE families SET text = ? WHERE number = ?", (text, first_number + row))

    def _add_places(
        self,
        family: Numbers,
        document: Numbers,
        start: Numbers,
        end: Numbers,
        n_families: int,
        first_number: int,
        is_repeat: bool,
    ) -> None:
        """Add families and their places, which are ordered by family and document."""
        times, groups = np.array(self.documents.times, np.int64)[document], np.array(self.documents.groups, np.int64)[document]
        is_other = np.ones(len(family), bool)
        is_other[1:] = (np.diff(family) != 0) | (np.diff(document) != 0)
        n_documents = np.bincount(family[is_other], minlength=n_families)
        n_places = np.bincount(family, minlength=n_families)
        n_chars = np.zeros(n_families, np.int64)
        np.maximum.at(n_chars, family, end - start)
        known = times != NO_TIME
        earliest, latest = np.full(n_families, np.iinfo(np.int64).max), np.full(n_families, NO_TIME)
        np.minimum.at(earliest, family[known], times[known])
        np.maximum.at(latest, family[known], times[known])
        grouped = np.unique(np.stack([family[groups >= 0], groups[groups >= 0]]), axis=1)[0]
        columns = [
            np.arange(n_families) + first_number, n_documents, n_places, n_chars,
            _or_none(earliest, np.iinfo(np.int64).max), _or_none(latest, NO_TIME),
            np.bincount(grouped, minlength=n_families), np.full(n_families, int(is_repeat)), *[_nothing(n_families)] * 4,
        ]  # fmt: skip
        self._insert("families", columns)
        self._insert("places", [family + first_number, document, start, end])
        if is_repeat:
            self._insert("repeats", [document, start, end, family + first_number])
        self.placed.append(Placed(family + first_number, document, end - start, np.full(len(family), is_repeat)))

    def _place_texts_of_families(self) -> None:
        """Note where the longest place of each family is, among those whose text is available."""
        order = 'f.number, (d.block IS NULL), p."end" - p.start DESC, p.document, p.start'
        shown = f"""
            SELECT number, document, start, "end" FROM (
              SELECT f.number, p.document, p.start, p."end", row_number() OVER (PARTITION BY f.number ORDER BY {order}) AS place
              FROM families f JOIN places p ON p.family = f.number JOIN documents d ON d.number = p.document
              WHERE f.text IS NULL) WHERE place = 1 ORDER BY document, start"""
        for family, document, start, end in self.connection.execute(shown).fetchall():
            piece = None if self.documents.has_text[document] else self._piece_of(document, start)
            values = (document, start, end, piece, family)
            self.connection.execute('UPDATE families SET document = ?, start = ?, "end" = ?, text = ? WHERE number = ?', values)

    def _index_words(self) -> None:
        """Make the words of families searchable."""
        ((n_families,),) = self._rows("SELECT COUNT(*) FROM families", [])
        with self.progress.stage("view search", n_families):
            for family, words in self.family_texts.searched():
                self.connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (family, words))
                self.progress.add_bytes(1)
            self.connection.execute("INSERT INTO words (words) VALUES ('optimize')")

    def _rows(self, query: str, values: Sequence[Any]) -> list[Any]:
        return self.connection.execute(query, values).fetchall()

    def _text_of(self, document: int) -> str:
        (place,) = self._rows("SELECT block, first, last FROM documents WHERE number = ?", [document])
        return "" if place[0] is None else self.texts.read(TextPlace(*place))

    def _piece_of(self, document: int, start: int) -> str | None:
        query = "SELECT text FROM pieces WHERE document = ? AND start = ?"
        row = self.connection.execute(query, (document, start)).fetchone()
        return str(row[0]) if row else None

    def _describe(self, pairs: PairColumns) -> None:
        material, connection = self.material, self.connection
        skipped = [
            (n, r.get("source"), r.get("position"), r.get("reason"), r.get("id")) for n, r in enumerate(material.skipped)
        ]
        connection.executemany("INSERT INTO skipped VALUES (?, ?, ?, ?, ?)", skipped)
        one = connection.execute(
            "SELECT COUNT(*), SUM(n_chars), SUM(reused_share * n_chars), SUM(reused_share > 0), MAX(time IS NOT NULL), "
            'MAX("group" IS NOT NULL) FROM documents WHERE NOT is_reference'
        ).fetchone()
        n_families, n_repeats = connection.execute("SELECT COUNT(*), SUM(is_repeat) FROM families").fetchone()
        (has_pieces,) = connection.execute("SELECT EXISTS (SELECT 1 FROM pieces)").fetchone()
        has_texts = any(self.documents.has_text) or bool(has_pieces)
        counts = material.run.get("counts", {})
        reusing = one[3] if material.documents is not None else len(np.unique(np.concatenate([pairs.a, pairs.b])))
        summary: dict[str, Any] = {
            "schema": ANSWER_SCHEMA,
            "version": material.run.get("version"),
            "title": material.title,
            "made": str(material.run.get("finished")).replace("+00:00", "Z"),
            "verb": material.verb,
            "settings": describe_settings(material.run.get("settings", {}), material.verb),
            "inputs": describe_inputs(material.run.get("inputs", ())),
            "totals": {
                "documents": counts.get("documents", one[0]),
                "sentences": counts.get("sentences") or None,
                "characters": one[1],
                "passages": None if material.passages is None else material.passages.num_rows,
                "pairs": len(pairs),
                "families": n_families,
                "repeats": n_repeats or 0,
                "reusing_documents": reusing or 0,
                "skipped": len(material.skipped),
            },
            "reused_share": one[2] / one[1] if one[1] and one[2] is not None else None,
            "has_times": any(time != NO_TIME for time in self.documents.times),
            "has_groups": bool(self.documents.group_numbers),
            "has_texts": has_texts,
            "has_pages": self.documents.has_pages,
            "is_against": material.is_against,
            "shared_folder": shared_folder(self.documents.ids),
            "left_out": left_out(
                material,
                self.documents.why_no_texts,
                self.documents.n_changed,
                has_texts,
                keep_ignored(connection, material.run),
            ),
            "mirrors": None if material.mirrors is None else closest_mirrors(material.mirrors),
        }
        times, groups = (np.array(column, np.int64) for column in (self.documents.times, self.documents.groups))
        front = FrontPage(
            connection,
            self.placed,
            times,
            groups,
            self.edited,
            material.verb,
            material.is_against,
            self.family_texts.beginning,
            summary["shared_folder"],
        )
        front.add(summary["totals"])
        for name, value in (
            ("summary", summary),
            ("distributions", distributions_of(pairs, has_passages=material.passages is not None)),
        ):
            connection.execute("INSERT INTO meta VALUES (?, ?)", (name, json.dumps(value)))

    def _insert(self, table: str, columns: Sequence[Any]) -> None:
        marks = ", ".join("?" * len(columns))
        for begin, end in pairwise([*range(0, len(columns[0]), _ROWS_AT_ONCE), len(columns[0])]):
            # SQLite stores NaN as NULL.
            rows = zip(*(column[begin:end].tolist() for column in columns), strict=True)
            self.connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


def _facets(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return how many of all pairs have each group, kind and year; counted once."""
    groups = (
        "SELECT g.name, COUNT(*) FROM (SELECT a_group AS n FROM pairs UNION ALL SELECT b_group FROM pairs "
        f"WHERE b_group IS NOT a_group) JOIN groups g ON g.number = n GROUP BY n ORDER BY 2 DESC, 1 LIMIT {_MOST_FACETS}"
    )
    kinds = "SELECT kind, COUNT(*) FROM pairs GROUP BY kind ORDER BY 2 DESC"
    years = "SELECT year, COUNT(*) FROM pairs WHERE year IS NOT NULL GROUP BY year ORDER BY year"
    return {
        "groups": [{"group": name, "n_pairs": n} for name, n in connection.execute(groups)],
        "kinds": [{"kind": KINDS[kind], "n_pairs": n} for kind, n in connection.execute(kinds)],
        "years": [{"year": year, "n_pairs": n} for year, n in connection.execute(years)],
    }


def shared_folder(ids: Mapping[bool, Sequence[str]]) -> str:
    """Return the folder that all ids begin with, with its slash; empty if there is none. `ids` are those of both sides."""
    every = [name for side in ids.values() for name in side]
    if len(every) < 2:
        return ""
    least, most = min(every), max(every)  # what these two have in common, all between have
    n_equal = next((n for n, (one, other) in enumerate(zip(least, most, strict=False)) if one != other), len(least))
    return least[: least.rfind("/", 0, n_equal) + 1]


def _distance(similarity: Shares) -> Numbers:
    """Return how far similarities are from 1, in stored form; only 1 has distance 0."""
    distance: Numbers = np.round((1 - similarity) * UNIT).astype(np.int64)
    return np.where(similarity < 1, np.maximum(distance, 1), 0)


def _covered(shares: Shares) -> Any:
    """Return shares in stored form; None if not known."""
    return _or_none(np.where(np.isnan(shares), -1, np.round(np.nan_to_num(shares) * UNIT)).astype(np.int64), -1)


def _nothing(n_rows: int) -> Any:
    return np.full(n_rows, None)


def _or_none(values: Numbers, nothing: int) -> Any:
    objects = values.astype(object)
    objects[values == nothing] = None
    return objects
