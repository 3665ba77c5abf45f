"""How kernels are compiled: the numba decorators that all stages share, and the one helper that grows arrays."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from numba import njit
from numba.core.caching import FunctionCache
from numba.core.options import DefaultOptions

# For kernels that only kernels call and that make no arrays. Without Python wrappers they compile in half the time; without
# reference counts they run several times as fast. Options that a numba version lacks are left out.
_INNER_OPTIONS = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "no_rewrites": True}
_KNOWN_OPTIONS: dict[str, Any] = {name: value for name, value in _INNER_OPTIONS.items() if hasattr(DefaultOptions, name)}
inner_kernel = njit(nogil=True, error_model="numpy", **_KNOWN_OPTIONS)
# For small ones in the innermost loops: a call passes every field of every array.
inlined_kernel = njit(nogil=True, error_model="numpy", forceinline=True, **_KNOWN_OPTIONS)


class _KernelCache(FunctionCache):
    """Numba's cache on disk. It is optional: kernels that cannot be read from it or stored in it are compiled."""

    @contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        with suppress(OSError):
            yield


def _cached(**options: Any) -> Callable[[Any], Any]:
    """Return a decorator that compiles a function and caches the result on disk if possible."""
    compiled = njit(nogil=True, **options)

    def decorate(function: Any) -> Any:
        kernel = compiled(function)
        with suppress(RuntimeError):  # neither the package nor the home folder is writable
            kernel._cache = _KernelCache(function)
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
