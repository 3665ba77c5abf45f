"""Kills runs whose stages are stored (`kill -9`) at random moments, and resumes them: the results must not differ.

Each verb runs once undisturbed, as the reference. Then runs are killed and resumed with the same command, half of them killed
again while they are being resumed, once or twice. When one has come to its end its tables must be those of the reference row
by row, its other files byte by byte, its counts the same; it must have gone on after all stages that lay there; and nothing
may be left, no work folder, lock or half file. Every other run stores its stages in a folder for temporary files, the others
inside the output folder.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from large import compare_results
from make_collection import require_data
from speed import IBIDEM

VERBS = {
    "find-exact": ("find", "--signature", "exact"),
    "find-words": ("find", "--signature", "words"),
    "cluster": ("cluster",),
    "dedup-document": ("dedup",),
    "dedup-passage": ("dedup", "--level", "passage"),
    "dedup-sentence": ("dedup", "--level", "sentence"),
}
WORK_FOLDER = ".work"  # inside the output folder, as long as a run has not come to its end
MOST_SECONDS = 300  # a run that takes longer hangs
MOST_FAILURES = 5
START_SHARE = 0.1  # of the kills, while the program starts and nothing is there yet
POLL_SECONDS = 0.002


@dataclass(frozen=True)
class Moment:
    """When a run is killed: seconds after it began, or after its first word, which it says when it begins with its stages."""

    seconds: float
    after_first_word: bool

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s after its {'first word' if self.after_first_word else 'start'}"


def run(command: list[str], log: Path, moment: Moment | None = None) -> tuple[int, str]:
    """Run a command, and kill it and all that it started; return its exit code (negative: killed) and what it said."""
    with open(log, "wb") as stderr:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr, start_new_session=True)
        if moment is not None and moment.after_first_word:
            wait_until(lambda: log.stat().st_size > 0, process)
        try:
            process.wait(moment.seconds if moment is not None else MOST_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode, log.read_text("utf-8", "replace")


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen[bytes]) -> float:
    """Wait until something is so, or the process has ended; return the time."""
    while not is_so() and process.poll() is None:
        time.sleep(POLL_SECONDS)
    return time.perf_counter()


def paths_in(folder: Path) -> set[str]:
    """Return all files and folders in a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def is_over(out: Path) -> bool:
    """Return whether a run has come to its end."""
    return (out / "run.json").exists() and not (out / WORK_FOLDER).exists()


