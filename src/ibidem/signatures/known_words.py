"""Words whose counts are known, of this collection or from elsewhere, and the words that do not count."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.config import Config
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.formats.word_tables import own_stop_words, word_counts_of, words_of
from ibidem.sentences import tokenise_texts
from ibidem.signatures.sentence_types import NO_WORDS, TypeTokens, Vocabulary, count_vocabulary, number_hashes


@dataclass(frozen=True)
class KnownWords:
    """Counts of those words that matter, by rising hash; all others count as words of one document that never occurred.

    `stops` are the words that do not count.
    """

    hashes: NDArray[np.uint64]
    counts: NDArray[np.int64]
    document_counts: NDArray[np.int64]
    n_documents: int
    stops: NDArray[np.uint64] = field(default_factory=lambda: NO_WORDS)

    @classmethod
    def none(cls, n_documents: int, stops: NDArray[np.uint64]) -> KnownWords:
        """Return that nothing is known of any word."""
        nothing = np.empty(0, np.int64)
        return cls(NO_WORDS, nothing, nothing, n_documents, stops)

    def most_frequent(self, n_wanted: int) -> KnownWords:
        """Return those that occur most often."""
        return self.chosen(np.lexsort((self.hashes, -self.counts))[:n_wanted])

    def chosen(self, rows: NDArray[np.int64]) -> KnownWords:
        """Return some of them."""
        rows = np.sort(rows)
        return replace(self, hashes=self.hashes[rows], counts=self.counts[rows], document_counts=self.document_counts[rows])

    def vocabulary(self, types: TypeTokens, run_tasks: RunTasks = in_turn) -> Vocabulary:
        """Return the vocabulary of some types, and all known words, with their counts."""
        both = np.concatenate([types.tokens, self.hashes])
        numbered = number_hashes(both, run_tasks)
        n = len(numbered.hashes)
        counts, document_counts = np.zeros(n, np.int64), np.ones(n, np.int32)
        known = numbered.ids[len(types.tokens) :]
        counts[known] = self.counts
        document_counts[known] = np.minimum(self.document_counts, np.iinfo(np.int32).max)
        ids = numbered.ids[: len(types.tokens)]
        return Vocabulary(ids, numbered.hashes, counts, document_counts, self.n_documents, self.stops)


def outside_counts(config: Config, stops: NDArray[np.uint64]) -> KnownWords | None:
    """Return how common words are by `word_counts`; None if the words of the collection are to be counted."""
    source = config.signatures.word_counts
    if source.is_none:
        return None
    table = word_counts_of(source)
    tokens, rows = _hashed(table.words, config.sentences.hash_seed)
    hashes, which = np.unique(tokens, return_inverse=True)
    # A row of several words counts for each of them; what differs in case only, or in what else does not matter, adds up.
    sums = [np.bincount(which, column[rows], len(hashes)).astype(np.int64) for column in (table.occurrences, table.documents)]
    return KnownWords(hashes, sums[0], np.minimum(sums[1], table.n_documents), table.n_documents, stops)


def stop_hashes(config: Config, signature: str) -> NDArray[np.uint64]:
    """Return the words that do not count for a signature: for spotsigs those that chains skip, unless that is a number."""
    settings = config.signatures
    source = settings.stop_words
    if signature == "spotsigs" and settings.spot_stop_words != "auto":
        source = own_stop_words(settings)
    if source.is_none:
        return NO_WORDS
    words = words_of(source)
    return np.unique(_hashed(pa.array(words, pa.large_string()), config.sentences.hash_seed)[0])


def known_vocabulary(
    types: TypeTokens,
    of_sentence: NDArray[np.int32],
    document: NDArray[np.int32],
    n_documents: int,
    config: Config,
    signature: str,
    run_tasks: RunTasks = in_turn,
) -> Vocabulary:
    """Return the vocabulary of types as a signature needs it: with counts of the collection, or from `word_counts`."""
    stops = stop_hashes(config, signature)
    known = outside_counts(config, stops)
    if known is not None:
        return known.vocabulary(types, run_tasks)
    return replace(count_vocabulary(types, of_sentence, document, n_documents, run_tasks), stops=stops)


def _hashed(words: pa.LargeStringArray, hash_seed: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hashes of all words, and the row that each one is in."""
    if len(words) == 0:
        return NO_WORDS, np.empty(0, np.int64)
    tokens, first = tokenise_texts(words, hash_seed)
    return tokens, np.repeat(np.arange(len(words)), np.diff(first))
