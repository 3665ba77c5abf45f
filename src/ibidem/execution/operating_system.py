"""Where operating systems differ: locks, open folders, names on disk, memory. Nothing else in the program asks which one it is.

Linux has everything used here. macOS has no /proc; Windows has no `flock`, cannot open or sync folders, and reports memory in
its own way.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

fcntl: ModuleType | None
msvcrt: Any
resource: ModuleType | None
try:
    import fcntl
    import resource
except ModuleNotFoundError:  # Windows
    fcntl = resource = None
try:
    import msvcrt
except ModuleNotFoundError:
    msvcrt = None

# A child process does not inherit the file, and Windows does not translate its line ends.
PLAIN_FILE = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0) | getattr(os, "O_BINARY", 0)
# Windows locks bytes, and forbids others to read them: this one lies behind everything that the file says about its owner.
_LOCKED_BYTE = 1 << 30
_moving = threading.Lock()  # one reader at a time, where a file must be moved to be read


def can_open_folders() -> bool:
    """Return whether a folder can be opened, so that its files are reached through it and not by their paths."""
    return hasattr(os, "O_DIRECTORY") and os.open in os.supports_dir_fd


def lock(descriptor: int) -> None:
    """Lock an open file for this process; OSError (EWOULDBLOCK, EACCES) if another has it."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)


def write_first(descriptor: int, content: bytes) -> None:
    """Write the beginning of an open file, wherever it was read or written last."""
    if hasattr(os, "pwrite"):
        os.pwrite(descriptor, content, 0)
    else:
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, content)


def read_at(descriptor: int, n_bytes: int, start_bytes: int) -> bytes:
    """Read a part of an open file, which stays at its position; for any number of threads at a time."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, n_bytes, start_bytes)
    with _moving:
        position = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, start_bytes, os.SEEK_SET)
        try:
            return os.read(descriptor, n_bytes)
        finally:
            os.lseek(descriptor, position, os.SEEK_SET)


def unlock(descriptor: int) -> None:
    """Release the lock; closing alone would leave it with forked processes, which share the open file."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    else:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)


def physical_memory() -> int | None:
    """Return the bytes of memory of this machine, if the system says."""
    if hasattr(os, "sysconf"):
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (ValueError, OSError):
            return None
    return _of_windows("kernel32", "GlobalMemoryStatusEx", _MachineMemory, "physical")


def address_limit() -> int | None:
    """Return the bytes of addresses that `ulimit -v` allows, if there is a limit."""
    return _limit("RLIMIT_AS")


def file_limit() -> int | None:
    """Return how many files this process may have open (`ulimit -n`), if there is a limit."""
    return _limit("RLIMIT_NOFILE")


def _limit(name: str) -> int | None:
    if resource is None:
        return None
    limit: int = resource.getrlimit(getattr(resource, name))[0]
    return None if limit == resource.RLIM_INFINITY else limit


def is_full(folder: Path, n_bytes: int) -> bool:
    """Return whether so many bytes, or one more file, no longer fit into a folder; OSError if that is not known."""
    if not hasattr(os, "statvfs"):
        return shutil.disk_usage(folder).free < n_bytes
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize < n_bytes or (disk.f_files > 0 and disk.f_favail == 0)


def peak_memory() -> int:
    """Return the peak memory of this process in bytes; 0 if the system does not say."""
    if resource is not None:
        most: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
    return _of_windows("kernel32", "K32GetProcessMemoryInfo", _ProcessMemory, "peak") or 0


class _MachineMemory(ctypes.Structure):
    """MEMORYSTATUSEX of Windows."""

    _fields_ = (
        ("n_bytes", ctypes.c_uint32), ("load", ctypes.c_uint32), ("physical", ctypes.c_uint64), ("rest", ctypes.c_uint64 * 6),
    )  # fmt: skip


class _ProcessMemory(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS of Windows."""

    _fields_ = (
        ("n_bytes", ctypes.c_uint32), ("faults", ctypes.c_uint32), ("peak", ctypes.c_size_t), ("rest", ctypes.c_size_t * 7),
    )  # fmt: skip


def _of_windows(library: str, function: str, shape: type[Any], field: str) -> int | None:
    """Return a number that a function of Windows writes into a structure of this shape."""
    try:
        windows = getattr(ctypes.WinDLL(library), function)  # type: ignore[attr-defined]
        found = shape()
        found.n_bytes = ctypes.sizeof(found)
        process = () if shape is _MachineMemory else (ctypes.c_void_p(-1),)  # the handle of this process
        size = () if shape is _MachineMemory else (ctypes.sizeof(found),)
        return int(getattr(found, field)) if windows(*process, ctypes.byref(found), *size) else None
    except (AttributeError, OSError):
        return None
