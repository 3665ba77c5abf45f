"""The gram join: every maximal run of equal classes in two documents, without comparing documents.

A run of at least γ sentences shares a γ-window, so equal windows are paired, left-maximal ones only, and extended.
Shorter runs are found through their long sentences, and short documents through their whole text.
What stands in very many places is not paired: it comes out as groups of places.
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
from ibidem.passages.flags import HOT_SENTENCE, HOT_TEXT, HOT_WINDOW, REPEATED_WINDOW
from ibidem.passages.kernels import windows as kernels
from ibidem.passages.kernels.pairs import SENTENCES, TEXTS, WINDOWS, pair_rows
from ibidem.passages.repeats import Repeat, link_windows

_N_TASKS = 64


def find_diagonals(
    rows: Rows,
    config: PassagesConfig,
    pairing: Pairing,
    run_tasks: RunTasks = in_turn,
    known_hot: NDArray[np.uint8] | None = None,
) -> tuple[NDArray[np.int32], list[Repeat]]:
    """Return the diagonals (row in a, row in b, length), in no particular order, and the groups of places too many to pair.

    Promised: each maximal run of at least `min_sentences` equal classes that holds a window of at most `max_places` places;
    each shorter run that holds a sentence of `min_quote_words` words with at most `max_places` places; and each pair of
    shorter documents that are alike from end to end, unless their text has more than `max_places` places (no shorter ones
    if `min_quote_words` is 0). Each one once. `known_hot` are flags by row: which windows, sentences and texts that start
    there have too many places elsewhere, and lead to no pairs either.
    """
    size, max_places, min_words = config.min_sentences, min(config.max_places, len(rows.classes)), config.min_quote_words
    shorter = size > 1 and min_words > 0

    def group(kind: str) -> Postings:
        keys = np.empty(len(rows.classes), np.uint64)
        if kind == "windows":
            kernels.window_keys(rows.classes, rows.document, size, keys)
        elif kind == "sentences":
            kernels.sentence_keys(rows.classes, rows.n_words, min_words, keys)
        else:
            kernels.whole_text_keys(rows.classes, rows.document_first, size, keys)
        return postings_of(keys)

    windows, *others = run_tasks(group, ("windows", "sentences", "texts") if shorter else ("windows",))
    flags = np.zeros(len(rows.classes), np.uint8)
    if known_hot is not None:
        flags |= known_hot
        windows, *others = (
            _without_hot(group, flags & bit != 0)
            for group, bit in zip([windows, *others], (HOT_WINDOW, HOT_SENTENCE, HOT_TEXT), strict=False)
        )
    kernels.mark_rows(windows.rows, windows.first, 2, flags, REPEATED_WINDOW)
    kernels.mark_rows(windows.rows, windows.first, max_places + 1, flags, HOT_WINDOW)

    def pair(kind: int, postings: Postings) -> Iterable[NDArray[np.int32]]:
        def pair_part(part: tuple[int, int]) -> NDArray[np.int32]:
            return pair_rows(  # type: ignore[no-any-return]
                kind, postings.rows, postings.first, *part, max_places, size, flags, rows.n_words, min_words,
                rows.classes, rows.document, rows.document_first,
                pairing.same_document, pairing.side, pairing.group_numbers, pairing.leads,
            )  # fmt: skip

        return run_tasks(pair_part, split_by_cost(postings.costs(max_places), _N_TASKS))

    found = list(pair(WINDOWS, windows))
    repeats = link_windows(windows.rows, windows.first, max_places, size, rows.document)
    if not shorter:
        return _joined(found), repeats

    sentences, texts = others
    kernels.mark_rows(sentences.rows, sentences.first, max_places + 1, flags, HOT_SENTENCE)
    found.extend(pair(SENTENCES, sentences))
    found.extend(pair(TEXTS, texts))
    covered = np.empty(len(flags), np.bool_)
    kernels.cover_windows(flags, size, REPEATED_WINDOW, covered)
    repeats += _hot_groups(sentences, max_places, rows, 1, ~covered)
    repeats += _hot_groups(texts, max_places, rows, 0, (flags & HOT_SENTENCE) == 0)
    return _joined(found), repeats


def hot_flags(is_hot: NDArray[np.bool_], size: int, rows: Rows) -> NDArray[np.uint8]:
    """Return the flags of windows, sentences and texts that are hot from end to end, given which rows are."""
    n_hot = starts_of(is_hot)
    starts = np.arange(len(is_hot))
    flags = np.zeros(len(is_hot), np.uint8)
    ends_by_bit = {
        HOT_WINDOW: np.minimum(starts + size, len(is_hot)),
        HOT_SENTENCE: starts + 1,
        HOT_TEXT: rows.document_first[rows.document + 1],
    }
    for bit, ends in ends_by_bit.items():
        flags[n_hot[ends] - n_hot[starts] == ends - starts] |= bit
    return flags


def _without_hot(group: Postings, is_hot: NDArray[np.bool_]) -> Postings:
    """Drop the groups that are hot; rows of a group are alike."""
    keep = ~is_hot[group.rows[group.first[:-1]]]
    first = starts_of(np.diff(group.first)[keep])
    return Postings(group.rows[np.repeat(keep, np.diff(group.first))], first)


def _joined(found: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    return (np.concatenate(found) if found else np.empty(0, np.int32)).reshape(-1, 3)


def _hot_groups(groups: Postings, max_places: int, rows: Rows, length: int, keep: NDArray[np.bool_]) -> list[Repeat]:
    """Return the groups of more than `max_places` rows of which any is to be kept; `length` 0 means the whole document."""
    hot: list[Repeat] = []
    for group in np.flatnonzero(np.diff(groups.first) > max_places):
        starts = groups.rows[groups.first[group] : groups.first[group + 1]]
        if keep[starts].any():
            d = int(rows.document[starts[0]])
            hot.append(Repeat(starts, length or int(rows.document_first[d + 1] - rows.document_first[d])))
    return hot
