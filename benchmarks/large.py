"""Collections that outgrow the memory: time, growth, memory and disk of `find`, `cluster` and `dedup` with a limit on memory.

For every size a collection is made (see make_large.py; the smaller ones are the beginnings of the larger), and each verb runs
in a process of its own. Measured are

- wall time, also as a multiple of `wc -w` on the same file (W), and processor time, which other work on the machine disturbs
  less, and how they grow with size (least squares, log over log);
- peak memory as the system has it for the process (mapped files count as far as they are in memory). For a process that
  starts others it would be that of the largest one, not the sum. What is the process's own, without mapped files, is polled;
- disk, as `run.json` says and as polling the folder for temporary files shows (files without a name are not seen there);
- at one size (`--unlimited-at`) whether a run without limit gives the same: tables row by row, other files byte by byte.

What is measured is kept in large.json in the work folder, and not measured again unless its line there is removed: an
interrupted benchmark goes on where it was, and parts can be run one at a time.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from make_collection import require_data
from speed import IBIDEM, run_timed

VERBS = {
    "find-exact": ("find", "--signature", "exact"),
    "find-words": ("find", "--signature", "words"),
    "find-aligned": ("find",),
    "cluster": ("cluster",),
    "dedup": ("dedup",),
    "dedup-passage": ("dedup", "--level", "passage"),
}
NO_LIMIT = "1000GB"
FOUND = ("passages", "duplicates", "removals")  # what a verb finds: the first of these that it counts
POLL_SECONDS = 0.2


class Watcher(threading.Thread):
    """Polls the size of a folder and the memory of a process, its own and that of each of its steps, and keeps the largest."""

    def __init__(self, folder: Path, log: Path, pid: int) -> None:
        super().__init__(daemon=True)
        self.folder, self.log, self.status = folder, log, Path(f"/proc/{pid}/status")
        self.disk_bytes = self.own_bytes = 0
        self.n_told_bytes: dict[int, int] = {}  # the most memory after so many lines of the log
        self.finished = threading.Event()

    def run(self) -> None:
        while not self.finished.wait(POLL_SECONDS):
            self.disk_bytes = max(self.disk_bytes, folder_bytes(self.folder))
            try:
                status = dict(re.findall(r"(RssAnon|VmRSS):\s+(\d+) kB", self.status.read_text("ascii")))
            except OSError:  # not Linux, or just ended
                status = {}
            self.own_bytes = max(self.own_bytes, 1024 * int(status.get("RssAnon", 0)))
            n_lines = self.log.read_bytes().count(b"\n")
            self.n_told_bytes[n_lines] = max(self.n_told_bytes.get(n_lines, 0), 1024 * int(status.get("VmRSS", 0)))

    def step_bytes(self) -> dict[str, int]:
        """Return the most memory of each step: a line of the log is written when a step ends."""
        names = [line.split()[0] if line.split() else "" for line in self.log.read_text("utf-8", "replace").splitlines()]
        most: dict[str, int] = {}
        for name, n_bytes in ((names[n], n_bytes) for n, n_bytes in self.n_told_bytes.items() if n < len(names)):
            most[name] = max(most.get(name, 0), n_bytes)
        return most


def folder_bytes(folder: Path) -> int:
    """Return what the files of a folder take on disk; files may come and go meanwhile."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512
            except OSError:
                continue
    return total


def measure(verb: str, path: Path, out: Path, spill: Path, memory: str) -> dict[str, Any] | None:
    """Run a verb with a limit on memory; return what was measured, or None if it failed."""
    for folder in (out, spill):
        shutil.rmtree(folder, ignore_errors=True)
    spill.mkdir(parents=True)
    name, *settings = VERBS[verb]
    command = [IBIDEM, name, str(path), "-o", str(out), *settings, "--memory", memory, "--tmp-dir", str(spill), "--verbose"]
    log = out.with_name("steps.log")
    log.write_bytes(b"")
    begin = time.perf_counter()
    # Not much may be in memory here: what is counts as the peak of the new process, too.
    to_log = (os.POSIX_SPAWN_OPEN, 2, str(log), os.O_WRONLY | os.O_APPEND, 0o600)
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[to_log])
    watcher = Watcher(spill, log, pid)
    watcher.start()
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - begin
    watcher.finished.set()
    watcher.join()
    if status != 0:
        print(f"failed: {' '.join(command)}\n{log.read_text('utf-8', 'replace')}", flush=True)
        return None
    run = json.loads((out / "run.json").read_text("utf-8"))
    return {
        "seconds": round(seconds, 2),
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_bytes": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        "own_bytes": watcher.own_bytes,
        "polled_disk_bytes": watcher.disk_bytes,
        "left_bytes": folder_bytes(spill),
        **{key: run.get(key, 0) for key in ("peak_memory_bytes", "spilled_bytes_peak", "spilled_bytes")},
        "output_bytes": folder_bytes(out),
        "step_bytes": watcher.step_bytes(),
        "counts": run["counts"],
        "timings_seconds": run["timings_seconds"],
    }


