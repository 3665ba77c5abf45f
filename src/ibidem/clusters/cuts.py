"""Cuts: which sentences go because they stand earlier, in a passage of `min_sentences` or more, and stay there.

Documents are decided one after the other, the first by rank first. A row goes if a window of `min_sentences` rows around it
matches, row by row, a window of an earlier document whose row at the same place stays. So nothing vanishes: whatever is cut
stands, matched, in text that is kept.

- **Equal rows match** (`cells` None, or a limit of 0). The outcome is exactly this, however many places a text has, and the
  source is the first such row by rank, then by row.
- **Similar rows match.** Every cut row still reaches the limit against its source, which stays, inside of `min_sentences`
  matching rows. Equal texts (rows of one type) go as above. Beyond that a window is compared with the *leaders* of its window
  of classes, at most 16: the first windows that hold a row that stays and that no leader matches which stays wherever they
  do. What resembles only later ones stays, so similar text of very many variants may be kept more often than needed.

With a reference only its documents are sources, all of them, and only the others are cut.

Time and memory are linear in the rows, for texts in many places too. In the worst case, which needs text that is repeated
in ever different surroundings, both grow with `min_sentences` as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.clusters.kernels import cuts as kernels
from ibidem.columns.postings import Postings, postings_of
from ibidem.columns.ragged import starts_of
from ibidem.columns.rows import Rows
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.matches import Cells, TypeSets
from ibidem.passages.kernels.repeats import link_groups
from ibidem.passages.kernels.windows import window_keys

_MOST_LEADERS = 16
_NO_REFERENCE = np.empty(0, np.bool_)


@dataclass(frozen=True)
class Cuts:
    """Rows that go, rising, and beside each the row that it matches, which stays."""

    row: NDArray[np.int32]
    source_row: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.row)


def find_cuts(
    rows: Rows,
    rank: NDArray[np.int64],
    cells: Cells | None,
    *,
    min_sentences: int,
    min_words: int = 1,
    same_document: bool = False,
    is_reference: NDArray[np.bool_] = _NO_REFERENCE,
    run_tasks: RunTasks = in_turn,
) -> Cuts:
    """Return the rows that go, each with the row that it matches and that stays.

    `rank` by document says which is earlier (the lower one, or the first of equal ones). Windows of fewer than `min_words`
    words neither go nor let others go. With `same_document` windows before, that do not overlap, are sources too.
    `is_reference` by document is empty where there is no reference.
    """
    n_rows, size = len(rows.classes), min_sentences
    near = cells if cells is not None and cells.limit[0] > 0 else None

    def group(names: NDArray[np.uint64]) -> Postings:
        keys = np.empty(n_rows, np.uint64)
        window_keys(names, rows.document, size, keys)
        if min_words > 1:
            kernels.drop_short_windows(keys, rows.n_words, size, min_words)
        return postings_of(keys)

    if near is None:
        (texts,) = run_tasks(group, (rows.classes,))
    else:
        texts, variants = run_tasks(group, (near.types.astype(np.uint64) + np.uint64(1), rows.classes))
    group_of_row = _group_of_row(texts, n_rows)
    base, n_slots = _place_slots(texts, group_of_row, rows.document, size)
    if near is None:
        class_group_of_row, room, limit = group_of_row, np.empty(0, np.int64), (0, 1)
        columns = (group_of_row, base, group_of_row, group_of_row, rows.classes)  # never looked at
    else:
        class_group_of_row, limit = _group_of_row(variants, n_rows), near.limit
        room = np.minimum(np.diff(variants.first) - 1, _MOST_LEADERS)  # the last of a group leads nobody
        assert isinstance(near.sets, TypeSets)
        columns = (near.types, near.sets.start, near.sets.size, near.sets.values, near.sets.bitmaps)
    leader_first = starts_of(room)

    has_reference = len(is_reference) > 0
    order = np.lexsort((rank, ~is_reference)) if has_reference else np.argsort(rank, kind="stable")
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    source = np.full(n_rows, -1, np.int32)
    kernels.cut_rows(
        order, int(np.count_nonzero(is_reference)), has_reference, position, rows.document, rows.document_first,
        size, size if same_document else n_rows + 1,
        group_of_row, base, np.full(n_slots, -1, np.int32), np.empty(2 * size, np.int64), np.empty(2 * size, np.int64),
        near is not None, class_group_of_row, leader_first, np.zeros(len(room), np.uint8), np.empty(leader_first[-1], np.int32),
        *columns, *limit, source,
    )  # fmt: skip
    row = np.flatnonzero(source >= 0).astype(np.int32)
    # Windows meet by the hash of their classes, or types: nothing goes because of a hash alone.
    is_alike = rows.classes[row] == rows.classes[source[row]]
    if near is not None:
        is_alike |= near.types[row] == near.types[source[row]]
    row = row[is_alike]
    return Cuts(row, source[row])


def _group_of_row(groups: Postings, n_rows: int) -> NDArray[np.int32]:
    """Return the group of the window that starts at each row, and -1 after the last row and where there is none."""
    group_of_row = np.full(n_rows + 1, -1, np.int32)
    kernels.number_windows(groups.rows, groups.first, group_of_row)
    return group_of_row


def _place_slots(
    groups: Postings, group_of_row: NDArray[np.int32], document: NDArray[np.int32], size: int
) -> tuple[NDArray[np.int64], int]:
    """Return the first slot of each group, and the number of slots."""
    n_groups = len(groups.first) - 1
    following = np.full(n_groups, -2, np.int32)
    preceding = np.full(n_groups, -2, np.int32)
    link_groups(group_of_row, document, following, preceding)
    base = np.empty(n_groups, np.int64)
    return base, kernels.place_slots(following, preceding, size, base)
