"""The gram join: every maximal run of equal classes in two documents, without comparing documents.

A run of at least γ sentences shares a γ-window, so equal windows are paired, left-maximal ones only, and extended. Shorter runs
are found through their long sentences, and short documents through their whole text. Text in very many places is not paired:
its places are flagged, and `repeats` lists them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.postings import Postings, postings_of
from ibidem.columns.ragged import starts_of
from ibidem.columns.rows import Pairing, Rows
from ibidem.config import PassagesConfig
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.passages.grams import gram_keys, kinds_of_grams
from ibidem.passages.kernels.pairs import GramLimits, pair_rows
from ibidem.passages.kernels.windows import HOT_WINDOW, REPEATED_WINDOW, mark_rows

_N_TASKS = 64


def find_diagonals(
    rows: Rows,
    config: PassagesConfig,
    pairing: Pairing,
    run_tasks: RunTasks = in_turn,
    known_hot: NDArray[np.uint8] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Return the diagonals (row in a, row in b, length), in no particular order, and the flags of rows.

    Guaranteed, each once: every maximal run of at least `min_sentences` equal classes with a window of at most `max_places`
    places; every shorter run with a sentence of `min_quote_words` words with at most `max_places` places; and every pair of
    shorter documents that are the same from end to end, unless their text has more than `max_places` places (no shorter ones if
    `min_quote_words` is 0). `known_hot` are flags per row: which windows, sentences and texts that start there have too many
    places elsewhere, and lead to no pairs either.
    """
    max_places = min(config.max_places, len(rows.classes))
    limits = GramLimits(max_places, config.min_sentences, config.min_quote_words)
    kinds = kinds_of_grams(config)

    def group(kind: int) -> Postings:
        return postings_of(gram_keys(kind, rows, config))

    postings = dict(zip(kinds, run_tasks(group, kinds), strict=True))
    flags = np.zeros(len(rows.classes), np.uint8)
    if known_hot is not None:
        flags |= known_hot
        postings = {kind: _without_hot(groups, flags & kind != 0) for kind, groups in postings.items()}
    mark_rows(postings[HOT_WINDOW].rows, postings[HOT_WINDOW].first, 2, flags, REPEATED_WINDOW)
    for kind, groups in postings.items():
        mark_rows(groups.rows, groups.first, max_places + 1, flags, kind)

    def pair(kind: int, groups: Postings) -> Iterable[NDArray[np.int32]]:
        def pair_some(task: tuple[int, int]) -> NDArray[np.int32]:
            return pair_rows(  # type: ignore[no-any-return]
                kind, groups.rows, groups.first, *task, limits, flags, rows.columns, pairing.columns
            )

        return run_tasks(pair_some, split_by_cost(groups.costs(max_places), _N_TASKS))

    found = [np.empty(0, np.int32)]
    for kind in kinds:
        found.extend(pair(kind, postings.pop(kind)))
    return np.concatenate(found).reshape(-1, 3), flags


def _without_hot(group: Postings, is_hot: NDArray[np.bool_]) -> Postings:
    """Drop the groups that are hot; rows of a group are alike."""
    keep = ~is_hot[group.rows[group.first[:-1]]]
    first = starts_of(np.diff(group.first)[keep])
    return Postings(group.rows[np.repeat(keep, np.diff(group.first))], first)
