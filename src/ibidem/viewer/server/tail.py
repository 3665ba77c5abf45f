"""Follows the file that `ibidem watch` writes, so that arrivals handled by another process are shown."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from ibidem.viewer.server.api_errors import LOG
from ibidem.viewer.server.arrivals import ArrivalLog, now

_READ_BYTES = 1 << 20
_MOST_LINE_BYTES = 64 << 20
_SOURCES_KEPT = 10


class Tail:
    """Copies complete lines of a growing file into the log, each exactly once, even across restarts.

    The file may not exist yet, or may be truncated or replaced (it is then read from its beginning). A line is taken once its
    end has been written. Lines that are not answers of `ibidem watch` are ignored.
    """

    def __init__(self, path: Path, log: ArrivalLog) -> None:
        self._path, self._log = path.absolute(), log
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._file, self._offset = self._log.read_until(str(self._path)) or ("", 0)
        self._is_within_line = False

    def start(self, every_seconds: float = 0.5) -> None:
        """Follow the file in a separate thread until `stop`."""

        def follow() -> None:
            while not self._stopped.is_set():
                try:
                    self.read_new()
                except Exception as problem:  # no content of the file may stop the thread
                    LOG.warning("%s cannot be followed: %s", self._path, problem)
                self._stopped.wait(every_seconds)

        self._thread = threading.Thread(target=follow, name="ibidem-tail", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop following the file."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def read_new(self) -> int:
        """Copy the complete lines added since the last call; return the number of arrivals."""
        n_arrivals = 0
        with suppress(FileNotFoundError), open(self._path, "rb") as file:
            status = os.fstat(file.fileno())
            name = f"{status.st_dev}:{status.st_ino}"
            if name != self._file or status.st_size < self._offset or not self._is_after_line(file):
                self._file, self._offset = name, 0
            file.seek(self._offset)
            begun = b""
            while (read := file.read(_READ_BYTES)) and not self._stopped.is_set():
                whole, newline, rest = read.rpartition(b"\n")
                if not newline:
                    begun += read
                    if len(begun) > _MOST_LINE_BYTES:  # no answer is that long: continue after its end
                        self._offset, begun, self._is_within_line = self._offset + len(begun), b"", True
                    continue
                lines = begun + whole + newline
                arrivals = list(_arrivals_in(lines))
                self._offset, self._is_within_line = self._offset + len(lines), False
                self._log.append(arrivals, (str(self._path), self._file, self._offset))
                n_arrivals += len(arrivals)
                begun = rest
        return n_arrivals

    def _is_after_line(self, file: BinaryIO) -> bool:
        """Return whether a line ends where reading continues; if not, the file was truncated and written again."""
        if self._offset == 0 or self._is_within_line:
            return True
        file.seek(self._offset - 1)
        return file.read(1) == b"\n"


def _arrivals_in(lines: bytes) -> Iterator[dict[str, Any]]:
    for line in lines.split(b"\n"):
        if line.strip():
            with suppress(ValueError, TypeError, KeyError, RecursionError):
                yield _arrival(json.loads(line))


def _arrival(record: dict[str, Any]) -> dict[str, Any]:
    """Return a line as an arrival; raise if it is anything else, such as a skipped record."""
    sources = [{"id": _text(source["id"]), "n_sentences": _count(source["n_sentences"])} for source in record["sources"]]
    if not isinstance(record["duplicated"], bool):
        raise TypeError
    return {
        "id": _text(record["id"]),
        "at": now(),
        "duplicated": record["duplicated"],
        "n_sentences": _count(record["n_sentences"]),
        "n_known": _count(record["n_known"]),
        "n_passages": len(record["passages"]),
        "covered_share": None,
        "sources": sources[:_SOURCES_KEPT],
        "excerpt": "",
    }


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode("utf-8")  # raises for what cannot be encoded
    return value


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise ValueError
    return value
