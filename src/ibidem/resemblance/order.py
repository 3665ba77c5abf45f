"""The order measure (SWLR): shingles that two documents share in the same order, as a share of both.

r(A, B) = 2 LCS(A, B) / (|A| + |B|) over the sequences of shingles, repeats included; two documents are similar if r is at least
the limit. Sizes and bitmaps reject most pairs before comparison, and never a similar one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from threading import local

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.sets import HashSets
from ibidem.config.surface import named
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.resemblance.kernels import order as order_kernels

_N_TASKS = 64
_MOST_PAIRS = 1 << 16  # per task


@dataclass(frozen=True)
class OrderScores:
    """`overlaps`: the LCS length of each pair, -1 if it is below the limit; and how many pairs each filter rejected."""

    overlaps: NDArray[np.int32]
    n_rejected_by_size: int
    n_rejected_by_bitmap: int
    n_compared: int


def order_overlaps(
    sequences: HashSets,
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    limit: Fraction,
    filter_bits: int = 256,
    paper_bound: bool = False,
    run_tasks: RunTasks = in_turn,
) -> OrderScores:
    """Return the LCS length of every pair (a[i], b[i]) whose similarity reaches the limit.

    The overlaps are the same for any `filter_bits` (0, 64, 128 or 256, the width of the bitmaps). With `paper_bound`, the
    filter is the paper's, at most half the elements of both in differing bits, and sizes reject nothing: it loses pairs if the
    limit is below 1/2. An empty sequence is similar to nothing, at any limit. Pairs with the same `a` should be adjacent: it is
    then indexed once.
    """
    if filter_bits not in (0, 64, 128, 256):
        raise ValueError(f"{named('filter_bits')} must be one of 0, 64, 128, 256, not {filter_bits}")
    n_words = filter_bits // 64
    longest = int(np.diff(sequences.first).max(initial=1))
    bitmaps = order_kernels.Bitmaps(_make_bitmaps(sequences, n_words, run_tasks), n_words)
    limits = order_kernels.OrderLimits(limit.numerator, limit.denominator, paper_bound)
    overlaps = np.empty(len(a), np.int32)
    mine = local()

    def compare(task: tuple[int, int]) -> NDArray[np.int64]:
        if not hasattr(mine, "room"):
            mine.room = _make_room(longest)
        counts = np.zeros(3, np.int64)
        order_kernels.compare_orders(
            sequences.hashes, sequences.first, a, b, *task, limits, bitmaps, mine.room, overlaps, counts
        )  # fmt: skip
        return counts

    # Tasks of a fixed number of pairs, not of equal cost: storing a cost for every pair would take too much memory.
    n_pairs = max(1, min(_MOST_PAIRS, -(-len(a) // _N_TASKS)))
    tasks = [(i, min(i + n_pairs, len(a))) for i in range(0, len(a), n_pairs)]
    counts = np.zeros(3, np.int64)
    for added in run_tasks(compare, tasks):
        counts += added
    return OrderScores(overlaps, *counts.tolist())


def order_similarity(sequence_a: NDArray[np.uint64], sequence_b: NDArray[np.uint64]) -> int:
    """Return the LCS length of two sequences; 2 LCS / (|a| + |b|) is their similarity."""
    first = np.array([0, len(sequence_a), len(sequence_a) + len(sequence_b)], np.int64)
    both = HashSets(np.concatenate([sequence_a, sequence_b]).astype(np.uint64), first)
    pair = np.array([0, 1], np.int32)
    return max(0, int(order_overlaps(both, pair[:1], pair[1:], Fraction(0), 0).overlaps[0]))


def occurrence_hashes(sequences: HashSets, run_tasks: RunTasks = in_turn) -> HashSets:
    """Return the sequences with repeats made distinct: the first occurrence of h stays h, the second is mixed with 2, and so
    on.

    What two documents share as multisets they then share as sets, and r cannot exceed their Dice similarity.
    """
    longest = int(np.diff(sequences.first).max(initial=1))
    numbered = np.empty_like(sequences.hashes)
    mine = local()

    def number(task: tuple[int, int]) -> None:
        if not hasattr(mine, "rooms"):
            n_slots = _n_slots(longest)
            mine.rooms = np.empty(n_slots, np.int32), np.empty(n_slots, np.uint64), np.empty(n_slots, np.int32)
        order_kernels.number_occurrences(sequences.hashes, sequences.first, *task, *mine.rooms, numbered)

    list(run_tasks(number, split_by_cost(np.diff(sequences.first) + 1, _N_TASKS)))
    return HashSets(numbered, sequences.first)


def _make_bitmaps(sequences: HashSets, n_words: int, run_tasks: RunTasks) -> NDArray[np.uint64]:
    """Return the bitmaps of all documents, concatenated."""
    bitmaps = np.empty((len(sequences.first) - 1) * n_words, np.uint64)

    def fill(task: tuple[int, int]) -> None:
        order_kernels.fill_bitmaps(sequences.hashes, sequences.first, *task, n_words, bitmaps)

    if n_words:
        list(run_tasks(fill, split_by_cost(np.diff(sequences.first) + 1, _N_TASKS)))
    return bitmaps


def _make_room(longest: int) -> order_kernels.OrderRoom:
    """Return working memory for comparing sequences up to that length."""
    n_slots = _n_slots(longest)
    return order_kernels.OrderRoom(
        slots=np.empty(n_slots, np.int32),
        slot_keys=np.empty(n_slots, np.uint64),
        entry_word=np.empty(longest, np.int32),
        entry_bits=np.empty(longest, np.uint64),
        entry_next=np.empty(longest, np.int32),
        row=np.empty(longest // 64 + 1, np.uint64),
        with_zeros=np.empty(longest // 64**2 + 1, np.uint64),
        found=np.empty(longest, np.int32),
    )


def _n_slots(n_keys: int) -> int:
    """Return the size of a table for `n_keys` keys: a power of two, at most half full."""
    return max(4, 1 << (2 * n_keys - 1).bit_length())
