"""The exact join of documents by shared shingles: every pair whose overlap reaches the limit, without comparing all pairs.

Documents that share too little with all others together are removed first (`prune`). The shingles of the rest are put in one
order, rarest first; two documents that share enough have a common one among their first few. Those are sorted together with
their documents, and documents that meet there are compared in full, once. Shingles of very many documents (`frequent_shingles`)
come last: documents that meet at one are compared with a few leaders, not with one another.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import local

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.ragged import starts_of
from ibidem.columns.sets import HashSets
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.resemblance.frequent_shingles import CommonShingles, Meetings, find_common, find_meetings
from ibidem.resemblance.kernels import document_join as kernels
from ibidem.resemblance.kernels.document_join import PairRoom, Prefixes, SizedDocuments
from ibidem.resemblance.limits import OverlapLimits
from ibidem.resemblance.prune import SharedShingles, prune

N_LEADERS = 16
_N_TASKS = 64
_N_LEADER_TASKS = 32
_N_TABLES = 2  # of counts up to 127 each: their sum fits into a byte
_ROOM = 1 << 14

Columns = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]


@dataclass(frozen=True)
class DocumentPairs:
    """Pairs of documents, a < b, each once, in increasing order, and the number of shingles they share."""

    a: NDArray[np.int32]
    b: NDArray[np.int32]
    overlap: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.a)


@dataclass(frozen=True)
class JoinedPairs:
    """All pairs that reach the limits, except that of documents sharing only common shingles just some pairs are listed.

    `by_common` says per document whether it was paired through common shingles.
    """

    pairs: DocumentPairs
    by_common: NDArray[np.bool_]


def sorted_pairs(a: NDArray[np.int32], b: NDArray[np.int32], overlap: NDArray[np.int64]) -> DocumentPairs:
    """Return pairs in order, each once."""
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
    run_tasks: RunTasks = in_turn,
) -> JoinedPairs:
    """Return the pairs of wanted documents whose sets of shingles share as many as the limits require.

    With `side` (per document; empty for none), only documents of different sides are paired. Shingles of more than
    `max_documents` wanted documents are common: they lead to pairs with only a few documents. With `whole`, all other shingles
    lead to pairs, not just the first of each document: the same outcome at Broder's cost.
    """
    sizes = np.diff(sets.first)
    by_common = np.zeros(len(sizes), np.bool_)
    bounds = limits.bounds(sizes)
    common = find_common(sets, wanted, max_documents, run_tasks)
    meetings = find_meetings(common, sets, wanted, bounds.probe_prefix, run_tasks)
    # Documents that meet at common shingles stay, with or without a partner: leaders must not depend on what was removed.
    least_shared = bounds.least_shared.copy()
    least_shared[meetings.document] = 0
    shared = prune(sets, wanted, least_shared, run_tasks)
    if len(shared.documents) < 2:
        none = np.empty(0, np.int32)
        return JoinedPairs(DocumentPairs(none, none, none.astype(np.int64)), by_common)
    ranked = _rank_documents(shared, sizes, side, common, limits, whole, run_tasks)
    found = _pair_all(ranked, limits, run_tasks)
    found.append(_pair_through_common(ranked, meetings, limits, run_tasks))
    by_common[ranked.document[np.concatenate(found[-1][:2])]] = True
    a, b, overlap = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return JoinedPairs(sorted_pairs(ranked.document[a], ranked.document[b], overlap.astype(np.int64)), by_common)


@dataclass(frozen=True)
class _Ranked:
    """Documents in order of size: their numbers, their shared shingles as sorted keys, and the entries of their prefixes."""

    document: NDArray[np.int32]
    sized: SizedDocuments
    smallest_rank: NDArray[np.int64]
    rank_bits: int
    prefix_first: NDArray[np.int64]
    entries: NDArray[np.uint64]


def _rank_documents(
    shared: SharedShingles,
    sizes: NDArray[np.int64],
    side: NDArray[np.int8],
    common: CommonShingles,
    limits: OverlapLimits,
    whole: bool,
    run_tasks: RunTasks,
) -> _Ranked:
    order = np.argsort(sizes[shared.documents], kind="stable")
    document = shared.documents[order].astype(np.int32)
    size = sizes[document]
    start, n_shared = shared.shingles.first[:-1][order], np.diff(shared.shingles.first)[order]
    keys = _sorted_keys(shared.shingles, common, run_tasks)
    bounds = limits.bounds(size)
    # Shingles that no other document has come first in the order: they take up places but lead to no pair.
    n_probe = n_shared.copy() if whole else np.maximum(bounds.probe_prefix - (size - n_shared), 0)
    n_index = n_shared.copy() if whole else np.maximum(bounds.index_prefix - (size - n_shared), 0)
    if len(common):
        kernels.leave_out_common(keys, start, n_probe, n_index)
    prefix_first = starts_of(n_probe)
    entries = np.empty(int(prefix_first[-1]), np.uint64)
    rank_bits = len(order).bit_length()
    kernels.list_prefixes(keys, start, rank_bits, n_probe, n_index, prefix_first, entries)
    entries.sort()
    smallest_rank = np.searchsorted(size, bounds.smallest_partner)
    sized = SizedDocuments(keys, start, n_shared, size, bounds.smallest_partner, side[document] if len(side) else side)
    return _Ranked(document, sized, smallest_rank, rank_bits, prefix_first, entries)


def _sorted_keys(sets: HashSets, common: CommonShingles, run_tasks: RunTasks) -> NDArray[np.uint64]:
    """Turn the shingles of every document into sorted keys, whose top bits say how many documents have them."""
    hashes, first = sets.hashes, sets.first
    table_bits = max(10, len(hashes).bit_length() + 1)

    def count(task: tuple[int, int]) -> NDArray[np.uint8]:
        counters = np.zeros(1 << table_bits, np.uint8)
        kernels.count_often(hashes, first[task[0]], first[task[1]], table_bits, counters)
        return counters

    def make(task: tuple[int, int]) -> None:
        bounds = first[task[0]], first[task[1]]
        kernels.make_keys(hashes, *bounds, table_bits, counters, common.hashes, common.table_bits, common.marks)
        for document in range(*task):
            hashes[first[document] : first[document + 1]].sort()

    counters, *others = run_tasks(count, split_by_cost(np.diff(first), _N_TABLES))
    for other in others:
        counters += other
    list(run_tasks(make, split_by_cost(np.diff(first), _N_TASKS)))
    return hashes


def _pair_all(ranked: _Ranked, limits: OverlapLimits, run_tasks: RunTasks) -> list[Columns]:
    """Return all pairs that shingles other than common ones lead to."""
    n, n_entries = len(ranked.document), len(ranked.entries)
    listed = np.zeros(n, np.int64), np.empty(n_entries, np.int64), np.empty(n_entries, np.int64)
    prefixes = Prefixes(ranked.entries, ranked.rank_bits, ranked.prefix_first, *listed)
    kernels.locate_groups(prefixes)
    mine = local()

    def pair(task: tuple[int, int]) -> Columns:
        if not hasattr(mine, "seen"):
            mine.seen = np.full(n, -1, np.int32)
        found = _room(_ROOM)
        at, n_found = task[0], 0
        while True:
            at, n_found = kernels.pair_documents(
                prefixes, ranked.sized, ranked.smallest_rank, limits, at, task[1], mine.seen, found, n_found
            )  # fmt: skip
            if at == task[1]:
                a, b, overlap = (column[:n_found].copy() for column in found)
                return a, b, overlap
            found = PairRoom(*(np.concatenate([column, np.empty_like(column)]) for column in found))

    return list(run_tasks(pair, split_by_cost(np.diff(prefixes.first) + 1, _N_TASKS)))


def _pair_through_common(ranked: _Ranked, meetings: Meetings, limits: OverlapLimits, run_tasks: RunTasks) -> Columns:
    """Return the pairs that common shingles lead to."""
    if len(meetings.document) == 0:
        none = np.empty(0, np.int32)
        return none, none, none
    rank = np.full(max(int(meetings.document.max()), int(ranked.document.max())) + 1, -1, np.int64)
    rank[ranked.document] = np.arange(len(ranked.document))
    # Removed documents share nothing with the rest, so they led no other document.
    left = np.flatnonzero(rank[meetings.document] >= 0)
    return pairs_with_leaders(ranked.sized, meetings.shingle[left], rank[meetings.document[left]], limits, run_tasks)


def pairs_with_leaders(
    documents: SizedDocuments,
    shingle: NDArray[np.int64],
    member: NDArray[np.int64],
    limits: OverlapLimits,
    run_tasks: RunTasks = in_turn,
) -> Columns:
    """Return pairs of documents that meet at common shingles, with their overlap; a pair may occur more than once.

    `member`[i], a position in `documents`, is one of those that meet at `shingle`[i], any number that identifies a shingle. In
    order of size, each document that meets at a shingle is compared with up to 16 earlier leaders, which are the documents that
    matched no leader. It is paired with the first leader that it matches. A reference leads all others, larger and smaller:
    with one, the order is walked both ways, and only the reference leads.
    """
    order = np.lexsort((member, shingle))
    members, shingle = member[order].astype(np.int32), shingle[order]
    first = np.flatnonzero(np.diff(shingle, prepend=-1, append=-1)) if len(shingle) else np.zeros(1, np.int64)

    def pair(task: tuple[int, int]) -> list[Columns]:
        found: list[Columns] = []
        for falling in (False, True) if len(documents.side) else (False,):
            room, leaders = _room(int(first[task[1]] - first[task[0]])), np.empty(N_LEADERS, np.int64)
            n = kernels.pair_with_leaders(members, first, *task, documents, limits, falling, leaders, room)
            found.append((room.a[:n].copy(), room.b[:n].copy(), room.overlap[:n].copy()))
        return found

    none = np.empty(0, np.int32)
    pairs = [
        (none, none, none),
        *(columns for found in run_tasks(pair, split_by_cost(np.diff(first), _N_LEADER_TASKS)) for columns in found),
    ]
    a, b, overlap = (np.concatenate(columns) for columns in zip(*pairs, strict=True))
    return a, b, overlap


def _room(n_pairs: int) -> PairRoom:
    return PairRoom(np.empty(n_pairs, np.int32), np.empty(n_pairs, np.int32), np.empty(n_pairs, np.int32))
