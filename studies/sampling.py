"""Sampling of shingles (Ye, Wen, Ma): precision and recall by ratio, limit and document size; and whether plans keep promises.

Plans are tuned on one half of the collection (every second document) and measured on the other, pairs not verified. A promise
is kept if in every size group with at least 50 pairs found, and over all, the share of right pairs is as promised or better.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from ibidem.config import Config
from ibidem.documents import read_batches
from ibidem.engines import LocalEngine
from ibidem.resemblance import Corpus, SamplingPlan, representatives, tune_sampling
from ibidem.resemblance.candidates import find_candidates
from ibidem.resemblance.tuning import GROUPS, RATIOS
from ibidem.shingled import ShingledDocuments, gather_shingles
from ibidem.signatures import HashSets
from make_collection import make_collection, require_data

PAPER_GROUPS = (0, 500, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000)
LEAST_PAIRS = 50


@dataclass(frozen=True)
class Half:
    sets: HashSets
    wanted: np.ndarray


def halves(documents: ShingledDocuments) -> list[Half]:
    n = documents.n_documents
    representative = representatives(documents.digests, documents.side, np.arange(n))
    wanted = (representative == np.arange(n)) & (documents.digests != 0)
    return [Half(documents.known_by, wanted & (np.arange(n) % 2 == side)) for side in (0, 1)]


def pairs_of(half: Half, every: np.ndarray, config: Config, engine: LocalEngine) -> np.ndarray:
    corpus = Corpus(half.sets, None, half.wanted, np.empty(0, np.int8), every)
    found = find_candidates(corpus, config, False, engine.map_parts).duplicates
    return found.a.astype(np.int64) << 32 | found.b


def measure(
    half: Half, every: np.ndarray, truth: np.ndarray, config: Config, engine: LocalEngine
) -> tuple[float, float, float, float]:
    """Return precision over all, the lowest of a size group, recall, and the share of shingles looked at."""
    sizes = np.diff(half.sets.first)
    found = pairs_of(half, every, config, engine)
    right = np.isin(found, truth)
    larger = np.maximum(sizes[found >> 32], sizes[found & 0xFFFFFFFF])
    group = np.searchsorted(GROUPS, larger, side="right") - 1
    by_group = [right[group == g].mean() for g in range(len(GROUPS)) if np.count_nonzero(group == g) >= LEAST_PAIRS]
    share = float((sizes[half.wanted] / every[half.wanted]).sum() / sizes[half.wanted].sum())
    return float(right.mean()), float(min(by_group)), float(np.isin(truth, found).mean()), share


def show_shapes(half: Half, engine: LocalEngine, groups: tuple[int, ...], limits: tuple[str, ...]) -> None:
    names = [f"{g:,}+" for g in groups]
    for limit in limits:
        begin = time.perf_counter()
        tuned = tune_sampling(half.sets, half.wanted, Fraction(limit), 1e-9, 1000, groups, (2, 4, 8, 16), engine.map_parts)
        print(f"\nlimit {limit} ({time.perf_counter() - begin:.0f} s); precision / recall by shingles in a document")
        print("  ratio " + " ".join(name.rjust(11) for name in names) + "         all")
        for k in range(1, 5):
            trials = [group.trials[k] for group in tuned]
            cells = [f"{t.precision:.2f} / {t.recall:.2f}" if t.accepted >= 10 else "-" for t in trials]
            accepted, right, true = (sum(getattr(t, what) for t in trials) for what in ("accepted", "right", "true"))
            overall = f"{right / max(1, accepted):.2f} / {right / max(1, true):.2f}"
            print(f"  1/{trials[0].every:<4} " + " ".join(c.rjust(11) for c in [*cells, overall]))


def show_promises(known: Half, unseen: Half, engine: LocalEngine) -> None:
    sizes = np.diff(unseen.sets.first)
    for limit in ("0.6", "0.8", "0.85"):
        config = Config.of(min_similarity=limit)
        truth = pairs_of(unseen, np.ones(len(sizes), np.int64), config, engine)
        uniform = {n: measure(unseen, np.full(len(sizes), n), truth, config, engine) for n in RATIOS}
        print(f"\nlimit {limit}: {len(truth):,} pairs in the unseen half; precision of uniform ratios, over all / worst group:")
        print("  " + "   ".join(f"1/{n}: {m[0]:.3f} / {m[1]:.3f}" for n, m in uniform.items()))
        for promise in (0.7, 0.8, 0.85, 0.9):
            tuned = tune_sampling(known.sets, known.wanted, Fraction(limit), promise, 1000, map_parts=engine.map_parts)
            plan = SamplingPlan([g.from_shingles for g in tuned], [g.every for g in tuned], {})
            overall, worst, recall, share = measure(unseen, plan.every_of(sizes), truth, config, engine)
            keeping = [n for n, m in uniform.items() if min(m[0], m[1]) >= promise]
            best = f"1/{max(keeping)} = {1 / max(keeping):.1%}" if keeping else "none but all shingles"
            print(
                f"  promise {promise:.2f}: {share:6.1%} of shingles   precision {overall:.3f}, worst group {worst:.3f} "
                f"{'kept' if min(overall, worst) >= promise else 'BROKEN'}   recall {recall:.3f}   "
                f"ratios {' '.join(str(n) for n in plan.every)}   coarsest uniform ratio that keeps it: {best}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("--work", default=str(Path(tempfile.gettempdir()) / "ibidem-benchmark"))
    parser.add_argument("--share", type=float, default=1.0, help="share of the collection")
    options = parser.parse_args()
    (path,) = make_collection(require_data(options.data), Path(options.work), (options.share,))
    config = Config()
    with LocalEngine() as engine:
        batches = read_batches(str(path), config.documents, lambda record: None)
        documents = gather_shingles(batches, (), config, engine.map_parts, lambda n: None)
        known, unseen = halves(documents)
        print(f"{path.name}: {documents.n_documents:,} documents, {len(documents.known_by.hashes):,} shingles")
        show_promises(known, unseen, engine)
        show_shapes(known, engine, PAPER_GROUPS, ("0.5", "0.6", "0.7", "0.8", "0.85", "0.9", "0.95"))


if __name__ == "__main__":
    main()
