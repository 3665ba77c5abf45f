"""`find`, `cluster` and `dedup` on Spark (two local workers): time by stage, bytes shuffled and kept, growth, skew, and parity.

Every figure comes with the local engine's on the same file in the same run. `--parity` compares all tables row for row on the
mail list and the newsgroups; `--skew` adds one footer to every document of the collection.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import ibidem
from ibidem.execution.progress import Progress
from ibidem.execution.spark.session import own_session
from make_collection import make_collection, require_data

SHARES = (0.125, 0.25, 0.5, 1.0)
FOOTER = (
    " This page was sent to you because you asked for it once upon a time. You may leave the list whenever you like to do so."
    " Nothing on it may be printed without the consent of those who wrote it down."
)
VERBS: dict[str, tuple[str, dict[str, Any]]] = {
    "find exact": ("find", {"signature": "exact"}),
    "find words": ("find", {"signature": "words"}),
    "cluster": ("cluster", {}),
    "dedup document": ("dedup", {}),
    "dedup passage": ("dedup", {"level": "passage"}),
}


class Cluster:
    """A Spark session on this machine whose log says what was shuffled and written."""

    def __init__(self, work: Path, workers: int) -> None:
        self.log = work / "spark-events"
        shutil.rmtree(self.log, ignore_errors=True)
        self.log.mkdir(parents=True)
        log = {"enabled": "true", "dir": self.log.as_uri(), "rolling.enabled": "false", "compress": "false"}
        self.spark = own_session({f"spark.eventLog.{name}": value for name, value in log.items()}, workers)
        self.engine = ibidem.SparkEngine(self.spark)

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield the events so far; the last line may be unfinished."""
        time.sleep(1)
        for path in self.log.rglob("*"):
            if path.is_file() and not path.name.startswith(("appstatus", ".")):
                for line in path.read_text("utf-8").splitlines():
                    if line.startswith("{") and line.endswith("}"):
                        yield json.loads(line)

    def totals(self) -> dict[str, int]:
        """Return bytes and seconds over all tasks so far."""
        shuffled = written = busy = tasks = 0
        for event in self.events():
            if event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
                metrics = event["Task Metrics"]
                shuffled += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
                written += metrics["Output Metrics"]["Bytes Written"]
                busy += metrics["Executor Run Time"]
                tasks += 1
        return {"shuffled": shuffled, "written": written, "busy_ms": busy, "tasks": tasks}

    def jobs(self, n_before: int) -> list[str]:
        """Return a line for every Spark job but the first ones: when it ran, its tasks, and the seconds between two jobs."""
        begun: dict[int, tuple[int, str, set[int]]] = {}
        ended: dict[int, int] = {}
        tasks: dict[int, list[dict[str, Any]]] = {}
        for event in self.events():
            if event["Event"] == "SparkListenerJobStart":
                what = event["Properties"].get("spark.job.description") or event["Stage Infos"][-1]["Stage Name"]
                begun[event["Job ID"]] = (event["Submission Time"], what, set(event["Stage IDs"]))
            elif event["Event"] == "SparkListenerJobEnd":
                ended[event["Job ID"]] = event["Completion Time"]
            elif event["Event"] == "SparkListenerTaskEnd":
                tasks.setdefault(event["Stage ID"], []).append(event["Task Info"])
        lines, last = [], 0
        for number in sorted(ended)[n_before:]:
            begin, what, stages = begun[number]
            done = [info for stage in stages for info in tasks.get(stage, ())]
            busy = sum(info["Finish Time"] - info["Launch Time"] for info in done)
            gap = begin - last if last else 0
            lines.append(f"{gap / 1000:5.1f} s later {(ended[number] - begin) / 1000:5.1f} s, {len(done):3} tasks {busy / 1000:6.1f} s  {what}")
            last = ended[number]
        return lines


