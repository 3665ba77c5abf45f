"""`spotsigs`: the set of spots, each an antecedent (a frequent word) and the content words that follow it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.sets import HashSets
from ibidem.config import SignaturesConfig
from ibidem.sentences import tokenise_spans
from ibidem.signatures import kernels
from ibidem.signatures.sentence_types import TypeTokens, Vocabulary

FEWEST_ANTECEDENTS = 5


class SpotSigs:
    """The signature is the spots. `antecedents` is a count of the most frequent words, a list of words, or `auto`.

    `auto` takes as many antecedents as give the most spots. PDC-MR found four spots per sentence enough, with 60 antecedents
    for Chinese and 10 000 for English; but twenty English words already give four, and those say little about a sentence.
    """

    needs_vocabulary = True

    def hashes(self, types: TypeTokens, vocabulary: Vocabulary | None, config: SignaturesConfig) -> HashSets:
        """Return the hashes of the spots."""
        assert vocabulary is not None
        if config.antecedents != "auto":
            return _spots(types, vocabulary, _antecedents(vocabulary, config.antecedents, types.hash_seed), config)
        best = None
        count = FEWEST_ANTECEDENTS
        while best is None or count < len(vocabulary.hashes):
            spots = _spots(types, vocabulary, _antecedents(vocabulary, str(count), types.hash_seed), config)
            if best is not None and len(spots.hashes) <= len(best.hashes):
                break
            best = spots
            count *= 2
        return best


def _antecedents(vocabulary: Vocabulary, wanted: str, hash_seed: int) -> NDArray[np.bool_]:
    """Return which words are antecedents."""
    if wanted.isdecimal():
        # The hash breaks ties, so that the choice does not depend on the order of documents.
        order = np.lexsort((vocabulary.hashes, -vocabulary.counts))
        chosen = np.zeros(len(vocabulary.hashes), np.bool_)
        chosen[order[: int(wanted)]] = True
        return chosen
    text = wanted.replace(",", " ").encode()
    bounds = np.array([0, len(text)], np.int64)
    words, _ = tokenise_spans(np.frombuffer(text, np.uint8), bounds[:1], bounds[1:], hash_seed)
    return np.isin(vocabulary.hashes, words)


def _spots(types: TypeTokens, vocabulary: Vocabulary, chosen: NDArray[np.bool_], config: SignaturesConfig) -> HashSets:
    hashes = np.empty(len(types.tokens), np.uint64)
    first = np.empty_like(types.first)
    n = kernels.hash_spots(
        types.tokens, types.first, vocabulary.ids, chosen, config.spot_distance, config.spot_chain, hashes, first
    )
    return HashSets(hashes[:n], first)


SIGNATURE = SpotSigs()
