"""The index in four figures, in one run: opening, one document looked up, a batch of them, and a stream.

- opening: fresh processes import ibidem and open an index of five million sentences, until the number of its documents is
  known, and until the first answer.
- one document: beginnings (20 sentences) of documents that are not in it, looked up one by one, also with alignment.
- batch: the same documents in one call, with one worker and with one per core.
- stream: documents in random order, each looked up among all before it, then added; the cost of a sentence by tenths.

Every figure is given as elapsed time and as processor time, which hardly depends on what else the machine is doing.
W is the time of `wc -w` on the added texts. The index is stored in WORK and reused.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from growing import N_SENTENCES, make_large_index, read_records
from make_collection import make_collection, require_data

STEPS = ("opening", "latency", "batch", "stream")
TRIES = 3
WARMING = 20
OPENING = """
import os, sys, time
def clocks(): return time.perf_counter(), time.process_time()
def since(before): return " ".join(f"{1000 * (b - a):.0f}" for a, b in zip(before, clocks()))
begin = clocks()
from ibidem import Index
print("import", since(begin))
begin = clocks()
index = Index(sys.argv[1], create=False)
len(index)
print("open", since(begin))
text = open(sys.argv[2], encoding="utf-8").readline()
begin = clocks()
import json
index.query(json.loads(text)).passages
print("answer", since(begin))
"""


@contextmanager
def timed(into: list[tuple[float, float]]) -> Iterator[None]:
    """Add the milliseconds that a block takes: those that pass, and those of processor time."""
    begin = time.perf_counter(), time.process_time()
    yield
    into.append((1000 * (time.perf_counter() - begin[0]), 1000 * (time.process_time() - begin[1])))


def word_count_seconds(path: Path) -> float:
    """Return the best time of `wc -w` on a file."""
    seconds = []
    for _ in range(TRIES):
        begin = time.perf_counter()
        subprocess.run(["wc", "-w", str(path)], check=True, capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def measure_opening(folder: Path, queries: Path) -> None:
    best: dict[str, list[float]] = {}
    for _ in range(TRIES + 1):  # the first one compiles kernels, or loads them
        command = [sys.executable, "-c", OPENING, str(folder), str(queries)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            name, *values = line.split()
            best[name] = [min(pair) for pair in zip(best.get(name, [1e9, 1e9]), map(float, values), strict=True)]
    shown = ", ".join(f"{name} {passed:.0f} ms ({worked:.0f} of processor time)" for name, (passed, worked) in best.items())
    print(f"opening, best of {TRIES}: {shown}", flush=True)


def measure_latency(folder: Path, records: list[dict[str, Any]]) -> None:
    from ibidem import Index

    with Index(folder, create=False) as index:
        for align in (False, True):
            for record in records[:WARMING]:
                index.query(record, align=align)
            best: list[tuple[float, float]] = []
            for _ in range(TRIES):
                times: list[tuple[float, float]] = []
                n_hits = n_passages = 0
                for record in records:
                    with timed(times):
                        result = index.query(record, align=align)
                        n_hits += result.hits.num_rows
                        n_passages += result.passages.num_rows
                best = [(min(a, c), min(b, d)) for (a, b), (c, d) in zip(best or times, times, strict=True)]
            shown = []
            for name, values in zip(("", " of processor time"), zip(*best, strict=True), strict=True):
                p50, p90, p99 = (sorted(values)[int(share * len(values))] for share in (0.5, 0.9, 0.99))
                shown.append(f"p50 {p50:.1f} ms, p90 {p90:.1f} ms, p99 {p99:.1f} ms{name}")
            print(
                f"one document of {N_SENTENCES} sentences{', aligned' if align else ''}: {'; '.join(shown)}; "
                f"{n_hits / len(records):.1f} hits, {n_passages / len(records):.1f} passages each",
                flush=True,
            )


def measure_batch(folder: Path, records: list[dict[str, Any]], also_aligned: bool) -> None:
    from ibidem import Index

    for align in (False, True)[: 1 + also_aligned]:
        for workers in (1, 0):
            with Index(folder, create=False, workers=workers) as index:
                index.query(records[:WARMING], align=align)
                times: list[tuple[float, float]] = []
                for _ in range(TRIES):
                    with timed(times):
                        found = index.query(records, align=align)
                        n_rows = found.hits.num_rows, found.passages.num_rows
            passed, worked = (min(values) for values in zip(*times, strict=True))
            print(
                f"batch of {len(records):,} documents{', aligned' if align else ''}, {workers or 'all'} workers: "
                f"{passed / 1000:.2f} s ({worked / 1000:.2f} of processor time); {n_rows[0]:,} hits, {n_rows[1]:,} passages",
                flush=True,
            )


def measure_stream(path: Path, work: Path, wanted: int, align: bool) -> None:
    from ibidem import Index

    records = list(read_records(path))
    random.Random(7).shuffle(records)
    folder = work / "stream.idx"
    shutil.rmtree(folder, ignore_errors=True)
    with Index(folder, create=True) as index:
        list(index.watch([{"id": "warm up", "text": records[0]["text"]}], align=align))
        index.remove("warm up")
        n_sentences = 0
        marks = [(time.perf_counter(), time.process_time(), 0)]
        for arrival in index.watch(records, align=align):
            n_sentences += arrival.verdict.n_sentences if arrival.verdict else 0
            if n_sentences >= wanted * len(marks) // 10:
                marks.append((time.perf_counter(), time.process_time(), n_sentences))
            if n_sentences >= wanted:
                break
    print(f"stream of {n_sentences:,} sentences{', aligned' if align else ''}, microseconds per sentence:")
    for name, which in (("time", 0), ("processor time", 1)):
        costs = [1e6 * (b[which] - a[which]) / max(1, b[2] - a[2]) for a, b in itertools.pairwise(marks)]
        whole = 1e6 * (marks[-1][which] - marks[0][which]) / n_sentences
        print(f"  {name}: {whole:.1f}; by tenths {' '.join(f'{cost:.0f}' for cost in costs)}", flush=True)
    shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("--work", default=str(Path(tempfile.gettempdir()) / "ibidem-benchmark"))
    parser.add_argument("--index-sentences", type=int, default=5_000_000)
    parser.add_argument("--sentences", type=int, default=1_000_000, help="sentences of the stream")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--align", action="store_true", help="align the batch and the stream, too")
    parser.add_argument("--only", default=",".join(STEPS), help="steps, separated by commas: " + ", ".join(STEPS))
    options = parser.parse_args()
    work = Path(options.work)
    path = make_collection(require_data(options.data), work, (1.0,))[0]
    folder, queries = make_large_index(path, work, options.index_sentences)
    records = list(itertools.islice(read_records(queries), options.queries))
    steps = options.only.split(",")
    print(f"W = {word_count_seconds(work / 'large.jsonl'):.1f} s", flush=True)
    if "opening" in steps:
        measure_opening(folder, queries)
    if "latency" in steps:
        measure_latency(folder, records)
    if "batch" in steps:
        measure_batch(folder, records, options.align)
    if "stream" in steps:
        measure_stream(path, work, options.sentences, options.align)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    main()