def compare_results(expected: Path, found: Path) -> list[str]:
    """Return how two folders of results differ, in words; nothing if tables, other files and counts are equal."""
    expected_names, found_names = (
        {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} for folder in (expected, found)
    )
    differences = [f"{name}: only in {expected.name}" for name in sorted(expected_names - found_names)]
    differences += [f"{name}: only in {found.name}" for name in sorted(found_names - expected_names)]
    for name in sorted(expected_names & found_names):
        a, b = expected / name, found / name
        if name == "run.json":  # times differ, and settings that change nothing
            counts, other_counts = (json.loads(path.read_text("utf-8"))["counts"] for path in (a, b))
            differences += [
                f"run.json: {key} {counts.get(key)} and {other_counts.get(key)}"
                for key in sorted({*counts, *other_counts})
                if counts.get(key) != other_counts.get(key)
            ]
        elif not filecmp.cmp(a, b, shallow=False):
            reason = _compare_tables(a, b) if a.suffix == ".parquet" else "bytes differ"
            differences += [f"{name}: {reason}"] if reason else []
    return differences


def _compare_tables(a: Path, b: Path) -> str:
    """Return how two Parquet files differ; nothing if they have the same rows in the same order."""
    import pyarrow as pa
    import pyarrow.parquet

    tables = []
    for path in (a, b):
        table = pyarrow.parquet.read_table(path)
        for number, field in enumerate(table.schema):
            if pa.types.is_dictionary(field.type):
                table = table.set_column(number, field.name, table.column(number).cast(field.type.value_type))
        tables.append(table)
    expected, found = tables
    if expected.schema != found.schema:
        return "other columns"
    if expected.equals(found):
        return ""
    if expected.num_rows != found.num_rows:
        return f"{expected.num_rows:,} and {found.num_rows:,} rows"
    keys = [(field.name, "ascending") for field in expected.schema if not pa.types.is_nested(field.type)]
    return "same rows, other order" if expected.sort_by(keys).equals(found.sort_by(keys)) else "rows differ"


