"""What the ways of searching find and take: one data set, the same queries, truth by full comparison. Used by qsign.py."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from inputs import Record, gathered
from newsgroups import every_sentence
from numpy.typing import NDArray
from qsign_steps import timed

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
LEAST_MATCHES = 100  # of a level that decides anything
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


POSTS_USED = (
    "newsgroups20; nothing is planted. Words in more than 20 % of the posts, and queries of fewer than 5 words, are left "
)
POSTS_USED += "out, to come near the paper's 10 words per query"


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
    """What one way of searching found and took, by query sentence; `selecting` is the part that finds candidates,
    `comparing` the one that compares them."""

    name: str
    recall: tuple[float, ...]
    overall: float
    seconds: float
    candidates: float | None = None
    precision: float | None = None
    selecting: float | None = None
    comparing: float | None = None


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


def asked(method: str, radius: int = 0, min_score: float = LEVELS[-1]) -> Request:
    """Return what is asked for: the paper's score, at least one half, or more."""
    return Request(method, "product", Fraction(str(min_score)), radius, 0.0, 0, min_contained_words=1)


def pair_keys(matches: Matches) -> NDArray[np.int64]:
    """Return query and type of every match as one number."""
    return matches.query << 32 | matches.type


class Truth:
    """All matches, by the exact search: their levels, and how many pairs of sentences each represents."""

    def __init__(self, data: DataSet, segment: Segment, queries: QueryTypes, settings: SegmentSettings) -> None:
        matches = search(segment, queries, asked("overlap"), settings, NO_HASHES).hits
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

    def confirm(self, matches: Matches, every: int) -> None:
        """End the study if the full comparison of one query in so many finds anything else."""
        found = (matches.query * every) << 32 | matches.type
        if not np.array_equal(np.sort(found), np.sort(self.pairs[(self.pairs >> 32) % every == 0])):
            sys.exit("The full comparison found other matches than the exact search.")

    def recall(self, matches: Matches) -> tuple[tuple[float, ...], float]:
        """Return the share that was found, by level and over all; something found that is not true is an error."""
        if not np.isin(pair_keys(matches), self.pairs).all():
            sys.exit("A search found what the full comparison did not.")
        found = np.bincount(self.level, self.places * np.isin(self.pairs, pair_keys(matches)), len(LEVELS))
        return tuple(found / np.maximum(1, self.by_level)), float(found.sum() / self.by_level.sum())


Results = dict[str, tuple[Truth, dict[str, Outcome]]]


def select_candidates(
    segment: Segment, queries: QueryTypes, request: Request, settings: SegmentSettings
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return the types that `bits` or `inverted` compare with each query: those of query q lie from `first[q]` on."""
    # No part of a search's interface; but the paper counts candidates (table 2).
    if request.method == "bits":
        return _within_radius(Comparison(segment, queries, request), settings)
    return _accumulated(Comparison(segment, queries, request))


def way_name(n_bits: int, bits_per_word: int, radius: int) -> str:
    """Return what a search by bit signatures is called."""
    return f"bits {n_bits}/{bits_per_word}, d = {radius}"


def limits_of(name: str) -> dict[str, float]:
    """Return the names and limits of an exact search: raised limits make it miss matches and, it may be, faster."""
    return {name if limit == LEVELS[-1] else f"{name}, θ = {limit}": limit for limit in (*reversed(LEVELS), 1.0)}


def measure(data: DataSet, masks: Sequence[tuple[int, int]]) -> tuple[Truth, dict[str, Outcome]]:
    """Return the truth and what every way of searching found and took."""
    outcomes: dict[str, Outcome] = {}
    settings, segment, queries = data.segment(*MASKS[-1])  # the exact ones use the signature of the default width, or none
    truth = Truth(data, segment, queries, settings)
    exact = {"scan": asked("scan")}
    exact |= {name: asked(each, 0, limit) for each in ("inverted", "overlap") for name, limit in limits_of(each).items()}
    for name, request in exact.items():
        outcomes[name] = measure_way(name, data, truth, segment, queries, request, settings)
    for mask in masks:
        settings, segment, queries = data.segment(*mask)
        for d in RADII:
            name = way_name(*mask, d)
            outcomes[name] = measure_way(name, data, truth, segment, queries, asked("bits", d), settings)
    return truth, outcomes


def measure_way(
    name: str, data: DataSet, truth: Truth, segment: Segment, queries: QueryTypes, request: Request, settings: SegmentSettings
) -> Outcome:
    """Return what one way of searching found and took."""

    def search_all(some: QueryTypes) -> Matches:
        return search(segment, some, request, settings, NO_HASHES).hits

    few = queries.chosen(np.arange(0, len(queries), EVERY))
    if request.method == "scan":
        truth.confirm(search_all(few), EVERY)
    recall, overall = ((1.0,) * len(LEVELS), 1.0) if request.method == "scan" else truth.recall(search_all(queries))
    asked_for = few if timed(lambda: search_all(few), 1).seconds > SLOW_SECONDS else queries
    seconds, selecting, comparing = (taken / len(asked_for) for taken in timed(lambda: search_all(asked_for)))
    outcome = Outcome(name, recall, overall, seconds)
    if request.method not in ("bits", "inverted"):
        return outcome
    first, types = select_candidates(segment, queries, request, settings)
    places = np.concatenate([[0], np.cumsum(segment.place_counts(types.astype(np.int64)))])
    n_candidates = float(((places[first[1:]] - places[first[:-1]]) * data.query_places).sum())
    return replace(
        outcome,
        candidates=n_candidates / data.query_places.sum(),
        precision=overall * truth.by_level.sum() / max(1.0, n_candidates),
        selecting=selecting,
        comparing=comparing,
    )


def level_name(i: int) -> str:
    """Return the range of scores of a level."""
    return f"{'[' if i + 1 == len(LEVELS) else '('}{LEVELS[i]:.1f}, {LEVELS[i] + 0.1:.1f}]"


def key_of(data: DataSet) -> str:
    """Return the name of a data set without blanks."""
    return data.name.replace(" ", "")


def deciding(results: Results) -> str:
    """Say on what the verdicts about all matches rest."""
    n_matches = [f"{truth.by_level.sum():,.0f} matches in {name}" for name, (truth, _) in results.items()]
    return f"{POSTS_USED}. {' and '.join(n_matches)} decide."
