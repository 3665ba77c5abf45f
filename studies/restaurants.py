"""Quality and time of SWLR, shingling, MinHash and SimHash on the SWLR paper's restaurants: 864 records, 112 pairs.

As in the paper (eq. 8) each method has the limit that is best for F1, chosen on the same truth; all pairs are scored. Times are
the best of three on one thread, with the shingles made and the kernels compiled: what a method needs to score all pairs, its
sketches included; for SWLR with filters and SimHash, to find the pairs of that limit. The filters may not change what is
found: if the lossless ones do, the benchmark fails; what the printed one loses is shown.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

from ibidem.compiling import outer_kernel
from ibidem.matches.kernels import overlap_of
from ibidem.resemblance.minhash import agreement, band_pairs, minhash
from ibidem.resemblance.order import OrderScores, order_overlaps
from ibidem.resemblance.simhash import near_codes, simhash
from ibidem.sentences import tokenise_spans
from ibidem.signatures import HashSets
from ibidem.signatures.kernels import hash_shingles
from make_collection import read_lines

SHINGLES = (("words", 1), ("words", 2), ("words", 3), ("characters", 2), ("characters", 3))
WIDTHS = (64, 128, 256)
N_PERMUTATIONS = 128
N_BANDS = 32
MAX_BUCKET = 1000


@outer_kernel
def intersect_pairs(hashes, first, a, b, overlaps):
    """Write the size of the intersection of every pair of sorted sets."""
    for i in range(len(a)):
        x, y = a[i], b[i]
        overlaps[i] = overlap_of(hashes, first[x], first[x + 1] - first[x], first[y], first[y + 1] - first[y], 0)


def read_records(folder: Path) -> tuple[list[str], list[tuple[int, int]]]:
    """Return the texts and the pairs of duplicates among them, smaller number first."""
    plain, packed = folder / "docs.jsonl", folder / "docs.jsonl.zst"
    lines = read_lines(packed) if packed.exists() else plain.read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    number = {record["id"]: i for i, record in enumerate(records)}
    with open(folder / "truth_pairs.csv", encoding="utf-8", newline="") as file:
        pairs = [sorted((number[row["a_id"]], number[row["b_id"]])) for row in csv.DictReader(file)]
    return [record["text"] for record in records], [(a, b) for a, b in pairs]


def make_shingles(texts: list[str], unit: str, size: int) -> tuple[HashSets, HashSets]:
    """Return the shingles of each text as a sequence in reading order, and as a sorted set."""
    if unit == "words":
        data = [text.encode() for text in texts]
        ends = np.cumsum([len(d) for d in data])
        tokens, first = tokenise_spans(np.frombuffer(b"".join(data), np.uint8), np.concatenate([[0], ends[:-1]]), ends)
    else:
        folded = [" ".join(re.findall(r"\w+", text.casefold())) for text in texts]  # no punctuation, as with words
        tokens = np.frombuffer("".join(folded).encode("utf-32-le"), np.uint32).astype(np.uint64)
        first = np.concatenate([[0], np.cumsum([len(text) for text in folded])]).astype(np.int64)
    hashes, hash_first = np.empty(len(tokens), np.uint64), np.empty(len(texts) + 1, np.int64)
    n = hash_shingles(tokens, first, size, True, hashes, hash_first)
    sequences = HashSets(hashes[:n], hash_first)
    sets = [np.unique(hashes[hash_first[i] : hash_first[i + 1]]) for i in range(len(texts))]
    return sequences, HashSets(np.concatenate(sets), np.cumsum([0, *(len(s) for s in sets)]))


def best_limit(scores: np.ndarray, is_pair: np.ndarray) -> tuple[int, float, float, float]:
    """Return, for the limit of the best F1, a pair that has just that score, and recall, precision and F1."""
    order = np.argsort(-scores, kind="stable")
    last = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))  # equal scores are found together
    n_true = np.cumsum(is_pair[order])[last]
    f1 = 2 * n_true / (last + 1 + is_pair.sum())
    at = int(f1.argmax())
    return int(order[last[at]]), n_true[at] / is_pair.sum(), n_true[at] / (last[at] + 1), f1[at]


def seconds(function: Callable[[], object]) -> float:
    """Return the best time of three, after one that compiles."""
    function()
    best = math.inf
    for _ in range(3):
        begin = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - begin)
    return best


def show(name: str, limit: object, quality: tuple[float, float, float], time_taken: float, remark: str = "") -> None:
    recall, precision, f1 = quality
    print(f"  {name:24} {limit!s:>7}  R {recall:.3f}  P {precision:.3f}  F1 {f1:.3f}  {1000 * time_taken:8.2f} ms  {remark}")


def quality_of(found: np.ndarray, is_pair: np.ndarray) -> tuple[float, float, float]:
    """Return recall, precision and F1 of the pairs that were found."""
    hits, n_found, n_true = int((found & is_pair).sum()), int(found.sum()), int(is_pair.sum())
    return hits / n_true, hits / max(1, n_found), 2 * hits / (n_found + n_true)


def measure_sets(sets: HashSets, a: np.ndarray, b: np.ndarray, is_pair: np.ndarray) -> None:
    """Shingling, MinHash and SimHash: what knows nothing of order."""
    sizes = np.diff(sets.first)
    overlaps = np.empty(len(a), np.int64)

    def compare() -> np.ndarray:
        intersect_pairs(sets.hashes, sets.first, a, b, overlaps)
        return overlaps / np.maximum(1, sizes[a] + sizes[b] - overlaps)

    scores = compare()
    at, *quality = best_limit(scores, is_pair)
    show("shingling", f"{scores[at]:.3f}", quality, seconds(compare))

    def estimate() -> np.ndarray:
        return agreement(minhash(sets, N_PERMUTATIONS), a, b)

    scores = estimate()
    at, *quality = best_limit(scores, is_pair)
    show(f"MinHash {N_PERMUTATIONS}", f"{scores[at]:.3f}", quality, seconds(estimate))

    def estimate_banded() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        signatures = minhash(sets, N_PERMUTATIONS)
        x, y = band_pairs(signatures, N_BANDS, MAX_BUCKET)
        return x, y, agreement(signatures, x, y)

    x, y, estimates = estimate_banded()
    banded = np.full(len(a), -1.0)
    banded[np.searchsorted(a * len(sizes) + b, x * len(sizes) + y)] = estimates
    at, *quality = best_limit(banded, is_pair)
    remark = f"{len(x) / len(a):.2%} of the pairs estimated"
    show(f"MinHash, {N_BANDS} bands", f"{banded[at]:.3f}", quality, seconds(estimate_banded), remark)

    codes = simhash(sets)
    bits = np.unpackbits(codes.view(np.uint8)).reshape(len(codes), 64).astype(np.int64)
    apart = (bits[a] != bits[b]).sum(axis=1)
    at, *quality = best_limit(-apart.astype(np.float64), is_pair)
    k = int(apart[at])
    found = near_codes(codes, k, sizes > 0, MAX_BUCKET)
    assert len(found[0]) == (apart <= k).sum()
    time_taken = seconds(lambda: near_codes(simhash(sets), k, sizes > 0, MAX_BUCKET))
    show("SimHash", f"{k} bits", quality, time_taken)


def measure_order(sequences: HashSets, a: np.ndarray, b: np.ndarray, is_pair: np.ndarray) -> None:
    """SWLR, plain and with filters."""
    sizes = np.diff(sequences.first)

    def run(limit: Fraction, bits: int, paper_bound: bool) -> OrderScores:
        return order_overlaps(sequences, a, b, limit, bits, paper_bound)

    plain = run(Fraction(0), 0, True)
    at, *quality = best_limit(2 * plain.overlaps / (sizes[a] + sizes[b]), is_pair)
    limit = Fraction(2 * int(plain.overlaps[at]), int(sizes[a[at]] + sizes[b[at]]))
    similar = 2 * plain.overlaps * limit.denominator >= limit.numerator * (sizes[a] + sizes[b])
    expected = np.where(similar, plain.overlaps, -1)
    base = seconds(lambda: run(Fraction(0), 0, True))
    show("SWLR, every pair", f"{float(limit):.3f}", quality, base, f"{len(a) / base / 1e6:.1f} M pairs/s")

    for bits, paper_bound in ((0, False), *((w, False) for w in WIDTHS), *((w, True) for w in WIDTHS)):
        scores = run(limit, bits, paper_bound)
        n_lost = int((scores.overlaps != expected).sum())
        if n_lost and not paper_bound:
            sys.exit(f"The filter of {bits} bits changed {n_lost} pairs.")
        time_taken = seconds(lambda bits=bits, paper_bound=paper_bound: run(limit, bits, paper_bound))
        name = f"SWLR, printed {bits} bits" if paper_bound else f"SWLR, {bits} bits" if bits else "SWLR, sizes only"
        remark = f"{len(a) / time_taken / 1e6:5.1f} M pairs/s  {scores.n_compared / len(a):8.3%} compared"
        remark += f", {n_lost} pairs lost" if n_lost else ", nothing changed"
        show(name, f"{float(limit):.3f}", quality_of(scores.overlaps >= 0, is_pair), time_taken, remark)

    # At the best limits the printed bound is lossless; at lower ones it is not.
    for low in (Fraction(3, 10), Fraction(4, 10), Fraction(1, 2)):
        right = run(low, 0, False).overlaps
        lost = [f"{bits} bits {int((run(low, bits, True).overlaps != right).sum())}" for bits in WIDTHS]
        print(f"  at limit {float(low):.1f} the printed bound loses, of {(right >= 0).sum()} pairs: {', '.join(lost)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with the collection fodors_zagats")
    options = parser.parse_args()
    if options.data is None or not (Path(options.data) / "fodors_zagats" / "truth_pairs.csv").exists():
        sys.exit("This benchmark needs the folder that holds fodors_zagats: give it with --data DIR. Nothing was measured.")
    texts, truth = read_records(Path(options.data) / "fodors_zagats")
    a, b = (column.astype(np.int32) for column in np.triu_indices(len(texts), 1))
    is_pair = np.isin(a.astype(np.int64) * len(texts) + b, [x * len(texts) + y for x, y in truth])
    print(f"{len(texts)} records, {len(a):,} pairs, {int(is_pair.sum())} of them duplicates")
    for unit, size in SHINGLES:
        sequences, sets = make_shingles(texts, unit, size)
        print(f"{unit} {size}: {len(sequences.hashes) / len(texts):.1f} shingles a record", flush=True)
        measure_sets(sets, a, b, is_pair)
        measure_order(sequences, a, b, is_pair)


if __name__ == "__main__":
    main()
