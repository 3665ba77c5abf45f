"""`spotsigs`: the set of spots, each a frequent word and the chain of words that follow it (Theobald et al.)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.sets import HashSets
from ibidem.config import SignaturesConfig
from ibidem.sentences import tokenise_spans
from ibidem.signatures import kernels
from ibidem.signatures.sentence_types import TypeTokens, Vocabulary


class SpotSigs:
    """The signature is the spots: an antecedent, and the words that follow it.

    `antecedents` is a count of the most frequent words, a list of words, or `auto`: every word begins a spot. Chains skip stop
    words, which are a separate list: a word may begin spots and be skipped, or neither. So more antecedents give more spots.
    """

    needs_vocabulary = True

    def hashes(self, types: TypeTokens, vocabulary: Vocabulary | None, config: SignaturesConfig) -> HashSets:
        """Return the hashes of the spots."""
        assert vocabulary is not None
        hashes = np.empty(len(types.tokens), np.uint64)
        first = np.empty_like(types.first)
        skips = config.spot_stop_words
        n = kernels.hash_spots(
            types.tokens,
            types.first,
            vocabulary.ids,
            _chosen(vocabulary, config, types.hash_seed),
            most_frequent(vocabulary, int(skips)) if skips.isdecimal() else vocabulary.is_stop,
            config.spot_distance,
            config.spot_chain,
            1 if config.spot_short_chains else config.spot_chain,
            hashes,
            first,
        )
        return HashSets(hashes[:n], first)


def n_frequent(config: SignaturesConfig) -> int:
    """Return how many of the most frequent words matter; 0 if those that matter are listed, or all do."""
    skips = int(config.spot_stop_words) if config.spot_stop_words.isdecimal() else 0
    return max(_n_antecedents(config), skips)


def most_frequent(vocabulary: Vocabulary, n_wanted: int) -> NDArray[np.bool_]:
    """Tell which words are among the most frequent. The hash settles ties: the order of documents plays no part."""
    order = np.lexsort((vocabulary.hashes, -vocabulary.counts))[:n_wanted]
    chosen = np.zeros(len(vocabulary.hashes), np.bool_)
    chosen[order] = vocabulary.counts[order] > 0  # words of which nothing is known are not frequent
    return chosen


def _n_antecedents(config: SignaturesConfig) -> int:
    return int(config.antecedents) if config.antecedents.isdecimal() else 0


def _chosen(vocabulary: Vocabulary, config: SignaturesConfig, hash_seed: int) -> NDArray[np.bool_]:
    """Tell which words are antecedents."""
    if config.antecedents == "auto":
        return np.ones(len(vocabulary.hashes), np.bool_)
    if config.antecedents.isdecimal():
        return most_frequent(vocabulary, _n_antecedents(config))
    text = config.antecedents.replace(",", " ").encode()
    bounds = np.array([0, len(text)], np.int64)
    words, _ = tokenise_spans(np.frombuffer(text, np.uint8), bounds[:1], bounds[1:], hash_seed)
    return np.isin(vocabulary.hashes, words)


SIGNATURE = SpotSigs()
