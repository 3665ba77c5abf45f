"""Words counted over all partitions, as far as signatures need them; what mappers receive stays small."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.parted_tables import table_of
from ibidem.config import Config
from ibidem.execution.flow import Flow, PartedTable, Sent, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.execution.tasks import in_turn
from ibidem.signatures import TypeTokens, Vocabulary, collapse_sentences, count_vocabulary, load_signature, type_tokens
from ibidem.signatures.sentence_types import number_hashes

WORDS = pa.schema([("word", pa.uint64()), ("n_occurrences", pa.int64()), ("n_documents", pa.int64())])


@dataclass(frozen=True)
class KnownWords:
    """Counts of the words that matter, in increasing order of hash. All others count as occurring once in one document."""

    hashes: NDArray[np.uint64]
    counts: NDArray[np.int64]
    document_counts: NDArray[np.int64]
    n_documents: int

    def most_frequent(self, n_wanted: int) -> KnownWords:
        """Return the most frequent ones."""
        chosen = np.sort(np.lexsort((self.hashes, -self.counts))[:n_wanted])
        return KnownWords(self.hashes[chosen], self.counts[chosen], self.document_counts[chosen], self.n_documents)

    def vocabulary(self, types: TypeTokens) -> Vocabulary:
        """Return the vocabulary of some types, and all known words, with their counts over the whole collection."""
        both = np.concatenate([types.tokens, self.hashes])
        numbered = number_hashes(both, in_turn)
        n = len(numbered.hashes)
        counts, document_counts = np.ones(n, np.int64), np.ones(n, np.int32)
        known = numbered.ids[len(types.tokens) :]
        counts[known] = self.counts
        document_counts[known] = self.document_counts
        return Vocabulary(numbered.ids[: len(types.tokens)], numbered.hashes, counts, document_counts, self.n_documents)


def needs_vocabulary(config: Config) -> bool:
    """Return whether the signature depends on how common words are."""
    signature = config.signatures
    if signature.signature == "spotsigs" and signature.antecedents != "auto" and not signature.antecedents.isdecimal():
        return False
    return load_signature(signature.signature).needs_vocabulary


def count_words(collection: Collection, layout: Layout) -> Sent:
    """Return how often, and in how many documents, the words of whole documents occur."""
    types = collapse_sentences(collection.digest)
    tokens = type_tokens(collection, types, in_turn)
    found = count_vocabulary(tokens, types.of_sentence, collection.document, collection.n_documents, in_turn)
    columns = [found.hashes, found.counts, found.document_counts]
    return Sent("words", table_of(columns, WORDS), route_by_hash(found.hashes, layout.n_partitions))


def total_words(tables: pa.Table) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the sums of all rows of each word: words, occurrences, documents."""
    words, which = np.unique(tables["word"].to_numpy(), return_inverse=True)
    sums = (np.bincount(which, tables[name].to_numpy(), len(words)).astype(np.int64) for name in WORDS.names[1:])
    occurrences, documents = sums
    return words, occurrences, documents


def words_by_documents(flow: Flow, words: PartedTable, least: int, most: int, inside: bool, n_documents: int) -> KnownWords:
    """Return the words in `least` to `most` documents or, if not `inside`, all others."""

    def choose(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        words, occurrences, documents = total_words(tables["words"])
        chosen = ((documents >= least) & (documents <= most)) == inside
        yield _chosen(words[chosen], occurrences[chosen], documents[chosen])

    return _told(flow, flow.reduce("words", {"words": words}, choose, {"words": WORDS})["words"], n_documents)


def most_frequent_words(flow: Flow, words: PartedTable, n_wanted: int, n_documents: int, stage: str) -> KnownWords:
    """Return the most frequent words; the hash breaks ties, as everywhere."""

    def choose(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        words, occurrences, documents = total_words(tables["words"])
        order = np.lexsort((words, -occurrences))[:n_wanted]
        yield _chosen(words[order], occurrences[order], documents[order])

    found = _told(flow, flow.reduce(stage, {"words": words}, choose, {"words": WORDS})["words"], n_documents)
    return found.most_frequent(n_wanted)


def _chosen(words: NDArray[np.uint64], occurrences: NDArray[np.int64], documents: NDArray[np.int64]) -> Sent:
    return Sent("words", table_of([words, occurrences, documents], WORDS), 0)


def _told(flow: Flow, words: PartedTable, n_documents: int) -> KnownWords:
    table = flow.collect(words)
    hashes, counts, documents = (table[name].to_numpy() for name in WORDS.names)
    order = np.argsort(hashes)
    return KnownWords(hashes[order], counts[order], documents[order], n_documents)
