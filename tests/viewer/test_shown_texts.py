"""Texts as they are shown: segments, shades, changed words and variants, against twins that count one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.alignment.differences import word_places
from ibidem.sentences import split_sentences
from ibidem.viewer import shown_texts
from ibidem.viewer.shown_texts import cut_alike, mark_changes, segments_of, shade, variants_of
from tests.texts import changed, render, text, words
from tests.viewer.twins import expected_shades, united

SHOWN = text(1, 2, 3, 4, count=3)


def shaded(whole: str, spans: Sequence[tuple[int, int, int]]) -> list[dict[str, int]]:
    return shade(whole, np.array(spans, np.int64).reshape(-1, 3))


@st.composite
def spans(draw: st.DrawFn, n_chars: int = len(SHOWN)) -> tuple[int, int]:
    start = draw(st.integers(0, n_chars - 1))
    return start, draw(st.integers(start + 1, n_chars))


def apart(found: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return spans of which those of one document do not overlap."""
    return [
        (*span, other)
        for other in sorted({span[2] for span in found})
        for span in united([span[:2] for span in found if span[2] == other])
    ]


numbered = st.builds(lambda span, other: (*span, other), spans(), st.integers(0, 3))


# Shades.


@settings(max_examples=500, deadline=None)
@given(st.lists(numbered, max_size=8).map(apart))
def test_a_sentence_is_shaded_if_half_of_it_stands_elsewhere(found: list[tuple[int, int, int]]) -> None:
    assert shaded(SHOWN, found) == expected_shades(split_sentences(SHOWN), found)


@settings(max_examples=300, deadline=None)
@given(st.lists(numbered, max_size=8))
def test_spans_of_one_document_may_overlap(found: list[tuple[int, int, int]]) -> None:
    assert shaded(SHOWN, found) == expected_shades(split_sentences(SHOWN), found)


def test_what_two_spans_of_one_document_cover_counts_once() -> None:
    (start, end), *_ = split_sentences(SHOWN)
    third = (end - start) // 3
    assert shaded(SHOWN, [(start, start + third, 5), (start + 1, start + 1 + third, 5)]) == []
    assert shaded(SHOWN, [(start, start + third, 5), (start, start + third, 5)]) == []


def test_half_of_a_sentence_is_enough_and_less_is_not() -> None:
    sentence = "Velmo tarrin quovex lumbar adi."  # 31 characters
    assert shaded(sentence, [(0, 16, 0)]) == [{"start": 0, "end": 31, "n_documents": 1}]
    assert shaded(sentence, [(0, 15, 0)]) == []
    assert shaded(sentence, [(0, 8, 0), (23, 31, 0)]) == [{"start": 0, "end": 31, "n_documents": 1}]
    assert shaded(sentence, [(0, 8, 0), (23, 31, 1)]) == []  # not in one document


def test_nothing_to_shade() -> None:
    assert shaded("", [(0, 5, 1)]) == []
    assert shaded(SHOWN, []) == []
    assert shaded("   ", [(0, 2, 1)]) == []


# Segments.


@settings(max_examples=500, deadline=None)
@given(st.lists(spans(), max_size=5), st.integers(0, len(SHOWN) + 1), st.integers(0, 30))
def test_segments_hold_what_lies_around_the_spans(found: list[tuple[int, int]], most_whole: int, n_context: int) -> None:
    segments = segments_of(SHOWN, found, most_whole, n_context)
    shown: set[int] = set()
    for segment in segments:
        end = segment["start"] + len(segment["text"])
        assert segment["text"] == SHOWN[segment["start"] : end]
        assert not shown & set(range(segment["start"] - 1, end))  # there is something between them
        shown |= set(range(segment["start"], end))
    assert [s["start"] for s in segments] == sorted(s["start"] for s in segments)
    if len(SHOWN) <= most_whole:
        assert segments == [{"start": 0, "text": SHOWN}]
    else:
        wanted = set(range(min(n_context, len(SHOWN))))
        for start, end in found:
            wanted |= set(range(max(0, start - n_context), min(len(SHOWN), end + n_context)))
        assert shown == wanted


def test_no_text_no_segments() -> None:
    assert segments_of("", [(0, 5)], 10, 5) == []


def test_offsets_count_code_points() -> None:
    shown = "🎈" * 50
    assert segments_of(shown, [(20, 22)], 10, 1) == [{"start": 0, "text": "🎈"}, {"start": 19, "text": "🎈" * 4}]


# Changed words.


