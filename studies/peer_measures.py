"""Runs a command and says what it took, as JSON: seconds, the peak of its memory in bytes, and its exit code.

    python peer_measures.py LOG LIMIT_SECONDS COMMAND...

It is a program of its own because what the system calls the peak of a process begins with the memory of the one that started
it, and a study holds collections in memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

POLL_SECONDS = 0.2
_RSS_BYTES = 1 if sys.platform == "darwin" else 1024


class Measured(NamedTuple):
    """What a command took. It was stopped if its exit code is that of SIGKILL, -9."""

    seconds: float
    memory_bytes: int
    code: int


def run_measured(command: list[str], log: Path, limit_seconds: float) -> Measured:
    """Run a command in a small process of its own, its output going to a log; it is killed if it takes too long.

    Memory is what the system says of the process itself, or, if it starts others, the largest sum over all of them that was
    seen; what they share counts once.
    """
    launcher = [sys.executable, "-S", __file__, str(log), str(limit_seconds), *command]
    done = subprocess.run(launcher, check=True, stdout=subprocess.PIPE, text=True)
    return Measured(**json.loads(done.stdout))


def measure(command: list[str], log: str, limit_seconds: float) -> Measured:
    """Run a command from this process, which has to be small."""
    begin = time.perf_counter()
    with open(log, "w", encoding="utf-8") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True)
    watcher = _MemoryWatcher(process.pid)
    watcher.start()
    timer = threading.Timer(limit_seconds, _kill_group, (process.pid,))
    timer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except KeyboardInterrupt:
        _kill_group(process.pid)
        raise
    finally:
        timer.cancel()
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    watcher.ended.set()
    watcher.join()
    return Measured(seconds, max(usage.ru_maxrss * _RSS_BYTES, watcher.peak_bytes), process.returncode)


def _kill_group(pid: int) -> None:
    """Kill a process that leads a group, and the others of the group."""
    with contextlib.suppress(ProcessLookupError):  # it may just have ended
        os.killpg(pid, signal.SIGKILL)


class _MemoryWatcher(threading.Thread):
    """Notes the memory of a process and all that it starts, whenever there is more than one."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self.ended = threading.Event()
        self.peak_bytes = 0

    def run(self) -> None:
        """Look every now and then, until the process has ended."""
        while not self.ended.wait(POLL_SECONDS):
            processes = process_tree(self._pid)
            if len(processes) > 1:
                self.peak_bytes = max(self.peak_bytes, sum(map(proportional_bytes, processes)))


def process_tree(pid: int) -> list[int]:
    """Return a process and all below it, by /proc; where there is none, only itself."""
    children = defaultdict(list)
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = path.read_text("utf-8", errors="replace").rpartition(")")[2].split()[1]
        except OSError:
            continue  # it has ended
        children[int(parent)].append(int(path.parent.name))
    tree = [pid]
    for process in tree:
        tree += children[process]
    return tree


def proportional_bytes(pid: int) -> int:
    """Return the memory of a process, of shared pages only its part; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[3:], sys.argv[1], float(sys.argv[2]))._asdict()))
