"""JSON lines as they arrive on a stream that may go on for ever: each is handed on as soon as it is whole."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Iterator
from typing import Any

from ibidem.formats.byte_streams import BOM
from ibidem.formats.jsonl_files import parse_line
from ibidem.model import Skipped

_BLOCK_BYTES = 1 << 16
_SECONDS_BETWEEN_LOOKS = 0.2


def arriving_records(
    descriptor: int, stopped: threading.Event, source: str = "stdin"
) -> Iterator[tuple[int, dict[str, Any] | Skipped]]:
    """Yield the number of each line that is not empty, and its record or why there is none.

    Ends with the stream, or soon after `stopped` is set; a line that was not whole by then is left out.
    """
    for number, line in enumerate(_lines(descriptor, stopped), 1):
        if number == 1:
            line = line.removeprefix(BOM)
        if line.strip():
            record = parse_line(line)
            yield number, Skipped(source, number, record) if isinstance(record, str) else record


def _lines(descriptor: int, stopped: threading.Event) -> Iterator[bytes]:
    unfinished: list[bytes] = []
    while not stopped.is_set():
        # Not simply read: that would go on waiting when nothing comes any more.
        if not select.select([descriptor], [], [], _SECONDS_BETWEEN_LOOKS)[0]:
            continue
        block = os.read(descriptor, _BLOCK_BYTES)
        first, *others = block.split(b"\n")
        unfinished.append(first)
        if block and not others:
            continue
        last = others.pop() if others else b""
        for line in (b"".join(unfinished), *others):
            if stopped.is_set():
                return
            yield line
        if not block:
            return
        unfinished = [last]
