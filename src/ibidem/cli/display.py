"""Progress on the terminal: a bar a stage, with documents, sentences, rate and time left. Elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ibidem.progress import Progress

_SECONDS_BETWEEN_LINES = 30.0


def look_at(folder: Path) -> str:
    """Return how results are looked at."""
    return f"look at them: ibidem report {folder}, or ibidem serve {folder}"


@contextmanager
def open_display(mode: str, quiet: bool) -> Iterator[Progress]:
    """Yield the progress that fits: bars on a terminal (or with `on`), a line every half minute elsewhere, nothing if quiet."""
    if quiet or mode == "off":
        yield Progress()
    elif mode == "on" or sys.stderr.isatty():
        with BarDisplay() as display:
            yield display
    else:
        yield LineDisplay()


class LineDisplay(Progress):
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

    def _say(self) -> None:
        if time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _SECONDS_BETWEEN_LINES
            counts = f"{self.counts['documents']:,} documents, {self.counts['sentences']:,} sentences"
            click.echo(f"ibidem: {self._stage}: {counts}", err=True)


class BarDisplay(Progress):
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
