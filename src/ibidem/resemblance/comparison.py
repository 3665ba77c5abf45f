"""Pairs of documents, or of texts, compared in full: what they share, and what that means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.ragged import starts_of
from ibidem.columns.sets import HashSets
from ibidem.config import Config
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.model import Similarity
from ibidem.resemblance.kernels import document_join as kernels
from ibidem.resemblance.limits import OverlapLimits, resemblance_limits
from ibidem.resemblance.order import order_overlaps, order_similarity
from ibidem.resemblance.shingled_texts import shingle_tokens
from ibidem.sentences import tokenise_texts
from ibidem.signatures import TypeTokens

_N_TASKS = 32

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Duplicates:
    """Pairs of duplicate documents, a < b, in increasing order, with their similarity."""

    a: NDArray[np.int32]
    b: NDArray[np.int32]
    similarity: NDArray[np.float64]
    containment_a: NDArray[np.float64]
    containment_b: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.a)


@dataclass(frozen=True)
class Comparer:
    """Decides whether pairs are duplicates: `compare` returns those that are. `sequences`: shingles in order."""

    sets: HashSets
    sequences: HashSets | None
    config: Config
    run_tasks: RunTasks

    def compare(self, a: NDArray[np.int32], b: NDArray[np.int32]) -> Duplicates:
        """Compare pairs in full."""
        settings, limit = self.config.resemblance, self.config.matches.min_similarity
        if self.sequences is not None:
            sizes = np.diff(self.sequences.first)
            scores = order_overlaps(
                self.sequences, a, b, limit, settings.filter_bits, self.config.signatures.paper, self.run_tasks
            )
            good = scores.overlaps >= 0
            return order_scores(sizes, a[good], b[good], scores.overlaps[good].astype(np.int64))
        sizes = np.diff(self.sets.first)
        limits = resemblance_limits(limit, settings.min_containment, int(sizes.max(initial=0)))
        overlaps = set_overlaps(self.sets, a, b, limits, self.run_tasks)
        good = overlaps >= 0
        return resemblances(sizes, a[good], b[good], overlaps[good])


def joined(found: Sequence[Duplicates]) -> Duplicates:
    """Return all found pairs, a < b, in increasing order, each once."""
    numbers, scores = np.empty(0, np.int32), np.empty(0)
    none = Duplicates(numbers, numbers, scores, scores, scores)
    columns = zip(*((d.a, d.b, d.similarity, d.containment_a, d.containment_b) for d in [none, *found]), strict=True)
    a, b, similarity, of_a, of_b = (np.concatenate(column) for column in columns)
    is_turned = a > b
    of_a, of_b = np.where(is_turned, of_b, of_a), np.where(is_turned, of_a, of_b)
    a, b = np.minimum(a, b), np.maximum(a, b)
    _, chosen = np.unique(a.astype(np.int64) << 32 | b, return_index=True)
    return Duplicates(a[chosen], b[chosen], similarity[chosen], of_a[chosen], of_b[chosen])


def set_overlaps(
    sets: HashSets, a: NDArray[np.int32], b: NDArray[np.int32], limits: OverlapLimits, run_tasks: RunTasks = in_turn
) -> NDArray[np.int64]:
    """Return how many shingles the documents of each pair share, or -1 if fewer than the limits require."""
    documents, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    sizes = np.diff(sets.first)[documents]
    start = starts_of(sizes)
    keys = np.empty(int(start[-1]), np.uint64)

    def fetch(task: tuple[int, int]) -> None:
        for i in range(*task):
            begin = sets.first[documents[i]]
            keys[start[i] : start[i + 1]] = sets.hashes[begin : begin + sizes[i]]
            keys[start[i] : start[i + 1]].sort()

    list(run_tasks(fetch, split_by_cost(sizes + 1, _N_TASKS)))
    overlaps = np.empty(len(a), np.int64)
    of_a, of_b = places[: len(a)], places[len(a) :]

    def count(task: tuple[int, int]) -> None:
        kernels.count_overlaps(keys, start, sizes, of_a, of_b, limits, *task, overlaps)

    list(run_tasks(count, split_by_cost(sizes[of_a] + sizes[of_b], _N_TASKS)))
    return overlaps


def resemblances(sizes: Numbers, a: NDArray[np.int32], b: NDArray[np.int32], overlap: Numbers) -> Duplicates:
    """Return the resemblance (overlap / union) and both containments of pairs."""
    return Duplicates(a, b, overlap / (sizes[a] + sizes[b] - overlap), overlap / sizes[a], overlap / sizes[b])


def order_scores(sizes: Numbers, a: NDArray[np.int32], b: NDArray[np.int32], overlap: Numbers) -> Duplicates:
    """Return SWLR's similarity, 2 overlap / (sum of sizes), of pairs whose overlap is counted in one order."""
    return Duplicates(a, b, 2 * overlap / (sizes[a] + sizes[b]), overlap / sizes[a], overlap / sizes[b])


def as_resemblance(order_similarity: Fraction) -> Fraction:
    """Return the resemblance of sets that share as much as two documents of this SWLR similarity do."""
    return order_similarity / (2 - order_similarity)


def compare_texts(text_a: str, text_b: str, shingle_size: int, hash_seed: int = 0) -> Similarity:
    """Return the similarity of two texts; a text without words is similar to none."""
    tokens, first = tokenise_texts(pa.array([text_a, text_b], pa.large_string()), hash_seed)
    shingles = shingle_tokens(TypeTokens(tokens, first), shingle_size, distinct=False)
    a, b = (shingles.hashes[shingles.first[i] : shingles.first[i + 1]] for i in (0, 1))
    if len(a) == 0 or len(b) == 0:
        return Similarity(0.0, 0.0, 0.0, 0.0)
    of_a, of_b = set(a.tolist()), set(b.tolist())
    shared = len(of_a & of_b)
    order = 2 * order_similarity(a, b) / (len(a) + len(b))
    return Similarity(shared / len(of_a | of_b), shared / len(of_a), shared / len(of_b), order)
