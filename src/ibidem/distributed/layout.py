"""Where documents live: their numbers, and the partition that each one is at home in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Layout:
    """Documents are numbered as their records stand in the sources, those of the reference from `n_input` on.

    Neighbours live together: partition p holds the p-th part of the numbers, or those from `first_of_home[p]` on, so what is
    in order inside of each partition is in order over all of them.
    """

    n_records: int
    n_input: int
    n_partitions: int
    first_of_home: NDArray[np.int64] | None = None

    @property
    def has_reference(self) -> bool:
        """Whether there is a reference side."""
        return self.n_input < self.n_records

    def home(self, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the partition of each document."""
        if self.first_of_home is not None:
            return np.searchsorted(self.first_of_home, documents, side="right") - 1
        return documents * self.n_partitions // max(1, self.n_records)

    def side(self, documents: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return 1 for documents of the reference, 0 for the others; nothing without a reference."""
        return (documents >= self.n_input).astype(np.int8) if self.has_reference else np.empty(0, np.int8)
