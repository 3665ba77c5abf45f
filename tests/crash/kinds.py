"""A kind of folder: how it comes about, what changes it, and what is wrong with a state of it."""

from __future__ import annotations

import io
import os
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

WRITTEN_SECONDS = 1_700_000_000  # when all files of rebuilt folders were changed: views depend on it

Promise = Callable[[str], None]


class Kind(ABC):
    """A folder that is changed while it is traced. `given` is a folder with inputs, which no power cut touches."""

    def __init__(self, given: Path) -> None:
        self.given = given
        self.outcomes: Counter[str] = Counter()  # what restarted programs made of states

    @abstractmethod
    def prepare(self, root: Path) -> None:
        """Put into the root what was there long before."""

    @abstractmethod
    def change(self, root: Path, promise: Promise) -> None:
        """Change the root, and say whenever something is promised to last."""

    @abstractmethod
    def problems(self, root: Path, promised: Sequence[str]) -> list[str]:
        """Start again on a root that a power cut left; return what is lost or wrong."""


def run_command(*arguments: str) -> tuple[int, str]:
    """Run the command line in this process; return its exit code and what it said. Errors that are bugs are raised."""
    from ibidem.cli.main import main

    said = io.StringIO()
    code: object = None
    with _argv("ibidem", *arguments), redirect_stderr(said), redirect_stdout(said):
        try:
            main()
        except SystemExit as end:
            code = end.code
    return (code if isinstance(code, int) else 0 if code is None else -1), said.getvalue()


@contextmanager
def _argv(*arguments: str) -> Iterator[None]:
    before, sys.argv = sys.argv, list(arguments)
    try:
        yield
    finally:
        sys.argv = before


def files_in(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder and of those in it; work folders, which come and go, are left out."""
    found = {}
    for path, names, files in os.walk(folder):
        names[:] = [name for name in names if name not in (".work", ".cleaned")]
        for name in files:
            place = Path(path) / name
            found[str(place.relative_to(folder))] = place.read_bytes()
    return found
