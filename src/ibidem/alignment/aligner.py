"""From pairs of texts to aligned passages: how copied words are expected to look, and the calls of the kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.alignment.kernels import pairs as kernels
from ibidem.alignment.kernels.ends import cover_last
from ibidem.alignment.kernels.grades import (
    IN_ORDER,
    LEVELS_PER_UNIT,
    LOWEST_EXPECTED,
    N_EXPECTED,
    N_GRADES,
    N_LEVELS,
    NOT_THERE,
    STEPS_PER_UNIT,
)
from ibidem.alignment.kernels.room import Limits, NumberTable, Room, make_room
from ibidem.columns.kernels.lanes import N_LANES
from ibidem.config import AlignmentConfig
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost

# Chosen by hand; benchmarks/alignment.py --tune looks for better ones on half of a collection with known passages.
LEAST_COSINE = 0.2
LEAST_DICE = 0.15
LEAST_SHARE = 0.7
UNSEEN_WORDS = 0.2  # how often a word is expected elsewhere that is only in the copy and its source
LEAST_CHANCE = 0.05  # that a word follows its neighbour without having been copied
# Evidence that it takes to begin or end where no space is, within a clause, at a capital, colon or semicolon, at a full stop,
# and at a sentence.
END_COSTS = (14.0, 10.0, 6.0, 2.0, 0.0)
SUMMARY_EVIDENCE = 25.0
EXTENSION_EVIDENCE = 8.0
LEAST_CORE = 0.5  # of the words that a passage needs: smaller clusters of seeds are not looked at
BESIDE_VERBATIM = 4.0  # times the evidence that edited passages need where others of the pair are word for word
# From word for word to loose: the shares of words that were taken over in order, and loosely.
MODELS: tuple[tuple[float, float], ...] = (
    (0.97, 0.004),
    (0.9, 0.03),
    (0.75, 0.1),
    (0.5, 0.2),
    (0.3, 0.3),
    (0.1, 0.4),
    (0.05, 0.25),
)
NOISY_MODEL = (0.4, 0.01)  # most words are misread; the others are in place
NOISY_WEIGHT = 0.5  # of its evidence: under this model, missing words say least against a copy
MOST_FALL, NOISY_FALL = 40.0, 8.0  # of the evidence within a passage
SUMMARY_MODEL = (0.2, 0.5)  # a summary takes words, but seldom their order
MOST_EVIDENCE = 8.0  # of one word
N_MODELS = len(MODELS) + 1

_N_TASKS = 64
_N_LOGARITHMS = 256  # kept in a table
FIRST_ROWS = 64  # initial room for passages, besides two per pair; it doubles when full


@dataclass(frozen=True)
class Words:
    """All words in reading order: hashes of stems, and how strongly the text is divided before each, and at the end.

    Document d has the words [document_first[d], document_first[d + 1]), sentence s those of `sentence_first` likewise.
    """

    stem: NDArray[np.uint32]
    bounds: NDArray[np.uint8]
    document_first: NDArray[np.int64]
    sentence_first: NDArray[np.int64]

    @cached_property
    def in_document(self) -> NDArray[np.uint16]:
        """How often each word is in its document."""
        n_most = int(np.diff(self.document_first).max(initial=0))
        n_slots = 1 << max(4, (2 * n_most + 1).bit_length())
        table = NumberTable(np.zeros(n_slots, np.uint64), np.zeros(n_slots, np.int64), np.zeros(n_slots, np.int32))
        counts = np.empty(len(self.stem), np.uint16)
        kernels.count_in_documents(
            self.stem, self.document_first, table, np.empty(n_most, np.int32), np.empty(n_most, np.int32), counts
        )
        return counts


@dataclass(frozen=True)
class Aligned:
    """Aligned passages in the order of their pairs, then of their places in a.

    A row of `table` has the columns named by OUTCOME in the kernels: pair, start and end in a, start and end in b (words of the
    collection), words in common.
    """

    table: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.table)

    @property
    def spans(self) -> NDArray[np.int64]:
        """Start and end in a, start and end in b, one row per passage."""
        return self.table[:, 1:5]

    @property
    def n_common(self) -> NDArray[np.int64]:
        """Words in common, per passage."""
        return self.table[:, 5]


def align_spans(
    words: Words, spans: NDArray[np.int64], config: AlignmentConfig, max_gap_sentences: int, run_tasks: RunTasks = in_turn
) -> Aligned:
    """Align pairs of spans of words, given as rows of start and end in a, start and end in b. Pairs do not influence one
    another.

    It does not matter which text is a: the kernels get the shorter one first.
    """
    is_turned = np.empty(len(spans), np.bool_)
    kernels.mark_turned(words.stem, np.ascontiguousarray(spans, np.int64).reshape(-1), is_turned)
    spans = np.where(is_turned[:, None], spans[:, [2, 3, 0, 1]], spans)
    limits, columns = _limits(config, max_gap_sentences), _columns(words, spans)

    def align(task: tuple[int, int]) -> NDArray[np.int64]:
        room = _room_for(spans[slice(*task)])
        most = 2 * (task[1] - task[0]) + FIRST_ROWS
        tables = []
        pair = task[0]
        while pair < task[1]:
            table = np.empty(kernels.OUTCOME * most, np.int64)
            before = pair
            pair, n = kernels.align_pairs(*columns, pair, task[1], room, limits, table)
            tables.append(table[: kernels.OUTCOME * n].reshape(-1, kernels.OUTCOME))
            most *= 2 if pair == before else 1
        return np.concatenate(tables)

    aligned = run_tasks(align, _tasks(spans))
    table = np.concatenate([np.empty((0, kernels.OUTCOME), np.int64), *aligned])
    rows = is_turned[table[:, 0]]
    table[rows] = table[rows][:, [0, 3, 4, 1, 2, 5]]
    table[:, 1:5], n_more = covering_last(table[:, 1:5], words)
    table[:, 5] += n_more
    order = np.lexsort((table[:, 3], table[:, 1], table[:, 0]))
    return Aligned(table[order])


def may_have_passages(
    words: Words, spans: NDArray[np.int64], config: AlignmentConfig, max_gap_sentences: int, run_tasks: RunTasks = in_turn
) -> NDArray[np.bool_]:
    """Return in which pairs of spans of words there is so much evidence that aligning them, and what is around them, may lead
    to a passage.

    This costs a small part of an alignment.
    """
    return _promising(words, spans, config, max_gap_sentences, run_tasks, for_summaries=False)


def may_have_summaries(
    words: Words, spans: NDArray[np.int64], config: AlignmentConfig, max_gap_sentences: int, run_tasks: RunTasks = in_turn
) -> NDArray[np.bool_]:
    """Return in which pairs of spans of words a part of one text may sum up the other: it has words from all over it.

    This costs a small part of an alignment.
    """
    return _promising(words, spans, config, max_gap_sentences, run_tasks, for_summaries=True)


def _promising(
    words: Words, spans: NDArray[np.int64], config: AlignmentConfig, max_gap_sentences: int, run_tasks: RunTasks,
    for_summaries: bool,
) -> NDArray[np.bool_]:  # fmt: skip
    limits, columns = _limits(config, max_gap_sentences), _columns(words, spans)

    def mark(task: tuple[int, int]) -> NDArray[np.bool_]:
        is_marked = np.empty(task[1] - task[0], np.bool_)
        kernels.mark_promising(*columns, *task, _room_for(spans[slice(*task)]), limits, for_summaries, is_marked)
        return is_marked

    return np.concatenate([np.empty(0, np.bool_), *run_tasks(mark, _tasks(spans))])


def _tasks(spans: NDArray[np.int64]) -> Sequence[tuple[int, int]]:
    return split_by_cost(spans[:, 1] - spans[:, 0] + spans[:, 3] - spans[:, 2], _N_TASKS)


def _room_for(spans: NDArray[np.int64]) -> Room:
    n_a, n_b = spans[:, 1] - spans[:, 0], spans[:, 3] - spans[:, 2]
    return make_room(int(n_a.max()), int((n_a + n_b).max()), N_MODELS)


def _columns(words: Words, spans: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
    """Return what the kernels read of pairs of spans: words, spans, and how many words their documents have."""
    # Nothing is aligned with a document without words, so it does not matter which one is taken for it.
    documents = np.searchsorted(words.document_first[1:-1], spans[:, [0, 2]], side="right")
    n_in_documents = np.diff(words.document_first)[documents].reshape(-1)
    flat = np.ascontiguousarray(spans, np.int64).reshape(-1)
    return words.stem, words.bounds, words.in_document, flat, n_in_documents


def _limits(config: AlignmentConfig, max_gap_sentences: int) -> Limits:
    lanes, noisy_lanes = model_lanes()
    return Limits(
        min_evidence=config.min_evidence,
        min_words=config.min_aligned_words,
        least_core_words=LEAST_CORE * config.min_aligned_words,
        max_gap_sentences=max_gap_sentences,
        summaries=config.summaries,
        least_cosine=LEAST_COSINE,
        least_dice=LEAST_DICE,
        least_share=LEAST_SHARE,
        unseen=UNSEEN_WORDS,
        highest_chance_level=chance_level(LEAST_CHANCE),
        levels=rarity_levels(),
        logarithms=logarithms(),
        end_costs=np.array(END_COSTS),
        min_summary_evidence=SUMMARY_EVIDENCE,
        min_extension_evidence=EXTENSION_EVIDENCE,
        beside_verbatim=BESIDE_VERBATIM,
        n_models=N_MODELS,
        most_falls=most_falls(),
        weights=all_weights(),
        lanes=lanes,
        noisy_lanes=noisy_lanes,
    )


def covering_last(spans: NDArray[np.int64], words: Words) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return passages that end behind the last character in common, in scripts without spaces; and how many words that adds."""
    spans, n_more = np.array(spans, np.int64, order="C"), np.zeros(len(spans), np.int64)
    cover_last(spans.reshape(-1), words.stem, words.bounds, n_more)
    return spans, n_more