class Benchmark:
    """What is to be measured, and what was measured already."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.data, self.work = require_data(options.data), Path(options.work)
        self.sizes = sorted(float(size) for size in options.sizes.split(","))
        self.verbs, self.memory, self.round_mb = options.verbs.split(","), options.memory, options.round_mb
        self.unlimited_at: float = options.unlimited_at
        self.work.mkdir(parents=True, exist_ok=True)
        self.store = self.work / "large.json"
        self.results: dict[str, Any] = json.loads(self.store.read_text("utf-8")) if self.store.exists() else {}
        self.failed = False

    def collection(self, size: float) -> Path:
        """Return the collection of so many GB; make it if it is not there."""
        path = self.work / f"rounds-{self.round_mb}MB-{size:g}GB.jsonl"
        if not path.exists():
            script, megabytes = Path(__file__).with_name("make_large.py"), str(round(1000 * size))
            command = [sys.executable, str(script), str(path), "--data", str(self.data), "--mb", megabytes]
            subprocess.run([*command, "--round-mb", str(self.round_mb)], check=True)
        return path

    def keep(self, key: str, result: dict[str, Any]) -> None:
        """Store a result, one a line, all or nothing."""
        self.results[key] = result
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in self.results.items())
        aside = self.store.with_suffix(".part")
        aside.write_text("{\n" + lines + "\n}\n", encoding="utf-8")
        aside.replace(self.store)

    def key(self, what: str, size: float) -> str:
        return f"{what} {size:g}GB {self.round_mb}MB {self.memory}"

    def run(self) -> None:
        """Measure what was not measured before."""
        for size in self.sizes:
            missing = [verb for verb in self.verbs if self.key(verb, size) not in self.results]
            if not missing:
                continue
            path = self.collection(size)
            if self.key("wc", size) not in self.results:
                seconds, _ = run_timed([shutil.which("wc") or "wc", "-w", str(path)], 2)  # the first reads it into memory
                self.keep(self.key("wc", size), {"seconds": seconds, "bytes": path.stat().st_size})
            for verb in missing:
                self.measure(verb, size, path)

    def measure(self, verb: str, size: float, path: Path) -> None:
        """Measure one verb on one size, at one of them also without limit."""
        out, other_out, spill = self.work / "limited", self.work / "unlimited", self.work / "spill"
        print(f"{verb}, {size:g} GB …", flush=True)
        result = measure(verb, path, out, spill, self.memory)
        if result is not None and size == self.unlimited_at:
            unlimited = measure(verb, path, other_out, spill, NO_LIMIT)
            if unlimited is not None:
                # Elsewhere, for the tables take memory that would count as that of the next process.
                command = [sys.executable, __file__, "--compare", str(other_out), str(out)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                result |= {"unlimited": unlimited, "differences": json.loads(done.stdout)}
            else:
                result = None
        if result is None:
            self.failed = True
        else:
            self.keep(self.key(verb, size), result)
            print(self.row(verb, size), flush=True)
        for folder in (out, other_out, spill):
            shutil.rmtree(folder, ignore_errors=True)

    def row(self, verb: str, size: float) -> str:
        """Return a row of the table."""
        result, base = self.results[self.key(verb, size)], self.results[self.key("wc", size)]
        n_mb, seconds = base["bytes"] / 1e6, result["seconds"]
        found = next((name for name in FOUND if name in result["counts"]), None)
        limited = [
            f"{seconds:.0f} s = {seconds / base['seconds']:.1f} W", f"{result['processor_seconds']:.1f} s",
            f"{n_mb / seconds:.1f}",
            f"{result['peak_bytes'] / 1e9:.2f} ({result['own_bytes'] / 1e9:.2f})",
            f"{result['spilled_bytes_peak'] / 1e9:.2f} · {result['spilled_bytes'] / 1e9:.2f}",
            f"{result['polled_disk_bytes'] / 1e9:.2f}" + (", some left" if result["left_bytes"] else ""),
            f"{result['output_bytes'] / 1e9:.2f}",
            f"{result['counts'][found] / n_mb:,.0f} {found}" if found else "",
        ]  # fmt: skip
        unlimited = ""
        if "unlimited" in result:
            other = result["unlimited"]
            same = "; ".join(result["differences"]) or "the same results"
            took = f"{other['seconds']:.0f} s, {other['processor_seconds']:.1f} s"
            unlimited = f"{took}, {other['peak_bytes'] / 1e9:.2f} GB, {same}"
        return "| " + " | ".join((verb, f"{size:g} GB", *limited, unlimited)) + " |"

    def is_well(self) -> bool:
        """Return whether all runs ended, gave the same without limit and left nothing behind, earlier ones included."""
        known = [self.results.get(self.key(verb, size), {}) for verb in self.verbs for size in self.sizes]
        return not self.failed and not any(result.get("differences") or result.get("left_bytes") for result in known)

    def table(self) -> str:
        """Return all that is known of the chosen sizes and verbs as Markdown."""
        columns = (
            "verb", "size", "time", "processor time", "MB/s", "peak memory, GB (own)", "disk, GB: at most · written", "polled",
            "output, GB", "found per MB", "without limit: time, processor time, memory",
        )  # fmt: skip
        lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
        exponents = []
        for verb in self.verbs:
            sizes = [size for size in self.sizes if self.key(verb, size) in self.results]
            lines += [self.row(verb, size) for size in sizes]
            for name, what in (("seconds", "time"), ("processor_seconds", "processor time")):
                points = [(self.results[self.key("wc", s)]["bytes"], self.results[self.key(verb, s)][name]) for s in sizes]
                if len(points) > 1:
                    grown = f"N^{growth_exponent(points):.2f} from {sizes[0]:g} to {sizes[-1]:g} GB"
                    exponents.append(f"{verb}: {what} grows as {grown}")
        return "\n".join([*lines, "", *exponents])


def growth_exponent(points: list[tuple[int, float]]) -> float:
    """Return the slope of log time over log size, by least squares."""
    sizes, times = [math.log(size) for size, _ in points], [math.log(seconds) for _, seconds in points]
    mean_size, mean_time = sum(sizes) / len(sizes), sum(times) / len(times)
    covariance = sum((s - mean_size) * (t - mean_time) for s, t in zip(sizes, times, strict=True))
    return covariance / sum((s - mean_size) ** 2 for s in sizes)


def main() -> None:
    if sys.argv[1:2] == ["--compare"]:
        print(json.dumps(compare_results(Path(sys.argv[2]), Path(sys.argv[3]))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("--work", default=str(Path(tempfile.gettempdir()) / "ibidem-large"), help="folder for all files")
    parser.add_argument("--sizes", default="1,2,4,8", help="sizes in GB, separated by commas")
    parser.add_argument("--verbs", default="find-exact,find-words,cluster,dedup", help="of " + ", ".join(VERBS))
    parser.add_argument("--memory", default="2GB", help="limit on memory")
    parser.add_argument("--unlimited-at", type=float, default=1, help="size in GB that is also run without limit; 0: none")
    parser.add_argument("--round-mb", type=int, default=333, help="size of a round of the collections in MB")
    parser.add_argument("--remove-collections", action="store_true", help="remove the made collections in the end")
    options = parser.parse_args()
    benchmark = Benchmark(options)
    benchmark.run()
    print(benchmark.table())
    (benchmark.work / "large.md").write_text(benchmark.table() + "\n", encoding="utf-8")
    if options.remove_collections:
        for size in benchmark.sizes:
            for path in benchmark.work.glob(f"rounds-{benchmark.round_mb}MB-{size:g}GB.*"):
                path.unlink()
    sys.exit(0 if benchmark.is_well() else 1)


if __name__ == "__main__":
    main()
