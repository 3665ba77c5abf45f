"""Elements: what the sentences of an index are known by where that is not their words.

A signature that gives sets (shingles, spots) makes the elements of a sentence; of one that gives a key (I-Match, fingerprint),
the key is its only element. So all of them are stored, merged and searched in one way.

How common words are must not change with every document, or equal sentences would get unequal elements: signatures get
the counts that the index keeps (see `vocabulary.py`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ibidem.columns.ragged import starts_of
from ibidem.columns.sets import HashSets
from ibidem.config import SignaturesConfig
from ibidem.index.segment import SegmentSettings
from ibidem.index.vocabulary import ENOUGH_DOCUMENTS, WordCounts
from ibidem.signatures import SetSignature, TypeTokens, Vocabulary, load_signature
from ibidem.signatures.sentence_types import NumberedHashes
from ibidem.signatures.spotsigs import n_frequent


def has_key(signatures: SignaturesConfig | None) -> bool:
    """Return whether the only element of a sentence is a key. It depends on the words, not on their order."""
    return signatures is not None and not isinstance(load_signature(signatures.signature), SetSignature)


def are_fixed(counts: WordCounts, signatures: SignaturesConfig | None) -> bool:
    """Return whether the counts of words stay as they are, unless they are to be taken again."""
    return counts.is_given or counts.n_documents >= ENOUGH_DOCUMENTS or needs_counts(signatures)


def needs_counts(signatures: SignaturesConfig | None) -> bool:
    """Return whether elements depend on how common words are. The counts of such an index stay as they were taken first."""
    if signatures is None or (signatures.signature == "spotsigs" and n_frequent(signatures) == 0):
        return False
    return load_signature(signatures.signature).needs_vocabulary


def n_frequent_words(signatures: SignaturesConfig | None) -> int:
    """Return how many of the most frequent words have to be known."""
    return n_frequent(signatures) if signatures is not None and signatures.signature == "spotsigs" else 0


def make_elements(tokens: TypeTokens, words: NumberedHashes, counts: WordCounts, settings: SegmentSettings) -> HashSets:
    """Return the elements of every type, perhaps with repeats; `words` numbers its tokens."""
    signatures = settings.elements
    assert signatures is not None
    signature = load_signature(signatures.signature)
    vocabulary = None
    if signatures.signature == "spotsigs":
        # Which words are the most frequent ones has to be the same whatever else arrives: they are all named.
        vocabulary = replace(counts.frequent_words(), stops=settings.element_stops).vocabulary(tokens)
    elif signature.needs_vocabulary:
        n_documents = counts.counts_of(words.hashes).astype(np.int32)
        none = np.zeros(len(words.hashes), np.int64)
        vocabulary = Vocabulary(words.ids, words.hashes, none, n_documents, counts.n_documents, settings.element_stops)
    if isinstance(signature, SetSignature):
        return signature.hashes(tokens, vocabulary, signatures)
    keys = signature.key(tokens, vocabulary, signatures)
    is_known = keys != 0
    return HashSets(keys[is_known], starts_of(is_known))
