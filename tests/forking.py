"""Processes that fork. They have one thread: a lock that another thread has at a fork would stay locked in the child.

Python deprecates such forks since 3.12, but only warns of them.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

# Libraries start threads as soon as they are loaded: numpy those of its linear algebra, pyarrow one that frees memory.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}


def forking_process(*arguments: str) -> dict[str, Any]:
    """Return what `subprocess` needs to start a Python in which `fork` works: libraries start no threads of their own there."""
    environment = {**os.environ, **_ONE_THREAD}
    return {"args": [sys.executable, *arguments], "env": environment, "cwd": Path(__file__).parent.parent}


def fork() -> int:
    """Fork as `os.fork` does, but only a process that has one thread."""
    tasks = Path("/proc/self/task")  # where there is none, threads of libraries are not seen
    n_threads = len(os.listdir(tasks)) if tasks.exists() else threading.active_count()
    assert n_threads == 1, f"a fork in a process of {n_threads} threads"
    return os.fork()
