"""`find` gives the same passages in every order of the documents, up to which side is called a."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.columns.hashes import FACTOR, SEED
from ibidem.columns.texts import hash_strings
from tests.texts import render, word, words

Sentence = tuple[str, ...]
Record = dict[str, str]

UNCAPPED = 10**9


def variants(number: int) -> list[Sentence]:
    """A sentence, copies with a word more or another word, and one of the same words that counts as equal or near."""
    base = words(number, 5 + number)
    return [base, (*base, word(5000 + number)), (word(6000 + number), *base[1:]), (*base, base[0])]


POOL = [variant for number in range(3) for variant in variants(number)]
ALONE = [words(100 + number, 4 + number % 3) for number in range(40)]  # stand once or twice: the gaps
SENTENCES = st.one_of(st.sampled_from(POOL[::4]), st.sampled_from(POOL), st.sampled_from(ALONE))
COLLECTIONS = st.lists(st.lists(SENTENCES, min_size=1, max_size=14), min_size=2, max_size=4)
SETTINGS = st.fixed_dictionaries(
    {
        "signature": st.sampled_from(["exact", "words", "words", "shingles", "fingerprint"]),
        "min_similarity": st.sampled_from(["0.5", "2/3", "0.8"]),
        "min_sentences": st.integers(1, 3),
        "min_words": st.sampled_from([1, 1, 12]),
        "min_quote_words": st.sampled_from([0, 1, 6]),
        "max_gap_sentences": st.integers(0, 4),
        "max_places": st.sampled_from([UNCAPPED, UNCAPPED, 3]),
        "same_document": st.booleans(),
    }
)


def passages(records: Sequence[Record], **limits: Any) -> Counter[tuple[object, ...]]:
    """Return what is found, without the order: the side of the smaller id first, similarities to the last bit."""
    found: Counter[tuple[object, ...]] = Counter()
    for p in ibidem.find(records, workers=1, **limits):
        a, b = (p.a.id, p.a.start, p.a.end), (p.b.id, p.b.start, p.b.end)
        if b[0] < a[0]:
            a, b = b, a
        found[(*a, *b, p.n_sentences, p.similarity.hex(), p.kind)] += 1
    return found


@settings(max_examples=500, deadline=None)
@given(COLLECTIONS, st.sampled_from(["d", "document ", "é"]), SETTINGS, st.randoms(use_true_random=False))
def test_the_order_of_the_documents_does_not_matter(
    collection: list[list[Sentence]], name: str, limits: dict[str, Any], chance: random.Random
) -> None:
    records = [{"id": f"{name}{i}", "text": " ".join(map(render, d))} for i, d in enumerate(collection)]
    expected = passages(records, **limits)
    assert passages(records[::-1], **limits) == expected
    chance.shuffle(records)
    assert passages(records, **limits) == expected


@pytest.mark.parametrize("signature", ["exact", "words"])
@pytest.mark.parametrize("seed", range(4))
def test_nor_does_it_where_chains_look_back_as_far_as_they_may(seed: int, signature: str) -> None:
    """Several hundred runs a pair: more than the 50 that chains look back over, and more than 200 passages."""
    chance = random.Random(seed)
    texts = [" ".join(render(chance.choice([*POOL, *ALONE[:8]])) for _ in range(90)) for _ in range(4)]
    records = [{"id": f"{seed} {i}", "text": value} for i, value in enumerate(texts)]
    limits = {"signature": signature, "min_sentences": 1, "min_quote_words": 1, "max_gap_sentences": 2, "max_places": UNCAPPED}
    expected = passages(records, **limits)
    pairs = Counter((place[0], place[3]) for place in expected)
    assert max(pairs.values()) > 200
    for _ in range(3):
        chance.shuffle(records)
        assert passages(records, **limits) == expected


def test_passages_stand_in_reading_order_whichever_document_leads() -> None:
    chance = random.Random(5)
    records = [{"id": f"d{i}", "text": " ".join(render(chance.choice(POOL)) for _ in range(30))} for i in range(6)]
    for turned in (records, records[::-1]):
        number = {record["id"]: i for i, record in enumerate(turned)}
        result = ibidem.find(turned, max_places=UNCAPPED, min_sentences=2, same_document=True, align=False)
        order = [(number[p.a.id], number[p.b.id], p.a.start, p.b.start) for p in result]
        assert order == sorted(order)
        assert all(a <= b for a, b, *_ in order)
        assert len({(a, b) for a, b, *_ in order}) == 21


@given(st.lists(st.text()), st.integers(0, 3), st.integers(0, 3))
def test_strings_are_hashed_byte_by_byte(strings: list[str], skipped: int, dropped: int) -> None:
    array = pa.array(strings, pa.large_string())[skipped : max(skipped, len(strings) - dropped)]
    expected = []
    for string in array.to_pylist():
        h = int(SEED)
        for byte in string.encode():
            h = ((h ^ byte) * FACTOR) % 2**64
            h ^= h >> 32
        expected.append(h)
    assert hash_strings(array).tolist() == expected


def test_ids_are_hashed_by_document() -> None:
    records = [{"id": name, "text": "One."} for name in ("a", "b", "é", "a longer name")]
    hashes = ibidem.find(records).backing.documents.id_hashes
    assert hashes.dtype == np.uint64
    assert hashes.tolist() == hash_strings(pa.array([r["id"] for r in records], pa.large_string())).tolist()
    assert len(set(hashes.tolist())) == 4
