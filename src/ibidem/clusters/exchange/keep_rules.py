"""Keep rules over many partitions: the keys of documents, at home. Only the values of a FIELD must meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ibidem.columns.collection import NO_TIME, times_of
from ibidem.columns.keep_rules import ALWAYS_KNOWN, UNKNOWN, check_known, direct_keys, is_direct, reference_first, value_keys
from ibidem.columns.parted_tables import table_of
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.resemblance.exchange.shingles import KEYED

# Documents are in the order of (rank_key, document).
RANKS = pa.schema([("document", pa.int64()), ("rank_key", pa.int64())])

_VALUES = pa.schema([("value", pa.large_string()), ("count", pa.int64()), ASKER])
_VALUE_KEYS = pa.schema([("value", pa.large_string()), ("rank_key", pa.int64())])
_KNOWN = pa.schema([("n_known", pa.int64())])


def rank_keys(flow: Flow, name: str, documents: PartedTable, layout: Layout, rule: str) -> PartedTable:
    """Return rows of RANKS for all documents, at home, by a rule: first, longest, earliest, FIELD:max or FIELD:min.

    `documents` are at home, with their n_chars, time and group; the group is the value of the FIELD. Raises InputError if no
    document has what the rule needs.
    """
    ranked = _direct_ranks if is_direct(rule) else _value_ranks
    ranks, known = ranked(flow, name, documents, layout, rule)
    if rule not in ALWAYS_KNOWN:
        check_known(rule, pc.sum(flow.collect(known)["n_known"]).as_py() or 0)
    return ranks


def _direct_ranks(flow: Flow, name: str, documents: PartedTable, layout: Layout, rule: str) -> tuple[PartedTable, PartedTable]:
    def rank(tables: Iterator[pa.Table]) -> Iterator[Sent]:
        for table in tables:
            numbers, times = table["document"].to_numpy(), times_of(table["time"])
            keys = reference_first(direct_keys(rule, table["n_chars"].to_numpy(), times), numbers >= layout.n_input)
            yield Sent("ranks", table_of([numbers, keys], RANKS), layout.home(numbers))
            yield Sent("known", table_of([[np.count_nonzero(times != NO_TIME)]], _KNOWN), 0)

    found = flow.map(f"{name}-ranks", documents, rank, {"ranks": RANKS, "known": _KNOWN})
    return found["ranks"], found["known"]


def _value_ranks(flow: Flow, name: str, documents: PartedTable, layout: Layout, rule: str) -> tuple[PartedTable, PartedTable]:
    """All distinct values meet in one partition, with their counts, and their keys return to the partitions that asked."""

    def count(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        found = pc.value_counts(tables["documents"]["group"].combine_chunks().drop_null())
        counts = found.field("counts").to_numpy()
        values = [found.field("values"), counts, np.full(len(found), partition, np.int32)]
        yield Sent("values", table_of(values, _VALUES), 0)
        yield Sent("known", table_of([[counts.sum()]], _KNOWN), 0)

    def answer(asked: pa.Table, _: Mapping[str, pa.Table]) -> pa.Table:
        different = asked["value"].combine_chunks().dictionary_encode()
        codes = different.indices.to_numpy()
        texts = different.dictionary.to_pylist()
        keys = value_keys(rule, texts, np.bincount(codes, asked["count"].to_numpy(), minlength=len(texts)))
        return table_of([asked["value"], keys[codes]], _VALUE_KEYS)

    def rank(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        numbers = tables["documents"]["document"].to_numpy()
        known = tables["keys"].combine_chunks()
        at = pc.index_in(tables["documents"]["group"], known["value"].combine_chunks()).fill_null(len(known)).to_numpy()
        keys = reference_first(np.append(known["rank_key"].to_numpy(), UNKNOWN)[at], numbers >= layout.n_input)
        yield Sent("ranks", table_of([numbers, keys], RANKS), partition)

    counted = flow.reduce(f"{name}-values", {"documents": documents}, count, {"values": _VALUES, "known": _KNOWN})
    keys = lookup(flow, f"{name}-places", counted.pop("values"), {}, answer, _VALUE_KEYS)
    ranks = flow.reduce(f"{name}-ranks", {"documents": documents, "keys": keys}, rank, {"ranks": RANKS})["ranks"]
    return ranks, counted["known"]


def put_in_keys(flow: Flow, keyed: PartedTable, ranks: PartedTable) -> PartedTable:
    """Return the documents where identical ones meet, with the keys that decide which is kept."""
    n_partitions = flow.n_partitions

    def put_in(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        documents, keys = (tables["ranks"][name].to_numpy() for name in ("document", "rank_key"))
        order = np.argsort(documents)
        document, digest, *checks, _, size = (tables["keyed"][name].to_numpy() for name in KEYED.names)
        keys = keys[order][np.searchsorted(documents[order], document)]
        rows = table_of([document, digest, *checks, keys, size], KEYED)
        yield Sent("keyed", rows, route_by_hash(digest, n_partitions))

    return flow.reduce("keep-keys", {"keyed": keyed, "ranks": ranks}, put_in, {"keyed": KEYED})["keyed"]
