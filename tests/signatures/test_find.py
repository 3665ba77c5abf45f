"""Each signature from end to end: what it finds, and what it passes over."""

from __future__ import annotations

from typing import Any

import pytest

import ibidem
from ibidem.config import SIGNATURES
from tests.texts import documents, only, places, render, text, word, words

LITTLE = ("the", "of", "and", "in", "to")


def prose(number: int) -> tuple[str, ...]:
    """A sentence of eight rare words with little ones between them."""
    mixed: list[str] = []
    for i, rare in enumerate(words(number, 8)):
        mixed += [LITTLE[(number + i) % len(LITTLE)], rare]
    return tuple(mixed)


def passage(*sentences: tuple[str, ...]) -> str:
    return " ".join(map(render, sentences))


ORIGINAL = passage(prose(1), prose(2), prose(3))
REORDERED = passage(*(prose(n)[::-1] for n in (1, 2, 3)))
OTHER_LITTLE = passage(*(tuple("a" if w in LITTLE else w for w in prose(n)) for n in (1, 2, 3)))
ONE_WORD = passage(*((*prose(n)[:-1], word(8000 + n)) for n in (1, 2, 3)))
HALF = passage(*((*prose(n)[:8], *words(300 + n, 8)) for n in (1, 2, 3)))
FILL = [passage(prose(100 + i), (*words(150 + i, 5), "a", "the")) for i in range(14)]

SETTINGS: dict[str, dict[str, Any]] = {
    "spotsigs": {"antecedents": list(LITTLE), "spot_chain": 1},
    "fingerprint": {"max_document_share": 0.5},
}
FINDS = {
    "exact": {"copy"},
    "words": {"copy", "reordered", "one word"},
    "shingles": {"copy", "one word"},
    "imatch": {"copy", "reordered", "other little words"},
    "spotsigs": {"copy", "one word"},
    "fingerprint": {"copy", "reordered", "other little words"},
}
CHANGES = {
    "copy": ORIGINAL,
    "reordered": REORDERED,
    "other little words": OTHER_LITTLE,
    "one word": ONE_WORD,
    "half": HALF,
}


@pytest.mark.parametrize("signature", SIGNATURES)
@pytest.mark.parametrize("change", CHANGES)
def test_what_a_signature_finds(signature: str, change: str) -> None:
    records = documents(ORIGINAL, CHANGES[change] + " " + FILL[0], *FILL[1:])
    result = ibidem.find(records, signature=signature, min_similarity="0.7", **SETTINGS.get(signature, {}))
    if change in FINDS[signature]:
        found = only(result)
        assert (found.a.text, found.b.text, found.n_sentences) == (ORIGINAL, CHANGES[change], 3)
        assert found.kind == ("exact" if change == "copy" else "near")
        assert (found.similarity == 1.0) == (change in ("copy", "reordered"))
    else:
        assert places(result) == []


def test_the_similarity_of_one_key_signatures_is_that_of_their_words() -> None:
    records = documents(ORIGINAL, OTHER_LITTLE, *FILL)
    found = only(ibidem.find(records, signature="fingerprint", max_document_share=0.5))
    # 8 rare words on both sides; 5 little ones on one side, one on the other.
    assert found.similarity == pytest.approx(8 / 14)


def test_shingles_of_more_words_are_stricter() -> None:
    records = documents(ORIGINAL, ONE_WORD, *FILL)
    assert len(ibidem.find(records, signature="shingles", shingle_size=2, min_similarity="0.8")) == 1
    assert len(ibidem.find(records, signature="shingles", shingle_size=8, min_similarity="0.8")) == 1
    middle = passage(*((*prose(n)[:7], word(8000 + n), *prose(n)[8:]) for n in (1, 2, 3)))
    assert len(ibidem.find(documents(ORIGINAL, middle), signature="shingles", shingle_size=2, min_similarity="0.7")) == 1
    assert len(ibidem.find(documents(ORIGINAL, middle), signature="shingles", shingle_size=8, min_similarity="0.7")) == 0


@pytest.mark.parametrize("signature", SIGNATURES)
def test_paper_mode_of_every_signature_wants_more_than_min_sentences(signature: str) -> None:
    wanted = SETTINGS.get(signature, {}) | {"signature": signature, "paper": True}
    records = documents(ORIGINAL + " " + FILL[0], ORIGINAL + " " + FILL[1], *FILL[2:])
    assert len(ibidem.find(records, min_sentences=3, **wanted)) == 0
    assert only(ibidem.find(records, min_sentences=2, **wanted)).a.text == ORIGINAL


def test_sentences_without_any_word_in_the_range_match_on_paper_only() -> None:
    """PDC-MR as printed gives every empty list the same key."""
    common = [(LITTLE[i],) * (i + 2) for i in range(4)]
    a, b = passage(*common[:3]), passage(*common[1:])
    everywhere = [f"{text(9 + i)} {passage(LITTLE)}" for i in range(6)]
    records = [*documents(x=f"{a} {everywhere[0]}", y=f"{b} {everywhere[1]}"), *documents(*everywhere[2:])]
    assert not [p for p in ibidem.find(records, signature="imatch", min_words=1) if p.a.id == "x"]
    on_paper = [
        p for p in ibidem.find(records, signature="imatch", paper=True, min_sentences=2) if (p.a.id, p.b.id) == ("x", "y")
    ]
    assert any((p.a.text, p.b.text) == (a, b) for p in on_paper)


# Sentences that a signature does not know are skipped.


def spotless(*numbers: int) -> str:
    return text(*numbers)


def test_what_is_stepped_over_is_not_called_equal() -> None:
    a = f"{passage(prose(1), prose(2))} {spotless(40)} {passage(prose(3))}"
    b = f"{passage(prose(1), prose(2))} {spotless(41, 42)} {passage(prose(3))}"
    found = only(ibidem.find(documents(a, b), signature="spotsigs", antecedents=list(LITTLE)))
    assert found.a.text != found.b.text
    assert found.kind == "near"
    assert found.similarity < 1


def test_a_long_stretch_without_signatures_is_a_gap() -> None:
    a = f"{passage(prose(1), prose(2), prose(3))} {spotless(*range(40, 70))} {passage(prose(4), prose(5), prose(6))}"
    b = passage(*(prose(n) for n in range(1, 7)))
    result = ibidem.find(documents(a, b), signature="spotsigs", antecedents=list(LITTLE), max_gap_sentences=2)
    assert [p.n_sentences for p in result] == [3, 3]
