"""Threads that end while others still use them, and jobs beside the parts of a stage."""

from __future__ import annotations

import threading

import pytest

from ibidem.execution.flow import Parts
from ibidem.execution.threads import Threads


def test_what_is_left_when_threads_end_is_done_in_turn() -> None:
    for _ in range(20):
        threads = Threads(2)
        begun, may_end = threading.Event(), threading.Event()

        def double(number: int, begun: threading.Event = begun, may_end: threading.Event = may_end) -> int:
            begun.set()
            may_end.wait(30)
            return 2 * number

        closing = threading.Thread(target=threads.close)

        def close_meanwhile(begun: threading.Event = begun, closing: threading.Thread = closing) -> None:
            begun.wait(30)
            closing.start()

        starter = threading.Thread(target=close_meanwhile)
        starter.start()
        outcomes = threads.run_tasks(double, iter(range(50)))
        threading.Timer(0.02, may_end.set).start()
        assert list(outcomes) == [2 * number for number in range(50)]
        starter.join()
        closing.join()


def test_a_job_runs_beside_the_parts_of_a_stage() -> None:
    met = threading.Barrier(2, timeout=30)
    with Threads(2) as threads:
        part = Parts(wait=threads.run_aside(lambda: met.wait() >= 0))
        assert list(threads.run_tasks(lambda _: met.wait() >= 0, range(1))) == [True]  # only together do both go on
        part.settle()
        assert part.value is True
        assert part.take() is True


@pytest.mark.parametrize("workers", [1, 2])
def test_the_error_of_a_job_is_raised(workers: int) -> None:
    def fail() -> int:
        raise ValueError("no")

    with Threads(workers) as threads, pytest.raises(ValueError, match="no"):
        Parts(wait=threads.run_aside(fail)).look()


def test_one_worker_runs_a_job_first() -> None:
    done: list[str] = []
    with Threads(1) as threads:
        job = threads.run_aside(lambda: done.append("aside"))
        done.append("next")
        job()
    assert done == ["aside", "next"]
