"""How much memory this process may use, and how much it uses."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from ibidem.config.quantities import memory_bytes
from ibidem.execution.operating_system import address_limit, peak_memory, physical_memory

_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_UNKNOWN = 4 << 30
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # as named in glibc's malloc.h


def machine_memory() -> int:
    """Return the bytes of memory that this machine has, or that its container may use."""
    n_bytes = min(physical_memory() or _UNKNOWN, _room_for_addresses())
    for path in (*_CGROUP_LIMITS, *_own_limits()):
        try:
            n_bytes = min(n_bytes, int(Path(path).read_text("ascii")))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return n_bytes


def _room_for_addresses() -> int:
    """Return the address space that `ulimit -v` leaves to this process; reserved but unused addresses count, too."""
    limit = address_limit()
    if limit is None:
        return sys.maxsize
    try:
        n_reserved, n_used = map(int, Path("/proc/self/statm").read_text("ascii").split()[:2])
    except (OSError, ValueError):
        return limit
    return max(1, limit - (n_reserved - n_used) * os.sysconf("SC_PAGE_SIZE"))


def _own_limits() -> Iterator[str]:
    """Yield the files with the limits of this process's control group and of those above it."""
    try:
        groups = Path("/proc/self/cgroup").read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return
    for group in groups:
        _, controllers, path = group.split(":", 2)
        root, name = ("", "memory.max") if not controllers else ("memory", "memory.limit_in_bytes")
        if not controllers or "memory" in controllers.split(","):
            folder = PurePosixPath(path)
            yield from (f"/sys/fs/cgroup/{root}/{above}/{name}" for above in (folder, *folder.parents))


def allowed_memory(memory: str) -> int:
    """Return the bytes that the setting `memory` allows a run; auto is three quarters of what there is."""
    return memory_bytes(memory) or machine_memory() * 3 // 4


def use_system_memory() -> None:
    """Have Arrow allocate through the system's C library, in the whole process.

    Arrow's own allocators keep freed memory: on 432 MB of text the system's peaks 120 MB lower, at the same speed.
    """
    pa.set_memory_pool(pa.system_memory_pool())


def release_unused() -> None:
    """Return to the system what Arrow freed in small pieces."""
    pa.default_memory_pool().release_unused()


def give_back_memory() -> None:
    """Return freed memory to the system, if the C library supports it."""
    release_unused()
    trim = getattr(_c_library(), "malloc_trim", None)
    if trim is not None:
        trim(0)


def keep_little_memory() -> None:
    """Make the C library return large blocks as soon as they are freed, and threads share two heaps."""
    set_option = getattr(_c_library(), "mallopt", None)
    if set_option is not None:
        set_option(_MMAP_THRESHOLD, 32 << 20)
        set_option(_ARENA_MAX, 2)


@cache
def _c_library() -> Any:
    try:
        return ctypes.CDLL(None)
    except (OSError, TypeError):  # not on every system
        return None


def is_used_memory_known() -> bool:
    """Return whether the system reports current memory; elsewhere `used_memory` is the peak."""
    return Path("/proc/self/statm").exists()


def used_memory() -> int:
    """Return the bytes of memory that this process uses now."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return peak_memory()
