"""The inverted index over partitions: postings go to the partition of their signature, each a range of signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.parted_tables import table_of
from ibidem.columns.texts import kernel_texts, texts_of
from ibidem.config import Config
from ibidem.execution.flow import Flow, PartedTable, Sent, record_batches
from ibidem.matches.inverted_index import KnownBy, as_sets, entries_of, hex_strings
from ibidem.model import POSTINGS
from ibidem.sentences import split_texts, tokenise_spans
from ibidem.signatures import TypeTokens
from ibidem.signatures.exchange.sentence_types import Maker

_ENTRIES = pa.schema(
    [("hash", pa.uint64()), ("document", pa.int64()), ("sentence", pa.int32()), ("id", pa.large_string())]
)  # fmt: skip
# As POSTINGS, ids as they are.
_LISTED = pa.schema(
    [(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type) for field in POSTINGS]
)


def list_postings(flow: Flow, texts: PartedTable, make: Maker, config: Config) -> PartedTable:
    """Return the postings of all sentences: by signature, then in reading order. Texts are split once more for it."""
    n_partitions = flow.n_partitions

    def send(tables: Iterator[Any]) -> Iterator[Sent]:
        for batch in record_batches(tables):
            if batch.num_rows == 0:
                continue
            found = split_texts(texts_of(batch), config.sentences)
            data, offsets = kernel_texts(batch.column("text"))
            document = found["document"].to_numpy()
            starts, ends = (offsets[document] + found[name].to_numpy() for name in ("start_byte", "end_byte"))
            tokens = TypeTokens(*tokenise_spans(data, starts, ends, config.sentences.hash_seed), config.sentences.hash_seed)
            every = np.arange(len(document), dtype=np.int32)
            hashes, sentence = entries_of(KnownBy(every, as_sets(make(tokens))))
            first = np.searchsorted(document, np.arange(batch.num_rows))
            at = document[sentence]
            rows = pa.array(at)
            columns = [hashes, batch.column("document").take(rows), sentence - first[at], batch.column("id").take(rows)]
            yield Sent("entries", table_of(columns, _ENTRIES), _partition_of(hashes, n_partitions))

    def put_in_order(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        entries = tables["entries"]
        order = np.lexsort([entries[name].to_numpy() for name in ("sentence", "document", "hash")])
        entries = entries.take(pa.array(order))
        columns = [hex_strings(entries["hash"].to_numpy()), entries["id"], entries["sentence"]]
        yield Sent("postings", table_of(columns, _LISTED), partition)

    sent = flow.map("postings-sent", texts, send, {"entries": _ENTRIES})
    return flow.reduce("postings", sent, put_in_order, {"postings": _LISTED})["postings"]


def _partition_of(hashes: NDArray[np.uint64], n_partitions: int) -> NDArray[np.int64]:
    """Return the partition of each signature; larger signatures have no smaller partition."""
    return ((hashes >> np.uint64(32)) * np.uint64(n_partitions) >> np.uint64(32)).astype(np.int64)
