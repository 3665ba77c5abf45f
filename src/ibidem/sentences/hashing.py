"""The one hash of ibidem: 64-bit mixing, the same on every machine and in every version."""

from __future__ import annotations

import numpy as np
from numba import njit

SEED = np.uint64(0x9E3779B97F4A7C15)
_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)


def _mix(h: np.uint64, x: np.uint64) -> np.uint64:
    """Return `h` with `x` folded in. For a fixed `x` (or a fixed `h`) this is a bijection, so one step never collides."""
    h = (h ^ x) * _FACTOR
    return h ^ (h >> _HALF)


mix = njit(cache=True, nogil=True)(_mix)
