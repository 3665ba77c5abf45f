"""Which groups share documents, over partitions: a group is known by the number of its first document.

The members of a cluster come together with the numbers of their groups, and pairs of groups are added up where they meet.
Names and ids are put in at the end: every number is that of a document, whose home knows its group and its id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.clusters.mirrors import SharedDocuments, shared_documents, summed, table_of_mirrors
from ibidem.columns.hashes import SEED, mix
from ibidem.columns.parted_tables import in_order, table_of
from ibidem.columns.texts import hash_strings
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.model import MIRRORS

_COUNTED_GROUPS = pa.schema([("group", pa.large_string()), ("n_documents", pa.int64()), ("first", pa.int64()), ASKER])
# What the home of a document learns of its group.
_GROUPS = pa.schema([("group", pa.large_string()), ("number", pa.int64()), ("n_documents", pa.int64())])
_MEMBERS = pa.schema(
    [(name, pa.int64()) for name in ("cluster", "group", "n_documents", "document")] + [("canonical", pa.bool_())]
)
_PAIRS = pa.schema(
    [(name, pa.int64()) for name in ("x", "y", "shared_x", "shared_y", "example_x", "example_y", "documents_x", "documents_y")]
)
_ASKED = pa.schema([("document", pa.int64()), ASKER])
_NAMES = pa.schema([("document", pa.int64()), ("id", pa.large_string()), ("group", pa.large_string())])

Numbers = NDArray[np.int64]


def find_mirrors(
    flow: Flow, numbered: PartedTable, named: PartedTable, grouped: PartedTable, most_groups: int, layout: Layout
) -> PartedTable:
    """Return the table of groups that share documents, in order over the partitions; see `mirrors_table`.

    `numbered` are the members of clusters, `grouped` the groups of documents; these and `named` are at home.
    """
    groups = _number_groups(flow, grouped, layout)

    def gather(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        members = _with_groups(in_order(tables["numbered"]), tables["grouped"], tables["groups"])
        cluster = members["cluster"].to_numpy()
        canonical = members["canonical"].to_numpy() == members["document"].to_numpy()
        columns = [cluster, members["number"], members["n_documents"], members["document"], canonical]
        yield Sent("members", table_of(columns, _MEMBERS), cluster % layout.n_partitions)

    def pair(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        cluster, group, n_documents, document, canonical = (tables["members"][name].to_numpy() for name in _MEMBERS.names)
        found = shared_documents(cluster, group, document, canonical, most_groups)
        numbers, rows = np.unique(group, return_index=True)
        sizes = [n_documents[rows][np.searchsorted(numbers, side)] for side in (found.x, found.y)]
        fold: Any = mix.py_func
        keys = fold(fold(np.full(len(found.x), SEED), found.x.astype(np.uint64)), found.y.astype(np.uint64))
        yield Sent("pairs", table_of([*found.columns, *sizes], _PAIRS), route_by_hash(keys, layout.n_partitions))

    def add_up(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        *columns, documents_x, documents_y = (tables["pairs"][name].to_numpy() for name in _PAIRS.names)
        found = summed(SharedDocuments(*columns))
        sizes = dict(zip(columns[0].tolist(), documents_x.tolist(), strict=True))
        sizes |= dict(zip(columns[1].tolist(), documents_y.tolist(), strict=True))
        counted = [np.array([sizes[number] for number in side.tolist()], np.int64) for side in (found.x, found.y)]
        home = layout.home(found.x)
        yield Sent("rows", table_of([*found.columns, *counted], _PAIRS), home)
        for side in (found.x, found.y, found.example_x, found.example_y):
            yield Sent("asked", table_of([side, home], _ASKED), layout.home(side))

    inputs = {"numbered": numbered, "grouped": grouped, "groups": groups}
    members = flow.reduce("mirror-members", inputs, gather, {"members": _MEMBERS})
    pairs = flow.reduce("mirror-pairs", members, pair, {"pairs": _PAIRS})
    summed_up = flow.reduce("mirror-sums", pairs, add_up, {"rows": _PAIRS, "asked": _ASKED})
    names = lookup(flow, "mirror-names", summed_up["asked"], {"named": named, "grouped": grouped}, _names_of, _NAMES)

    def finish(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        rows = tables["rows"]
        rows = rows.take(pa.array(np.lexsort((rows["y"].to_numpy(), rows["x"].to_numpy()))))
        known = in_order(tables["names"])
        *columns, documents_x, documents_y = (rows[name].to_numpy() for name in _PAIRS.names)
        found = SharedDocuments(*columns)

        def named_as(what: str, documents: Numbers) -> pa.Array:
            at = np.searchsorted(known["document"].to_numpy(), documents)
            return known[what].take(pa.array(at)).combine_chunks()

        groups = [named_as("group", side) for side in (found.x, found.y)]
        examples = [named_as("id", side) for side in (found.example_x, found.example_y)]
        yield Sent("mirrors", table_of_mirrors(groups, documents_x, documents_y, found, examples), partition)

    return flow.reduce("mirrors", {"rows": summed_up["rows"], "names": names}, finish, {"mirrors": MIRRORS})["mirrors"]


def _number_groups(flow: Flow, grouped: PartedTable, layout: Layout) -> PartedTable:
    """Return the number and the size of every group, at all homes that have documents of it."""

    def count(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        counted = tables["grouped"].group_by("group").aggregate([("document", "count"), ("document", "min")])
        names = counted["group"].combine_chunks()
        columns = [names, counted["document_count"], counted["document_min"], np.full(len(names), partition)]
        yield Sent("counted", table_of(columns, _COUNTED_GROUPS), route_by_hash(hash_strings(names), layout.n_partitions))

    def answer(asked: pa.Table, _: Mapping[str, pa.Table]) -> pa.Table:
        encoded = asked["group"].combine_chunks().dictionary_encode()
        codes = encoded.indices.to_numpy()
        number = np.full(len(encoded.dictionary), np.iinfo(np.int64).max)
        np.minimum.at(number, codes, asked["first"].to_numpy())
        total = np.bincount(codes, asked["n_documents"].to_numpy(), minlength=len(number)).astype(np.int64)
        return table_of([asked["group"], number[codes], total[codes]], _GROUPS)

    counted = flow.reduce("group-sizes", {"grouped": grouped}, count, {"counted": _COUNTED_GROUPS})["counted"]
    return lookup(flow, "group-numbers", counted, {}, answer, _GROUPS)


def _with_groups(members: pa.Table, grouped: pa.Table, groups: pa.Table) -> pa.Table:
    """Return the members of clusters that have a group, with its number and size."""
    of_document = grouped.join(groups, "group", join_type="inner").drop_columns(["group"])
    return members.join(of_document, "document", join_type="inner")


def _names_of(asked: pa.Table, known: Mapping[str, pa.Table]) -> tuple[pa.Table, Numbers]:
    """Return the ids and groups of documents; each once for everyone who asks."""
    documents, askers = asked["document"].to_numpy(), asked["asker"].to_numpy().astype(np.int64)
    _, chosen = np.unique(np.stack([documents, askers]), axis=1, return_index=True)
    columns = []
    for table, column in ((known["named"], "id"), (known["grouped"], "group")):
        table = in_order(table)
        at = np.searchsorted(table["document"].to_numpy(), documents[chosen])
        columns.append(table[column].take(pa.array(at)))
    return table_of([documents[chosen], *columns], _NAMES), chosen
