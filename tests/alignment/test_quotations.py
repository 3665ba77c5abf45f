"""Short quotations: runs of equal words are found if they say enough, however short; common phrases are not."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.alignment import quotations
from ibidem.alignment.exchange.words import CommonStems
from ibidem.alignment.kernels.candidates import STEM_SLOTS
from ibidem.alignment.kernels.quotations import trim_runs
from ibidem.execution.threads import Threads
from ibidem.sentences.kernels.stems import ATTACHED, SENTENCE_BOUND, STOP_BOUND
from tests.alignment.test_candidates import NO_PAIRING, RANDOM, as_words, collections, many_documents, paired
from tests.alignment.twins import Quoting, expected_quotations
from tests.texts import word


def found_in(documents: list[list[int]], is_open: list[list[bool]], min_words: int, *rest: Any) -> list[tuple[int, ...]]:
    flat = np.array([word for words in is_open for word in words], np.bool_)
    pairing, *engine = rest or (NO_PAIRING,)
    found = quotations.find_quotations(as_words(documents), flat, pairing, min_words, *engine)
    return [tuple(row) for row in found.tolist()]


@settings(max_examples=80, deadline=None)
@given(
    collections(), st.sampled_from(["all", "against", "groups"]), RANDOM, st.sampled_from([1.0, 0.7]),
    st.sampled_from([1, 5, 12]), st.sampled_from([0, 1, 8]),
)  # fmt: skip
def test_quotations_equal_brute_force(
    documents: list[list[int]], who: str, rng: random.Random, share_open: float, min_words: int, few: int
) -> None:
    is_open = [[rng.random() < share_open for _ in words] for words in documents]
    pairing, comparable = paired(documents, who)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quotations, "FEW", few)
        patch.setattr(quotations, "LEAST_BITS", 15.0)
        found = found_in(documents, is_open, min_words, pairing)
    bits = max(15.0, 2 * math.log2(max(1, sum(map(len, documents)))) + quotations.SPARE_BITS)
    assert found == expected_quotations(documents, is_open, Quoting(min_words, bits, few), comparable)


def test_neither_workers_nor_their_number_change_anything() -> None:
    documents = many_documents()
    is_open = [[True] * len(words) for words in documents]
    alone = found_in(documents, is_open, 5)
    assert len(alone) > 50
    with Threads(3) as engine:
        assert found_in(documents, is_open, 5, NO_PAIRING, engine.run_tasks) == alone


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=8, max_size=40), st.integers(0, 30))
def test_counts_that_are_not_sent_make_no_difference(counts: list[int], background: int) -> None:
    """Partitions send what is beyond the few only, also where slots are so full that the few are more."""
    everything = np.full(STEM_SLOTS, background, np.int32)
    everything[: len(counts)] = counts
    slots = np.flatnonzero(everything > quotations.FEW).astype(np.uint32)
    common = CommonStems(slots, everything[slots], 1)
    assert np.array_equal(common.rarity().words, quotations.beyond_few(everything))
    assert not common.rarity().pairs.any()


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(ATTACHED, SENTENCE_BOUND), min_size=12, max_size=12),
    st.lists(st.integers(ATTACHED, SENTENCE_BOUND), min_size=12, max_size=12),
    RANDOM,
)
def test_ends_beyond_a_division_of_one_text_are_left_out(a: list[int], b: list[int], rng: random.Random) -> None:
    size, least = rng.randint(5, 9), 5
    start_a, start_b = rng.randint(0, 11 - size), rng.randint(0, 11 - size)
    spans = np.array([start_a, start_a + size, 12 + start_b, 12 + start_b + size])
    trim_runs(spans, np.array([*a, *b], np.uint8), 3, least)
    differs = [(a[start_a + k] >= STOP_BOUND) != (b[start_b + k] >= STOP_BOUND) for k in range(size + 1)]
    low = max([k for k in range(1, min(3, size - least) + 1) if differs[k]], default=0)
    high = size - max([k for k in range(1, min(3, size - low - least) + 1) if differs[size - k]], default=0)
    assert spans.tolist() == [start_a + low, start_a + high, 12 + start_b + low, 12 + start_b + high]


def prose(rng: random.Random, n: int) -> list[str]:
    """Return words of which few are frequent and most are rare, as in language."""
    return [word(int(rng.paretovariate(0.4)) % 20000) for _ in range(n)]


def collection(**inserted: str) -> list[dict[str, str]]:
    rng = random.Random(7)
    records = []
    for name in "abcdefgh":
        words = prose(rng, 1500)
        words[700:700] = [f"{name}before", *inserted.get(name, "").split(), f"{name}after"]
        records.append({"id": name, "text": " ".join(words).capitalize() + "."})
    return records


def passages_of(records: list[dict[str, str]], **settings: Any) -> list[tuple[str, str, str]]:
    table = ibidem.find(records, align=True, **settings).passages.to_pylist()
    texts = {record["id"]: record["text"] for record in records}
    return [(row["a_id"], row["b_id"], texts[row["a_id"]][row["a_start"] : row["a_end"]]) for row in table]


def test_five_rare_words_are_a_quotation() -> None:
    quoted = " ".join(word(30000 + k) for k in range(5))
    records = collection(b=quoted, f=quoted)
    assert passages_of(records) == []
    assert passages_of(records, min_aligned_words=6) == []
    assert passages_of(records, min_aligned_words=5) == [("b", "f", quoted)]


def test_a_phrase_that_everybody_uses_is_none() -> None:
    """Its words follow one another elsewhere, too."""
    pieces = [" ".join(word(40000 + k) for k in range(start, start + 4)) for start in range(0, 4, 2)]
    everywhere = " ".join(pieces * 60)
    phrase = " ".join(word(40000 + k) for k in range(6))
    records = collection(b=phrase, f=phrase)
    assert passages_of(records, min_aligned_words=5) == [("b", "f", phrase)]
    assert passages_of([*records, {"id": "x", "text": everywhere}], min_aligned_words=5) == []
