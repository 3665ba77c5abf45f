"""The local engine: threads on this machine. Kernels release the interpreter lock, so threads share the work and the memory."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

from ibidem.execution.tasks import at_once

Part = TypeVar("Part")
Outcome = TypeVar("Outcome")


class Threads:
    """Runs the parts of a stage on `workers` threads (0: one per core). Results never depend on their number."""

    def __init__(self, workers: int = 0) -> None:
        self.workers = workers or available_cores()
        self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="ibidem")
        self._is_closed = False

    def run_tasks(self, function: Callable[[Part], Outcome], parts: Iterable[Part]) -> Iterator[Outcome]:
        """Yield the outcomes in the order of the parts; only a few parts are taken in advance, so the input can be a stream."""
        if self.workers == 1 or self._is_closed or (isinstance(parts, Sequence) and len(parts) == 1):
            yield from map(function, parts)
            return
        waiting: deque[tuple[Part, Future[Outcome] | None]] = deque()
        try:
            for part in parts:
                waiting.append((part, self._submitted(function, part)))
                if len(waiting) > 2 * self.workers:
                    yield self._outcome(function, *waiting.popleft())
            while waiting:
                yield self._outcome(function, *waiting.popleft())
        finally:
            for _, future in waiting:
                if future is not None:
                    future.cancel()

    def run_aside(self, job: Callable[[], Outcome]) -> Callable[[], Outcome]:
        """Begin a job beside the parts of a stage, and return how to get its outcome. With one worker, it runs first."""
        if self.workers == 1 or self._is_closed:
            return at_once(job)
        aside = ThreadPoolExecutor(1, thread_name_prefix="ibidem-aside")
        future = aside.submit(job)
        aside.shutdown(wait=False)
        return future.result

    def _submitted(self, function: Callable[[Part], Outcome], part: Part) -> Future[Outcome] | None:
        """Return what a thread will do, or None if the threads have just ended."""
        try:
            return self._pool.submit(function, part)
        except RuntimeError:
            if not self._is_closed:
                raise
            return None

    def _outcome(self, function: Callable[[Part], Outcome], part: Part, future: Future[Outcome] | None) -> Outcome:
        """Return the outcome of a thread; of this one, if the threads were ended before it began."""
        if future is not None:
            try:
                return future.result()
            except CancelledError:
                if not self._is_closed:
                    raise
        return function(part)

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the threads; what is run afterwards is run in turn."""
        self._is_closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
