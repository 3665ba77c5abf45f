"""How a stage gives its work to an engine: as parts, run in any order, whose outcomes come back in the order of the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

LEAST_COST = 500  # handing out a part takes about ten microseconds, however small it is
Part = TypeVar("Part")
Outcome = TypeVar("Outcome")


class RunTasks(Protocol):
    """Runs one function over the parts of a stage; outcomes come in the order of the parts."""

    def __call__(self, function: Callable[[Part], Outcome], parts: Iterable[Part]) -> Iterator[Outcome]:
        """Run the function over all parts."""
        ...


def in_turn(function: Callable[[Any], Any], parts: Iterable[Any]) -> Iterator[Any]:
    """Run the parts one by one: the simplest engine."""
    return map(function, parts)


def at_once(job: Callable[[], Outcome]) -> Callable[[], Outcome]:
    """Run a job that may run beside others, and return how to get its outcome."""
    outcome = job()
    return lambda: outcome


def split_by_cost(costs: NDArray[np.int64], n_parts: int) -> Sequence[tuple[int, int]]:
    """Cut items into at most `n_parts` consecutive parts of about equal cost, none of them too cheap to be worth it."""
    if len(costs) == 0:
        return []
    total = np.cumsum(costs)
    n_parts = min(n_parts, 1 + int(total[-1]) // LEAST_COST)
    if n_parts == 1:
        return [(0, len(costs))]
    cuts = np.unique(np.searchsorted(total, np.linspace(0, int(total[-1]), n_parts + 1)[1:-1]))
    bounds = [0, *[int(c) for c in cuts if 0 < c < len(costs)], len(costs)]
    return list(pairwise(bounds))
