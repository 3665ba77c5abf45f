"""The one hash of ibidem: 64-bit mixing, the same on every machine and in every version."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core.options import DefaultOptions

SEED = np.uint64(0x9E3779B97F4A7C15)
FACTOR = 0xD6E8FEB86659FD93
_FACTOR = np.uint64(FACTOR)
_HALF = np.uint64(32)


# For kernels that only kernels call and that make no arrays. Without wrappers for Python they compile in half the time,
# without reference counts they run several times as fast. Options that a version of numba lacks are left away.
_INNER_OPTIONS = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "no_rewrites": True}
_KNOWN_OPTIONS: dict[str, Any] = {
    name: value for name, value in _INNER_OPTIONS.items() if hasattr(DefaultOptions, name)
}
inner_kernel = njit(nogil=True, error_model="numpy", **_KNOWN_OPTIONS)
# For small ones in the innermost loops: a call hands on every field of every array.
inlined_kernel = njit(nogil=True, error_model="numpy", forceinline=True, **_KNOWN_OPTIONS)
# For kernels that Python calls and that make no arrays either.
outer_kernel = njit(cache=True, nogil=True, error_model="numpy", **{**_KNOWN_OPTIONS, "no_cpython_wrapper": False})


def _mix(h: np.uint64, x: np.uint64) -> np.uint64:
    """Return `h` with `x` folded in. With either of them fixed this is a bijection: one step never collides."""
    h = (h ^ x) * _FACTOR
    return h ^ (h >> _HALF)


mix = njit(cache=True, nogil=True)(_mix)
