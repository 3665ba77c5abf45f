"""Stretches: passages merged until none overlap in both texts; sentences and edits in pairs. Twins try everything."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.alignment.differences import word_differences
from ibidem.viewer import stretches
from ibidem.viewer.shown_texts import likely_descent, mark_changes, variants_of
from ibidem.viewer.stretches import EDITED, MOVED, REWRITTEN, SAME, compared_words, merged_rows, stretches_of
from tests.texts import changed, render, text, words


def passage(number: int, a_start: int, a_end: int, b_start: int, b_end: int, kind: str = "near") -> dict[str, Any]:
    places = {"a_start": a_start, "a_end": a_end, "b_start": b_start, "b_end": b_end}
    return {"number": number, **places, "similarity": 0.5, "kind": kind, "family": None}


@st.composite
def passages(draw: st.DrawFn, most: int = 30) -> list[dict[str, Any]]:
    places = st.tuples(*(st.integers(0, most - 1), st.integers(1, 8)) * 2)
    found = draw(st.lists(places, max_size=9))
    return [passage(k, a, min(most, a + n), b, min(most, b + m)) for k, (a, n, b, m) in enumerate(found, 1)]


def overlaps(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def merged_twin(found: list[dict[str, Any]]) -> set[tuple[tuple[int, ...], frozenset[int]]]:
    """Merge any two that overlap in both texts, until there are none."""
    boxes = [((p["a_start"], p["a_end"], p["b_start"], p["b_end"]), frozenset([row])) for row, p in enumerate(found)]
    while True:
        hit = next(((i, j) for i in range(len(boxes)) for j in range(i) if overlaps(boxes[i][0], boxes[j][0])), None)
        if hit is None:
            return set(boxes)
        (one, rows), (other, more) = boxes.pop(hit[0]), boxes.pop(hit[1])
        places = (min(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), max(one[3], other[3]))
        boxes.append((places, rows | more))


@settings(max_examples=500, deadline=None)
@given(passages())
def test_passages_are_merged_until_none_overlap_in_both_texts(found: list[dict[str, Any]]) -> None:
    made = stretches_of(found, text(1, 2), text(1, 2), mark_changes(found, text(1, 2), text(1, 2)))
    boxes = [(one["a_start"], one["a_end"], one["b_start"], one["b_end"]) for one in made]
    rows = [frozenset(number - 1 for number in one["passages"]) for one in made]
    assert set(zip(boxes, rows, strict=True)) == merged_twin(found)
    assert [frozenset(some) for some in merged_rows(found)] == rows
    assert [one["number"] for one in made] == list(range(1, len(made) + 1))
    assert boxes == sorted(boxes)


def words_of(whole: str) -> list[str]:
    return re.findall(r"\w+", whole.casefold())


WORDS = st.lists(st.sampled_from(words(1, 8)), min_size=1, max_size=7)


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=5), st.lists(WORDS, min_size=1, max_size=5))
def test_sentences_and_edits_cover_both_texts(a: list[list[str]], b: list[list[str]]) -> None:
    text_a, text_b = (" ".join(map(render, sentences)) for sentences in (a, b))
    made = compared_words(text_a, text_b, 100, 200)
    edits, moves, sentences = made["edits"], made["moves"], made["sentences"]
    assert bool(edits or moves) == bool(sentences)
    for a_start, a_end, b_start, b_end in moves:
        assert words_of(text_a[a_start - 100 : a_end - 100]) == words_of(text_b[b_start - 200 : b_end - 200])
        for side, (start, end) in ((0, (a_start, a_end)), (2, (b_start, b_end))):
            assert all(edit[side + 1] <= start or end <= edit[side] for edit in edits)  # what was moved is no edit
    if not edits and not moves:
        assert words_of(text_a) == words_of(text_b)
        return
    for side, origin, whole in ((0, 100, text_a), (2, 200, text_b)):
        places = [sentence[side : side + 2] for sentence in sentences]
        assert [origin, *(end for _, end in places)] == [*(start for start, _ in places), origin + len(whole)]
        spans = [edit[side : side + 2] for edit in edits]
        assert all(start <= end for start, end in spans)
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    for a_start, a_end, b_start, b_end, look in sentences:
        inside = [e for e in edits if a_start <= e[0] and e[1] <= a_end and b_start <= e[2] and e[3] <= b_end]
        moved = [
            [m[at : at + 2] for m in moves if m[at] < end and start < m[at + 1]]
            for at, start, end in ((0, a_start, a_end), (2, b_start, b_end))
        ]
        mine, other = (text_a[a_start - 100 : a_end - 100], text_b[b_start - 200 : b_end - 200])
        if look == SAME:
            assert not inside
            assert moved == [[], []]
            assert words_of(mine) == words_of(other)
        else:
            assert inside or any(moved)
            assert (look == MOVED) <= (not inside)
        equal = [d for d in word_differences(mine, other) if d.operation == "equal"] if mine.strip() and other.strip() else []
        if look == REWRITTEN:
            kept_a = (
                mine
                if not inside
                else "".join(c for k, c in enumerate(mine, a_start) if not any(e[0] <= k < e[1] for e in (*inside, *moved[0])))
            )
            assert not kept_a.strip()
        elif look == EDITED:
            assert equal
    looks = sum(
        1 for edit in edits
        if not any(s[0] <= edit[0] and edit[1] <= s[1] and s[2] <= edit[2] and edit[3] <= s[3] for s in sentences)
    )  # fmt: skip
    assert looks == 0  # no edit is outside its sentence


def test_a_paragraph_that_was_moved_is_neither_removed_nor_added() -> None:
    """As in a press release whose first paragraph a newspaper printed last, after one of its own."""
    first, dates, own = text(1, 2, 3), text(10, 11, 12, 13), text(30, 31)
    a, b = f"{first}\n\n{dates}", f"{dates}\n\n{own}\n\n{first}"
    made = compared_words(a, b, 0, 0)
    ((a_start, a_end, b_start, b_end),) = made["moves"]
    assert a[a_start:a_end] == b[b_start:b_end] == first
    assert [(a[e[0] : e[1]], b[e[2] : e[3]]) for e in made["edits"]] == [("", text(30)), ("", text(31))]
    assert [sentence[4] for sentence in made["sentences"]] == [MOVED, SAME, REWRITTEN, REWRITTEN, MOVED]


def test_a_sentence_is_same_edited_or_rewritten() -> None:
    a = f"{text(1)} {text(2)} {text(3)} {text(4)}"
    b = f"{text(1)} {render([words(2)[0], words(40)[0], *words(2)[2:]])} {text(30)} {text(4)}"
    made = compared_words(a, b, 0, 0)
    assert [sentence[4] for sentence in made["sentences"]] == [SAME, EDITED, REWRITTEN, SAME]


def test_what_was_not_compared_counts_as_edited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stretches, "_MOST_COMPARED_CHARS", 10)
    a, b = text(1), changed(1)
    found = [passage(1, 0, len(a), 0, len(b))]
    (one,) = stretches_of(found, a, b, [None])
    assert (one["is_compared"], one["edits"], one["kind"]) == (False, [], "near")
    (same,) = stretches_of([passage(1, 0, 5, 0, 5, "exact")], a, b, [None])
    assert same["is_compared"]


def test_wordings_come_from_the_nearest_earlier_one() -> None:
    base = [list(words(k)) for k in range(4)]
    second = [base[0], [*base[1][:5], "kuveta"], *base[2:]]
    third = [*second[:3], [*base[3][:5], "sonipa"]]
    texts = [" ".join(map(render, each)) for each in (base, second, third, base)]
    times = ["2031-01-02T00:00:00Z", "2031-01-03T00:00:00Z", "2031-01-04T00:00:00Z", "2031-01-05T00:00:00Z"]
    variants = variants_of([{"document": k, "time": time} for k, time in enumerate(times)], texts)
    assert [v["parent"] for v in variants] == [None, 0, 1]
    assert [v["n_differences"] for v in variants] == [None, 1, 1]
    assert [v["edits"] == [] for v in variants] == [True, False, False]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 7)), min_size=1, max_size=7))
def test_descent_never_goes_back_in_time(given_ones: list[tuple[int, int]]) -> None:
    variants = [
        {
            "text": "abcdefgh", "is_compared": True, "members": [{"time": None if day == 3 else f"2031-01-0{day + 1}"}],
            "edits": [[k, k + 1, k, k + 1] for k in range(3) if bits >> k & 1],
        }
        for day, bits in given_ones
    ]  # fmt: skip
    for row, (parent, n_differences) in enumerate(likely_descent(variants)):
        day, bits = given_ones[row]
        earlier = [other for other, (when, _) in enumerate(given_ones) if when < day != 3]
        distances = {other: bin(bits ^ given_ones[other][1]).count("1") for other in earlier}
        if not earlier:
            assert (parent, n_differences) == (None, None)
        else:
            assert n_differences == min(distances.values()) == distances[parent]  # type: ignore[index]
