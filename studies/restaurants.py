"""SWLR (Yu, Li, Zhang): order-aware similarity against shingling, MinHash and SimHash, on the paper's own data.

The data are the Fodor's and Zagat's restaurants: 864 records, 112 pairs of duplicates. As in the paper (eq. 8) each method has
the limit that is best for F1, chosen on the same truth; all pairs are scored. Times are those of the processor, the best of
three on one thread, with shingles and compiled kernels ready: what a method needs to score all pairs, its sketches included;
for SWLR with filters and SimHash, to find the pairs of that limit. The filters must not change the result: if the lossless ones
do, the study fails; what the paper's filter loses is shown. How time grows is measured on texts of random words, and on growing
parts of the records.
"""

from __future__ import annotations

import csv
import math
import re
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import numpy as np
from evidence import Study, require, study_options
from inputs import read_documents

from ibidem.columns.sets import HashSets
from ibidem.execution.compiler import outer_kernel
from ibidem.matches.kernels.join import overlap_of
from ibidem.resemblance.order import OrderScores, order_overlaps
from ibidem.resemblance.sketches import agreement, band_pairs, minhash, near_codes, simhash
from ibidem.sentences import tokenise_spans
from ibidem.signatures.kernels import hash_shingles

SHINGLES = (("words", 1), ("words", 2), ("words", 3), ("characters", 2), ("characters", 3))
WIDTHS = (64, 128, 256)
PRINTED_WIDTHS = (64, 128)
USUAL_BITS = 3  # of SimHash, as the paper has it
LENGTHS = (2000, 4000, 8000, 16000)  # in words, of random texts
N_RANDOM = 8
N_WORDS = 50
PARTS = (216, 432, 864)  # records
N_PERMUTATIONS = 128
N_BANDS = 32
MAX_BUCKET = 1000
DATA = (
    "the paper's own data, 864 records of Fodor's and Zagat's, 112 duplicates; nothing planted; limits fitted for each method"
)


@outer_kernel
def intersect_pairs(hashes, first, a, b, overlaps):
    """Write the size of the intersection of every pair of sorted sets."""
    for i in range(len(a)):
        x, y = a[i], b[i]
        overlaps[i] = overlap_of(hashes, first[x], first[x + 1] - first[x], first[y], first[y + 1] - first[y], 0)


def read_records(folder: Path) -> tuple[list[str], list[tuple[int, int]]]:
    """Return the texts and the pairs of duplicates among them, smaller number first."""
    path = next(path for path in (folder / "docs.jsonl", folder / "docs.jsonl.zst") if path.exists())
    documents = read_documents(path)
    number = {name: i for i, name in enumerate(documents["id"].to_pylist())}
    with open(folder / "truth_pairs.csv", encoding="utf-8", newline="") as file:
        pairs = [sorted((number[row["a_id"]], number[row["b_id"]])) for row in csv.DictReader(file)]
    return documents["text"].to_pylist(), [(a, b) for a, b in pairs]


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


def milliseconds(function: Callable[[], object]) -> float:
    """Return the best time of three in milliseconds of the processor, after one that compiles."""
    function()
    best = math.inf
    for _ in range(3):
        begin = time.process_time()
        function()
        best = min(best, time.process_time() - begin)
    return 1000 * best


class Row(NamedTuple):
    """One method on one kind of shingles."""

    shingles: str
    method: str
    limit: str
    recall: float
    precision: float
    f1: float
    milliseconds: float
    remark: str = ""


def quality_of(found: np.ndarray, is_pair: np.ndarray) -> tuple[float, float, float]:
    """Return recall, precision and F1 of the pairs that were found."""
    hits, n_found, n_true = int((found & is_pair).sum()), int(found.sum()), int(is_pair.sum())
    return hits / n_true, hits / max(1, n_found), 2 * hits / (n_found + n_true)


