"""The words of a collection, as the alignment sees them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Words:
    """All words in reading order: hashes of stems, and whether a sentence starts with them (and one more for the end).

    Document d has the words [document_first[d], document_first[d + 1]), sentence s those of `sentence_first` likewise.
    """

    stem: NDArray[np.uint32]
    is_start: NDArray[np.bool_]
    document_first: NDArray[np.int64]
    sentence_first: NDArray[np.int64]
