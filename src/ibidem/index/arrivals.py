"""Arrivals: new documents with their sentences, types and words, ready to be searched for and stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.ragged import ranges, starts_of
from ibidem.columns.sets import HashSets
from ibidem.config import Config
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.index.bits import PLANE_BITS, narrow_bits, sentence_signatures, word_masks
from ibidem.index.elements import has_key, make_elements
from ibidem.index.kept_texts import TextColumns, pack_texts
from ibidem.index.kernels import comparison as kernels
from ibidem.index.segment import ABSENT, Segment, SegmentSettings, TypeElements, document_columns, frozen
from ibidem.index.segment_build import ELEMENT_BITS, SentenceColumns, TypeColumns, build_segment
from ibidem.index.vocabulary import WordCounts
from ibidem.matches import join_types, sort_sets
from ibidem.passages.extension import EndWords
from ibidem.sentences.core import gather
from ibidem.sentences.ignored_text import load_ignored
from ibidem.signatures import SentenceTypes, TypeTokens, collapse_sentences, type_tokens
from ibidem.signatures.sentence_types import NumberedHashes, number_hashes

_WORD_BITS, _WORD_MASK = 32, (1 << 32) - 1


@dataclass(frozen=True)
class QueryTypes:
    """The queries of a search. Query t has the distinct words `words[first[t]:first[t + 1]]`, numbers into `word_hashes`.

    Where sentences are known by other elements than words, these take the place of words.
    """

    digests: NDArray[np.uint64]
    words: NDArray[np.int32]
    first: NDArray[np.int64]
    word_hashes: NDArray[np.uint64]
    weights: NDArray[np.int64]
    masks: NDArray[np.uint64]
    totals: NDArray[np.int64]
    signatures: NDArray[np.uint64]
    fingerprints: NDArray[np.uint64]
    wide_signatures: NDArray[np.uint64] = ABSENT
    _found: list[tuple[TypeElements, NDArray[np.int64]]] = field(default_factory=list, kw_only=True, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.digests)

    def part(self, begin: int, end: int) -> QueryTypes:
        """Return the queries [begin, end); words keep their numbers."""
        return replace(self, first=frozen(self.first[begin : end + 1]), **self._by_query(slice(begin, end)))

    def chosen(self, rows: NDArray[np.int64]) -> QueryTypes:
        """Return some of the queries; words keep their numbers."""
        words = self.words[ranges(self.first[rows], self.sizes[rows])]
        return replace(self, words=frozen(words), first=frozen(starts_of(self.sizes[rows])), **self._by_query(rows))

    def numbers_in(self, elements: TypeElements) -> NDArray[np.int64]:
        """Return the number of each word in a segment, -1 for those that are not there; looked up once, also for parts."""
        for known, numbers in self._found:
            if known is elements:
                return numbers
        self._found.append((elements, frozen(elements.numbers_of(self.word_hashes))))
        return self._found[-1][1]

    def _by_query(self, rows: slice | NDArray[np.int64]) -> dict[str, Any]:
        """Return the columns of some queries, except those of their words."""
        names = ("digests", "totals", "signatures", "fingerprints")
        columns = {name: frozen(getattr(self, name)[rows]) for name in names}
        return columns | ({} if self.wide_signatures is ABSENT else {"wide_signatures": self.wide_signatures[:, rows]})

    @property
    def bit_signatures(self) -> NDArray[np.uint64]:
        """The bit signatures of all queries, as `bits` takes them."""
        return self.signatures if self.wide_signatures is ABSENT else self.wide_signatures

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of distinct words by query."""
        return np.diff(self.first)

    @cached_property
    def n_counted(self) -> NDArray[np.int64]:
        """Number of distinct words that count, by query. Stop words weigh nothing."""
        counts = self.weights > 0
        return self.sizes if counts.all() else np.diff(starts_of(counts[self.words])[self.first])

    @cached_property
    def sorted_words(self) -> NDArray[np.int32]:
        """The words of every query by rising number."""
        packed = np.repeat(np.arange(len(self)) << _WORD_BITS, self.sizes) | self.words
        packed.sort()
        return (packed & _WORD_MASK).astype(np.int32)