def word_weights(models: tuple[tuple[float, float], ...] = MODELS) -> NDArray[np.float64]:
    """Return the evidence of a word per model and grade, flat."""
    rarest = np.exp((np.arange(N_LEVELS) + 0.5) / LEVELS_PER_UNIT)  # one over the chance, at the middle of each level
    weights = np.empty((len(models), N_GRADES))
    for model, (in_order, loose) in enumerate(models):
        new = 1.0 - in_order - loose
        weights[model, :N_LEVELS] = np.log(new + loose * rarest)
        weights[model, IN_ORDER:NOT_THERE] = np.log(new + in_order * rarest)
        weights[model, NOT_THERE] = np.log(new)
    return np.minimum(weights, MOST_EVIDENCE).reshape(-1)


def all_weights() -> NDArray[np.float64]:
    """Return the weights of the models, that for noise last; of summaries; and the most that any of the models gives, flat."""
    weights = np.concatenate([word_weights(), NOISY_WEIGHT * word_weights((NOISY_MODEL,))])
    return np.concatenate([weights, word_weights((SUMMARY_MODEL,)), weights.reshape(N_MODELS, N_GRADES).max(axis=0)])


def model_lanes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights per grade and model, one model a lane, flat: those by grades, and by grades in place for noise."""
    weights = np.zeros((N_GRADES, N_LANES))
    weights[:, :N_MODELS] = all_weights().reshape(-1, N_GRADES)[:N_MODELS].T
    is_noisy = np.arange(N_LANES) == N_MODELS - 1
    return np.where(is_noisy, 0.0, weights).reshape(-1), np.where(is_noisy, weights, 0.0).reshape(-1)


def most_falls() -> NDArray[np.float64]:
    """Return by how much the evidence within a passage may fall, per model."""
    return np.array([MOST_FALL] * len(MODELS) + [NOISY_FALL])


def logarithms() -> NDArray[np.float64]:
    """Return the logarithms of small numbers; that of 0 is not used."""
    return np.array([0.0, *(math.log(number) for number in range(1, _N_LOGARITHMS))])


def rarity_levels() -> NDArray[np.int8]:
    """Return the level of a word by its expected number in a stretch: four times the logarithm of one over its chance."""
    expected = np.exp(LOWEST_EXPECTED + (np.arange(N_EXPECTED) + 0.5) / STEPS_PER_UNIT)
    rarity = -np.log(-np.expm1(-expected))
    levels: NDArray[np.int8] = np.minimum(rarity * LEVELS_PER_UNIT, N_LEVELS - 1).astype(np.int8)
    return levels


def chance_level(least_chance: float) -> int:
    """Return the highest level that a word gets for following its neighbour."""
    return int(-np.log(least_chance) * LEVELS_PER_UNIT)
