"""What the commands say to people: lines that fit the screen if there is one, and as long as they are in a log."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from typing import TextIO

import click

from ibidem.results.screen_lines import fit_lines

_NARROWEST = 20


def screen_width(stream: TextIO) -> int | None:
    """Return the columns of the screen that a stream leads to: None for a file or a pipe, unless COLUMNS says otherwise."""
    # Where a program that reads lines from a person starts this one, its readline has set COLUMNS and LINES for a screen that
    # this one may not write to. Who sets COLUMNS alone means it.
    is_told = os.environ.get("COLUMNS", "").isdecimal() and "LINES" not in os.environ
    if stream.isatty() or is_told:
        return max(_NARROWEST, shutil.get_terminal_size().columns)
    return None


def say(lines: Iterable[str], err: bool = True) -> None:
    """Print lines, on standard error by default."""
    shown = list(fit_lines(lines, screen_width(sys.stderr if err else sys.stdout)))
    if shown:
        click.echo("\n".join(shown), err=err)
