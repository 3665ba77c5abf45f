"""What the ways of searching find and take: one data set, the same queries, truth by full comparison. Used by qsign.py."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from inputs import Record, gathered
from newsgroups import best_seconds, every_sentence
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.execution.tasks import in_turn
from ibidem.index import bits
from ibidem.index.arrivals import Arrivals, QueryTypes
from ibidem.index.comparison import Comparison, Matches, Request
from ibidem.index.search import _accumulated, _within_radius, search
from ibidem.index.segment import Segment, SegmentSettings, frozen
from ibidem.index.vocabulary import WordCounts
from ibidem.signatures import SentenceTypes, type_tokens
from ibidem.signatures.sentence_types import TypeTokens

LEVELS = (0.9, 0.8, 0.7, 0.6, 0.5)
MASKS = ((16, 1), (32, 2), (64, 3))
RADII = range(6)
SIZES = {"30 K": 30_000, "290 K": 290_000}  # in sentences
LEAST_QUERY_WORDS = 5
MAX_DOCUMENT_SHARE = 0.2
N_QUERY_DOCUMENTS = 60
QUERY_SENTENCES = (25, 60)
EVERY, SLOW_SECONDS = 5, 0.2  # one query in so many is timed if these take longer
SETTINGS = SegmentSettings(64, 3, 1.0, Fraction(1), exact=True)
NO_HASHES = frozen(np.empty(0, np.uint64))


@dataclass(frozen=True)
class Filtered(Collection):
    """A collection whose sentences go without some words, sorted here by hash."""

    dropped: NDArray[np.uint64] = field(default_factory=lambda: NO_HASHES)

    def tokens_left(self, types: SentenceTypes) -> TypeTokens:
        """Return the tokens of every type that are left."""
        tokens = type_tokens(self, types, in_turn)
        kept = ~np.isin(tokens.tokens, self.dropped)
        return TypeTokens(tokens.tokens[kept], np.concatenate([[0], np.cumsum(kept)])[tokens.first])


class FilteredArrivals(Arrivals):
    """Arrivals that are known by the words that are left."""

    collection: Filtered

    @cached_property
    def tokens(self) -> TypeTokens:
        """The tokens of the types that are left."""
        return self.collection.tokens_left(self.types)


@dataclass(frozen=True)
class DataSet:
    """Sentences and queries: segments differ by the masks of words, all else is the same."""

    name: str
    data: Arrivals
    queries: Arrivals
    counts: WordCounts

    def segment(self, n_bits: int, bits_per_word: int) -> tuple[SegmentSettings, Segment, QueryTypes]:
        """Return the settings, the data as a segment, and the types of the queries."""
        settings = replace(SETTINGS, signature_bits=n_bits, bits_per_word=bits_per_word)
        segment = self.data.segment(np.arange(self.data.collection.n_documents), self.counts, settings)
        return settings, segment, self.queries.queries(self.counts, settings)

    def words_a_sentence(self, arrivals: Arrivals) -> float:
        """Return how many different words per sentence has on average."""
        return float(arrivals.queries(self.counts, SETTINGS).sizes[arrivals.types.of_sentence].mean())

    @cached_property
    def query_places(self) -> NDArray[np.int64]:
        """Number of query sentences by type."""
        return np.bincount(self.queries.types.of_sentence)


@dataclass(frozen=True)
class Outcome:
    """What one way of searching found and took, by query sentence; `selecting` is the part that finds candidates."""

    name: str
    recall: tuple[float, ...]
    overall: float
    seconds: float
    candidates: float | None = None
    precision: float | None = None
    selecting: float | None = None


def filtered(collection: Collection, dropped: NDArray[np.uint64], least_words: int = 1) -> Filtered:
    """Return a collection without these words, and without the sentences that are left with too few."""
    columns = {column.name: getattr(collection, column.name) for column in fields(collection)}
    whole = Filtered(**columns, dropped=dropped)
    rows = np.diff(whole.tokens_left(every_sentence(collection)).first) >= least_words
    sentence_columns = ("document", "start_byte", "end_byte", "start_char", "end_char", "n_words", "digest")
    return replace(whole, **{name: columns[name][rows] for name in sentence_columns})


def data_sets(records: list[Record], n_sentences: NDArray[np.int64], counts: WordCounts, share: float) -> Iterator[DataSet]:
    """Yield the two data sets with the same queries, or only a share of both."""
    dropped = counts.common_hashes(MAX_DOCUMENT_SHARE)
    n_first = int(np.searchsorted(np.cumsum(n_sentences), share * SIZES["30 K"]))
    drawn = [row for row in range(n_first) if QUERY_SENTENCES[0] <= n_sentences[row] <= QUERY_SENTENCES[1]]
    chosen = set(random.Random(1).sample(drawn, round(share * N_QUERY_DOCUMENTS)))
    queries = FilteredArrivals(filtered(gathered([records[row] for row in sorted(chosen)]), dropped, LEAST_QUERY_WORDS))
    others = [record for row, record in enumerate(records) if row not in chosen]
    first = filtered(gathered(others), dropped).document_first
    for name, n_wanted in SIZES.items():
        n_documents = int(np.searchsorted(first, share * n_wanted))
        yield DataSet(name, FilteredArrivals(filtered(gathered(others[:n_documents]), dropped)), queries, counts)


def some_queries(queries: QueryTypes, rows: NDArray[np.int64]) -> QueryTypes:
    """Return these queries only."""
    first = np.concatenate([[0], np.cumsum(queries.sizes[rows])])
    words = np.concatenate([queries.words[queries.first[row] : queries.first[row + 1]] for row in rows])
    by_query = {name: frozen(getattr(queries, name)[rows]) for name in ("digests", "totals", "signatures", "fingerprints")}
    return replace(queries, words=frozen(words), first=frozen(first), **by_query)


def asked(method: str, radius: int = 0) -> Request:
    """Return what is asked for: the paper's score, at least one half."""
    return Request(method, "product", Fraction(1, 2), radius, 0.0, 0, min_contained_words=1)


