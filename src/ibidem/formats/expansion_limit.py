"""Inputs that unfold to many times their size are read up to a limit that no text reaches, and not to their end.

A file of some hundred kilobytes can expand to more than any disk has room for. Text packs 3 to 20 times, logs a hundred
times.
"""

from __future__ import annotations

MOST_TIMES = 1000
LEAST_LIMIT_BYTES = 100_000_000  # for small files: so much does no harm


_REASON = "it unfolds to more than"


class UnfoldedError(OSError):
    """An input unfolds to more than it may."""

    def __init__(self) -> None:
        super().__init__(f"{_REASON} {MOST_TIMES:,} times its size (to read all of it, give it unpacked, or as JSON lines)")


def is_unfolded(reason: str) -> bool:
    """Say whether an input was not read to its end because of what it unfolds to."""
    return _REASON in reason


def most_unfolded(n_stored_bytes: int) -> int:
    """Return how many bytes an input of so many bytes may unfold to."""
    return max(LEAST_LIMIT_BYTES, MOST_TIMES * n_stored_bytes)