def bits_apart(sets: HashSets, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return in how many bits the SimHash codes of pairs differ."""
    codes = simhash(sets)
    bits = np.unpackbits(codes.view(np.uint8)).reshape(len(codes), 64)
    return np.asarray((bits[a] != bits[b]).sum(axis=1), np.int64)


def measure_sets(kind: str, sets: HashSets, a: np.ndarray, b: np.ndarray, is_pair: np.ndarray) -> Iterator[Row]:
    """Shingling, MinHash and SimHash: what knows nothing of order."""
    sizes = np.diff(sets.first)
    overlaps = np.empty(len(a), np.int64)

    def compare() -> np.ndarray:
        intersect_pairs(sets.hashes, sets.first, a, b, overlaps)
        return overlaps / np.maximum(1, sizes[a] + sizes[b] - overlaps)

    scores = compare()
    at, *quality = best_limit(scores, is_pair)
    yield Row(kind, "shingling", f"{scores[at]:.3f}", *quality, milliseconds(compare))

    def estimate() -> np.ndarray:
        return agreement(minhash(sets, N_PERMUTATIONS), a, b)

    scores = estimate()
    at, *quality = best_limit(scores, is_pair)
    yield Row(kind, f"MinHash {N_PERMUTATIONS}", f"{scores[at]:.3f}", *quality, milliseconds(estimate))

    def estimate_banded() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        signatures = minhash(sets, N_PERMUTATIONS)
        x, y = band_pairs(signatures, N_BANDS, MAX_BUCKET)
        return x, y, agreement(signatures, x, y)

    x, y, estimates = estimate_banded()
    banded = np.full(len(a), -1.0)
    banded[np.searchsorted(a * len(sizes) + b, x * len(sizes) + y)] = estimates
    at, *quality = best_limit(banded, is_pair)
    remark = f"{len(x) / len(a):.2%} of the pairs estimated"
    yield Row(kind, f"MinHash, {N_BANDS} bands", f"{banded[at]:.3f}", *quality, milliseconds(estimate_banded), remark)

    codes, apart = simhash(sets), bits_apart(sets, a, b)
    at, *quality = best_limit(-apart.astype(np.float64), is_pair)
    k = int(apart[at])
    found = near_codes(codes, k, sizes > 0, MAX_BUCKET)
    assert len(found[0]) == (apart <= k).sum()
    time_taken = milliseconds(lambda: near_codes(simhash(sets), k, sizes > 0, MAX_BUCKET))
    yield Row(kind, "SimHash", f"{k} bits", *quality, time_taken)


def measure_order(kind: str, sequences: HashSets, a: np.ndarray, b: np.ndarray, is_pair: np.ndarray) -> Iterator[Row]:
    """SWLR, plain and with filters."""
    sizes = np.diff(sequences.first)

    def run(limit: Fraction, bits: int, paper_bound: bool) -> OrderScores:
        return order_overlaps(sequences, a, b, limit, bits, paper_bound)

    plain = run(Fraction(0), 0, True)
    at, *quality = best_limit(2 * plain.overlaps / (sizes[a] + sizes[b]), is_pair)
    limit = Fraction(2 * int(plain.overlaps[at]), int(sizes[a[at]] + sizes[b[at]]))
    similar = 2 * plain.overlaps * limit.denominator >= limit.numerator * (sizes[a] + sizes[b])
    expected = np.where(similar, plain.overlaps, -1)
    base = milliseconds(lambda: run(Fraction(0), 0, True))
    yield Row(kind, "SWLR, every pair", f"{float(limit):.3f}", *quality, base)

    for bits, paper_bound in ((0, False), *((w, False) for w in WIDTHS), *((w, True) for w in WIDTHS)):
        scores = run(limit, bits, paper_bound)
        n_lost = int((scores.overlaps != expected).sum())
        if n_lost and not paper_bound:
            sys.exit(f"The filter of {bits} bits changed {n_lost} pairs.")
        time_taken = milliseconds(lambda bits=bits, paper_bound=paper_bound: run(limit, bits, paper_bound))
        name = f"SWLR, {bits} bits as printed" if paper_bound else f"SWLR, {bits} bits" if bits else "SWLR, sizes only"
        remark = f"{scores.n_compared / len(a):.3%} compared"
        remark += f", {n_lost} pairs lost" if n_lost else ", nothing changed"
        yield Row(kind, name, f"{float(limit):.3f}", *quality_of(scores.overlaps >= 0, is_pair), time_taken, remark)


def losses(kind: str, sequences: HashSets, a: np.ndarray, b: np.ndarray) -> Iterator[tuple[Any, ...]]:
    """Yield what the printed bound loses: at the best limits nothing, at lower ones it does."""
    for low in (Fraction(3, 10), Fraction(4, 10), Fraction(1, 2)):
        right = order_overlaps(sequences, a, b, low, 0, False).overlaps
        lost = [int((order_overlaps(sequences, a, b, low, bits, True).overlaps != right).sum()) for bits in WIDTHS]
        yield (kind, float(low), int((right >= 0).sum()), *lost)


def show_growth(study: Study, texts: list[str]) -> tuple[dict[str, list[float]], list[float]]:
    """Show the time by length of texts and by number of records; return how it grows when they double."""
    rows, growth = [], {}
    chance = np.random.default_rng(2016)
    a, b = (column.astype(np.int32) for column in np.triu_indices(N_RANDOM, 1))
    for kind in ("no word repeated", f"{N_WORDS} words repeated"):
        times = []
        for length in LENGTHS:
            orders = [chance.permutation(length) % (length if kind.startswith("no") else N_WORDS) for _ in range(N_RANDOM)]
            sequences = HashSets(np.concatenate(orders).astype(np.uint64), np.arange(0, N_RANDOM * length + 1, length))
            times.append(milliseconds(lambda s=sequences: order_overlaps(s, a, b, Fraction(0), 0, True)) / len(a))
            rows.append((f"one pair, {kind}", f"{length:,} words each", times[-1]))
        growth[kind] = [after / before for before, after in pairwise(times)]
    filtered = []
    for number in PARTS:
        sequences, _ = make_shingles(texts[:number], "words", 1)
        run = (sequences, *(column.astype(np.int32) for column in np.triu_indices(number, 1)), Fraction(7, 10), 64, True)
        filtered.append(milliseconds(lambda run=run: order_overlaps(*run)))
        rows.append(("all pairs, 64 bits as printed", f"{number} records", filtered[-1]))
    study.table("growth", "Time of SWLR by size", ("", "size", "ms"), rows)
    return growth, [after / before for before, after in pairwise(filtered)]


def judge(study: Study, rows: list[Row], lost: list[tuple[Any, ...]], data: str) -> None:
    """Say what of the paper's figures shows here."""
    by = {(row.shingles, row.method): row for row in rows}
    kinds = list(dict.fromkeys(row.shingles for row in rows))
    mine, theirs = ([by[kind, name] for kind in kinds] for name in ("SWLR, every pair", "shingling"))
    better = [(a.recall > b.recall, a.precision > b.precision) for a, b in zip(mine, theirs, strict=True)]
    told = "; ".join(
        f"{a.shingles} {a.recall:.3f} / {a.precision:.3f} and {b.recall:.3f} / {b.precision:.3f}"
        for a, b in zip(mine, theirs, strict=True)
    )
    one, two = by["1 word", "SWLR, every pair"], by["2 words", "shingling"]
    words = f"Recall / precision of SWLR and of shingling, each at its best F1: {told}. With shingles of equal size, recall is "
    words += f"better in {sum(r for r, _ in better)} and precision in {sum(p for _, p in better)} of {len(kinds)} cases, F1 in "
    words += (
        f"{sum(a.f1 > b.f1 for a, b in zip(mine, theirs, strict=True))}. SWLR with single words against shingles of two words "
    )
    words += f"would be better in both: {one.recall:.3f} / {one.precision:.3f} and {two.recall:.3f} / {two.precision:.3f}. The "
    words += "paper does not print its shingle size."
    flat = [is_better for pair in better for is_better in pair]
    study.judge("SWLR, figure 1: better recall and precision than shingling", flat, words, data)
    recalls = {kind: (by[kind, "SWLR, every pair"].recall, by[kind, "MinHash 128"].recall) for kind in kinds}
    told = "; ".join(f"{kind}: {own:.3f} and {other:.3f}" for kind, (own, other) in recalls.items())
    higher = [own > other for own, other in recalls.values()]
    words = f"Recall of SWLR and of MinHash ({N_PERMUTATIONS} hash functions; the paper does not print t) at best F1: {told}."
    study.judge("SWLR, figure 1: higher recall than MinHash", higher, words, data)
    judge_times(study, by, kinds, data)
    filtered = [by[kind, f"SWLR, {width} bits as printed"] for kind in kinds for width in PRINTED_WIDTHS]
    same = [row.remark.endswith("nothing changed") for row in filtered]
    words = f"At the limits with the best F1, the paper's filter changes nothing in {sum(same)} of {len(same)} cases (five "
    words += "kinds of shingles, 64 and 128 bits). At lower limits it does: see the next row."
    study.verdict("SWLR, figure 1: the filter does no harm", "reproduced" if all(same) else "contradicted", words, data)
    most = max(lost, key=lambda row: max(row[3:]))
    words = f"From one half on it loses nothing. Below it does: {max(most[3:]):,} of {most[2]:,} at limit {most[1]:.1f} "
    words += f"({most[0]}). The bound used by ibidem is lossless at any limit: if it changed a pair, the study would fail."
    n_lost = [max(row[3:]) == 0 for row in lost]
    told = f"{DATA}; decided by {len(lost)} kinds of shingles and limits"
    study.judge("SWLR, section 3: two similar documents differ in no more than avg(Len) bits", n_lost, words, told)


def judge_times(study: Study, by: dict[tuple[str, str], Row], kinds: list[str], data: str) -> None:
    """Figure 2, and what the text says of time."""

    def fastest(kind: str, widths: tuple[int, ...], ending: str = "") -> float:
        return min(by[kind, f"SWLR, {width} bits{ending}"].milliseconds for width in widths)

    plain = {kind: by[kind, "SWLR, every pair"].milliseconds for kind in kinds}
    others = {kind: (by[kind, "shingling"].milliseconds, by[kind, "MinHash 128"].milliseconds) for kind in kinds}
    told = "; ".join(f"{kind} {plain[kind]:.0f}, {a:.0f} and {b:.0f}" for kind, (a, b) in others.items())
    words = f"Milliseconds of SWLR without a filter, of shingling and of MinHash, over all pairs: {told}."
    slower = [plain[kind] > max(others[kind]) for kind in kinds]
    study.judge("SWLR, section 1: without the filter much slower than shingling and MinHash", slower, words, data)
    printed = {kind: fastest(kind, PRINTED_WIDTHS, " as printed") for kind in kinds}
    gains = [plain[kind] / printed[kind] for kind in kinds]
    lossless = [plain[kind] / fastest(kind, WIDTHS) for kind in kinds]
    told = ", ".join(f"{kind} {gain:.1f}" for kind, gain in zip(kinds, gains, strict=True))
    words = f"Speed-up from the paper's filter (the better of 64 and 128 bits): {told}. Short "
    words += (
        f"records of words gain more than 3; characters fill 64 bits. With ibidem's lossless bound: {min(lossless):.0f} to "
    )
    words += f"{max(lossless):.0f} times."
    study.judge("SWLR, section 5: the filter makes it 3 times as fast", [gain >= 3 for gain in gains], words, data)
    is_faster = [printed[kind] < other for kind in kinds for other in others[kind]]
    told = "; ".join(f"{k} {printed[k]:.1f}, {a:.1f} and {b:.1f}" for k, (a, b) in others.items())
    words = (
        f"Milliseconds of SWLR with the paper's filter, of shingling and of MinHash: {told}. It is faster than shingling in "
    )
    words += f"{sum(is_faster[::2])} of {len(kinds)} cases, than MinHash in {sum(is_faster[1::2])}."
    study.judge("SWLR, figure 2: with the filter faster than MinHash and shingling", is_faster, words, data)


def judge_simhash(study: Study, rows: list[Row], usual: dict[str, tuple[float, float, float]], data: str) -> None:
    """Section 1: SimHash works for large files only."""
    best: dict[str, dict[str, float]] = {}
    for row in rows:
        best.setdefault(row.shingles, {})[row.method] = row.f1
    names = ("shingling", "MinHash 128", "SWLR, every pair")
    told = "; ".join(
        f"{kind} {of['SimHash']:.3f} (others {min(of[n] for n in names):.3f} or more)" for kind, of in best.items()
    )
    worse = [of["SimHash"] < min(of[name] for name in names) for of in best.values()]
    recalls = [recall for recall, _, _ in usual.values()]
    words = (
        f"Best F1 of SimHash: {told}. With {USUAL_BITS} bits, as usual for large files, its recall is {min(recalls):.3f} to "
    )
    words += f"{max(recalls):.3f}."
    study.verdict("SWLR, section 1: SimHash is for large files only", "reproduced" if all(worse) else "in part", words, data)


def judge_growth(study: Study, by_length: dict[str, list[float]], by_number: list[float]) -> None:
    """Sections 1, 3 and 5: complexity, and large collections."""
    told = "; ".join(f"{kind} {', '.join(f'{ratio:.1f}' for ratio in of)}" for kind, of in by_length.items())
    words = f"Doubling the length multiplies the time by: {told} (about 2 is O(n log n), 4 is O(mn)). Both sections are right: "
    words += "section 1 where no shingle is repeated, section 3 in general."
    distinct, repeated = by_length.values()
    decides = f"{N_RANDOM} texts of random words for each of {len(LENGTHS)} lengths; decided by {len(distinct)} doublings each"
    holds = [distinct[-1] < 3, repeated[-1] > 3]  # the longest texts: where they are short, other costs count
    study.judge("SWLR, sections 1 and 3: O(n log n), and O(mn)", holds, words, decides)
    told = ", ".join(f"{ratio:.1f}" for ratio in by_number)
    words = (
        f"Twice as many records take {told} times as long: the filter looks at every pair. ibidem's join, `--method join` with "
    )
    words += "`--measure order`, gives the same pairs without looking at all of them."
    decides = f"{DATA}, the first {', '.join(map(str, PARTS))}; decided by {len(by_number)} doublings"
    study.judge("SWLR, section 5: efficient on large datasets", [ratio < 2.5 for ratio in by_number], words, decides)


def main() -> None:
    """Run the study."""
    options = study_options(__doc__).parse_args()
    folder = require(options.data, "fodors_zagats/truth_pairs.csv") / "fodors_zagats"
    texts, truth = read_records(folder)
    study = Study("restaurants", "SWLR: order-aware similarity", (__doc__ or "").split("\n\n", 1)[1], options.out)
    a, b = (column.astype(np.int32) for column in np.triu_indices(len(texts), 1))
    is_pair = np.isin(a.astype(np.int64) * len(texts) + b, [x * len(texts) + y for x, y in truth])
    rows: list[Row] = []
    lost: list[tuple[Any, ...]] = []
    usual: dict[str, tuple[float, float, float]] = {}
    for unit, size in SHINGLES:
        sequences, sets = make_shingles(texts, unit, size)
        kind = f"{size} {unit if size > 1 else unit.removesuffix('s')}"
        rows += measure_sets(kind, sets, a, b, is_pair)
        rows += measure_order(kind, sequences, a, b, is_pair)
        lost += losses(kind, sequences, a, b)
        usual[kind] = quality_of(bits_apart(sets, a, b) <= USUAL_BITS, is_pair)
    columns = ("shingles", "method", "limit", "recall", "precision", "F1", "ms", "")
    study.table("methods", f"{len(a):,} pairs of {len(texts)} records, {int(is_pair.sum())} of them duplicates", columns, rows)
    widths = tuple(f"lost with {bits} bits" for bits in WIDTHS)
    study.table("losses", "What the paper's bound loses", ("shingles", "limit", "pairs", *widths), lost)
    chosen = [row for row in rows if row.method in ("shingling", "MinHash 128", "SimHash", "SWLR, every pair")]
    points = [{"shingles": r.shingles, "method": r.method.split(",")[0], "F1": r.f1} for r in chosen]
    chart = alt.Chart(alt.Data(values=points)).mark_bar().encode(
        x=alt.X("method:N", axis=None), y="F1:Q", color=alt.Color("method:N", title=None),
        column=alt.Column("shingles:N", title=None),
    ).properties(width=90, height=180)  # fmt: skip
    study.plot("quality", "Best F1 by method and kind of shingles", chart)
    data = f"{DATA}; decided by {len(SHINGLES)} kinds of shingles, {int(is_pair.sum())} true pairs each"
    same = (len(texts), int(is_pair.sum())) == (864, 112)
    words = (
        f"{len(texts)} records with {int(is_pair.sum())} pairs of duplicates, as in the paper. Which fields it takes is not "
    )
    words += "said; here, all five."
    study.verdict("SWLR, section 4: the data", "reproduced" if same else "in part", words, data)
    judge(study, rows, lost, data)
    judge_simhash(study, rows, usual, data)
    judge_growth(study, *show_growth(study, texts))
    study.write()


if __name__ == "__main__":
    main()
