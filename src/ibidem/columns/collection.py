"""The documents of a run and their sentences, as columns over the whole collection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.columns.ragged import starts_of
from ibidem.config import SentencesConfig
from ibidem.errors import ResourceError
from ibidem.execution.memory import release_unused
from ibidem.execution.tasks import RunTasks
from ibidem.model import DOCUMENT_BATCH, SENTENCE_BATCH
from ibidem.sentences import CheckKey, Checks, hash_strings, split_and_check, tokenise_spans
from ibidem.signatures import SentenceTypes, TypeTokens

NO_TIME = np.iinfo(np.int64).min
MOST_SENTENCES = np.iinfo(np.int32).max - 1
MOST_TEXT_BYTES = 1 << 32


@dataclass(frozen=True)
class Documents:
    """Documents in reading order. From `n_input` on they are the reference."""

    batches: Sequence[pa.RecordBatch]
    n_chars: NDArray[np.int64]
    n_input: int

    @property
    def n_documents(self) -> int:
        """Number of documents on both sides."""
        return len(self.n_chars)

    @property
    def has_reference(self) -> bool:
        """Whether there is a reference side."""
        return self.n_input < self.n_documents

    def text_checks(self, documents: NDArray[np.int64]) -> tuple[CheckKey, Checks]:
        """Return the checks of the texts of some documents, to the byte as they were read, and their key."""
        raise NotImplementedError

    @cached_property
    def side(self) -> NDArray[np.int8]:
        """1 for documents of the reference, 0 for the others; empty without a reference."""
        if not self.has_reference:
            return np.empty(0, np.int8)
        return (np.arange(self.n_documents) >= self.n_input).astype(np.int8)

    @cached_property
    def ids(self) -> pa.LargeStringArray:
        """The users' ids by document."""
        return _joined([batch.column("id") for batch in self.batches], pa.large_string())

    @cached_property
    def id_hashes(self) -> NDArray[np.uint64]:
        """The hash of each document's id: an order of documents that does not depend on when they are read."""
        return hash_strings(self.ids)

    @cached_property
    def times(self) -> NDArray[np.int64]:
        """Microseconds since 1970 by document; the smallest number where there is no time."""
        return times_of(_joined([batch.column("time") for batch in self.batches], pa.timestamp("us", tz="UTC")))

    @cached_property
    def groups(self) -> pa.LargeStringArray:
        """The users' groups by document."""
        return _joined([batch.column("group") for batch in self.batches], pa.large_string())

    @cached_property
    def group_numbers(self) -> NDArray[np.int32]:
        """The number of each document's group; -1 where there is none."""
        codes = self.groups.dictionary_encode().indices
        return codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)  # type: ignore[no-any-return]

    @cached_property
    def sources(self) -> pa.DictionaryArray:
        """The names of the files or objects that the documents come from."""
        column = pa.chunked_array([batch.column("source") for batch in self.batches], DOCUMENT_BATCH.field("source").type)
        return column.unify_dictionaries().combine_chunks()

    @cached_property
    def positions(self) -> NDArray[np.int64]:
        """The line or number of each document's record in its source."""
        return np.concatenate([np.empty(0, np.int64), *(batch.column("position").to_numpy() for batch in self.batches)])

    @cached_property
    def batch_first(self) -> NDArray[np.int64]:
        """The number of each batch's first document, and the number of documents."""
        return starts_of([batch.num_rows for batch in self.batches])


