"""Sketches: short summaries of sets of shingles that estimate similarity and find candidates.

*MinHash* gives signatures, whose equal components estimate resemblance; documents that agree in a band of them are candidates.

*SimHash* gives one 64-bit code per document; candidates are all pairs of codes that differ in few bits. This search is exact.
The 64 bits are cut into blocks; codes at most k bits apart agree in all but at most k blocks. So there is a table for each
choice of all but k blocks, sorted by those bits, and neighbours are compared.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.hashes import SEED, mix
from ibidem.columns.ragged import ranges
from ibidem.columns.sets import HashSets
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.resemblance.kernels import sketches as kernels

_N_TASKS = 64
_CODE_BITS = 64
_MAX_TABLES = 1000
_SORT_COST = 30.0  # nanoseconds to put a code into a table
_PAIR_COST = 1.0  # nanoseconds to compare two codes
_KEY_INFORMATION = 0.75  # bits of information per bit of a key: codes of real documents are not uniform

Signatures = NDArray[np.uint32]
Codes = NDArray[np.uint64]
Numbers = NDArray[np.int32]
Pairs = tuple[Numbers, Numbers]


def minhash(sets: HashSets, n_permutations: int, run_tasks: RunTasks = in_turn, seed: int = 1) -> Signatures:
    """Return the signature of every document, one row each: the smallest hash of its set under each permutation.

    The same seed gives the same permutations everywhere. The row of an empty set is all `kernels.EMPTY`, which no
    other row has.
    """
    n_documents = len(sets.first) - 1
    signatures = np.empty((n_documents, n_permutations), np.uint32)
    flat = signatures.reshape(-1)
    offsets, factors = _draw_permutations(n_permutations, seed)

    def take(task: tuple[int, int]) -> None:
        minima = np.empty(n_permutations, np.uint32)
        kernels.take_minima(sets.hashes, sets.first, *task, offsets, factors, minima, flat)

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
    documents = np.flatnonzero(signatures[:, 0] != kernels.EMPTY)
    row_bits = max(1, n_documents.bit_length())

    def pair(band: int) -> NDArray[np.uint64]:
        keys = np.empty(len(documents), np.uint64)
        kernels.hash_bands(flat, n, band * n_rows, n_rows, documents, row_bits, keys)
        keys.sort()
        arguments = keys, row_bits, flat, n, band * n_rows, n_rows, max_bucket
        pairs = np.empty(kernels.pair_bands(*arguments, np.empty(0, np.uint64)), np.uint64)
        kernels.pair_bands(*arguments, pairs)
        return pairs

    found = np.empty(0, np.uint64)
    for pairs in run_tasks(pair, range(n_bands)):
        found = np.union1d(found, pairs)  # merged at once: near copies agree in every band
    return (found >> np.uint64(32)).astype(np.int32), (found & np.uint64(0xFFFFFFFF)).astype(np.int32)


def agreement(signatures: Signatures, a: NDArray[np.int32], b: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the share of equal components of every pair, an unbiased estimate of its resemblance; 0 for empty sets."""
    shares = np.empty(len(a), np.float64)
    kernels.count_agreements(np.ascontiguousarray(signatures).reshape(-1), signatures.shape[1], a, b, shares)
    return shares


