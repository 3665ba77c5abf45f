"""Threads that end while others still use them."""

from __future__ import annotations

import threading

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
