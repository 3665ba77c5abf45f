"""Passages of documents that meet, and their repeats: the only place where they are found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.ragged import starts_of
from ibidem.columns.rows import Pairing, Rows, pairing
from ibidem.config import Config, PassagesConfig
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.matches import Cells
from ibidem.passages.chains import PassageRows, assemble_passages, split_diagonals
from ibidem.passages.diagonals import find_diagonals
from ibidem.passages.repeats import Repeats, find_repeats


@dataclass(frozen=True)
class Meeting:
    """Documents that meet: a whole collection, the excerpts of one bucket, or what an index found for new documents.

    If documents are missing, their rows do not show which text occurs too often. `hot` are flags per row (see
    `kernels/windows.py`) of what leads to no pairs; its repeats are found elsewhere. `is_cold` says for the rows of the first
    documents which sentences have few enough places: passages must contain one.
    """

    collection: Collection
    rows: Rows
    cells: Cells | None
    pairing: Pairing
    hot: NDArray[np.uint8] | None = None
    is_cold: NDArray[np.bool_] | None = None

    @classmethod
    def of_all(cls, collection: Collection, rows: Rows, cells: Cells | None, config: Config) -> Meeting:
        """Return the meeting of all documents of a collection."""
        return cls(collection, rows, cells, pairing(collection, config))


@dataclass(frozen=True)
class Found:
    """Passages, by task in reading order, and the repeats if all documents are there."""

    passages: list[PassageRows]
    repeats: Repeats


def find_in(meeting: Meeting, limits: PassagesConfig, run_tasks: RunTasks = in_turn) -> Found:
    """Find the passages of documents that meet and, if these are all documents, the texts in too many places to be paired."""
    rows, cells, hot = meeting.rows, meeting.cells, meeting.hot
    diagonals, flags = find_diagonals(rows, limits, meeting.pairing, run_tasks, hot)
    if meeting.is_cold is not None:
        diagonals = _through_cold_rows(diagonals, meeting.is_cold, rows, limits, cells)
    passages = assemble_passages(diagonals, rows, meeting.collection.id_hashes, limits, cells, run_tasks)
    del diagonals
    return Found(passages, find_repeats(rows, flags, limits, meeting.pairing, cells) if hot is None else Repeats.none())


def _through_cold_rows(
    diagonals: NDArray[np.int32], is_cold: NDArray[np.bool_], rows: Rows, limits: PassagesConfig, cells: Cells | None
) -> NDArray[np.int32]:
    """Drop the diagonals that consist of text in too many places, judged by side a.

    They are first split at cells that do not match: which sentences share a class depends on the rest of the query.
    """
    if is_cold.all():
        return diagonals
    if cells is not None:
        diagonals = split_diagonals(diagonals, cells)
    n = len(is_cold)
    is_long = rows.n_words[:n] >= limits.min_quote_words
    begin, end = diagonals[:, 0], diagonals[:, 0] + diagonals[:, 2]

    def any_of(chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        before = starts_of(chosen)
        return np.asarray(before[np.minimum(end, n)] > before[np.minimum(begin, n)])

    # A short one needs a long sentence that is not hot, if it has any long one.
    needs_long = (diagonals[:, 2] < limits.min_sentences) & any_of(is_long)
    return diagonals[np.where(needs_long, any_of(is_cold & is_long), any_of(is_cold))]
