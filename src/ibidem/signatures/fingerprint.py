"""`fingerprint`: one hash of the sorted words with repeats, without words in too many documents (Yoon et al.)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ibidem.config import SignaturesConfig
from ibidem.signatures import kernels
from ibidem.signatures.sentence_types import TypeTokens, Vocabulary


class Fingerprint:
    """The signature is the sorted words without common ones: it survives changed order and changed function words."""

    needs_vocabulary = True

    def key(self, types: TypeTokens, vocabulary: Vocabulary | None, config: SignaturesConfig) -> NDArray[np.uint64]:
        """Return the hash of the kept words; 0 if none is left."""
        assert vocabulary is not None
        keep = vocabulary.document_counts <= most_documents(config, vocabulary.n_documents)
        keep &= ~vocabulary.is_stop
        keys = np.empty(len(types), np.uint64)
        kernels.hash_kept_words(types.tokens, types.first, vocabulary.ids, keep, False, False, keys)
        return keys


def most_documents(config: SignaturesConfig, n_documents: int) -> int:
    """Return the largest number of documents that a kept word may occur in."""
    share = Fraction(str(config.max_document_share))  # exact: 0.58 of 50 documents are 29
    # In a handful of documents, every word is in most of them, and a share means nothing.
    return int(max(share * n_documents, 0 if config.paper else 10))


SIGNATURE = Fingerprint()