def _draw_permutations(n: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return n offsets and n odd factors."""
    draws = np.arange(n, dtype=np.uint64)
    fold: Any = mix.py_func  # over a whole array at once
    for value in (np.uint64(seed), SEED, np.uint64(seed)):
        draws = fold(draws, value)
    return (draws >> np.uint64(32)).astype(np.uint32), draws.astype(np.uint32) | np.uint32(1)


def simhash(sets: HashSets, run_tasks: RunTasks = in_turn) -> Codes:
    """Return the code of every document: bit i is set if more than half of its hashes have it; 0 for an empty set."""
    codes = np.empty(len(sets.first) - 1, np.uint64)

    def take(task: tuple[int, int]) -> None:
        kernels.vote(sets.hashes, sets.first, *task, np.empty(_CODE_BITS, np.uint64), codes)

    list(run_tasks(take, split_by_cost(np.diff(sets.first) + 1, _N_TASKS)))
    return codes


def near_codes(
    codes: Codes,
    max_bits_apart: int,
    known: NDArray[np.bool_],
    max_bucket: int,
    run_tasks: RunTasks = in_turn,
) -> Pairs:
    """Return all pairs a < b of known documents whose codes are at most `max_bits_apart` bits apart, each once, in order.

    If more than `max_bucket` documents have the same code, only the first of them is paired with the others and with the
    documents of other codes, so that equal codes are never quadratic. Documents that are not known (empty sets) are in no
    pair.
    """
    documents = np.flatnonzero(known)
    documents = documents[np.argsort(codes[documents], kind="stable")]
    distinct, first, sizes = np.unique(codes[documents], return_index=True, return_counts=True)
    left, right = _near_distinct(distinct, max_bits_apart, run_tasks)

    # A group of equal codes represents all its members; one that is too large, only its first member.
    members = np.where(sizes > max_bucket, 1, sizes)
    x, y = _cross(first[left], members[left], first[right], members[right])
    x_same, y_same = _cross(first, members, first, sizes)
    inside = x_same < y_same
    x = documents[np.concatenate([x, x_same[inside]])]
    y = documents[np.concatenate([y, y_same[inside]])]
    packed = np.minimum(x, y).astype(np.uint64) << np.uint64(32) | np.maximum(x, y).astype(np.uint64)
    packed.sort()
    return (packed >> np.uint64(32)).astype(np.int32), (packed & np.uint64(0xFFFFFFFF)).astype(np.int32)


def _cross(
    x_first: NDArray[np.int64], n_x: NDArray[np.int64], y_first: NDArray[np.int64], n_y: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each i, all combinations of n_x[i] numbers from x_first[i] on and n_y[i] numbers from y_first[i] on."""
    n = n_x * n_y
    which = np.repeat(np.arange(len(n)), n)
    at = ranges(0, n)
    return x_first[which] + at // n_y[which], y_first[which] + at % n_y[which]


def _near_distinct(codes: Codes, max_bits_apart: int, run_tasks: RunTasks) -> Pairs:
    """Return the pairs of distinct codes at most `max_bits_apart` bits apart, each once."""
    n = len(codes)
    tables = _choose_tables(n, max_bits_apart)
    masks = np.array([sum(((1 << width) - 1) << shift for shift, width in blocks) for blocks in tables], np.uint64)
    row_bits = max(1, n.bit_length())

    def search(table: int) -> Pairs:
        key_bits = sum(width for _, width in tables[table])
        keys = np.zeros(n, np.uint64)
        for shift, width in tables[table]:
            keys = keys << np.uint64(width) | codes >> np.uint64(shift) & np.uint64((1 << width) - 1)
        # If key and number do not fit into one word, the key loses its lowest bits: this adds neighbours and loses none.
        keys >>= np.uint64(max(0, key_bits + row_bits - _CODE_BITS))
        keys = keys << np.uint64(row_bits) | np.arange(n, dtype=np.uint64)
        keys.sort()
        ordered = codes[(keys & np.uint64((1 << row_bits) - 1)).astype(np.int64)]
        left, right = np.empty(n, np.int32), np.empty(n, np.int32)  # a code has fewer partners than this
        found = [(left[:0], right[:0])]
        row = 0
        while row < n:
            row, n_found = kernels.pair_codes(
                keys, row_bits, ordered, masks, table, max_bits_apart, row, left, right
            )  # fmt: skip
            found.append((left[:n_found].copy(), right[:n_found].copy()))
        return np.concatenate([one for one, _ in found]), np.concatenate([other for _, other in found])

    found = list(run_tasks(search, range(len(tables))))
    return np.concatenate([left for left, _ in found]), np.concatenate([right for _, right in found])


def _choose_tables(n_codes: int, max_bits_apart: int) -> list[list[tuple[int, int]]]:
    """Return the blocks (shift, width) that each table is sorted by: few tables of short keys, or many of long ones.

    As many blocks as bits apart means one table without a key, in which all codes are neighbours: best if there are few.
    """

    def cost(n_blocks: int) -> float:
        key_bits = _CODE_BITS * (n_blocks - max_bits_apart) / n_blocks
        neighbours = n_codes / 2 / 2 ** (_KEY_INFORMATION * key_bits)
        return comb(n_blocks, max_bits_apart) * n_codes * (_SORT_COST + _PAIR_COST * neighbours)

    fewest = max(1, max_bits_apart)
    n_blocks = min((n for n in range(fewest, _CODE_BITS + 1) if comb(n, max_bits_apart) <= _MAX_TABLES), key=cost)
    shifts = [_CODE_BITS * i // n_blocks for i in range(n_blocks + 1)]
    blocks = [(shifts[i], shifts[i + 1] - shifts[i]) for i in range(n_blocks)]
    return [list(chosen) for chosen in combinations(blocks, n_blocks - max_bits_apart)]
