"""Sets of hashes as columns, which represent sentences or documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class HashSets:
    """A set of hashes for each sentence or document, possibly with repeats: number t has `hashes[first[t]:first[t + 1]]`."""

    hashes: NDArray[np.uint64]
    first: NDArray[np.int64]
