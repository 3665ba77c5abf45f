"""The flow on one screen: documents → sentences → signatures → matches → passages → tables, documents → words → alignment →
tables, and documents → shingles → pairs → clusters → tables or a cleaned copy. Read this file first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.alignment import align_spans
from ibidem.alignment.places import aligned_table, locate, whole_documents, words_of
from ibidem.alignment.refinement import align_passages, pair_by_pair
from ibidem.clusters import Cuts, cluster_found, containers_first, expand, keep_order
from ibidem.clusters.removals import Clustered, duplicate_removals, passage_removals
from ibidem.clusters.tables import clusters_table, duplicates_table
from ibidem.columns.collection import Collection, Documents
from ibidem.columns.rows import Rows, pairing
from ibidem.columns.shingled import ShingledDocuments
from ibidem.config import Config, passage_limits
from ibidem.execution.checks import check_fields, check_keeping, check_reference, fields_for_keeping, numbers_of_pairs
from ibidem.execution.memory import release_unused
from ibidem.execution.progress import Progress
from ibidem.execution.run import Run
from ibidem.execution.tasks import RunTasks
from ibidem.formats import resolve_inputs
from ibidem.formats.sources import file_states
from ibidem.matches.core import classify, sentences_to_cut, spans_of
from ibidem.model import Document
from ibidem.passages import assemble_passages, find_diagonals, verify_places
from ibidem.passages.tables import documents_table, in_reading_order, passages_table, repeats_table
from ibidem.resemblance import SamplingPlan, find_duplicates, representatives, tune_sampling, with_identical
from ibidem.results.cleaned_copies import LocalCopies
from ibidem.results.cleaning_result import CleaningResult
from ibidem.results.memory_storage import MemoryBacking
from ibidem.results.result import ClusterResult, Comparison, Result, Tuning
from ibidem.sentences.equal_digests import are_equal, settle_sentences


def find_passages(run: Run) -> Result[pa.Table]:
    """Find every passage that stands in two documents of the inputs, or in a document of each side with a reference."""
    collection = run.read_sentences(run.config.documents, unique_ids=True)
    check_fields(collection, run.config.documents)
    passages, documents, repeats = passages_of(collection, run.config, run.run_tasks, run.progress)
    tables = {"passages": passages, "documents": documents, "repeats": repeats}
    return Result(backing=MemoryBacking(tables, collection), **run.kept())


def passages_of(
    collection: Collection, config: Config, run_tasks: RunTasks, progress: Progress
) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Return the tables of passages, documents and repeats of a collection whose sentences are known."""
    with progress.stage("matches"):
        rows, cells = classify(collection, config, run_tasks, progress)
    with progress.stage("passages"):
        limits = passage_limits(config)
        pairs = pairing(collection, config)
        diagonals, groups = find_diagonals(rows, limits, pairs, run_tasks)
        parts = assemble_passages(diagonals, rows, collection.id_hashes, limits, cells, run_tasks)
        groups = [group for group in verify_places(groups, cells) if pairs.allows(rows.document[group.starts])]
        types = None if cells is None else cells.types
        del diagonals, cells
        release_unused()
    aligned = None
    if config.alignment.align:
        with progress.stage("alignment"):
            parts, aligned = align_passages(parts, rows, types, collection, pairs, config, run_tasks, progress)
    with progress.stage("tables"):
        documents = documents_table(parts if aligned is None else pair_by_pair(parts, aligned, rows), groups, rows, collection)
        repeats = repeats_table(groups, rows, collection)
        passages = passages_table(parts, rows, collection, limits.min_sentences, run_tasks)
        if aligned is not None:
            passages = in_reading_order([passages, aligned_table(aligned, collection, limits.min_sentences)])
        release_unused()
        return passages, documents, repeats


def compare_documents(run: Run, pairs: Sequence[tuple[str, str]], source: str) -> Comparison:
    """Align the listed pairs of documents word by word; `source` says where the pairs come from."""
    collection = run.read_sentences(run.config.documents, unique_ids=True)
    check_fields(collection, run.config.documents)
    numbers = numbers_of_pairs(collection, pairs, source, run.skipped)
    with run.progress.stage("alignment"):
        passages = passages_of_pairs(collection, numbers, run.config, run.run_tasks)
    return Comparison(backing=MemoryBacking({"passages": passages}, collection), n_pairs=len(numbers), **run.kept())


def passages_of_pairs(collection: Collection, pairs: NDArray[np.int64], config: Config, run_tasks: RunTasks) -> pa.Table:
    """Return the table of passages of pairs of documents, given by their numbers."""
    words = words_of(collection, run_tasks)
    limits = passage_limits(config)
    aligned = align_spans(words, whole_documents(words, pairs), config.alignment, limits.max_gap_sentences, run_tasks)
    return aligned_table(locate(aligned, words, collection), collection, limits.min_sentences)


