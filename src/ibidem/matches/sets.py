"""Signatures as sorted sets of small numbers, rarest element first: the form in which the join compares them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.matches import kernels
from ibidem.parts import MapParts, in_turn, split_by_cost
from ibidem.signatures import HashSets
from ibidem.signatures.kernels import number_tokens
from ibidem.signatures.types import VOCABULARY_PART_BITS

_N_PARTS = 16


@dataclass(frozen=True)
class TypeSets:
    """The set of type t is `values[start[t] : start[t] + size[t]]`, rising; `bitmaps` are their 64-bit parity sketches.

    Values are ranks below `n_values`, rarest first; those below `n_single` stand once in all sets together.
    """

    start: NDArray[np.int64]
    size: NDArray[np.int32]
    values: NDArray[np.int32]
    bitmaps: NDArray[np.uint64]
    n_values: int
    n_single: int


def sort_sets(sets: HashSets, map_parts: MapParts = in_turn) -> TypeSets:
    """Number the hashes by rising frequency and sort every set; the outcome does not depend on how the work is shared."""
    ids = np.empty(len(sets.hashes), np.int32)

    def number(part: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        return number_tokens(sets.hashes, np.uint64(part), VOCABULARY_PART_BITS, ids)  # type: ignore[no-any-return]

    numbered = list(map_parts(number, range(1 << VOCABULARY_PART_BITS)))
    part_start = np.zeros(len(numbered) + 1, np.int64)
    np.cumsum([len(hashes) for hashes, _ in numbered], out=part_start[1:])
    counts = np.concatenate([counts for _, counts in numbered])
    hashes = np.concatenate([hashes for hashes, _ in numbered])
    # Rare first; among equally rare ones the hash decides, which is as good as any order that is always the same.
    order = np.argsort(np.minimum(counts, 1 << 24).astype(np.uint64) << np.uint64(39) | hashes >> np.uint64(25), kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    n_types = len(sets.first) - 1
    size = np.empty(n_types, np.int32)
    bitmaps = np.empty(n_types, np.uint64)

    def sort(part: tuple[int, int]) -> None:
        kernels.sort_sets(sets.hashes, ids, sets.first, *part, VOCABULARY_PART_BITS, part_start, rank, size, bitmaps)

    list(map_parts(sort, split_by_cost(np.diff(sets.first) + 1, _N_PARTS)))
    return TypeSets(sets.first, size, ids, bitmaps, len(rank), int(np.count_nonzero(counts == 1)))
