"""Passages in the XML of the PAN evaluations: a folder with one file for each document that reuses text."""

from __future__ import annotations

import sqlite3
from itertools import groupby
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import TextIO

from ibidem.model import DIRECTIONS
from ibidem.viewer.exports.flat_tables import FlatTables
from ibidem.viewer.exports.xml_writer import XmlWriter

_MOST_NAME_BYTES = 120
# The reusing document (this) and its source; which side is which depends on the row.
_FEATURES = """
  SELECT this, this_start, this_end, t.id AS this_id, s.id AS source_id, source_start, source_end FROM (
    SELECT p.a AS this, q.a_start AS this_start, q.a_start + q.a_length AS this_end, p.b AS source, q.b_start AS source_start,
      q.b_start + q.a_length + q.b_longer AS source_end
      FROM passages q JOIN pairs p ON p.number = q.pair WHERE NOT (q.direction = :b_is_later)
    UNION ALL
    SELECT p.b, q.b_start, q.b_start + q.a_length + q.b_longer, p.a, q.a_start, q.a_start + q.a_length
      FROM passages q JOIN pairs p ON p.number = q.pair WHERE q.direction = :b_is_later)
  JOIN documents t ON t.number = this JOIN documents s ON s.number = source
  ORDER BY this, this_start, this_end, source, source_start
"""


def write_pan(tables: FlatTables, folder: Path) -> list[str]:
    """Write a file for every document that reuses text into an empty folder; return a line that says how many."""
    tables.need_passages("pan")
    later = -1 if tables.is_against else DIRECTIONS.index("a_to_b")
    n_files = 0
    rows = tables.store.stream(_FEATURES, {"b_is_later": later})
    for (document, doc_id), passages in groupby(rows, key=itemgetter("this", "this_id")):
        with _open_new(folder, doc_id, document) as file:
            xml = XmlWriter(file)
            with xml.element("document", {"reference": doc_id}):
                for passage in passages:
                    _feature(xml, passage)
        n_files += 1
    return [f"{n_files:,} {'file' if n_files == 1 else 'files'}, one for each document that reuses text"]


def _feature(xml: XmlWriter, row: sqlite3.Row) -> None:
    feature = {
        "name": "detected-plagiarism", "this_offset": row["this_start"], "this_length": row["this_end"] - row["this_start"],
        "source_reference": row["source_id"], "source_offset": row["source_start"],
        "source_length": row["source_end"] - row["source_start"],
    }  # fmt: skip
    xml.leaf("feature", feature)


def _open_new(folder: Path, doc_id: str, number: int) -> TextIO:
    """Open a file named after a document. Its number is added where two documents would have the same name."""
    stem = PurePosixPath(doc_id.removesuffix(".txt")).name
    clean = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in stem).strip(".") or "document"
    clean = clean.encode("utf-8", "replace")[:_MOST_NAME_BYTES].decode("utf-8", "ignore")
    for name in (clean, f"{clean}-{number}", f"document-{number}"):
        try:
            return open(folder / f"{name}.xml", "x", encoding="utf-8", newline="\n")
        except FileExistsError:
            continue
    raise FileExistsError(f"{folder} contains files of other names")
