"""The ends of passages: moved as far as the twin says, from whole texts and from stretches of them that are cut off."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.passages import extension
from ibidem.passages.extension import ExtendedEnds, PlacedPassages, Stretches, extend_ends
from ibidem.passages.kernels.extension import AFTER, BEFORE
from tests.alignment.written import GAPS, PIECES, is_plain, words_of_text
from tests.execution.random_collections import edited_records, glued_records
from tests.passages.extension_twins import Outcome, Place, expected_ends

FEW = ("one", "One", "two", "ÜBER", "u\u0308ber", "漢", "字", "(", '"', ").")


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str, bool, list[Place]]:
    """Two texts over few words (or one), and stretches that begin and end between words, in reading order.

    The second text ends with the first one, and many stretches are at the same places of both.
    """
    pieces = st.sampled_from(FEW if draw(st.booleans()) else PIECES)
    written = st.lists(st.tuples(pieces, st.sampled_from(GAPS)), min_size=1, max_size=25)
    is_one = draw(st.booleans())
    a = draw(written)
    more = draw(written)
    texts = ["".join(piece + gap for piece, gap in text) for text in (a, a if is_one else more + a)]
    shift = len(texts[1]) - len(texts[0])
    assume(all(map(is_plain, texts)))
    bounds = []
    for text in texts:
        spans = words_of_text(text)
        inside = {place for start, end in spans for place in range(start + 1, end)}
        bounds.append([place for place in range(len(text) + 1) if place not in inside])
    places = set()
    for _ in range(draw(st.integers(1, 4))):
        ends = [sorted(draw(st.lists(st.sampled_from(side), min_size=2, max_size=2))) for side in bounds]
        if not is_one and draw(st.booleans()):
            ends[1] = [place + shift for place in ends[0]]
            assume(set(ends[1]) <= set(bounds[1]))
        if ends[0][0] < ends[0][1] and ends[1][0] < ends[1][1] and (not is_one or ends[0][1] <= ends[1][0]):
            places.add((ends[0][0], ends[0][1], ends[1][0], ends[1][1]))
    starts = [(place[0], place[2]) for place in places]
    assume(places and len(set(starts)) == len(starts))
    return texts[0], texts[1], is_one, sorted(places, key=lambda place: (place[0], place[2]))


def passages_of(places: list[Place], is_one: bool) -> PlacedPassages:
    n = len(places)
    documents = np.array([[0] * n, [0 if is_one else 1] * n])
    none = np.zeros(n, np.int64)
    small = none.astype(np.int8)
    may_move = np.full(n, AFTER | BEFORE, np.uint8)
    return PlacedPassages(
        documents, np.array(places).T, none.astype(np.int32), none, none.astype(float), none > 0, small, may_move
    )


def stretches_of(a: str, b: str, places: list[Place], most_bytes: list[int]) -> Stretches:
    """Return what is around passages: at most so many bytes, before and after in a, before and after in b."""
    data = [text.encode() for text in (a, b)]
    ends, is_cut = [], []
    for place in places:
        for side, text in enumerate((a, b)):
            start, end = (len(text[: place[2 * side + k]].encode()) for k in range(2))
            low, high = max(0, start - most_bytes[2 * side]), min(len(data[side]), end + most_bytes[2 * side + 1])
            while low < start and data[side][low] & 0xC0 == 0x80:
                low += 1
            while high > end and high < len(data[side]) and data[side][high] & 0xC0 == 0x80:
                high -= 1
            ends.append((low, start, end, high))
            is_cut.append((low > 0, high < len(data[side])))
    buffers = [np.frombuffer(text, np.uint8) for text in data]
    return Stretches(buffers[0], buffers[1], np.array(ends).reshape(-1, 8), np.array(is_cut).reshape(-1, 4))


def outcomes(found: ExtendedEnds) -> list[Outcome]:
    rows = zip(found.places.T.tolist(), found.added.tolist(), found.joined.tolist(), strict=True)
    return [Outcome(tuple(place), added, joined) for place, added, joined in rows]


@settings(max_examples=300, deadline=None)
@given(pairs(), st.integers(1, 4))
def test_ends_move_as_the_twin_says(case: tuple[str, str, bool, list[Place]], least: int) -> None:
    a, b, is_one, places = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extension, "LEAST_EXTENSION_WORDS", least)
        found = extend_ends(passages_of(places, is_one), stretches_of(a, b, places, [1000] * 4), 7)
    assert not found.undecided.any()
    assert outcomes(found) == expected_ends(a, b, places, least, is_one)


@settings(max_examples=300, deadline=None)
@given(pairs(), st.integers(1, 4), st.lists(st.integers(0, 30), min_size=4, max_size=4))
def test_less_text_leaves_ends_undecided_and_never_wrong(
    case: tuple[str, str, bool, list[Place]], least: int, most_bytes: list[int]
) -> None:
    a, b, is_one, places = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extension, "LEAST_EXTENSION_WORDS", least)
        found = extend_ends(passages_of(places, is_one), stretches_of(a, b, places, most_bytes), 7)
    if not found.undecided.any():
        assert outcomes(found) == expected_ends(a, b, places, least, is_one)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 8), st.sampled_from([glued_records, edited_records]), st.data())
def test_find_moves_ends_as_the_twin_says(seed: int, n_documents: int, make: Any, data: st.DataObject) -> None:
    """The passages of `find` are those found by sentences with the ends that the twin gives them; joined ones are one."""
    records = make(seed, n_documents)
    chosen: dict[str, Any] = {
        "signature": data.draw(st.sampled_from(["exact", "words"])),
        "min_sentences": data.draw(st.sampled_from([1, 3])),
        "max_gap_sentences": data.draw(st.sampled_from([0, 4])),
        "same_document": data.draw(st.booleans()),
    }
    texts = {record["id"]: record["text"] for record in records}
    by_pair: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in ibidem.find(records, extend_ends=False, **chosen).passages.to_pylist():
        by_pair[row["a_id"], row["b_id"]].append(row)
    expected = []
    for (a, b), rows in by_pair.items():
        places = [(row["a_start"], row["a_end"], row["b_start"], row["b_end"]) for row in rows]
        found = expected_ends(texts[a], texts[b], places, extension.LEAST_EXTENSION_WORDS, a == b)
        continued, of_pair = {outcome.joined for outcome in found}, []
        for first in range(len(rows)):
            if first in continued:
                continue
            chain = [first]
            while found[chain[-1]].joined >= 0:
                chain.append(found[chain[-1]].joined)
            start, end = found[first].place, found[chain[-1]].place
            n_sentences = sum(rows[k]["n_sentences"] for k in chain)
            is_same = all(rows[k]["similarity"] == 1 for k in chain)
            of_pair.append((a, b, start[0], end[1], start[2], end[3], n_sentences, is_same))
        expected += sorted(of_pair, key=lambda row: (row[2], row[4]))
    table = ibidem.find(records, **chosen).passages.to_pylist()
    names = ("a_id", "b_id", "a_start", "a_end", "b_start", "b_end", "n_sentences")
    assert [(*(row[name] for name in names), row["similarity"] == 1) for row in table] == expected


def test_words_that_are_added_count_as_equal() -> None:
    """A sentence of ten words that differ in one, and ten words beyond it, of a sentence that goes on otherwise."""
    said = "Of all the ships that left on that day only"
    more = "the captain of this one has ever come back"
    first = f"Nu. {said} one. {more.capitalize()} to the town, they say."
    second = f"{said} two. {more.capitalize()}; no one knows the reason and nobody has ever asked."
    found = [ibidem.find([first, second], min_sentences=1, extend_ends=extend, align=False) for extend in (False, True)]
    plain, moved = (next(iter(result)) for result in found)
    n_words = len(plain.a.text.split()) + len(plain.b.text.split())
    added = len(more.split())
    assert moved.a.text == f"{said} one. {more.capitalize()}"
    assert moved.similarity == pytest.approx((plain.similarity * n_words + 2 * added) / (n_words + 2 * added))
    assert (moved.kind, moved.n_sentences, moved.a_sentence) == (plain.kind, plain.n_sentences, plain.a_sentence)


def test_passages_begin_in_the_sentences_that_their_numbers_name() -> None:
    shared = "The ferry left at nine with forty people. It never came back. Nobody has seen it since then."
    first = f"One. Then he wrote: on that morning in May it rained. {shared}"
    second = f"One! Two! Three! It is said on that morning in May. {shared}"
    (passage,) = ibidem.find([first, second], max_gap_sentences=0, align=False)
    assert (passage.a.start, passage.b.start) == (first.index("The ferry"), second.index("The ferry"))
    first = first.replace(" it rained", "")
    (passage,) = ibidem.find([first, second], max_gap_sentences=0, align=False)
    assert passage.a.text.startswith("on that morning in May")
    assert (passage.a_sentence, passage.b_sentence) == (1, 3)
