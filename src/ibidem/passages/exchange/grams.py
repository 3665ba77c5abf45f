"""Grams: every window, long sentence and short text goes to the partition of its key, where those of several places meet.

The partition learns how many places each key has. Too many make it hot: its places are flagged and lead to no pairs. The others
determine which documents meet in which buckets (see `layout`): both are sent there. A key with too many places in one batch is
certainly hot: it sends one row and flags its places at once. So no partition receives more than `max_places` rows of a key from
each batch, however often a footer occurs in the collection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.components_exchange import EDGES
from ibidem.columns.kernels import transit as kernels
from ibidem.columns.parted_tables import PlacedDocuments, table_of
from ibidem.columns.postings import postings_of
from ibidem.config import Config, PassagesConfig, passage_limits
from ibidem.execution.flow import Flow, PartedTable, Sent, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.passages.grams import gram_keys, kinds_of_grams, rows_in_grams
from ibidem.passages.kernels.windows import HOT_WINDOW, REPEATED_WINDOW, key_of_kind, whole_text_keys
from ibidem.sentences.exchange import SplitBatch

# `bit` is the flag of places if the key is hot; 0 for keys of whole documents, which only show which are identical.
GRAMS = pa.schema(
    [("bit", pa.uint8()), ("key", pa.uint64()), ("document", pa.int64()), ("row", pa.int32()), ("n_places", pa.int64())]
)
FLAGS = pa.schema([("document", pa.int64()), ("row", pa.int32()), ("flags", pa.uint8())])
MEMBERS = pa.schema([("document", pa.int64()), ("row", pa.int32()), ("bucket", pa.int32())])
GRAM_OUTPUTS = {"grams": GRAMS, "flags": FLAGS, "edges": EDGES}
_IDENTICAL = 0
_MEMBERS_AT_A_TIME = 1 << 20


def _sent_keys(kind: int, placed: PlacedDocuments, limits: PassagesConfig) -> NDArray[np.uint64]:
    """Return the key of the gram of one kind that starts at each row; 0 where there is none.

    Unknown rows are stretches without a class: what contains one appears nowhere else.
    """
    keys = gram_keys(kind, placed.rows, limits)
    if not placed.is_known.all():
        _, n_unknown = rows_in_grams(kind, ~placed.is_known, placed.rows, limits.min_sentences)
        keys[n_unknown > 0] = 0
    return keys


def emit_grams(placed: PlacedDocuments, config: Config, layout: Layout) -> Iterator[Sent]:
    """Yield the grams of whole documents."""
    limits = passage_limits(config)
    row_of_document = placed.row_of_document
    row_documents = placed.documents[placed.rows.document]
    for bit in kinds_of_grams(limits):
        keys = _sent_keys(bit, placed, limits)
        groups = postings_of(keys)
        n_places = np.diff(groups.first)
        withheld = np.zeros(len(keys), np.bool_)
        withheld[groups.rows[np.repeat(n_places > limits.max_places, n_places)]] = True
        counts = np.ones(len(keys), np.int64)
        heads = groups.rows[groups.first[:-1]]
        counts[heads] = np.where(n_places > limits.max_places, n_places, 1)
        if withheld.any():
            yield _flagged(row_documents[withheld], row_of_document[withheld], _flags_of_hot(bit), layout)
            withheld[heads] = False
        sent = (keys != 0) & ~withheld
        columns = [np.full(sent.sum(), bit, np.uint8), keys[sent], row_documents[sent], row_of_document[sent], counts[sent]]
        yield Sent("grams", table_of(columns, GRAMS), route_by_hash(keys[sent], layout.n_partitions))
    yield from _emit_identical(placed.collection, placed.documents, layout)


@dataclass(frozen=True)
class GramSender:
    """Sends the grams of documents whose sentences have classes; after splitting, equal digests are equal classes."""

    config: Config

    @property
    def gives(self) -> Mapping[str, pa.Schema]:
        """The tables that it sends."""
        return GRAM_OUTPUTS

    def __call__(self, part: SplitBatch | PlacedDocuments, layout: Layout) -> Iterator[Sent]:
        """Yield the grams of whole documents."""
        if isinstance(part, SplitBatch):
            part = PlacedDocuments.of(part.documents, part.collection, part.collection.digest, self.config)
        return emit_grams(part, self.config, layout)


def _emit_identical(collection: Collection, documents: NDArray[np.int64], layout: Layout) -> Iterator[Sent]:
    """Yield a key for all sentences of every document; identical documents of a batch are joined at once."""
    first = collection.document_first
    keys = np.empty(len(collection.digest), np.uint64)
    whole_text_keys(collection.digest, first, len(keys) + 1, keys)
    known = np.flatnonzero(np.diff(first) > 0)
    keys, numbers = keys[first[known]], documents[known]
    different, at, which = np.unique(keys, return_index=True, return_inverse=True)
    heads = numbers[at]
    others = numbers != heads[which]
    yield Sent("edges", _edges(heads[which][others], numbers[others]), 0)
    n = len(different)
    columns = [np.zeros(n, np.uint8), different, heads, np.zeros(n, np.int32), np.ones(n, np.int64)]
    yield Sent("grams", table_of(columns, GRAMS), route_by_hash(different, layout.n_partitions))


def meet(flow: Flow, grams: PartedTable, config: Config, layout: Layout) -> dict[str, PartedTable]:
    """Return `flags` of rows, `members` (which rows are needed where), and `edges` between identical documents."""
    limits = passage_limits(config)
    by_kind: Any = key_of_kind.py_func

    def reduce(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        grams = tables["grams"]
        given: list[NDArray[Any]] = [grams[name].to_numpy() for name in GRAMS.names]
        bits, keys, documents, rows, counts = given
        # What a mapper sent is already in order: there is little to sort, and groups are in order afterwards.
        order = np.argsort(documents.astype(np.uint64) << np.uint64(32) | rows.astype(np.uint64), kind="stable")
        groups = postings_of(by_kind(keys, bits.astype(np.uint64))[order])
        which = np.repeat(np.arange(len(groups.first) - 1), np.diff(groups.first))
        members = order[groups.rows]
        bits, documents, rows, counts = bits[members], documents[members], rows[members], counts[members]
        totals = np.add.reduceat(counts, groups.first[:-1]) if len(members) else counts
        same = bits == _IDENTICAL
        yield Sent("edges", _edges(documents[groups.first[:-1]][which][same], documents[same]), 0)
        hot = (totals > limits.max_places)[which] & ~same
        flags = np.where(hot, bits, 0).astype(np.uint8)
        flags[bits == HOT_WINDOW] |= REPEATED_WINDOW
        flagged = flags != 0
        yield _flagged(documents[flagged], rows[flagged], flags[flagged], layout)
        homes = layout.home(documents)
        places = kernels.MeetingPlaces(groups.first, which, ~hot & ~same, documents, homes, layout.region(homes))
        n_buckets = layout.n_partitions * layout.n_regions
        buckets = kernels.Buckets(layout.homes_per_region, layout.n_regions, n_buckets)
        n_input = layout.n_input if layout.has_reference else -1
        room = np.empty(max(_MEMBERS_AT_A_TIME, int(np.diff(groups.first).max(initial=0))), np.int64)
        place = 0
        while place < len(documents):  # not all at once: a place may be needed in very many buckets
            place, n_met = kernels.list_meetings(place, places, buckets, limits.same_document, n_input, room)
            at, bucket = np.divmod(room[:n_met], n_buckets)
            yield Sent("members", table_of([documents[at], rows[at], bucket.astype(np.int32)], MEMBERS), homes[at])

    return flow.reduce("grams", {"grams": grams}, reduce, {"flags": FLAGS, "members": MEMBERS, "edges": EDGES})


def _flags_of_hot(bit: int) -> int:
    return bit | (REPEATED_WINDOW if bit == HOT_WINDOW else 0)


def _flagged(documents: NDArray[np.int64], rows: NDArray[np.int32], flags: NDArray[np.uint8] | int, layout: Layout) -> Sent:
    columns = [documents, rows, np.broadcast_to(np.asarray(flags, np.uint8), np.shape(rows))]
    return Sent("flags", table_of(columns, FLAGS), layout.home(documents))


def _edges(a: NDArray[np.int64], b: NDArray[np.int64]) -> pa.Table:
    different = a != b
    return table_of([a[different].astype(np.uint64), b[different].astype(np.uint64)], EDGES)
