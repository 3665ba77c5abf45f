"""Marks on their way to others: of a key with very many places, no more are sent than show that they are too many."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.alignment.candidates import MOST_PLACES
from ibidem.alignment.exchange import marks
from ibidem.alignment.exchange.aligned_pairs import _are_among
from ibidem.alignment.exchange.marks import _too_many
from ibidem.execution.layout import Layout


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([0, 1, 1024, 1025, 2**31, 2**32 - 1]), max_size=80))
def test_one_more_than_allowed_is_enough(keys: list[int]) -> None:
    sent = Counter(np.array(keys, np.uint32)[~_too_many(np.array(keys, np.uint32))].tolist())
    assert sent == {key: min(n, MOST_PLACES + 1) for key, n in Counter(keys).items()}


MARK = st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 1), st.booleans(), st.integers(0, 2))


@settings(max_examples=200, deadline=None)
@given(st.lists(MARK, max_size=40), st.integers(3, 6), st.booleans())
def test_marks_meet_in_other_documents(
    given_marks: list[tuple[int, int, int, bool, int]], n_input: int, by_group: bool
) -> None:
    names = ["key", "document", "word", "is_open", "group"]
    kinds = [pa.uint32(), pa.uint32(), pa.uint32(), pa.bool_(), pa.uint64()]
    columns = [pa.array([mark[k] for mark in given_marks], kind) for k, kind in enumerate(kinds)]
    table = pa.table(columns, names=names).select(names if by_group else names[:-1])
    sizes = Counter(mark[0] for mark in given_marks)
    wanted: Counter[tuple[int, int]] = Counter()
    for (i, x), (j, y) in combinations(enumerate(given_marks), 2):
        sides = n_input == 6 or (x[1] < n_input) != (y[1] < n_input)
        groups = not by_group or x[4] == 0 or x[4] != y[4]
        if x[0] == y[0] and sizes[x[0]] <= MOST_PLACES and x[1] != y[1] and (x[3] or y[3]) and sides and groups:
            wanted[(i, j) if x[1] < y[1] else (j, i)] += 1
    found = list(marks._meetings(table, Layout(6, n_input, 1)))
    assert Counter(pair for a, b in found for pair in zip(a.tolist(), b.tolist(), strict=True)) == wanted


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9)), st.sets(st.integers(0, 2**64 - 1) | st.integers(0, 9)))
def test_pairs_are_among_known_ones(pairs: list[int], known: set[int]) -> None:
    found = _are_among(np.array(pairs, np.uint64), np.array(sorted(known), np.uint64))
    assert found.tolist() == [pair in known for pair in pairs]
