"""Progress on the terminal: a line for the current stage, with a bar, counts and times. Elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ibidem.cli.options import VERBOSE
from ibidem.cli.screen import say
from ibidem.config.quantities import size_of
from ibidem.execution.memory import used_memory
from ibidem.execution.operating_system import peak_memory
from ibidem.execution.progress import Progress, Step

if TYPE_CHECKING:
    from rich.console import RenderableType

_SECONDS_BETWEEN_LINES = 30.0
_WIDEST_TEXTS, _NARROWEST_BAR, _WIDEST_BAR = 64, 6, 30
_LEAST_SHARE, _LEAST_SECONDS = 0.05, 2.0  # before that, the time left is a guess
_LOOKS_PER_SECOND = 8
# Stage, as run.json names it → what it does, in plain words → what it works on, as far as that is counted.
STAGES = {
    "inputs": ("storing documents", ""),
    "sentences": ("reading sentences", "sentences"),
    "matches": ("comparing sentences", "sentences"),
    "passages": ("finding passages", "sentences"),
    "alignment": ("aligning words", "documents"),
    "tables": ("making tables", "documents"),
    "families": ("tracing families", "documents"),
    "runs": ("finding runs of words", "documents"),
    "differences": ("naming differences", "documents"),
    "receipts": ("looking for what remains", "documents"),
    "shingles": ("reading shingles", "documents"),
    "pairs": ("comparing documents", "documents"),
    "clusters": ("forming clusters", "documents"),
    "items": ("looking for benchmark items", "documents"),
    "cuts": ("choosing cuts", "sentences"),
    "trials": ("trying samples", "documents"),
    "words": ("counting words", "documents"),
    "writing": ("writing results", "documents"),
    "report": ("writing the report", "documents"),
    "reading": ("reading results", ""),
    "views": ("drawing the page", ""),
    "view texts": ("reading documents to view", ""),
    "view tables": ("storing pairs to view", ""),
    "view search": ("indexing words to search", ""),
    "adding": ("adding documents", "sentences"),
    "looking up": ("looking up", "sentences"),
    "verify": ("checking files", ""),
}


@contextmanager
def open_display(mode: str, quiet: bool) -> Iterator[Progress]:
    """Yield the progress that fits: bars on a terminal (or with `on`), a line every half minute elsewhere, nothing if quiet.

    `verbose` reports every step instead.
    """
    if mode == VERBOSE:
        yield StepDisplay()
    elif quiet or mode == "off":
        yield Progress()
    elif mode == "on" or sys.stderr.isatty():
        with BarDisplay() as display:
            yield display
    else:
        yield LineDisplay()


class TellingDisplay(Progress):
    """Prints messages for the user."""

    def tell(self, message: str) -> None:
        """Say it."""
        say([f"ibidem: {message}"])


class StepDisplay(TellingDisplay):
    """Reports every stage and every stored step: how long it took, how fast it was, and what it contains."""

    def __init__(self) -> None:
        super().__init__()
        self._n_bytes = 0
        self._begin = 0.0

    def begin_stage(self, name: str, n_bytes: int | None, amount: str = "") -> None:
        """Note the time."""
        self._begin, self._n_bytes = time.perf_counter(), 0

    def add_bytes(self, n_bytes: int) -> None:
        """Count what is read."""
        self._n_bytes += n_bytes

    def add_step(self, step: Step) -> None:
        """Tell of a step."""
        rate = f"{size_of(step.n_read_bytes / max(step.seconds, 1e-6))}/s"
        moved = f"read {size_of(step.n_read_bytes)} ({rate}), wrote {size_of(step.n_written_bytes)}"
        self._say(f"  {step.name}", step.seconds, f"{moved}, on disk {size_of(step.n_stored_bytes)}")

    def end_stage(self, name: str) -> None:
        """Tell of a stage."""
        seconds = time.perf_counter() - self._begin
        rate = f"read {size_of(self._n_bytes)} ({size_of(self._n_bytes / max(seconds, 1e-6))}/s)" if self._n_bytes else ""
        counts = ", ".join(f"{number:,} {what}" for what, number in self.counts.items() if number)
        self._say(name, seconds, ", ".join(said for said in (rate, counts) if said))

    def _say(self, what: str, seconds: float, rest: str) -> None:
        memory = f"memory {size_of(used_memory())} now, {size_of(peak_memory())} peak"
        say([f"{what:<28} {seconds:7.1f} s  {memory}{f'; {rest}' if rest else ''}"])


class LineDisplay(TellingDisplay):
    """For logs: says every half minute where the run is."""

    def __init__(self) -> None:
        super().__init__()
        self._stage = ""
        self._next_line = time.monotonic() + _SECONDS_BETWEEN_LINES

    def begin_stage(self, name: str, n_bytes: int | None, amount: str = "") -> None:
        """Note the stage."""
        self._stage = STAGES.get(name, (name, ""))[0]
        self._say()

    def add_documents(self, n_documents: int, n_sentences: int = 0) -> None:
        """Count, and speak if it is time."""
        super().add_documents(n_documents, n_sentences)
        self._say()

    def add_step(self, step: Step) -> None:
        """Speak if it is time."""
        self._say()

    def _say(self) -> None:
        if time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _SECONDS_BETWEEN_LINES
            counts = f"{self.counts['documents']:,} documents, {self.counts['sentences']:,} sentences"
            say([f"ibidem: {self._stage}: {counts}"])


class BarDisplay(TellingDisplay):
    """One line on the screen: the stage, a bar, what the stage works on, and the time. Drawn by rich, imported only here.

    The bar moves with the bytes that are read, where they are known in advance. When all are read and the stage still works,
    and in stages that read nothing, a mark turns instead: it shows that work goes on, and no share of it.
    """

    def __init__(self, width: int | None = None) -> None:
        super().__init__()
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner

        self._turning = Spinner("line")  # drawn in ASCII
        self._words = self._unit = self._amount = ""
        self._begin = 0.0
        self._n_bytes, self._n_read_bytes = 0, 0
        console = Console(stderr=True, width=width)
        self._live = Live(get_renderable=self.line, console=console, transient=True, refresh_per_second=_LOOKS_PER_SECOND)

    def __enter__(self) -> BarDisplay:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._words = ""
        self._live.stop()

    def line(self) -> RenderableType:
        """Return what the screen shows now: a line, or nothing between stages."""
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        if not self._words:
            return Group()
        share = self.share()
        now = time.monotonic()
        room = min(max(self._live.console.width - _WIDEST_TEXTS, _NARROWEST_BAR), _WIDEST_BAR)
        bar = self._turning if share is None else ProgressBar(total=1.0, completed=share, width=room)
        grid = Table.grid(padding=(0, 1))
        for _ in range(3):
            grid.add_column(no_wrap=True, overflow="ellipsis")
        grid.add_row(Text(self._words), bar, Text(", ".join(self._state(share, now - self._begin))))
        return grid

    def share(self) -> float | None:
        """Return which share of the stage is done, or None if that is not known. It is never all of it."""
        return self._n_read_bytes / self._n_bytes if self._n_read_bytes < self._n_bytes else None

    def _state(self, share: float | None, seconds: float) -> Iterator[str]:
        if share is not None:
            yield f"{int(100 * share)} %"
        if self._amount:
            yield self._amount
        yield _clock(seconds)
        if share is not None and share >= _LEAST_SHARE and seconds >= _LEAST_SECONDS:
            yield f"{_clock(seconds * (1 - share) / share)} left"

    def begin_stage(self, name: str, n_bytes: int | None, amount: str = "") -> None:
        """Show another stage."""
        self._words, self._unit = STAGES.get(name, (name, ""))
        self._begin, self._n_bytes, self._n_read_bytes = time.monotonic(), n_bytes or 0, 0
        self._amount = amount
        if not amount:
            self._count()

    def end_stage(self, name: str) -> None:
        """Show nothing: what follows before the next stage belongs to none."""
        self._words = ""

    def add_step(self, step: Step) -> None:
        """Show what is on disk."""
        self._amount = f"{size_of(step.n_stored_bytes)} on disk"

    def add_bytes(self, n_bytes: int) -> None:
        """Move the bar."""
        self._n_read_bytes += n_bytes

    def add_documents(self, n_documents: int, n_sentences: int = 0) -> None:
        """Show the count."""
        super().add_documents(n_documents, n_sentences)
        self._count()

    def _count(self) -> None:
        unit = self._unit if self.counts.get(self._unit) else "documents"
        number = self.counts.get(unit) if self._unit else 0
        self._amount = f"{number:,} {unit}" if number else self._amount


def _clock(seconds: float) -> str:
    """Return a time as clocks show it: 0:07, 1:02:03.

    >>> _clock(7.9), _clock(3723)
    ('0:07', '1:02:03')
    """
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
