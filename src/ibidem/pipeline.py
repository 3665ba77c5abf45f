"""The flow on one screen: documents → sentences → signatures → matches → passages → tables. Read this file first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.checking import check_documents, check_fields, check_keeping, fields_for_keeping
from ibidem.classifying import classify, pairing, spans_to_cut
from ibidem.cleaned import CleaningResult
from ibidem.clusters import cluster_found, keep_order
from ibidem.collection import Collection, Documents, gather
from ibidem.config import SHINGLE_SIZES, Config, DocumentsConfig, passage_limits
from ibidem.documents import describe_inputs, first_rows, input_size, read_batches
from ibidem.engines import LocalEngine
from ibidem.passages import assemble_passages, find_diagonals, verify_places
from ibidem.progress import Progress
from ibidem.removals import Clustered, duplicate_removals, passage_removals
from ibidem.reports import (
    SkippedRecords,
    clusters_table,
    documents_table,
    duplicates_table,
    passages_table,
    repeats_table,
)
from ibidem.resemblance import SamplingPlan, find_duplicates, representatives, tune_sampling
from ibidem.result import ClusterResult, Result, Tuning
from ibidem.shingled import ShingledDocuments, gather_shingles


def find_passages(inputs: Any, against: Any, config: Config, progress: Progress) -> Result:
    """Find every passage that stands in two documents of the inputs, or in a document of each side with `against`."""
    skipped = SkippedRecords(config.output.strict)
    with LocalEngine(config.engine.workers) as engine:
        collection = split_documents(inputs, against, config, config.documents, engine, skipped, progress, unique_ids=True)
        check_fields(collection, config.documents)
        passages, documents, repeats = passages_of(collection, config, engine, progress)
    return Result(
        passages=passages,
        documents=documents,
        repeats=repeats,
        skipped=skipped.records,
        config=config,
        collection=collection,
        inputs=describe_inputs(inputs) + ([] if against is None else describe_inputs(against)),
        counts=progress.counts,
        timings=progress.timings,
    )


def split_documents(
    inputs: Any,
    against: Any,
    config: Config,
    fields: DocumentsConfig,
    engine: LocalEngine,
    skipped: SkippedRecords,
    progress: Progress,
    unique_ids: bool,
) -> Collection:
    """Read documents, and split them into sentences."""
    with progress.stage("sentences", input_size([inputs] if against is None else [inputs, against])):
        collection = gather(
            read_batches(inputs, fields, skipped.add, progress.add_bytes),
            () if against is None else read_batches(against, config.documents, skipped.add, progress.add_bytes),
            config.sentences,
            engine.map_parts,
            progress.add_documents,
        )
        check_documents(collection, against is not None, skipped, unique_ids)
    return collection


def passages_of(
    collection: Collection, config: Config, engine: LocalEngine, progress: Progress
) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Return the tables of passages, documents and repeats of a collection whose sentences are known."""
    with progress.stage("matches"):
        rows, cells = classify(collection, config, engine.map_parts, progress)
    with progress.stage("passages"):
        limits = passage_limits(config)
        pairs = pairing(collection, config)
        diagonals, groups = find_diagonals(rows, limits, pairs, engine.map_parts)
        parts = assemble_passages(diagonals, rows, limits, cells, engine.map_parts)
        groups = [group for group in verify_places(groups, cells) if pairs.allows(rows.document[group.starts])]
        del diagonals, cells
        pa.default_memory_pool().release_unused()  # what was freed in small pieces goes back to the system
    with progress.stage("tables"):
        documents = documents_table(parts, groups, rows, collection)
        repeats = repeats_table(groups, rows, collection)
        passages = passages_table(parts, rows, collection, limits.min_sentences, engine.map_parts)
        pa.default_memory_pool().release_unused()
        return passages, documents, repeats


def cluster_documents(
    inputs: Any, against: Any, config: Config, plan: SamplingPlan | None, progress: Progress
) -> ClusterResult:
    """Find every pair of documents that are duplicates, and the clusters they form."""
    skipped = SkippedRecords(config.output.strict)
    with LocalEngine(config.engine.workers) as engine:
        documents = shingled_documents(inputs, against, config, engine, skipped, progress, unique_ids=True)
        clustered = clusters_of(documents, config, plan, engine, progress)
        with progress.stage("tables"):
            most = config.resemblance.max_shingle_documents
            pairs = duplicates_table(clustered.duplicates, clustered.representative, documents.ids, most)
            clusters = clusters_table(clustered.canonical, documents.ids)
    return ClusterResult(
        duplicates=pairs,
        clusters=clusters,
        documents=documents,
        skipped=skipped.records,
        config=config,
        inputs=describe_inputs(inputs) + ([] if against is None else describe_inputs(against)),
        counts=progress.counts,
        timings=progress.timings,
    )


