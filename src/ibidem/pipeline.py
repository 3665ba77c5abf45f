"""The program on one screen: which stages each verb runs, in which order. Read this file first.

A stage is a function over `Parts`. In memory these are whole columns, and the stage calls its core; on disk and on Spark they
are tables in partitions, and the stage calls its exchange. Nothing here knows which. The stages are in `*/stage.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.alignment import align_spans
from ibidem.alignment.chosen_passages import are_kinds_wanted
from ibidem.alignment.exchange.words import SentenceSender, WordSender
from ibidem.alignment.places import aligned_table, locate, whole_documents, words_of
from ibidem.alignment.stage import choose_passages, refine
from ibidem.clusters.copies import FIXED_SEED
from ibidem.clusters.removals import Clustered, Removals
from ibidem.clusters.stage import (
    cluster_duplicates,
    cluster_tables,
    count_differing,
    document_table,
    keep_unique,
    rank_documents,
    remove_documents,
    remove_passages,
    remove_runs,
)
from ibidem.columns.collection import Collection
from ibidem.columns.keep_rules import fields_for_keeping
from ibidem.columns.shingled import ShingledDocuments
from ibidem.config import Config, document_shingle_size, passage_limits
from ibidem.config.sampling_plan import SamplingPlan
from ibidem.contamination.items import Items
from ibidem.contamination.stage import decide_items, described_skips, find_items
from ibidem.execution.checks import check_documents, check_level, check_sentences, check_shingled, check_sides, numbers_of_pairs
from ibidem.execution.flow import AnyFlow, Parts, Sender, Source, n_unread_bytes, read_twice
from ibidem.execution.memory import release_unused
from ibidem.execution.progress import Progress
from ibidem.execution.run import MemoryRun, Run
from ibidem.execution.tasks import RunTasks
from ibidem.formats.word_tables import WordTable
from ibidem.matches.core import Classed
from ibidem.matches.stage import classify, list_postings, pair_sentences
from ibidem.passages.exchange.grams import GramSender
from ibidem.passages.stage import (
    find_families,
    find_passages,
    find_repeats,
    move_ends,
    passage_table,
    repeat_table,
    report_passages,
)
from ibidem.resemblance import RATIOS, corpus_of, representatives, tune_sampling
from ibidem.resemblance.stage import find_duplicates, shingle
from ibidem.results.backings import backing_of, copies_of
from ibidem.results.cleaning_result import CleaningResult
from ibidem.results.contamination_result import ContaminationResult
from ibidem.results.result import ClusterResult, Comparison, Result, Tuning
from ibidem.sentences.stage import read_texts, split
from ibidem.signatures.collection_words import count_collection
from ibidem.signatures.exchange.sentence_types import TypeSender
from ibidem.word_runs.stage import run_table

TableT = TypeVar("TableT")
Tables = dict[str, Parts[pa.Table]]


def find(run: Run[TableT]) -> Result[TableT]:
    """Find every passage that appears in two documents of the inputs, or in the inputs and the reference."""
    documents = run.read(run.config.documents)
    sentences = split_to_find(run.flow, documents, run.config, run.progress)
    tables = find_tables(run.flow, sentences, run.config, run.progress)
    facts = run.facts()  # first: a result takes the folder of the run over
    return Result(backing=backing_of(run, tables, sentences), **facts)


def split_to_find(flow: AnyFlow, documents: Source, config: Config, progress: Progress) -> Parts[Collection]:
    """Return the sentences of all documents; in partitions, what later stages need is sent at once."""
    with progress.stage("sentences", n_unread_bytes(documents)):
        then: list[Sender[Any]] = row_senders(config) if config.signatures.signature == "exact" else [TypeSender(config)]
        then += [WordSender(config)] if config.alignment.align else []
        sentences = split(flow, documents, config, progress, then)
        check_sentences(flow, sentences, progress, config.documents)
        return sentences


def row_senders(config: Config) -> list[Sender[Any]]:
    """Return what later stages need of sentences that have a class."""
    return [GramSender(config), *([SentenceSender(config)] if config.alignment.align else [])]


def find_tables(flow: AnyFlow, sentences: Parts[Collection], config: Config, progress: Progress) -> Tables:
    """Return the tables of passages, documents and repeats, and others if asked for. What is no longer needed is released."""
    with progress.stage("matches"):
        classed = classify(flow, sentences, config, progress, then=row_senders(config))
        tables = match_tables(flow, sentences, classed, config, progress)
    with progress.stage("passages"):
        found = find_passages(flow, sentences, classed, config)
        repeats = find_repeats(flow, sentences, classed, found, config)
        move_ends(flow, sentences, found, config)
        release_unused()
    if config.alignment.align:
        with progress.stage("alignment"):
            refine(flow, sentences, classed, found, config, progress)
    with progress.stage("tables"):
        tables |= {
            "documents": document_table(flow, sentences, found, repeats),
            "repeats": repeat_table(flow, sentences, found, repeats),
            "passages": passage_table(flow, sentences, found, config),
        }
        tables["passages"] = report_passages(flow, sentences, tables["passages"], config, progress)
        tables["documents"].settle()
        release_unused()
    if config.passages.runs:
        with progress.stage("runs"):
            tables["runs"] = run_table(flow, sentences, config)
    if config.passages.families:
        with progress.stage("families"):
            tables |= find_families(flow, sentences, tables["passages"], config)
    if are_kinds_wanted(config):
        with progress.stage("differences"):
            tables["passages"] = choose_passages(flow, sentences, tables["passages"], config)
    return tables


def match_tables(
    flow: AnyFlow, sentences: Parts[Collection], classed: Parts[Classed], config: Config, progress: Progress
) -> Tables:
    """Return the tables of single sentences that were asked for: pairs that match, and the inverted index of signatures."""
    tables: Tables = {}
    if config.matches.postings:
        tables["postings"] = list_postings(flow, sentences, classed)
    if config.matches.sentence_pairs:
        tables["sentence_pairs"] = pair_sentences(flow, sentences, classed, config, progress)
    return tables


def cluster(run: Run[TableT], plan: SamplingPlan | None) -> ClusterResult[TableT]:
    """Find every pair of documents that are duplicates, and the clusters they form."""
    documents = run.read(fields_for_keeping(run.config))
    shingled, clustered = cluster_documents(run.flow, documents, run.config, run.progress, plan)
    with run.progress.stage("tables"):
        tables = cluster_tables(run.flow, shingled, clustered, run.config)
    facts = run.facts()
    return ClusterResult(backing=backing_of(run, tables, shingled), plan=plan, **facts)


def cluster_documents(
    flow: AnyFlow, documents: Source, config: Config, progress: Progress, plan: SamplingPlan | None, removing: bool = False
) -> tuple[Parts[ShingledDocuments], Parts[Clustered]]:
    """Return the documents with their shingles, their duplicates, and which one of each cluster is kept."""
    with progress.stage("shingles", n_unread_bytes(documents)):
        shingled = shingle(flow, documents, config, progress, plan, unique_ids=not removing, removing=removing)
        check_shingled(flow, shingled, progress, unique_ids=not removing)
    with progress.stage("pairs"):
        ranks = rank_documents(flow, shingled, config)
        found = find_duplicates(flow, shingled, ranks, config, progress, plan)
    with progress.stage("clusters"):
        return shingled, cluster_duplicates(flow, shingled, ranks, found, config)


def dedup(run: Run[TableT], plan: SamplingPlan | None = None) -> CleaningResult[TableT, Any]:
    """Decide what is removed from the inputs: documents, passages or sentences that also appear in what is kept."""
    check_level(run.config)
    documents = run.read(fields_for_keeping(run.config), to_copy=True)
    known: Parts[Any]
    if run.config.cleaning.level == "document":
        known, removals = remove_duplicates(run.flow, documents, run.config, run.progress, plan)
    else:
        known, removals = remove_repeated(run.flow, documents, run.config, run.progress)
    facts, backing = run.facts(), backing_of(run, {}, known, removals)
    return CleaningResult(backing=backing, copies=copies_of(run, backing), plan=plan, **facts)


def remove_duplicates(
    flow: AnyFlow, documents: Source, config: Config, progress: Progress, plan: SamplingPlan | None = None
) -> tuple[Parts[ShingledDocuments], Parts[Removals]]:
    """Return the documents, and which of them are removed: all but one of each cluster."""
    source, again = read_twice(documents)
    shingled, clustered = cluster_documents(flow, source, config, progress, plan, removing=True)
    with progress.stage("tables"):
        removals = remove_documents(flow, shingled, clustered, config)
    if config.cleaning.lossless:
        with progress.stage("receipts"):
            sentences = read_texts(flow, again, shingled, config)
            removals = keep_unique(flow, sentences, removals, config, progress)
    else:
        with progress.stage("differences"):
            count_differing(flow, again, removals, config, progress)
    return shingled, removals


def remove_repeated(
    flow: AnyFlow, documents: Source, config: Config, progress: Progress
) -> tuple[Parts[Collection], Parts[Removals]]:
    """Return the sentences of all documents, and which passages, or single sentences, are removed."""
    with progress.stage("sentences", n_unread_bytes(documents)):
        senders = row_senders(config) if config.alignment.align else []
        by_types = config.signatures.signature != "exact" and config.cleaning.level != "run"
        then: list[Sender[Any]] = [TypeSender(config)] if by_types else list(senders)
        # Passages are found under a fixed seed, so that every run removes the same.
        then += [WordSender(config, FIXED_SEED)] if config.alignment.align else []
        sentences = split(flow, documents, config, progress, then, to_cut=True)
        check_sentences(flow, sentences, progress, unique_ids=False)
        ranks = rank_documents(flow, sentences, config)
    if config.cleaning.level == "run":
        with progress.stage("runs"):
            removals = remove_runs(flow, sentences, ranks, config)
        return sentences, _proven(flow, sentences, removals, config, progress)
    with progress.stage("matches"):
        unlisted = replace(config, matches=replace(config.matches, postings=False))
        classed = classify(flow, sentences, unlisted, progress, senders)
    with progress.stage("cuts"):
        removals = remove_passages(flow, sentences, classed, ranks, config, progress)
    return sentences, _proven(flow, sentences, removals, config, progress)


def decontaminate(run: Run[TableT], items: Items) -> ContaminationResult[TableT, Any]:
    """Find the items of benchmarks in the inputs, and decide what is removed because of them."""
    config, progress = run.config, run.progress
    documents = run.read(config.documents, to_copy=True)
    with progress.stage("items", n_unread_bytes(documents)):
        found = find_items(run.flow, documents, items, config, progress)
        check_sides(progress.counts["documents"], 0, has_reference=False)
    with progress.stage("tables"):
        made = decide_items(run.flow, found, items, config)
    facts = run.facts()
    facts |= {"inputs": [*facts["inputs"], *items.inputs], "notices": [*facts["notices"], *described_skips(items)]}
    backing = backing_of(run, {"item_places": made.places}, found.documents, made.removed)
    tables = {"benchmarks": made.benchmarks, "found_items": made.items}
    return ContaminationResult(backing=backing, copies=copies_of(run, backing, tables), items=items, **tables, **facts)


def _proven(
    flow: AnyFlow, sentences: Parts[Collection], removals: Parts[Removals], config: Config, progress: Progress
) -> Parts[Removals]:
    if not config.cleaning.lossless:
        return removals
    with progress.stage("receipts"):
        return keep_unique(flow, sentences, removals, config, progress)


def compare(run: MemoryRun, pairs: Sequence[tuple[str, str]], source: str) -> Comparison:
    """Align the listed pairs of documents word by word; `source` says where the pairs come from."""
    config, documents = run.config, run.read(run.config.documents)
    with run.progress.stage("sentences", n_unread_bytes(documents)):
        sentences = split(run.flow, documents, config, run.progress)
        check_sentences(run.flow, sentences, run.progress, config.documents)
    numbers = numbers_of_pairs(sentences.look(), pairs, source, run.skipped)
    with run.progress.stage("alignment", amount=f"{len(numbers):,} pairs"):
        passages = Parts(passages_of_pairs(sentences.look(), numbers, config, run.flow.run_tasks))
        if are_kinds_wanted(config):
            passages = choose_passages(run.flow, sentences, passages, config)
    backing = backing_of(run, {"passages": passages}, sentences)
    return Comparison(backing=backing, n_pairs=len(numbers), **run.facts())


def passages_of_pairs(collection: Collection, pairs: NDArray[np.int64], config: Config, run_tasks: RunTasks) -> pa.Table:
    """Return the table of passages of pairs of documents, given by their numbers."""
    words = words_of(collection, run_tasks)
    limits = passage_limits(config)
    aligned = align_spans(words, whole_documents(words, pairs), config.alignment, limits.max_gap_sentences, run_tasks)
    return aligned_table(locate(aligned, words, collection, run_tasks), collection, limits.min_sentences)


def words(run: MemoryRun) -> WordTable:
    """Count in how many documents each word occurs, and how often."""
    config, stream = run.config, run.read(run.config.documents)
    with run.progress.stage("words", stream.n_bytes):
        table = count_collection(stream.batches, config.sentences, run.flow.run_tasks, run.progress.add_documents)
    check_sides(table.n_documents, 0, has_reference=False)
    return replace(table, skipped=run.skipped.records)


def tune(
    run: MemoryRun,
    min_precision: float,
    max_documents: int,
    groups: Sequence[int],
    ratios: Sequence[int] = RATIOS,
    grid_limits: Sequence[Fraction] = (),
    all_remainders: bool = False,
) -> Tuning:
    """Measure how far shingles may be sampled, by document size, and return the plan. `max_documents` 0 measures on all.

    For each of `grid_limits`, precision and recall are measured at every ratio and size.
    """
    config, stream = run.config, run.read(run.config.documents)
    run_tasks = run.flow.run_tasks
    with run.progress.stage("shingles", stream.n_bytes):
        stream = stream.first(max_documents) if max_documents else stream
        shingled = shingle(run.flow, stream, config, run.progress, unique_ids=False)
        check_documents(shingled.look(), has_reference=False, unique_ids=False)
    with run.progress.stage("trials"):
        documents = shingled.look()
        representative = representatives(documents.digests, documents.side, np.arange(documents.n_documents))
        corpus, _ = corpus_of(documents, representative, config, None, run_tasks)
        limit, most = config.matches.min_similarity, config.resemblance.max_shingle_documents
        measure = partial(
            tune_sampling, corpus.sets, corpus.wanted, min_precision=min_precision, max_documents=most, groups=groups,
            ratios=ratios, run_tasks=run_tasks, all_remainders=all_remainders,
        )  # fmt: skip
        by_limit = {each: measure(min_similarity=each, whole_grid=True) for each in sorted(set(grid_limits))}
        found = by_limit[limit] if limit in by_limit else measure(min_similarity=limit)
    made_for: dict[str, Any] = {
        "min_similarity": float(limit),
        "min_precision": min_precision,
        "shingle_size": document_shingle_size(config),
        "documents": documents.n_documents,
    }
    if config.resemblance.shingle_unit != "word":
        made_for["shingle_unit"] = config.resemblance.shingle_unit
    plan = SamplingPlan([group.from_shingles for group in found], [group.every for group in found], made_for)
    return Tuning(plan, found, run.skipped.records, by_limit)
