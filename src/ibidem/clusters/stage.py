"""Which documents belong together, which are kept, and what is removed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.alignment.stage import align_in_buckets, sentence_states
from ibidem.clusters import cluster_found, expand, sentences_to_cut
from ibidem.clusters.copies import with_copies
from ibidem.clusters.differing_text import differing_chars
from ibidem.clusters.document_table import documents_table
from ibidem.clusters.exchange.clusters import cluster_documents
from ibidem.clusters.exchange.cuts import cuts_flow
from ibidem.clusters.exchange.differing_text import differing_flow
from ibidem.clusters.exchange.document_table import sum_up
from ibidem.clusters.exchange.edited_copies import with_edited_copies
from ibidem.clusters.exchange.keep_rules import put_in_keys, rank_keys
from ibidem.clusters.exchange.lossless import Rule, prove
from ibidem.clusters.exchange.mirrors import find_mirrors
from ibidem.clusters.exchange.receipts import PROVEN, proven_flow
from ibidem.clusters.exchange.removals import removed_documents, removed_passages
from ibidem.clusters.exchange.run_cuts import run_cuts_flow
from ibidem.clusters.exchange.tables import name_tables
from ibidem.clusters.lossless import without_loss
from ibidem.clusters.mirrors import mirrors_table
from ibidem.clusters.removals import Clustered, Removals, cut_spans, duplicate_removals
from ibidem.clusters.run_cuts import runs_to_remove
from ibidem.clusters.tables import clusters_table, duplicates_table
from ibidem.columns.collection import Collection, Documents
from ibidem.columns.components_exchange import number_components
from ibidem.columns.keep_rules import check_groups, check_keeping, check_known, containers_first, is_direct, keep_order
from ibidem.columns.shingled import ShingledDocuments
from ibidem.config import Config
from ibidem.execution.flow import AnyFlow, Flow, InMemory, Inputs, PartedTable, Parts, Source
from ibidem.execution.progress import Progress
from ibidem.matches.core import Classed, classify_collection
from ibidem.passages import Repeats
from ibidem.passages.stage import FoundPassages, find_spans
from ibidem.resemblance.stage import FoundDuplicates
from ibidem.sentences.equal_digests import are_equal, settle_sentences
from ibidem.sentences.ignored_text import load_ignored
from ibidem.word_runs.exchange import draw_in_parts

Ranks = Parts[NDArray[np.int64]]


def document_table(
    flow: AnyFlow,
    sentences: Parts[Collection],
    found: Parts[FoundPassages],
    repeats: Parts[Repeats],
) -> Parts[pa.Table]:
    """Return the table of documents: how much of each appears elsewhere, and which are copies of one another. In partitions,
    the documents are consumed.
    """
    if isinstance(flow, InMemory):
        whole = found.look()
        passages = list(whole.passages) if whole.covering is None else whole.covering
        whole.covering = None
        known, collection = repeats.look(), sentences.look()
        _ = collection.ids, collection.times, collection.document_first  # made once: other tables need them at the same time
        rest = (passages.pop(0) for _ in range(len(passages)))  # each is released when it has been counted
        return Parts(wait=flow.run_aside(lambda: documents_table(rest, known, whole.rows, collection)))
    edges = [*found.take_several("edges"), repeats.take_table("edges")]
    clustered = number_components(flow, "copies", edges, flow.layout)
    coverage = [*found.take_several("coverage"), repeats.take_table("coverage")]
    return Parts(tables={"documents": sum_up(flow, sentences.take_table("documents"), coverage, clustered, flow.layout)})


def rank_documents(flow: AnyFlow, documents: Parts[Collection] | Parts[ShingledDocuments], config: Config) -> Ranks:
    """Return the order in which documents are kept: the first of a cluster, and the first place of a passage."""
    rule = config.clusters.keep
    if isinstance(flow, InMemory):
        known: Documents = documents.look()
        check_keeping(known, config)
        if config.clusters.by_group:
            check_groups(len(known.groups) - known.groups.null_count, config)
        return Parts(keep_order(rule, known.n_chars, known.times, known.groups, known.side))
    if "keyed" not in documents.tables:
        return Parts(tables={"ranks": rank_keys(flow, "keep", documents.table("documents"), flow.layout, rule)})
    keyed = documents.take_table("keyed")
    if "grouped" in documents.tables:
        check_groups(flow.count(documents.table("grouped")), config)
    if rule == "earliest":
        check_known(rule, int(flow.collect(documents.table("counts"))["n_known"].to_numpy().sum()))
    if not is_direct(rule):
        keyed = put_in_keys(flow, keyed, rank_keys(flow, "keep", documents.take_table("valued"), flow.layout, rule))
    return Parts(tables={"keyed": keyed})


def cluster_duplicates(
    flow: AnyFlow, shingled: Parts[ShingledDocuments], ranks: Ranks, found: Parts[FoundDuplicates], config: Config
) -> Parts[Clustered]:
    """Form clusters of duplicates, each around the document that is kept."""
    if not isinstance(flow, InMemory):
        sent = found.take_table("sent")
        pairs = {name: found.take_several(name) for name in list(found.tables)}
        return Parts(tables={**cluster_documents(flow, pairs, sent, config, flow.layout)})
    documents, pairs_found, rank = shingled.look(), found.take(), ranks.take()
    has_reference = documents.has_reference
    if config.resemblance.min_containment > 0:
        rank = containers_first(rank, pairs_found.sizes, documents.side)
    duplicates, canonical = cluster_found(pairs_found.found, pairs_found.comparer, rank, config, has_reference)
    representative = pairs_found.representative
    canonical = expand(canonical, representative, has_reference, config.clusters.chains)
    return Parts(Clustered(duplicates, representative, canonical))


def cluster_tables(
    flow: AnyFlow, shingled: Parts[ShingledDocuments], clustered: Parts[Clustered], config: Config
) -> dict[str, Parts[pa.Table]]:
    """Return the tables of pairs and of clusters and, if groups are compared, of groups that share documents."""
    most = config.resemblance.max_shingle_documents
    if not isinstance(flow, InMemory):
        documents_named = shingled.table("named")
        named = _named(flow, shingled, clustered)
        tables = {name: Parts[pa.Table](tables={name: named[name]}) for name in ("duplicates", "clusters")}
        if config.clusters.by_group:
            grouped = shingled.take_table("grouped")
            mirrors = find_mirrors(flow, named["numbered"], documents_named, grouped, most, flow.layout)
            tables["mirrors"] = Parts(tables={"mirrors": mirrors})
        return tables
    documents, whole = shingled.look(), clustered.take()
    pairs = duplicates_table(whole.duplicates, whole.representative, documents.ids, most, documents.has_reference)
    tables = {"duplicates": Parts(pairs), "clusters": Parts(clusters_table(whole.canonical, documents.ids))}
    if config.clusters.by_group:
        tables["mirrors"] = Parts(mirrors_table(whole.canonical, documents.groups, documents.ids, most))
    return tables


def remove_documents(
    flow: AnyFlow, shingled: Parts[ShingledDocuments], clustered: Parts[Clustered], config: Config
) -> Parts[Removals]:
    """Decide which documents are removed: all of a cluster except the kept one, or as many as are wanted."""
    n_copies = config.cleaning.keep_copies
    if isinstance(flow, InMemory):
        return Parts(duplicate_removals(shingled.look(), clustered.take(), n_copies))
    decisions = _named(flow, shingled, clustered)["decisions"]
    return Parts(tables={**removed_documents(flow, decisions, flow.layout, n_copies)})


def count_differing(flow: AnyFlow, again: Source, removals: Parts[Removals], config: Config, progress: Progress) -> None:
    """Count the characters of removed documents that the documents kept instead do not have. On Spark they are not counted: the
    texts are not stored.
    """
    size, n_chars = config.cleaning.lossless_words, 0
    if isinstance(flow, InMemory):
        found = removals.look()
        rows = np.flatnonzero(found.similarity != 1)
        if len(rows):
            texts = pa.chunked_array([batch.column("text") for batch in (*again.batches, *again.reference)], pa.large_string())
            n_chars = differing_chars(texts, found.document[rows], found.matched[rows], size, flow.run_tasks)
    else:
        spans = removals.take_table("spans")
        if not isinstance(again, PartedTable):
            return
        if flow.count(spans):
            n_chars = differing_flow(flow, again, spans, size)
    progress.count(differing_characters=n_chars)


def _named(flow: Flow, shingled: Parts[ShingledDocuments], clustered: Parts[Clustered]) -> dict[str, PartedTable]:
    tables = {name: clustered.take_table(name) for name in list(clustered.tables)}
    return name_tables(flow, tables, shingled.take_table("named"), flow.layout)


def remove_passages(
    flow: AnyFlow, sentences: Parts[Collection], classed: Parts[Classed], ranks: Ranks, config: Config, progress: Progress
) -> Parts[Removals]:
    """Decide which passages, or single sentences, are removed: those that also appear in text that is kept."""
    if not isinstance(flow, InMemory):
        del sentences.tables["documents"]  # those with classes remain
        spans = cuts_flow(flow, classed.table("documents"), ranks.table("ranks"), flow.layout, config)
        if config.alignment.align:
            spans = _copies_too(flow, spans, sentences, classed, ranks, config, progress)
        else:
            del classed.tables["documents"], ranks.tables["ranks"]
        return _removed_spans(flow, spans, sentences, config)
    collection, (rows, cells, _), run_tasks = sentences.look(), classed.take(), flow.run_tasks
    cuts = sentences_to_cut(collection, rows, cells, ranks.look(), config, run_tasks)
    # Under a secret seed it is enough to compare what is removed. If digests collided, they are corrected so that equal ones
    # mean equal sentences.
    is_exact = config.signatures.signature == "exact"
    if is_exact and not are_equal(collection, rows.sentence[cuts.row], rows.sentence[cuts.source_row], run_tasks):
        sentences.value = collection = settle_sentences(collection, run_tasks)
        rows, cells, _ = classify_collection(collection, config, run_tasks, progress)
        cuts = sentences_to_cut(collection, rows, cells, ranks.look(), config, run_tasks)
    removals = cut_spans(collection, rows, cuts)
    if config.alignment.align:
        removals = with_copies(removals, cuts, collection, rows, cells, ranks.look(), config, run_tasks, progress)
    return Parts(removals)


def remove_runs(flow: AnyFlow, sentences: Parts[Collection], ranks: Ranks, config: Config) -> Parts[Removals]:
    """Decide which runs of words are removed: those that also occur before, in a place that stays."""
    if isinstance(flow, InMemory):
        return Parts(runs_to_remove(sentences.look(), ranks.look(), config, flow.run_tasks))
    seed = draw_in_parts(flow, "run-seed", ranks.table("ranks"))
    del sentences.tables["documents"]
    texts = _texts(sentences, config)
    size, ignored = config.passages.min_run_words, load_ignored(config.sentences.ignore)
    spans = run_cuts_flow(flow, texts, ranks.take_table("ranks"), size, seed, ignored)
    return _removed_spans(flow, spans, sentences, config)


def _removed_spans(flow: Flow, spans: PartedTable, sentences: Parts[Collection], config: Config) -> Parts[Removals]:
    """Return spans as what is removed; if nothing may be lost, the spans are still needed."""
    removed = removed_passages(flow, spans, sentences.take_table("named"), flow.layout)
    return Parts(tables={"removed": removed, **({"spans": spans} if config.cleaning.lossless else {})})


def keep_unique(
    flow: AnyFlow, texts: Parts[Collection], removals: Parts[Removals], config: Config, progress: Progress
) -> Parts[Removals]:
    """Decide which of these removals lose no text, and say where it remains."""
    level = config.cleaning.level
    are_equal = level == "run" or (level != "document" and config.signatures.signature == "exact")
    if not isinstance(flow, InMemory):
        return _keep_unique_in_parts(flow, texts, removals, config, are_equal, progress)
    found = removals.take()
    is_proven = np.isnan(found.similarity) & are_equal
    remaining = without_loss(found, texts.look(), config.cleaning.lossless_words, is_proven, flow.run_tasks)
    progress.count(unique_removals=len(found) - len(remaining), unique_characters=found.n_chars - remaining.n_chars)
    return Parts(remaining)


def _keep_unique_in_parts(
    flow: Flow, texts: Parts[Collection], removals: Parts[Removals], config: Config, are_equal: bool, progress: Progress
) -> Parts[Removals]:
    documents, spans = texts.take_table("texts"), removals.take_table("spans")
    before = {name: removals.take_table(name) for name in list(removals.tables)}
    n_rows = n_chars = 0
    if flow.count(spans) == 0:
        kept = {**before, "removed": PartedTable("removed", PROVEN)}
    else:
        rule = Rule(config.cleaning.lossless_words, draw_in_parts(flow, "lossless-seed", spans), are_equal)
        proofs = prove(flow, documents, spans, rule)
        kept = proven_flow(flow, documents, spans, proofs, before, rule, config.sentences)
        left = flow.collect(kept.pop("left"))
        n_rows, n_chars = (int(left[name].to_numpy().sum()) for name in ("n_rows", "n_chars"))
    progress.count(unique_removals=n_rows, unique_characters=n_chars)
    return Parts(tables={**kept})


def _texts(sentences: Parts[Collection], config: Config) -> PartedTable:
    """Return the texts, for the last time unless nothing may be lost."""
    return sentences.table("texts") if config.cleaning.lossless else sentences.take_table("texts")


def _copies_too(
    flow: Flow, spans: PartedTable, sentences: Parts[Collection], classed: Parts[Classed], ranks: Ranks, config: Config,
    progress: Progress,
) -> PartedTable:  # fmt: skip
    """Return what is removed when edited copies are, too."""
    found = find_spans(flow, classed, config)
    stems, states = sentences.take_table("stems"), sentence_states(flow, classed)
    counts = sentences.take_table("stem_counts")
    aligned = align_in_buckets(flow, stems, states, counts, found, config, progress, to_cut=True)
    passages = [aligned.pop("passages"), aligned.pop("others")]
    texts, documents = _texts(sentences, config), classed.take_table("documents")
    home: Inputs = {"documents": documents, "texts": texts, "stems": stems, "states": states}
    return with_edited_copies(flow, spans, passages, home, ranks.take_table("ranks"), config)
