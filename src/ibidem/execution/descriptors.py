"""Waiting until a file descriptor can be read. Loaded before all else, so it must stay small."""

from __future__ import annotations

import select


def is_readable(descriptor: int, seconds: float | None) -> bool:
    """Wait until a descriptor can be read or is closed at its other end, at most so long (None: for ever); tell whether it is.

    `select` fails for descriptors from 1,024 on, which a program with many open files has; where there is `poll`, it is used.
    """
    if not hasattr(select, "poll"):
        return bool(select.select([descriptor], [], [], seconds)[0])
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN | select.POLLHUP)
    return bool(waiting.poll(None if seconds is None else 1000 * seconds))
