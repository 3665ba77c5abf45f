"""The sampling plan that keeps a promise: how far shingles may be sampled, by document size, for a required precision.

Ye, Wen and Ma measure, for each group of documents of about one size, how many of the pairs accepted by a sample are
duplicates, and choose the smallest sample that keeps the promise. This does the same, with three differences: pairs of
documents from two groups are compared too (samples are nested; a pair belongs to the group of its larger document); the lower
end of a confidence interval must keep the promise; and the predictions of a binomial model are given beside the measurements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.sets import HashSets
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.resemblance.comparison import set_overlaps
from ibidem.resemblance.document_join import DocumentPairs, join_documents
from ibidem.resemblance.limits import resemblance_limits
from ibidem.resemblance.prune import sample

GROUPS = (0, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
RATIOS = (2, 4, 8, 16, 32, 64)
_MOST_TRIALS = 4
_LEAST_EVIDENCE = 20  # pairs that a sample must accept before its precision means anything
_Z = 2.326  # one-sided, 99 %
_DRAWS = 32


@dataclass(frozen=True)
class Trial:
    """What a sample of one in `every` shingles finds in one size group, averaged over the remainders.

    `accepted` pairs are similar enough by the sample, `right` ones also in full; `predicted_…` comes from the binomial model.
    `n_samples` is the number of remainders that were tried.
    """

    every: int
    accepted: float
    right: float
    true: int
    predicted_precision: float
    predicted_recall: float
    n_samples: int = 1

    @property
    def precision(self) -> float:
        """Share of the accepted pairs that are right; 1 if there are none."""
        return self.right / self.accepted if self.accepted else 1.0

    @property
    def recall(self) -> float:
        """Share of the true pairs that are accepted; 1 if there are none."""
        return self.right / self.true if self.true else 1.0

    @property
    def sure_precision(self) -> float:
        """Lower end of a 99 % confidence interval (Wilson) of the precision; 0 if there is too little evidence."""
        n, p = self.accepted, self.precision
        if n < _LEAST_EVIDENCE:
            return 0.0
        middle = p + _Z * _Z / (2 * n)
        return (middle - _Z * math.sqrt(p * (1 - p) / n + _Z * _Z / (4 * n * n))) / (1 + _Z * _Z / n)


@dataclass(frozen=True)
class SizeGroup:
    """Documents of at least `from_shingles` shingles, the trials of each ratio, and the chosen ratio."""

    from_shingles: int
    n_documents: int
    n_shingles: int
    trials: Sequence[Trial]
    every: int

    @property
    def chosen(self) -> Trial:
        """The trial of the chosen ratio."""
        return next(trial for trial in self.trials if trial.every == self.every)


@dataclass(frozen=True)
class _Truth:
    """The pairs that are duplicates at a limit."""

    limit: Fraction
    true: NDArray[np.int64]


def tune_sampling(
    sets: HashSets,
    wanted: NDArray[np.bool_],
    min_similarity: Fraction,
    min_precision: float,
    max_documents: int,
    groups: Sequence[int] = GROUPS,
    ratios: Sequence[int] = RATIOS,
    run_tasks: RunTasks = in_turn,
    *,
    all_remainders: bool = False,
    whole_grid: bool = False,
) -> list[SizeGroup]:
    """Return the size groups, each with the largest ratio that keeps the promise on these documents.

    A group with too few pairs to be sure relies on the next smaller one: at the same ratio, larger documents are judged better.

    At most four samples per ratio are tried, unless `all_remainders` is set. A group that breaks the promise is not measured at
    larger ratios, unless `whole_grid` is set. Only powers of two are chosen, because their samples are nested.
    """
    sizes = np.diff(sets.first)
    group_of = np.searchsorted(np.asarray(groups), sizes, side="right") - 1
    none = np.empty(0, np.int8)

    def join(chosen: HashSets, limit: Fraction, who: NDArray[np.bool_]) -> DocumentPairs:
        largest = int(np.diff(chosen.first).max(initial=0))
        limits = resemblance_limits(limit, Fraction(0), largest)
        return join_documents(chosen, limits, who, none, max_documents, False, run_tasks).pairs

    near = join(sets, min_similarity / 2, wanted)
    similarity = _similarities(near, sizes)
    is_true = similarity >= float(min_similarity) - 1e-12
    truth = _Truth(min_similarity, _keys(near)[is_true])
    group_of_near = _group_of_pairs(near, group_of)
    trials: list[list[Trial]] = []
    for group in range(len(groups)):
        n_true = int(np.count_nonzero(is_true & (group_of_near == group)))
        trials.append([Trial(1, n_true, n_true, n_true, 1.0, 1.0)])
    open_groups = list(range(len(groups)))
    for every in sorted(ratios):
        # Only documents that can be in a pair whose larger document is in an open group.
        takes_part = np.zeros(len(sizes), np.bool_)
        for group in open_groups:
            upper = groups[group + 1] if group + 1 < len(groups) else np.inf
            takes_part |= wanted & (sizes >= float(min_similarity) / 2 * groups[group]) & (sizes < upper)
        n_trials = every if all_remainders else min(every, _MOST_TRIALS)
        accepted, right = np.zeros(len(groups)), np.zeros(len(groups))
        for remainder in range(n_trials):
            pairs = join(sample(sets, takes_part, every, remainder, run_tasks), min_similarity, takes_part)
            of_pair = _group_of_pairs(pairs, group_of)
            accepted += np.bincount(of_pair, minlength=len(groups)) / n_trials
            is_right = _is_right(pairs, truth, sets, run_tasks)
            right += np.bincount(of_pair[is_right], minlength=len(groups)) / n_trials
        chances = _acceptance(near, sizes, every, float(min_similarity))
        for group in list(open_groups):
            mine = group_of_near == group
            expected, expected_right = chances[mine].sum(), chances[mine & is_true].sum()
            n_true = trials[group][0].true
            trial = Trial(
                every,
                float(accepted[group]),
                float(right[group]),
                n_true,
                float(expected_right / expected) if expected else 1.0,
                float(expected_right / n_true) if n_true else 1.0,
                n_trials,
            )
            trials[group].append(trial)
            if not whole_grid and trial.accepted >= _LEAST_EVIDENCE and trial.precision < min_precision:
                open_groups.remove(group)  # smaller samples can only be worse
    chosen = choose_ratios(trials, min_precision)
    return [
        SizeGroup(
            low,
            int(np.count_nonzero(wanted & (group_of == group))),
            int(sizes[wanted & (group_of == group)].sum()),
            trials[group],
            chosen[group],
        )
        for group, low in enumerate(groups)
    ]


def choose_ratios(trials: Sequence[Sequence[Trial]], min_precision: float) -> list[int]:
    """Return the largest ratio of each group that keeps the promise together with all smaller ones.

    It keeps the promise if it surely does in this group, or if nothing contradicts it and it does for smaller documents.
    """
    kept: set[int] = set()
    chosen: list[int] = []
    for of_group in trials:
        kept_by_smaller, kept = kept, set()
        for trial in of_group[1:]:
            if trial.every & (trial.every - 1):
                continue
            speaks_against = trial.accepted >= _LEAST_EVIDENCE and trial.precision < min_precision
            if trial.sure_precision < min_precision and (speaks_against or trial.every not in kept_by_smaller):
                break
            kept.add(trial.every)
        chosen.append(max(kept, default=1))
    # A pair is compared by the smaller sample of its documents. That must be the larger document's, whose group was measured.
    for group in range(len(chosen) - 2, -1, -1):
        chosen[group] = min(chosen[group], chosen[group + 1])
    return chosen


def _is_right(pairs: DocumentPairs, truth: _Truth, sets: HashSets, run_tasks: RunTasks) -> NDArray[np.bool_]:
    """Return which pairs are duplicates: known ones, and others found by comparison (common shingles list only a few)."""
    is_right: NDArray[np.bool_] = np.isin(_keys(pairs), truth.true)
    rest = np.flatnonzero(~is_right)
    limits = resemblance_limits(truth.limit, Fraction(0), int(np.diff(sets.first).max(initial=0)))
    is_right[rest] = set_overlaps(sets, pairs.a[rest], pairs.b[rest], limits, run_tasks) >= 0
    return is_right


def _similarities(pairs: DocumentPairs, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    similarities: NDArray[np.float64] = pairs.overlap / (sizes[pairs.a] + sizes[pairs.b] - pairs.overlap)
    return similarities


def _keys(pairs: DocumentPairs) -> NDArray[np.int64]:
    keys: NDArray[np.int64] = pairs.a.astype(np.int64) << 32 | pairs.b
    return keys


def _group_of_pairs(pairs: DocumentPairs, group_of: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.maximum(group_of[pairs.a], group_of[pairs.b]) if len(pairs) else np.empty(0, np.int64)


def _acceptance(pairs: DocumentPairs, sizes: NDArray[np.int64], every: int, limit: float) -> NDArray[np.float64]:
    """Return the probability that a sample accepts each pair: the numbers of sampled shared and other shingles are binomial,
    and the shared ones must reach the required share. Simulated, not summed: documents may be huge.
    """
    random = np.random.default_rng(every)
    unions = sizes[pairs.a] + sizes[pairs.b] - pairs.overlap
    chances = np.zeros(len(pairs))
    for _ in range(_DRAWS):
        shared = random.binomial(pairs.overlap, 1 / every)
        others = random.binomial(unions - pairs.overlap, 1 / every)
        chances += (shared > 0) & (shared >= limit * (shared + others) - 1e-9)
    return chances / _DRAWS
