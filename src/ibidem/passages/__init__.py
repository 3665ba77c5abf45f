"""Passages: runs of matching sentences, located in two documents."""

from __future__ import annotations

from ibidem.passages.chains import PassageRows, assemble_passages, split_diagonals, verify_places
from ibidem.passages.diagonals import find_diagonals
from ibidem.passages.repeats import Repeat

__all__ = ["PassageRows", "Repeat", "assemble_passages", "find_diagonals", "split_diagonals", "verify_places"]