@dataclass(frozen=True)
class Collection(Documents):
    """Documents with their texts and sentences. Digests are never 0."""

    document: NDArray[np.int32]
    start_byte: NDArray[np.uint32]
    end_byte: NDArray[np.uint32]
    start_char: NDArray[np.uint32]
    end_char: NDArray[np.uint32]
    n_words: NDArray[np.int32]
    digest: NDArray[np.uint64]
    hash_seed: int = 0  # what the digests were made with
    checks: Checks = field(default_factory=lambda: np.empty((0, 2), np.uint64))  # of the words of each sentence, if asked for

    @cached_property
    def document_first(self) -> NDArray[np.int64]:
        """The number of each document's first sentence, and the number of sentences."""
        return np.searchsorted(self.document, np.arange(self.n_documents + 1)).astype(np.int64)

    def text(self, document: int) -> str:
        """Return the text of a document as it was read."""
        batch = int(np.searchsorted(self.batch_first, document, side="right")) - 1
        text: str = self.batches[batch].column("text")[document - int(self.batch_first[batch])].as_py()
        return text

    def text_checks(self, documents: NDArray[np.int64]) -> tuple[CheckKey, Checks]:
        """Return the checks of the texts of some documents, to the byte as they were read, and their key."""
        key, checks = text_key(self.hash_seed), np.empty((len(documents), 2), np.uint64)
        batch_of = np.searchsorted(self.batch_first, documents, side="right") - 1
        for number in np.unique(batch_of).tolist():
            here = np.flatnonzero(batch_of == number)
            rows = documents[here] - self.batch_first[number]
            data, offsets = text_buffers(self.batches[number].column("text"))
            checks[here] = key.of_bytes(data, offsets[rows], offsets[rows + 1])
        return key, checks

    def type_tokens(self, types: SentenceTypes, run_tasks: RunTasks) -> TypeTokens:
        """Return the tokens of every type, read again from its first sentence: cheaper than keeping all tokens."""
        sentences = types.first_sentence
        bounds = np.searchsorted(self.document[sentences], self.batch_first)

        def tokenise(number: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
            chosen = sentences[bounds[number] : bounds[number + 1]]
            data, offsets = text_buffers(self.batches[number].column("text"))
            begins = offsets[self.document[chosen] - self.batch_first[number]]
            return tokenise_spans(data, begins + self.start_byte[chosen], begins + self.end_byte[chosen], self.hash_seed)

        first = starts_of(self.n_words[sentences])
        tokens = np.empty(int(first[-1]), np.uint64)
        for number, (part, _) in enumerate(run_tasks(tokenise, range(len(self.batches)))):
            tokens[first[bounds[number]] : first[bounds[number + 1]]] = part
        return TypeTokens(tokens, first, self.hash_seed)


def text_key(hash_seed: int) -> CheckKey:
    """Return what texts are checked with that are read again, later in the run or by a run that goes on."""
    return CheckKey(max(hash_seed, 0))


def texts_of(batch: pa.RecordBatch) -> pa.LargeStringArray:
    """Return the texts of a batch; one of 4 GB or more is a ResourceError."""
    texts = batch.column("text")
    if texts.nbytes >= MOST_TEXT_BYTES:  # only a single document makes a batch that large; offsets have 32 bits
        raise ResourceError(f"the document {batch.column('id')[0]} has 4 GB of text or more", "Split it.")
    return texts


def gather(
    batches: Iterable[pa.RecordBatch],
    reference_batches: Iterable[pa.RecordBatch],
    config: SentencesConfig,
    run_tasks: RunTasks,
    on_batch: Callable[[int, int], None],
    key: CheckKey | None = None,
) -> Collection:
    """Split the texts of all batches into sentences as they arrive; `on_batch` is told of new documents and sentences.

    With a key, sentences also get checks; these are made of the hashes of words, so the seed of the settings must be secret.
    """
    places = np.empty(0, np.uint64) if key is None else key.places

    def split(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch, Checks, NDArray[np.int64]]:
        texts = texts_of(batch)
        return batch, *split_and_check(texts, config, places), pc.utf8_length(texts).to_numpy(zero_copy_only=False)

    kept: list[pa.RecordBatch] = []
    lengths: list[NDArray[np.int64]] = []
    checks: list[Checks] = [np.empty((0, 2), np.uint64)]
    # Arrow's names for numbers are numpy's, too; to_pandas_dtype needs pandas in older versions of Arrow.
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
                    f"more than {MOST_SENTENCES:,} sentences", "Split the collection, and compare its parts with --against."
                )
            for name, column in columns.items():
                if end > len(column):
                    # One block that grows, instead of many parts to be joined at the end: nothing is ever there twice.
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


def text_buffers(texts: pa.LargeStringArray | pa.LargeBinaryArray) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the UTF-8 bytes of a column of texts and the offsets of its rows, without copying."""
    _, offsets, data = texts.buffers()
    rows = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8), rows


def times_of(column: pa.ChunkedArray | pa.Array) -> NDArray[np.int64]:
    """Return times as microseconds since 1970, the smallest number where there is none."""
    return np.asarray(column.cast(pa.int64()).fill_null(NO_TIME))


def _joined(columns: Sequence[pa.Array], kind: pa.DataType) -> pa.Array:
    return pa.chunked_array(columns, kind).combine_chunks()
