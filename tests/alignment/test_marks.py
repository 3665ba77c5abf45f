"""Marks on their way to others: of a key with very many places, no more are sent than show that they are too many."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.alignment.candidates import MOST_PLACES
from ibidem.alignment.exchange.marks import _too_many


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([0, 1, 1024, 1025, 2**31, 2**32 - 1]), max_size=80))
def test_one_more_than_allowed_is_enough(keys: list[int]) -> None:
    sent = Counter(np.array(keys, np.uint32)[~_too_many(np.array(keys, np.uint32))].tolist())
    assert sent == {key: min(n, MOST_PLACES + 1) for key, n in Counter(keys).items()}
