"""The kernels that only kernels call, behind small ones that tests can call, and arrays for them."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.alignment import aligner
from ibidem.alignment.aligner import MODELS, SUMMARY_MODEL, chance_level, rarity_levels, word_weights
from ibidem.alignment.kernels.evidence import best_stretch, grade_against
from ibidem.alignment.kernels.pairs import find_seeds, number_text
from ibidem.alignment.kernels.room import TASK, Limits, Room, Text, make_room
from ibidem.alignment.kernels.seeds import next_cluster, put_task
from ibidem.execution.compiler import outer_kernel

Words = Sequence[int]


@outer_kernel
def _text_of(stems, is_start, spans, room, unseen):
    for side in range(2):
        room.starts[side], room.ends[side] = spans[2 * side], spans[2 * side + 1]
    n_a_words = room.ends[0] - room.starts[0]
    n_words = n_a_words + room.ends[1] - room.starts[1]
    text = Text(room.words, room.pairs, room.runs, room.is_bound, n_a_words, n_words)
    room.stamp[0] += 1
    number_text(stems, is_start, room.starts, room.ends, text, room, room.stamp[0], unseen)
    return text


@outer_kernel
def _seeds_of(stems, is_start, spans, room, limits):
    text = _text_of(stems, is_start, spans, room, limits.unseen)
    return find_seeds(text, room, limits)


@outer_kernel
def _grade(stems, is_start, spans, other_start, other_end, low, high, room, limits):
    text = _text_of(stems, is_start, spans, room, limits.unseen)
    grade_against(text, other_start, other_end, low, high, room, limits)


@outer_kernel
def best_stretch_of(grades, is_bound, low, high, core_start, core_end, weights, model, within, found):
    return best_stretch(grades, is_bound, low, high, core_start, core_end, weights, model, within, found)


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
            self.room = make_room(len(self.a), len(self.a) + len(self.b), len(MODELS))
        # Something is before, between and after them, as in a collection.
        self.stems = np.array([7, *self.a, 8, 9, *self.b, 7], np.uint32)
        self.is_start = np.array([True, *self.bounds_a, False, True, *self.bounds_b, False, True], np.bool_)
        self.spans = np.array([1, 1 + len(self.a), 3 + len(self.a), 3 + len(self.a) + len(self.b)], np.int64)

    def number(self) -> Room:
        """Number the words and runs of the texts."""
        assert self.room is not None
        _text_of(self.stems, self.is_start, self.spans, self.room, limits_of().unseen)
        return self.room

    def seeds(self, limits: Limits) -> tuple[list[tuple[int, int]], list[int]]:
        """Return the seeds in their order, and where the sentences of both texts begin, with the ends."""
        assert self.room is not None
        n, n_a = _seeds_of(self.stems, self.is_start, self.spans, self.room, limits)
        seeds = self.room.seeds[: 2 * n].reshape(-1, 2).tolist()
        firsts = self.room.firsts.tolist()
        n_sentences = firsts.index(len(self.a) + len(self.b), n_a)
        return [(a, b) for a, b in seeds], firsts[: n_sentences + 1]

    def grade(self, other: tuple[int, int], low: int, high: int, limits: Limits) -> list[int]:
        """Return the grades of words [low, high) against a stretch of the other text."""
        assert self.room is not None
        _grade(self.stems, self.is_start, self.spans, *other, low, high, self.room, limits)
        grades: list[int] = self.room.grading.grades[low:high].tolist()
        return grades


def limits_of(**changed: Any) -> Limits:
    """Return the limits that are used by default, with changes."""
    weights = word_weights((*MODELS, SUMMARY_MODEL))
    limits = Limits(
        min_evidence=25.0, min_words=25, max_gap_sentences=4, summaries=True, least_cosine=aligner.LEAST_COSINE,
        least_dice=aligner.LEAST_DICE, least_share=aligner.LEAST_SHARE, unseen=aligner.UNSEEN_WORDS,
        highest_chance_level=chance_level(aligner.LEAST_CHANCE), levels=rarity_levels(),
        within_sentence=aligner.WITHIN_SENTENCE, min_summary_evidence=aligner.SUMMARY_EVIDENCE,
        beside_verbatim=aligner.BESIDE_VERBATIM, n_models=len(MODELS), weights=weights,
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
