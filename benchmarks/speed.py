"""Speed, memory and growth of `find`, `cluster` and `dedup` against `wc -w` on the same file in the same run, best of three.

`--only align --share 0.7` measures `find` with alignment on about 300 MB of text, the size that its goal is set for.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from make_collection import make_collection, require_data

SHARES = (1.0, 0.5, 0.25, 0.125, 0.0625)
VERBS = {
    "exact": ("find", "--signature", "exact"),
    "words": ("find", "--signature", "words"),
    "align": ("find",),
    "cluster": ("cluster",),
    "dedup document": ("dedup",),
    "dedup passage": ("dedup", "--level", "passage"),
}
COUNTS = (
    "sentences", "aligned_places", "passages", "repeats", "shingles", "duplicates", "clusters", "removed_documents", "removals",
)  # fmt: skip
GOALS = {"align": 15.0}  # times W, at some 300 MB
IBIDEM = str(Path(sys.executable).parent / "ibidem")


def run_timed(command: list[str], repeats: int, cleanup: Path | None = None) -> tuple[float, int]:
    """Return the best wall time in seconds and the largest peak of resident memory in bytes."""
    best, peak = math.inf, 0
    for _ in range(repeats):
        if cleanup is not None:
            shutil.rmtree(cleanup, ignore_errors=True)
        begin = time.perf_counter()
        pid = os.posix_spawn(
            command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
        )
        _, status, usage = os.wait4(pid, 0)
        best = min(best, time.perf_counter() - begin)
        peak = max(peak, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
        if status != 0:
            sys.exit(f"failed: {' '.join(command)}")
    return best, peak


def text_bytes(path: Path) -> int:
    """Return the bytes of all texts of a JSONL collection."""
    with open(path, encoding="utf-8") as file:
        return sum(len(json.loads(line)["text"].encode()) for line in file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument(
        "--work", default=str(Path(tempfile.gettempdir()) / "ibidem-benchmark"), help="folder for the made collections"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", help="names of the measurements, separated by commas: " + ", ".join(VERBS))
    parser.add_argument("--share", type=float, default=1.0, help="share of the collection")
    parser.add_argument("--growth", action="store_true", help="also measure 1/16, 1/8, 1/4 and 1/2 of the collection")
    options = parser.parse_args()
    work = Path(options.work)
    shares = tuple(options.share * share for share in SHARES) if options.growth else (options.share,)
    paths = make_collection(require_data(options.data), work, shares)
    wc = shutil.which("wc") or "wc"
    out = work / "out"
    times: dict[str, list[tuple[int, float]]] = {}
    for path in paths:
        size = text_bytes(path)
        base, _ = run_timed([wc, "-w", str(path)], options.repeats)
        print(f"{path.name}: file {path.stat().st_size / 1e6:.0f} MB, text {size / 1e6:.0f} MB, wc -w {base:.2f} s", flush=True)
        for name in options.only.split(",") if options.only else VERBS:
            command = [IBIDEM, VERBS[name][0], str(path), "-o", str(out), "--quiet", *VERBS[name][1:]]
            seconds, peak = run_timed(command, options.repeats, out)
            run = json.loads((out / "run.json").read_text())
            counts = run["counts"]
            goal = f" (goal {GOALS[name]:g} W)" if name in GOALS else ""
            print(
                f"  {name:14} {seconds:6.2f} s = {seconds / base:5.2f} W{goal}   memory {peak / 1e6:6.0f} MB = "
                f"{peak / size:4.2f} x text   "
                + ", ".join(f"{counts[what]:,} {what}" for what in COUNTS if counts.get(what))
                + "   "
                + " ".join(f"{name} {value:.1f}" for name, value in run["timings_seconds"].items()),
                flush=True,
            )
            times.setdefault(name, []).append((size, seconds))
    for name, points in times.items():
        if len(points) > 1:
            (large, slow), (small, quick) = points[0], points[-1]
            exponent = math.log(slow / quick) / math.log(large / small)
            print(f"{name}: time grows as N^{exponent:.2f} from {small / 1e6:.0f} to {large / 1e6:.0f} MB of text")
    shutil.rmtree(out, ignore_errors=True)


if __name__ == "__main__":
    main()
