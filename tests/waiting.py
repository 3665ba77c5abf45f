"""Waiting for what another thread or process does, by looking, and not by the clock."""

from __future__ import annotations

import fcntl
import struct
import termios
import time
from collections.abc import Callable
from typing import IO, Any

LIMIT_SECONDS = 300.0  # for machines with much else to do: what is waited for mostly takes less than a second
_LOOK_SECONDS = 0.01


def wait_until(condition: Callable[[], object], what: str = "it") -> None:
    """Look again and again until something is so; a failure after LIMIT_SECONDS."""
    end = time.monotonic() + LIMIT_SECONDS
    while not condition():
        assert time.monotonic() < end, f"{what} has not happened within {LIMIT_SECONDS:.0f} s"
        time.sleep(_LOOK_SECONDS)


def wait_until_taken(pipe: IO[Any]) -> None:
    """Wait until the other side has taken all that was written to a pipe: it waits for more from then on."""

    def is_empty() -> bool:
        return struct.unpack("i", fcntl.ioctl(pipe.fileno(), termios.FIONREAD, bytes(4)))[0] == 0

    pipe.flush()
    wait_until(is_empty, "reading what was written")
