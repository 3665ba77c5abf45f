"""Alignment: two texts compared word by word, from seeds to located passages."""

from __future__ import annotations

from ibidem.alignment.aligner import Aligned, Words, align_spans
from ibidem.alignment.candidates import find_rectangles

__all__ = ["Aligned", "Words", "align_spans", "find_rectangles"]
