"""Passages: runs of matching sentences, located in two documents."""

from __future__ import annotations

from ibidem.passages.chains import PassageRows
from ibidem.passages.core import Found, Meeting, find_in
from ibidem.passages.repeats import Repeats

__all__ = ["Found", "Meeting", "PassageRows", "Repeats", "find_in"]
