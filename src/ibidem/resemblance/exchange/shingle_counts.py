"""How many documents have a shingle: roughly, for the order of shingles, and exactly for those that may be common.

Rough counts are never too low. Identical documents may count more than once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.parted_tables import table_of
from ibidem.columns.ragged import flat, lengths, starts_of
from ibidem.columns.sets import HashSets
from ibidem.config import Config
from ibidem.config.sampling_plan import SamplingPlan
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.resemblance.exchange.shingles import documents_with_sets, every_of, listed_by_route, sets_of, taken
from ibidem.resemblance.frequent_shingles import common_of
from ibidem.resemblance.kernels.exchange import look_up_ranks
from ibidem.resemblance.prune import sample

# Keys of shingles in several documents, and their frequency ranks: the higher, the more documents. `sender` is where they were
# counted.
RANKS = pa.schema([("sender", pa.int32()), ("keys", pa.list_(pa.uint32())), ("ranks", pa.list_(pa.uint8()))])
COMMON = pa.schema([("ratio", pa.int8()), ("hash", pa.uint64())])

_N_HOT = pa.schema([("n_hot", pa.int64())])
_COUNTED = pa.schema([("ratio", pa.int8()), ("hash", pa.uint64()), ("count", pa.int64()), ASKER])

_HOT = 255  # the frequency rank of shingles that may be common

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class SampleRatios:
    """Samples of different sizes are compared ratio by ratio, always with samples of one size; see `resemblance.candidates`.

    `every` are the different sampling ratios, in increasing order.
    """

    every: Numbers
    config: Config
    plan: SamplingPlan | None

    def own(self, sizes: Numbers) -> Numbers:
        """Return the first ratio that documents of these sizes take part in."""
        return np.searchsorted(self.every, every_of(sizes, self.config, self.plan))

    def sample(self, number: int, sets: HashSets, takes_part: NDArray[np.bool_]) -> HashSets:
        """Return the sampled shingles at a ratio of the documents that take part."""
        every = int(self.every[number])
        return sample(sets, takes_part, every, self.config.resemblance.sample_remainder) if every > 1 else sets


@dataclass(frozen=True)
class WantedDocuments:
    """Documents at home that represent themselves, their distinct shingles, and their first ratio."""

    document: Numbers
    sets: HashSets
    own_ratio: Numbers

    @classmethod
    def of(cls, tables: Mapping[str, pa.Table], ratios: SampleRatios) -> WantedDocuments:
        """Make them from tables of `sets` and `copies`."""
        documents, known_by = documents_with_sets(tables["sets"])
        wanted = np.flatnonzero(~np.isin(documents, tables["copies"]["document"].to_numpy()))
        known_by = taken(known_by, wanted)
        return cls(documents[wanted], sets_of(known_by, ratios.config), ratios.own(np.diff(known_by.first)))


class SharedShingles:
    """The shingles of one home's documents that several documents have."""

    def __init__(self, table: pa.Table, layout: Layout) -> None:
        senders = np.repeat(table["sender"].to_numpy(), lengths(table, "keys")).astype(np.uint64)
        shared = flat(table, "keys").astype(np.uint64) << np.uint64(32) | senders
        order = np.argsort(shared)
        self._shared, self._ranks = shared[order], flat(table, "ranks")[order]
        self._n_partitions = layout.n_partitions
        self._table_bits = max(1, len(shared).bit_length())
        counts = np.bincount((shared >> np.uint64(64 - self._table_bits)).astype(np.int64), minlength=1 << self._table_bits)
        self._table_first = starts_of(counts)

    def ranks(self, hashes: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Return the frequency ranks of shingles; 0: no other document has it."""
        ranks = np.empty(len(hashes), np.uint8)
        look_up_ranks(hashes, self._n_partitions, self._shared, self._ranks, self._table_bits, self._table_first, ranks)
        return ranks


def count_shingles(flow: Flow, keys: PartedTable, layout: Layout, config: Config) -> tuple[dict[str, PartedTable], bool]:
    """Return `ranks` at all homes with these shingles, the ones that may be common as `hot`, and whether there are any."""
    most = config.resemblance.max_shingle_documents

    def count(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        home = np.repeat(tables["keys"]["home"].to_numpy(), lengths(tables["keys"], "keys")).astype(np.uint64)
        packed = flat(tables["keys"], "keys").astype(np.uint64) << np.uint64(32) | home
        packed.sort()
        is_new = np.concatenate([[True], packed[1:] >> np.uint64(32) != packed[:-1] >> np.uint64(32)])[: len(packed)]
        counts = np.diff(np.flatnonzero(is_new), append=len(packed))
        ranks = np.minimum(np.log2(counts), _HOT - 1).astype(np.uint8)
        ranks[counts > most] = _HOT
        yield Sent("n_hot", table_of([[np.count_nonzero(ranks == _HOT)]], _N_HOT), 0)
        ranks = np.repeat(ranks, counts)
        is_new |= np.concatenate([[True], packed[1:] != packed[:-1]])[: len(packed)]
        for tag, least in (("ranks", 1), ("hot", _HOT)):
            chosen = np.flatnonzero(is_new & (ranks >= least))
            homes = (packed[chosen] & np.uint64(0xFFFFFFFF)).astype(np.int64)
            order = chosen[np.argsort(homes, kind="stable")]
            keys = (packed[order] >> np.uint64(32)).astype(np.uint32)
            ends = np.cumsum(np.bincount(homes, minlength=layout.n_partitions))
            yield Sent(tag, *listed_by_route(ends, {"sender": partition, "keys": keys, "ranks": ranks[order]}, RANKS))

    counted = flow.reduce("shingle-ranks", {"keys": keys}, count, {"ranks": RANKS, "hot": RANKS, "n_hot": _N_HOT})
    return counted, bool(flow.collect(counted["n_hot"])["n_hot"].to_numpy().sum())


def find_common(flow: Flow, at_home: Mapping[str, PartedTable], ratios: SampleRatios, layout: Layout) -> PartedTable:
    """Return the common shingles of each ratio, at all homes that have them, given `sets`, `copies` and `hot`."""
    most = ratios.config.resemblance.max_shingle_documents

    def count(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        wanted = WantedDocuments.of(tables, ratios)
        hot = SharedShingles(tables["hot"], layout)
        for number in range(len(ratios.every)):
            takes_part = wanted.own_ratio <= number
            sets = ratios.sample(number, wanted.sets, takes_part)
            hashes = taken(sets, np.flatnonzero(takes_part)).hashes
            hashes, counts = np.unique(hashes[hot.ranks(hashes) > 0], return_counts=True)
            columns = [np.full(len(hashes), number), hashes, counts, np.full(len(hashes), partition)]
            yield Sent("counted", table_of(columns, _COUNTED), route_by_hash(hashes, layout.n_partitions))

    def choose(asked: pa.Table, _: Mapping[str, pa.Table]) -> tuple[pa.Table, Numbers]:
        number, hashes, counts = (asked[name].to_numpy() for name in ("ratio", "hash", "count"))
        is_common = np.zeros(len(number), np.bool_)
        for this in np.unique(number):
            rows = np.flatnonzero(number == this)
            is_common[rows] = np.isin(hashes[rows], common_of(hashes[rows], counts[rows], most))
        chosen = np.flatnonzero(is_common)
        return asked.select(COMMON.names).take(pa.array(chosen)), chosen

    counted = flow.reduce("shingle-counts", at_home, count, {"counted": _COUNTED})["counted"]
    return lookup(flow, "common-shingles", counted, {}, choose, COMMON)
