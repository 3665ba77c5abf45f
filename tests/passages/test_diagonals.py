"""The gram join finds exactly the promised diagonals."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.columns.rows import Pairing, Rows
from ibidem.config import PassagesConfig
from ibidem.execution.threads import Threads
from ibidem.passages.diagonals import find_diagonals
from ibidem.passages.repeats import find_repeats
from tests.oracles import expected_diagonals


def rows_of(documents: list[list[int]], words: list[list[int]]) -> Rows:
    lengths = [len(d) for d in documents]
    classes = np.array([c for d in documents for c in d], np.uint64)
    n_words = np.array([n for d in words for n in d], np.int32)
    return Rows(
        classes,
        np.repeat(np.arange(len(documents), dtype=np.int32), lengths),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        n_words,
        np.cumsum(n_words) - n_words,
        np.arange(len(classes), dtype=np.int32),
    )


def located(diagonals: np.ndarray, rows: Rows) -> list[tuple[int, int, int, int, int]]:
    found = []
    for x, y, length in diagonals.tolist():
        d, e = int(rows.document[x]), int(rows.document[y])
        found.append((d, x - int(rows.document_first[d]), e, y - int(rows.document_first[e]), length))
    return found


def repeats_of(rows: Rows, flags: np.ndarray, config: PassagesConfig) -> list[tuple[list[int], int]]:
    """Return the first rows and the length of every repeat."""
    repeats = find_repeats(rows, flags, config, NO_PAIRING, None)
    bounds = repeats.first.tolist()
    assert len(repeats) == len(bounds) - 1
    return [
        (repeats.start[begin:end].tolist(), int(repeats.end[begin] - repeats.start[begin])) for begin, end in pairwise(bounds)
    ]


@st.composite
def class_collections(draw: st.DrawFn) -> tuple[list[list[int]], list[list[int]]]:
    n_classes = draw(st.integers(1, 6))
    documents = draw(st.lists(st.lists(st.integers(1, n_classes), max_size=12), min_size=1, max_size=7))
    words = [[draw(st.integers(1, 4)) for _ in d] for d in documents]
    return documents, words


NO_PAIRING = Pairing(False, np.empty(0, np.int8), np.empty(0, np.int32))


@settings(max_examples=1500, deadline=None)
@given(
    class_collections(),
    st.integers(1, 4),
    st.integers(0, 4),
    st.integers(2, 12),
    st.booleans(),
    st.sampled_from(["all", "against", "groups"]),
)
def test_diagonals_are_exactly_the_promised_ones(collection, size, min_words, max_places, same_document, who) -> None:  # type: ignore[no-untyped-def]
    documents, words = collection
    config = PassagesConfig(min_sentences=size, min_quote_words=min_words, max_places=max_places)
    pairing = replace(NO_PAIRING, same_document=same_document)
    comparable = lambda d, e: True  # noqa: E731
    if who == "against":
        side = np.array([d % 2 for d in range(len(documents))], np.int8)
        pairing = replace(pairing, side=side)
        comparable = lambda d, e: side[d] != side[e]  # noqa: E731
    elif who == "groups":
        group_numbers = np.array([d % 3 - 1 for d in range(len(documents))], np.int32)
        pairing = replace(pairing, group_numbers=group_numbers)
        comparable = lambda d, e: group_numbers[d] < 0 or group_numbers[d] != group_numbers[e]  # noqa: E731
    rows = rows_of(documents, words)
    found, _ = find_diagonals(rows, config, pairing)
    result = located(found, rows)
    assert len(result) == len(set(result))
    expected = expected_diagonals(documents, words, size, min_words, max_places, comparable, same_document)
    assert set(result) == expected


@settings(max_examples=300, deadline=None)
@given(class_collections(), st.integers(2, 4), st.integers(2, 6))
def test_hot_windows_come_out_as_repeat_groups(collection, size, max_places) -> None:  # type: ignore[no-untyped-def]
    """Every window of too many places in several documents is in a repeat group, and its group's places are equal texts."""
    documents, words = collection
    rows = rows_of(documents, words)
    config = PassagesConfig(min_sentences=size, min_quote_words=0, max_places=max_places)
    _, flags = find_diagonals(rows, config, NO_PAIRING)
    covered = set()
    for starts, length in repeats_of(rows, flags, config):
        texts = {tuple(rows.classes[s : s + length].tolist()) for s in starts}
        if len(documents[int(rows.document[starts[0]])]) < size:
            continue  # whole short documents
        assert len(texts) == 1
        text = texts.pop()
        covered |= {text[k : k + size] for k in range(len(text) - size + 1)}
    places: dict[tuple[int, ...], list[int]] = {}
    for d, classes in enumerate(documents):
        for i in range(len(classes) - size + 1):
            places.setdefault(tuple(classes[i : i + size]), []).append(d)
    for window, where in places.items():
        if len(where) > max_places and len(set(where)) > 1:
            assert window in covered


def test_a_thousand_equal_lines_are_one_repeat_group() -> None:
    rows = rows_of([[7]] * 1000, [[20]] * 1000)
    diagonals, flags = find_diagonals(rows, PassagesConfig(), NO_PAIRING)
    assert len(diagonals) == 0
    assert [(len(starts), length) for starts, length in repeats_of(rows, flags, PassagesConfig())] == [(1000, 1)]


def test_a_footer_in_very_many_documents_is_one_repeat_group_of_its_whole_length() -> None:
    documents = [[100 + i, 1, 2, 3, 4, 5] for i in range(1500)]
    rows = rows_of(documents, [[20] * 6] * 1500)
    diagonals, flags = find_diagonals(rows, PassagesConfig(), NO_PAIRING)
    assert len(diagonals) == 0
    assert [(len(starts), length) for starts, length in repeats_of(rows, flags, PassagesConfig())] == [(1500, 5)]


def test_workers_change_nothing() -> None:
    random = np.random.default_rng(3)
    documents = [random.integers(1, 30, random.integers(0, 60)).tolist() for _ in range(300)]
    rows = rows_of(documents, [[int(c) for c in d] for d in documents])
    config = PassagesConfig(min_sentences=2, max_places=50)
    alone, _ = find_diagonals(rows, config, NO_PAIRING)
    with Threads(3) as engine:
        shared, _ = find_diagonals(rows, config, NO_PAIRING, engine.run_tasks)
    assert len(alone) > 100
    assert set(map(tuple, alone.tolist())) == set(map(tuple, shared.tolist()))
