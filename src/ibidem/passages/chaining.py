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
    """Passages as columns, in reading order. `spans`: first and last row in a and in b, the last exclusive."""

    spans: NDArray[np.int64]
    n_sentences: NDArray[np.int32]
    similarity: NDArray[np.float64]
    equal: NDArray[np.bool_]

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
) -> PassageRows:
    """Return the passages that the diagonals make; `cells` None means that equal classes are equal texts."""
    diagonals = sort_diagonals(diagonals, rows)
    words_before = rows.words_before()
    if cells is None:
        runs = diagonals
        scores = _words_of(runs, words_before).astype(np.float64)
        equal = runs[:, 2].copy()
    else:
        runs, scores, equal = _verify(diagonals, rows, config, cells, map_parts)
    n = len(runs)
    spans = np.empty((n, 4), np.int64)
    counts = np.empty((n, 2), np.int32)
    similarity = np.empty(n, np.float64)
    n = kernels.chain_runs(
        runs, scores, equal, rows.document, words_before, config.max_gap_sentences, spans, counts, similarity
    )
    spans, counts, similarity = spans[:n], counts[:n], similarity[:n]
    keep = _long_enough(spans, counts[:, 0], rows, words_before, config)
    spans, counts, similarity = spans[keep], counts[keep], similarity[keep]
    no_gap = (counts[:, 1] == spans[:, 1] - spans[:, 0]) & (counts[:, 1] == spans[:, 3] - spans[:, 2])
    return PassageRows(spans, counts[:, 0].copy(), np.minimum(similarity, 1.0), no_gap)


def sort_diagonals(diagonals: NDArray[np.int32], rows: Rows) -> NDArray[np.int32]:
    """Put diagonals in the order of document a, document b, row a, row b, whatever order they were found in."""
    order = np.arange(len(diagonals), dtype=np.int64)
    ordered = np.empty_like(order)
    identity = np.arange(len(rows.document), dtype=np.int32)
    n_documents = len(rows.document_first) - 1
    for column, keys, n_keys in ((1, identity, len(identity)), (0, identity, len(identity)), (1, rows.document, n_documents)):
        kernels.order_diagonals(diagonals, column, keys, n_keys, order, ordered)
        order, ordered = ordered, order
    kernels.order_diagonals(diagonals, 0, rows.document, n_documents, order, ordered)
    return diagonals[ordered]


def _verify(
    diagonals: NDArray[np.int32], rows: Rows, config: PassagesConfig, cells: Cells, map_parts: MapParts
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
    min_words = config.min_quote_words or np.iinfo(np.int32).max

    def verify(part: tuple[int, int]) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
        return kernels.verify_cells(  # type: ignore[no-any-return]
            diagonals, *part, cells.types, cells.sets.start, cells.sets.size, cells.sets.values, *cells.limit,
            config.min_sentences, rows.n_words, min_words, rows.document, rows.document_first,
        )  # fmt: skip

    parts = list(map_parts(verify, split_by_cost(diagonals[:, 2].astype(np.int64), _N_PARTS)))
    if not parts:
        return diagonals, np.empty(0, np.float64), np.empty(0, np.int32)
    runs, scores, equal = (np.concatenate(column) for column in zip(*parts, strict=True))
    return runs, scores, equal


def _words_of(runs: NDArray[np.int32], words_before: NDArray[np.int64]) -> NDArray[np.int64]:
    a, b, length = runs[:, 0].astype(np.int64), runs[:, 1].astype(np.int64), runs[:, 2].astype(np.int64)
    return words_before[a + length] - words_before[a] + words_before[b + length] - words_before[b]


def _long_enough(
    spans: NDArray[np.int64],
    n_sentences: NDArray[np.int32],
    rows: Rows,
    words_before: NDArray[np.int64],
    config: PassagesConfig,
) -> NDArray[np.bool_]:
    """Tell which passages have enough words; two whole documents that are alike always do."""
    words = np.minimum(
        words_before[spans[:, 1]] - words_before[spans[:, 0]], words_before[spans[:, 3]] - words_before[spans[:, 2]]
    )
    whole = np.ones(len(spans), np.bool_)
    for column in (0, 2):
        documents = rows.document[spans[:, column]]
        whole &= spans[:, column] == rows.document_first[documents]
        whole &= spans[:, column + 1] == rows.document_first[documents + 1]
    keep: NDArray[np.bool_] = (words >= config.min_words) | whole
    return keep
