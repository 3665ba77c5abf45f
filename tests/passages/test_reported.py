"""Limits of what is reported: the rows of `find` without limits, less those that a plain count leaves out."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

import ibidem
from tests.execution.random_collections import random_records

LIMITS = st.sampled_from(["0", "0.3", "0.5", "0.9", "1"])


@given(st.integers(0, 10**6), LIMITS, st.sampled_from([0, 40, 200]), LIMITS, st.booleans())
def test_what_is_reported(seed: int, similarity: str, chars: int, coverage: str, same_document: bool) -> None:
    records = random_records(seed, 8)
    settings = {"min_similarity": 0.5, "min_sentences": 1, "same_document": same_document}
    n_chars = {record["id"]: len(record["text"]) for record in records}
    everything = ibidem.find(records, **settings)
    left = [
        row
        for row in everything.passages.to_pylist()
        if row["similarity"] >= float(similarity) and min(row[f"{s}_end"] - row[f"{s}_start"] for s in "ab") >= chars
    ]
    covered: dict[tuple[str, str], list[set[int]]] = {}
    for row in left:
        sides = covered.setdefault((row["a_id"], row["b_id"]), [set(), set()])
        for side, places in zip("ab", sides, strict=True):
            places.update(range(row[f"{side}_start"], row[f"{side}_end"]))
    enough = {
        pair for pair, sides in covered.items()
        if any(len(places) >= Fraction(coverage) * n_chars[name] for name, places in zip(pair, sides, strict=True))
    }  # fmt: skip
    limited = ibidem.find(
        records, min_passage_similarity=similarity, min_passage_chars=chars, min_coverage=coverage, **settings
    )
    assert limited.passages.to_pylist() == [row for row in left if (row["a_id"], row["b_id"]) in enough]
    assert limited.documents.equals(everything.documents)
    n_gone = everything.passages.num_rows - limited.passages.num_rows
    assert limited.counts.get("passages_below_limits", 0) == n_gone
