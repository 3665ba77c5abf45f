"""Excerpts of long documents: what is left out changes nothing, and what is cut is what others may share."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibidem.passages.exchange.excerpts import numbers_of_slots
from ibidem.passages.kernels import excerpts as kernels
from tests.execution.parity import found_apart, local_tables
from tests.texts import changed, render, text, word


def long_records(seed: int, n_documents: int) -> list[dict[str, Any]]:
    """Return long documents of sentences of their own, with a few stretches that others have too, edited or interrupted.

    Some sentences have no words, some stretches occur very often.
    """
    chance = random.Random(seed)
    own = iter(range(10**6))

    def new_sentence() -> str:
        if chance.random() < 0.1:
            return chance.choice(["* * *", "1.", "— !"])
        number = next(own)
        return render([word(9000 + number % 9000), word(number // 9000), word(number % 97), *map(word, range(3))])

    def stretch() -> list[str]:
        first = chance.choice([0, 10, 20, 30])
        sentences = []
        for number in range(first, first + chance.randint(1, 8)):
            sentences.append(changed(number) if chance.random() < 0.15 else text(number))
            sentences += [new_sentence() for _ in range(chance.choice([0, 0, 0, 0, 1, 3, 6]))]
        return sentences

    records = []
    for number in range(n_documents):
        sentences: list[str] = []
        for _ in range(chance.randint(0, 4)):
            sentences += [new_sentence() for _ in range(chance.choice([0, 1, 2, 5, 12]))]
            sentences += stretch()
        sentences += [new_sentence() for _ in range(chance.choice([0, 1, 9]))] or [text(50)]
        records.append(
            {"id": f"d{number}", "text": "\n\n".join(sentences), "time": chance.choice([None, "2020-01-01", "2021"])}
        )
    return records


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_long_documents_that_share_little(data: Any) -> None:
    seed = data.draw(st.integers(0, 10**6))
    records = long_records(seed, data.draw(st.integers(2, 12)))
    chosen = {
        "signature": data.draw(st.sampled_from(["exact", "words"])),
        "max_places": data.draw(st.sampled_from([3, 6, 100])),
        "min_sentences": data.draw(st.sampled_from([1, 2, 3])),
        "same_document": data.draw(st.booleans()),
        "max_gap_sentences": data.draw(st.sampled_from([0, 1, 4])),
        "min_quote_words": data.draw(st.sampled_from([0, 5])),
        "min_words": data.draw(st.sampled_from([1, 10, 60])),
    }
    against = long_records(seed + 1, 5) if data.draw(st.booleans()) else None
    partitions = data.draw(st.sampled_from([1, 2, 3, 7]))
    assert found_apart(records, against, partitions, 3, seed, **chosen) == local_tables(records, against, **chosen)


@pytest.mark.parametrize(
    ("n_between", "third", "chosen"),
    [
        ((4, 3), False, {"min_words": 100}),
        ((4, 4), True, {"min_words": 60}),
        ((2, 1), False, {"min_words": 100, "min_sentences": 1, "max_gap_sentences": 2}),
        ((7, 6), False, {"max_gap_sentences": 7, "min_sentences": 4}),
    ],
)
@pytest.mark.parametrize("signature", ["exact", "words"])
def test_documents_that_are_alike_but_for_their_middle(
    n_between: tuple[int, int], third: bool, chosen: dict[str, Any], signature: str
) -> None:
    a, b = (
        text(1, 2, 3) + " " + " ".join(text(100 * side + k) for k in range(n)) + " " + text(4, 5, 6)
        for side, n in enumerate(n_between, 1)
    )
    records = [{"id": "a", "text": a}, {"id": "b", "text": b}]
    if third:  # shares what a has in the middle
        records.append({"id": "c", "text": text(300, 301) + " " + " ".join(text(100 + k) for k in range(n_between[0]))})
    for partitions in (1, 2):
        apart = found_apart(records, None, partitions, signature=signature, **chosen)
        assert apart == local_tables(records, None, signature=signature, **chosen)


@pytest.mark.parametrize("seed", range(200))
def test_stretches_go_as_far_as_a_text_can(seed: int) -> None:
    chance = random.Random(seed)
    n_rows, reach = chance.randint(0, 25), chance.randint(0, 3)
    hot, known = ([chance.random() < share for _ in range(n_rows)] for share in (0.6, 0.85))
    bounds = sorted({0, n_rows, *(chance.randint(0, n_rows) for _ in range(2))})
    document_first = np.array(bounds, np.int64)
    document = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)).astype(np.int32)
    low, high = np.empty((2, n_rows), np.int64)
    kernels.bound_stretches(np.array(hot, bool), np.array(known, bool), document, document_first, reach, low, high)
    for row in range(n_rows):
        if not known[row]:
            continue  # no gram begins there
        rows = [r for r in range(n_rows) if document[r] == document[row]]
        reached = set()
        for step in (-1, 1):
            at, is_joined = row, True
            while at in rows and known[at] and (is_joined or abs(at - row) <= reach):
                reached.add(at)
                at += step
                is_joined = is_joined and at in rows and hot[at]
        assert set(range(low[row], high[row])) == reached


def test_slots_are_numbered_as_in_the_whole_document() -> None:
    # Of the first document the sentences 0, 1, 5, 6 are there, then a gap to its end at 9; the second one is whole.
    columns = {"digest": [[1, 2, 0, 6, 7, 0], [1, 2]], "gaps": [[2, 5], []], "gap_sizes": [[3, 2], []]}
    table = pa.table({name: pa.array(values, pa.list_(pa.int32())) for name, values in columns.items()})
    assert numbers_of_slots(table).tolist() == [0, 1, 2, 5, 6, 7, 9, 0, 1, 2]
