"""MinHash: short signatures of sets, whose equal components estimate resemblance, and bands that bring candidates together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.hashes import SEED, mix
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.resemblance.kernels import sketches as sketch_kernels
from ibidem.signatures.base import HashSets

_N_TASKS = 64

Signatures = NDArray[np.uint32]
Pairs = tuple[NDArray[np.int32], NDArray[np.int32]]


def minhash(sets: HashSets, n_permutations: int, run_tasks: RunTasks = in_turn, seed: int = 1) -> Signatures:
    """Return the signature of every document, one row each: the least hash of its set under each permutation.

    The same seed gives the same permutations everywhere. The row of an empty set is all `sketch_kernels.EMPTY`, which stands
    in no other row.
    """
    n_documents = len(sets.first) - 1
    signatures = np.empty((n_documents, n_permutations), np.uint32)
    flat = signatures.reshape(-1)
    offsets, factors = _draw_permutations(n_permutations, seed)

    def take(task: tuple[int, int]) -> None:
        minima = np.empty(n_permutations, np.uint32)
        sketch_kernels.take_minima(sets.hashes, sets.first, *task, offsets, factors, minima, flat)

    list(run_tasks(take, split_by_cost(np.diff(sets.first) + 1, _N_TASKS)))
    return signatures


def band_pairs(signatures: Signatures, n_bands: int, max_bucket: int, run_tasks: RunTasks = in_turn) -> Pairs:
    """Return all pairs a < b of documents that agree in all components of at least one band, each once, in order.

    If more than `max_bucket` documents agree in a band, it gives only the pairs of the first of them with the others, so
    that no bucket is quadratic. Empty sets are in no pair.
    """
    n_documents, n = signatures.shape
    if n % n_bands:
        raise ValueError(f"{n} permutations cannot be grouped in {n_bands} equal bands")
    n_rows = n // n_bands
    flat = np.ascontiguousarray(signatures).reshape(-1)
    documents = np.flatnonzero(signatures[:, 0] != sketch_kernels.EMPTY)
    row_bits = max(1, n_documents.bit_length())

    def pair(band: int) -> NDArray[np.uint64]:
        keys = np.empty(len(documents), np.uint64)
        sketch_kernels.hash_bands(flat, n, band * n_rows, n_rows, documents, row_bits, keys)
        keys.sort()
        arguments = keys, row_bits, flat, n, band * n_rows, n_rows, max_bucket
        pairs = np.empty(sketch_kernels.pair_bands(*arguments, np.empty(0, np.uint64)), np.uint64)
        sketch_kernels.pair_bands(*arguments, pairs)
        return pairs

    found = np.empty(0, np.uint64)
    for pairs in run_tasks(pair, range(n_bands)):
        found = np.union1d(found, pairs)  # at once: near copies agree in every band
    return (found >> np.uint64(32)).astype(np.int32), (found & np.uint64(0xFFFFFFFF)).astype(np.int32)


def agreement(signatures: Signatures, a: NDArray[np.int32], b: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the share of equal components of every pair, an unbiased estimate of its resemblance; 0 for empty sets."""
    shares = np.empty(len(a), np.float64)
    sketch_kernels.count_agreements(np.ascontiguousarray(signatures).reshape(-1), signatures.shape[1], a, b, shares)
    return shares


def _draw_permutations(n: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return n offsets and n odd factors."""
    draws = np.arange(n, dtype=np.uint64)
    fold: Any = mix.py_func  # over a whole array at once
    for value in (np.uint64(seed), SEED, np.uint64(seed)):
        draws = fold(draws, value)
    return (draws >> np.uint64(32)).astype(np.uint32), draws.astype(np.uint32) | np.uint32(1)
