"""When rows are cut: the rule of a run, and the keys by which windows of rows meet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.clusters.kernels.cuts import drop_short_windows
from ibidem.columns.rows import Rows
from ibidem.config import SET_SIGNATURES, Config, passage_limits
from ibidem.passages.kernels.windows import window_keys


@dataclass(frozen=True)
class Rule:
    """When rows are cut: windows of `size` rows and at least `min_words` words match, with `same_document` also within a
    document.

    With `similar`, rows match from `similarity` on, even if they are not equal. Up to `max_gap` sentences without a class are
    skipped.
    """

    size: int
    min_words: int = 1
    same_document: bool = False
    max_gap: int = 0
    similar: bool = False
    similarity: tuple[int, int] = (0, 1)

    @classmethod
    def of(cls, config: Config) -> Rule:
        """Return the rule of a run: for passages, or, at the level of sentences, for single sentences that are long enough."""
        limits = passage_limits(config)
        single = config.cleaning.level == "sentence"
        return cls(
            size=1 if single else limits.min_sentences,
            min_words=max(limits.min_words, limits.min_quote_words) if single else limits.min_words,
            same_document=limits.same_document,
            max_gap=limits.max_gap_sentences,
            similar=config.signatures.signature in SET_SIGNATURES,
            similarity=config.matches.min_similarity.as_integer_ratio(),
        )

    def lag(self, n_rows: int) -> int:
        """Return how far before a row its source must be in the same document, which has at most `n_rows` rows."""
        return self.size if self.same_document else n_rows + 1

    def window_keys(self, names: NDArray[np.uint64], rows: Rows) -> NDArray[np.uint64]:
        """Return the key of the window that starts at each row, given names of rows; 0 for none or too few words."""
        keys = np.empty(len(names), np.uint64)
        window_keys(names, rows.document, self.size, keys)
        if self.min_words > 1:
            drop_short_windows(keys, rows.n_words, self.size, self.min_words)
        return keys
