"""The documents of a run and their shingles, as columns over the whole collection. Texts are not kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.collection import Documents
from ibidem.columns.sets import HashSets
from ibidem.columns.text_checks import CheckKey, Checks, text_key


@dataclass(frozen=True)
class ShingledDocuments(Documents):
    """Documents, their shingles or words, and their digests: equal digests mean equal words, 0 means no words.

    `known_by` are distinct shingles, or shingles in reading order (`kind` sequences), or words in reading order (words),
    or empty where only digests are compared (nothing).
    """

    kind: str
    known_by: HashSets
    digests: NDArray[np.uint64]
    checks_of_texts: Checks
    hash_seed: int

    def text_checks(self, documents: NDArray[np.int64]) -> tuple[CheckKey, Checks]:
        """Return the checks of the exact texts of given documents, and their key."""
        return text_key(self.hash_seed), self.checks_of_texts[documents]
