"""The set-similarity join of types over partitions: the same prefixes and bounds as in `matches/join.py`, split by members.

1. Sets are put in one order, rarest member first; frequent members are counted and sent to all (a bounded table), for all
   others any order is fine. Two sets that are similar enough share a member among the first few of both.
2. Those few are sent to the partitions of the members, with only sizes and bitmaps. A set that meets no other that could be
   similar by size and bitmap is done with this member: nearly all are. Common members would bring together ever more sets as
   the collection grows: if a set must share two members, it is met by two of them together.
3. The others send their sets. Two that meet and are not yet joined are compared; a partition sends at most one edge for each
   set that it joins to others, however many pairs there are. Where very many meet, they are joined as in `matches`.

Why the join has two implementations: in memory, all sets are available, so members have exact ranks, a posting takes 16 bytes
and is sorted by size behind a cursor, members of a single set get none, and a pair is merged directly from the sets. In
partitions, no task has all sets: they first meet by size and bitmap, with 28 bytes per posting, and only those that may match
are sent. On one partition, this version would move and sort nearly twice the bytes; the other one cannot run in partitions.
They share bounds, bitmaps, overlaps, union–find, and how sets are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.components_exchange import EDGES, ROOTS, connect
from ibidem.columns.hashes import mix
from ibidem.columns.kernels.union_find import flatten, unite_pairs
from ibidem.columns.parted_tables import portions, table_of
from ibidem.columns.postings import postings_of
from ibidem.columns.ragged import as_lists, flat, lengths, starts_of
from ibidem.columns.sets import HashSets
from ibidem.config import Config
from ibidem.execution.flow import Flow, PartedTable, Sent, order_of, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.execution.tasks import in_turn
from ibidem.matches import MOST_POSTINGS, join_types, sort_sets
from ibidem.matches.kernels import exchange as kernels
from ibidem.signatures.exchange.sentence_types import CLASSES, TYPES, Maker, Types, emit_classes
from ibidem.signatures.sentence_types import number_hashes

SETS = TYPES
_MEMBERS = pa.schema([("member", pa.uint64()), ("count", pa.int64())])
_POSTINGS = pa.schema(
    [
        ("member", pa.uint64()),
        ("digest", pa.uint64()),
        ("size", pa.int32()),
        ("bitmap", pa.uint64()),
        ("is_indexed", pa.bool_()),
    ]
)
_WANTED = pa.schema([("digest", pa.uint64()), ("member", pa.uint64()), ("is_indexed", pa.bool_())])
_SENT = pa.schema([*_WANTED, ("bitmap", pa.uint64()), ("set", pa.list_(pa.uint64()))])
_MOST_FREQUENT = 1 << 20
_SAMPLE_EVERY = 8  # members are counted in one of this many types
_LEAST_COUNT = 2  # among those
_COMMON_COUNT = 2048  # among those: so many sets that two members together are a better key
_MOST_IN_TWOS = 16  # members of a prefix used in pairs
_MOST_SENT_BYTES = 16 << 20
_LONG_LIST = 1 << 15  # sets of one member compared in one task, a few seconds at worst
_LONG_CROWD = 1 << 18  # the same for sets that are nearly all similar, which are not compared pair by pair
_N_NEAR = 16  # sets before and after one, used to recognise a crowd


class _FrequencyRanks(NamedTuple):
    """Frequent members by increasing hash, their ranks by increasing count, and the first rank of those that are common."""

    members: NDArray[np.uint64]
    rank: NDArray[np.int32]
    least_common: int


@dataclass(frozen=True)
class SetSender:
    """Makes the sets of types, and sends them with a sample of their members; types with an empty set need a class only."""

    make: Maker
    gives: Mapping[str, pa.Schema] = field(default_factory=lambda: {"sets": SETS, "classes": CLASSES, "members": _MEMBERS})

    def __call__(self, part: Types, layout: Layout) -> Iterator[Sent]:
        """Yield the sets of a partition."""
        made, digests = self.make(part.tokens), part.digests
        hashes, sizes = _distinct(made.hashes, made.first)
        yield Sent("sets", table_of([digests, as_lists(hashes, sizes, pa.uint64())], SETS), _homes(digests, layout))
        empty = sizes == 0
        yield emit_classes(digests[empty], np.zeros(int(empty.sum()), np.uint64), layout)
        # A sample of types is enough to know how common members are: any order is exact.
        sampled = digests % np.uint64(_SAMPLE_EVERY) == 0
        numbered = number_hashes(hashes[np.repeat(sampled, sizes)], in_turn)
        yield Sent("members", table_of([numbered.hashes, numbered.counts], _MEMBERS), _homes(numbered.hashes, layout))


def _homes(keys: NDArray[np.uint64], layout: Layout) -> NDArray[np.int64]:
    return route_by_hash(keys, layout.n_partitions)


def join_sets(
    flow: Flow, made: dict[str, PartedTable], config: Config, layout: Layout
) -> tuple[PartedTable, list[PartedTable]]:
    """Return the sets of the compared types, and the classes of those that are similar or have no signature.

    What the `SetSender` sent is consumed.
    """
    ranks = _frequent_members(flow, made.pop("members"))
    postings = _list_postings(flow, made["sets"], ranks, config, layout)
    wanted = _meet(flow, postings, config, layout)
    del postings
    compared, edges = _compare(flow, made.pop("sets"), wanted, config, layout)
    del wanted
    roots = connect(flow, "classes", edges)

    def name(tables: Iterator[pa.Table]) -> Iterator[Sent]:
        for table in tables:
            digests, classes = (table[name].to_numpy() for name in ROOTS.names)
            yield emit_classes(digests, classes, layout)

    named = flow.map("classes-named", roots, name, {"classes": CLASSES})["classes"]
    return compared, [made.pop("classes"), named]


def sorted_sets(tokens: pa.ChunkedArray) -> pa.ListArray:
    """Return the distinct tokens of each list by increasing hash."""
    lists = pa.table({"set": tokens})
    hashes, sizes = _distinct(flat(lists, "set"), starts_of(lengths(lists, "set")))
    return _by_hash(hashes, sizes)[0]


def _distinct(hashes: NDArray[np.uint64], first: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the distinct hashes of each set, and their number."""
    hashes, sizes = hashes.copy(), np.empty(len(first) - 1, np.int64)
    for row in np.flatnonzero(np.diff(first) > kernels.LONG_SET).tolist():
        hashes[first[row] : first[row + 1]].sort()
    n = kernels.distinct(hashes, first, sizes)
    return hashes[:n], sizes