class Arrivals:
    """Documents that arrived together. Everything is worked out once, when it is asked for first."""

    def __init__(self, collection: Collection, run_tasks: RunTasks = in_turn) -> None:
        self.collection = collection
        self._run_tasks = run_tasks
        self._made: tuple[WordCounts, HashSets] | None = None  # the elements, by the counts that they were made with

    @cached_property
    def types(self) -> SentenceTypes:
        """The types of the sentences."""
        return collapse_sentences(self.collection.digest)

    @cached_property
    def tokens(self) -> TypeTokens:
        """The tokens of the types."""
        return type_tokens(self.collection, self.types, self._run_tasks)

    @cached_property
    def _words(self) -> tuple[NumberedHashes, NDArray[np.int64]]:
        return number_hashes(self.tokens.tokens, self._run_tasks), self.tokens.first

    @property
    def n_words(self) -> int:
        """Number of distinct words."""
        return len(self._words[0].hashes)

    @cached_property
    def digests(self) -> NDArray[np.uint64]:
        """The digests of the types."""
        return self.collection.digest[self.types.first_sentence]

    @cached_property
    def _texts(self) -> TextColumns:
        return pack_texts(batch.column("text") for batch in self.collection.batches)

    @cached_property
    def end_words(self) -> EndWords:
        """What is known of the words next to the sentences, as segments store it."""
        return EndWords.of_all(self.collection, self._run_tasks).in_bytes()

    def _elements(self, counts: WordCounts, settings: SegmentSettings) -> HashSets:
        """Return what every type is known by."""
        words, first = self._words
        if settings.elements is None:
            return HashSets(words.hashes[words.ids], first)
        if self._made is None or self._made[0] is not counts:
            self._made = counts, make_elements(self.tokens, words, counts, settings)
        return self._made[1]

    def join(self, counts: WordCounts, settings: SegmentSettings) -> NDArray[np.int32]:
        """Return the class of every type, named by its first member, by Jaccard similarity of elements; -1 without any."""
        sets = sort_sets(self._elements(counts, settings), self._run_tasks)
        return join_types(sets, settings.min_similarity, self._run_tasks).of_type

    def element_queries(self, counts: WordCounts, settings: SegmentSettings) -> QueryTypes:
        """Return the types as queries by what they are known by, where that is not their words."""
        elements = self._elements(counts, settings)
        numbered = number_hashes(elements.hashes, self._run_tasks)
        masks = word_masks(numbered.hashes, *ELEMENT_BITS)
        alike = np.ones(len(numbered.hashes), np.int64)
        return self._queries(numbered, elements.first, alike, masks, np.zeros(len(alike), np.bool_))

    def queries(self, counts: WordCounts, settings: SegmentSettings) -> QueryTypes:
        """Return the types as queries."""
        words, first = self._words
        n_documents = counts.counts_of(words.hashes)
        weights = counts.weights_by_counts(n_documents)
        n_bits, per_word = settings.signature_bits, settings.bits_per_word
        masks = word_masks(words.hashes, *narrow_bits(n_bits, per_word))
        is_common = n_documents > counts.most_of_uncommon(settings.max_document_share)
        is_stop = np.isin(words.hashes, settings.stops) if len(settings.stops) else np.zeros(len(words.hashes), np.bool_)
        weights[is_stop] = masks[is_stop] = 0
        is_common |= is_stop
        queries = self._queries(words, first, weights, masks, is_common)
        if n_bits > PLANE_BITS:
            wide = word_masks(words.hashes, n_bits, per_word)
            wide[:, is_stop] = 0
            queries = replace(queries, wide_signatures=sentence_signatures(wide, queries.words, queries.first))
        return queries

    def _queries(
        self,
        words: NumberedHashes,
        first: NDArray[np.int64],
        weights: NDArray[np.int64],
        masks: NDArray[np.uint64],
        is_common: NDArray[np.bool_],
    ) -> QueryTypes:
        n = len(self.types)
        distinct = kernels.DistinctWords(
            np.empty(len(words.ids), np.int32),
            np.empty(n + 1, np.int64),
            totals=np.empty(n, np.int64),
            signatures=np.empty(n, np.uint64),
            fingerprints=np.empty(n, np.uint64),
        )
        kernels.distinct_words(words.ids, first, weights, masks, words.hashes, is_common, distinct)
        columns = (distinct.words[: distinct.first[-1]], distinct.first, words.hashes, weights, masks, *distinct[2:])
        return QueryTypes(frozen(self.digests), *(frozen(column) for column in columns))

    def segment(self, serials: NDArray[np.int64], counts: WordCounts, settings: SegmentSettings) -> Segment:
        """Return the documents as a segment with these serials."""
        source, (words, first) = self.collection, self._words
        documents = document_columns(serials, source.n_chars, source.times, source.ids, source.groups)
        sentences = SentenceColumns(
            source.document_first, self.types.of_sentence.astype(np.uint32), source.start_char, source.end_char,
            self.end_words if settings.texts else None,
        )  # fmt: skip
        # A copy of the words: they may also be searched for, and building consumes them.
        types = TypeColumns(self.digests, words.ids.copy(), first, words.hashes)
        if settings.elements is not None and not has_key(settings.elements):
            types = replace(types, elements=self._elements(counts, settings))
        return build_segment(documents, sentences, types, counts, settings, self._texts if settings.texts else None)


def in_chunks(batches: Iterable[pa.RecordBatch], n_first_bytes: int, n_later_bytes: int) -> Iterator[list[pa.RecordBatch]]:
    """Yield record batches in lists of at least so many bytes of text; the first list may differ from the others."""
    chunk: list[pa.RecordBatch] = []
    n_bytes, n_chunk_bytes = 0, n_first_bytes
    for batch in batches:
        chunk.append(batch)
        n_bytes += batch.column("text").nbytes
        if n_bytes >= n_chunk_bytes:
            yield chunk
            chunk, n_bytes, n_chunk_bytes = [], 0, n_later_bytes
    if chunk:
        yield chunk


def gather_batches(batches: list[pa.RecordBatch], config: Config, run_tasks: RunTasks) -> Collection:
    """Return documents in batches with their sentences; text to ignore is marked."""
    ignored = load_ignored(config.sentences.ignore)
    return gather(batches, iter(()), config.sentences, run_tasks, lambda n_documents, n_sentences: None, ignored=ignored)
