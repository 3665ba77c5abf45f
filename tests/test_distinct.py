"""Orders of columns."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ibidem.columns.distinct import stable_order


@given(st.lists(st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1)), max_size=60))
def test_equal_values_stay_in_order(values: list[int]) -> None:
    assert stable_order(np.array(values, np.uint64)).tolist() == sorted(range(len(values)), key=values.__getitem__)
