"""`find`, `cluster` and `dedup` on Spark (two local workers): time by stage, processor time, bytes kept, growth, skew, parity.

Every figure comes with the local engine's on the same file in the same run. `--stages` lists Spark's jobs, `--costs` derives
what a terabyte takes. `--parity` compares all tables row for row on the mail list and the newsgroups; `--skew` adds one footer
to every document of the collection. With `--master local-cluster[2,1,2048]`, workers are two processes of their own.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import shutil
import sys
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
BUSY_SHARE, DOLLARS_A_CORE_HOUR = 0.7, 0.04
FOOTER = (
    " This page was sent to you because you asked for it once upon a time. You may leave the list whenever you like to do so."
    " Nothing on it may be printed without the consent of those who wrote it down."
)
VERBS: dict[str, tuple[str, dict[str, Any]]] = {
    "find exact": ("find", {"signature": "exact", "align": False}),
    "find words": ("find", {"signature": "words", "align": False}),
    "find aligned": ("find", {}),
    "cluster": ("cluster", {}),
    "dedup document": ("dedup", {}),
    "dedup passage": ("dedup", {"level": "passage"}),
}


class Cluster:
    """A Spark session on this machine whose log says what its jobs did."""

    def __init__(self, work: Path, workers: int, master: str | None) -> None:
        self.log = work / "spark-events"
        shutil.rmtree(self.log, ignore_errors=True)
        self.log.mkdir(parents=True)
        log = {"enabled": "true", "dir": self.log.as_uri(), "rolling.enabled": "false", "compress": "false"}
        settings = {f"spark.eventLog.{name}": value for name, value in log.items()}
        if master is not None:
            settings |= {"spark.master": master, "spark.executorEnv.PYTHONPATH": os.pathsep.join(sys.path[1:])}
        self.spark = own_session(settings, workers)
        self.tmp_dir = work.resolve().as_uri()
        self.engine = self.engine_of(0)

    def engine_of(self, partitions: int) -> ibidem.SparkEngine:
        """Return an engine with so many partitions."""
        return ibidem.SparkEngine(self.spark, tmp_dir=self.tmp_dir, partitions=partitions)

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield the events so far; the last line may be unfinished."""
        time.sleep(1)
        for path in self.log.rglob("*"):
            if path.is_file() and not path.name.startswith(("appstatus", ".")):
                for line in path.read_text("utf-8").splitlines():
                    if line.startswith("{") and line.endswith("}"):
                        yield json.loads(line)

    def jobs(self) -> dict[int, str]:
        """Return a line for every finished job: the seconds since the last one, its own, those of its tasks, and its name."""
        begun: dict[int, tuple[int, str, set[int]]] = {}
        ended: dict[int, int] = {}
        tasks: dict[int, list[int]] = {}
        for event in self.events():
            if event["Event"] == "SparkListenerJobStart":
                name = event["Properties"].get("spark.job.description") or event["Stage Infos"][-1]["Stage Name"]
                begun[event["Job ID"]] = (event["Submission Time"], name, set(event["Stage IDs"]))
            elif event["Event"] == "SparkListenerJobEnd":
                ended[event["Job ID"]] = event["Completion Time"]
            elif event["Event"] == "SparkListenerTaskEnd":
                info = event["Task Info"]
                tasks.setdefault(event["Stage ID"], []).append(info["Finish Time"] - info["Launch Time"])
        lines, last = {}, 0
        for number, end in sorted(ended.items()):
            begin, name, stages = begun[number]
            busy = [milliseconds for stage in stages for milliseconds in tasks.get(stage, ())]
            waited = (begin - last) / 1000 if last else 0.0
            spent = f"{(end - begin) / 1000:5.1f} s, {len(busy):3} tasks of {sum(busy) / 1000:6.1f} s"
            lines[number] = f"    after {waited:4.1f} s: {spent}  {name}"
            last = end
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
    ours = {os.getpid()}  # and below it Spark, and its workers
    while more := {number for number, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(seconds[number] for number in ours)


def timed_local(path: Path, verb: str, settings: dict[str, Any], out: Path) -> tuple[float, float]:
    """Return the seconds of the local engine, tables written, and its processor time."""
    begin, before = time.perf_counter(), time.process_time()
    shutil.rmtree(out, ignore_errors=True)
    getattr(ibidem, verb)(str(path), **settings).write(out)
    return time.perf_counter() - begin, time.process_time() - before


def measure(
    cluster: Cluster, path: Path, names: list[str], work: Path, repeats: int, is_listing: bool = False
) -> dict[str, tuple[float, float]]:
    """Print and return the seconds of each verb on Spark, and its processor time, each the best of some."""
    size = path.stat().st_size
    times: dict[str, tuple[float, float]] = {}
    for name in names:
        verb, settings = VERBS[name]
        runs, report = [], ""
        for _ in range(repeats):
            jobs = cluster.jobs() if is_listing else {}
            before, progress, begin = processor_seconds(), Progress(), time.perf_counter()
            with getattr(ibidem, verb)(str(path), engine=cluster.engine, progress=progress, **settings) as result:
                result.write(work / "out-spark", overwrite=True)
                runs.append((time.perf_counter() - begin, processor_seconds() - before))
                rows, kept = result.run()["counts"], result.backing.run.flow.disk.n_bytes_written
            stages = " ".join(f"{stage} {value:.1f}" for stage, value in progress.timings.items())
            counts = ", ".join(f"{count:,} {what}" for what, count in rows.items() if count)
            report = f"kept {kept / size:.2f} bytes per byte of input   {stages}   {counts}"
        local = best([timed_local(path, verb, settings, work / "out-local") for _ in range(repeats)])
        times[name] = found = best(runs)
        speed = size / found[0] / 1e6
        elapsed = f"{found[0]:6.1f} s ({speed:5.1f} MB/s), local {local[0]:5.1f} s, ratio {found[0] / local[0]:4.1f}"
        processor = f"processor time {found[1]:6.1f} s, local {local[1]:5.1f} s, ratio {found[1] / local[1]:4.1f}"
        print(f"  {name:14} {elapsed}; {processor}   {report}", flush=True)
        if is_listing:
            print("\n".join(line for number, line in cluster.jobs().items() if number not in jobs), flush=True)
    return times


def best(runs: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the least time elapsed and the least processor time."""
    elapsed, processor = zip(*runs, strict=True)
    return min(elapsed), min(processor)


def print_costs(name: str, seconds_a_megabyte: float) -> None:
    """Print what one and ten terabytes take, under the assumptions that the documentation names."""
    for terabytes, more in ((1, 1.0), (10, 1.5)):
        hours = seconds_a_megabyte * terabytes * 1e6 * more / 3600
        spent = ", ".join(f"{hours / cores / BUSY_SHARE:.1f} h on {cores} cores" for cores in (80, 400))
        print(f"{name}, {terabytes} TB: {hours:,.0f} core-hours, {spent}, {hours * DOLLARS_A_CORE_HOUR:,.1f} dollars")


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
            engine = cluster.engine_of(partitions)
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
    parser.add_argument("--master", help="instead of local threads, for example local-cluster[2,1,2048]")
    parser.add_argument("--stages", action="store_true", help="list Spark's jobs")
    parser.add_argument("--costs", action="store_true", help="derive what one and ten terabytes take")
    parser.add_argument("--skew", action="store_true")
    parser.add_argument("--parity", action="store_true")
    parser.add_argument("--partitions", default="2,5,16", help="numbers of partitions for --parity, separated by commas")
    options = parser.parse_args()
    data, work = require_data(options.data), Path(options.work)
    names = options.only.split(",") if options.only else list(VERBS)
    cluster = Cluster(work, options.workers, options.master)
    if options.parity:
        for name in ("mail_list", "newsgroups20"):
            compare(cluster, data / name / "docs.jsonl.zst", work, [int(n) for n in options.partitions.split(",")])
        return
    shares = tuple(float(share) for share in options.shares.split(","))
    points: dict[str, list[tuple[int, float, float]]] = {}
    paths = make_collection(data, work, shares)
    print("once without measuring, so that all workers have their kernels", flush=True)
    measure(cluster, min(paths, key=lambda path: path.stat().st_size), names, work, 1)
    for path in paths:
        print(f"{path.name}: {path.stat().st_size / 1e6:.0f} MB", flush=True)
        times = measure(cluster, path, names, work, options.repeats, options.stages)
        for name, seconds in times.items():
            points.setdefault(name, []).append((path.stat().st_size, *seconds))
        if options.skew:
            skewed = add_footer(path, work / "skewed.jsonl")
            print(f"{skewed.name}: {skewed.stat().st_size / 1e6:.0f} MB, one footer in every document", flush=True)
            for name, seconds in measure(cluster, skewed, names, work, options.repeats).items():
                print(f"  {name}: {seconds[1] / times[name][1]:.2f} of the processor time without the footer", flush=True)
    for name, measured in points.items():
        if len(measured) > 1:
            large, small = max(measured), min(measured)
            growth = [math.log(large[which] / small[which]) / math.log(large[0] / small[0]) for which in (1, 2)]
            sizes = f"from {small[0] / 1e6:.0f} to {large[0] / 1e6:.0f} MB"
            print(f"{name}: time grows as N^{growth[0]:.2f}, processor time as N^{growth[1]:.2f} {sizes}")
        if options.costs:
            print_costs(name, max(measured)[2] / max(measured)[0] * 1e6)
    cluster.spark.stop()


if __name__ == "__main__":
    main()
