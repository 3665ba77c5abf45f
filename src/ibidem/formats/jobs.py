"""Jobs run side by side, outcomes come in order: reading and parsing overlap with the caller's own work."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from ibidem.formats.records import HeavyJob, Job, Outcome

N_WORKERS = 2
MAX_JOBS_AHEAD = 4
MAX_WAIT_SECONDS = 2


def run_jobs(jobs: Iterator[Job]) -> Iterator[Outcome]:
    """Yield the outcomes of jobs in their order; `jobs` is drawn in a thread of its own, a few ahead and no more.

    After a heavy job (see `records.py`) nothing is drawn until its outcome was taken.

    What `jobs` or a job raises is raised here, in its turn. Closing this generator ends the threads.
    """
    room = threading.Semaphore(MAX_JOBS_AHEAD)
    futures: queue.SimpleQueue[tuple[Future[Outcome], bool] | BaseException | None] = queue.SimpleQueue()
    heavy_taken = threading.Event()
    closed = threading.Event()
    with ThreadPoolExecutor(N_WORKERS, thread_name_prefix="ibidem-read") as pool:

        def draw_jobs() -> None:
            try:
                while room.acquire() and not closed.is_set():
                    job = next(jobs, None)
                    if job is None:
                        break
                    is_heavy = isinstance(job, HeavyJob)
                    futures.put((pool.submit(job), is_heavy))
                    del job
                    if is_heavy:
                        heavy_taken.wait()
                        heavy_taken.clear()
                futures.put(None)
            except BaseException as error:
                futures.put(error)

        feeder = threading.Thread(target=draw_jobs, name="ibidem-feed", daemon=True)
        feeder.start()
        try:
            while (drawn := futures.get()) is not None:
                if isinstance(drawn, BaseException):
                    raise drawn
                future, is_heavy = drawn
                outcome = future.result()
                room.release()
                yield outcome
                del drawn, future, outcome
                if is_heavy:
                    heavy_taken.set()
        finally:
            closed.set()
            room.release()
            heavy_taken.set()
            # Not for ever: it may wait for input that never comes.
            feeder.join(MAX_WAIT_SECONDS)
