"""Words counted over all partitions, as far as signatures need them; what mappers receive stays small."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.parted_tables import table_of
from ibidem.config import Config
from ibidem.execution.flow import Flow, PartedTable, Sent, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.execution.tasks import in_turn
from ibidem.signatures import collapse_sentences, count_vocabulary, load_signature, type_tokens
from ibidem.signatures.known_words import KnownWords, outside_counts, stop_hashes
from ibidem.signatures.spotsigs import n_frequent

WORDS = pa.schema([("word", pa.uint64()), ("n_occurrences", pa.int64()), ("n_documents", pa.int64())])


def counts_words(config: Config, signature: str) -> bool:
    """Return whether the words of the collection have to be counted for a signature."""
    settings = config.signatures
    if not settings.word_counts.is_none or (signature == "spotsigs" and n_frequent(settings) == 0):
        return False
    return load_signature(signature).needs_vocabulary


def spot_words(flow: Flow, words: PartedTable | None, config: Config, n_documents: int) -> KnownWords:
    """Return the words that begin spots, or that chains skip, of those that are not listed."""
    stops = stop_hashes(config, "spotsigs")
    known, n_wanted = outside_counts(config, stops), n_frequent(config.signatures)
    if known is not None:
        return known.most_frequent(n_wanted)
    if words is None:  # those that matter are listed
        return KnownWords.none(n_documents, stops)
    return replace(most_frequent_words(flow, words, n_wanted, n_documents), stops=stops)


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


def most_frequent_words(flow: Flow, words: PartedTable, n_wanted: int, n_documents: int) -> KnownWords:
    """Return the most frequent words; the hash breaks ties, as everywhere."""

    def choose(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        words, occurrences, documents = total_words(tables["words"])
        order = np.lexsort((words, -occurrences))[:n_wanted]
        yield _chosen(words[order], occurrences[order], documents[order])

    found = _told(flow, flow.reduce("words", {"words": words}, choose, {"words": WORDS})["words"], n_documents)
    return found.most_frequent(n_wanted)


def _chosen(words: NDArray[np.uint64], occurrences: NDArray[np.int64], documents: NDArray[np.int64]) -> Sent:
    return Sent("words", table_of([words, occurrences, documents], WORDS), 0)


def _told(flow: Flow, words: PartedTable, n_documents: int) -> KnownWords:
    table = flow.collect(words)
    hashes, counts, documents = (table[name].to_numpy() for name in WORDS.names)
    order = np.argsort(hashes)
    return KnownWords(hashes[order], counts[order], documents[order], n_documents)
