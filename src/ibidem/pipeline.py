"""The flow on one screen: documents → sentences → signatures → matches → passages → tables. Read this file first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.collection import NO_TIME, Collection, gather
from ibidem.config import Config, DocumentsConfig, passage_limits
from ibidem.documents import describe_inputs, find_repeated_id, input_size, read_batches
from ibidem.engines import LocalEngine
from ibidem.errors import InputError, NoDocumentsError
from ibidem.matches import join_types, sort_sets
from ibidem.passages import Cells, Pairing, Rows, assemble_passages, find_diagonals, verify_places
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
            check_documents(collection, against is not None, skipped)
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


def passages_of(
    collection: Collection, config: Config, engine: LocalEngine, progress: Progress
) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Return the tables of passages, documents and repeats of a collection whose sentences are known."""
    with progress.stage("matches"):
        rows, cells = classify(collection, config, engine, progress)
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


def classify(collection: Collection, config: Config, engine: LocalEngine, progress: Progress) -> tuple[Rows, Cells | None]:
    """Give every sentence its class: sentences of different classes cannot match. Those known by nothing are stepped over.

    The cells say how to score two sentences of one class; None where equal classes are equal sentences.
    """
    max_gap = passage_limits(config).max_gap_sentences
    if config.signatures.signature == "exact":
        return rows_of(collection, collection.digest, max_gap), None
    signature = load_signature(config.signatures.signature)
    types = collapse_sentences(collection.digest)
    tokens = collection.type_tokens(types, engine.map_parts)
    vocabulary = None
    if signature.needs_vocabulary:
        vocabulary = count_vocabulary(tokens, types.of_sentence, collection.document, collection.n_documents, engine.map_parts)
    progress.count(types=len(types))
    if isinstance(signature, SetSignature):
        sets = sort_sets(signature.hashes(tokens, vocabulary, config.signatures), engine.map_parts)
        del tokens, vocabulary
        limit = config.matches.min_similarity
        classes = join_types(sets, limit, engine.map_parts)
        progress.count(largest_class=classes.largest_class)
        rows = rows_of(collection, (classes.of_type + 1).astype(np.uint64)[types.of_sentence], max_gap)
        return rows, Cells(types.of_sentence[rows.sentence], sets, limit.as_integer_ratio())
    keys = signature.key(tokens, vocabulary, config.signatures)
    rows = rows_of(collection, keys[types.of_sentence], max_gap)
    # Equal keys match whatever their words; the words only tell how alike they are.
    word_sets = sort_sets(WORDS.hashes(tokens, None, config.signatures), engine.map_parts)
    return rows, Cells(types.of_sentence[rows.sentence], word_sets, (0, 1))


def rows_of(collection: Collection, classes: NDArray[np.uint64], max_gap_sentences: int) -> Rows:
    """Return the sentences that have a class. Up to `max_gap_sentences` without one are stepped over.

    More of them in a row interrupt: one of them stays, with a class of its own.
    """
    n = len(classes)
    words_before = np.zeros(n, np.int64)
    np.cumsum(collection.n_words[:-1], out=words_before[1:])
    if classes.min(initial=1) > 0:
        every = np.arange(n, dtype=np.int32)
        return Rows(classes, collection.document, collection.document_first, collection.n_words, words_before, every)
    numbers = np.arange(n)
    last_known = np.maximum.accumulate(np.where(classes != 0, numbers, -1))
    last_known = np.maximum(last_known, collection.document_first[collection.document] - 1)
    interrupts = numbers - last_known == max_gap_sentences + 1
    classes = np.where(interrupts, numbers.astype(np.uint64) + np.uint64(1 << 63), classes)
    rows = np.flatnonzero(classes).astype(np.int32)
    document = collection.document[rows]
    document_first = np.searchsorted(document, np.arange(collection.n_documents + 1)).astype(np.int64)
    return Rows(classes[rows], document, document_first, collection.n_words[rows], words_before[rows], rows)


def pairing(collection: Collection, config: Config) -> Pairing:
    """Say which documents are compared."""
    side = np.empty(0, np.int8)
    if collection.has_reference:
        side = (np.arange(collection.n_documents) >= collection.n_input).astype(np.int8)
    kin = collection.kin if config.passages.skip_same_group else np.empty(0, np.int32)
    return Pairing(config.passages.same_document, side, kin)


def check_documents(collection: Collection, has_reference: bool, skipped: SkippedRecords) -> None:
    """Raise where a side has no documents, or two of one id."""
    sides = {"the inputs": (0, collection.n_input), "the reference": (collection.n_input, collection.n_documents)}
    for name, (begin, end) in sides.items():
        if begin == end and (has_reference or name == "the inputs"):
            raise NoDocumentsError(f"{name} hold{'s' * (name != 'the inputs')} no documents", skipped.explain())
        find_repeated_id(
            [b for b, first in zip(collection.batches, collection.batch_first, strict=False) if begin <= first < end]
        )


def check_fields(collection: Collection, config: DocumentsConfig) -> None:
    """Raise where the user named a field for times or groups, and no record has anything in it."""
    usual = DocumentsConfig()
    found = {"time_field": (collection.times != NO_TIME).any(), "group_field": (collection.kin >= 0).any()}
    for setting, is_there in found.items():
        name = getattr(config, setting)
        if name != getattr(usual, setting) and not is_there:
            what = "a time in a form that is known" if setting == "time_field" else "a value"
            raise InputError(f"no record has a field '{name}' with {what}", f"Check --{setting.replace('_', '-')}.")
