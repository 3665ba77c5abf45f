"""From diagonals to passages: order them, score and cut their cells, chain them across small gaps, keep what is long enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.config import PassagesConfig
from ibidem.matches import TypeSets
from ibidem.parts import MapParts, in_turn, split_by_cost
from ibidem.passages import chaining_kernels as kernels
from ibidem.passages.rows import Rows

_N_PARTS = 32


@dataclass(frozen=True)
class PassageRows:
    """Passages as columns, in reading order. `spans`: first and last row in a and in b, the last exclusive.

    `equal`: all sentences are equal; `whole`: both documents are covered from end to end.
    """

    spans: NDArray[np.int32]
    n_sentences: NDArray[np.int32]
    similarity: NDArray[np.float64]
    equal: NDArray[np.bool_]
    whole: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.spans)


@dataclass(frozen=True)
class Cells:
    """How cells are scored: the type of each row, the sets of the types, and the limit below which a cell is cut."""

    types: NDArray[np.int32]
    sets: TypeSets
    limit: tuple[int, int]


def assemble_passages(
    diagonals: NDArray[np.int32], rows: Rows, config: PassagesConfig, cells: Cells | None, map_parts: MapParts = in_turn
) -> list[PassageRows]:
    """Return the passages that the diagonals make, in parts; a pair of documents is never in two.

    `cells` None means that equal classes are equal texts.
    """
    first = np.zeros(len(rows.document_first), np.int64)
    grouped = np.empty(3 * len(diagonals), np.int32)
    kernels.group_by_document(diagonals.reshape(-1), rows.document, first, grouped)
    if cells is None:
        types, start, size, values, limit = rows.document, first, rows.document, rows.document, (0, 1)  # never looked at
    else:
        types, start, size, values = cells.types, cells.sets.start, cells.sets.size, cells.sets.values
        limit = cells.limit

    def assemble(part: tuple[int, int]) -> PassageRows:
        table, similarity = kernels.assemble(
            *part, first, grouped, types, start, size, values, *limit, cells is not None,
            config.min_sentences, config.min_words, config.min_quote_words or np.iinfo(np.int32).max, config.max_gap_sentences,
            rows.n_words, rows.words_before, rows.sentence, rows.document, rows.document_first,
        )  # fmt: skip
        table = table.reshape(-1, 6)
        return PassageRows(table[:, :4], table[:, 4], similarity, table[:, 5] & 1 != 0, table[:, 5] & 2 != 0)

    return list(map_parts(assemble, split_by_cost(np.diff(first) + 1, _N_PARTS)))