def passage(a_start: int, a_end: int, b_start: int, b_end: int) -> dict[str, Any]:
    return {"a_start": a_start, "a_end": a_end, "b_start": b_start, "b_end": b_end}


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(words(1, 12)), max_size=10), st.lists(st.sampled_from(words(1, 12)), max_size=10))
def test_words_that_are_not_marked_are_the_same(a: list[str], b: list[str]) -> None:
    before_a, before_b = text(50) + " ", text(60, 61) + " "
    text_a, text_b = before_a + " ".join(a) + " " + text(70), before_b + " ".join(b)
    found = passage(len(before_a), len(before_a) + len(" ".join(a)), len(before_b), len(text_b))
    mark_changes([found], text_a, text_b)
    kept = []
    for side, whole in (("a", text_a), ("b", text_b)):
        start, end, rest, last = found[f"{side}_start"], found[f"{side}_end"], "", found[f"{side}_start"]
        for from_, to in found[f"{side}_changes"]:
            assert last <= from_ < to <= end
            assert whole[from_:to] == whole[from_:to].strip()
            rest += whole[last:from_]
            last = to
        kept.append((rest + whole[last:end]).split())
        assert start <= last
    if a and b:
        assert kept[0] == kept[1]


def test_only_so_many_characters_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_texts, "_MOST_COMPARED_CHARS", 250)
    text_a, text_b = render(words(1)), changed(1)
    both = [passage(0, len(text_a), 0, len(text_b)) for _ in range(4)]
    mark_changes(both, text_a, text_b)
    assert [bool(p["a_changes"]) for p in both] == [True, True, False, False]
    assert all(p["a_changes"] == p["b_changes"] == [] for p in both[2:])


# Variants.


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["velmo", "Velmo", "tarrin", "quo,"]), max_size=4), max_size=8))
def test_variants_hold_each_place_once_and_the_most_frequent_wording_first(wordings: list[list[str]]) -> None:
    members = [{"document": k} for k in range(len(wordings))]
    given_texts = [" ".join(wording) for wording in wordings]
    variants = variants_of(members, given_texts)

    def key(told: str) -> str:
        return told.casefold().replace(",", "")

    assert sorted(m["document"] for v in variants for m in v["members"]) == list(range(len(members)))
    assert len(variants) == len({key(told) for told in given_texts})
    counts = [variant["n_places"] for variant in variants]
    assert counts == sorted(counts, reverse=True)
    for variant in variants:
        assert variant["n_places"] == len(variant["members"])
        assert {key(given_texts[m["document"]]) for m in variant["members"]} == {key(variant["text"])}
        assert variant["text"] == given_texts[variant["members"][0]["document"]]
        assert all(0 <= start < end <= len(variant["text"]) for start, end in variant["changes"])
    if variants:
        assert variants[0]["changes"] == []
        first = min(m["document"] for v in variants if v["n_places"] == counts[0] for m in v["members"])
        assert variants[0]["members"][0]["document"] == first


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["velmo", "tarrin", "quo"]), min_size=3, max_size=30), st.integers(8, 60), st.data())
def test_texts_that_are_cut_differ_only_where_they_are_known(words: list[str], most: int, data: Any) -> None:
    def laid_out() -> str:
        return "".join(word + data.draw(st.sampled_from([" ", "\n> ", ", "])) for word in words)

    whole = [laid_out() for _ in range(3)]
    cut = [len(told) > most for told in whole]
    shown = cut_alike([told[:most] for told in whole], cut)
    counts = {len(word_places(told)) for told in shown}
    if not any(cut):
        assert shown == whole
    elif min(len(word_places(told[:most])) for told in whole) > 1:
        assert len(counts) == 1  # the same text, cut, is the same wording
        assert len(variants_of([{"document": k} for k in range(3)], shown, is_cut=any(cut))) == 1
    for told, all_words in zip(shown, whole, strict=True):
        assert all_words.startswith(told)


def test_the_end_of_a_cut_text_is_no_difference() -> None:
    first, second = f"{text(1, 2, 3)} {text(4)[:30]}", f"{text(1)} and so on. {text(2, 3)}"
    members = [{"document": 0}, {"document": 1}]
    whole, cut = (variants_of(members, [first, second], is_cut=is_cut)[1]["edits"] for is_cut in (False, True))
    assert (len(whole), len(cut)) == (2, 1)
    assert second[slice(*cut[0][2:])].strip() == "and so on."


def test_changes_of_variants_are_told_against_the_first() -> None:
    members = [{"document": k} for k in range(3)]
    first, second = variants_of(members, [text(1), text(1).upper(), changed(1)])
    assert (first["n_places"], first["text"], first["changes"]) == (2, text(1), [])
    assert [second["text"][start:end] for start, end in second["changes"]] == [changed(1).split()[-1]]
