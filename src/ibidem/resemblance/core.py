"""Duplicates: pairs of documents found by a method and, unless told otherwise, compared in full."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.config import Config, is_compared_in_full
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.resemblance.candidates import Corpus, Found, find_candidates
from ibidem.resemblance.comparison import Duplicates, order_scores, resemblances, set_overlaps
from ibidem.resemblance.limits import resemblance_limits
from ibidem.resemblance.order import order_overlaps
from ibidem.signatures import HashSets


@dataclass(frozen=True)
class Comparer:
    """Says of any pairs whether they are duplicates: `compare` returns those that are. `sequences`: shingles in order."""

    sets: HashSets
    sequences: HashSets | None
    config: Config
    run_tasks: RunTasks

    def compare(self, a: NDArray[np.int32], b: NDArray[np.int32]) -> Duplicates:
        """Compare pairs in full."""
        settings, limit = self.config.resemblance, self.config.matches.min_similarity
        if self.sequences is not None:
            sizes = np.diff(self.sequences.first)
            scores = order_overlaps(
                self.sequences, a, b, limit, settings.filter_bits, self.config.signatures.paper, self.run_tasks
            )
            good = scores.overlaps >= 0
            return order_scores(sizes, a[good], b[good], scores.overlaps[good].astype(np.int64))
        sizes = np.diff(self.sets.first)
        limits = resemblance_limits(limit, settings.min_containment, int(sizes.max(initial=0)))
        overlaps = set_overlaps(self.sets, a, b, limits, self.run_tasks)
        good = overlaps >= 0
        return resemblances(sizes, a[good], b[good], overlaps[good])


def find_duplicates(corpus: Corpus, comparer: Comparer, config: Config, run_tasks: RunTasks = in_turn) -> Found:
    """Return the pairs of duplicates. With the method `join` and no sample they are all; with any method, if verified, true.

    Documents whose order counts are compared by shingles numbered by occurrence: what they share so, in any order, is as much
    as they share in one order, or more. So none that is alike in order is missing.
    """
    candidates = find_candidates(corpus, config, config.resemblance.verify, run_tasks)
    if (is_compared_in_full(config) and (corpus.every == 1).all()) or not config.resemblance.verify:
        return candidates
    found = candidates.duplicates
    return Found(comparer.compare(found.a, found.b), candidates.by_common)
