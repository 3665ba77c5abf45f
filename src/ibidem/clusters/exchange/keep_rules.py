"""Keep rules over many partitions: the keys of documents, at home. Only the values of a FIELD must meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.columns.collection import NO_TIME, times_of
from ibidem.columns.distinct import numbered
from ibidem.columns.keep_rules import (
    ALWAYS_KNOWN,
    UNKNOWN,
    check_known,
    direct_keys,
    is_direct,
    reference_first,
    rules_of,
    value_keys,
)
from ibidem.columns.parted_tables import in_order, table_of
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.resemblance.exchange.shingles import KEYED

Numbers = NDArray[np.int64]

# Documents are in the order of (rank_key, document).
RANKS = pa.schema([("document", pa.int64()), ("rank_key", pa.int64())])

# What distinguishes documents for the rules, with the number of documents that have it; 0 or nothing if no rule uses it.
_VALUES = pa.schema(
    [
        ("row", pa.int64()),
        ("n_chars", pa.int64()),
        ("time", pa.int64()),
        ("value", pa.large_string()),
        ("count", pa.int64()),
        ASKER,
    ]
)
_VALUE_KEYS = pa.schema([("row", pa.int64()), ("rank_key", pa.int64())])
_KNOWN = pa.schema([("n_times", pa.int64()), ("n_values", pa.int64())])


def rank_keys(flow: Flow, name: str, documents: PartedTable, layout: Layout, keep: str) -> PartedTable:
    """Return rows of RANKS for all documents, at home, by rules: first, longest, earliest, FIELD:max or FIELD:min.

    `documents` are at home, with their n_chars, time and group; the group is the value of the FIELD. Raises InputError if no
    document has what a rule needs.
    """
    ranked = _direct_ranks if is_direct(keep) else _value_ranks
    ranks, known = ranked(flow, name, documents, layout, keep)
    needed = [rule for rule in rules_of(keep) if rule not in ALWAYS_KNOWN]
    if needed:
        counts = flow.collect(known)
        for rule in needed:
            check_known(rule, pc.sum(counts["n_values" if ":" in rule else "n_times"]).as_py() or 0)
    return ranks


def _direct_ranks(flow: Flow, name: str, documents: PartedTable, layout: Layout, rule: str) -> tuple[PartedTable, PartedTable]:
    def rank(tables: Iterator[pa.Table]) -> Iterator[Sent]:
        for table in tables:
            numbers, times = table["document"].to_numpy(), times_of(table["time"])
            keys = reference_first(direct_keys(rule, table["n_chars"].to_numpy(), times), numbers >= layout.n_input)
            yield Sent("ranks", table_of([numbers, keys], RANKS), layout.home(numbers))
            yield Sent("known", _known(times, table["group"]), 0)

    found = flow.map(f"{name}-ranks", documents, rank, {"ranks": RANKS, "known": _KNOWN})
    return found["ranks"], found["known"]


def _known(times: NDArray[np.int64], groups: pa.ChunkedArray) -> pa.Table:
    return table_of([[np.count_nonzero(times != NO_TIME)], [len(groups) - groups.null_count]], _KNOWN)


def _value_ranks(flow: Flow, name: str, documents: PartedTable, layout: Layout, keep: str) -> tuple[PartedTable, PartedTable]:
    """All distinct values meet in one partition, with their counts, and their keys return to the partitions that asked."""
    rules = rules_of(keep)

    def count(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = in_order(tables["documents"])
        number, (n_chars, times, values) = _different(table, rules)
        columns = [np.arange(len(n_chars)), n_chars, times, values, np.bincount(number, minlength=len(n_chars))]
        yield Sent("values", table_of([*columns, np.full(len(n_chars), partition, np.int32)], _VALUES), 0)
        yield Sent("known", _known(times_of(table["time"]), table["group"]), 0)

    def answer(asked: pa.Table, _: Mapping[str, pa.Table]) -> pa.Table:
        n_chars, times, counts = (asked[column].to_numpy() for column in ("n_chars", "time", "count"))
        different = asked["value"].combine_chunks().dictionary_encode()
        texts = different.dictionary.to_pylist()
        codes = different.indices.fill_null(len(texts)).to_numpy()
        of_text = np.bincount(codes, counts, minlength=len(texts))[: len(texts)]
        keys = [
            np.append(value_keys(rule, texts, of_text), UNKNOWN)[codes] if ":" in rule else direct_keys(rule, n_chars, times)
            for rule in rules
        ]
        return table_of([asked["row"], numbered(*keys)[0]], _VALUE_KEYS)

    def rank(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = in_order(tables["documents"])
        numbers, (which, _) = table["document"].to_numpy(), _different(table, rules)
        keys = in_order(tables["keys"], "row")["rank_key"].to_numpy()[which]
        yield Sent("ranks", table_of([numbers, reference_first(keys, numbers >= layout.n_input)], RANKS), partition)

    counted = flow.reduce(f"{name}-values", {"documents": documents}, count, {"values": _VALUES, "known": _KNOWN})
    keys = lookup(flow, f"{name}-places", counted.pop("values"), {}, answer, _VALUE_KEYS)
    ranks = flow.reduce(f"{name}-ranks", {"documents": documents, "keys": keys}, rank, {"ranks": RANKS})["ranks"]
    return ranks, counted["known"]


def _different(documents: pa.Table, rules: Sequence[str]) -> tuple[Numbers, tuple[Numbers, Numbers, pa.Array]]:
    """Number what distinguishes documents for the rules: the number of each, and the sizes, times and values of each number."""
    n_chars, times, codes = (np.zeros(documents.num_rows, np.int64) for _ in range(3))
    values = documents["group"].combine_chunks()
    if "longest" in rules:
        n_chars = documents["n_chars"].to_numpy()
    if "earliest" in rules:
        times = times_of(documents["time"])
    if any(":" in rule for rule in rules):
        codes = values.dictionary_encode().indices.fill_null(-1).to_numpy().astype(np.int64)
    number, example = numbered(n_chars, times, codes)
    return number, (n_chars[example], times[example], values.take(pa.array(example)))


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
