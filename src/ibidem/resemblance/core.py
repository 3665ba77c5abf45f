"""Duplicates: identical documents are set aside; pairs are found by a method and, unless disabled, compared in full."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.shingled import ShingledDocuments
from ibidem.config import Config, is_compared_in_full
from ibidem.config.sampling_plan import SamplingPlan
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.resemblance.candidates import Corpus, Found, find_candidates
from ibidem.resemblance.comparison import Comparer, Duplicates, joined
from ibidem.resemblance.order import occurrence_hashes
from ibidem.resemblance.shingled_texts import shingle_tokens
from ibidem.signatures import TypeTokens


def corpus_of(
    documents: ShingledDocuments,
    representative: NDArray[np.int32],
    config: Config,
    plan: SamplingPlan | None,
    run_tasks: RunTasks,
) -> tuple[Corpus, Comparer]:
    """Return what is compared, with one representative of identical documents, and how pairs are compared in full."""
    words = None
    if documents.kind == "words":
        words = TypeTokens(documents.known_by.hashes, documents.known_by.first, config.sentences.hash_seed)
    size = config.signatures.shingle_words("document")
    sets, sequences = documents.known_by, None
    if words is not None:
        sets = shingle_tokens(words, size, distinct=True)
    if config.resemblance.measure == "order":
        sequences = documents.known_by if words is None else shingle_tokens(words, size, distinct=False)
        sets = occurrence_hashes(sequences, run_tasks)
    wanted = (representative == np.arange(documents.n_documents)) & (documents.digests != 0)
    ratio = config.resemblance.sample_every
    every = np.full(documents.n_documents, ratio, np.int64) if plan is None else plan.every_of(np.diff(sets.first))
    return Corpus(sets, words, wanted, documents.side, every), Comparer(sets, sequences, config, run_tasks)


def representatives(digests: NDArray[np.uint64], side: NDArray[np.int8], rank: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return for every document the one of lowest rank on its side with the same digest.

    Documents with digest 0 have no words; each represents only itself.
    """
    n = len(digests)
    sides = side if len(side) else np.zeros(n, np.int8)
    order = np.lexsort((rank, sides, digests))
    new = np.ones(n, np.bool_)
    new[1:] = (digests[order][1:] != digests[order][:-1]) | (sides[order][1:] != sides[order][:-1])
    new |= digests[order] == 0
    representative = np.empty(n, np.int32)
    representative[order] = order[np.flatnonzero(new)][np.cumsum(new) - 1]
    return representative


def find_duplicates(corpus: Corpus, comparer: Comparer, config: Config, run_tasks: RunTasks = in_turn) -> Found:
    """Return the pairs of duplicates. With the method `join` and no sample they are complete; with any method, if verified,
    correct.

    If order counts, documents are compared by shingles numbered by occurrence: they share at least as many of these in any
    order as in one order. So no pair that is similar in order is missed.
    """
    candidates = find_candidates(corpus, config, config.resemblance.verify, run_tasks)
    if (is_compared_in_full(config) and (corpus.every == 1).all()) or not config.resemblance.verify:
        return candidates
    found = candidates.duplicates
    return Found(comparer.compare(found.a, found.b), candidates.by_common)


def with_identical(found: Found, digests: NDArray[np.uint64], corpus: Corpus) -> Found:
    """Return the pairs, and those of identical documents on two sides, whatever the method found."""
    documents = np.flatnonzero(corpus.wanted)
    order = documents[np.lexsort((corpus.side[documents], digests[documents]))]
    # One document represents all identical ones on its side, so there are at most two, and they are neighbours.
    same = np.flatnonzero(digests[order][1:] == digests[order][:-1])
    a, b = order[same].astype(np.int32), order[same + 1].astype(np.int32)
    whole = np.ones(len(a))
    return Found(joined([Duplicates(a, b, whole, whole, whole), found.duplicates]), found.by_common)
