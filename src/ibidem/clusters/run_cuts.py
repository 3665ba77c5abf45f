"""What is removed of word runs: all of them except the places that they are compared with (see `word_runs.core`).

A piece is cut from its first word to the beginning of the next word that stays, so that words are never cut.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.clusters.cuts import decision_order
from ibidem.clusters.removals import Removals
from ibidem.columns.collection import Collection
from ibidem.config import Config
from ibidem.execution.tasks import RunTasks
from ibidem.sentences.hashed_words import hash_collection, locate_in_collection, point_of, seed_of_words
from ibidem.sentences.ignored_text import load_ignored
from ibidem.word_runs.core import WindowRule, find_runs, pieces_to_cut

Numbers = NDArray[np.int64]


def runs_to_remove(collection: Collection, rank: Numbers, config: Config, run_tasks: RunTasks) -> Removals:
    """Return what is removed of the runs of words in a collection."""
    seed = seed_of_words(config.sentences.hash_seed)
    words = hash_collection(collection, seed, run_tasks, load_ignored(config.sentences.ignore))
    order = decision_order(rank, collection.side.astype(np.bool_))
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    rule = WindowRule(config.passages.min_run_words, point_of(seed))
    n_reference = int(np.count_nonzero(collection.side))
    runs = find_runs(words, position, n_reference, rule, run_tasks)
    pieces = pieces_to_cut(runs, len(words.hashes), rule.size)
    start, end, run = pieces.T
    document = words.documents(start)
    first = words.first[document]
    matched, matched_word = runs.source_document[run], runs.source_word[run] + start - runs.start[run]

    def locate(documents: Numbers, numbers: Numbers) -> tuple[Numbers, Numbers]:
        return locate_in_collection(collection, documents, numbers, run_tasks)

    return Removals(
        document, locate(document, start - first)[0], locate(document, end - first)[0],
        matched, locate(matched, matched_word)[0], locate(matched, matched_word + end - start - 1)[1],
        np.zeros(len(start), np.int64), are_all_cut(document, end - start, np.diff(words.first)[document]),
        np.full(len(start), np.nan),
    )  # fmt: skip


def are_all_cut(document: Numbers, n_words: Numbers, n_words_of_document: Numbers) -> NDArray[np.bool_]:
    """Return for each piece whether the pieces of its document have all of its words."""
    if len(document) == 0:
        return np.empty(0, np.bool_)
    _, which = np.unique(document, return_inverse=True)
    is_all: NDArray[np.bool_] = np.bincount(which, n_words)[which] == n_words_of_document
    return is_all
