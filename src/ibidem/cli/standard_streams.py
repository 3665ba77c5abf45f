"""Standard output and standard error that are closed, or whose readers have gone."""

from __future__ import annotations

import os
import sys
from typing import Any


class _PatientStream:
    """Standard error as long as somebody reads it; then nothing more is said, and the work goes on."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, or say nothing."""
        try:
            self._stream.write(text)
        except OSError:
            _lead_nowhere(2)
        return len(text)

    def flush(self) -> None:
        """Flush, or say nothing."""
        try:
            self._stream.flush()
        except OSError:
            _lead_nowhere(2)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def open_streams() -> None:
    """Make sure that there is something to write to. Standard output that is closed has no reader."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        reader, writer = os.pipe()
        os.close(reader)
        sys.stdout = os.fdopen(writer, "w")
    sys.stderr = _PatientStream(sys.stderr)


def leave_output() -> None:
    """Let what still waits to be written to standard output go nowhere: nobody takes it."""
    _lead_nowhere(sys.stdout.fileno())


def _lead_nowhere(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
