"""Hostile texts: time and memory of every verb on unnatural collections, each at three sizes.

Every run is a process of its own with a time limit. Printed are seconds of all cores (less what the verb needs for a few
words), the peak of memory, and the exponent by which the seconds grow from the smallest size to the largest. What grows faster
than N^1.3, needs more memory than 20 times the file (beyond that of a few words), or fails, is flagged. No data is needed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from hostile_texts import COLLECTIONS

IBIDEM = str(Path(sys.executable).parent / "ibidem")
MOST_GROWTH = 1.3
MOST_MEMORY = 20  # times the text
LEAST_SECONDS = 1.0  # growth of less says nothing
VERBS = {
    "words": ("find", "--no-align"),
    "exact": ("find", "--signature", "exact"),
    "shingles": ("find", "--signature", "shingles"),
    "spotsigs": ("find", "--signature", "spotsigs"),
    "imatch": ("find", "--signature", "imatch"),
    "fingerprint": ("find", "--signature", "fingerprint"),
    "same": ("find", "--same-document", "--no-align"),
    "align": ("find",),
    "compare": ("compare",),
    "cluster": ("cluster",),
    "shingling": ("cluster", "--method", "shingling"),
    "containment": ("cluster", "--min-containment", "0.9"),
    "order": ("cluster", "--measure", "order"),
    "document": ("dedup",),
    "passage": ("dedup", "--level", "passage"),
    "similar": ("dedup", "--level", "passage", "--signature", "words"),
    "sentence": ("dedup", "--level", "sentence"),
    "add": ("index", "add"),
    "query": ("index", "query"),
    "check": ("index", "check"),
    "watch": ("watch",),
}


@dataclass(frozen=True)
class Measured:
    """What a run took; `failure` is empty if it ended well."""

    seconds: float
    peak_bytes: int
    failure: str


def run_limited(command: list[str], limit_seconds: float, limit_bytes: int, errors: Path) -> Measured:
    """Run a command with limits of time and memory."""
    with open(errors, "wb") as stream:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=stream, start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit_bytes, limit_bytes)),
        )  # fmt: skip
    too_late = threading.Event()

    def end() -> None:
        too_late.set()
        os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(limit_seconds, end)
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)  # waited for already
    failure = ""
    if too_late.is_set():
        failure = f"not within {limit_seconds:g} s"
    elif status != 0:
        lines = errors.read_text(errors="replace").strip().splitlines() or [""]
        failure = f"exit code {process.returncode}: {lines[-1][:100]}"
    return Measured(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024), failure)


def write_collection(texts: Iterator[str], size_bytes: int, folder: Path) -> int:
    """Write texts until the size is reached, under two sets of ids, and which pairs to compare; return the size of the file."""
    n_bytes = n_documents = 0
    with open(folder / "documents.jsonl", "w") as first, open(folder / "again.jsonl", "w") as second:
        for number, text in enumerate(texts):
            first.write(json.dumps({"id": f"d{number}", "text": text}) + "\n")
            second.write(json.dumps({"id": f"e{number}", "text": text}) + "\n")
            n_bytes += len(text.encode())
            n_documents += 1
            if n_bytes >= size_bytes:
                break
    pairs = [f"d{number},d{number + 1}\n" for number in range(0, n_documents - 1, 2)] or ["d0,d0\n"]
    (folder / "pairs.csv").write_text("a_id,b_id\n" + "".join(pairs))
    return (folder / "documents.jsonl").stat().st_size


def command_of(verb: str, folder: Path) -> list[str]:
    """Return the command line of a verb on the collection of a folder."""
    words, documents, out, index = VERBS[verb], str(folder / "documents.jsonl"), str(folder / "out"), str(folder / "index")
    if verb == "compare":
        return [IBIDEM, "compare", documents, "--pairs", str(folder / "pairs.csv"), "-o", out, "-q"]
    if verb == "add":
        return [IBIDEM, *words, index, documents, "-q"]
    if verb == "query":
        return [IBIDEM, *words, index, str(folder / "again.jsonl"), "-o", out]
    if verb == "check":
        return [IBIDEM, *words, index, str(folder / "again.jsonl"), "--format", "jsonl"]
    if verb == "watch":
        return ["sh", "-c", 'exec "$0" watch "$1" -q < "$2"', IBIDEM, str(folder / "watched"), documents]
    return [IBIDEM, *words, documents, "-o", out, "-q"]


def measure(verb: str, folder: Path, limit_seconds: float, limit_bytes: int) -> Measured:
    """Run a verb on the collection of a folder."""
    for made in ("out", "watched"):
        shutil.rmtree(folder / made, ignore_errors=True)
    if verb == "add":
        shutil.rmtree(folder / "index", ignore_errors=True)
    return run_limited(command_of(verb, folder), limit_seconds, limit_bytes, folder / "errors.txt")


def describe(points: list[tuple[int, Measured]], base: Measured) -> tuple[str, bool]:
    """Return a line about a verb at rising sizes, and whether it is to be looked at."""
    cells, flags = [], []
    seconds = [max(0.0, measured.seconds - base.seconds) for _, measured in points]
    for (size, measured), least in zip(points, seconds, strict=True):
        more_bytes = max(0, measured.peak_bytes - base.peak_bytes)
        cells.append(f"{size / 1e6:6.1f} MB {least:6.2f} s {measured.peak_bytes / 1e6:6.0f} MB {more_bytes / size:5.1f}x")
        if more_bytes > MOST_MEMORY * size:
            flags.append("MEMORY")
        if measured.failure:
            flags.append(measured.failure)
    (small, _), (large, _) = points[0], points[-1]
    growth = ""
    if large > 1.5 * small and seconds[-1] >= LEAST_SECONDS:
        exponent = math.log(seconds[-1] / max(seconds[0], LEAST_SECONDS / 10)) / math.log(large / small)
        growth = f"N^{exponent:.2f}"
        if exponent > MOST_GROWTH:
            flags.append("GROWTH")
    return f"{' | '.join(cells)} | {growth} {'; '.join(dict.fromkeys(flags))}", bool(flags)


def few_words() -> Iterator[str]:
    """Two documents that make every verb do something."""
    sentences = [f"{a} one two three four five six seven eight nine ten. " for a in ("Here", "Then", "There")]
    yield "".join(sentences)
    yield "".join(sentences) + "And no more."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="2,4,8", help="megabytes of text")
    parser.add_argument("--only", default="", help="collections whose names contain one of these, separated by commas")
    parser.add_argument("--verbs", default=",".join(VERBS), help="of " + ",".join(VERBS))
    parser.add_argument("--limit-seconds", type=float, default=60)
    parser.add_argument("--limit-memory", type=float, default=8, help="gigabytes")
    parser.add_argument("--work", help="folder for the collections and results")
    options = parser.parse_args()
    sizes = [int(1e6 * float(size)) for size in options.sizes.split(",")]
    verbs: list[str] = options.verbs.split(",")
    chosen: dict[str, Callable[[int], Iterator[str]]] = {
        name: make
        for name, make in COLLECTIONS.items()
        if not options.only or any(part in name for part in options.only.split(","))
    }
    n_flagged = 0
    with tempfile.TemporaryDirectory(dir=options.work) as work:
        folder = Path(work)
        limits = options.limit_seconds, int(1e9 * options.limit_memory)
        write_collection(few_words(), 10**9, folder)
        for verb in verbs:
            measure(verb, folder, 600, limits[1])  # whatever is not compiled yet
        bases = {verb: min((measure(verb, folder, *limits) for _ in range(3)), key=lambda run: run.seconds) for verb in verbs}
        for name, make in chosen.items():
            points: dict[str, list[tuple[int, Measured]]] = {verb: [] for verb in verbs}
            for size in sizes:
                n_bytes = write_collection(islice(make(size), 10**6), size, folder)
                for verb in verbs:
                    if not (points[verb] and points[verb][-1][1].failure):
                        points[verb].append((n_bytes, measure(verb, folder, *limits)))
            for verb in verbs:
                line, is_flagged = describe(points[verb], bases[verb])
                n_flagged += is_flagged
                print(f"{'!' if is_flagged else ' '} {name:28} {verb:11} {line}", flush=True)
    print(f"{n_flagged} to be looked at")


if __name__ == "__main__":
    main()
