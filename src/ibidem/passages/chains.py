"""From diagonals to passages: order them, score and cut their cells, chain them across small gaps, keep what is long enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.rows import Rows
from ibidem.config import PassagesConfig
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.matches import Cells
from ibidem.passages.kernels import chains as kernels
from ibidem.passages.repeats import Repeat

_N_TASKS = 32
_MOST_LEADERS = 200


@dataclass(frozen=True)
class PassageRows:
    """Passages in reading order. `table`: first row and end in a, the same in b, sentences, flags (1 equal, 2 both whole)."""

    table: NDArray[np.int32]
    similarity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.table)


def split_diagonals(diagonals: NDArray[np.int32], cells: Cells) -> NDArray[np.int32]:
    """Return the diagonals split where cells do not match: a class may be a chain whose ends have nothing in common."""
    n = kernels.split_diagonals(diagonals, *cells.columns, *cells.limit, False, np.empty((0, 3), np.int32))
    pieces = np.empty((n, 3), np.int32)
    kernels.split_diagonals(diagonals, *cells.columns, *cells.limit, True, pieces)
    return pieces


def verify_places(groups: list[Repeat], cells: Cells | None) -> list[Repeat]:
    """Split groups of equal classes into groups of matching places: each place matches the first one of its group.

    Classes are chains of similar sentences; their ends may have nothing in common.
    """
    if cells is None or cells.limit[0] == 0:
        return groups
    return [Repeat(group.starts[chosen], group.length) for group in groups for chosen in matching_places(group, cells)]


def matching_places(group: Repeat, cells: Cells) -> list[NDArray[np.int64]]:
    """Return the places of each group of matching ones, as numbers of the group's places: the first one leads."""
    left = np.arange(len(group.starts))
    matching: list[NDArray[np.int64]] = []
    for _ in range(_MOST_LEADERS):
        if len(left) < 2:
            break
        alike = np.empty(len(left), np.bool_)
        kernels.match_first_place(group.starts[left], group.length, *cells.columns, *cells.limit, alike)
        if alike.sum() > 1:
            matching.append(left[alike])
        left = left[~alike]
    return matching


def assemble_passages(
    diagonals: NDArray[np.int32],
    rows: Rows,
    orientation: NDArray[np.uint64],
    config: PassagesConfig,
    cells: Cells | None,
    run_tasks: RunTasks = in_turn,
) -> list[PassageRows]:
    """Return the passages that the diagonals make, in parts; a pair of documents is never in two.

    `orientation` is a number by document, known from the document alone: two documents are chained from the one with the
    smaller number to the other, whichever was read first, so that they make the same passages in every order of documents.
    `cells` None means that equal classes are equal texts.
    """
    position = rows.sentence if rows.position is None else rows.position
    first = np.zeros(len(rows.document_first), np.int64)
    grouped = np.empty(3 * len(diagonals), np.int32)
    most_runs = np.zeros(len(first) - 1, np.int64)
    kernels.group_by_document(diagonals.reshape(-1), rows.document, cells is not None, first, grouped, most_runs)
    if cells is None:
        limit = (0, 1)
        columns: tuple[NDArray[Any], ...] = (rows.document, rows.document, first, rows.document, rows.document)  # never read
    else:
        columns, limit = cells.columns, cells.limit

    def assemble(part: tuple[int, int]) -> PassageRows:
        most_passages = int(most_runs[slice(*part)].sum())
        runs = int(most_runs[slice(*part)].max())
        room = [3 * int(np.diff(first)[slice(*part)].max()), 4 * runs, runs, 4 * runs, 6 * most_passages, most_passages]
        dtypes = [np.int64, np.int64, np.float64, np.int64, np.int32, np.float64]
        spaces = [np.empty(size, dtype) for size, dtype in zip(room, dtypes, strict=True)]
        n = kernels.assemble(
            *part, first, grouped, *columns, *limit, cells is not None,
            config.min_sentences, config.min_words, config.min_quote_words or np.iinfo(np.int32).max, config.max_gap_sentences,
            rows.n_words, rows.words_before, position, rows.document, rows.document_first, orientation, *spaces,
        )  # fmt: skip
        # A copy gives back the room that was not needed.
        return PassageRows(spaces[4][: 6 * n].reshape(-1, 6).copy(), spaces[5][:n].copy())

    return list(run_tasks(assemble, split_by_cost(most_runs + 1, _N_TASKS)))
