"""How much disk a run may use, and has used, for temporary files."""

from __future__ import annotations

import shutil
import sys
import threading
from collections import Counter

from ibidem.config.quantities import memory_bytes, size_of
from ibidem.config.surface import given, named
from ibidem.errors import ResourceError

# What `auto` allows. A run stores about six times its text, and compressed inputs expand to about ten times their size.
FREE_SHARE = 0.9
TIMES_ITS_INPUTS = 200
LEAST_BYTES = 4_000_000_000  # for small inputs
_MOST_NAMED = 3


class DiskBudget:
    """Counts the bytes of temporary files before they are written, from any thread.

    More than `most_bytes` at a time raises ResourceError, which says what uses them; `rule` says where the limit comes from,
    and `next_step` how to raise it.
    """

    def __init__(self, most_bytes: int = sys.maxsize, rule: str = "", next_step: str = "") -> None:
        self.most_bytes = most_bytes
        self.n_bytes_now = self.n_bytes_peak = self.n_bytes_written = 0
        self._rule = rule
        self._next_step = next_step or f"Allow more, for example {given('max_disk', _as_flag(2 * most_bytes))}"
        self._used: Counter[str] = Counter()
        self._lock = threading.Lock()

    def take(self, what: str, n_bytes: int) -> None:
        """Count bytes that are about to be written."""
        with self._lock:
            self._used[what] += n_bytes
            self.n_bytes_now += n_bytes
            if self.n_bytes_now > self.most_bytes:
                raise self._exceeded()
            self.n_bytes_peak = max(self.n_bytes_peak, self.n_bytes_now)
            self.n_bytes_written += n_bytes

    def give_back(self, what: str, n_bytes: int) -> None:
        """Count bytes that were removed."""
        with self._lock:
            self._used[what] -= n_bytes
            self.n_bytes_now -= n_bytes

    def used(self) -> dict[str, int]:
        """Return what `run.json` records about temporary files; nothing if there were none."""
        if not self.n_bytes_written:
            return {}
        numbers = {"spilled_bytes": self.n_bytes_written, "spilled_bytes_peak": self.n_bytes_peak}
        return numbers | ({"max_disk_bytes": self.most_bytes} if self.most_bytes < sys.maxsize else {})

    def _exceeded(self) -> ResourceError:
        used = +self._used  # without what was given back
        largest = [f"{what} {size_of(n_bytes)}" for what, n_bytes in used.most_common(_MOST_NAMED)]
        more = ", …" if len(used) > _MOST_NAMED else ""
        return ResourceError(
            f"temporary files would take {size_of(self.n_bytes_now)}, more than the {size_of(self.most_bytes)} that "
            f"{named('max_disk')} allows{self._rule}: {', '.join(largest)}{more}",
            f"{self._next_step}; a run that was started with {given('resume', True)} continues after its last finished stage. "
            "Or split the inputs.",
        )


def no_room(folder: object, error: OSError) -> ResourceError:
    """Return the error for temporary files that cannot be written into a folder."""
    return ResourceError(
        f"cannot write temporary files to {folder}: {error.strerror or error}",
        f"Choose a folder with enough space with {named('tmp_dir')}, or allow more memory with {named('memory')}.",
    )


def _as_flag(n_bytes: int) -> str:
    return size_of(n_bytes).replace("bytes", "B").replace(" ", "")


def disk_budget(max_disk: str, folder: object, n_input_bytes: int | None) -> DiskBudget:
    """Return the budget for temporary files in a folder under the setting `max_disk`.

    auto: nine tenths of the free space, and at most 200 times the inputs if their size is known, or 4 GB if that is more.
    """
    if most_bytes := memory_bytes(max_disk):
        return DiskBudget(most_bytes)
    try:
        free = int(shutil.disk_usage(str(folder)).free * FREE_SHARE)
    except OSError:  # reported when the folder is used
        free = sys.maxsize
    by_inputs = sys.maxsize if n_input_bytes is None else max(LEAST_BYTES, TIMES_ITS_INPUTS * n_input_bytes)
    if free <= by_inputs:
        rule = f" (auto: {FREE_SHARE:.0%} of what is free in {folder})"
        return DiskBudget(free, rule, f"Free some space there, or choose another folder with {named('tmp_dir')}")
    times = f"{TIMES_ITS_INPUTS} times the inputs" if by_inputs > LEAST_BYTES else f"{size_of(LEAST_BYTES)} for small inputs"
    return DiskBudget(by_inputs, f" (auto: {times})")
