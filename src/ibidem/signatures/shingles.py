"""`shingles`: the set of n words in a row (PDC-MR: n = 2, 3 or 4)."""

from __future__ import annotations

import numpy as np

from ibidem.columns.sets import HashSets
from ibidem.config import SignaturesConfig
from ibidem.signatures import kernels
from ibidem.signatures.sentence_types import TypeTokens, Vocabulary


class Shingles:
    """The signature is the distinct shingles; for a shorter type, all its words at once (in the paper: nothing)."""

    needs_vocabulary = False

    def hashes(self, types: TypeTokens, vocabulary: Vocabulary | None, config: SignaturesConfig) -> HashSets:
        """Return the hashes of the shingles."""
        hashes = np.empty(len(types.tokens), np.uint64)
        first = np.empty_like(types.first)
        size = config.shingle_words("sentence")
        n = kernels.hash_shingles(types.tokens, types.first, size, not config.paper, hashes, first)
        return HashSets(hashes[:n], first)


SIGNATURE = Shingles()
