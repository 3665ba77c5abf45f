"""Which documents can resemble any other at all: those that share enough shingles with the others together.

Most shingles of most collections stand in one document only. A document that has more of them than the limit allows is in no
pair, and needs no comparison; taking it away makes further shingles stand alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.parts import MapParts, in_turn, split_by_cost
from ibidem.resemblance import prune_kernels
from ibidem.signatures import HashSets

_ROUNDS = 3
_PART_BITS = 1
_N_PARTS = 32
_MIN_TABLE_BITS, _MAX_TABLE_BITS = 10, 33


@dataclass(frozen=True)
class SharedShingles:
    """Documents that may be in pairs, by number, and those of their shingles that may stand in others too."""

    documents: NDArray[np.int64]
    shingles: HashSets


def prune(
    sets: HashSets, wanted: NDArray[np.bool_], least_shared: NDArray[np.int64], map_parts: MapParts = in_turn
) -> SharedShingles:
    """Return the wanted documents with at least `least_shared` shingles that stand in other wanted documents.

    None that has them is lost; some others may be kept. The hashes may lie on disk: they are read in order, twice.
    """
    documents = np.arange(len(wanted))
    for _ in range(_ROUNDS):
        n_kept, sets = _keep_shared(sets, wanted, least_shared, map_parts)
        chosen = n_kept > 0
        documents, least_shared = documents[chosen], least_shared[chosen]
        sets = HashSets(sets.hashes, np.append(sets.first[:-1][chosen], sets.first[-1]))
        if chosen.all():
            break
        wanted = np.ones(len(documents), np.bool_)
    return SharedShingles(documents, sets)


def sample(
    sets: HashSets, wanted: NDArray[np.bool_], every: int, remainder: int = 0, map_parts: MapParts = in_turn
) -> HashSets:
    """Return those shingles of the wanted documents whose hash leaves `remainder` when divided by `every`; of the others none.

    Samples by powers of two are nested: those of the larger one are among those of the smaller.
    """
    divisor, rest = np.uint64(every), np.uint64(remainder % every)

    def choose(begin: int, end: int, kept: NDArray[np.uint64], n_kept: NDArray[np.int64]) -> int:
        n: int = prune_kernels.sample_hashes(sets.hashes, sets.first, wanted, divisor, rest, begin, end, kept, n_kept)
        return n

    return _select(sets, choose, map_parts)[1]


def _keep_shared(
    sets: HashSets, wanted: NDArray[np.bool_], least_shared: NDArray[np.int64], map_parts: MapParts
) -> tuple[NDArray[np.int64], HashSets]:
    table_bits = int(np.clip(len(sets.hashes).bit_length() + 2, _MIN_TABLE_BITS, _MAX_TABLE_BITS))
    counters = np.zeros(1 << (table_bits - 2), np.uint8)

    def count(part: int) -> None:
        prune_kernels.count_twice(sets.hashes, sets.first, wanted, np.uint64(part), _PART_BITS, table_bits, counters)

    def choose(begin: int, end: int, kept: NDArray[np.uint64], n_kept: NDArray[np.int64]) -> int:
        n: int = prune_kernels.keep_shared(
            sets.hashes, sets.first, wanted, least_shared, begin, end, table_bits, counters, kept, n_kept
        )
        return n

    list(map_parts(count, range(1 << _PART_BITS)))
    return _select(sets, choose, map_parts)


def _select(
    sets: HashSets, choose: Callable[[int, int, NDArray[np.uint64], NDArray[np.int64]], int], map_parts: MapParts
) -> tuple[NDArray[np.int64], HashSets]:
    """Return the hashes that `choose` copies for some documents at a time, and how many there are by document."""
    n_kept = np.zeros(len(sets.first) - 1, np.int64)

    def select(part: tuple[int, int]) -> NDArray[np.uint64]:
        room = np.empty(int(sets.first[part[1]] - sets.first[part[0]]) + 1, np.uint64)
        return room[: choose(*part, room, n_kept)].copy()

    selected = list(map_parts(select, split_by_cost(np.diff(sets.first) + 1, _N_PARTS)))
    first = np.zeros(len(n_kept) + 1, np.int64)
    np.cumsum(n_kept, out=first[1:])
    return n_kept, HashSets(np.concatenate([np.empty(0, np.uint64), *selected]), first)