class Victim:
    """One verb on one collection: its reference, and what was seen of the runs that were killed."""

    def __init__(self, verb: str, collection: Path, work: Path, partitions: int) -> None:
        self.verb, self.out, self.stored, self.log = verb, work / "out", work / "stored", work / "log"
        self.reference = work / f"reference-{verb}"
        name, *settings = VERBS[verb]
        self.command = [IBIDEM, name, str(collection), *settings, "--partitions", str(partitions)]
        self.counts: Counter[str] = Counter()
        self.failures: list[str] = []
        for _ in range(2):  # the first one compiles
            shutil.rmtree(self.reference, ignore_errors=True)
            begin = time.perf_counter()
            with open(self.log, "wb") as stderr:
                command = [*self.command, "-o", str(self.reference)]
                process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr)
                spoke = wait_until(lambda: self.log.stat().st_size > 0, process)
                ended = wait_until(lambda: is_over(self.reference), process)
                if process.wait():
                    sys.exit(f"{verb} failed: {self.log.read_text('utf-8')}")
            self.start_seconds, self.seconds = spoke - begin, ended - spoke

    def moment(self, chance: random.Random) -> Moment:
        """Return a random moment, mostly one in which stages or results are written."""
        if chance.random() < START_SHARE:
            return Moment(chance.uniform(0, self.start_seconds), after_first_word=False)
        return Moment(chance.uniform(0, self.seconds), after_first_word=True)

    def cycle(self, chance: random.Random) -> None:
        """Kill a run, perhaps while it is being resumed too, let it come to its end, and look at what is there."""
        for folder in (self.out, self.stored):
            shutil.rmtree(folder, ignore_errors=True)
        self.stored.mkdir()
        command = [*self.command, "-o", str(self.out)]
        command += ["--tmp-dir", str(self.stored)] if chance.random() < 0.5 else []
        n_kills = 1 + chance.choice((0, 0, 1, 2))
        moments = [self.moment(chance) for _ in range(n_kills)]
        n_stages = 0
        for number, moment in enumerate([*moments, None]):
            code, log = run([*command, "--resume"] if number else command, self.log, moment)
            where = f"{self.verb}, run {number + 1} (killed {', '.join(map(str, moments))})"
            told = re.search(r"continuing after (\d+) finished stage", log)
            if number and (told or code == 0) and (n_found := int(told[1]) if told else 0) != n_stages:
                self.failures.append(f"{where}: {n_stages} stages lay there, it went on after {n_found}")
            if code == -signal.SIGKILL and moment is not None:
                if is_over(self.out):
                    self.counts["after the end"] += 1
                    break
                found = (path for folder in (self.out, self.stored) for path in folder.rglob("*.stage"))
                n_stages = sum(path.parent.suffix != ".gone" for path in found)  # those were being removed: it was at its end
                self.counts["kills"] += 1
                self.counts["kills while resuming"] += number > 0
                self.counts["nothing stored"] += n_stages == 0
                self.counts["while writing results"] += any(path.is_file() for path in self.out.glob("*"))
                self.counts["most stages"] = max(self.counts["most stages"], n_stages)
            elif code:
                self.failures.append(f"{where}: exit code {code}: {log.strip()[-500:]}")
                return
            else:
                break
            self.counts["stages found"] += int(told[1]) if told and number else 0
        self.counts["stages found"] += n_stages
        self.counts["cycles"] += 1
        problems = compare_results(self.reference, self.out)
        problems += [f"{name} is left" for name in sorted(paths_in(self.out) - paths_in(self.reference))]
        problems += [f"{name} is left among temporary files" for name in sorted(paths_in(self.stored))]
        self.failures += [f"{where}: {problem}" for problem in problems]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("--work", default=str(Path(tempfile.gettempdir()) / "ibidem-kills"), help="folder for all files")
    parser.add_argument("--kills", type=int, default=200, help="kills in all")
    parser.add_argument("--verbs", default="find-exact,find-words,dedup-document,dedup-passage", help="of " + ", ".join(VERBS))
    parser.add_argument("--mb", type=int, default=3, help="size of the collection in MB")
    parser.add_argument("--partitions", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    data, work, chance = require_data(options.data), Path(options.work), random.Random(options.seed)
    work.mkdir(parents=True, exist_ok=True)
    collection = work / f"collection-{options.mb}MB.jsonl"
    if not collection.exists():
        script = Path(__file__).with_name("make_large.py")
        sizes = ["--mb", str(options.mb), "--round-mb", "1"]
        subprocess.run([sys.executable, str(script), str(collection), "--data", str(data), *sizes], check=True)
    begin = time.perf_counter()
    victims = []
    verbs = options.verbs.split(",")
    for number, verb in enumerate(verbs, 1):
        victim = Victim(verb, collection, work, options.partitions)
        victims.append(victim)
        print(f"{verb}: {victim.start_seconds:.1f} + {victim.seconds:.1f} s undisturbed", flush=True)
        n_wanted = options.kills * number // len(verbs) - options.kills * (number - 1) // len(verbs)
        while victim.counts["kills"] < n_wanted and len(victim.failures) < MOST_FAILURES:
            victim.cycle(chance)
    columns = (
        "cycles", "kills", "kills while resuming", "nothing stored", "while writing results", "after the end", "stages found",
        "most stages",
    )  # fmt: skip
    print("| verb | " + " | ".join(columns) + " | differences |\n" + "|---" * (len(columns) + 2) + "|")
    for victim in victims:
        cells = (victim.verb, *(str(victim.counts[column]) for column in columns), str(len(victim.failures)))
        print("| " + " | ".join(cells) + " |")
    failures = [failure for victim in victims for failure in victim.failures]
    n_kills = sum(victim.counts["kills"] for victim in victims)
    print(f"{n_kills} kills in {time.perf_counter() - begin:.0f} s, {len(failures)} differences")
    for failure in failures:
        print(f"  {failure}")
    for folder in ("out", "stored", *(f"reference-{verb}" for verb in verbs)):
        shutil.rmtree(work / folder, ignore_errors=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
