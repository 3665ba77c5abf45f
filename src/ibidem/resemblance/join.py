"""The exact join of documents by shared shingles: every pair whose overlap reaches the limit, without comparing all pairs.

Documents that share too little with all others together are taken out first (`pruning`). Of the rest, the shingles are put in
one order, rarest first; two documents that share enough have a common one among their first few. Those are sorted together
with the documents that have them, and documents that meet there are compared in full, once.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import local

import numpy as np
from numpy.typing import NDArray

from ibidem.parts import MapParts, in_turn, split_by_cost
from ibidem.resemblance import join_kernels as kernels
from ibidem.resemblance.limits import OverlapLimits
from ibidem.resemblance.pruning import SharedShingles, prune
from ibidem.signatures import HashSets

_N_PARTS = 64
_N_TABLES = 2  # of counts up to 127 each: together they fit into a byte
_N_LEADERS = 16
_MOST_HOT_SHINGLES_MET = 8
_ROOM = 1 << 14


Columns = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]


@dataclass(frozen=True)
class DocumentPairs:
    """Pairs of documents, a < b, each once, in rising order, and the number of shingles that they share."""

    a: NDArray[np.int32]
    b: NDArray[np.int32]
    overlap: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.a)


@dataclass(frozen=True)
class JoinedPairs:
    """All pairs that reach the limits, but for those that common shingles alone lead to: of these only some are listed.

    `by_common` says by document whether it was paired through common shingles.
    """

    pairs: DocumentPairs
    by_common: NDArray[np.bool_]


def sorted_pairs(a: NDArray[np.int32], b: NDArray[np.int32], overlap: NDArray[np.int64]) -> DocumentPairs:
    """Return pairs in their order, each once."""
    low, high = np.minimum(a, b).astype(np.int64), np.maximum(a, b).astype(np.int64)
    _, chosen = np.unique(low << 32 | high, return_index=True)
    return DocumentPairs(low[chosen].astype(np.int32), high[chosen].astype(np.int32), overlap[chosen])


def join_documents(
    sets: HashSets,
    limits: OverlapLimits,
    wanted: NDArray[np.bool_],
    side: NDArray[np.int8],
    max_documents: int,
    whole: bool = False,
    map_parts: MapParts = in_turn,
) -> JoinedPairs:
    """Return the pairs of wanted documents whose sets of shingles share as many as the limits ask for.

    With `side` (by document; empty for none) only documents of different sides are paired. Shingles that more than
    `max_documents` documents have among their first are common: they lead to pairs with a few documents only.
    With `whole`, all shingles lead to pairs, not just each document's first: the same outcome at Broder's cost.
    """
    sizes = np.diff(sets.first)
    by_common = np.zeros(len(sizes), np.bool_)
    shared = prune(sets, wanted, limits.bounds(sizes).least_shared, map_parts)
    if len(shared.documents) < 2:
        none = np.empty(0, np.int32)
        return JoinedPairs(DocumentPairs(none, none, none.astype(np.int64)), by_common)
    ranked = _rank_documents(shared, sizes, side, limits, whole, map_parts)
    found, hot_bounds = _pair_all(ranked, limits, max_documents, map_parts)
    # A reference leads all others, larger and smaller ones; without one, walking up is enough.
    for falling in (False, True) if len(side) else (False,):
        found.append(_pair_with_leaders(ranked, limits, hot_bounds, falling))
        by_common[ranked.document[np.concatenate(found[-1][:2])]] = True
    a, b, overlap = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return JoinedPairs(sorted_pairs(ranked.document[a], ranked.document[b], overlap.astype(np.int64)), by_common)


@dataclass(frozen=True)
class _Ranked:
    """Documents in order of size: their numbers, their shared shingles as sorted keys, and the entries of their prefixes."""

    document: NDArray[np.int32]
    size: NDArray[np.int64]
    side: NDArray[np.int8]
    smallest_rank: NDArray[np.int64]
    keys: NDArray[np.uint64]
    start: NDArray[np.int64]
    n_shared: NDArray[np.int64]
    rank_bits: int
    prefix_first: NDArray[np.int64]
    entries: NDArray[np.uint64]


def _rank_documents(
    shared: SharedShingles,
    sizes: NDArray[np.int64],
    side: NDArray[np.int8],
    limits: OverlapLimits,
    whole: bool,
    map_parts: MapParts,
) -> _Ranked:
    order = np.argsort(sizes[shared.documents], kind="stable")
    document = shared.documents[order].astype(np.int32)
    size = sizes[document]
    start, n_shared = shared.shingles.first[:-1][order], np.diff(shared.shingles.first)[order]
    keys = _sorted_keys(shared.shingles, map_parts)
    bounds = limits.bounds(size)
    # Shingles that no other document has come first in the order: they take up places, but lead nowhere.
    n_probe = n_shared if whole else np.maximum(bounds.probe_prefix - (size - n_shared), 0)
    n_index = n_shared if whole else np.maximum(bounds.index_prefix - (size - n_shared), 0)
    prefix_first = np.zeros(len(order) + 1, np.int64)
    np.cumsum(n_probe, out=prefix_first[1:])
    entries = np.empty(int(prefix_first[-1]), np.uint64)
    rank_bits = len(order).bit_length()
    kernels.list_prefixes(keys, start, rank_bits, n_probe, n_index, prefix_first, entries)
    entries.sort()
    smallest_rank = np.searchsorted(size, bounds.smallest_partner)
    sides = side[document] if len(side) else side
    return _Ranked(document, size, sides, smallest_rank, keys, start, n_shared, rank_bits, prefix_first, entries)


def _sorted_keys(sets: HashSets, map_parts: MapParts) -> NDArray[np.uint64]:
    """Return the shingles of every document as keys, whose top bits say how common they are, sorted by document."""
    hashes, first = sets.hashes, sets.first
    table_bits = max(10, len(hashes).bit_length() + 1)
    keys = np.empty(len(hashes), np.uint64)

    def count(part: tuple[int, int]) -> NDArray[np.uint8]:
        counters = np.zeros(1 << table_bits, np.uint8)
        kernels.count_often(hashes, first[part[0]], first[part[1]], table_bits, counters)
        return counters

    def make(part: tuple[int, int]) -> None:
        kernels.make_keys(hashes, first[part[0]], first[part[1]], table_bits, counters, keys)
        for document in range(*part):
            keys[first[document] : first[document + 1]].sort()

    counters, *others = map_parts(count, split_by_cost(np.diff(first), _N_TABLES))
    for other in others:
        counters += other
    list(map_parts(make, split_by_cost(np.diff(first), _N_PARTS)))
    return keys


def _pair_all(
    ranked: _Ranked, limits: OverlapLimits, max_documents: int, map_parts: MapParts
) -> tuple[list[Columns], NDArray[np.int64]]:
    """Return all pairs that shingles other than common ones lead to, and the bounds of the common ones' entries."""
    n = len(ranked.document)
    n_listed = np.zeros(n, np.int64)
    group_from, own_place = np.empty(len(ranked.entries), np.int64), np.empty(len(ranked.entries), np.int64)
    hot_bounds = np.empty(2 * (len(ranked.entries) // (max_documents + 1)), np.int64)
    n_hot = kernels.locate_groups(
        ranked.entries, ranked.rank_bits, max_documents, ranked.prefix_first, n_listed, group_from, own_place, hot_bounds
    )
    mine = local()

    def pair(part: tuple[int, int]) -> Columns:
        if not hasattr(mine, "seen"):
            mine.seen = np.full(n, -1, np.int32)
        columns = tuple(np.empty(_ROOM, np.int32) for _ in range(3))
        at, n_found = part[0], 0
        while True:
            at, n_found = kernels.pair_documents(
                ranked.entries, ranked.rank_bits, ranked.prefix_first, n_listed, group_from, own_place, ranked.keys,
                ranked.start, ranked.n_shared, ranked.size, ranked.smallest_rank, limits.needed_by_sum,
                limits.needed_by_small, ranked.side, at, part[1], mine.seen, *columns, n_found,
            )  # fmt: skip
            if at == part[1]:
                a, b, overlap = (column[:n_found].copy() for column in columns)
                return a, b, overlap
            columns = tuple(np.concatenate([column, np.empty_like(column)]) for column in columns)

    parts = split_by_cost(np.diff(ranked.prefix_first) + 1, _N_PARTS)
    return list(map_parts(pair, parts)), hot_bounds[: 2 * n_hot]


def _pair_with_leaders(ranked: _Ranked, limits: OverlapLimits, hot_bounds: NDArray[np.int64], falling: bool) -> Columns:
    n_room = min(int((hot_bounds[1::2] - hot_bounds[::2]).sum()), _MOST_HOT_SHINGLES_MET * len(ranked.document))
    a, b, overlap = (np.empty(n_room, np.int32) for _ in range(3))
    n_found = kernels.pair_with_leaders(
        ranked.entries, ranked.rank_bits, hot_bounds, ranked.keys, ranked.start, ranked.n_shared, ranked.size,
        ranked.smallest_rank, limits.needed_by_sum, limits.needed_by_small, ranked.side, falling,
        np.empty(_N_LEADERS, np.int64), np.zeros(len(ranked.document), np.int32), _MOST_HOT_SHINGLES_MET, a, b, overlap,
    )  # fmt: skip
    return a[:n_found], b[:n_found], overlap[:n_found]
