"""What a sentence is known by: the signatures of an oracle's sentences under changing settings, without a run."""

from __future__ import annotations

from typing import Any

import numpy as np
from inputs import gathered
from numpy.typing import NDArray
from oracle import Oracle

from ibidem.columns.sets import HashSets
from ibidem.config import Config
from ibidem.execution.tasks import in_turn
from ibidem.signatures import KeySignature, SetSignature, collapse_sentences, count_vocabulary, load_signature, type_tokens
from ibidem.signatures.imatch import idf_of


class SentenceKeys:
    """The collection of an oracle, prepared once."""

    def __init__(self, oracle: Oracle) -> None:
        self.collection = gathered(oracle.records)
        self.types = collapse_sentences(self.collection.digest)
        self.tokens = type_tokens(self.collection, self.types, in_turn)
        self.vocabulary = count_vocabulary(
            self.tokens, self.types.of_sentence, self.collection.document, self.collection.n_documents, in_turn
        )
        self.true_pairs = self.places(oracle.truth)

    def places(self, pairs: Any) -> list[NDArray[np.int64]]:
        """Return both sides of pairs of sentences as numbers of sentences in the collection."""
        first = self.collection.document_first
        return [first[np.array(pairs[f"{s}_id"].to_pylist(), np.int64)] + pairs[f"{s}_sentence"].to_numpy() for s in "ab"]

    def edited_pairs(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the types of the true pairs whose words differ."""
        a, b = (self.types.of_sentence[side] for side in self.true_pairs)
        return a[a != b], b[a != b]

    def imatch_keys(self, low: float, high: float, paper: bool = False) -> NDArray[np.uint64]:
        """Return the key of each type; 0 if there is none."""
        signature = load_signature("imatch")
        assert isinstance(signature, KeySignature)
        return signature.key(self.tokens, self.vocabulary, Config.of(min_idf=low, max_idf=high, paper=paper).signatures)

    def imatch(self, low: float, high: float, paper: bool) -> tuple[float, float, float, float]:
        """Return precision, recall and F1 of pairs of sentences that have one key, and the share that has no words left."""
        keys = self.imatch_keys(low, high, paper)[self.types.of_sentence]
        empty = self.imatch_keys(low, high)[self.types.of_sentence] == 0
        known = keys != 0
        n_pairs = _n_pairs(keys[known]) - _n_pairs(np.stack([keys, self.collection.document.astype(np.uint64)], 1)[known])
        a, b = (keys[side] for side in self.true_pairs)
        n_right = int(((a == b) & (a != 0)).sum())
        n_true = len(a)
        return n_right / max(n_pairs, 1), n_right / n_true, 2 * n_right / (n_pairs + n_true), float(empty.mean())

    def few_words(self, low: float) -> float:
        """Return the share of sentences with fewer than two words of at least this idf."""
        kept = idf_of(self.vocabulary.document_counts, self.vocabulary.n_documents)[self.vocabulary.ids] >= low
        n_kept = np.diff(np.concatenate([[0], np.cumsum(kept)])[self.tokens.first])
        return float((n_kept < 2)[self.types.of_sentence].mean())

    def sets(self, name: str, **settings: Any) -> HashSets:
        """Return the signatures of each type."""
        signature = load_signature(name)
        assert isinstance(signature, SetSignature)
        return signature.hashes(self.tokens, self.vocabulary, Config.of(**settings).signatures)

    def counts(self, name: str, **settings: Any) -> tuple[float, float]:
        """Return the mean number of distinct signatures per sentence, and the share of sentences that has none."""
        sets = self.sets(name, **settings)
        pairs = np.stack([np.repeat(np.arange(len(self.tokens), dtype=np.uint64), np.diff(sets.first)), sets.hashes], 1)
        counts = np.bincount(np.unique(pairs, axis=0)[:, 0].astype(np.int64), minlength=len(self.tokens))
        of_sentence = counts[self.types.of_sentence]
        return float(of_sentence.mean()), float((of_sentence == 0).mean())

    def overlaps(self, sets: HashSets, a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return how many signatures pairs of types share, and how many each side has."""
        of = [[set(sets.hashes[sets.first[t] : sets.first[t + 1]].tolist()) for t in side.tolist()] for side in (a, b)]
        shared = np.array([len(x & y) for x, y in zip(*of, strict=True)], np.int64)
        return shared, *(np.array([len(x) for x in side], np.int64) for side in of)


def _n_pairs(rows: NDArray[Any]) -> int:
    _, counts = np.unique(rows, axis=0, return_counts=True)
    return int((counts.astype(np.int64) * (counts - 1) // 2).sum())
