"""Distinct values, their order, and where numbers are among known ones, against NumPy's and Python's own functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ibidem.columns.distinct import distinct, order_by, packed, places_of, stable_order


@given(st.lists(st.lists(st.integers(-5, 5) | st.integers(-(1 << 62), 1 << 62), min_size=3, max_size=3)))
def test_distinct_values_of_any_shape(rows: list[list[int]]) -> None:
    values = np.array(rows, np.int64).reshape(-1, 3)
    np.testing.assert_array_equal(distinct(values), np.unique(values))


@given(st.sets(st.integers(-9, 9) | st.integers(0, 1 << 60), min_size=1), st.data())
def test_places_are_those_of_a_search(numbers: set[int], data: st.DataObject) -> None:
    known = np.array(sorted(numbers), np.int64)
    wanted = np.array(data.draw(st.lists(st.sampled_from(sorted(numbers)))), np.int64)
    np.testing.assert_array_equal(places_of(wanted, known), np.searchsorted(known, wanted))


def test_nothing_is_known_and_nothing_wanted() -> None:
    nothing = np.empty(0, np.int64)
    assert len(places_of(nothing, nothing)) == 0


@given(st.lists(st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1)), max_size=60))
def test_equal_values_stay_in_order(values: list[int]) -> None:
    assert stable_order(np.array(values, np.uint64)).tolist() == sorted(range(len(values)), key=values.__getitem__)


LARGE = st.integers(0, 1) | st.integers(0, 2**64 - 1) | st.integers(2**64 - 2, 2**64 - 1)
NARROW = st.integers(-(1 << 31), (1 << 31) - 1) | st.sampled_from([-(1 << 31), -1, 0, (1 << 31) - 1])
ROW = st.tuples(
    st.integers(0, 2), st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-1, 1), st.booleans(), LARGE, NARROW,
    st.integers(-128, 127),
)  # fmt: skip


@given(st.lists(ROW, max_size=60), st.permutations(range(6)), st.integers(1, 6))
def test_columns_are_in_order_one_after_the_other(rows: list[tuple[Any, ...]], order: list[int], n: int) -> None:
    kinds = (np.uint32, np.int64, np.bool_, np.uint64, np.int32, np.int8)
    columns: list[NDArray[Any]] = [np.array([row[k] for row in rows], kinds[k]) for k in order[:n]]
    assert order_by(*columns).tolist() == sorted(range(len(rows)), key=lambda i: [rows[i][k] for k in order[:n]])


@given(st.lists(st.tuples(*[st.integers(-3, 3) | st.integers(-(1 << 40), 1 << 40)] * 3), max_size=40))
def test_one_number_for_several_columns(rows: list[tuple[int, int, int]]) -> None:
    numbers = packed(*np.array(rows, np.int64).reshape(-1, 3).T).tolist()
    for i, row in enumerate(rows):
        assert [number < numbers[i] for number in numbers] == [other < row for other in rows]
