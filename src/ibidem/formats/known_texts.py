"""What records were when they were decided about: checks of their texts, compared as the records are read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.formats.fields import check_found
from ibidem.formats.jsonl_files import parse_lines
from ibidem.formats.records import Wanted
from ibidem.sentences import CheckKey, Checks

_MOST_WAITING = 1 << 20  # characters, or bytes


@dataclass(frozen=True)
class KnownTexts:
    """The checks of the texts of records that change, by position."""

    key: CheckKey
    positions: NDArray[np.int64]
    checks: Checks

    @classmethod
    def of(cls, key: CheckKey, positions: NDArray[np.int64], checks: Checks) -> KnownTexts:
        """Return them in order; a position may come more than once."""
        different, rows = np.unique(positions, return_index=True)
        return cls(key, different, checks[rows])

    def first_unlike(self, positions: NDArray[np.int64], texts: pa.LargeStringArray) -> int | None:
        """Return the position of the first text that is not what it was, or None; all positions are known."""
        places = np.searchsorted(self.positions, positions)
        unlike = (self.checks[places] != self.key.of_texts(texts)).any(axis=1)
        return int(positions[np.argmax(unlike)]) if unlike.any() else None


class MetRecords:
    """Records of one source that come again, in the way of the readers; `unlike` says which one is not what it was.

    Only records that were decided about may be given, each once. They are compared a few at a time.
    """

    def __init__(self, known: KnownTexts, source: str, wanted: Wanted) -> None:
        self.unlike: int | None = None
        self._known = known
        self._source = source
        self._wanted = wanted
        self._positions: list[int] = []
        self._records: list[Mapping[str, Any]] = []
        self._of_lines: list[int] = []
        self._lines: list[bytes] = []
        self._of_texts: list[int] = []
        self._texts: list[str] = []
        self._n_chars = 0
        self._n_met = 0

    def add(self, position: int, text: Any) -> None:
        """Take the value of the text field of a record."""
        self._positions.append(position)
        self._records.append({self._wanted.config.text_field: text})
        self._wait(len(text) if isinstance(text, (str, bytes)) else 1)

    def add_text(self, position: int, text: str) -> None:
        """Take a text that needs no reader any more."""
        self._of_texts.append(position)
        self._texts.append(text)
        self._wait(len(text))

    def _wait(self, n_chars: int) -> None:
        self._n_chars += n_chars
        if self._n_chars > _MOST_WAITING:
            self._compare_waiting()

    def add_line(self, position: int, line: bytes) -> None:
        """Take a JSON line."""
        self._of_lines.append(position)
        self._lines.append(line.rstrip(b"\r\n"))
        self._wait(len(line))

    def add_documents(self, batch: pa.RecordBatch) -> None:
        """Take documents as a reader hands them out, among them others, which are passed over."""
        rows = np.flatnonzero(np.isin(batch.column("position").to_numpy(), self._known.positions))
        self._compare(batch.take(pa.array(rows)))

    def finish(self) -> None:
        """Compare what is left; then all records have come that were decided about."""
        self._compare_waiting()
        if self.unlike is None and self._n_met != len(self._known.positions):
            self.unlike = 0  # nobody knows which one

    def _compare_waiting(self) -> None:
        if self._positions:
            for batch in check_found(self._records, self._positions, [], self._source, self._wanted, 0).batches:
                self._compare(batch)
        if self._lines:
            for batch in parse_lines(b"\n".join(self._lines), 0, self._source, self._wanted).batches:
                self._compare(batch, self._of_lines)
        if self._texts:
            self._compare_texts(np.array(self._of_texts, np.int64), self._texts)
        for waiting in (self._positions, self._records, self._of_lines, self._lines, self._of_texts, self._texts):
            waiting.clear()
        self._n_chars = 0

    def _compare(self, batch: pa.RecordBatch, positions: list[int] | None = None) -> None:
        """Compare documents with those of the same positions, or of those in a list that their positions are places in."""
        places = batch.column("position").to_numpy()
        met = places if positions is None else np.array(positions, np.int64)[places]
        self._compare_texts(met, batch.column("text"))

    def _compare_texts(self, positions: NDArray[np.int64], texts: pa.LargeStringArray | list[str]) -> None:
        self._n_met += len(positions)
        if self.unlike is None:
            try:
                self.unlike = self._known.first_unlike(positions, pa.array(texts, pa.large_string()))
            except UnicodeError:  # no document has such a text
                self.unlike = int(positions[0])
