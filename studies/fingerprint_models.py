"""What the models of the paper's table 2 cost and find, and the index beside them. Used by fingerprints.py."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fingerprint_tables import MIN_HITS, MIN_WORDS, MOST_PLACES, PAPER_SHARE, Sources
from fingerprint_targets import KINDS, Quality, Targets
from inputs import gathered
from numpy.typing import NDArray

import ibidem

N_REQUESTS = 60
# Table 2: megabytes, entries, ms to load, ms a request, precision, recall, F1.
PAPER = {
    "Chowdhury02": (88.0, 381_202, 2421.0, 1.38, Quality(0.8735, 0.7262, 0.7931)),
    "Wang09": (903.0, 3_623_531, 27668.0, 0.82, Quality(0.9976, 0.9080, 0.9507)),
    "fingerprints": (891.0, 3_564_761, 24540.0, 1.39, Quality(0.9948, 0.9311, 0.9618)),
}


def processor_seconds(function: Callable[[], object], n_times: int = 3) -> float:
    """Return the least processor time of several runs: unlike time on the clock, it hardly depends on what else is running."""
    times = []
    for _ in range(n_times):
        begin = time.process_time()
        function()
        times.append(time.process_time() - begin)
    return min(times)


@dataclass(frozen=True)
class Model:
    """One row of the paper's table 2: what a model costs, and what it finds."""

    name: str
    megabytes: float
    entries: int
    load_ms: float
    request_ms: float
    quality: Quality
    by_kind: Sequence[float | None] = (None,) * len(KINDS)

    def row(self, of: str) -> tuple[Any, ...]:
        """Return the cells of a table."""
        cost = (self.megabytes, self.entries, f"{self.load_ms:,.2f}", f"{self.request_ms:.2f}")
        return (of, self.name, *cost, *self.quality, *self.by_kind)


def known_sentences(index: ibidem.Index, targets: Targets, min_words: int) -> NDArray[np.bool_]:
    """Tell which sentences of the targets are known to the index, in no more places than allowed."""
    known = np.zeros(len(targets.collection.digest), np.bool_)
    for begin in range(0, len(targets.records), 256):
        result = index.query(targets.records[begin : begin + 256], max_places=MOST_PLACES + 1, min_contained_words=min_words)
        hits = result.hits
        document = hits.column("a_id").combine_chunks().indices.to_numpy().astype(np.int64) + begin
        sentence = targets.collection.document_first[document] + hits.column("a_sentence").to_numpy()
        other = hits.column("b_id").combine_chunks().indices.to_numpy().astype(np.int64)
        places = np.unique(sentence << 32 | other) >> 32
        which, n_places = np.unique(places, return_counts=True)
        known[which[n_places <= MOST_PLACES]] = True
    return known


def measure_models(sources: Sources, targets: Targets, index: ibidem.Index, work: Path) -> tuple[list[Model], int]:
    """Return the models of table 2, and about how many targets the index and the bare table of fingerprints disagree."""
    collection = targets.collection
    best = max(sources.by_range.values(), key=lambda table: targets.quality(table.found(collection)).f1)
    chosen = sources.by_share[PAPER_SHARE]
    asked = targets.records[:: max(1, len(targets.records) // N_REQUESTS)]
    models = []
    for table in (best, sources.sentences, chosen):
        path = work / "table.npy"
        np.save(path, table.known)
        load = processor_seconds(lambda path=path: np.load(path))  # type: ignore[misc]
        request = processor_seconds(lambda table=table: [table.found(gathered([one])) for one in asked]) / len(asked)  # type: ignore[misc]
        found = table.found(collection)
        cost = (path.stat().st_size / 1e6, len(table.known), 1000 * load, 1000 * request)
        models.append(Model(table.name, *cost, targets.quality(found), targets.recall_by_kind(found)))

    def reopen() -> None:
        with ibidem.Index(index.path, create=False) as again:
            len(again)

    size = sum(path.stat().st_size for path in index.path.rglob("*") if path.is_file())
    load = processor_seconds(reopen)
    n_unlike = 0
    guarded = {"max_places": MOST_PLACES, "min_hits": MIN_HITS, "min_hit_words": MIN_WORDS}
    n_sentences = len(np.unique(sources.collection.digest))
    for name, settings, entries in (
        ("Index, exact", {"search_engine": "exact", **guarded}, n_sentences),
        ("Index, fingerprint", {"search_engine": "fingerprint", **guarded}, len(chosen.known)),
        ("Index, overlap", {"search_engine": "overlap", **guarded}, n_sentences),
        ("Index, as printed (--as yoon)", {"as_paper": "yoon"}, len(chosen.known)),
    ):
        told: dict[str, Any] = settings
        request = processor_seconds(lambda s=told: [index.check(one, **s) for one in asked]) / len(asked)  # type: ignore[misc]
        found = np.array([verdict.duplicated for verdict in index.check(targets.records, **told)])
        if name == "Index, fingerprint":
            n_unlike = int(np.count_nonzero(found != chosen.found(collection)))
        cost = (size / 1e6, entries, 1000 * load, 1000 * request)
        models.append(Model(name, *cost, targets.quality(found), targets.recall_by_kind(found)))
    return models, n_unlike
