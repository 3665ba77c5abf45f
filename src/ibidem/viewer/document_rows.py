"""The documents of the views, and the texts of those that appear in the results."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from datetime import timezone
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ibidem.columns.collection import NO_TIME
from ibidem.columns.page_marks import has_pages
from ibidem.errors import IbidemError
from ibidem.viewer.document_pairs import Numbers
from ibidem.viewer.material import Material, ReadDocument
from ibidem.viewer.text_blocks import TextWriter

_MICROSECONDS = 1_000_000


class DocumentsAdded:
    """Adds the documents of a run to the table of documents, and knows their numbers and properties.

    `times`, `n_chars` and `groups` are indexed by number; NO_TIME and -1 mean unknown. `why_no_texts` says why texts could not
    be read; `n_changed` counts texts that have changed. `has_pages` is true if any text has pages.
    """

    def __init__(self, material: Material, connection: sqlite3.Connection) -> None:
        self.material = material
        self.connection = connection
        self.texts = TextWriter(connection)
        self.times: list[int] = []
        self.n_chars: list[int] = []
        self.groups: list[int] = []
        self.names: list[str] = []
        self.has_text: list[bool] = []
        self.group_numbers: dict[str, int] = {}
        self.ids: dict[bool, list[str]] = {False: [], True: []}  # by side
        self.numbers: dict[bool, list[int]] = {False: [], True: []}
        self.why_no_texts: list[str] = []
        self.last_ends = _last_ends(material)
        self.n_changed = 0
        self.has_pages = False

    def add_all(self, added: Callable[[], None]) -> None:
        """Read the documents one by one and add them, and say so; last come those in the results that could not be read."""
        material = self.material
        mentioned = _mentioned(material)
        known_rows = _rows_by_id(material.documents)
        seen: set[str] = set()
        try:
            for document in material.read_documents():
                if document.is_reference is None:  # named by the user: on the side where it appears in the results
                    if document.id not in known_rows and document.id not in mentioned:
                        continue
                    document = document._replace(is_reference=self._side_of(document.id, known_rows, seen))
                self._add_document(document, known_rows, document.id in mentioned)
                added()
        except IbidemError as error:
            self.why_no_texts.append(error.message)
        self.why_no_texts += material.missing_inputs()
        if material.named and not self.times:
            self.why_no_texts.append(f"none of the documents of this run is in {', '.join(material.named)}")
        known = {side: set(ids) for side, ids in self.ids.items()}
        # Documents in the tables that no input contains any more.
        sides = [(name, False) for name in known_rows] + [(name, side) for name, side in _sides(material)]
        for name, side in sides:
            if name not in known[side]:
                known[side].add(name)
                self._add_document(ReadDocument(name, "", None, None, None, side), known_rows, False)
        self.connection.executemany("INSERT INTO groups VALUES (?, ?)", ((n, g) for g, n in self.group_numbers.items()))
        self.ranks = np.empty(len(self.names), np.int64)  # the order of displayed names
        self.ranks[np.argsort(np.array(self.names, object), kind="stable")] = np.arange(len(self.names))
        ranks = zip(self.ranks.tolist(), range(len(self.names)), strict=True)
        self.connection.executemany("UPDATE documents SET name = ? WHERE number = ?", ranks)
        self._add_cleaned_texts()
        self.texts.flush()

    def _side_of(self, name: str, known_rows: dict[str, tuple[Any, ...]], seen: set[str]) -> bool:
        """Return the side of a document named by the user: an id that occurs twice is on both sides, the input first."""
        is_reference = self.material.is_against and (name not in known_rows or name in seen)
        seen.add(name)
        return is_reference

    def _add_document(self, document: ReadDocument, known_rows: dict[str, tuple[Any, ...]], keep_text: bool) -> None:
        number = len(self.times)
        side = bool(document.is_reference)
        row = known_rows.get(document.id) if not side else None
        n_chars, n_sentences, reused, first, cluster = row or (None, None, None, None, None)
        text = document.text
        if text and (len(text) != n_chars if n_chars is not None else len(text) < self.last_ends.get((document.id, side), 0)):
            self.n_changed += 1  # offsets would not match
            text = ""
        n_chars = len(text) if text else n_chars
        self.has_pages |= has_pages(text)
        moment = None if document.time is None else _microseconds(document)
        group = None
        if document.group is not None:
            group = self.group_numbers.setdefault(document.group, len(self.group_numbers))
        self.ids[side].append(document.id)
        self.numbers[side].append(number)
        self.times.append(NO_TIME if moment is None else moment)
        self.n_chars.append(-1 if n_chars is None else n_chars)
        self.groups.append(-1 if group is None else group)
        self.names.append((document.title or document.id).lower())
        self.has_text.append(bool(text) and keep_text)
        self.connection.execute(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, NULL)",
            (
                number, document.id, side, moment, group, document.title, n_chars, n_sentences, reused, first, cluster,
                *(self.texts.add(text) if text and keep_text else (None, None, None)),
            ),
        )  # fmt: skip
        self.connection.execute(
            "INSERT INTO names (rowid, id, title, name) VALUES (?, ?, ?, ?)",
            (number, document.id, document.title or "", document.group or ""),
        )

    def _add_cleaned_texts(self) -> None:
        """Take the texts of HTML pages from the results if they could not be read again."""
        if self.material.texts is None:
            return
        numbers = {side: dict(zip(self.ids[side], self.numbers[side], strict=True)) for side in (False, True)}
        for name, text in zip(*(self.material.texts[c].to_pylist() for c in ("id", "text")), strict=True):
            # In reading order: of two equal ids, the first is the input's, the second the reference's.
            number = numbers[False].pop(name, None)
            number = numbers[True].get(name) if number is None else number
            if number is not None and not self.has_text[number] and self.n_chars[number] in (-1, len(text)):
                self.has_text[number] = True
                self.n_chars[number] = len(text)
                self.connection.execute(
                    "UPDATE documents SET block = ?, first = ?, last = ?, n_chars = ? WHERE number = ?",
                    (*self.texts.add(text), len(text), number),
                )

    def numbers_of(self, names: pa.ChunkedArray, is_reference: bool) -> Numbers:
        """Return the numbers of documents by id on one side; for ids not found there, those on the other side."""
        side = is_reference and self.material.is_against
        return np.where((found := self._numbers_on(names, side)) >= 0, found, self._numbers_on(names, not side))

    def _numbers_on(self, names: pa.ChunkedArray, side: bool) -> Numbers:
        rows = pc.index_in(names.cast(pa.large_string()), value_set=pa.array(self.ids[side], pa.large_string()))
        numbers = np.array([*self.numbers[side], -1], np.int64)
        return numbers[rows.fill_null(len(numbers) - 1).to_numpy()]  # type: ignore[no-any-return]


def _microseconds(document: ReadDocument) -> int:
    assert document.time is not None
    moment = document.time if document.time.tzinfo else document.time.replace(tzinfo=timezone.utc)
    return round(moment.timestamp() * _MICROSECONDS)


def _mentioned(material: Material) -> set[str]:
    """Return the ids of documents in the results; only their texts are stored."""
    names = {name for name, _ in _sides(material)}
    if material.repeats is not None:
        for places in material.repeats["places"]:
            names.update(places.values.field("id").to_pylist())
    return names


def _sides(material: Material) -> Iterator[tuple[str, bool]]:
    """Yield the ids of all documents in pairs, each with its side."""
    for table in (material.passages, material.duplicates):
        if table is not None:
            for column in ("a_id", "b_id"):
                side = column == "b_id" and material.is_against
                yield from ((name, side) for name in pc.unique(table[column].cast(pa.large_string())).to_pylist())


def _last_ends(material: Material) -> dict[tuple[str, bool], int]:
    """Return where the last passage of each document ends, by id and side."""
    ends: dict[tuple[str, bool], int] = {}
    table = material.passages
    for side in ("a", "b") if table is not None else ():
        assert table is not None
        is_reference = side == "b" and material.is_against
        named = pa.table({"id": table[f"{side}_id"].cast(pa.large_string()), "end": table[f"{side}_end"]})
        last = named.group_by("id").aggregate([("end", "max")])
        for name, end in zip(last["id"].to_pylist(), last["end_max"].to_pylist(), strict=True):
            ends[name, is_reference] = max(end, ends.get((name, is_reference), 0))
    return ends


def _rows_by_id(documents: pa.Table | None) -> dict[str, tuple[Any, ...]]:
    if documents is None:
        return {}
    names = ("n_chars", "n_sentences", "reused_share", "first_share", "cluster")
    rows = zip(*(documents[name].to_pylist() for name in names), strict=True)
    return dict(zip(documents["id"].to_pylist(), rows, strict=True))
