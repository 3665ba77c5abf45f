"""Quantities as users write and read them: sizes of memory, rhythms of commits."""

from __future__ import annotations

import math
import re

from ibidem.config.settings import ALL, NONE


def memory_bytes(memory: str) -> int | None:
    """Return the bytes that a size like 500MB or 1.5GB means, 0 for auto, or None if it means nothing."""
    if memory == "auto":
        return 0
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([kmgt]?)i?b?", memory.strip().lower())
    return int(float(match[1]) * 1000 ** " kmgt".index(match[2] or " ")) if match else None


def size_of(n_bytes: float) -> str:
    """Return a size in the unit that fits it."""
    units = ["bytes", "kB", "MB", "GB", "TB"]
    while n_bytes >= 1000 and len(units) > 1:
        n_bytes /= 1000
        del units[0]
    return f"{n_bytes:,.0f} {units[0]}" if units[0] == "bytes" or n_bytes >= 100 else f"{n_bytes:.1f} {units[0]}"


def listed_kinds(value: str) -> tuple[str, ...]:
    """Return the kinds in a list separated by commas, in its order; none for the words `all` and `none`."""
    return () if value in (ALL, NONE) else tuple(dict.fromkeys(part.strip() for part in value.split(",")))


def commit_rhythm(commit_every: str) -> tuple[int, float] | None:
    """Return the documents and seconds that a rhythm like 1000, 10s or 1000,10s means, or None if it means nothing.

    What is not said is never reached.
    """
    documents, seconds = 2**62, math.inf
    for part in commit_every.replace(" ", "").split(","):
        match = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)s", part)
        if match is None or not float(match[1] or match[2]):
            return None
        if match[1]:
            documents = int(match[1])
        else:
            seconds = float(match[2])
    return documents, seconds
