"""`ibidem cluster` beside public MinHash tools from PyPI: same file, same machine, one run; time, memory, and what each finds.

Each peer runs in a process of its own with the environment that this script makes, as its documentation shows: ten words in a
row as features, 128 hash functions, similarity 0.8. So that all of them have the same features, they get plain words: small
letters, one space between, no punctuation, only documents of spaced scripts. What they report is judged by exact similarity.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

PEERS = ("rensa", "gaoya", "datasketch")
IBIDEM = str(Path(sys.executable).parent / "ibidem")
SIZE, LIMIT, PERMUTATIONS, BANDS = 10, 0.8, 128, 16


def read_texts(path: str) -> Iterator[tuple[str, str]]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            yield record["id"], record["text"]


def make_plain(path: Path) -> Path:
    """Write the collection as plain words, without documents of unspaced scripts."""
    plain = path.with_name(path.name.replace("collection", "plain"))
    if plain.exists():
        return plain
    unspaced = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
    with open(plain, "w", encoding="utf-8") as file:
        for doc_id, text in read_texts(str(path)):
            if not unspaced.search(text):
                # Letters and digits only: marks are put aside, so that a word is a word for every tool.
                letters = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
                words = re.findall(r"[^\W_]+", letters.casefold())
                if words:
                    file.write(json.dumps({"id": doc_id, "text": " ".join(words)}, ensure_ascii=False) + "\n")
    return plain


def features(text: str) -> list[str]:
    words = text.split()
    if len(words) <= SIZE:
        return [" ".join(words)]
    return [" ".join(words[i : i + SIZE]) for i in range(len(words) - SIZE + 1)]


def find_with_rensa(path: str) -> Iterator[tuple[str, str]]:
    from rensa import RMinHash, RMinHashLSH

    ids, sketches = [], []
    for doc_id, text in read_texts(path):
        sketch = RMinHash(num_perm=PERMUTATIONS, seed=1)
        sketch.update(features(text))
        ids.append(doc_id)
        sketches.append(sketch)
    index = RMinHashLSH(threshold=LIMIT, num_perm=PERMUTATIONS, num_bands=BANDS)
    index.insert_many(sketches)
    for number, others in enumerate(index.query_all(sketches)):
        for other in others:
            if other < number and sketches[other].jaccard(sketches[number]) >= LIMIT:
                yield ids[other], ids[number]


def find_with_gaoya(path: str) -> Iterator[tuple[str, str]]:
    from gaoya.minhash import MinHashStringIndex

    ids, texts = zip(*read_texts(path), strict=True)
    index = MinHashStringIndex(32, LIMIT, BANDS, PERMUTATIONS // BANDS, None, "word", True, (SIZE, SIZE), "smallvec")
    index.par_bulk_insert_docs(list(range(len(ids))), list(texts))
    for number, others in enumerate(index.par_bulk_query(list(texts))):
        for other in others:
            if other < number:
                yield ids[other], ids[number]


def find_with_datasketch(path: str) -> Iterator[tuple[str, str]]:
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=LIMIT, num_perm=PERMUTATIONS, params=(BANDS, PERMUTATIONS // BANDS))
    sketches = {}
    for doc_id, text in read_texts(path):
        sketch = MinHash(num_perm=PERMUTATIONS)
        sketch.update_batch([feature.encode() for feature in features(text)])
        for other in index.query(sketch):
            if sketches[other].jaccard(sketch) >= LIMIT:
                yield other, doc_id
        index.insert(doc_id, sketch)
        sketches[doc_id] = sketch


def run_peer(name: str, path: str, out: str) -> None:
    find = {"rensa": find_with_rensa, "gaoya": find_with_gaoya, "datasketch": find_with_datasketch}[name]
    with open(out, "w", encoding="utf-8") as file:
        for a, b in find(path):
            file.write(json.dumps([a, b]) + "\n")


def run_timed(command: list[str]) -> tuple[float, int]:
    begin = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise RuntimeError(f"failed: {' '.join(command)}")
    return time.perf_counter() - begin, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def best_of(command: list[str], repeats: int) -> tuple[float, int]:
    best, peak = math.inf, 0
    for _ in range(repeats):
        seconds, memory = run_timed(command)
        best, peak = min(best, seconds), max(peak, memory)
    return best, peak


def make_environment(name: str, work: Path) -> str | None:
    folder = work / f"env-{name}"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    done = subprocess.run([str(python), "-m", "pip", "install", "--quiet", name], check=False, capture_output=True)
    return str(python) if done.returncode == 0 else None


def judge(pairs: dict[str, set[tuple[str, str]]], path: str) -> None:
    """Print how many of each tool's pairs are as similar as asked, by the features that the peers were given."""
    wanted = {doc_id for found in pairs.values() for pair in found for doc_id in pair}
    sets = {doc_id: frozenset(map(hash, features(text))) for doc_id, text in read_texts(path) if doc_id in wanted}
    similar: dict[tuple[str, str], float] = {}
    for a, b in set(itertools.chain.from_iterable(pairs.values())):
        common = len(sets[a] & sets[b])
        similar[a, b] = common / (len(sets[a]) + len(sets[b]) - common)
    true = {pair for pair, similarity in similar.items() if similarity >= LIMIT}
    print(f"pairs of similarity >= {LIMIT} that any of them found: {len(true):,}")
    for name, found in pairs.items():
        right = len(found & true)
        precision, recall = right / max(1, len(found)), right / max(1, len(true))
        print(f"  {name:11} {len(found):9,} pairs   precision {precision:.4f}   recall {recall:.4f}")


