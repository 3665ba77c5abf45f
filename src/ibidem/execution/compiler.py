"""How kernels are compiled: the numba decorators that all stages share, and the one helper that grows arrays."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numba import njit
from numba.core.options import DefaultOptions

from ibidem.execution.kernel_cache import KernelCache

# For kernels that only kernels call and that make no arrays. Without Python wrappers they compile in half the time; without
# reference counts they run several times as fast. Options that a numba version lacks are left out.
_INNER_OPTIONS = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "no_rewrites": True}
_KNOWN_OPTIONS: dict[str, Any] = {name: value for name, value in _INNER_OPTIONS.items() if hasattr(DefaultOptions, name)}
inner_kernel = njit(nogil=True, error_model="numpy", **_KNOWN_OPTIONS)
# For small ones in the innermost loops: a call passes every field of every array.
inlined_kernel = njit(nogil=True, error_model="numpy", forceinline=True, **_KNOWN_OPTIONS)


def _cached(**options: Any) -> Callable[[Any], Any]:
    """Return a decorator that compiles a function and caches the result on disk if possible."""
    compiled = njit(nogil=True, **options)

    def decorate(function: Any) -> Any:
        kernel = compiled(function)
        with suppress(RuntimeError):  # the sources are in no file
            kernel._cache = KernelCache(function)
        return kernel

    return decorate


# For kernels that Python calls and that make no arrays.
outer_kernel = _cached(error_model="numpy", **{**_KNOWN_OPTIONS, "no_cpython_wrapper": False})
# For kernels that Python calls and that make arrays.
growing_kernel = _cached()


@growing_kernel
def twice(column):
    """Return a copy of the column with twice the room. It is a loop because slices take numba seconds to compile."""
    larger = np.empty(2 * len(column), column.dtype)
    for i in range(len(column)):
        larger[i] = column[i]
    return larger
