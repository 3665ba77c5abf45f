"""One case at a time: what it raises, or takes too long or too much memory for, is written down as a finding."""

from __future__ import annotations

import hashlib
import resource
import time
import traceback
from pathlib import Path

from fuzz.targets import Target

CURRENT = "current"


class Executor:
    """Runs cases of a target; findings go to `folder`, one of each kind."""

    def __init__(self, target: Target, folder: Path) -> None:
        self.n_cases = 0
        self._target = target
        self._folder = folder
        self._current = folder / CURRENT
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, case: bytes) -> str | None:
        """Run a case; return what happened, None if that is a finding."""
        self._current.write_bytes(case)  # so that it is there if this process ends now
        megabytes, started_seconds = _peak_megabytes(), time.process_time()
        outcome = None
        try:
            outcome = self._target.check(case)
        except Exception as error:
            # The innermost lines tell findings apart: what was raised, and where.
            frames = traceback.extract_tb(error.__traceback__)[-2:]
            kind = f"{type(error).__name__} {[(frame.filename, frame.name, frame.lineno) for frame in frames]}"
            record(self._folder, case, kind, traceback.format_exc())
        self.n_cases += 1
        seconds, more_megabytes = time.process_time() - started_seconds, _peak_megabytes() - megabytes
        if seconds > self._target.max_seconds:
            record(self._folder, case, f"slow {len(case).bit_length()}", f"it took {seconds:.1f} s of processor time")
        if more_megabytes > self._target.max_megabytes:
            record(self._folder, case, "memory", f"it took {more_megabytes} MB more than any case before")
        return outcome


def record(folder: Path, case: bytes, kind: str, told: str) -> None:
    """Write a finding down, unless there is one of its kind."""
    name = hashlib.sha256(kind.encode()).hexdigest()[:12]
    if not (folder / f"{name}.txt").exists():
        (folder / f"{name}.case").write_bytes(case)
        (folder / f"{name}.txt").write_text(f"{kind}\n\n{told}\n", "utf-8", "backslashreplace")


def _peak_megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
