"""Documents that meet at a shingle become pairs to compare: all that may reach the limits, or only those with leaders.

Why the join of documents has two bodies: `prune` reads all shingles in order through two-bit counters, and `join` sorts them
together with the documents that have them; both need everything in memory. In partitions, shingles are counted at their homes
by 32-bit keys, their frequency ranks are sent back, and only the first shingles of each document meet. What precedes the join
(shingles, identical documents, samples) and what follows it (limits, leaders, comparison) is shared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.parted_tables import table_of
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.resemblance.candidates import shingle_limits
from ibidem.resemblance.document_join import pairs_with_leaders
from ibidem.resemblance.exchange.identical import BY_COMMON, node_homes
from ibidem.resemblance.exchange.shingle_counts import SampleRatios
from ibidem.resemblance.exchange.shingles import documents_with_sets
from ibidem.resemblance.kernels import exchange as kernels
from ibidem.resemblance.kernels.document_join import SizedDocuments

# Pairs to compare, at the home of b, with their ratio; and what is sent there for that.
CANDIDATES = pa.schema([("a", pa.int64()), ("b", pa.int64()), ("ratio", pa.int8())])
SENDING = pa.schema([("document", pa.int64()), ASKER])

_ROOM = 1 << 22  # pairs at a time, before duplicates among them are merged

Numbers = NDArray[np.int64]


def pair_documents(
    flow: Flow, entered: Mapping[str, PartedTable], ratios: SampleRatios, layout: Layout
) -> dict[str, PartedTable]:
    """Return `candidates` and `sending` for all pairs that may reach the limits and share a shingle that is not common."""

    def pair(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        entries = tables["entries"].combine_chunks()
        number = entries["ratio"].to_numpy()
        for this in np.unique(number).tolist():
            yield from _pair_entries(this, entries.filter(pa.array(number == this)), ratios, layout)

    outputs = {"candidates": CANDIDATES, "sending": SENDING}
    return flow.reduce("shingle-pairs", {"entries": entered["entries"]}, pair, outputs)


def pair_with_leaders(
    flow: Flow, entered: Mapping[str, PartedTable], ratios: SampleRatios, layout: Layout
) -> dict[str, PartedTable]:
    """Return `candidates` and `sending` for pairs through common shingles, and the documents in such pairs, `by_common`.

    All documents that meet at one common shingle are sent to one place with their shingles: they must fit into memory.
    """

    def pair(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        met, meetings = tables["met"], tables["meetings"]
        for this in np.unique(met["ratio"].to_numpy()).tolist():
            met_now, meetings_now = (t.filter(pa.array(t["ratio"].to_numpy() == this)) for t in (met, meetings))
            yield from _pair_with_leaders(this, met_now, meetings_now, ratios, layout)

    inputs = {name: entered[name] for name in ("met", "meetings")}
    outputs = {"candidates": CANDIDATES, "sending": SENDING, "by_common": BY_COMMON}
    return flow.reduce("leaders", inputs, pair, outputs)


def send_candidates(documents: Numbers, a: Numbers, b: Numbers, ratio: int, layout: Layout) -> Iterator[Sent]:
    """Send pairs of documents, by their rows, to the home of b, and request that the shingles of both are sent there."""
    homes = layout.home(documents)
    numbers = np.full(len(a), ratio)
    yield Sent("candidates", table_of([documents[a], documents[b], numbers], CANDIDATES), homes[b])
    # The first document is also needed at its own home: clusters may ask for it.
    packed = np.unique(np.concatenate([a, b, a]) * layout.n_partitions + homes[np.concatenate([b, b, a])])
    rows = packed // layout.n_partitions
    yield Sent("sending", table_of([documents[rows], packed % layout.n_partitions], SENDING), homes[rows])


def _pair_entries(ratio: int, entries: pa.Table, ratios: SampleRatios, layout: Layout) -> Iterator[Sent]:
    names = ("hash", "document", "size", "position", "own_ratio")
    hashes, document, size, position, own = (entries[name].to_numpy() for name in names)
    order = np.lexsort((document, size, hashes))
    hashes, document, size, position, own = (column[order] for column in (hashes, document, size, position, own))
    size = size.astype(np.int64)
    documents, rows = np.unique(document, return_inverse=True)
    begins = np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1], [True]]))
    limits = shingle_limits(ratios.config, int(ratios.every[ratio]), ratios.config.resemblance.verify, int(size.max(initial=0)))
    bounds = limits.bounds(size)
    met = kernels.MetEntries(
        begins, rows.astype(np.int32), size, position, bounds.index_prefix, bounds.smallest_partner, layout.side(document), own
    )  # fmt: skip
    found = np.empty(0, np.int64)
    room = np.empty(_ROOM, np.int32), np.empty(_ROOM, np.int32)
    group = 0
    while group < len(begins) - 1:
        before = group
        group, n = kernels.pair_entries(met, group, ratio, limits, *room)
        found = np.union1d(found, room[0][:n].astype(np.int64) << 32 | room[1][:n])
        if group == before:
            room = np.empty(2 * len(room[0]), np.int32), np.empty(2 * len(room[0]), np.int32)
    yield from send_candidates(documents, found >> 32, found & 0xFFFFFFFF, ratio, layout)


def _pair_with_leaders(ratio: int, met: pa.Table, meetings: pa.Table, ratios: SampleRatios, layout: Layout) -> Iterator[Sent]:
    documents, sets = documents_with_sets(met)
    sizes = np.diff(sets.first)
    order = np.lexsort((documents, sizes))
    keys = sets.hashes
    for begin, end in zip(sets.first[:-1].tolist(), sets.first[1:].tolist(), strict=True):
        keys[begin:end].sort()
    documents, size, start = documents[order], sizes[order], sets.first[:-1][order]
    limits = shingle_limits(ratios.config, int(ratios.every[ratio]), ratios.config.resemblance.verify, int(size.max(initial=0)))
    side = layout.side(documents)
    sized = SizedDocuments(keys, start, size, size, limits.bounds(size).smallest_partner, side)

    by_number = np.argsort(documents)
    members = by_number[np.searchsorted(documents, meetings["document"].to_numpy(), sorter=by_number)]
    own = np.empty(len(documents), np.int64)
    own[members] = meetings["own_ratio"].to_numpy()
    shingles = np.unique(meetings["hash"].to_numpy(), return_inverse=True)[1]
    a, b, _ = pairs_with_leaders(sized, shingles, members, limits)
    met_by_common = documents[np.unique(np.concatenate([a, b]))]
    yield Sent("by_common", table_of([met_by_common], BY_COMMON), node_homes(met_by_common, layout))
    # A pair uses the later ratio of its two documents.
    new = np.maximum(own[a], own[b]) == ratio
    packed = np.unique(np.minimum(a, b)[new].astype(np.int64) << 32 | np.maximum(a, b)[new])
    yield from send_candidates(documents, packed >> 32, packed & 0xFFFFFFFF, ratio, layout)