def shingled_documents(
    inputs: Any,
    against: Any,
    config: Config,
    engine: LocalEngine,
    skipped: SkippedRecords,
    progress: Progress,
    unique_ids: bool,
) -> ShingledDocuments:
    """Read documents, and keep what they are known by as wholes."""
    with progress.stage("shingles", input_size([inputs] if against is None else [inputs, against])):
        documents = gather_shingles(
            read_batches(inputs, fields_for_keeping(config), skipped.add, progress.add_bytes),
            () if against is None else read_batches(against, config.documents, skipped.add, progress.add_bytes),
            config,
            engine.map_parts,
            progress.add_documents,
        )
        check_documents(documents, against is not None, skipped, unique_ids)
        check_keeping(documents, config)
    return documents


def clusters_of(
    documents: ShingledDocuments, config: Config, plan: SamplingPlan | None, engine: LocalEngine, progress: Progress
) -> Clustered:
    """Return the duplicates among documents, and which one of each cluster stays."""
    with progress.stage("pairs"):
        rank = keep_order(config.clusters.keep, documents.n_chars, documents.times, documents.groups, documents.side)
        representative = representatives(documents.digests, documents.side, rank)
        corpus, comparer = documents.corpus(representative, config, plan, engine.map_parts)
        progress.count(shingles=len(corpus.sets.hashes))
        found = find_duplicates(corpus, comparer, config, engine.map_parts)
    with progress.stage("clusters"):
        duplicates, canonical = cluster_found(found, comparer, rank, config)
        return Clustered(duplicates, representative, canonical[representative])


def clean_collection(inputs: Any, against: Any, config: Config, progress: Progress) -> CleaningResult:
    """Decide what goes out of the inputs: documents, passages or sentences that stand elsewhere and stay there."""
    skipped = SkippedRecords(config.output.strict)
    with LocalEngine(config.engine.workers) as engine:
        documents: Documents
        if config.cleaning.level == "document":
            documents = shingled = shingled_documents(inputs, against, config, engine, skipped, progress, unique_ids=False)
            clustered = clusters_of(shingled, config, None, engine, progress)
            removals = duplicate_removals(documents, clustered)
        else:
            documents = collection = split_documents(
                inputs, against, config, fields_for_keeping(config), engine, skipped, progress, unique_ids=False
            )
            check_keeping(documents, config)
            with progress.stage("matches"):
                rows, cells = classify(collection, config, engine.map_parts, progress)
            with progress.stage("cuts"):
                rank = keep_order(config.clusters.keep, documents.n_chars, documents.times, documents.groups, documents.side)
                removals = passage_removals(collection, spans_to_cut(collection, rows, cells, rank, config, engine.map_parts))
    return CleaningResult(
        removals=removals,
        documents=documents,
        original=inputs,
        skipped=skipped.records,
        config=config,
        inputs=describe_inputs(inputs) + ([] if against is None else describe_inputs(against)),
        counts=progress.counts,
        timings=progress.timings,
    )


def tune_documents(
    inputs: Any, config: Config, min_precision: float, max_documents: int, groups: Sequence[int], progress: Progress
) -> Tuning:
    """Measure how far shingles may be sampled, by document size, and return the plan. `max_documents` 0 measures on all."""
    skipped = SkippedRecords(config.output.strict)
    with LocalEngine(config.engine.workers) as engine:
        with progress.stage("shingles", input_size([inputs])):
            batches = read_batches(inputs, config.documents, skipped.add, progress.add_bytes)
            if max_documents:
                batches = first_rows(batches, max_documents)
            documents = gather_shingles(batches, (), config, engine.map_parts, progress.add_documents)
            check_documents(documents, False, skipped)
        with progress.stage("trials"):
            representative = representatives(documents.digests, documents.side, np.arange(documents.n_documents))
            corpus, _ = documents.corpus(representative, config, None, engine.map_parts)
            limit, most = config.matches.min_similarity, config.resemblance.max_shingle_documents
            found = tune_sampling(corpus.sets, corpus.wanted, limit, min_precision, most, groups, map_parts=engine.map_parts)
    made_for = {
        "min_similarity": float(limit),
        "min_precision": min_precision,
        "shingle_size": config.signatures.shingle_size or SHINGLE_SIZES["document"],
        "documents": documents.n_documents,
    }
    plan = SamplingPlan([group.from_shingles for group in found], [group.every for group in found], made_for)
    return Tuning(plan, found, skipped.records)
