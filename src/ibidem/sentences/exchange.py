"""Documents into sentences, in a mapper: what each later stage needs is sent on its way at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection, gather, text_buffers, text_key
from ibidem.columns.hashes import draw_seed, mix
from ibidem.columns.parted_tables import CHECKED, EQUAL, NAMED, OF_SENTENCE, SPLIT, PlacedDocuments, table_of
from ibidem.columns.ragged import as_lists, starts_of, take_ranges
from ibidem.config import Config
from ibidem.execution.flow import Flow, PartedTable, Sent, record_batches, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.execution.tasks import in_turn
from ibidem.passages.exchange.grams import GRAM_OUTPUTS, emit_grams
from ibidem.sentences import CheckKey, hash_strings
from ibidem.signatures.exchange.vocabulary import WORDS, count_words, needs_vocabulary

TEXTS = pa.schema([("document", pa.int64()), ("id", pa.large_string()), ("text", pa.large_string()), ("cleaned", pa.bool_())])
# The types that documents of a partition have, with their texts: not every sentence, so no footer floods a partition.
SEEN = pa.schema([("digest", pa.uint64()), ("check", pa.uint64()), ("home", pa.int32()), ("text", pa.large_binary())])
IDS = pa.schema(
    [
        ("key", pa.uint64()),
        ("document", pa.int64()),
        ("id", pa.large_string()),
        ("source", pa.string()),
        ("position", pa.int64()),
    ]
)
COUNTS = pa.schema([(name, pa.int64()) for name in ("n_documents", "n_reference", "n_sentences", "n_times", "n_groups")])

Numbers = NDArray[np.int64]


def split_documents(flow: Flow, source: Any, config: Config, layout: Layout, to_cut: bool = False) -> dict[str, PartedTable]:
    """Return the documents in sentences (`documents`), their `counts`, and what the signature asks for.

    For passages also their `texts` and `ids`; `to_cut`, where they stand (`named`) instead. Documents that are stored already,
    at home, are their texts. Digests and checks have secrets that are drawn here and known to nobody else: a stage runs once,
    and later ones only ask whether they are equal.
    """
    is_stored = isinstance(source, PartedTable)
    exact = config.signatures.signature == "exact"
    by_words = needs_vocabulary(config)
    sentences = replace(config.sentences, hash_seed=draw_seed())
    key = CheckKey.drawn() if to_cut or not exact else None
    key_of_texts = text_key(config.sentences.hash_seed)
    outputs = {"documents": CHECKED if not exact else EQUAL if to_cut else SPLIT, "counts": COUNTS}
    outputs |= {"named": NAMED} if to_cut else {"ids": IDS} if is_stored else {"texts": TEXTS, "ids": IDS}
    outputs |= {"seen": SEEN} if not exact else {} if to_cut else GRAM_OUTPUTS
    outputs |= {"words": WORDS} if by_words else {}

    def split(batches: Iterator[Any]) -> Iterator[Sent]:
        for batch in record_batches(batches):
            if batch.num_rows == 0:
                continue
            documents = batch.column("document").to_numpy()
            home = layout.home(documents)
            collection = gather([batch], [], sentences, in_turn, lambda n_documents, n_sentences: None, key)
            yield Sent("counts", _counts(collection, documents, layout), 0)
            yield Sent("documents", _documents(collection, documents, outputs["documents"]), home)
            if to_cut:
                columns = [batch.column(name) for name in ("document", "id", "source", "position")]
                checks = key_of_texts.of_texts(batch.column("text")).T
                yield Sent("named", table_of([*columns, collection.n_chars, *checks], NAMED), home)
            else:
                if not is_stored:
                    columns = [batch.column(name) for name in TEXTS.names]
                    yield Sent("texts", table_of(columns, TEXTS), home)
                yield emit_ids(batch, documents, layout)
            if not exact:
                yield from _seen(collection, batch, documents, layout)
                if by_words:
                    names = names_of(collection.digest, collection.checks[:, 1])
                    counted = replace(collection, digest=names, hash_seed=config.sentences.hash_seed)
                    yield count_words(counted, layout)
            elif not to_cut:
                yield from emit_grams(PlacedDocuments.of(documents, collection, collection.digest, config), config, layout)

    stored = flow.map("sentences", source, split, outputs)
    return stored | {"texts": source} if is_stored and not to_cut else stored


def _counts(collection: Collection, documents: Numbers, layout: Layout) -> pa.Table:
    batch = collection.batches[0]
    n = len(documents)
    numbers = (
        n,
        int(np.count_nonzero(documents >= layout.n_input)),
        len(collection.document),
        n - batch.column("time").null_count,
        n - batch.column("group").null_count,
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
    """Return names for sentences, never 0, that differ where either their digests or their checks do."""
    fold: Any = mix.py_func  # over a whole array at once
    names: NDArray[np.uint64] = np.maximum(fold(digests, checks), np.uint64(1))
    return names


def emit_ids(batch: pa.RecordBatch, documents: Numbers, layout: Layout) -> Sent:
    """Send ids to where equal ones of one side meet."""
    fold: Any = mix.py_func  # over a whole array at once
    keys = fold(hash_strings(batch.column("id")), (documents >= layout.n_input).astype(np.uint64))
    columns = [keys, documents, *(batch.column(name) for name in ("id", "source", "position"))]
    return Sent("ids", table_of(columns, IDS), route_by_hash(keys, layout.n_partitions))


def _seen(collection: Collection, batch: pa.RecordBatch, documents: Numbers, layout: Layout) -> Iterator[Sent]:
    """Yield the types of a batch with their texts, once for every partition that their documents live in."""
    data, offsets = text_buffers(batch.column("text"))
    checks = collection.checks[:, 0]
    homes = layout.home(documents)[collection.document]
    begins = offsets[collection.document] + collection.start_byte
    sizes = (collection.end_byte - collection.start_byte).astype(np.int64)
    for home in np.unique(homes):
        here = np.flatnonzero(homes == home)
        chosen = here[_different(collection.digest[here], checks[here])]
        texts_of_types = take_ranges(data, begins[chosen], sizes[chosen])
        buffers = [None, pa.py_buffer(starts_of(sizes[chosen])), pa.py_buffer(texts_of_types)]
        texts = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(chosen), buffers)
        digests = collection.digest[chosen]
        columns = [digests, checks[chosen], np.full(len(chosen), home), texts]
        yield Sent("seen", table_of(columns, SEEN), route_by_hash(digests, layout.n_partitions))


def _different(digests: NDArray[np.uint64], checks: NDArray[np.uint64]) -> Numbers:
    """Return where different sentences are first; one may come twice where another has its digest."""
    order = np.argsort(digests, kind="stable")
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (digests[order][1:] != digests[order][:-1]) | (checks[order][1:] != checks[order][:-1])
    return order[is_new]
