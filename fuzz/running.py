"""Targets run for some time, each in processes of its own that are watched from outside."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from fuzz.executing import CURRENT, Executor, record
from fuzz.mutating import Mutator
from fuzz.targets import PLACES, Target, load_target

STATISTICS = "statistics.json"
EARLIER = "earlier"
_LOOK_EVERY_SECONDS = 0.5
_HANG_SECONDS = 60  # of the clock: other work on the machine must not look like a hang
_START_SECONDS = 600  # kernels may have to be compiled
_MOST_SECONDS_A_PROCESS = 300  # so that what leaks somewhere does not add up, and that one is stuck with no kind of case
_SEEDS_IN_ADVANCE = 40


def has_atheris() -> bool:
    """Return whether atheris is installed."""
    return importlib.util.find_spec("atheris") is not None


def run_for(name: str, minutes: float, folder: Path, seed_number: int, guided: bool) -> dict[str, Any]:
    """Run a target for so long; return how many cases, minutes and findings there were. Findings are left in the folder.

    Those of earlier runs are the first cases: what was fixed is no longer a finding.
    """
    (folder / EARLIER).mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.case"):
        path.with_suffix(".txt").unlink(missing_ok=True)
        path.replace(folder / EARLIER / path.name)
    ends_seconds = time.monotonic() + 60 * minutes
    counts: Counter[str] = Counter()
    started_seconds = time.monotonic()
    while (left_seconds := ends_seconds - time.monotonic()) > 0:
        # Guided by branches and by outcomes in turns: each finds what the other does not.
        _run_process(
            name, min(left_seconds, _MOST_SECONDS_A_PROCESS), folder, seed_number + counts["processes"],
            guided and counts["processes"] % 2 == 0, counts,
        )  # fmt: skip
        counts["processes"] += 1
    return {
        "target": name,
        "cases": counts["cases"],
        "minutes": round((time.monotonic() - started_seconds) / 60, 1),
        "outcomes": counts["outcomes"],
        "findings": len(list(folder.glob("*.case"))),
    }


def _run_process(name: str, seconds: float, folder: Path, seed_number: int, guided: bool, counts: Counter[str]) -> None:
    """Run a process until its time is over, or it crashes, or it hangs; then what it was at is a finding."""
    statistics, current = folder / STATISTICS, folder / CURRENT
    for path in (statistics, current):
        path.unlink(missing_ok=True)
    command = [sys.executable, "-m", "fuzz", name, "--loop", str(seconds), "--seed", str(seed_number), "--folder", str(folder)]
    scratch = tempfile.mkdtemp(prefix="fuzz-", dir=_quick_folder())
    environment = {**os.environ, **PLACES[name].environment, "TMPDIR": scratch}
    if "NUMBA_BOUNDSCHECK" in environment:
        environment["NUMBA_CACHE_DIR"] = str(folder / "kernels")  # those compiled otherwise would be taken for them
    with open(folder / "output.txt", "wb") as output:
        process = subprocess.Popen(
            [*command, "--guided"] if guided else command, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
        started_seconds = time.time()
        try:
            while process.poll() is None:
                time.sleep(_LOOK_EVERY_SECONDS)
                begun_seconds = current.stat().st_mtime if current.exists() else started_seconds + _START_SECONDS
                if time.time() - begun_seconds > _HANG_SECONDS:
                    record(folder, current.read_bytes() if current.exists() else b"", "hang", "it did not come to an end")
                    process.kill()
                    process.wait()
        finally:
            process.kill()
            process.wait()
            shutil.rmtree(scratch, ignore_errors=True)
    if process.returncode < 0 and process.returncode != -signal.SIGKILL:
        told = (folder / "output.txt").read_text("utf-8", "replace")[-4000:]
        record(folder, current.read_bytes() if current.exists() else b"", f"signal {-process.returncode}", told)
    elif process.returncode > 0:
        told = (folder / "output.txt").read_text("utf-8", "replace")[-4000:]
        record(folder, current.read_bytes() if current.exists() else b"", f"exit {process.returncode}", told)
        time.sleep(1)  # if it cannot even start, it should not be tried a thousand times
    told_counts = json.loads(statistics.read_text()) if statistics.exists() else {}
    counts["cases"] += told_counts.get("cases", 0)
    counts["outcomes"] = max(counts["outcomes"], told_counts.get("outcomes", 0))


def _quick_folder() -> str | None:
    """Return a folder in memory, where there is one: cases write many small files."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def loop(name: str, seconds: float, seed_number: int, folder: Path, guided: bool) -> None:
    """Run cases of a target in this process until the time is over."""
    if guided:
        _loop_guided(name, seconds, seed_number, folder)
        return
    target, seeds = _ready(name, folder)
    executor, ends_seconds = Executor(target, folder), time.monotonic() + seconds
    mutator = Mutator(seeds, target.pieces, target.max_bytes, seed_number)
    tells_seconds = 0.0
    while time.monotonic() < ends_seconds:
        case = mutator.next_case()
        outcome = executor.run(case)
        if outcome is not None:
            mutator.learn(case, outcome)
        if time.monotonic() > tells_seconds:
            _tell(folder, executor.n_cases, mutator.n_outcomes)
            tells_seconds = time.monotonic() + 1
    _tell(folder, executor.n_cases, mutator.n_outcomes)


