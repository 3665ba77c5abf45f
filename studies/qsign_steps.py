"""Processor time of a search by bit signatures or inverted lists, and of its two steps. Used by the studies of qSign.

Time is what the processor spends on this process, on one thread, so that other programs do not count; nor does waiting for a
disk. The two steps of a search are no part of its interface, but the paper times them apart (figures 9 and 12).
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from ibidem.index import search
from ibidem.index.comparison import Comparison, Kernel

LONG_SECONDS = 1.0  # what takes longer is timed once


@dataclass
class Steps:
    """Seconds that searches spent on selecting candidates and on comparing them."""

    selecting: float = 0.0
    comparing: float = 0.0


@contextmanager
def timed_steps() -> Iterator[Steps]:
    """Add up the steps of all searches inside, which run on one thread."""
    steps = Steps()

    def selecting(select: Callable[..., Any]) -> Callable[..., Any]:
        def select_timed(*given: Any) -> Any:
            begin = time.process_time()
            candidates = select(*given)
            steps.selecting += time.process_time() - begin
            return candidates

        return select_timed

    compare = Comparison.compare

    def comparing(comparison: Comparison, first: NDArray[np.int64], candidates: NDArray[np.uint32]) -> Kernel:
        run = compare(comparison, first, candidates)

        def run_timed(*given: Any) -> tuple[int, int]:
            begin = time.process_time()
            reached = run(*given)
            steps.comparing += time.process_time() - begin
            return reached

        return run_timed

    with (
        patch.object(search, "_within_radius", selecting(search._within_radius)),
        patch.object(search, "_accumulated", selecting(search._accumulated)),
        patch.object(Comparison, "compare", comparing),
    ):
        yield steps


class Timed(NamedTuple):
    """Seconds of the fastest of several runs, and what its searches spent on their two steps."""

    seconds: float
    selecting: float
    comparing: float


def timed(function: Callable[[], object], n_times: int = 3) -> Timed:
    """Return the times of the fastest of several runs; what takes long is not repeated."""
    runs = []
    gc.collect()
    for _ in range(n_times):
        with timed_steps() as steps:
            begin = time.process_time()
            function()
            runs.append(Timed(time.process_time() - begin, steps.selecting, steps.comparing))
        if runs[-1].seconds > LONG_SECONDS:
            break
    return min(runs)
