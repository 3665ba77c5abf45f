"""The example collection: what its README promises is found with default settings, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ibidem

NEWSROOM = Path(__file__).parent.parent / "examples" / "newsroom"
NO_REUSE = [
    "northreach-tribune/ferry-opinion", "northreach-tribune/lighthouse-letter", "meridian-wire/vineyard-cold",
    "auenblatt/bruecken-glosse", "lanxi-daily/hekou-bianji", "tidewatch/tern-count", "erlenmuender-bote/kirschfest",
    "yeoulpo-ilbo/night-stars",
]  # fmt: skip
CATEGORIES = {
    "clipping", "collection-page", "correction", "forum-quote", "press-release", "quotation", "revised",
    "split-pages", "whole-copy",
}  # fmt: skip
FOOTED = ("harbour-post", "vale-courier")


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (NEWSROOM / name).read_text("utf-8").splitlines()]


TRUTH = rows("truth.jsonl")


@pytest.fixture(scope="module")
def result() -> ibidem.Result:
    return ibidem.find(NEWSROOM / "documents.jsonl")


def covered(passage: ibidem.Passage, truth: dict[str, Any], side: str) -> float:
    """Return the share of a truth passage's side that a found one covers."""
    span, start, end = getattr(passage, side), truth[f"{side}_start"], truth[f"{side}_end"]
    return max(0, min(span.end, end) - max(span.start, start)) / (end - start)


def group(doc_id: str) -> str:
    return doc_id.split("/")[0]


def is_footer(passage: ibidem.Passage) -> bool:
    return group(passage.a.id) == group(passage.b.id) in FOOTED and passage.n_sentences == 4 and passage.kind == "exact"


def test_the_truth_names_every_category() -> None:
    assert {truth["category"] for truth in TRUTH} == CATEGORIES


@pytest.mark.parametrize("truth", TRUTH, ids=lambda t: f"{t['category']}: {t['a_id']} {t['b_id']}")
def test_a_passage_of_the_truth_is_found(result: ibidem.Result, truth: dict[str, Any]) -> None:
    found = [p for p in result if (p.a.id, p.b.id) == (truth["a_id"], truth["b_id"])]
    best = max((min(covered(p, truth, "a"), covered(p, truth, "b")) for p in found), default=0.0)
    assert best >= 0.7, f"found of this pair: {found}"


def test_every_passage_is_in_the_truth_or_a_footer(result: ibidem.Result) -> None:
    """Precision: nothing of two documents comes out that was not put there."""
    for passage in result:
        listed = [t for t in TRUTH if (t["a_id"], t["b_id"]) == (passage.a.id, passage.b.id)]
        alike = any(min(covered(passage, t, "a"), covered(passage, t, "b")) >= 0.7 for t in listed)
        assert alike or is_footer(passage), passage
        if alike:
            length = max(t["a_end"] - t["a_start"] for t in listed)
            assert passage.a.end - passage.a.start <= 1.3 * length, passage


def test_every_two_documents_of_a_footed_outlet_share_the_footer(result: ibidem.Result) -> None:
    ids = result.documents["id"].to_pylist()
    pairs = {(a, b) for a in ids for b in ids if a < b and group(a) == group(b) in FOOTED}
    assert len(pairs) == 8 * 7 / 2 + 4 * 3 / 2
    assert {(p.a.id, p.b.id) for p in result if is_footer(p)} == pairs


@pytest.mark.parametrize("doc_id", NO_REUSE)
def test_a_document_without_reuse_has_none(result: ibidem.Result, doc_id: str) -> None:
    (row,) = [row for row in result.documents.to_pylist() if row["id"] == doc_id]
    assert (row["reused_share"], row["first_share"], row["cluster"]) == (0, 0, None)


def test_the_market_hall_shares_its_footer_only(result: ibidem.Result) -> None:
    mine = [p for p in result if "vale-courier/market-hall" in (p.a.id, p.b.id)]
    assert len(mine) == 3
    assert all(is_footer(p) for p in mine)


def test_clusters_are_whole_copies_and_the_correction(result: ibidem.Result) -> None:
    clusters: dict[int, set[str]] = {}
    for row in result.documents.to_pylist():
        if row["cluster"] is not None:
            clusters.setdefault(row["cluster"], set()).add(row["id"])
    copies = {frozenset((t["a_id"], t["b_id"])) for t in TRUTH if t["category"] in ("whole-copy", "correction")}
    assert {frozenset(members) for members in clusters.values()} == copies


def test_directions_are_those_of_the_times(result: ibidem.Result) -> None:
    times = {row["id"]: row["time"] for row in rows("documents.jsonl")}
    for passage in result:
        assert passage.direction != "unknown"
    wire = [p for p in result if {group(p.a.id), group(p.b.id)} == {"harbour-post", "meridian-wire"} and "reservoir" in p.a.id]
    (reservoir,) = wire
    assert reservoir.direction == ("a_to_b" if times[reservoir.a.id] < times[reservoir.b.id] else "b_to_a")