def pair_keys(matches: Matches) -> NDArray[np.int64]:
    """Return query and type of every match as one number."""
    return matches.query << 32 | matches.type


class Truth:
    """All matches by full comparison: their levels, and how many pairs of sentences each stands for."""

    def __init__(self, data: DataSet, segment: Segment, queries: QueryTypes, settings: SegmentSettings) -> None:
        matches = search(segment, queries, asked("scan"), settings, NO_HASHES).hits
        scores = matches.scores(queries, "product")
        self.pairs = pair_keys(matches)
        self.common = matches.common
        self.n_missing, self.n_extra = queries.sizes[matches.query] - matches.common, matches.size - matches.common
        self.level = (scores[:, None] <= LEVELS[:-1]).sum(axis=1)
        self.places = data.query_places[matches.query] * segment.place_counts(matches.type)
        self.by_level = np.bincount(self.level, self.places, len(LEVELS))

    def predicted(self, n_bits: int, bits_per_word: int, radius: int) -> tuple[float, ...]:
        """Return the recall by level that P_max predicts from the words of every match: in common, and changed."""
        kinds, which = np.unique(self.common << 32 | self.n_missing + self.n_extra, return_inverse=True)
        words = [(kind >> 32, kind & 0xFFFFFFFF) for kind in kinds.tolist()]
        chances = np.array([bits.within_probability(n_bits, bits_per_word, n, k, radius) for n, k in words])
        expected = np.bincount(self.level, self.places * chances[which], len(LEVELS))
        return tuple(expected / np.maximum(1, self.by_level))

    def recall(self, matches: Matches) -> tuple[tuple[float, ...], float]:
        """Return the share that was found, by level and over all; something found that is not true is an error."""
        if not np.isin(pair_keys(matches), self.pairs).all():
            sys.exit("A search found what the full comparison did not.")
        found = np.bincount(self.level, self.places * np.isin(self.pairs, pair_keys(matches)), len(LEVELS))
        return tuple(found / np.maximum(1, self.by_level)), float(found.sum() / self.by_level.sum())


def select_candidates(
    segment: Segment, queries: QueryTypes, request: Request, settings: SegmentSettings
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return the types that `bits` or `inverted` compare with each query: those of query q lie from `first[q]` on."""
    # The two steps of a search are no part of its interface; but the paper times them apart (figures 9 and 12).
    if request.method == "bits":
        return _within_radius(Comparison(segment, queries, request), settings)
    return _accumulated(Comparison(segment, queries, request))


def way_name(n_bits: int, bits_per_word: int, radius: int) -> str:
    """Return what a search by bit signatures is called."""
    return f"bits {n_bits}/{bits_per_word}, d = {radius}"


def measure(data: DataSet) -> tuple[Truth, dict[str, Outcome]]:
    """Return the truth and what every way of searching found and took."""
    outcomes: dict[str, Outcome] = {}
    truth: Truth | None = None
    for n_bits, bits_per_word in reversed(MASKS):
        settings, segment, queries = data.segment(n_bits, bits_per_word)
        truth = truth or Truth(data, segment, queries, settings)
        ways = {way_name(n_bits, bits_per_word, d): asked("bits", d) for d in RADII}
        if not outcomes:  # the exact ones use the signature of the default width, or none
            ways |= {name: asked(name) for name in ("scan", "inverted", "overlap")}
        for name, request in ways.items():
            outcomes[name] = measure_way(name, data, truth, segment, queries, request, settings)
    assert truth is not None
    return truth, outcomes


def measure_way(
    name: str, data: DataSet, truth: Truth, segment: Segment, queries: QueryTypes, request: Request, settings: SegmentSettings
) -> Outcome:
    """Return what one way of searching found and took."""

    def search_all(timed: QueryTypes) -> Matches:
        return search(segment, timed, request, settings, NO_HASHES).hits

    # What a scan finds is the truth: to do it once more would take longest and tell nothing.
    recall, overall = ((1.0,) * len(LEVELS), 1.0) if request.method == "scan" else truth.recall(search_all(queries))
    some = some_queries(queries, np.arange(0, len(queries), EVERY))
    timed = some if best_seconds(lambda: search_all(some), 1) > SLOW_SECONDS else queries
    outcome = Outcome(name, recall, overall, best_seconds(lambda: search_all(timed)) / len(timed))
    if request.method not in ("bits", "inverted"):
        return outcome
    first, types = select_candidates(segment, queries, request, settings)
    places = np.concatenate([[0], np.cumsum(segment.place_counts(types.astype(np.int64)))])
    n_candidates = float(((places[first[1:]] - places[first[:-1]]) * data.query_places).sum())
    selecting = best_seconds(lambda: select_candidates(segment, timed, request, settings)) / len(timed)
    return replace(
        outcome,
        candidates=n_candidates / data.query_places.sum(),
        precision=overall * truth.by_level.sum() / max(1.0, n_candidates),
        selecting=min(selecting, outcome.seconds),
    )
