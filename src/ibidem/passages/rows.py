"""What the passages stage works on: the sentences that have a class, as columns, and which documents may be paired."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Rows:
    """Sentences in reading order, without those that have no signature. `sentence` is the number in the full table."""

    classes: NDArray[np.uint64]
    document: NDArray[np.int32]
    document_first: NDArray[np.int64]
    n_words: NDArray[np.int32]
    sentence: NDArray[np.int32]

    def words_before(self) -> NDArray[np.int64]:
        """Return, for each row and the end, the number of words in all rows before it."""
        before = np.zeros(len(self.n_words) + 1, np.int64)
        np.cumsum(self.n_words, out=before[1:])
        return before


@dataclass(frozen=True)
class Pairing:
    """Which documents are compared: `side` by document (empty: all with all), `kin` by document (-1 or empty: no kin)."""

    same_document: bool
    side: NDArray[np.int8]
    kin: NDArray[np.int32]


@dataclass(frozen=True)
class PlaceGroup:
    """One text in many places: rows [start, start + length) for each start."""

    starts: NDArray[np.int32]
    length: int