def _ready(name: str, folder: Path) -> tuple[Target, Sequence[bytes]]:
    """Return a target, its seeds and what it found before, with everything imported and compiled that they need."""
    target = load_target(name)
    seeds = target.seeds()
    for seed in seeds[:: 1 + len(seeds) // _SEEDS_IN_ADVANCE]:
        with suppress(Exception):  # it will come again
            target.check(seed)
    return target, [*seeds, *(path.read_bytes() for path in sorted((folder / EARLIER).glob("*.case")))]


def _loop_guided(name: str, seconds: float, seed_number: int, folder: Path) -> None:
    """Let atheris make the cases, guided by the branches that they take."""
    import atheris

    with atheris.instrument_imports(include=["ibidem"], exclude=_not_instrumented(PLACES[name].instrumented)):
        target, seeds = _ready(name, folder)
    executor, outcomes = Executor(target, folder), set[str]()
    corpus = Path(tempfile.mkdtemp(prefix="corpus-"))
    for number, seed in enumerate(seeds):
        (corpus / f"seed-{number:04}").write_bytes(seed)
    tells_seconds = 0.0

    def run(case: bytes) -> None:
        nonlocal tells_seconds
        outcome = executor.run(case)
        if outcome is not None:
            outcomes.add(outcome)
        if time.monotonic() > tells_seconds:
            _tell(folder, executor.n_cases, len(outcomes))
            tells_seconds = time.monotonic() + 1

    words = corpus.with_suffix(".dictionary")
    words.write_text("".join('"' + "".join(f"\\x{byte:02x}" for byte in piece) + '"\n' for piece in target.pieces if piece))
    options = {
        "max_total_time": int(seconds) + 1, "seed": seed_number + 1, "max_len": target.max_bytes, "timeout": 10 * _HANG_SECONDS,
        "rss_limit_mb": 0, "dict": words, "artifact_prefix": f"{corpus}-",
    }  # fmt: skip
    atheris.Setup([name, *(f"-{option}={value}" for option, value in options.items()), str(corpus)], run)
    atheris.Fuzz()


def _not_instrumented(wanted: Sequence[str]) -> list[str]:
    """Return all modules of ibidem but those that a target wants: numba cannot compile what was instrumented."""
    root = Path(str(importlib.util.find_spec("ibidem").origin)).parent  # type: ignore[union-attr]
    names = [".".join(path.relative_to(root.parent).with_suffix("").parts) for path in root.rglob("*.py")]
    return [
        name.removesuffix(".__init__")
        for name in names
        if "kernels" in name.split(".") or not any(f"{name}.".startswith(f"{prefix}.") for prefix in wanted)
    ]


def is_guided(name: str) -> bool:
    """Return whether atheris can make the cases of a target."""
    return has_atheris() and bool(PLACES[name].instrumented)


def _tell(folder: Path, n_cases: int, n_outcomes: int) -> None:
    aside = folder / f"{STATISTICS}.part"
    aside.write_text(json.dumps({"cases": n_cases, "outcomes": n_outcomes}))
    aside.replace(folder / STATISTICS)
