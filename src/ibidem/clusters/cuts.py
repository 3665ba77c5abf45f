"""Cuts: which sentences are removed because they are kept in an earlier place, in a passage of `min_sentences` or more.

Documents are decided one by one in the order of their rank. A row is cut if a window of `min_sentences` rows around it matches,
row by row, a window of an earlier document whose row at the same place is kept. So nothing is lost: whatever is cut matches
text that is kept.

- **Equal rows match** (`cells` None, or a limit of 0). The outcome is exactly this, however many places a text has, and the
  source is the first such row by rank, then by row.
- **Similar rows match.** Every cut row still reaches the limit against its source, which is kept, within `min_sentences`
  matching rows. Equal texts (rows of one type) are cut as above. Beyond that a window is compared with the *leaders* of its
  window of classes, at most 16: the first windows that keep a row and that match no leader which is kept wherever they are.
  What resembles only later windows is kept, so text with very many variants may be kept more often than needed.

With a reference, all its documents are sources and no others are, and only the others are cut.

Time and memory are linear in the rows, also for texts in many places. In the worst case, text repeated in ever different
surroundings, both also grow with `min_sentences`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.clusters.cut_rule import Rule
from ibidem.clusters.kernels import cuts as kernels
from ibidem.columns.collection import Collection
from ibidem.columns.postings import Postings, postings_of
from ibidem.columns.ragged import starts_of
from ibidem.columns.rows import Rows
from ibidem.config import Config
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.matches import Cells, TypeSets

_MOST_LEADERS = 16
_NO_REFERENCE = np.empty(0, np.bool_)


@dataclass(frozen=True)
class Cuts:
    """Rows that are cut, in increasing order, each with the kept row that it matches."""

    row: NDArray[np.int32]
    source_row: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.row)


def sentences_to_cut(
    collection: Collection, rows: Rows, cells: Cells | None, rank: NDArray[np.int64], config: Config, run_tasks: RunTasks
) -> Cuts:
    """Return the rows of a collection that are cut by the rule of a run; see `find_cuts`."""
    return find_cuts(rows, rank, cells, Rule.of(config), collection.side.astype(np.bool_), run_tasks)


def find_cuts(
    rows: Rows,
    rank: NDArray[np.int64],
    cells: Cells | None,
    rule: Rule,
    is_reference: NDArray[np.bool_] = _NO_REFERENCE,
    run_tasks: RunTasks = in_turn,
) -> Cuts:
    """Return the rows that are cut, each with the kept row that it matches.

    `rank` (per document) says which is earlier: the lower one, or the first of equal ones. Windows of too few words are neither
    cut nor sources. Windows of the same document are sources only if they do not overlap. `is_reference` (per document) is
    empty if there is no reference.
    """
    n_rows = len(rows.classes)
    near = cells if cells is not None and cells.limit[0] > 0 else None

    def group(names: NDArray[np.uint64]) -> Postings:
        return postings_of(rule.window_keys(names, rows))

    if near is None:
        (texts,) = run_tasks(group, (rows.classes,))
        windows = _windows(texts, None, rows, rule)
        leaders, compared = _unused()
    else:
        texts, variants = run_tasks(group, (near.types.astype(np.uint64) + np.uint64(1), rows.classes))
        windows = _windows(texts, variants, rows, rule)
        leaders, compared = _leaders(variants), _compared(near)
    source = np.full(n_rows, -1, np.int32)
    room = np.empty((2, 2 * rule.size), np.int64)
    kernels.cut_rows(_order(rows, rank, is_reference), windows, near is not None, leaders, compared, room[0], room[1], source)
    row = np.flatnonzero(source >= 0).astype(np.int32)
    # Windows meet by the hash of their classes or types; nothing is cut because of a hash alone.
    is_alike = rows.classes[row] == rows.classes[source[row]]
    if near is not None:
        is_alike |= near.types[row] == near.types[source[row]]
    row = row[is_alike]
    return Cuts(row, source[row])


def decision_order(rank: NDArray[np.int64], is_reference: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the documents in the order of decision: those of a reference first, then by rank; equal ones as they come."""
    return np.lexsort((rank, ~is_reference)) if len(is_reference) else np.argsort(rank, kind="stable")


def _order(rows: Rows, rank: NDArray[np.int64], is_reference: NDArray[np.bool_]) -> kernels.Order:
    has_reference = len(is_reference) > 0
    order = decision_order(rank, is_reference)
    in_order = np.arange(len(order))
    position = np.empty(0 if np.array_equal(order, in_order) else len(order), np.int64)
    if len(position):
        position[order] = in_order
    n_reference = int(np.count_nonzero(is_reference))
    return kernels.Order(order, position, rows.document, rows.document_first, has_reference, n_reference)


def _windows(groups: Postings, variants: Postings | None, rows: Rows, rule: Rule) -> kernels.Windows:
    """Return the windows of equal rows, with their slots, and, where similar rows match, those of equal classes."""
    n_rows, n_groups = len(rows.classes), len(groups.first) - 1
    group_of_row = _group_of_row(groups, n_rows)
    following = np.full(n_groups, -2, np.int32)
    preceding = np.full(n_groups, -2, np.int32)
    kernels.link_groups(group_of_row, rows.document, following, preceding)
    base = np.empty(n_groups, np.int64)
    n_slots = kernels.place_slots(following, preceding, rule.size, base)
    kind_of_row = np.empty(0, np.int32) if variants is None else _group_of_row(variants, n_rows)
    return kernels.Windows(rule.size, rule.lag(n_rows), group_of_row, base, np.full(n_slots, -1, np.int32), kind_of_row)


def _leaders(variants: Postings) -> kernels.Leaders:
    """Return room for the leaders of each group of windows of equal classes."""
    room = np.minimum(np.diff(variants.first) - 1, _MOST_LEADERS)  # the last of a group leads no other
    first = starts_of(room)
    return kernels.Leaders(first, np.zeros(len(room), np.uint8), np.empty(first[-1], np.int32))


def _compared(cells: Cells) -> kernels.ComparedCells:
    sets = cells.sets
    assert isinstance(sets, TypeSets)
    return kernels.ComparedCells(cells.types, sets.start, sets.size, sets.values, sets.bitmaps, *cells.limit)


def _unused() -> tuple[kernels.Leaders, kernels.ComparedCells]:
    """Return placeholders of the right types for what is not used when only equal rows match."""
    nothing, numbers = np.empty(0, np.int32), np.empty(0, np.int64)
    leaders = kernels.Leaders(numbers, np.empty(0, np.uint8), nothing)
    return leaders, kernels.ComparedCells(nothing, numbers, nothing, nothing, np.empty(0, np.uint64), 0, 1)


def _group_of_row(groups: Postings, n_rows: int) -> NDArray[np.int32]:
    """Return the group of the window that starts at each row; -1 where there is none and after the last row."""
    group_of_row = np.full(n_rows + 1, -1, np.int32)
    kernels.number_windows(groups.rows, groups.first, group_of_row)
    return group_of_row
