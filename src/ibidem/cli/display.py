"""Progress on the terminal: a bar per stage, with documents, sentences, rate and time left. Elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from ibidem.cli.options import VERBOSE
from ibidem.config.quantities import size_of
from ibidem.execution.memory import peak_memory, used_memory
from ibidem.execution.progress import Progress, Step

_SECONDS_BETWEEN_LINES = 30.0


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
        click.echo(f"ibidem: {message}", err=True)


class StepDisplay(TellingDisplay):
    """Reports every stage and every stored step: how long it took, how fast it was, and what it contains."""

    def __init__(self) -> None:
        super().__init__()
        self._n_bytes = 0
        self._begin = 0.0

    def begin_stage(self, name: str, n_bytes: int | None) -> None:
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
        click.echo(f"{what:<28} {seconds:7.1f} s  {memory}{f'; {rest}' if rest else ''}", err=True)


class LineDisplay(TellingDisplay):
    """For logs: says every half minute where the run is."""

    def __init__(self) -> None:
        super().__init__()
        self._stage = ""
        self._next_line = time.monotonic() + _SECONDS_BETWEEN_LINES

    def begin_stage(self, name: str, n_bytes: int | None) -> None:
        """Note the stage."""
        self._stage = name
        self._say()

    def add_documents(self, n_documents: int, n_sentences: int = 0) -> None:
        """Count, and speak if it is time."""
        super().add_documents(n_documents, n_sentences)
        self._say()

    def add_step(self, step: Step) -> None:
        """Speak if it is time."""
        self._stage = step.name
        self._say()

    def _say(self) -> None:
        if time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _SECONDS_BETWEEN_LINES
            counts = f"{self.counts['documents']:,} documents, {self.counts['sentences']:,} sentences"
            click.echo(f"ibidem: {self._stage}: {counts}", err=True)


class BarDisplay(TellingDisplay):
    """Bars drawn by rich, which is imported only here."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn, TransferSpeedColumn
        from rich.progress import Progress as Bars

        self._bars = Bars(
            TextColumn("{task.description:<10}"),
            BarColumn(),
            TextColumn("{task.fields[note]}"),
            TransferSpeedColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bars.add_task("", total=None, note="", visible=False)

    def __enter__(self) -> BarDisplay:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def begin_stage(self, name: str, n_bytes: int | None) -> None:
        """Start a bar."""
        self._bars.update(self._task, visible=False)
        self._task = self._bars.add_task(name, total=n_bytes, note="")

    def add_step(self, step: Step) -> None:
        """Show what is done."""
        self._bars.update(self._task, note=f"{step.name}, {size_of(step.n_stored_bytes)} on disk")

    def end_stage(self, name: str) -> None:
        """Fill the bar."""
        self._bars.update(self._task, total=1, completed=1)

    def add_bytes(self, n_bytes: int) -> None:
        """Move the bar."""
        self._bars.advance(self._task, n_bytes)

    def add_documents(self, n_documents: int, n_sentences: int = 0) -> None:
        """Show the counts."""
        super().add_documents(n_documents, n_sentences)
        note = f"{self.counts['documents']:,} documents, {self.counts['sentences']:,} sentences"
        self._bars.update(self._task, note=note)
