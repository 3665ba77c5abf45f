"""What the passages stage works on: the sentences that have a class, as columns, and which documents may be paired."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Rows:
    """Sentences in reading order, without those that have no signature and are stepped over.

    `sentence` is the number in the full table, `words_before` the number of words in all sentences before. `position` says
    how far rows of a document lie apart, where it is not in that table as a whole; None: by `sentence`.
    """

    classes: NDArray[np.uint64]
    document: NDArray[np.int32]
    document_first: NDArray[np.int64]
    n_words: NDArray[np.int32]
    words_before: NDArray[np.int64]
    sentence: NDArray[np.int32]
    position: NDArray[np.int32] | None = None


@dataclass(frozen=True)
class Pairing:
    """Which documents are compared: `side` by document (empty: all with all), `kin` by document (-1 or empty: no kin).

    `leads` by document says whether pairs are wanted of which it is the first one (empty: all are).
    """

    same_document: bool
    side: NDArray[np.int8]
    kin: NDArray[np.int32]
    leads: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))

    def allows(self, documents: NDArray[np.int32]) -> bool:
        """Whether places in these documents hold a pair that may be compared."""
        different = np.unique(documents)
        if len(different) == 1:
            return self.same_document and len(documents) > 1
        if len(self.side) and (self.side[different] == self.side[different[0]]).all():
            return False
        kin = self.kin[different] if len(self.kin) else np.array([-1])
        return bool((kin < 0).any() or (kin != kin[0]).any())


@dataclass(frozen=True)
class PlaceGroup:
    """One text in many places: rows [start, start + length) for each start."""

    starts: NDArray[np.int32]
    length: int