def _by_hash(hashes: NDArray[np.uint64], sizes: NDArray[np.int64]) -> tuple[pa.ListArray, NDArray[np.uint64]]:
    """Return sets by increasing hash, and their bitmaps; the hashes are sorted in place."""
    bitmaps = np.empty(len(sizes), np.uint64)
    kernels.order_sets(hashes, np.zeros(len(hashes), np.int32), starts_of(sizes), bitmaps)
    return as_lists(hashes, sizes, pa.uint64()), bitmaps


def _frequent_members(flow: Flow, members: PartedTable) -> _FrequencyRanks:
    """Return the members of very many sets, by increasing hash, with their frequency ranks."""
    most = max(1, _MOST_FREQUENT // flow.n_partitions)

    def choose(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        members, which = np.unique(tables["members"]["member"].to_numpy(), return_inverse=True)
        counts = np.bincount(which, tables["members"]["count"].to_numpy(), len(members)).astype(np.int64)
        chosen = np.argsort(-counts, kind="stable")[:most]
        chosen = chosen[counts[chosen] >= _LEAST_COUNT]
        yield Sent("members", table_of([members[chosen], counts[chosen]], _MEMBERS), 0)

    table = flow.collect(flow.reduce("sets-frequent", {"members": members}, choose, {"members": _MEMBERS})["members"])
    hashes, counts = (table[name].to_numpy() for name in _MEMBERS.names)
    order = np.lexsort((hashes, counts))
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(1, len(order) + 1)
    by_hash = np.argsort(hashes)
    return _FrequencyRanks(hashes[by_hash], rank[by_hash], 1 + int(np.searchsorted(counts[order], _COMMON_COUNT)))


def sizes_in_twos(p: int, q: int) -> tuple[int, int]:
    """Return the size from which sets are also met by single common members, and the largest size met by pairs of members.

    Of two similar sets, either both have at most the latter size, or both at least the former.
    """
    most = (q * _MOST_IN_TWOS - 1) // (q - p) if p < q else np.iinfo(np.int32).max
    return p * most // q + 1, most


def _list_postings(flow: Flow, sets: PartedTable, ranks: _FrequencyRanks, config: Config, layout: Layout) -> PartedTable:
    p, q = config.matches.min_similarity.as_integer_ratio()
    frequent, rank, least_common = ranks
    in_twos = sizes_in_twos(p, q)

    def list_postings(tables: Iterator[pa.Table]) -> Iterator[Sent]:
        table_bits = min(20, max(1, len(frequent).bit_length()))
        prefixes = np.arange((1 << table_bits) + 1, dtype=np.uint64)
        table_first = np.searchsorted(frequent >> np.uint64(64 - table_bits), prefixes).astype(np.int32)
        for table in tables:
            hashes, sizes, digests = flat(table, "set").copy(), lengths(table, "set"), table["digest"].to_numpy()
            first = starts_of(sizes)
            of_hash = np.empty(len(hashes), np.int32)
            kernels.look_up(hashes, frequent, rank, table_bits, table_first, of_hash)
            bitmaps = np.empty(len(sizes), np.uint64)
            kernels.order_sets(hashes, of_hash, first, bitmaps)
            n_postings = 0
            for _ in range(2):  # the first time only to count them
                keys, which = np.empty(n_postings, np.uint64), np.empty(n_postings, np.int32)
                is_indexed = np.empty(n_postings, np.bool_)
                n_postings = kernels.list_prefixes(hashes, of_hash, least_common, in_twos, first, p, q, keys, which, is_indexed)
            columns = [keys, digests[which], sizes[which], bitmaps[which], is_indexed]
            yield Sent("postings", table_of(columns, _POSTINGS), _homes(keys, layout))

    return flow.map("sets-postings", sets, list_postings, {"postings": _POSTINGS})["postings"]


def _meet(flow: Flow, postings: PartedTable, config: Config, layout: Layout) -> list[PartedTable]:
    """Return the sets needed at a member because another one there could be similar.

    The sets of a very common member are split into blocks by size, and every two blocks meet separately: such a member becomes
    many tasks under many names. Blocks of a crowd, sentences of one template, are larger.
    """
    p, q = config.matches.min_similarity.as_integer_ratio()

    def meet(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["postings"]
        met = _Met.at(table["member"].to_numpy(), table["size"].to_numpy())
        counts = np.diff(met.first)
        is_long = counts > _LONG_LIST
        yield _possible(table, met.at_keys(~is_long), p, q, layout)
        for begin, end in zip(met.first[:-1][is_long].tolist(), met.first[1:][is_long].tolist(), strict=True):
            rows = met.rows[begin:end]
            most = _most_in_block(table, rows, p, q)
            if len(rows) <= most:
                yield _possible(table, _Met(rows, np.array([0, len(rows)])), p, q, layout)
            else:
                yield from _block_pairs(table.take(pa.array(rows)), most, p, q, layout)

    def meet_in_blocks(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["postings"]
        yield _possible(table, _Met.at(table["member"].to_numpy(), table["size"].to_numpy()), p, q, layout)

    met = flow.reduce("sets-meet", {"postings": postings}, meet, {"wanted": _WANTED, "long": _POSTINGS})
    if flow.count(met["long"]) == 0:
        return [met["wanted"]]
    wanted = flow.reduce("sets-meet-long", {"postings": met["long"]}, meet_in_blocks, {"wanted": _WANTED})
    return [met["wanted"], wanted["wanted"]]


class _Met(NamedTuple):
    """Rows of keys that occur more than once, sorted by key, then by size; and where those of each key begin."""

    rows: NDArray[np.int64]
    first: NDArray[np.int64]

    @classmethod
    def at(cls, keys: NDArray[np.uint64], sizes: NDArray[Any]) -> _Met:
        """Return where keys meet."""
        by_size = order_of(sizes)
        groups = postings_of(keys[by_size])  # leaves rows in their order
        return cls(by_size[groups.rows], groups.first)

    @property
    def number(self) -> NDArray[np.int64]:
        """The number of each row's key."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def at_keys(self, chosen: NDArray[np.bool_]) -> _Met:
        """Return the rows of some of the keys."""
        counts = np.diff(self.first)
        return self if chosen.all() else _Met(self.rows[np.repeat(chosen, counts)], starts_of(counts[chosen]))


def _possible(postings: pa.Table, met: _Met, p: int, q: int, layout: Layout) -> Sent:
    """Return the sets that, by size and bitmap, may be similar to another one that they meet."""
    member, digest, size, bitmap, is_indexed = (c.to_numpy() for c in postings.columns)
    active = np.zeros(len(met.rows), np.bool_)
    room = np.empty(len(met.rows) + 1, np.int64), np.empty(len(met.rows) + 1, np.int64)
    kernels.find_possible(met.number, size[met.rows], bitmap[met.rows], is_indexed[met.rows], p, q, *room, active)
    rows = met.rows[active]
    columns = [digest[rows], member[rows], is_indexed[rows]]
    return Sent("wanted", table_of(columns, _WANTED), _homes(digest[rows], layout))


def _most_in_block(postings: pa.Table, rows: NDArray[np.int64], p: int, q: int) -> int:
    """Return how many of one member's sets, sorted by size, are compared in one task."""
    size, bitmap, is_indexed = (postings[name].to_numpy()[rows] for name in ("size", "bitmap", "is_indexed"))
    active = np.zeros(len(rows), np.bool_)
    kernels.find_possible_near(size, bitmap, is_indexed, _N_NEAR, p, q, active)
    return _LONG_CROWD if active.all() else _LONG_LIST


def _block_pairs(postings: pa.Table, most: int, p: int, q: int, layout: Layout) -> Iterator[Sent]:
    """Yield every block of one member's sets, sorted by size, and every two blocks, each under its own name."""
    fold: Any = mix.py_func
    size = postings["size"].to_numpy()
    blocks = [(begin, min(begin + most, len(size))) for begin in range(0, len(size), most)]
    member = postings["member"].to_numpy()[:1]
    for number, (begin, end) in enumerate(blocks):
        for other_number, (other_begin, other_end) in enumerate(blocks[number:], number):
            if q * int(size[end - 1]) < p * int(size[other_begin]):  # the largest here is too small for the smallest there
                break
            both = postings.slice(begin, end - begin)
            if other_number > number:
                both = pa.concat_tables([both, postings.slice(other_begin, other_end - other_begin)])
            name = fold(fold(member, np.uint64(number + 1)), np.uint64(other_number + 1))
            columns = [np.repeat(name, both.num_rows), *both.columns[1:]]
            yield Sent("long", table_of(columns, _POSTINGS), int(_homes(name, layout)[0]))


def _compare(
    flow: Flow, sets: PartedTable, wanted: Sequence[PartedTable], config: Config, layout: Layout
) -> tuple[PartedTable, PartedTable]:
    """Return the sets that were sent for comparison, at home, and edges that connect similar ones."""
    p, q = config.matches.min_similarity.as_integer_ratio()

    def send(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        sets, wanted = tables["sets"], tables["wanted"]
        digests = sets["digest"].to_numpy()
        order = np.argsort(digests)
        at = order[np.searchsorted(digests[order], wanted["digest"].to_numpy())] if len(order) else order
        chosen, which = np.unique(at, return_inverse=True)
        lists = sets.take(pa.array(chosen)).combine_chunks()
        sets, bitmaps = _by_hash(flat(lists, "set").copy(), lengths(lists, "set"))
        yield Sent("compared", table_of([lists["digest"], sets], SETS), partition)
        # Not all at once: a set may be needed at very many keys.
        for begin, end in portions(8 * (1 + lengths(lists, "set"))[which], _MOST_SENT_BYTES):
            some, of_some = wanted.slice(begin, end - begin), which[begin:end]
            columns = [some["digest"], some["member"], some["is_indexed"], bitmaps[of_some], sets.take(pa.array(of_some))]
            yield Sent("sent", table_of(columns, _SENT), _homes(some["member"].to_numpy(), layout))

    def compare(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["sent"].combine_chunks()
        sizes = lengths(table, "set")
        met = _Met.at(table["member"].to_numpy(), sizes)
        rows, first = met.rows, starts_of(sizes)
        known, number = np.unique(table["digest"].to_numpy()[rows], return_inverse=True)
        parent = np.arange(len(known), dtype=np.int32)
        is_long = np.repeat(np.diff(met.first) > MOST_POSTINGS, np.diff(met.first))
        short = rows[~is_long]
        kernels.unite_similar(
            met.number[~is_long], number[~is_long].astype(np.int32), sizes[short], table["bitmap"].to_numpy()[short],
            table["is_indexed"].to_numpy(zero_copy_only=False)[short], first[short], flat(table, "set"), p, q, parent,
        )  # fmt: skip
        # What meets at members of very many sets is joined as in memory, all at once: each set is there once.
        members, at = np.unique(number[is_long], return_index=True)
        lists = table["set"].combine_chunks().take(pa.array(rows[is_long][at]))
        sets = HashSets(lists.flatten().to_numpy(), starts_of(sizes[rows[is_long][at]]))
        classes = join_types(sort_sets(sets), config.matches.min_similarity)
        unite_pairs(members.astype(np.int32), members[classes.of_type].astype(np.int32), parent)
        flatten(parent)
        joined = np.flatnonzero(parent != np.arange(len(parent)))
        yield Sent("edges", table_of([known[parent[joined]], known[joined]], EDGES), partition)

    sent = flow.reduce("sets-sent", {"sets": sets, "wanted": wanted}, send, {"sent": _SENT, "compared": SETS})
    return sent["compared"], flow.reduce("sets-compared", {"sent": sent["sent"]}, compare, {"edges": EDGES})["edges"]
