"""The one hash of ibidem: 64-bit mixing, the same on every machine and in every version."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.compiling import growing_kernel, outer_kernel

SEED = np.uint64(0x9E3779B97F4A7C15)
FACTOR = 0xD6E8FEB86659FD93
_FACTOR = np.uint64(FACTOR)
_HALF = np.uint64(32)


def _mix(h: np.uint64, x: np.uint64) -> np.uint64:
    """Return `h` with `x` folded in. With either of them fixed this is a bijection: one step never collides."""
    h = (h ^ x) * _FACTOR
    return h ^ (h >> _HALF)


mix = growing_kernel(_mix)


def _fold_bytes(data: NDArray[np.uint8], offsets: NDArray[np.int64], hashes: NDArray[np.uint64]) -> None:
    """Write the hash of every string of bytes: string i is `data[offsets[i]:offsets[i + 1]]`."""
    for i in range(len(hashes)):
        h = SEED
        for k in range(offsets[i], offsets[i + 1]):
            h = mix(h, np.uint64(data[k]))
        hashes[i] = h


fold_bytes = outer_kernel(_fold_bytes)
