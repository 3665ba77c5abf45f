"""Who gives a table to a verb and forgets it gets its memory back, without waiting until Python looks for cycles."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import ibidem
from tests.texts import documents, text


class Records(list[dict[str, Any]]):
    """A list that a weak reference can be made to."""


@pytest.fixture
def no_cycles_are_looked_for() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_cycles_are_looked_for")
@pytest.mark.parametrize(
    "verb",
    [ibidem.find, ibidem.cluster, ibidem.tune, lambda inputs: ibidem.compare_pairs(inputs, [("a", "b")])],
    ids=["find", "cluster", "tune", "compare"],
)
def test_inputs_are_released_with_the_run(verb: Callable[[Any], Any]) -> None:
    inputs = Records(documents(a=text(1, 2, 3), b=text(1, 2, 3)))
    known = weakref.ref(inputs)
    result = verb(inputs)
    del inputs
    assert known() is None
    del result
