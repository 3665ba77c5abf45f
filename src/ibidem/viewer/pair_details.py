"""What lists of pairs show beside their rows: the words of the largest passage, and how the listed pairs are distributed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ibidem.viewer.excerpts import excerpt
from ibidem.viewer.queries import PairQuery, where_of
from ibidem.viewer.rows import COVERAGE, UNIT
from ibidem.viewer.stored_texts import StoredTexts

SNIPPET_CHARS = 140
_MOST_READ_CHARS = 2_000  # of a passage, which may begin with markup
_MEASURES = ("similarity", "coverage", "longest")
_LARGEST = """
  SELECT q.pair, p.a, q.a_start, q.a_start + q.a_length AS a_end, MAX(q.a_length) FROM passages q
  JOIN pairs p ON p.number = q.pair
  WHERE q.pair IN ({}) GROUP BY q.pair
"""
Rows = Callable[[str, list[Any]], list[Any]]


def add_snippets(pairs: Sequence[dict[str, Any]], rows: Rows, texts: StoredTexts) -> None:
    """Add the first readable words of its largest passage to each pair; None if they are not known."""
    if not pairs:
        return
    by_number = {pair["pair"]: pair for pair in pairs}
    found = rows(_LARGEST.format(", ".join("?" * len(by_number))), list(by_number))
    for row in sorted(found, key=lambda row: row["a"]):  # a text is unpacked once for all its pairs
        words = texts.excerpt(row["a"], row["a_start"], min(row["a_end"], row["a_start"] + _MOST_READ_CHARS))
        by_number[row["pair"]]["snippet"] = excerpt(words, SNIPPET_CHARS) or None


def counted_again(distributions: dict[str, Any], query: PairQuery, rows: Rows) -> dict[str, Any]:
    """Return the distributions, in the same bins, of the pairs that match a query; each ignores its own cut-off."""
    limits = {measure: getattr(query, f"min_{measure}") for measure in _MEASURES}
    uncut = replace(query, min_similarity=None, min_coverage=None, min_longest=None)
    where, values = where_of(uncut.conditions())
    found = rows(f"SELECT 1 - p.distance / {UNIT}.0, {COVERAGE} / {UNIT}.0, p.longest FROM pairs p {where}", values)
    table = np.array([tuple(row) for row in found], np.float64).reshape(-1, len(_MEASURES))
    columns = dict(zip(_MEASURES, table.T, strict=True))
    counted = {}
    for measure, distribution in distributions.items():
        kept = np.ones(len(table), np.bool_)
        for other in _MEASURES:
            if other != measure and limits[other] is not None:
                kept &= columns[other] >= limits[other]
        edges = np.array(distribution["edges"])
        counts, _ = np.histogram(np.clip(columns[measure][kept], edges[0], edges[-1]), edges)
        counted[measure] = {"edges": distribution["edges"], "counts": counts.tolist()}
    return counted
