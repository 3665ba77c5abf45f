"""The kernels that only kernels call, behind small ones that tests can call, and arrays for them."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.alignment import aligner
from ibidem.alignment.aligner import N_MODELS, all_weights, chance_level, logarithms, model_lanes, most_falls, rarity_levels
from ibidem.alignment.kernels.ends import extend_passages
from ibidem.alignment.kernels.grades import grade_against
from ibidem.alignment.kernels.pairs import find_seeds, number_octets, number_text
from ibidem.alignment.kernels.room import TASK, Limits, Room, Text, make_room
from ibidem.alignment.kernels.seeds import next_cluster, put_task
from ibidem.alignment.kernels.stretches import best_stretch, best_stretches
from ibidem.execution.compiler import outer_kernel
from ibidem.sentences.kernels.stems import SENTENCE_BOUND, WITHIN_CLAUSE

Words = Sequence[int]


@outer_kernel
def _text_of(stems, bounds, in_document, spans, room, unseen):
    for side in range(2):
        room.starts[side], room.ends[side] = spans[2 * side], spans[2 * side + 1]
    n_a_words = room.ends[0] - room.starts[0]
    n_words = n_a_words + room.ends[1] - room.starts[1]
    text = Text(room.words, room.pairs, room.runs, room.bounds, n_a_words, n_words)
    room.stamp[0] += 1
    number_text(stems, bounds, in_document, room.starts, room.ends, n_words, text, room, room.stamp[0], unseen)
    number_octets(text, room)
    return text


@outer_kernel
def _seeds_of(stems, bounds, in_document, spans, room, limits):
    text = _text_of(stems, bounds, in_document, spans, room, limits.unseen)
    return find_seeds(text, room, limits)


@outer_kernel
def _grade(stems, bounds, in_document, spans, other_start, other_end, low, high, room, limits):
    text = _text_of(stems, bounds, in_document, spans, room, limits.unseen)
    grade_against(text, other_start, other_end, low, high, room, limits)


@outer_kernel
def _extend(stems, bounds, in_document, spans, place, room, limits):
    text = _text_of(stems, bounds, in_document, spans, room, limits.unseen)
    for k in range(5):
        room.passages[k] = place[k]
    room.evidence[0] = room.evidence[1] = 1.0
    extend_passages(text, room, limits, 1)


@outer_kernel
def best_stretch_of(grades, bounds, low, high, core_start, core_end, weights, model, end_costs, most_fall, found):
    return best_stretch(grades, bounds, low, high, core_start, core_end, weights, model, end_costs, most_fall, found)


@outer_kernel
def best_stretches_of(grading, bounds, low, high, core_start, core_end, limits, found):
    best_stretches(grading, bounds, low, high, core_start, core_end, limits, found)


@outer_kernel
def _clusters_of(seeds, n_seeds, gap, tasks, span, spans):
    n, height = 0, put_task(tasks, 0, 0, n_seeds, 0, 0, gap)
    while True:
        height = next_cluster(seeds, tasks, height, span)
        if height < 0:
            return n
        spans[2 * n], spans[2 * n + 1] = span[0], span[1]
        n += 1


@dataclass
class Pair:
    """Two texts of a small collection, given as words and where sentences start, and the room they are worked on in."""

    a: Words
    b: Words
    bounds_a: Sequence[bool]
    bounds_b: Sequence[bool]
    room: Room | None = None

    def __post_init__(self) -> None:
        if self.room is None:
            self.room = make_room(len(self.a), len(self.a) + len(self.b), N_MODELS)
        # Something is before, between and after them, as in a collection.
        self.stems = np.array([7, *self.a, 8, 9, *self.b, 7], np.uint32)
        bounds = [True, *self.bounds_a, False, True, *self.bounds_b, False, True]
        self.bounds = np.where(bounds, SENTENCE_BOUND, WITHIN_CLAUSE).astype(np.uint8)
        counts = [Counter(self.a), Counter(self.b)]
        in_document = [0, *(counts[0][word] for word in self.a), 0, 0, *(counts[1][word] for word in self.b), 0]
        self.in_document = np.array(in_document, np.uint16)
        self.spans = np.array([1, 1 + len(self.a), 3 + len(self.a), 3 + len(self.a) + len(self.b)], np.int64)

    def number(self) -> Room:
        """Number the words and runs of the texts."""
        assert self.room is not None
        _text_of(self.stems, self.bounds, self.in_document, self.spans, self.room, limits_of().unseen)
        return self.room

    def seeds(self, limits: Limits) -> tuple[list[tuple[int, int]], list[int]]:
        """Return the seeds in their order, and where the sentences of both texts begin, with the ends."""
        assert self.room is not None
        n, n_a = _seeds_of(self.stems, self.bounds, self.in_document, self.spans, self.room, limits)
        seeds = self.room.seeds[: 2 * n].reshape(-1, 2).tolist()
        firsts = self.room.firsts.tolist()
        n_sentences = firsts.index(len(self.a) + len(self.b), n_a)
        return [(a, b) for a, b in seeds], firsts[: n_sentences + 1]

    def grade(self, other: tuple[int, int], low: int, high: int, limits: Limits) -> tuple[list[int], list[int]]:
        """Return the grades of words [low, high) against a stretch of the other text, and those of words in place."""
        assert self.room is not None
        _grade(self.stems, self.bounds, self.in_document, self.spans, *other, low, high, self.room, limits)
        grading = self.room.grading
        return grading.grades[low:high].tolist(), grading.in_place[low:high].tolist()

    def extend(self, place: Sequence[int], model: int, limits: Limits) -> tuple[int, ...]:
        """Return a passage, found under a model, extended by the sentences beside it."""
        assert self.room is not None
        passage = np.array([*place, model], np.int64)
        _extend(self.stems, self.bounds, self.in_document, self.spans, passage, self.room, limits)
        return tuple(self.room.passages[:4].tolist())


def limits_of(**changed: Any) -> Limits:
    """Return the limits that are used by default, with changes."""
    limits = Limits(
        min_evidence=25.0, min_words=25, least_core_words=12.5, max_gap_sentences=4, summaries=True,
        least_cosine=aligner.LEAST_COSINE, least_dice=aligner.LEAST_DICE, least_share=aligner.LEAST_SHARE,
        unseen=aligner.UNSEEN_WORDS,
        highest_chance_level=chance_level(aligner.LEAST_CHANCE), levels=rarity_levels(),
        logarithms=logarithms(), end_costs=np.array(aligner.END_COSTS), min_summary_evidence=aligner.SUMMARY_EVIDENCE,
        min_extension_evidence=aligner.EXTENSION_EVIDENCE,
        beside_verbatim=aligner.BESIDE_VERBATIM, n_models=N_MODELS, most_falls=most_falls(), weights=all_weights(),
        lanes=model_lanes()[0], noisy_lanes=model_lanes()[1],
    )  # fmt: skip
    return limits._replace(**changed)


def clusters_of(seeds: Sequence[tuple[int, int]], gap: int) -> list[list[tuple[int, int]]]:
    """Return the clusters of seeds, in the order in which they come."""
    flat = np.array(seeds, np.int64).reshape(-1)
    tasks, span = np.empty(TASK * (len(seeds) + 2), np.int64), np.empty(3, np.int64)
    spans = np.empty(2 * len(seeds) + 2, np.int64)
    n = _clusters_of(flat, len(seeds), gap, tasks, span, spans)
    rows = [(a, b) for a, b in flat.reshape(-1, 2).tolist()]
    return [rows[start:end] for start, end in spans[: 2 * n].reshape(-1, 2).tolist()]


def as_array(values: Sequence[Any], kind: Any) -> NDArray[Any]:
    """Return values as an array of a kind."""
    return np.array(values, kind)
