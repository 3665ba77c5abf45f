"""From documents to sentences, in a mapper: later stages have rows sent while the sentences are in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.hashes import draw_seed, mix
from ibidem.columns.parted_tables import CHECKED, EQUAL, NAMED, OF_SENTENCE, SPLIT, table_of
from ibidem.columns.ragged import as_lists
from ibidem.columns.text_checks import CheckKey, text_key
from ibidem.columns.texts import hash_strings
from ibidem.config import Config
from ibidem.execution.flow import Flow, PartedTable, Sender, Sent, Source, record_batches, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.execution.tasks import in_turn
from ibidem.model import DOCUMENT_BATCH
from ibidem.sentences.core import gather
from ibidem.sentences.ignored_text import load_ignored

TEXTS = pa.schema(
    [("document", pa.int64()), *(DOCUMENT_BATCH.field(name) for name in ("id", "text", "time", "group", "cleaned"))]
)
IDS = pa.schema(
    [
        ("key", pa.uint64()),
        ("document", pa.int64()),
        ("id", pa.large_string()),
        ("source", pa.string()),
        ("position", pa.int64()),
    ]
)
COUNTS = pa.schema(
    [(name, pa.int64()) for name in ("n_documents", "n_reference", "n_sentences", "n_times", "n_groups", "n_ignored")]
)

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class SplitBatch:
    """Documents split into sentences, as the mapper has them: their numbers, records and sentences."""

    documents: Numbers
    batch: pa.RecordBatch
    collection: Collection


def split_documents(
    flow: Flow, source: Source, config: Config, then: Sequence[Sender[SplitBatch]] = (), to_cut: bool = False
) -> dict[str, PartedTable]:
    """Return the documents split into sentences (`documents`), their `counts`, and the tables of the senders.

    For passages, also their `texts` and `ids`; with `to_cut`, where they come from (`named`) instead, and the `texts` only if
    words are compared. Stored documents at home serve as their texts. Digests and checks use secrets drawn here and known
    nowhere else: a stage runs once, and later ones only test for equality.
    """
    layout = flow.layout
    is_stored = isinstance(source, PartedTable)
    exact = config.signatures.signature == "exact"
    sentences = replace(config.sentences, hash_seed=draw_seed())
    key = CheckKey.drawn() if to_cut or not exact else None
    ignored = load_ignored(sentences.ignore)
    key_of_texts = text_key(config.sentences.hash_seed)
    outputs = {"documents": CHECKED if not exact else EQUAL if to_cut else SPLIT, "counts": COUNTS}
    to_read = not to_cut or config.alignment.align or config.cleaning.level == "run" or config.cleaning.lossless
    outputs |= {"named": NAMED} if to_cut else {"ids": IDS}
    outputs |= {"texts": TEXTS} if to_read and not is_stored else {}
    for sender in then:
        outputs |= sender.gives

    def split(batches: Iterator[Any]) -> Iterator[Sent]:
        for batch in record_batches(batches):
            if batch.num_rows == 0:
                continue
            documents = batch.column("document").to_numpy()
            home = layout.home(documents)
            collection = gather([batch], [], sentences, in_turn, _ignore, key, ignored)
            yield Sent("counts", _counts(collection, documents, layout, ignored is not None), 0)
            yield Sent("documents", _documents(collection, documents, outputs["documents"]), home)
            if to_cut:
                columns = [batch.column(name) for name in ("document", "id", "source", "position")]
                checks = key_of_texts.of_texts(batch.column("text")).T
                yield Sent("named", table_of([*columns, collection.n_chars, *checks], NAMED), home)
            else:
                yield emit_ids(batch, documents, layout)
            if "texts" in outputs:
                yield emit_texts(batch, home)
            for sender in then:
                yield from sender(SplitBatch(documents, batch, collection), layout)

    given = flow.map("sentences", source, split, outputs)
    return given | {"texts": source} if is_stored and to_read else given


def _ignore(n_documents: int, n_sentences: int) -> None:
    """Report nothing."""


def _counts(collection: Collection, documents: Numbers, layout: Layout, is_ignoring: bool) -> pa.Table:
    batch = collection.batches[0]
    n = len(documents)
    numbers = (
        n,
        int(np.count_nonzero(documents >= layout.n_input)),
        len(collection.document),
        n - batch.column("time").null_count,
        n - batch.column("group").null_count,
        int(np.count_nonzero(collection.is_ignored)) if is_ignoring else 0,
    )
    return table_of([[number] for number in numbers], COUNTS)


def _documents(collection: Collection, documents: Numbers, schema: pa.Schema) -> pa.Table:
    batch = collection.batches[0]
    counts = np.diff(collection.document_first)
    columns = {"document": documents, "n_chars": collection.n_chars}
    columns |= {name: batch.column(name) for name in ("id", "time", "group")}
    of_sentences = {name: getattr(collection, name) for name in OF_SENTENCE}
    if "check" in schema.names:
        of_sentences["check"] = collection.checks[:, 0]
    if "classes" in schema.names:
        of_sentences["classes"] = names_of(collection.digest, collection.checks[:, 1])
    for name in set(schema.names) - set(columns):
        columns[name] = as_lists(of_sentences[name], counts, schema.field(name).type.value_type)
    return table_of([columns[name] for name in schema.names], schema)


def names_of(digests: NDArray[np.uint64], checks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return names for sentences, never 0, that differ if either their digests or their checks do."""
    fold: Any = mix.py_func  # over a whole array at once
    names: NDArray[np.uint64] = np.maximum(fold(digests, checks), np.uint64(1))
    return names


def emit_texts(batch: pa.RecordBatch, home: Numbers) -> Sent:
    """Send the documents of a batch, with their texts, home."""
    return Sent("texts", table_of([batch.column(name) for name in TEXTS.names], TEXTS), home)


def emit_ids(batch: pa.RecordBatch, documents: Numbers, layout: Layout) -> Sent:
    """Send ids to where equal ones on one side meet."""
    fold: Any = mix.py_func  # over a whole array at once
    keys = fold(hash_strings(batch.column("id")), (documents >= layout.n_input).astype(np.uint64))
    columns = [keys, documents, *(batch.column(name) for name in ("id", "source", "position"))]
    return Sent("ids", table_of(columns, IDS), route_by_hash(keys, layout.n_partitions))
