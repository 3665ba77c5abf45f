"""The documents of a run and their sentences, as columns over the whole collection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.ragged import starts_of
from ibidem.columns.text_checks import CheckKey, Checks, text_key
from ibidem.columns.texts import hash_strings, text_buffers
from ibidem.model import DOCUMENT_BATCH

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
        """Return the checks of the exact texts of given documents, and their key."""
        raise NotImplementedError

    @cached_property
    def side(self) -> NDArray[np.int8]:
        """1 for documents of the reference, 0 for others; empty without a reference."""
        if not self.has_reference:
            return np.empty(0, np.int8)
        return (np.arange(self.n_documents) >= self.n_input).astype(np.int8)

    @cached_property
    def ids(self) -> pa.LargeStringArray:
        """The user's id of each document."""
        return _joined([batch.column("id") for batch in self.batches], pa.large_string())

    @cached_property
    def id_hashes(self) -> NDArray[np.uint64]:
        """The hash of each document's id: an order of documents that does not depend on reading order."""
        return hash_strings(self.ids)

    @cached_property
    def times(self) -> NDArray[np.int64]:
        """Microseconds since 1970 per document; the smallest number if there is no time."""
        return times_of(_joined([batch.column("time") for batch in self.batches], pa.timestamp("us", tz="UTC")))

    @cached_property
    def groups(self) -> pa.LargeStringArray:
        """The user's group of each document."""
        return _joined([batch.column("group") for batch in self.batches], pa.large_string())

    @cached_property
    def group_numbers(self) -> NDArray[np.int32]:
        """The number of each document's group; -1 if there is none."""
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
        """The number of each batch's first document, and last the number of documents."""
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
    hash_seed: int = 0  # the seed of the digests
    checks: Checks = field(default_factory=lambda: np.empty((0, 2), np.uint64))  # of the words of each sentence, if requested

    @classmethod
    def joined(cls, parts: Sequence[Collection]) -> Collection:
        """Return the documents of several collections without a reference, in order."""
        first = starts_of([part.n_documents for part in parts])
        names = ("start_byte", "end_byte", "start_char", "end_char", "n_words", "digest", "checks")
        return cls(
            [batch for part in parts for batch in part.batches],
            np.concatenate([part.n_chars for part in parts]),
            int(first[-1]),
            np.concatenate([part.document + np.int32(begin) for part, begin in zip(parts, first[:-1], strict=True)]),
            hash_seed=parts[0].hash_seed,
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in names},
        )

    @property
    def is_ignored(self) -> NDArray[np.bool_]:
        """Which sentences never count: they have words, but no bytes to read them from."""
        return np.asarray(self.end_byte == self.start_byte)

    @cached_property
    def text_bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each document's text begins and ends in the bytes of its batch."""
        offsets = [text_buffers(batch.column("text"))[1] for batch in self.batches]
        none = np.empty(0, np.int64)
        return np.concatenate([none, *(each[:-1] for each in offsets)]), np.concatenate([none, *(each[1:] for each in offsets)])

    @cached_property
    def document_first(self) -> NDArray[np.int64]:
        """The number of each document's first sentence, and last the number of sentences."""
        return np.searchsorted(self.document, np.arange(self.n_documents + 1)).astype(np.int64)

    def text(self, document: int) -> str:
        """Return the text of a document as read."""
        batch = int(np.searchsorted(self.batch_first, document, side="right")) - 1
        text: str = self.batches[batch].column("text")[document - int(self.batch_first[batch])].as_py()
        return text

    def text_checks(self, documents: NDArray[np.int64]) -> tuple[CheckKey, Checks]:
        """Return the checks of the exact texts of given documents, and their key."""
        key, checks = text_key(self.hash_seed), np.empty((len(documents), 2), np.uint64)
        batch_of = np.searchsorted(self.batch_first, documents, side="right") - 1
        for number in np.unique(batch_of).tolist():
            here = np.flatnonzero(batch_of == number)
            rows = documents[here] - self.batch_first[number]
            data, offsets = text_buffers(self.batches[number].column("text"))
            checks[here] = key.of_bytes(data, offsets[rows], offsets[rows + 1])
        return key, checks


def times_of(column: pa.ChunkedArray | pa.Array) -> NDArray[np.int64]:
    """Return times as microseconds since 1970; the smallest number if there is none."""
    return np.asarray(column.cast(pa.int64()).fill_null(NO_TIME))


def _joined(columns: Sequence[pa.Array], kind: pa.DataType) -> pa.Array:
    return pa.chunked_array(columns, kind).combine_chunks()
