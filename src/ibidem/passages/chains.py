"""From diagonals to passages: sort them, score and cut their cells, chain them across small gaps, keep what is long enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.rows import Rows
from ibidem.config import PassagesConfig
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.matches import CellColumns, Cells
from ibidem.passages.kernels import chains as kernels
from ibidem.passages.kernels.chains import N_COLUMNS, ChainLimits, ChainRoom

_N_TASKS = 32


@dataclass(frozen=True)
class PassageRows:
    """Passages in reading order. The columns of `table` and their flags are named in `passages/kernels/chains.py`."""

    table: NDArray[np.int32]
    similarity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.table)

    def chosen(self, is_chosen: NDArray[np.bool_]) -> PassageRows:
        """Return some of the passages."""
        return self if is_chosen.all() else PassageRows(self.table[is_chosen], self.similarity[is_chosen])


def split_diagonals(diagonals: NDArray[np.int32], cells: Cells) -> NDArray[np.int32]:
    """Return the diagonals split where cells do not match: a class may be a chain whose ends have nothing in common."""
    n = kernels.split_diagonals(diagonals, cells.columns, False, np.empty((0, 3), np.int32))
    pieces = np.empty((n, 3), np.int32)
    kernels.split_diagonals(diagonals, cells.columns, True, pieces)
    return pieces


def assemble_passages(
    diagonals: NDArray[np.int32],
    rows: Rows,
    orientation: NDArray[np.uint64],
    config: PassagesConfig,
    cells: Cells | None,
    run_tasks: RunTasks = in_turn,
) -> list[PassageRows]:
    """Return the passages of the diagonals, by task; those of a pair of documents come from one task.

    `orientation` is a number per document that depends only on the document: two documents are chained from the one with the
    smaller number to the other, whichever was read first, so that passages do not depend on the order of documents. `cells`
    None means that equal classes are equal texts.
    """
    first = np.zeros(len(rows.document_first), np.int64)
    grouped = np.empty(3 * len(diagonals), np.int32)
    most_runs = np.zeros(len(first) - 1, np.int64)
    kernels.group_by_document(diagonals.reshape(-1), rows.document, cells is not None, first, grouped, most_runs)
    never_read = CellColumns(rows.document, rows.document, first, rows.document, rows.document, 0, 1)
    columns = never_read if cells is None else cells.columns
    quote_words = config.min_quote_words or int(np.iinfo(np.int32).max)
    limits = ChainLimits(config.min_sentences, config.min_words, quote_words, config.max_gap_sentences)

    def assemble(task: tuple[int, int]) -> PassageRows:
        runs = most_runs[slice(*task)]
        room = ChainRoom.of(int(np.diff(first)[slice(*task)].max()), int(runs.max()), int(runs.sum()))
        n = kernels.assemble(*task, first, grouped, columns, cells is not None, limits, rows.columns, orientation, room)
        # A copy releases the unused room.
        return PassageRows(room.passages[: N_COLUMNS * n].reshape(-1, N_COLUMNS).copy(), room.likeness[:n].copy())

    return list(run_tasks(assemble, split_by_cost(most_runs + 1, _N_TASKS)))
