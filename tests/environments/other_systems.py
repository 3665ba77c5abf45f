"""Takes away from this process what other operating systems do not have, and puts in what they have instead.

    python -c "from tests.environments.other_systems import become; become('windows'); …"

It is a simulation: paths, line ends and files that cannot be deleted while they are open remain those of Linux.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

_NOT_ON_WINDOWS = (
    "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "pread", "pwrite", "sysconf", "statvfs", "geteuid", "getuid", "sched_getaffinity",
    "mkfifo", "fork",
)  # fmt: skip
_NOT_ON_MACOS = ("sched_getaffinity",)


def become(system: str) -> None:
    """Make this process look like one on `windows` or `macos` to everything that is imported afterwards."""
    assert not any(name.startswith("ibidem") for name in sys.modules)
    # Other packages have versions of their own for each system: they are loaded as they are here.
    for name in (
        "numba",
        "pyarrow.compute",
        "pyarrow.dataset",
        "pyarrow.parquet",
        "click",
        "rich.console",
        "sqlite3",
        "subprocess",
    ):
        import_module(name)
    if system == "windows":
        import fcntl

        _keep_disk_usage()
        sys.modules["msvcrt"] = _msvcrt(fcntl)
        sys.modules["fcntl"] = sys.modules["resource"] = None  # type: ignore[assignment]
        for name in _NOT_ON_WINDOWS:
            if hasattr(os, name):
                delattr(os, name)
        del signal.SIGHUP
        os.supports_dir_fd = set()
        _refuse_folders()
    else:
        for name in _NOT_ON_MACOS:
            delattr(os, name)
    _hide_proc()


def _keep_disk_usage() -> None:
    """Let Python tell the free space, as it does on Windows by other means."""
    really = os.statvfs

    def disk_usage(path: Any) -> Any:
        disk = really(path)
        return SimpleNamespace(free=disk.f_bavail * disk.f_frsize)

    shutil.disk_usage = disk_usage


def _msvcrt(fcntl: ModuleType) -> ModuleType:
    """Return the two locks of `msvcrt`, which are on one byte at the current position."""
    module = ModuleType("msvcrt")
    module.LK_NBLCK, module.LK_UNLCK = 2, 0  # type: ignore[attr-defined]

    def locking(descriptor: int, mode: int, n_bytes: int) -> None:
        assert (n_bytes, os.lseek(descriptor, 0, os.SEEK_CUR)) == (1, 1 << 30)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_UN if mode == 0 else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None

    module.locking = locking  # type: ignore[attr-defined]
    return module


def _refuse_folders() -> None:
    """Make it impossible to open folders, to list them by descriptor, and to sync what is open for reading only."""
    really_open, really_list, really_sync = os.open, os.listdir, os.fsync
    writable: set[int] = set()

    def open_file(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if dir_fd is not None:
            raise NotImplementedError("dir_fd unavailable on this platform")
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        descriptor = really_open(path, flags | 0o2000000, mode)  # as Python opens files: not inherited
        (writable.add if flags & (os.O_WRONLY | os.O_RDWR) else writable.discard)(descriptor)
        return descriptor

    def list_folder(path: Any = ".") -> list[str]:
        if isinstance(path, int):
            raise TypeError("listdir: path should be string, bytes, os.PathLike or None, not int")
        return really_list(path)

    def sync(descriptor: Any) -> None:
        if isinstance(descriptor, int) and os.path.isdir(f"/dev/fd/{descriptor}"):
            raise OSError(errno.EBADF, "Bad file descriptor")
        really_sync(descriptor)

    os.open, os.listdir, os.fsync = open_file, list_folder, sync  # type: ignore[assignment]


def _hide_proc() -> None:
    """Let nothing below /proc and /sys exist for pathlib, by which they are read."""
    import pathlib

    really_read = pathlib.Path.read_text

    def read_text(path: pathlib.Path, *arguments: Any, **more: Any) -> str:
        if str(path).startswith(("/proc/", "/sys/")):
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
        return really_read(path, *arguments, **more)

    pathlib.Path.read_text = read_text  # type: ignore[method-assign]
