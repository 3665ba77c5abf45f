"""Other tools, each in an environment of its own, and what a run of a command takes: time, and memory of all its processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from peer_runs import READS

PROGRAM = Path(__file__).with_name("peer_runs.py")
IBIDEM = str(Path(sys.executable).parent / "ibidem")
PACKAGES = {"datatrove": ("datatrove[processing]", "spacy", "orjson")}  # its deduplication does not start without these
POLL_SECONDS = 0.2
MAX_REASON_CHARS = 160
_RSS_BYTES = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Outcome:
    """A run of a tool: what it took and where its answer is, or why there is none."""

    tool: str
    folder: Path
    seconds: float = 0.0
    memory_bytes: int = 0
    failure: str = ""

    @property
    def answer(self) -> Path:
        """The file that holds the answer of a peer."""
        return self.folder / "answer.jsonl"


class Environment(NamedTuple):
    """The Python of an environment and the version of the tool in it; without a Python, why it cannot be installed."""

    python: str
    version: str


class Runner:
    """Runs tools, ibidem too, in folders below `work`; none for longer than `limit_seconds`. Environments are kept there."""

    def __init__(self, work: Path, limit_seconds: float) -> None:
        self.work = work
        self._limit_seconds = limit_seconds
        self._environments: dict[str, Environment] = {}

    def environment(self, package: str) -> Environment:
        """Return the environment of a package, which is made and filled if it is not there."""
        if package not in self._environments:
            self._environments[package] = make_environment(package, self.work / f"env-{package}")
        return self._environments[package]

    def run_peer(self, name: str, source: Path, *more: Path) -> Outcome:
        """Run a peer; names are those of peer_runs.py, and begin with the name of the package."""
        package = name if name == "text-dedup" else name.split("-")[0]
        python, version = self.environment(package)
        folder = self._fresh_folder(name, source)
        if not python:
            return Outcome(name, folder, failure=f"cannot be installed: {version}")
        tool = name.replace(package, f"{package} {version}", 1).replace(f"{version}-", f"{version} ")
        command = [python, str(PROGRAM), "run", name, str(source), str(folder), *map(str, more)]
        outcome = self._measure(tool, command, folder)
        if name in READS and not outcome.failure:
            command = [python, str(PROGRAM), "read", name, str(source), str(folder)]
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            if done.returncode:
                return Outcome(tool, folder, failure=last_line(done.stderr))
        return outcome

    def run_ibidem(self, verb: str, source: Path, *flags: str) -> Outcome:
        """Run a verb of ibidem, from its command line."""
        tool = " ".join(["ibidem", verb, *(flag for flag in flags if "/" not in flag)])
        folder = self._fresh_folder(tool.replace(" ", "_"), source)
        return self._measure(tool, [IBIDEM, verb, str(source), "-o", str(folder / "out"), "--quiet", *flags], folder)

    def _fresh_folder(self, name: str, source: Path) -> Path:
        """Return an empty folder: some tools go on from what they find."""
        folder = self.work / "runs" / source.stem / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def _measure(self, tool: str, command: list[str], folder: Path) -> Outcome:
        log = folder / "log"
        seconds, memory_bytes, code = run_measured(command, log, self._limit_seconds)
        failure = ""
        if code == -signal.SIGKILL:
            failure = f"stopped after {seconds:.0f} s"
        elif code:
            failure = last_line(log.read_text("utf-8", errors="replace")) or f"ended with {code}"
        return Outcome(tool, folder, seconds, memory_bytes, failure)


def make_environment(package: str, folder: Path) -> Environment:
    """Return the environment in a folder, with the package installed."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    ask = [str(python), "-c", f"from importlib.metadata import version; print(version({package!r}))"]
    asked = subprocess.run(ask, check=False, capture_output=True, text=True)
    if asked.returncode:
        install = [str(python), "-m", "pip", "install", "--quiet", *PACKAGES.get(package, (package,))]
        installed = subprocess.run(install, check=False, capture_output=True, text=True)
        asked = subprocess.run(ask, check=False, capture_output=True, text=True)
        if installed.returncode or asked.returncode:
            return Environment("", last_line(installed.stderr))
    return Environment(str(python), asked.stdout.strip())


def run_measured(command: list[str], log: Path, limit_seconds: float) -> tuple[float, int, int]:
    """Run a command; return its seconds, the peak of its memory in bytes, and its exit code, -9 if it took too long.

    Memory is what the system says of the process itself, or, if it starts others, the largest sum over all of them that was
    seen; what they share counts once.
    """
    begin = time.perf_counter()
    with open(log, "w", encoding="utf-8") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True)
    watcher = _MemoryWatcher(process.pid)
    watcher.start()
    timer = threading.Timer(limit_seconds, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    watcher.ended.set()
    watcher.join()
    return seconds, max(usage.ru_maxrss * _RSS_BYTES, watcher.peak_bytes), process.returncode


class _MemoryWatcher(threading.Thread):
    """Notes the memory of a process and all that it starts, as long as there is more than one."""

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
    """Return a process and all below it, by /proc; where there is none, nothing."""
    children = defaultdict(list)
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = path.read_text("utf-8", errors="replace").rpartition(")")[2].split()[1]
        except OSError:
            continue
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


def words_seconds(path: Path) -> float:
    """Return how long `wc -w` takes on a file: the best of three."""
    program = shutil.which("wc") or "wc"
    return min(run_measured([program, "-w", str(path)], Path(os.devnull), 600)[0] for _ in range(3))


def last_line(text: str) -> str:
    """Return the last line of a log that says something, cut to what fits into a table."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].replace("|", "/")[:MAX_REASON_CHARS] if lines else ""
