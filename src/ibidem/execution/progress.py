"""Progress of a run: stages, counts, timings. This class only records them; the terminal's version also shows them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """A finished step of a stage on disk: what it read and wrote, how long it took, and the disk use after it."""

    name: str
    seconds: float
    n_read_bytes: int
    n_written_bytes: int
    n_stored_bytes: int


class Progress:
    """Counts and timings of a run, and hooks that a display overrides."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.timings: dict[str, float] = {}
        self.resources: dict[str, int] = {}
        self.forget()

    def forget(self) -> None:
        """Forget counts and timings: the run starts over."""
        self.counts.clear()
        self.counts.update(documents=0, sentences=0)
        self.timings.clear()
        self.resources.clear()

    @contextmanager
    def stage(self, name: str, n_bytes: int | None = None, amount: str = "") -> Iterator[None]:
        """Time a stage; `n_bytes` is the input that it will read, where known, `amount` what else it works on, in words."""
        begin = time.perf_counter()
        self.begin_stage(name, n_bytes, amount)
        try:
            yield
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - begin
            self.end_stage(name)

    def count(self, **numbers: int) -> None:
        """Record counts for `run.json`."""
        self.counts.update(numbers)

    def use(self, **numbers: int) -> None:
        """Record how many bytes the run used, for `run.json`."""
        self.resources.update(numbers)

    def tell(self, message: str) -> None:
        """Tell the user something during the run."""

    def add_step(self, step: Step) -> None:
        """Note that a step of a stage has ended."""

    def add_documents(self, n_documents: int, n_sentences: int = 0) -> None:
        """Note that documents were read and split."""
        self.counts["documents"] += n_documents
        self.counts["sentences"] += n_sentences

    def add_bytes(self, n_bytes: int) -> None:
        """Note that input bytes were read."""

    def begin_stage(self, name: str, n_bytes: int | None, amount: str = "") -> None:
        """Show that a stage begins."""

    def end_stage(self, name: str) -> None:
        """Show that a stage has ended."""
