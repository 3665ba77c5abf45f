"""Short quotations: runs of equal words in two documents, too short to align, that say too much to be there by chance."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.alignment.aligner import Words, covering_last
from ibidem.alignment.candidates import MOST_PLACES, Column, Marks, Meetings, marks_of, meetings_of, runs_around
from ibidem.alignment.kernels import quotations as kernels
from ibidem.alignment.kernels.candidates import STEM_SLOTS, count_stems
from ibidem.columns.rows import Pairing
from ibidem.execution.tasks import RunTasks, in_turn

FEW = MOST_PLACES  # quotations in more places lead to nothing, as all marks
ENOUGH_WORDS = 25  # of a passage: what is longer is left to alignment
SPARE_BITS = 5.0  # beyond those that tell two places of the collection from all others
MOST_BY_CHANCE = 3  # words at an end that are in another sentence in one of the two texts
LEAST_BITS = 45.0  # however small the collection is: it does not know which phrases are common


class Rarity(NamedTuple):
    """How often words, and two words in a row, occur beyond what a few quotations explain, by slot; and all words."""

    words: NDArray[np.int32]
    pairs: NDArray[np.int32]
    n_words: int


def are_wanted(min_words: int) -> bool:
    """Return whether passages may be so short that alignment does not reach them."""
    return min_words < ENOUGH_WORDS


def rarity_of(words: Words) -> Rarity:
    """Return how rare the words of a collection are."""
    counts, pair_counts = np.zeros(STEM_SLOTS, np.int32), np.zeros(STEM_SLOTS, np.int32)
    count_stems(words.stem, counts)
    kernels.count_pairs(words.stem, words.document_first, pair_counts)
    return Rarity(beyond_few(counts), beyond_few(pair_counts), len(words.stem))


def pair_slots(words: Words) -> NDArray[np.uint32]:
    """Return where two words in a row are counted, for all of them."""
    slots = np.empty(len(words.stem), np.uint32)
    return slots[: kernels.list_pair_slots(words.stem, words.document_first, slots)]


def beyond_few(counts: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return counts less those that quotations explain, which are in few places, and less those of others in a usual slot."""
    few = max(FEW, int(np.partition(counts, len(counts) // 2)[len(counts) // 2]))
    beyond: NDArray[np.int32] = np.maximum(counts - np.int32(few), 0)
    return beyond


def list_quotations(
    words: Words,
    is_open: NDArray[np.bool_],
    task: tuple[int, int],
    rarity: Rarity,
    min_words: int,
    wanted: Column,
    marks: Marks,
) -> int:
    """Write the quotation marks of documents [begin, end); return how many."""
    bits = max(LEAST_BITS, 2.0 * math.log2(max(rarity.n_words, 1)) + SPARE_BITS)
    longest = int(np.diff(words.document_first)[slice(*task)].max(initial=0))
    return kernels.list_quotations(  # type: ignore[no-any-return]
        words.stem, is_open, words.document_first, *task, *rarity, min_words, int(kernels.UNITS_PER_BIT * bits),
        np.empty(2 * longest, np.int32), wanted, marks,
    )  # fmt: skip


def find_quotations(
    words: Words, is_open: NDArray[np.bool_], pairing: Pairing, min_words: int, run_tasks: RunTasks = in_turn
) -> NDArray[np.int64]:
    """Return the runs of at least `min_words` equal words in two documents that say too much to be there by chance.

    A row is start and end in a, start and end in b. Nothing is returned if alignment reaches passages of `min_words`.
    """
    if not are_wanted(min_words):
        return np.empty((0, 4), np.int64)
    rarity = rarity_of(words)

    def list_marks(task: tuple[int, int], wanted: Column, marks: Marks) -> int:
        return list_quotations(words, is_open, task, rarity, min_words, wanted, marks)

    met = meetings_of(marks_of(list_marks, words, run_tasks, choosing=True), words, pairing, run_tasks)
    return quotations_around(met, words, min_words, run_tasks)


def quotations_around(met: Meetings, words: Words, min_words: int, run_tasks: RunTasks = in_turn) -> NDArray[np.int64]:
    """Return the runs of equal words around quotation marks that meet, by place; without words at their ends that may be equal
    by chance.
    """
    found = np.ascontiguousarray(runs_around(met, words, min_words, run_tasks))
    kernels.trim_runs(found.reshape(-1), words.bounds, MOST_BY_CHANCE, min_words)
    found, _ = covering_last(found, words)
    return found[np.lexsort(found.T[::-1])]