def cluster_documents(run: Run, plan: SamplingPlan | None) -> ClusterResult[pa.Table]:
    """Find every pair of documents that are duplicates, and the clusters they form."""
    documents = run.read_shingles(fields_for_keeping(run.config), unique_ids=True)
    clustered = clusters_of(documents, plan, run)
    with run.progress.stage("tables"):
        most = run.config.resemblance.max_shingle_documents
        pairs = duplicates_table(clustered.duplicates, clustered.representative, documents.ids, most, documents.has_reference)
        clusters = clusters_table(clustered.canonical, documents.ids)
    backing = MemoryBacking({"duplicates": pairs, "clusters": clusters}, documents)
    return ClusterResult(backing=backing, plan=plan, **run.kept())


def clusters_of(documents: ShingledDocuments, plan: SamplingPlan | None, run: Run) -> Clustered:
    """Return the duplicates among documents, and which one of each cluster stays."""
    config = run.config
    check_keeping(documents, config)
    with run.progress.stage("pairs"):
        rank = keep_order(config.clusters.keep, documents.n_chars, documents.times, documents.groups, documents.side)
        representative = representatives(documents.digests, documents.side, rank)
        corpus, comparer = documents.corpus(representative, config, plan, run.run_tasks)
        run.progress.count(shingles=len(corpus.sets.hashes))
        found = find_duplicates(corpus, comparer, config, run.run_tasks)
        if documents.has_reference:
            found = with_identical(found, documents.digests, corpus)
    with run.progress.stage("clusters"):
        if config.resemblance.min_containment > 0:
            rank = containers_first(rank, corpus.sizes, documents.side)
        duplicates, canonical = cluster_found(found, comparer, rank, config, documents.has_reference)
        canonical = expand(canonical, representative, documents.has_reference, config.clusters.chains)
        return Clustered(duplicates, representative, canonical)


def clean_collection(run: Run) -> CleaningResult[pa.Table, Iterator[Document]]:
    """Decide what goes out of the inputs: documents, passages or sentences that stand elsewhere and stay there."""
    config, fields = run.config, fields_for_keeping(run.config)
    check_reference(run.inputs, run.against)
    states = file_states(resolve_inputs(run.inputs))
    documents: Documents
    if config.cleaning.level == "document":
        documents = shingled = run.read_shingles(fields, unique_ids=False, removing=True)
        removals = duplicate_removals(documents, clusters_of(shingled, None, run))
    else:
        # Under a secret seed, equal sentences are compared when it is known which ones go: that is less than all of one digest.
        # Under one that others may know, a forged sentence that stays could make up a passage, and its neighbour would go.
        exact = config.signatures.signature == "exact"
        documents = collection = run.read_sentences(fields, unique_ids=False, settle=None if exact else True)
        check_keeping(documents, config)
        rows, cuts = decide_cuts(collection, run)
        with run.progress.stage("cuts"):
            if exact and not are_equal(collection, rows.sentence[cuts.row], rows.sentence[cuts.source_row], run.run_tasks):
                documents = collection = settle_sentences(collection, run.run_tasks)
                rows, cuts = decide_cuts(collection, run)
        removals = passage_removals(collection, spans_of(collection, rows, cuts))
    backing = MemoryBacking({}, documents, removals)
    return CleaningResult(backing=backing, copies=LocalCopies(run.inputs, states, backing), **run.kept())


def decide_cuts(collection: Collection, run: Run) -> tuple[Rows, Cuts]:
    """Return which sentences go, and the rows that they are numbered by."""
    config = run.config
    with run.progress.stage("matches"):
        rows, cells = classify(collection, config, run.run_tasks, run.progress)
    with run.progress.stage("cuts"):
        rank = keep_order(config.clusters.keep, collection.n_chars, collection.times, collection.groups, collection.side)
        return rows, sentences_to_cut(collection, rows, cells, rank, config, run.run_tasks)


def tune_documents(run: Run, min_precision: float, max_documents: int, groups: Sequence[int]) -> Tuning:
    """Measure how far shingles may be sampled, by document size, and return the plan. `max_documents` 0 measures on all."""
    config = run.config
    documents = run.read_shingles(config.documents, unique_ids=False, max_documents=max_documents)
    with run.progress.stage("trials"):
        representative = representatives(documents.digests, documents.side, np.arange(documents.n_documents))
        corpus, _ = documents.corpus(representative, config, None, run.run_tasks)
        limit, most = config.matches.min_similarity, config.resemblance.max_shingle_documents
        found = tune_sampling(corpus.sets, corpus.wanted, limit, min_precision, most, groups, run_tasks=run.run_tasks)
    made_for = {
        "min_similarity": float(limit),
        "min_precision": min_precision,
        "shingle_size": config.signatures.shingle_words("document"),
        "documents": documents.n_documents,
    }
    plan = SamplingPlan([group.from_shingles for group in found], [group.every for group in found], made_for)
    return Tuning(plan, found, run.skipped.records)
