"""Pairs of texts in, aligned passages out: the kernels behind arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.alignment.kernels import pairs as kernels
from ibidem.alignment.kernels.equal_words import mark_turned
from ibidem.alignment.models import MODELS, SUMMARY_MODEL, chance_level, rarity_levels, word_weights
from ibidem.alignment.room import Limits, make_room
from ibidem.alignment.words import Words
from ibidem.config import AlignmentConfig
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost

# Chosen by hand; benchmarks/alignment.py --tune looks for better ones on half of a collection with known passages.
LEAST_COSINE = 0.2
LEAST_DICE = 0.15
LEAST_SHARE = 0.7
UNSEEN_WORDS = 0.2  # how often a word is expected elsewhere that stands in the copy and in its source only
LEAST_CHANCE = 0.05  # that a word follows its neighbour without having been copied
WITHIN_SENTENCE = 5.0  # evidence that it takes to begin or end within a sentence
SUMMARY_EVIDENCE = 25.0
BESIDE_VERBATIM = 4.0  # times the evidence that edited passages need where others of the pair are word for word
_N_TASKS = 64
FIRST_ROWS = 64  # room for passages at first, besides two a pair; it doubles when it is full


@dataclass(frozen=True)
class Aligned:
    """Aligned passages in the order of their pairs, then of their places in a.

    A row of `table` has the columns named by OUTCOME in the kernels: pair, start and end in a, start and end in b (words of the
    collection), words in common.
    """

    table: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.table)


def align_spans(
    words: Words, spans: NDArray[np.int64], config: AlignmentConfig, max_gap_sentences: int, run_tasks: RunTasks = in_turn
) -> Aligned:
    """Align pairs of spans of words, given as rows of start and end in a, start and end in b. A pair depends on no other.

    Which of the two is called a makes no difference: the kernels get the shorter one first.
    """
    is_turned = np.empty(len(spans), np.bool_)
    mark_turned(words.stem, np.ascontiguousarray(spans, np.int64).reshape(-1), is_turned)
    spans = np.where(is_turned[:, None], spans[:, [2, 3, 0, 1]], spans)
    limits = Limits(
        min_evidence=config.min_evidence,
        min_words=config.min_aligned_words,
        max_gap_sentences=max_gap_sentences,
        summaries=config.summaries,
        least_cosine=LEAST_COSINE,
        least_dice=LEAST_DICE,
        least_share=LEAST_SHARE,
        unseen=UNSEEN_WORDS,
        highest_chance_level=chance_level(LEAST_CHANCE),
        levels=rarity_levels(),
        within_sentence=WITHIN_SENTENCE,
        min_summary_evidence=SUMMARY_EVIDENCE,
        beside_verbatim=BESIDE_VERBATIM,
        n_models=len(MODELS),
        weights=word_weights((*MODELS, SUMMARY_MODEL)),
    )
    n_words = spans[:, 1] - spans[:, 0], spans[:, 3] - spans[:, 2]
    flat = np.ascontiguousarray(spans, np.int64).reshape(-1)

    def align(task: tuple[int, int]) -> NDArray[np.int64]:
        chosen = slice(*task)
        n_a, n_both = int(n_words[0][chosen].max()), int((n_words[0] + n_words[1])[chosen].max())
        room = make_room(n_a, n_both, limits.n_models)
        most = 2 * (task[1] - task[0]) + FIRST_ROWS
        tables = []
        pair = task[0]
        while pair < task[1]:
            table = np.empty(kernels.OUTCOME * most, np.int64)
            before = pair
            pair, n = kernels.align_pairs(words.stem, words.is_start, flat, pair, task[1], room, limits, table)
            tables.append(table[: kernels.OUTCOME * n].reshape(-1, kernels.OUTCOME))
            most *= 2 if pair == before else 1
        return np.concatenate(tables)

    aligned = run_tasks(align, split_by_cost(n_words[0] + n_words[1], _N_TASKS))
    table = np.concatenate([np.empty((0, kernels.OUTCOME), np.int64), *aligned])
    rows = is_turned[table[:, 0]]
    table[rows] = table[rows][:, [0, 3, 4, 1, 2, 5]]
    order = np.lexsort((table[:, 3], table[:, 1], table[:, 0]))
    return Aligned(table[order])
