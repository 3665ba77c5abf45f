"""Samples of shingles: which shingles of a document are looked at, and how alike two documents are by these alone.

Three ways: one in so many, by the remainder of the hash (Ye, Wen, Ma); of these at most so many, those that come first in an
order of hashes (Heintze; with one in 25 and at most 400, Broder et al.); and supershingles, hashes of many shingles each
(Fetterly, Manasse, Najork).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.ragged import starts_of
from ibidem.columns.sets import HashSets
from ibidem.config import Config
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.resemblance.comparison import Duplicates, as_resemblance, estimates, resemblances
from ibidem.resemblance.kernels import samples as kernels
from ibidem.resemblance.limits import OverlapLimits, resemblance_limits, sampled_limits
from ibidem.resemblance.prune import sample, select_hashes, without_empty
from ibidem.resemblance.sketches import Signatures, agreement, band_keys, minhash

MISS_PROBABILITY = 0.001

Numbers = NDArray[np.int64]


def is_sampled(config: Config, every: int) -> bool:
    """Tell whether documents of which one in `every` shingles is looked at are known by less than all of them."""
    return every > 1 or config.resemblance.sampling != "modulo"


def looked_at(sets: HashSets, wanted: NDArray[np.bool_], every: int, config: Config, run_tasks: RunTasks = in_turn) -> HashSets:
    """Return what the wanted documents are looked for by; all others have nothing, unless nothing is sampled."""
    settings = config.resemblance
    if settings.sampling == "supershingles":
        return _supershingles(sets, wanted, config, run_tasks)
    if every > 1:
        sets = sample(sets, wanted, every, settings.sample_remainder, run_tasks)
    return _first_shingles(sets, wanted, settings.sample_size, run_tasks) if settings.sampling == "smallest" else sets


def resemblance_limit(config: Config) -> Fraction:
    """Return the resemblance that documents of the wanted similarity have at least."""
    limit = config.matches.min_similarity
    return as_resemblance(limit) if config.resemblance.measure == "order" else limit


def shingle_limits(config: Config, every: int, to_verify: bool, largest: int) -> OverlapLimits:
    """Return how much of what is `looked_at` documents must share, up to sizes of `largest`."""
    settings = config.resemblance
    if settings.sampling == "supershingles":
        return OverlapLimits(np.full(2 * largest + 1, settings.min_supershingles), np.empty(0, np.int64))
    limit, containment = resemblance_limit(config), settings.min_containment
    sample_size = settings.sample_size if settings.sampling == "smallest" else None
    if to_verify and is_sampled(config, every):
        return sampled_limits(limit, containment, MISS_PROBABILITY, largest, sample_size)
    return resemblance_limits(limit, containment, largest, sample_size, settings.min_shared_shingles)


def judged(
    looked: HashSets,
    whole: HashSets,
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    overlap: Numbers,
    config: Config,
    to_verify: bool,
) -> Duplicates:
    """Return how alike pairs are by what was looked at; unless they are `to_verify`, only those that are alike enough.

    Pairs share `overlap` of what was `looked` at, which reaches the limits; `whole` are all their shingles.
    """
    settings = config.resemblance
    if to_verify or settings.sampling == "modulo":
        return resemblances(np.diff(looked.first), a, b, overlap)
    if settings.sampling == "supershingles":
        signatures, at = _signatures_of(whole, np.concatenate([a, b]), config)
        return estimates(np.diff(whole.first), a, b, agreement(signatures, at[: len(a)], at[len(a) :]))
    of_a, of_b = np.empty(len(a), np.int64), np.empty(len(a), np.int64)
    kernels.count_comparable(looked.hashes, looked.first, settings.sample_size, a, b, of_a, of_b)
    p, q = resemblance_limit(config).as_integer_ratio()
    good = np.flatnonzero(q * overlap >= p * (of_a + of_b - overlap))
    overlap, of_a, of_b = overlap[good], of_a[good], of_b[good]
    return Duplicates(a[good], b[good], overlap / (of_a + of_b - overlap), overlap / of_a, overlap / of_b)


def _first_shingles(sets: HashSets, wanted: NDArray[np.bool_], n_most: int, run_tasks: RunTasks) -> HashSets:
    def choose(begin: int, end: int, kept: NDArray[np.uint64], n_kept: Numbers) -> int:
        n: int = kernels.keep_first(sets.hashes, sets.first, wanted, n_most, begin, end, kept, n_kept)
        return n

    return select_hashes(sets, choose, run_tasks)[1]


def _supershingles(sets: HashSets, wanted: NDArray[np.bool_], config: Config, run_tasks: RunTasks) -> HashSets:
    """Return the supershingles of the wanted documents. Those without shingles have none."""
    chosen = wanted & (np.diff(sets.first) > 0)
    signatures = _signatures(without_empty(sample(sets, chosen, 1, 0, run_tasks), chosen), config, run_tasks)
    n_each = config.resemblance.supershingles
    hashes = np.stack(list(band_keys(signatures, n_each)), axis=1)
    return HashSets(hashes.reshape(-1), starts_of(np.where(chosen, n_each, 0)))


def _signatures(sets: HashSets, config: Config, run_tasks: RunTasks) -> Signatures:
    settings = config.resemblance
    return minhash(sets, settings.supershingles * settings.supershingle_size, run_tasks)


def _signatures_of(sets: HashSets, documents: NDArray[np.int32], config: Config) -> tuple[Signatures, NDArray[np.int32]]:
    """Return the signatures of some documents, and the row of each."""
    chosen = np.zeros(len(sets.first) - 1, np.bool_)
    chosen[documents] = True
    signatures = _signatures(without_empty(sample(sets, chosen, 1), chosen), config, in_turn)
    return signatures, np.searchsorted(np.flatnonzero(chosen), documents).astype(np.int32)
