"""Pairs of matching sentences, one by one: what the second job of PDC-MR gives.

Sentences that match have one class. So all pairs of a class are looked at, unless it has more than `max_places` sentences:
the work then grows with the number of sentences, not with its square.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.hashes import GOLDEN
from ibidem.columns.postings import Postings, postings_of
from ibidem.columns.ragged import starts_of
from ibidem.columns.rows import Pairing, pairing
from ibidem.config import Config
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.matches.core import Classed
from ibidem.matches.kernels.sentence_pairs import list_pairs
from ibidem.matches.sets import CellColumns, Cells
from ibidem.model import SENTENCE_PAIRS

_PAIRS_A_TASK = 1 << 20
_NO_CELLS = CellColumns(
    np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32), 0, 1
)


class MatchedRows(NamedTuple):
    """Pairs of rows that match, a before b, and how similar they are."""

    a: NDArray[np.int32]
    b: NDArray[np.int32]
    similarity: NDArray[np.float64]


_NO_PAIRS = MatchedRows(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float64))


def pair_table(collection: Collection, classed: Classed, config: Config, run_tasks: RunTasks) -> tuple[pa.Table, int]:
    """Return the pairs of matching sentences in the schema SENTENCE_PAIRS, in reading order.

    Also return how many sentences have more than `max_places` places, and are therefore in no pair.
    """
    rows = classed.rows
    # Classes may be small numbers, and postings tell keys apart by their high bits; the product is another for each class.
    groups, n_hot = few_places(postings_of(rows.classes * GOLDEN), config.passages.max_places)
    found = [_NO_PAIRS, *pair_rows(groups, rows.document, classed.cells, pairing(collection, config), run_tasks)]
    a, b, similarity = (np.concatenate(parts) for parts in zip(*found, strict=True))
    del found
    order = np.lexsort((b, a))
    columns = []
    for side in (a[order], b[order]):
        document = rows.document[side]
        columns.append(pa.DictionaryArray.from_arrays(pa.array(document), collection.ids))
        columns.append(pa.array((rows.sentence[side] - collection.document_first[document]).astype(np.int32)))
    return pa.Table.from_arrays([*columns, pa.array(similarity[order])], schema=SENTENCE_PAIRS), n_hot


def few_places(groups: Postings, max_places: int) -> tuple[Postings, int]:
    """Return the groups of at most `max_places` rows, and how many rows the others have."""
    sizes = np.diff(groups.first)
    is_kept = sizes <= max_places
    rows = groups.rows[np.repeat(is_kept, sizes)]
    return Postings(rows, starts_of(sizes[is_kept])), len(groups.rows) - len(rows)


def pair_rows(
    groups: Postings, document: NDArray[np.int32], cells: Cells | None, allowed: Pairing, run_tasks: RunTasks = in_turn
) -> Iterator[MatchedRows]:
    """Yield the matching pairs of every group, some at a time. Rows are in reading order, `document` says whose they are."""
    sizes = np.diff(groups.first)
    group_end = np.repeat(groups.first[1:], sizes)
    costs = group_end - np.arange(len(groups.rows))
    columns = _NO_CELLS if cells is None else cells.columns

    def pair(task: tuple[int, int]) -> MatchedRows:
        given = (*task, groups.rows, group_end, document, allowed.columns, columns, cells is not None)
        n = list_pairs(*given, False, *_NO_PAIRS)
        found = MatchedRows(np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.float64))
        list_pairs(*given, True, *found)
        return found

    return run_tasks(pair, split_by_cost(costs, 1 + int(costs.sum()) // _PAIRS_A_TASK))
