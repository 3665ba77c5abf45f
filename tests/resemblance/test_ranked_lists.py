"""Ranked lists collapsed: equal to comparing each hit with all that are kept above it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from tests.cluster_twins import limits, records, resemblance, shingle_sizes, shingles, tokens, word_lists

containments = st.sampled_from(["0", "1/2", "0.9"])
queries = st.lists(st.sampled_from(["one", "two", None]), min_size=8, max_size=8)


def by_hand(
    hits: list[dict[str, Any]], query_field: str | None, limit: Fraction, containment: Fraction, size: int
) -> list[tuple[Any, list[Any]]]:
    """Return all hits with those above them that are kept, each with what is folded under it; lists one after the other."""
    kept: list[tuple[dict[str, Any], list[Any], Any]] = []
    done: list[tuple[Any, list[Any]]] = []
    before: Any = None
    for number, hit in enumerate(hits):
        query = hit[query_field] if query_field else None
        if number and query != before:
            done, kept = done + [(head["id"], folded) for head, folded, _ in kept], []
        before = query
        known = shingles(tokens(hit["text"]), size)
        for _, folded, others in kept:
            if known and others:
                share, of_a, of_b = resemblance(known, others)
                if share >= limit or (containment and max(of_a, of_b) >= containment):
                    folded.append(hit["id"])
                    break
        else:
            kept.append((hit, [], known))
    return done + [(head["id"], folded) for head, folded, _ in kept]


@settings(max_examples=150, deadline=None)
@given(word_lists(), limits, containments, shingle_sizes, queries, st.booleans())
def test_hits_are_folded_under_the_highest_one_they_resemble(
    words: list[list[str]], limit: str, containment: str, size: int, asked: list[str | None], with_queries: bool
) -> None:
    hits = [{**hit, "query": query} for hit, query in zip(records(words), asked, strict=False)]
    field = "query" if with_queries else None
    call: dict[str, Any] = {"min_similarity": limit, "min_containment": containment, "shingle_size": size}
    expected = by_hand(hits, field, Fraction(limit), Fraction(containment), size)
    found = list(ibidem.collapse(hits, query_field=field, **call))
    assert [(hit["id"], hit["collapsed"]) for hit in found] == expected
    by_id = {hit["id"]: hit for hit in hits}
    assert all({k: v for k, v in hit.items() if k != "collapsed"} == by_id[str(hit["id"])] for hit in found)
    # Marked, all hits are there, in their order, and each names the one above it.
    marked = list(ibidem.collapse(hits, query_field=field, mark_only=True, **call))
    assert [hit["id"] for hit in marked] == [hit["id"] for hit in hits]
    above = {folded: head for head, all_folded in expected for folded in all_folded}
    assert [hit["collapsed_into"] for hit in marked] == [above.get(hit["id"]) for hit in hits]


def test_hits_come_as_soon_as_they_can() -> None:
    read: list[int] = []

    def arriving() -> Iterator[dict[str, Any]]:
        for number in range(6):
            read.append(number)
            yield {"id": number, "query": number // 2, "text": "the same words again"}

    marked = ibidem.collapse(arriving(), mark_only=True)
    assert read == []
    assert (next(marked)["collapsed_into"], len(read)) == (None, 1)
    assert (next(marked)["collapsed_into"], len(read)) == (0, 2)
    read.clear()
    folded = ibidem.collapse(arriving(), query_field="query")
    assert (next(folded)["collapsed"], len(read)) == ([1], 3)
    assert (next(folded)["collapsed"], len(read)) == ([3], 5)


def test_hits_without_a_text_or_an_id() -> None:
    same = "one two three four five six"
    hits: list[dict[str, Any]] = [{"text": same}, {"id": "b"}, {"id": "c", "text": 5}, {"text": same}, {"id": "e", "text": "…"}]
    found = list(ibidem.collapse(hits, shingle_size=2))
    assert [hit["collapsed"] for hit in found] == [[4], [], [], []]
    assert list(ibidem.collapse([])) == []
    assert [
        hit["collapsed"] for hit in ibidem.collapse([{"t": same, "i": 1}, {"t": same, "i": 2}], text_field="t", id_field="i")
    ] == [[2]]


def test_other_units_and_seeds_give_the_same_lists() -> None:
    lines = "one two\nthree four\nfive six\nseven"
    hits = [{"id": 1, "text": lines}, {"id": 2, "text": lines.replace("six", "nine")}, {"id": 3, "text": "\ud800 one two"}]
    call: dict[str, Any] = {"shingle_unit": "line", "min_similarity": 0.6}
    for more in ({}, {"hash_seed": 0}, {"hash_seed": 9}):
        assert [hit["collapsed"] for hit in ibidem.collapse(hits, **call, **more)] == [[2], []]
