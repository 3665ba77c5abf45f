"""Rows of `view.sqlite` as records for pages and programs."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta, timezone
from typing import Any

from ibidem.model import DIRECTIONS, KINDS
from ibidem.viewer.excerpts import excerpt

_EXCERPT_CHARS = 240
# Shares as they are stored: whole numbers take half the room of fractions. A distance is 1 minus a similarity, mostly 0.
UNIT = 1_000_000_000
DAYS = "abs(a.time - b.time) / 86400000000.0"
COVERAGE = "max(ifnull(p.covered_a, 0), ifnull(p.covered_b, 0))"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

# Verdicts are keyed by ids in either order, except for documents of two sides, which may share ids.
_FIRST_ID = "CASE WHEN a.is_reference = b.is_reference THEN min(a.id, b.id) ELSE a.id END"
_SECOND_ID = "CASE WHEN a.is_reference = b.is_reference THEN max(a.id, b.id) ELSE b.id END"
_JUDGED = f"v.first_id = {_FIRST_ID} AND v.second_id = {_SECOND_ID}"
_SIDES = """
  a.id AS a_id, a.time AS a_time, ga.name AS a_group_name, a.title AS a_title, a.n_chars AS a_n_chars,
  b.id AS b_id, b.time AS b_time, gb.name AS b_group_name, b.title AS b_title, b.n_chars AS b_n_chars, v.verdict, v.note
"""
PAIRS = f"""
  SELECT p.*, {DAYS} AS days, {_SIDES} FROM pairs p JOIN documents a ON a.number = p.a JOIN documents b ON b.number = p.b
  LEFT JOIN groups ga ON ga.number = a."group" LEFT JOIN groups gb ON gb.number = b."group"
  LEFT JOIN judged.verdicts v ON {_JUDGED}
"""
# Pairs with verdicts, found from the verdicts, of which there are few.
_NAMED = """
  SELECT p.number, v.verdict FROM judged.verdicts v
  CROSS JOIN documents a ON a.id = v.first_id CROSS JOIN documents b ON b.id = v.second_id CROSS JOIN pairs p
"""
JUDGED_PAIRS = f"""
  {_NAMED} ON p.a = a.number AND p.b = b.number
  UNION {_NAMED} ON p.a = b.number AND p.b = a.number AND a.is_reference = b.is_reference
"""
STORED_VERDICTS = "SELECT a_id, b_id, verdict, note, changed FROM judged.verdicts"
DOCUMENTS = 'SELECT d.*, g.name AS group_name FROM documents d LEFT JOIN groups g ON g.number = d."group"'


def pair_of(row: sqlite3.Row) -> dict[str, Any]:
    """Return a row of PAIRS as a record."""
    a, b = (side_of(row[s], *(row[f"{s}_{name}"] for name in ("id", "time", "group_name", "title", "n_chars"))) for s in "ab")
    return {
        "pair": row["number"], "a": a, "b": b, **{name: row[name] for name in ("n_passages", "shared", "longest")},
        "similarity": 1 - row["distance"] / UNIT,
        "coverage_a": _share(row["covered_a"]), "coverage_b": _share(row["covered_b"]),
        **{name: row[name] for name in ("days", "year", "verdict", "note")},
        "kind": KINDS[row["kind"]], "direction": DIRECTIONS[row["direction"]], "snippet": None,
    }  # fmt: skip


def _share(stored: int | None) -> float | None:
    return None if stored is None else stored / UNIT


def time_of(microseconds: int | None) -> str | None:
    """Return a time in ISO 8601; None for no time, or for one that no calendar has."""
    if microseconds is None:
        return None
    try:
        moment = _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return None
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def side_of(
    number: int, doc_id: str, time: int | None, group: str | None, title: str | None, n_chars: int | None
) -> dict[str, Any]:
    """Return the record that identifies a document."""
    return {"document": number, "id": doc_id, "time": time_of(time), "group": group, "title": title, "n_chars": n_chars}


def document_of(row: sqlite3.Row) -> dict[str, Any]:
    """Return a row of DOCUMENTS as a record."""
    names = ("n_sentences", "reused_share", "cluster", "n_pairs")
    earliest = row["earliest_share"]
    return {
        **side_of(row["number"], row["id"], row["time"], row["group_name"], row["title"], row["n_chars"]),
        "is_reference": bool(row["is_reference"]),
        **{name: row[name] for name in names},
        # By the passages, whose places are known; of a run without passages, as in its table.
        "first_share": row["first_share"] if earliest is None else earliest,
    }


def passage_of(row: sqlite3.Row) -> dict[str, Any]:
    """Return a row of the table of passages as a record."""
    a, b = (row["a_start"], row["a_length"]), (row["b_start"], row["a_length"] + row["b_longer"])
    return {
        "number": row["number"], "a_start": a[0], "a_end": sum(a), "b_start": b[0], "b_end": sum(b),
        "n_sentences": row["n_sentences"], "similarity": 1 - row["distance"] / UNIT, "family": row["family"],
        "kind": KINDS[row["kind"]], "direction": DIRECTIONS[row["direction"]],
    }  # fmt: skip


def family_of(row: sqlite3.Row, text: str) -> dict[str, Any]:
    """Return a row of the table of families as a record; `text` is its text, or the beginning of it."""
    names = ("n_documents", "n_places", "n_chars", "n_groups")
    return {
        "family": row["number"],
        **{name: row[name] for name in names},
        "first_time": time_of(row["first_time"]),
        "last_time": time_of(row["last_time"]),
        "is_repeat": bool(row["is_repeat"]),
        "excerpt": excerpt(text, _EXCERPT_CHARS),
    }


def flat_pair(pair: dict[str, Any]) -> dict[str, Any]:
    """Return a pair as one row of a table."""
    sides = {f"{side}_{name}": pair[side][name] for side in "ab" for name in ("id", "time", "group", "title", "n_chars")}
    return {
        "pair": pair["pair"],
        **sides,
        **{name: value for name, value in pair.items() if name not in ("pair", "a", "b", "snippet")},
    }