def processor_seconds() -> float:
    """Return the processor time of this process, of Spark, and of its workers so far."""
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = int(fields[1])
            seconds[int(folder.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    ours = {os.getpid()}
    while more := {number for number, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(seconds[number] for number in ours)


def timed_local(path: Path, verb: str, settings: dict[str, Any], out: Path) -> float:
    """Return the seconds of the local engine, tables written."""
    begin = time.perf_counter()
    shutil.rmtree(out, ignore_errors=True)
    getattr(ibidem, verb)(str(path), **settings).write(out)
    return time.perf_counter() - begin


def measure(cluster: Cluster, path: Path, names: list[str], work: Path, repeats: int) -> dict[str, float]:
    """Print and return the seconds of each verb on Spark, best of some."""
    size = path.stat().st_size
    times: dict[str, float] = {}
    for name in names:
        verb, settings = VERBS[name]
        best, report = math.inf, ""
        for _ in range(repeats):
            before, progress, begin = cluster.totals(), Progress(), time.perf_counter()
            with getattr(ibidem, verb)(str(path), engine=cluster.engine, progress=progress, **settings) as result:
                result.write(work / "out-spark", overwrite=True)
                seconds = time.perf_counter() - begin
                rows = result.run()["counts"]
            if seconds < best:
                best, after = seconds, cluster.totals()
                moved = {key: after[key] - before[key] for key in after}
                stages = " ".join(f"{stage} {value:.1f}" for stage, value in progress.timings.items())
                report = (
                    f"shuffled {moved['shuffled'] / size:.2f} and kept {moved['written'] / size:.2f} bytes a byte of input, "
                    f"{moved['tasks']} tasks, {moved['busy_ms'] / 1000:.0f} s of task time   {stages}   "
                    + ", ".join(f"{count:,} {what}" for what, count in rows.items() if count)
                )
        local = min(timed_local(path, verb, settings, work / "out-local") for _ in range(repeats))
        times[name] = best
        speed = f"{best:6.1f} s ({size / best / 1e6:5.1f} MB/s), local {local:5.1f} s, ratio {best / local:4.1f}"
        print(f"  {name:14} {speed}   {report}", flush=True)
    return times


def add_footer(path: Path, target: Path) -> Path:
    """Write the collection with one footer at the end of every document."""
    with open(path, encoding="utf-8") as file, open(target, "w", encoding="utf-8") as out:
        for line in file:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            out.write(json.dumps(record | {"text": record["text"] + FOOTER}, ensure_ascii=False) + "\n")
    return target


def plain(table: pa.Table) -> pa.Table:
    """Return a table with ids and words as they are."""
    columns = [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in table.columns]
    return pa.table(columns, names=table.column_names)


def read_parts(folder: Path, name: str) -> pa.Table:
    """Return a table that Spark wrote, part after part."""
    return pa.concat_tables(pq.ParquetFile(path).read() for path in sorted((folder / f"{name}.parquet").glob("part-*")))


def compare(cluster: Cluster, path: Path, work: Path, partition_counts: list[int]) -> None:
    """Compare the tables of both engines, row for row, for several numbers of partitions."""
    checks = [("find", {"signature": s}, ("passages", "documents", "repeats")) for s in ("exact", "words")]
    checks.append(("cluster", {"min_similarity": 0.6}, ("duplicates", "clusters")))
    for verb, settings, tables in checks:
        local = getattr(ibidem, verb)(str(path), **settings)
        for partitions in partition_counts:
            engine = ibidem.SparkEngine(cluster.spark, partitions=partitions)
            with getattr(ibidem, verb)(str(path), engine=engine, **settings) as result:
                result.write(work / "out-spark", overwrite=True)
            for name in tables:
                one, other = plain(getattr(local, name)), read_parts(work / "out-spark", name)
                equal = one.combine_chunks().equals(other.cast(one.schema).combine_chunks())
                words = f"{verb} {settings} {name}, {partitions} partitions: {one.num_rows:,} rows"
                print(f"  {path.parent.name} {words}: {'equal' if equal else 'DIFFERENT'}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("--work", default=str(Path(tempfile.gettempdir()) / "ibidem-benchmark"), help="folder for what is made")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--only", help="names of the measurements, separated by commas: " + ", ".join(VERBS))
    parser.add_argument("--shares", default=",".join(map(str, SHARES)), help="shares of the collection, separated by commas")
    parser.add_argument("--skew", action="store_true")
    parser.add_argument("--parity", action="store_true")
    parser.add_argument("--partitions", default="2,5,16", help="numbers of partitions for --parity, separated by commas")
    options = parser.parse_args()
    data, work = require_data(options.data), Path(options.work)
    names = options.only.split(",") if options.only else list(VERBS)
    cluster = Cluster(work, options.workers)
    if options.parity:
        for name in ("mail_list", "newsgroups20"):
            compare(cluster, data / name / "docs.jsonl.zst", work, [int(n) for n in options.partitions.split(",")])
        return
    shares = tuple(float(share) for share in options.shares.split(","))
    points: dict[str, list[tuple[int, float]]] = {}
    paths = make_collection(data, work, shares)
    print("once without measuring, so that all workers have their kernels", flush=True)
    measure(cluster, min(paths, key=lambda path: path.stat().st_size), names, work, 1)
    for path in paths:
        print(f"{path.name}: {path.stat().st_size / 1e6:.0f} MB", flush=True)
        times = measure(cluster, path, names, work, options.repeats)
        for name, seconds in times.items():
            points.setdefault(name, []).append((path.stat().st_size, seconds))
        if options.skew:
            skewed = add_footer(path, work / "skewed.jsonl")
            print(f"{skewed.name}: {skewed.stat().st_size / 1e6:.0f} MB, one footer in every document", flush=True)
            for name, seconds in measure(cluster, skewed, names, work, options.repeats).items():
                print(f"  {name}: {seconds / times[name]:.2f} of the time without the footer", flush=True)
    for name, measured in points.items():
        if len(measured) > 1:
            (large, slow), (small, quick) = max(measured), min(measured)
            exponent = math.log(slow / quick) / math.log(large / small)
            print(f"{name}: time grows as N^{exponent:.2f} from {small / 1e6:.0f} to {large / 1e6:.0f} MB")
    cluster.spark.stop()


if __name__ == "__main__":
    main()
