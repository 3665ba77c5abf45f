"""The join of documents by shared shingles, up to where documents meet: at their first shingles.

The shingles of a document are in one order, the same everywhere: first those that no other document has, then those that few
have, then those that more have, and the common ones last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.parted_tables import table_of
from ibidem.columns.ragged import as_lists, ranges, starts_of
from ibidem.columns.sets import HashSets
from ibidem.execution.flow import Flow, PartedTable, Sent, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.resemblance.candidates import shingle_limits
from ibidem.resemblance.exchange.shingle_counts import SampleRatios, SharedShingles, WantedDocuments
from ibidem.resemblance.exchange.shingles import taken
from ibidem.resemblance.frequent_shingles import CommonShingles, Meetings, find_meetings
from ibidem.resemblance.limits import SizeBounds

# One of the first shingles of a document; `position` is its place among all of them, `size` their number in this round.
ENTRIES = pa.schema(
    [
        ("ratio", pa.int8()),
        ("own_ratio", pa.int8()),
        ("hash", pa.uint64()),
        ("document", pa.int64()),
        ("size", pa.int32()),
        ("position", pa.int32()),
    ]
)
# A common shingle at which a document meets others; and the shingles of such documents, where they meet.
MEETINGS = pa.schema([("ratio", pa.int8()), ("own_ratio", pa.int8()), ("hash", pa.uint64()), ("document", pa.int64())])
MET = pa.schema([("ratio", pa.int8()), ("document", pa.int64()), ("known_by", pa.list_(pa.uint64()))])
_N_MEETINGS = pa.schema([("n_meetings", pa.int64())])

Numbers = NDArray[np.int64]


def list_entries(
    flow: Flow, at_home: Mapping[str, PartedTable], ratios: SampleRatios, layout: Layout
) -> tuple[dict[str, PartedTable], bool]:
    """Return `entries`, `meetings` and `met`, where the documents of a shingle meet; and whether any meet at common ones.

    `at_home` are `sets`, `copies`, `ranks` and, where there are some, `common`.
    """

    def enter(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        wanted = WantedDocuments.of(tables, ratios)
        shared = SharedShingles(tables["ranks"], layout)
        for number in range(len(ratios.every)):
            hashes = np.empty(0, np.uint64)
            if "common" in tables:
                hashes = np.sort(tables["common"]["hash"].to_numpy()[tables["common"]["ratio"].to_numpy() == number])
            yield from _enter(number, wanted, shared, CommonShingles.of(hashes), ratios, layout)

    outputs = {"entries": ENTRIES, "meetings": MEETINGS, "met": MET, "n_meetings": _N_MEETINGS}
    entered = flow.reduce("shingle-entries", at_home, enter, outputs)
    return entered, bool(flow.collect(entered["n_meetings"])["n_meetings"].to_numpy().sum())


def _enter(
    number: int, wanted: WantedDocuments, shared: SharedShingles, common: CommonShingles, ratios: SampleRatios, layout: Layout
) -> Iterator[Sent]:
    chosen = np.flatnonzero(wanted.own_ratio <= number)
    documents, own = wanted.document[chosen], wanted.own_ratio[chosen]
    sets = taken(ratios.sample(number, wanted.sets, wanted.own_ratio <= number), chosen)
    sizes = np.diff(sets.first)
    verify = ratios.config.resemblance.verify
    bounds = shingle_limits(ratios.config, int(ratios.every[number]), verify, int(sizes.max(initial=0))).bounds(sizes)

    row, position, hashes = _first_shingles(sets, shared, common, bounds)
    columns = [np.full(len(row), number), own[row], hashes, documents[row], sizes[row], position]
    yield Sent("entries", table_of(columns, ENTRIES), route_by_hash(hashes, layout.n_partitions))

    meetings: Meetings = find_meetings(common, sets, np.ones(len(sizes), np.bool_), bounds.probe_prefix)
    row, hashes = meetings.document, common.hashes[meetings.shingle]
    routes = route_by_hash(hashes, layout.n_partitions)
    columns = [np.full(len(row), number), own[row], hashes, documents[row]]
    yield Sent("meetings", table_of(columns, MEETINGS), routes)
    yield Sent("n_meetings", table_of([[len(row)]], _N_MEETINGS), 0)
    sent = np.unique(row * layout.n_partitions + routes)
    row = sent // layout.n_partitions
    known = taken(sets, row)
    lists = as_lists(known.hashes, np.diff(known.first), pa.uint64())
    yield Sent("met", table_of([np.full(len(row), number), documents[row], lists], MET), sent % layout.n_partitions)


def _first_shingles(
    sets: HashSets, shared: SharedShingles, common: CommonShingles, bounds: SizeBounds
) -> tuple[Numbers, Numbers, NDArray[np.uint64]]:
    """Return those shingles that are among the first of documents and lead to others: the row, the position and the hash.

    Documents that share too little with all others together have none.
    """
    sizes = np.diff(sets.first)
    ranks = shared.ranks(sets.hashes)
    is_common = np.zeros(len(ranks), np.bool_)
    if len(common):
        marked = np.flatnonzero(common.marks[sets.hashes >> np.uint64(64 - common.table_bits)])
        is_common[marked] = np.isin(sets.hashes[marked], common.hashes)
    n_shared, n_common = (_sums(flags, sets.first) for flags in (ranks > 0, is_common))
    n_alone = sizes - n_shared
    may_pair = (n_shared >= bounds.least_shared) & (n_alone < bounds.probe_prefix)
    row = np.repeat(np.arange(len(sizes)), np.where(may_pair, sizes, 0))
    at = ranges(sets.first[:-1], np.where(may_pair, sizes, 0))
    leads = (ranks[at] > 0) & ~is_common[at]
    row, at = row[leads], at[leads]
    order = np.lexsort((sets.hashes[at], ranks[at], row))
    row, at = row[order], at[order]
    n_leading = np.where(may_pair, n_shared - n_common, 0)
    position = n_alone[row] + np.arange(len(row)) - (np.cumsum(n_leading) - n_leading)[row]
    first = position < bounds.probe_prefix[row]
    return row[first], position[first], sets.hashes[at[first]]


def _sums(flags: NDArray[np.bool_], first: Numbers) -> Numbers:
    """Return the number of flags of each row."""
    return np.diff(starts_of(flags)[first])
