"""The index as it grows: a stream of a million sentences, latency on five million, bytes and memory, and peers' insert + query.

- stream: documents in random order through `Index.watch` (each is looked up among all before it, then added); the time of
  each tenth shows whether the cost of a sentence stays flat. A second run through the command line includes reading and
  writing JSON.
- latency: all documents but every twentieth are added; a fresh process asks for beginnings (20 sentences) of those left out,
  also with alignment.
- peers: MinHash tools from PyPI, each in an environment that this script makes, query and insert the same sentences (words as
  features, 64 hash functions, limit 0.8); ibidem does the same, with one sentence a document, in the same run.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from speed import IBIDEM

STEPS = ("stream", "latency", "peers")
PEERS = ("rensa", "datasketch")
N_SENTENCES = 20
PERMUTATIONS = 64


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def memory_of(pid: str = "self") -> dict[str, int]:
    """Return memory figures of a process in MB: peak, and now what is its own and what is mapped from files."""
    text = Path(f"/proc/{pid}/status").read_text("ascii")
    found = {name: int(kilobytes) // 1024 for name, kilobytes in re.findall(r"(VmHWM|RssAnon|RssFile):\s+(\d+) kB", text)}
    return {"peak": found.get("VmHWM", 0), "own": found.get("RssAnon", 0), "mapped": found.get("RssFile", 0)}


def measure_stream(path: Path, work: Path, wanted: int) -> None:
    from ibidem import Index

    records = list(read_records(path))
    random.Random(7).shuffle(records)
    folder = work / "stream.idx"
    shutil.rmtree(folder, ignore_errors=True)
    with Index(folder, create=True) as index:
        list(index.watch([{"id": "warm up", "text": records[0]["text"]}]))  # compiles the kernels
        index.remove("warm up")
        n_sentences = n_documents = n_duplicates = 0
        marks: list[tuple[float, int]] = [(0.0, 0)]
        begin = time.perf_counter()
        for arrival in index.watch(records):
            if arrival.verdict is None:
                continue
            n_documents += 1
            n_sentences += arrival.verdict.n_sentences
            n_duplicates += arrival.verdict.duplicated
            if n_sentences >= wanted * len(marks) // 10:
                marks.append((time.perf_counter() - begin, n_sentences))
            if n_sentences >= wanted:
                break
        seconds = time.perf_counter() - begin
    costs = [1e6 * (b - a) / max(1, n - m) for (a, m), (b, n) in itertools.pairwise(marks)]
    print(f"stream: {n_sentences:,} sentences of {n_documents:,} documents in {seconds:.1f} s, {n_duplicates:,} duplicated")
    print("  microseconds a sentence by tenths:", " ".join(f"{cost:.0f}" for cost in costs))
    print(f"  last tenth / second tenth: {costs[-1] / costs[1]:.2f}; memory {memory_of()['peak']} MB", flush=True)
    source = work / "stream.jsonl"
    with open(source, "w", encoding="utf-8") as file:
        for record in records[:n_documents]:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    begin = time.perf_counter()
    with open(source, "rb") as stdin, open(work / "stream.out", "wb") as stdout:
        subprocess.run([IBIDEM, "watch", str(folder), "--quiet"], stdin=stdin, stdout=stdout, check=True)
    n_bytes = (work / "stream.out").stat().st_size
    print(f"  the same through `ibidem watch`: {time.perf_counter() - begin:.1f} s, {n_bytes / 1e6:.0f} MB written", flush=True)


def make_large_index(path: Path, work: Path, wanted: int) -> tuple[Path, Path]:
    """Return an index of all documents but every twentieth, and a file of beginnings of those; both are made once."""
    from ibidem import Index, split_sentences

    folder, queries, source = work / "large.idx", work / "queries.jsonl", work / "large.jsonl"
    if (work / "large.complete").exists():
        return folder, queries
    shutil.rmtree(folder, ignore_errors=True)
    spans = [split_sentences(record["text"]) for record in read_records(path)]
    n_known = sum(len(found) for number, found in enumerate(spans) if number % 20)
    chance = random.Random(7)
    asked = []
    with open(source, "w", encoding="utf-8") as added:
        for number, (record, found) in enumerate(zip(read_records(path), spans, strict=True)):
            if number % 20:
                if chance.random() < wanted / n_known:
                    added.write(json.dumps(record, ensure_ascii=False) + "\n")
            elif len(found) >= N_SENTENCES:
                asked.append({"id": record["id"], "text": record["text"][: found[N_SENTENCES - 1][1]]})
    with open(queries, "w", encoding="utf-8") as file:
        for record in chance.sample(asked, min(len(asked), 2000)):
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    del spans, asked
    begin = time.perf_counter()
    with Index(folder) as index:
        index.add([str(source)])
        seconds, info = time.perf_counter() - begin, index.info()
    print(
        f"large: {info['sentences']:,} sentences ({info['types']:,} types) of {info['documents']:,} documents added in "
        f"{seconds:.0f} s; {info['bytes_per_sentence']} bytes a sentence, {info['text_bytes'] / info['sentences']:.1f} of them "
        f"for texts; memory {memory_of()['peak']} MB",
        flush=True,
    )
    (work / "large.complete").touch()
    return folder, queries


def measure_latency(path: Path, work: Path, wanted: int) -> None:
    (work / "large.complete").unlink(missing_ok=True)
    folder, queries = make_large_index(path, work, wanted)
    for engine in ("overlap", "overlap --align", "fingerprint", "bits"):
        subprocess.run([sys.executable, __file__, "--ask", str(folder), str(queries), engine], check=True)


def ask(folder: str, queries: str, engine: str) -> None:
    """Ask for all documents of a file, one by one; print latencies and the memory of this reader."""
    from ibidem import Index

    records = list(read_records(Path(queries)))
    name, _, align = engine.partition(" ")
    settings = {"search_engine": name, "align": bool(align)}
    begin = time.perf_counter()
    with Index(folder, create=False) as index:
        n_documents = len(index)
        opened = time.perf_counter() - begin
        for record in records[:20]:  # compiles the kernels, or loads them
            index.query(record, **settings)
        times, n_hits, n_passages = [], 0, 0
        for record in records:
            begin = time.perf_counter()
            result = index.query(record, **settings)
            n_hits += result.hits.num_rows
            times.append(time.perf_counter() - begin)
            n_passages += result.passages.num_rows
    times.sort()
    p50, p90, p99 = (1000 * times[int(share * len(times))] for share in (0.5, 0.9, 0.99))
    memory = memory_of()
    print(
        f"  {engine:16} {len(records):,} queries of {N_SENTENCES} sentences on {n_documents:,} documents: p50 {p50:.1f} ms, "
        f"p90 {p90:.1f} ms, p99 {p99:.1f} ms; {n_hits / len(records):.0f} hits, {n_passages / len(records):.1f} passages each; "
        f"opened in {opened:.2f} s; memory {memory['own']} MB + {memory['mapped']} MB mapped (peak {memory['peak']} MB)",
        flush=True,
    )


def write_sentences(path: Path, work: Path, n_sentences: int) -> Path:
    from ibidem import split_sentences

    sentences = work / "sentences.jsonl"
    n = 0
    with open(sentences, "w", encoding="utf-8") as file:
        for record in read_records(path):
            for begin, end in split_sentences(record["text"]):
                words = re.findall(r"[^\W_]+", record["text"][begin:end].casefold())
                if len(words) >= 4 and n < n_sentences:
                    file.write(json.dumps({"id": str(n), "text": " ".join(words)}, ensure_ascii=False) + "\n")
                    n += 1
    return sentences


def run_peer(name: str, path: str) -> None:
    """Query, then insert each sentence; print the seconds and the pairs found, identical ones included."""
    begin = time.perf_counter()
    n_pairs = 0
    if name == "ibidem":
        from ibidem import Index

        with Index(Path(path).with_name("peers.idx"), create=True) as index:
            for arrival in index.watch(list(read_records(Path(path))), min_quote_words=4, max_places=10**6):
                n_pairs += arrival.n_passages
    elif name == "datasketch":
        from datasketch import MinHash, MinHashLSH

        lsh, sketches = MinHashLSH(threshold=0.8, num_perm=PERMUTATIONS), {}
        for record in read_records(Path(path)):
            sketch = MinHash(num_perm=PERMUTATIONS)
            sketch.update_batch([word.encode() for word in record["text"].split()])
            n_pairs += sum(sketches[other].jaccard(sketch) >= 0.8 for other in lsh.query(sketch))
            lsh.insert(record["id"], sketch)
            sketches[record["id"]] = sketch
    else:
        from rensa import RMinHash, RMinHashLSH

        index, sketches = RMinHashLSH(threshold=0.8, num_perm=PERMUTATIONS, num_bands=16), []
        for number, record in enumerate(read_records(Path(path))):
            sketch = RMinHash(num_perm=PERMUTATIONS, seed=1)
            sketch.update(record["text"].split())
            n_pairs += sum(sketches[other].jaccard(sketch) >= 0.8 for other in index.query(sketch))
            index.insert(number, sketch)
            sketches.append(sketch)
    print(json.dumps({"seconds": time.perf_counter() - begin, "pairs": n_pairs}))


def make_environment(name: str, work: Path) -> str | None:
    """Return the Python of an environment that has this package, or None if it cannot be installed."""
    python = work / f"env-{name}" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
    done = subprocess.run([str(python), "-m", "pip", "install", "--quiet", name], check=False, capture_output=True)
    return str(python) if done.returncode == 0 else None


def measure_peers(path: Path, work: Path, n_sentences: int) -> None:
    sentences = write_sentences(path, work, n_sentences)
    print(f"peers: query, then insert {n_sentences:,} single sentences", flush=True)
    for name in ("ibidem", *PEERS):
        python = sys.executable if name == "ibidem" else make_environment(name, work)
        if python is None:
            print(f"  {name:11} cannot be installed here")
            continue
        shutil.rmtree(work / "peers.idx", ignore_errors=True)
        done = subprocess.run([python, __file__, "--run", name, str(sentences)], check=True, capture_output=True, text=True)
        outcome = json.loads(done.stdout)
        print(f"  {name:11} {outcome['seconds']:7.1f} s   {outcome['pairs']:,} pairs", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["--ask"]:
        ask(*sys.argv[2:5])
        return
    if sys.argv[1:2] == ["--run"]:
        run_peer(*sys.argv[2:4])
        return
    from make_collection import make_collection, require_data  # not in the peers' environments

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("--work", default=str(Path(tempfile.gettempdir()) / "ibidem-benchmark"))
    parser.add_argument("--sentences", type=int, default=1_000_000, help="sentences of the stream")
    parser.add_argument("--index-sentences", type=int, default=5_000_000, help="sentences of the large index")
    parser.add_argument("--peer-sentences", type=int, default=100_000)
    parser.add_argument("--only", default=",".join(STEPS), help="steps, separated by commas: " + ", ".join(STEPS))
    options = parser.parse_args()
    work = Path(options.work)
    path = make_collection(require_data(options.data), work, (1.0,))[0]
    steps = options.only.split(",")
    if "stream" in steps:
        measure_stream(path, work, options.sentences)
    if "latency" in steps:
        measure_latency(path, work, options.index_sentences)
    if "peers" in steps:
        measure_peers(path, work, options.peer_sentences)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    main()
