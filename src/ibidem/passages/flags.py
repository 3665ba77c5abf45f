"""Flags of rows: what of the text that starts at a row occurs in too many places, or in more than one."""

from __future__ import annotations

HOT_WINDOW, HOT_SENTENCE, REPEATED_WINDOW, HOT_TEXT = 1, 2, 4, 8
