"""From sentences to classes: what the passages stage works on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ibidem.columns.collection import Collection
from ibidem.columns.rows import Rows, rows_of
from ibidem.config import Config, passage_limits
from ibidem.execution.progress import Progress
from ibidem.execution.tasks import RunTasks
from ibidem.matches import Cells, join_types, sort_sets
from ibidem.matches.inverted_index import KnownBy, as_sets
from ibidem.signatures import SetSignature, collapse_sentences, load_signature, type_tokens
from ibidem.signatures.known_words import known_vocabulary
from ibidem.signatures.words import SIGNATURE as WORDS


class Classed(NamedTuple):
    """Sentences that have a class, and how to score two of one class; no cells if equal classes are equal sentences.

    `known_by` are the signatures of all sentences, where `postings` asks for them.
    """

    rows: Rows
    cells: Cells | None
    known_by: KnownBy | None = None


def classify_collection(collection: Collection, config: Config, run_tasks: RunTasks, progress: Progress) -> Classed:
    """Give every sentence its class: sentences of different classes cannot match. Those without a signature are skipped."""
    max_gap = passage_limits(config).max_gap_sentences
    if config.signatures.signature == "exact":
        known_by = None
        if config.matches.postings:
            every = np.arange(len(collection.digest), dtype=np.int32)
            known_by = KnownBy(every, as_sets(collection.digest))
        return Classed(rows_of(collection, collection.digest, max_gap), None, known_by)
    signature = load_signature(config.signatures.signature)
    types = collapse_sentences(collection.digest)
    tokens = type_tokens(collection, types, run_tasks)
    vocabulary = None
    if signature.needs_vocabulary:
        of_sentence, document, n_documents = types.of_sentence, collection.document, collection.n_documents
        name = config.signatures.signature
        vocabulary = known_vocabulary(tokens, of_sentence, document, n_documents, config, name, run_tasks)
    progress.count(types=len(types))
    if isinstance(signature, SetSignature):
        made = signature.hashes(tokens, vocabulary, config.signatures)
        known_by = KnownBy(types.of_sentence, made) if config.matches.postings else None
        sets = sort_sets(made, run_tasks)
        del tokens, vocabulary, made
        limit = config.matches.min_similarity
        classes = join_types(sets, limit, run_tasks)
        rows = rows_of(collection, (classes.of_type + 1).astype(np.uint64)[types.of_sentence], max_gap)
        return Classed(rows, Cells(types.of_sentence[rows.sentence], sets, limit.as_integer_ratio()), known_by)
    keys = signature.key(tokens, vocabulary, config.signatures)
    rows = rows_of(collection, keys[types.of_sentence], max_gap)
    # Equal keys match whatever their words; the words only determine the similarity.
    word_sets = sort_sets(WORDS.hashes(tokens, None, config.signatures), run_tasks)
    known_by = KnownBy(types.of_sentence, as_sets(keys)) if config.matches.postings else None
    return Classed(rows, Cells(types.of_sentence[rows.sentence], word_sets, (0, 1)), known_by)
