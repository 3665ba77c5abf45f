"""What a verb takes on the texts of a genome: processor time, peak of memory, and rows, measured in a process of its own.

`python -m fuzz.measuring VERB FOLDER` answers requests, one JSON object a line, until its input ends; `Worker` sends them.
Kernels are compiled before the first answer. Time is that of all threads, the least of some runs, less what the verb takes
on a few words. The peak of memory is that beyond what the process had before; where the system does not forget earlier peaks
(not Linux), it is seen only if it is higher than all of them.
"""

from __future__ import annotations

import gc
import json
import math
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.shapes import KNOWN, Genome
from fuzz.verbs import VERBS, Verb, documents_of
from ibidem.errors import IbidemError
from ibidem.execution.memory import give_back_memory

FIRST_SIZE_BYTES, LAST_SIZE_BYTES = 50_000, 3_200_000
ENOUGH_SECONDS = 0.3
_LEAST_SECONDS, _LEAST_ROWS = 0.05, 10_000  # growth of less says nothing
_FITTED_SIZES = 3
_FEW_BYTES = 3_000
_WARMING_BYTES = 40_000
_LIMIT_BYTES = 6 << 30
_STARTING_SECONDS = 1800.0
_PATIENCE = 20  # times the processor time that is allowed, on a machine that has other work
_ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Measured:
    """What one size took; `failure` is empty if it ended well."""

    n_bytes: int
    seconds: float = 0.0
    peak_bytes: int = 0
    n_rows: int = 0
    failure: str = ""


@dataclass(frozen=True)
class Growth:
    """What rising sizes of one genome took."""

    genome: Genome
    points: tuple[Measured, ...]

    @property
    def failure(self) -> str:
        """What ended the last size, if anything."""
        return self.points[-1].failure

    @property
    def is_slowing(self) -> bool:
        """Whether the largest size takes most time per byte."""
        return 1e6 * self._last.seconds / self._last.n_bytes >= self.seconds_per_megabyte

    @property
    def is_widening(self) -> bool:
        """Whether the largest size has most rows per byte."""
        return self._last.n_rows / self._last.n_bytes >= self.rows_per_byte

    @property
    def exponent(self) -> float:
        """By which power of the size the time grows; 0 if too little was used to tell."""
        return fit_exponent([(point.n_bytes, point.seconds) for point in self._well], _LEAST_SECONDS)

    @property
    def row_exponent(self) -> float:
        """By which power of the size the rows grow; 0 if there are few."""
        return fit_exponent([(point.n_bytes, point.n_rows) for point in self._well], _LEAST_ROWS)

    @property
    def seconds_per_megabyte(self) -> float:
        """Of the worst size that took enough time to tell, or of the largest."""
        told = [point for point in self._well if point.seconds >= _LEAST_SECONDS] or [self._last]
        return max(1e6 * point.seconds / point.n_bytes for point in told)

    @property
    def memory_per_byte(self) -> float:
        """Peak bytes per byte of the largest size: arrays of a fixed size say nothing there."""
        return self._last.peak_bytes / self._last.n_bytes

    @property
    def rows_per_byte(self) -> float:
        """Of the worst size."""
        return max(point.n_rows / point.n_bytes for point in self.points)

    @property
    def _well(self) -> list[Measured]:
        return [point for point in self.points if not point.failure]

    @property
    def _last(self) -> Measured:
        return self._well[-1] if self._well else self.points[-1]


def fit_exponent(costs: Sequence[tuple[float, float]], least: float) -> float:
    """Return the power of the size that costs at the last sizes grow with, by least squares; 0 if the last is below `least`."""
    last = costs[-_FITTED_SIZES:]
    if len(last) < 2 or last[-1][1] < least or last[0][0] == last[-1][0]:
        return 0.0
    return float(np.polyfit(np.log([size for size, _ in last]), np.log([max(cost, least / 100) for _, cost in last]), 1)[0])


