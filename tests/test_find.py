"""`find` from texts to located passages: equal to brute force, and by hand where the rules are finer."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.errors import RepeatedIdError
from tests.oracles import expected_diagonals, expected_passages, jaccard
from tests.texts import changed, documents, only, places, render, text, word, words

Sentence = tuple[str, ...]

LIMITS = ["0.3", "1/3", "0.4", "0.5", "0.55", "0.6", "2/3", "5/7", "0.75", "0.8", "0.9", "1"]


def variants(number: int) -> list[Sentence]:
    """A sentence and slight changes of it: some are alike through others only."""
    base = words(number, 3 + number)
    extra = [word(5000 + 10 * number + i) for i in range(4)]
    return [
        base,
        base[::-1],
        (*base, base[0]),
        (*base, extra[0]),
        (extra[1], *base[1:]),
        (extra[1], extra[2], *base[2:]),
        (*base, extra[0], extra[3]),
    ]


POOL = [variant for number in range(4) for variant in variants(number)]
SENTENCES = st.one_of(st.sampled_from(POOL), st.sampled_from(POOL[:3]), st.sampled_from([POOL[0], POOL[7], POOL[14]]))
COLLECTIONS = st.lists(st.lists(SENTENCES, min_size=1, max_size=8), min_size=1, max_size=4)


def word_likeness(a: Sentence, b: Sentence) -> Fraction:
    return jaccard(frozenset(a), frozenset(b))  # type: ignore[arg-type]


def equal(a: Sentence, b: Sentence) -> Fraction:
    return Fraction(a == b)


def located(collection: Sequence[Sequence[Sentence]]) -> tuple[list[dict[str, str]], list[list[int]]]:
    """Return the records of a collection, and where each of its sentences starts, with the end of the text."""
    texts = [[render(sentence) for sentence in document] for document in collection]
    starts = [[sum(len(s) + 1 for s in sentences[:k]) for k in range(len(sentences) + 1)] for sentences in texts]
    return documents(*[" ".join(sentences) for sentences in texts]), starts


def answer(result: ibidem.Result) -> dict[tuple[str | int, ...], tuple[float, str]]:
    found = {(*place, p.n_sentences): (p.similarity, p.kind) for place, p in zip(places(result), result, strict=True)}
    assert len(found) == len(result), "a passage came out twice"
    return found


def in_characters(expected: dict, starts: Sequence[Sequence[int]]) -> dict:  # type: ignore[type-arg]
    return {
        (f"d{d}", starts[d][i], starts[d][i + n] - 1, f"d{e}", starts[e][j], starts[e][j + n] - 1, n): (
            pytest.approx(float(similarity), abs=1e-12),
            kind,
        )
        for (d, i, e, j, n), (similarity, kind) in expected.items()
    }


@settings(max_examples=500, deadline=None)
@given(COLLECTIONS, st.sampled_from(LIMITS), st.integers(1, 4), st.sampled_from([0, 4, 6]), st.booleans())
@example([[("ba", "do", "fi"), ("su", "ta", "fi"), ("su", "do", "fi")]], "0.3", 1, 0, True)  # cut before it was compared
def test_near_passages_equal_brute_force(
    collection: list[list[Sentence]], limit: str, size: int, min_quote_words: int, same_document: bool
) -> None:
    records, starts = located(collection)
    result = ibidem.find(
        records, signature="words", min_similarity=limit, min_sentences=size, max_gap_sentences=0, min_words=1,
        min_quote_words=min_quote_words, same_document=same_document, extend_ends=False, workers=1,
    )  # fmt: skip
    expected = expected_passages(collection, size, word_likeness, Fraction(limit), min_quote_words, same_document)
    assert answer(result) == in_characters(expected, starts)
    order = [(*place[::3], *place[1::3]) for place in places(result)]
    assert order == sorted(order), "rows come in reading order"


@settings(max_examples=300, deadline=None)
@given(COLLECTIONS, st.integers(1, 4), st.sampled_from([0, 4, 6]), st.booleans())
def test_exact_passages_equal_brute_force(
    collection: list[list[Sentence]], size: int, min_quote_words: int, same_document: bool
) -> None:
    records, starts = located(collection)
    result = ibidem.find(
        records, signature="exact", min_sentences=size, max_gap_sentences=0, min_words=1,
        min_quote_words=min_quote_words, same_document=same_document, extend_ends=False, workers=1,
    )  # fmt: skip
    expected = expected_passages(collection, size, equal, Fraction(1), min_quote_words, same_document)
    assert answer(result) == in_characters(expected, starts)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(POOL[:28:7]), min_size=1, max_size=8), min_size=2, max_size=5),
    st.integers(1, 3),
    st.sampled_from([0, 4, 6]),
    st.integers(2, 4),
)
def test_what_stands_in_many_places_is_not_paired(
    collection: list[list[Sentence]], size: int, min_quote_words: int, max_places: int
) -> None:
    records, starts = located(collection)
    result = ibidem.find(
        records, signature="exact", min_sentences=size, max_gap_sentences=0, min_words=1,
        min_quote_words=min_quote_words, max_places=max_places, extend_ends=False, workers=1,
    )  # fmt: skip
    lengths = [[len(sentence) for sentence in document] for document in collection]
    diagonals = expected_diagonals(collection, lengths, size, min_quote_words, max_places, lambda d, e: True)
    assert set(answer(result)) == set(in_characters(dict.fromkeys(diagonals, (1, "")), starts))
    for repeat in result.repeats.to_pylist():
        texts = {record["id"]: record["text"] for record in records}
        assert len(repeat["places"]) >= 2
        assert {texts[p["id"]][p["start"] : p["end"]] for p in repeat["places"]} == {repeat["text"]}
        assert repeat["n_documents"] == len({p["id"] for p in repeat["places"]})


@settings(max_examples=300, deadline=None)
@given(COLLECTIONS, st.sampled_from(["0.4", "0.6", "0.8"]), st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_chains_hold_every_run_once_and_in_order(
    collection: list[list[Sentence]], limit: str, size: int, max_gap: int, same_document: bool
) -> None:
    """Whatever is chained with what: no run is lost, and each passage is what its own texts say."""
    records, starts = located(collection)
    result = ibidem.find(
        records, min_similarity=limit, min_sentences=size, max_gap_sentences=max_gap, min_words=1, min_quote_words=0,
        same_document=same_document, extend_ends=False, align=False, workers=1,
    )  # fmt: skip
    found = places(result)
    runs = in_characters(expected_passages(collection, size, word_likeness, Fraction(limit), 0, same_document), starts)
    for a_id, a_start, a_end, b_id, b_start, b_end, _ in runs:
        assert any(
            (a, b) == (a_id, b_id) and s <= a_start and a_end <= e and t <= b_start and b_end <= f for a, s, e, b, t, f in found
        )
    assert len(set(found)) == len(found)
    order = [(*place[::3], *place[1::3]) for place in found]
    assert order == sorted(order)
    for passage, (d, *_) in zip(result, found, strict=True):
        assert 0 < passage.similarity <= 1
        edges = [starts[int(d[1:])], starts[int(passage.b.id[1:])]]
        n_a, n_b = (
            bounds.index(side.end + 1) - bounds.index(side.start)
            for bounds, side in zip(edges, (passage.a, passage.b), strict=True)
        )
        assert passage.n_sentences <= min(n_a, n_b)
        if passage.kind == "exact":
            assert passage.a.text == passage.b.text
            assert passage.n_sentences == n_a == n_b


# Gaps. Sentences have six words each; the numbers are sentences, so that the tables below can be read.


@pytest.mark.parametrize(
    ("a", "b", "max_gap", "spans"),
    [
        pytest.param((1, 2, 3, 90, 4, 5, 6), (1, 2, 3, 91, 4, 5, 6), 0, [(0, 3, 0, 3), (4, 7, 4, 7)], id="none allowed"),
        pytest.param((1, 2, 3, 90, 4, 5, 6), (1, 2, 3, 91, 4, 5, 6), 1, [(0, 7, 0, 7)], id="one on both sides"),
        pytest.param((1, 2, 3, 90, 4, 5, 6), (1, 2, 3, 4, 5, 6), 1, [(0, 7, 0, 6)], id="one on one side"),
        pytest.param(
            (1, 2, 3, 4, 5, 6), (1, 2, 3, 91, 92, 4, 5, 6), 1, [(0, 3, 0, 3), (3, 6, 5, 8)], id="two are one too many"
        ),
        pytest.param((1, 2, 3, 4, 5, 6), (1, 2, 3, 91, 92, 4, 5, 6), 2, [(0, 6, 0, 8)], id="two allowed"),
        pytest.param((1, 2, 3, 90, 93, 4, 5, 6), (1, 2, 3, 91, 4, 5, 6), 2, [(0, 8, 0, 7)], id="unequal gaps"),
        pytest.param((1, 2, 3, 90, 4, 5, 6, 93, 7, 8, 9), (1, 2, 3, 4, 5, 6, 7, 8, 9), 1, [(0, 11, 0, 9)], id="three runs"),
        pytest.param((1, 2, 3, 4, 5, 6), (4, 5, 6, 1, 2, 3), 2, [(0, 3, 3, 6), (3, 6, 0, 3)], id="the other order is no chain"),
        pytest.param((1, 2, 3, 90, 4, 5), (1, 2, 3, 91, 4, 5), 1, [(0, 3, 0, 3)], id="a short run is not taken in"),
    ],
)
def test_runs_are_chained_across_gaps(
    a: tuple[int, ...], b: tuple[int, ...], max_gap: int, spans: list[tuple[int, int, int, int]]
) -> None:
    records = documents(text(*a), text(*b))
    for signature in ("words", "exact"):
        result = ibidem.find(records, signature=signature, max_gap_sentences=max_gap, min_quote_words=0)
        length = len(text(1)) + 1
        assert places(result) == [
            ("d0", a_from * length, a_to * length - 1, "d1", b_from * length, b_to * length - 1)
            for a_from, a_to, b_from, b_to in spans
        ]


def test_a_gap_counts_as_words_without_likeness() -> None:
    result = ibidem.find(documents(text(1, 2, 3, 90, 4, 5, 6), text(1, 2, 3, 4, 5, 6)), max_gap_sentences=1)
    passage = only(result)
    assert (passage.n_sentences, passage.kind) == (6, "near")
    assert passage.similarity == pytest.approx(2 * 36 / (42 + 36))


def test_similarity_is_the_mean_of_the_sentences_by_their_words() -> None:
    a = text(1, 2) + " " + text(3, count=10)
    b = text(1) + " " + changed(2) + " " + changed(3, n_words=2, count=10)
    passage = only(ibidem.find(documents(a, b), min_similarity="0.6"))
    # Jaccard: 6/6 of 12 words, 5/7 of 12 words, 8/12 of 20 words.
    assert passage.similarity == pytest.approx((12 * 1 + 12 * 5 / 7 + 20 * 8 / 12) / 44)
    assert (passage.kind, passage.n_sentences) == ("near", 3)


def test_a_limit_is_inclusive_and_exact() -> None:
    """Sets of 4 of 5 words: 0.8 is 4/5, neither a little more nor less."""
    a, b = text(1, 2, 3, count=4), " ".join(render((*words(n, 4), word(7000 + n))) for n in (1, 2, 3))
    assert len(ibidem.find(documents(a, b), min_similarity=0.8)) == 1
    assert len(ibidem.find(documents(a, b), min_similarity="0.800001")) == 0


def test_kinds() -> None:
    long_sentence, other = text(50, count=14), text(60, 61, 62)
    exact = only(ibidem.find(documents(text(1, 2, 3, 4), other + " " + text(1, 2, 3))))
    assert (exact.kind, exact.similarity, exact.n_sentences) == ("exact", 1.0, 3)
    near = only(ibidem.find(documents(text(1, 2, 3), text(1, 2) + " " + changed(3)), min_similarity="0.7"))
    assert (near.kind, near.n_sentences) == ("near", 3)
    quote = only(ibidem.find(documents(text(1) + " " + long_sentence + " " + text(2), other + " " + long_sentence)))
    assert (quote.kind, quote.similarity, quote.n_sentences) == ("quote", 1.0, 1)
    assert quote.a.text == quote.b.text == long_sentence
    assert len(ibidem.find(documents(long_sentence + text(1), long_sentence + text(2)), min_quote_words=15)) == 0


def test_case_and_marks_do_not_make_a_difference() -> None:
    a = text(1, 2, 3)
    passage = only(ibidem.find(documents(a, a.upper().replace(".", "!")), signature="exact"))
    assert (passage.kind, passage.a.text, passage.b.text) == ("exact", a, a.upper().replace(".", "!"))


def test_one_changed_name_inside_a_sentence_is_found() -> None:
    story = (
        "The council of {} voted on Monday evening to close the old swimming bath at the river for good. "
        "Repairs would cost more than the town takes in with its entrance fees over twenty whole years."
    )
    a, b = story.format("Marlow"), story.format("Henfield")
    near = only(ibidem.find(documents(a, b)))
    assert (near.a.text, near.b.text) == (a, b)
    assert 0.8 < near.similarity < 1
    assert near.kind == "near"  # two sentences are less than three, but they are all of both texts
    exact = only(ibidem.find(documents(a, b), signature="exact"))
    assert exact.a.text == a[a.index("voted") :]  # as far as words are the same
    assert only(ibidem.find(documents(a, b), signature="exact", extend_ends=False)).a.text == a.split(". ")[1]


# Which documents are compared, and in which direction.


@pytest.mark.parametrize(
    ("a_time", "b_time", "direction"),
    [
        ("2024-03-01", "2024-03-02", "a_to_b"),
        ("2024-03-02", "2024-03-01", "b_to_a"),
        ("2024-03-01T10:00:00+02:00", "2024-03-01T09:00:00Z", "a_to_b"),
        ("2024-03-01T10:00:00Z", "2024-03-01T12:00:00+02:00", "unknown"),
        (1_700_000_000, 1_700_000_001, "a_to_b"),
        ("2024-03-01", None, "unknown"),
        (None, "2024-03-01", "unknown"),
        (None, None, "unknown"),
    ],
)
def test_direction_is_by_time(a_time: str | int | None, b_time: str | int | None, direction: str) -> None:
    records = [{"id": "a", "text": text(1, 2, 3), "time": a_time}, {"id": "b", "text": text(1, 2, 3), "time": b_time}]
    assert only(ibidem.find(records)).direction == direction


def test_against_compares_the_inputs_with_the_reference_only() -> None:
    inputs = documents(x=text(1, 2, 3), y=text(1, 2, 3), z=text(7, 8, 9))
    reference = documents(x=text(0) + " " + text(1, 2, 3), w=text(1, 2, 3), v=text(1, 2, 3))
    result = ibidem.find(inputs, against=reference)
    length, shift = len(text(1, 2, 3)), len(text(0)) + 1
    assert places(result) == [
        (a, 0, length, b, start, start + length) for a in "xy" for b, start in (("x", shift), ("w", 0), ("v", 0))
    ]
    for passage in result:
        assert passage.a.text == passage.b.text == text(1, 2, 3)
    assert result.documents["id"].to_pylist() == ["x", "y", "z"]
    assert result.documents["reused_share"].to_pylist() == [1.0, 1.0, 0.0]
    assert result.documents["first_share"].to_pylist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("reference", [[], [{"id": "r", "text": ""}]], ids=["no record", "all skipped"])
def test_against_nothing_never_compares_the_inputs_among_themselves(reference: list[dict[str, str]]) -> None:
    records = documents(text(1, 2, 3), text(1, 2, 3))
    try:
        result = ibidem.find(records, against=reference)
    except ibidem.InputError:
        return
    assert len(result) == 0


def test_a_repeated_id_is_an_error() -> None:
    with pytest.raises(RepeatedIdError, match=r"the id 'y{100}…' occurs twice"):
        ibidem.find(documents(text(1), text(2)) + [{"id": "y" * 2400, "text": text(3)}] * 2)
    with pytest.raises(RepeatedIdError, match="'x' occurs twice: records, record 1 and records, record 3"):
        ibidem.find([*documents(x=text(1), y=text(2)), *documents(x=text(3))])


def test_a_repeated_id_in_the_reference_is_an_error() -> None:
    with pytest.raises(RepeatedIdError, match="'x'"):
        ibidem.find(documents(text(1, 2, 3)), against=[*documents(x=text(1, 2, 3)), *documents(x=text(1, 2, 3))])


def test_documents_of_one_group_are_left_out_if_asked_for() -> None:
    groups = {"a": "north", "b": "north", "c": "south", "d": None, "e": None}
    records = [{"id": name, "text": text(1, 2, 3), "group": group} for name, group in groups.items()]
    every_pair = {(a, b) for a in "abcde" for b in "abcde" if a < b}
    assert {(p.a.id, p.b.id) for p in ibidem.find(records)} == every_pair
    assert {(p.a.id, p.b.id) for p in ibidem.find(records, skip_same_group=True)} == every_pair - {("a", "b")}


def test_a_passage_twice_in_one_document() -> None:
    records = documents(text(1, 2, 3, 9, 1, 2, 3))
    assert len(ibidem.find(records)) == 0
    passage = only(ibidem.find(records, same_document=True))
    assert passage.a.id == passage.b.id == "d0"
    assert passage.a.text == passage.b.text == text(1, 2, 3)
    assert passage.a.end < passage.b.start


def test_short_documents_that_are_alike_as_wholes_are_found() -> None:
    records = documents("Velmo tarrin.", "velmo TARRIN", "Velmo quovex tarrin.", "Something else again.")
    assert places(ibidem.find(records)) == [("d0", 0, 13, "d1", 0, 12)]


# Paper mode.


def test_paper_mode_wants_more_than_min_sentences() -> None:
    records = documents(text(1, 2, 3, 70), text(1, 2, 3, 80, 81))
    assert len(ibidem.find(records, min_sentences=3)) == 1
    assert len(ibidem.find(records, min_sentences=3, paper=True)) == 0
    assert only(ibidem.find(records, min_sentences=2, paper=True)).n_sentences == 3


def test_paper_mode_has_no_quotes_and_no_gaps() -> None:
    quote = text(50, count=14)
    assert len(ibidem.find(documents(quote + text(1), quote + text(2)), paper=True)) == 0
    gapped = documents(text(1, 2, 3, 90, 4, 5, 6), text(1, 2, 3, 91, 4, 5, 6))
    assert [p.n_sentences for p in ibidem.find(gapped, paper=True, min_sentences=2)] == [3, 3]


def test_paper_mode_has_nothing_shorter() -> None:
    assert len(ibidem.find(documents(text(1, 2), text(1, 2)), paper=True, min_sentences=3)) == 0


# Nothing depends on how the work is done.


def test_any_number_of_workers_and_any_run_gives_the_same_tables() -> None:
    numbers = [(7 * i * i + 3 * j) % 60 for i in range(80) for j in range(12)]
    texts = [text(*numbers[12 * i : 12 * i + 12]) + " " + changed(i % 9) for i in range(80)]
    records = [{"id": f"d{i}", "text": value, "time": 1_000_000 + i % 7} for i, value in enumerate(texts)]
    runs = [ibidem.find(records, min_similarity="0.6", max_places=20, workers=n) for n in (1, 3, 3, 8)]
    assert len(runs[0]) > 100
    assert runs[0].repeats.num_rows > 0
    for one, other in pairwise(runs):
        for name in ("passages", "documents", "repeats"):
            assert getattr(one, name).equals(getattr(other, name)), name


@pytest.mark.parametrize("setting", ["time_field", "group_field"])
def test_a_field_that_no_record_has_is_an_error(setting: str) -> None:
    with pytest.raises(ibidem.InputError, match="'tiem'"):
        ibidem.find(documents(text(1, 2, 3), text(1, 2, 3)), **{setting: "tiem"})
