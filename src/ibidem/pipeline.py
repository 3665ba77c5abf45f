"""The flow on one screen: documents → sentences → signatures → matches → passages → tables. Read this file first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.collection import Collection, gather
from ibidem.config import Config, PassagesConfig
from ibidem.documents import describe_inputs, find_repeated_id, input_size, read_batches
from ibidem.engines import LocalEngine
from ibidem.errors import NoDocumentsError
from ibidem.matches import join_types, sort_sets
from ibidem.passages import Cells, Pairing, Rows, assemble_passages, find_diagonals
from ibidem.progress import Progress
from ibidem.reports import SkippedRecords, documents_table, passages_table, repeats_table
from ibidem.result import Result
from ibidem.signatures import SetSignature, collapse_sentences, count_vocabulary, load_signature
from ibidem.signatures.words import SIGNATURE as WORDS


def find_passages(inputs: Any, against: Any, config: Config, progress: Progress) -> Result:
    """Find every passage that stands in two documents of the inputs, or in a document of each side with `against`."""
    skipped = SkippedRecords(config.output.strict)
    with LocalEngine(config.engine.workers) as engine:
        with progress.stage("sentences", input_size([inputs] if against is None else [inputs, against])):
            collection = gather(
                read_batches(inputs, config.documents, skipped.add, progress.add_bytes),
                () if against is None else read_batches(against, config.documents, skipped.add, progress.add_bytes),
                config.sentences,
                engine.map_parts,
                progress.add_documents,
            )
            if collection.n_input == 0:
                raise no_documents(skipped)
            find_repeated_id([b for b, n in zip(collection.batches, collection.batch_first, strict=False) if n < collection.n_input])
        with progress.stage("matches"):
            rows, cells = classify(collection, config, engine, progress)
        with progress.stage("passages"):
            limits = passage_limits(config)
            diagonals, groups = find_diagonals(rows, limits, pairing(collection, config), engine.map_parts)
            passages = assemble_passages(diagonals, rows, limits, cells, engine.map_parts)
            del diagonals, cells
        with progress.stage("tables"):
            return Result(
                passages=passages_table(passages, rows, collection, limits.min_sentences),
                documents=documents_table(passages, groups, rows, collection),
                repeats=repeats_table(groups, rows, collection),
                skipped=skipped.records,
                config=config,
                collection=collection,
                inputs=describe_inputs(inputs) + ([] if against is None else describe_inputs(against)),
                counts=progress.counts,
                timings=progress.timings,
            )


def classify(collection: Collection, config: Config, engine: LocalEngine, progress: Progress) -> tuple[Rows, Cells | None]:
    """Give every sentence its class: sentences of different classes cannot match. Those known by nothing are stepped over.

    The cells say how to score two sentences of one class; None where equal classes are equal sentences.
    """
    if config.signatures.signature == "exact":
        return rows_of(collection, collection.digest), None
    signature = load_signature(config.signatures.signature)
    types = collapse_sentences(collection.digest)
    tokens = collection.type_tokens(types, engine.map_parts)
    vocabulary = None
    if signature.needs_vocabulary:
        vocabulary = count_vocabulary(
            tokens, types.of_sentence, collection.document, collection.n_documents, engine.map_parts
        )
    progress.count(types=len(types))
    if isinstance(signature, SetSignature):
        sets = sort_sets(signature.hashes(tokens, vocabulary, config.signatures), engine.map_parts)
        del tokens, vocabulary
        limit = config.matches.min_similarity
        classes = join_types(sets, limit, engine.map_parts)
        progress.count(largest_class=classes.largest_class, pairs_verified=classes.n_pairs_verified)
        rows = rows_of(collection, (classes.of_type + 1).astype(np.uint64)[types.of_sentence])
        return rows, Cells(types.of_sentence[rows.sentence], sets, limit.as_integer_ratio())
    keys = signature.key(tokens, vocabulary, config.signatures)
    rows = rows_of(collection, keys[types.of_sentence])
    # Equal keys match whatever their words; the words only tell how alike they are.
    word_sets = sort_sets(WORDS.hashes(tokens, None, config.signatures), engine.map_parts)
    return rows, Cells(types.of_sentence[rows.sentence], word_sets, (0, 1))


def rows_of(collection: Collection, classes: NDArray[np.uint64]) -> Rows:
    """Return the sentences that have a class."""
    known = np.flatnonzero(classes).astype(np.int32)
    if len(known) == len(classes):
        return Rows(classes, collection.document, collection.document_first, collection.n_words, known)
    document = collection.document[known]
    document_first = np.searchsorted(document, np.arange(collection.n_documents + 1)).astype(np.int64)
    return Rows(classes[known], document, document_first, collection.n_words[known], known)


def pairing(collection: Collection, config: Config) -> Pairing:
    """Say which documents are compared."""
    side = np.empty(0, np.int8)
    if collection.n_input < collection.n_documents:
        side = (np.arange(collection.n_documents) >= collection.n_input).astype(np.int8)
    kin = collection.kin if config.passages.skip_same_group else np.empty(0, np.int32)
    return Pairing(config.passages.same_document, side, kin)


def passage_limits(config: Config) -> PassagesConfig:
    """Return the limits of passages; taken as printed, PDC-MR wants more than `min_sentences`, and nothing shorter or gapped."""
    if not config.signatures.paper:
        return config.passages
    strict = config.passages.min_sentences + 1
    return replace(config.passages, min_sentences=strict, min_words=1, min_quote_words=0, max_gap_sentences=0)


def no_documents(skipped: SkippedRecords) -> NoDocumentsError:
    """Say why there is nothing to work on."""
    if not skipped.records:
        return NoDocumentsError("the inputs hold no documents", "Known formats: txt, md, html, jsonl, json, csv, tsv, parquet, warc.")
    first = skipped.records[0]
    return NoDocumentsError(
        f"all {len(skipped.records)} records were skipped; the first, {first.source}:{first.position}: {first.reason}",
        "If the text is in another field, name it with --text-field.",
    )
