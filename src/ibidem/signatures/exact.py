"""`exact`: the canonical tokens in order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.config import SignaturesConfig
from ibidem.sentences import digest_tokens
from ibidem.signatures.sentence_types import TypeTokens, Vocabulary


class Exact:
    """A type is its own signature: only equal sentences match."""

    needs_vocabulary = False

    def key(self, types: TypeTokens, vocabulary: Vocabulary | None, config: SignaturesConfig) -> NDArray[np.uint64]:
        """Return the digests of the types; 0, which would match nothing, becomes 1."""
        return np.maximum(digest_tokens(types.tokens, types.first), np.uint64(1))


SIGNATURE = Exact()