def ordered(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)


def main() -> None:
    if sys.argv[1:2] == ["--run"]:
        run_peer(*sys.argv[2:5])
        return
    from make_collection import make_collection, require_data

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("--work", default=str(Path(tempfile.gettempdir()) / "ibidem-benchmark"))
    parser.add_argument("--share", type=float, default=1.0, help="share of the collection")
    parser.add_argument("--repeats", type=int, default=1, help="runs of each, the best of which counts")
    parser.add_argument("--peers", default=",".join(PEERS))
    options = parser.parse_args()
    work = Path(options.work)
    path = make_plain(make_collection(require_data(options.data), work, (options.share,))[0])
    wc, _ = best_of([shutil.which("wc") or "wc", "-w", str(path)], max(3, options.repeats))
    print(f"{path.name}: {path.stat().st_size / 1e6:.0f} MB, wc -w {wc:.2f} s", flush=True)
    out = work / "out-cluster"
    best, peak = best_of([IBIDEM, "cluster", str(path), "-o", str(out), "--quiet", "--overwrite"], options.repeats)
    print(f"  {'ibidem':11} {best:7.1f} s = {best / wc:6.1f} W   memory {peak / 1e6:6.0f} MB   every pair verified", flush=True)
    import pyarrow.parquet as pq

    table = pq.read_table(out / "duplicates.parquet")
    ends = (table[name].to_pylist() for name in ("a_id", "b_id"))
    pairs = {"ibidem": {ordered(a, b) for a, b in zip(*ends, strict=True)}}
    for name in options.peers.split(","):
        python = make_environment(name, work)
        if python is None:
            print(f"  {name:11} cannot be installed here")
            continue
        found = work / f"pairs-{name}.jsonl"
        seconds, memory = best_of([python, __file__, "--run", name, str(path), str(found)], options.repeats)
        print(f"  {name:11} {seconds:7.1f} s = {seconds / wc:6.1f} W   memory {memory / 1e6:6.0f} MB", flush=True)
        with open(found, encoding="utf-8") as file:
            pairs[name] = {ordered(*json.loads(line)) for line in file}
    judge(pairs, str(path))


if __name__ == "__main__":
    main()
