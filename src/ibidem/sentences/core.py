"""The core of the first stage: from texts to a collection of sentences, batch by batch as they arrive."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.columns.collection import MOST_SENTENCES, Collection
from ibidem.columns.text_checks import CheckKey, Checks
from ibidem.columns.texts import texts_of
from ibidem.config import SentencesConfig
from ibidem.config.surface import named
from ibidem.errors import ResourceError
from ibidem.execution.memory import release_unused
from ibidem.execution.tasks import RunTasks
from ibidem.model import SENTENCE_BATCH
from ibidem.sentences.ignored_text import IgnoredText
from ibidem.sentences.splitter import split_and_check


def gather(
    batches: Iterable[pa.RecordBatch],
    reference_batches: Iterable[pa.RecordBatch],
    config: SentencesConfig,
    run_tasks: RunTasks,
    on_batch: Callable[[int, int], None],
    key: CheckKey | None = None,
    ignored: IgnoredText | None = None,
) -> Collection:
    """Split the texts of all batches into sentences as they arrive; `on_batch` receives the numbers of new documents and
    sentences.

    With a key, sentences also get checks; these are made from the hashes of words, so the seed in the settings must be secret.
    Sentences that are `ignored` have no bytes, and a digest and check that no other has.
    """
    places = np.empty(0, np.uint64) if key is None else key.places

    def split(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch, Checks, NDArray[np.int64]]:
        texts = texts_of(batch)
        sentences, checks = split_and_check(texts, config, places)
        if ignored is not None:
            sentences = _unlike(
                sentences,
                checks,
                ignored.sentences(texts, *(sentences[name].to_numpy() for name in ("document", "start_char"))),
            )
        return batch, sentences, checks, pc.utf8_length(texts).to_numpy(zero_copy_only=False)

    kept: list[pa.RecordBatch] = []
    lengths: list[NDArray[np.int64]] = []
    checks: list[Checks] = [np.empty((0, 2), np.uint64)]
    # Arrow's names of number types are also numpy's; to_pandas_dtype needs pandas in older versions of Arrow.
    columns = {field.name: np.empty(1 << 16, str(field.type)) for field in SENTENCE_BATCH}
    n_documents = n_sentences = n_input = 0
    for stream in (batches, reference_batches):
        for batch, sentences, checked, n_chars in run_tasks(split, stream):
            kept.append(batch)
            lengths.append(n_chars)
            checks.append(checked)
            end = n_sentences + sentences.num_rows
            if max(end, n_documents + batch.num_rows) >= MOST_SENTENCES:
                raise ResourceError(
                    f"more than {MOST_SENTENCES:,} sentences",
                    f"Split the collection, and compare its parts with {named('against')}.",
                )
            for name, column in columns.items():
                if end > len(column):
                    # One growing block instead of many parts to join at the end: nothing is in memory twice.
                    column.resize(max(end, len(column) * 3 // 2), refcheck=False)
                column[n_sentences:end] = sentences.column(name).to_numpy()
            columns["document"][n_sentences:end] += n_documents
            n_documents += batch.num_rows
            n_sentences = end
            on_batch(batch.num_rows, sentences.num_rows)
        if stream is batches:
            n_input = n_documents
    release_unused()
    whole = {name: column[:n_sentences] for name, column in columns.items()}
    np.maximum(whole["digest"], np.uint64(1), out=whole["digest"])
    n_chars = np.concatenate([np.empty(0, np.int64), *lengths], dtype=np.int64)
    return Collection(kept, n_chars, n_input, **whole, hash_seed=config.hash_seed, checks=np.concatenate(checks))


def _unlike(sentences: pa.RecordBatch, checks: Checks, chosen: NDArray[np.bool_]) -> pa.RecordBatch:
    """Return sentences of which the chosen ones have no text and are unlike all others; their checks are changed."""
    columns = {name: sentences[name].to_numpy().copy() for name in sentences.schema.names}
    n = int(np.count_nonzero(chosen))
    drawn = np.frombuffer(secrets.token_bytes(24 * n), np.uint64).reshape(n, 3)
    columns["end_byte"][chosen] = columns["start_byte"][chosen]
    columns["digest"][chosen] = drawn[:, 0]
    if len(checks):
        checks[chosen] = drawn[:, 1:]
    return pa.RecordBatch.from_arrays([pa.array(column) for column in columns.values()], schema=sentences.schema)
