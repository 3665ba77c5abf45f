"""A token that is not shown to others: neither in the list of processes, nor in the arguments of a browser."""

from __future__ import annotations

import ctypes
import html
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_ARGUMENTS_BEGIN, _ARGUMENTS_END = 45, 46  # in /proc/self/stat, counted after the name of the program


def hide_argument(word: str) -> None:
    """Overwrite a word in the command line of this process, which everybody on the machine can list. Works on Linux only."""
    with suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        begin, end = int(fields[_ARGUMENTS_BEGIN]), int(fields[_ARGUMENTS_END])
        if not 0 < begin < end:
            return
        memory, secret = (ctypes.c_char * (end - begin)).from_address(begin), os.fsencode(word)
        place = memory.raw.find(secret)
        while secret and place >= 0:
            ctypes.memset(begin + place, ord("*"), len(secret))
            place = memory.raw.find(secret, place + len(secret))


@contextmanager
def page_that_leads_to(address: str) -> Iterator[str]:
    """Write a page that only this user can read and that leads to an address; yield its path. It is removed afterwards."""
    descriptor, path = tempfile.mkstemp(prefix="ibidem-", suffix=".html")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            target = html.escape(address)
            file.write('<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">')
            file.write(f'<meta http-equiv="refresh" content="0; url={target}"><a href="{target}">ibidem</a>\n')
        yield path
    finally:
        with suppress(OSError):
            os.unlink(path)