class Worker:
    """A process that measures one verb; it is started when it is needed, and again after it was ended.

    A size may take `limit_seconds` of processor time.
    """

    def __init__(self, verb: str, folder: Path, limit_seconds: float = 60.0) -> None:
        self._command = [sys.executable, "-m", "fuzz.measuring", verb, str(folder)]
        self._limit_seconds = limit_seconds
        self._process: subprocess.Popen[str] | None = None

    def measure(self, genome: Genome, size_bytes: int, repeats: int = 1) -> Measured:
        """Measure one size of a genome."""
        if self._process is None:
            self._start()
        request = {"size_bytes": size_bytes, "repeats": repeats, "limit_seconds": self._limit_seconds}
        return self._ask({"genome": genome.to_json(), **request}, _PATIENCE * self._limit_seconds)

    def growth(
        self, genome: Genome, enough_seconds: float = ENOUGH_SECONDS, last_bytes: int = LAST_SIZE_BYTES, repeats: int = 3
    ) -> Growth:
        """Measure doubled sizes until so much time is used, and at least as many as a power is fitted through."""
        points: list[Measured] = []
        size_bytes = FIRST_SIZE_BYTES
        while size_bytes <= last_bytes:
            points.append(self.measure(genome, size_bytes, repeats))
            size_bytes *= 2
            if points[-1].failure or (len(points) >= _FITTED_SIZES and points[-1].seconds >= enough_seconds):
                break
        return Growth(genome, tuple(points))

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT, start_new_session=True
        )
        started = self._ask({}, _STARTING_SECONDS)
        if started.failure:
            raise RuntimeError(f"{' '.join(self._command)} does not start: {started.failure}")

    def _ask(self, request: dict[str, Any], limit_seconds: float) -> Measured:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        size_bytes = request.get("size_bytes", 0)
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        # Every request has one line for an answer, so nothing waits in the buffer of the stream.
        if not select.select([process.stdout], [], [], limit_seconds)[0]:
            self.close()
            return Measured(size_bytes, failure=f"no answer within {limit_seconds:g} s")
        line = process.stdout.readline()
        if not line:
            code = process.wait()
            self.close()
            too_long = f"more than {self._limit_seconds:g} s of processor time"
            return Measured(size_bytes, failure=too_long if code == -signal.SIGPROF else f"the process ended with {code}")
        answer = Measured(**json.loads(line))
        if answer.failure:
            self.close()  # after an error memory may be anywhere
        return answer


def measure_here(verb: Verb, genome: Genome, size_bytes: int, repeats: int, folder: Path) -> Measured:
    """Measure one size of a genome in this process."""
    documents = documents_of(genome.texts(size_bytes))
    n_bytes = sum(len(document["text"].encode()) for document in documents)
    least_seconds, peak_bytes, n_rows = math.inf, 0, 0
    for _ in range(repeats):
        begin, before_bytes = time.process_time(), _forget_peak()
        # A text that is refused, as of NUL characters alone, takes time and memory, too.
        with suppress(IbidemError), verb(documents, folder) as work:
            before_bytes = _forget_peak()
            begin = time.process_time()
            n_rows = work()
        least_seconds = min(least_seconds, time.process_time() - begin)
        peak_bytes = max(peak_bytes, _peak_bytes() - before_bytes)
    return Measured(n_bytes, least_seconds, peak_bytes, n_rows)


def _forget_peak() -> int:
    """Let the peak of memory begin from here, where that can be done; return it."""
    gc.collect()
    give_back_memory()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", "ascii")
    return _peak_bytes()


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> None:
    """Answer requests: the first when everything is compiled."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who asks ends this process
    resource.setrlimit(resource.RLIMIT_DATA, (_LIMIT_BYTES, _LIMIT_BYTES))
    verb, folder = VERBS[sys.argv[1]], Path(sys.argv[2])
    for genome in KNOWN.values():
        measure_here(verb, genome, _WARMING_BYTES, 1, folder)
    gc.freeze()  # what is loaded by now stays; to look through it takes longer than most verbs
    base_seconds = min(measure_here(verb, genome, _FEW_BYTES, 3, folder).seconds for genome in list(KNOWN.values())[:3])
    for line in sys.stdin:
        request = json.loads(line)
        answer = Measured(0)
        if request:
            try:
                genome = Genome.from_json(request["genome"])
                signal.setitimer(signal.ITIMER_PROF, request["limit_seconds"])  # ends the process
                answer = measure_here(verb, genome, request["size_bytes"], request["repeats"], folder)
                answer = replace(answer, seconds=max(0.0, answer.seconds - base_seconds))
            except Exception as error:
                answer = Measured(request["size_bytes"], failure=f"{type(error).__name__}: {str(error)[:200]}")
            signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps(asdict(answer)), flush=True)


if __name__ == "__main__":
    main()
