"""`imatch`: one hash of the distinct words whose idf is in a range (PDC-MR: 0.1 to 1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.config import SignaturesConfig
from ibidem.signatures import kernels
from ibidem.signatures.sentence_types import TypeTokens, Vocabulary


class IMatch:
    """The signature is the distinct words that are neither too common nor too rare, by idf = log(N/df) / log N over documents.

    A type without such a word matches nothing; by the paper's definition, all such types would share one key.
    """

    needs_vocabulary = True

    def key(self, types: TypeTokens, vocabulary: Vocabulary | None, config: SignaturesConfig) -> NDArray[np.uint64]:
        """Return the hash of the kept words."""
        assert vocabulary is not None
        idf = idf_of(vocabulary.document_counts, vocabulary.n_documents)
        keep = (idf >= config.min_idf) & (idf <= config.max_idf) & ~vocabulary.is_stop
        keys = np.empty(len(types), np.uint64)
        kernels.hash_kept_words(types.tokens, types.first, vocabulary.ids, keep, True, config.paper, keys)
        return keys


def idf_of(document_counts: NDArray[np.int32], n_documents: int) -> NDArray[np.float64]:
    """Return log(N/df) / log N of words, between 0 and 1; in a collection of one document every word has 1."""
    if n_documents < 2:
        return np.ones(len(document_counts))
    # Rounding must not push df = 1 above 1 or df = N below 0.
    idf: NDArray[np.float64] = np.clip(1 - np.log(document_counts) / np.log(n_documents), 0.0, 1.0)
    return idf


SIGNATURE = IMatch()
