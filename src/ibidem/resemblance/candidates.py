"""How pairs to compare are found: by the exact join, by samples of shingles, or by one of the known sketches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.postings import postings_of
from ibidem.columns.sets import HashSets
from ibidem.config import Config
from ibidem.config.settings import IDENTICAL
from ibidem.config.surface import given
from ibidem.errors import ResourceError
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.resemblance.comparison import Duplicates, estimates, joined, resemblances
from ibidem.resemblance.document_join import join_documents
from ibidem.resemblance.limits import resemblance_limits
from ibidem.resemblance.prune import sample, without_empty
from ibidem.resemblance.samples import judged, looked_at, resemblance_limit, shingle_limits
from ibidem.resemblance.shingled_texts import shingle_tokens
from ibidem.resemblance.sketches import agreement, band_pairs, minhash, near_codes, simhash
from ibidem.signatures import TypeTokens, Vocabulary
from ibidem.signatures.imatch import SIGNATURE as IMATCH
from ibidem.signatures.known_words import known_vocabulary
from ibidem.signatures.spotsigs import SIGNATURE as SPOTSIGS

_MOST_DOCUMENTS_FOR_ALL_PAIRS = 5_000
_CODE_BITS = 64


@dataclass(frozen=True)
class Corpus:
    """What the methods work on: the distinct shingles of each document, its words if a method needs them, and which documents
    to compare.

    `wanted` are the documents that take part; with `side` (empty for none), only documents of different sides are paired.
    `every` is the sampling ratio per document: one in `every` shingles is used.
    """

    sets: HashSets
    words: TypeTokens | None
    wanted: NDArray[np.bool_]
    side: NDArray[np.int8]
    every: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of shingles per document."""
        return np.diff(self.sets.first)

    def chosen(self) -> tuple[NDArray[np.int32], HashSets]:
        """Return the numbers of the documents that take part, and their shingles."""
        return np.flatnonzero(self.wanted).astype(np.int32), without_empty(sample(self.sets, self.wanted, 1), self.wanted)

    def may_pair(self, a: NDArray[np.int32], b: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which pairs consist of wanted documents, on different sides if there are sides."""
        allowed = self.wanted[a] & self.wanted[b]
        if len(self.side):
            allowed &= self.side[a] != self.side[b]
        return allowed


@dataclass(frozen=True)
class Found:
    """Pairs that a method found, with its own estimate of their similarity.

    `by_common` says per document whether it was paired through shingles so common that not all pairs were considered.
    """

    duplicates: Duplicates
    by_common: NDArray[np.bool_]


def find_candidates(corpus: Corpus, config: Config, to_verify: bool, run_tasks: RunTasks = in_turn) -> Found:
    """Return the pairs that the chosen method finds: those it considers duplicates or, with `to_verify`, all possible ones."""
    methods: dict[str, Callable[[Corpus, Config, bool, RunTasks], Found]] = {
        "join": _by_shingles,
        IDENTICAL: _none,
        "shingling": _by_shingles,
        "pairs": _all_pairs,
        "minhash": _by_minhash,
        "simhash": _by_simhash,
        "imatch": _by_imatch,
        "spotsigs": _by_spotsigs,
    }
    return methods[config.resemblance.method](corpus, config, to_verify, run_tasks)


def _none(corpus: Corpus, config: Config, to_verify: bool, run_tasks: RunTasks) -> Found:
    """No pair: identical documents have been set aside before."""
    return Found(joined([]), np.zeros(len(corpus.wanted), np.bool_))


def _by_shingles(corpus: Corpus, config: Config, to_verify: bool, run_tasks: RunTasks) -> Found:
    """By shared shingles, or samples of them.

    Samples are nested: documents with different sampling ratios are compared by the smaller sample.
    """
    settings = config.resemblance
    found: list[Duplicates] = []
    by_common = np.zeros(len(corpus.wanted), np.bool_)
    for every in np.unique(corpus.every[corpus.wanted]):
        wanted = corpus.wanted & (corpus.every <= every)
        sets = looked_at(corpus.sets, wanted, int(every), config, run_tasks)
        limits = shingle_limits(config, int(every), to_verify, int(np.diff(sets.first).max(initial=0)))
        whole = settings.method == "shingling"
        outcome = join_documents(sets, limits, wanted, corpus.side, settings.max_shingle_documents, whole, run_tasks)
        pairs = outcome.pairs
        new = np.maximum(corpus.every[pairs.a], corpus.every[pairs.b]) == every
        columns = pairs.a[new], pairs.b[new], pairs.overlap[new]
        found.append(judged(sets, corpus.sets, *columns, config, to_verify))
        by_common |= outcome.by_common
    return Found(joined(found), by_common)


def _all_pairs(corpus: Corpus, config: Config, to_verify: bool, run_tasks: RunTasks) -> Found:
    """Every pair, for small collections and studies."""
    documents = np.flatnonzero(corpus.wanted & (corpus.sizes > 0)).astype(np.int32)
    if len(documents) > _MOST_DOCUMENTS_FOR_ALL_PAIRS:
        raise ResourceError(
            f"{len(documents):,} documents are too many to compare all pairs", f"Leave out {given('method', 'pairs')}."
        )
    first, second = np.triu_indices(len(documents), 1)
    a, b = documents[first], documents[second]
    return estimated(corpus, a, b, np.zeros(len(a)), 0.0)


def _by_minhash(corpus: Corpus, config: Config, to_verify: bool, run_tasks: RunTasks) -> Found:
    settings = config.resemblance
    documents, sets = corpus.chosen()
    signatures = minhash(sets, settings.permutations, run_tasks)
    a, b = band_pairs(signatures, settings.bands, settings.max_shingle_documents, run_tasks)
    limit = 0.0 if to_verify else float(resemblance_limit(config))
    return estimated(corpus, documents[a], documents[b], agreement(signatures, a, b), limit)


def _by_simhash(corpus: Corpus, config: Config, to_verify: bool, run_tasks: RunTasks) -> Found:
    documents, sets = corpus.chosen()
    codes = simhash(sets, run_tasks)
    settings = config.resemblance
    a, b = near_codes(codes, settings.max_bits_apart, np.diff(sets.first) > 0, settings.max_shingle_documents, run_tasks)
    bits_apart = np.unpackbits((codes[a] ^ codes[b])[:, None].view(np.uint8), axis=1).sum(axis=1)
    return estimated(corpus, documents[a], documents[b], 1 - bits_apart / _CODE_BITS, 0.0)


def _by_imatch(corpus: Corpus, config: Config, to_verify: bool, run_tasks: RunTasks) -> Found:
    """Chowdhury et al.: documents with the same words of medium frequency."""
    words = corpus.words
    assert words is not None
    keys = IMATCH.key(words, _vocabulary(words, config, run_tasks), config.signatures)
    keys[~corpus.wanted] = 0
    groups = postings_of(keys)
    known = np.flatnonzero((keys[groups.rows[groups.first[:-1]]] != 0) & (np.diff(groups.first) > 1))
    a, b = _pairs_of_groups(groups.rows, groups.first, known, config.resemblance.max_shingle_documents)
    return estimated(corpus, a, b, np.ones(len(a)), 0.0)


def _by_spotsigs(corpus: Corpus, config: Config, to_verify: bool, run_tasks: RunTasks) -> Found:
    """Theobald et al.: documents whose sets of spots are similar."""
    words = corpus.words
    assert words is not None
    spots = spot_sets(words, _vocabulary(words, config, run_tasks), config)
    sizes = np.diff(spots.first)
    limits = resemblance_limits(resemblance_limit(config), Fraction(0), int(sizes.max(initial=0)))
    outcome = join_documents(
        spots, limits, corpus.wanted, corpus.side, config.resemblance.max_shingle_documents, False, run_tasks
    )
    pairs = outcome.pairs
    return Found(resemblances(sizes, pairs.a, pairs.b, pairs.overlap), outcome.by_common)


def spot_sets(words: TypeTokens, vocabulary: Vocabulary, config: Config) -> HashSets:
    """Return the distinct spots of documents."""
    spots = SPOTSIGS.hashes(words, vocabulary, config.signatures)
    return shingle_tokens(TypeTokens(spots.hashes, spots.first), 1, distinct=True)


def _vocabulary(words: TypeTokens, config: Config, run_tasks: RunTasks) -> Vocabulary:
    numbers = np.arange(len(words), dtype=np.int32)
    return known_vocabulary(words, numbers, numbers, len(words), config, config.resemblance.method, run_tasks)


def _pairs_of_groups(
    rows: NDArray[np.int32], first: NDArray[np.int64], groups: NDArray[np.int64], max_members: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return all pairs within each group; for a group of more than `max_members`, only those with its first member."""
    a: list[NDArray[np.int32]] = []
    b: list[NDArray[np.int32]] = []
    for group in groups.tolist():
        members = np.sort(rows[first[group] : first[group + 1]])
        i, j = np.triu_indices(len(members), 1) if len(members) <= max_members else (0, np.arange(1, len(members)))
        a.append(np.broadcast_to(members[i], np.shape(j)))
        b.append(members[j])
    none = np.empty(0, np.int32)
    return np.concatenate([none, *a]), np.concatenate([none, *b])


def estimated(
    corpus: Corpus, a: NDArray[np.int32], b: NDArray[np.int32], similarity: NDArray[np.float64], limit: float
) -> Found:
    """Return the pairs that may be compared and reach the limit; their containments follow from their sizes."""
    chosen = corpus.may_pair(a, b) & (similarity >= limit)
    a, b = a[chosen], b[chosen]
    # Sketches miss pairs, and full buckets do not list all: so clusters compare with their canonical documents.
    by_common = np.zeros(len(corpus.wanted), np.bool_)
    by_common[a] = by_common[b] = True
    return Found(joined([estimates(corpus.sizes, a, b, similarity[chosen])]), by_common)
