"""How much memory this process may use."""

from __future__ import annotations

import os
from pathlib import Path

_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_UNKNOWN = 4 << 30


def machine_memory() -> int:
    """Return the bytes of memory that this machine has, or that its container may use."""
    try:
        n_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):  # not on every system
        n_bytes = _UNKNOWN
    for path in _CGROUP_LIMITS:
        try:
            n_bytes = min(n_bytes, int(Path(path).read_text("ascii")))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return n_bytes
