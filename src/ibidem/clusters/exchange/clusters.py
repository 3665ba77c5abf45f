"""From pairs of duplicates to clusters: connected documents meet in one partition, where the local code decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.clusters import cluster_found, expand
from ibidem.clusters.removals import similarity_to_kept
from ibidem.clusters.tables import listed_pairs
from ibidem.columns.components import clustered
from ibidem.columns.components_exchange import COUNTED, connect
from ibidem.columns.keep_rules import containers_first, ranks
from ibidem.columns.parted_tables import table_of
from ibidem.columns.ragged import as_lists, starts_of
from ibidem.columns.sets import HashSets
from ibidem.config import Config
from ibidem.execution.flow import ASKER, Flow, Inputs, PartedTable, Sent, lookup
from ibidem.execution.layout import Layout
from ibidem.resemblance import Duplicates, Found
from ibidem.resemblance.comparison import joined
from ibidem.resemblance.exchange.document_comparison import comparer_of
from ibidem.resemblance.exchange.identical import FOUND, MEMBERS, NODES, node_homes
from ibidem.resemblance.exchange.shingles import SETS, documents_with_sets, taken

# Pairs to list, a < b, at the home of b; members of clusters of two or more, at the home of the cluster's first member.
LISTED = FOUND
CLUSTERED = pa.schema(
    [("first", pa.int64()), ("document", pa.int64()), ("canonical", pa.int64()), ("similarity", pa.float64())]
)

_ROOT = pa.field("root", pa.int64())
_ROOTED_NODES = NODES.append(_ROOT).append(pa.field("by_common", pa.bool_()))
_ROOTED_MEMBERS = MEMBERS.append(_ROOT)
_ROOTED_FOUND = FOUND.append(_ROOT)
_ASKED = pa.schema([("document", pa.int64()), ASKER])

Numbers = NDArray[np.int64]


def cluster_documents(
    flow: Flow,
    found: Mapping[str, Sequence[PartedTable]],
    sent: PartedTable,
    config: Config,
    layout: Layout,
) -> dict[str, PartedTable]:
    """Return pairs as LISTED (`listed`), members of clusters as CLUSTERED (`clustered`), and rows of COUNTED (`counted`).

    `found` has the tables `found`, `edges`, `nodes`, `members` and `by_common`. A connected component meets in one partition:
    it must fit into the memory of one worker, with the shingles of its documents where common shingles led to pairs.
    """
    has_reference = layout.has_reference
    components = connect(flow, "duplicates", found["edges"])
    inputs: dict[str, PartedTable | Sequence[PartedTable]] = {
        name: found[name] for name in ("found", "nodes", "members") if found[name]
    }
    inputs |= {"roots": components, **({"by_common": found["by_common"]} if found["by_common"] else {})}

    def gather(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        yield from _gather(tables, layout)

    outputs = {"nodes": _ROOTED_NODES, "members": _ROOTED_MEMBERS, "found": _ROOTED_FOUND}
    rooted: Inputs = flow.reduce("duplicate-roots", inputs, gather, outputs)
    if found["by_common"] and config.resemblance.verify and not config.clusters.chains and not has_reference:
        rooted = {**rooted, "sent": _fetch_documents(flow, rooted, sent, layout)}

    def cluster(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        yield from _cluster(tables, config, layout)

    return flow.reduce("clusters", rooted, cluster, {"listed": LISTED, "clustered": CLUSTERED, "counted": COUNTED})


def _gather(tables: Mapping[str, pa.Table], layout: Layout) -> Iterator[Sent]:
    """Send what is known about documents that are in pairs, or represent others, to the partition of their component's root."""
    nodes, roots = (tables["roots"][name].to_numpy().astype(np.int64) for name in ("node", "root"))
    order = np.argsort(nodes)
    nodes, roots = nodes[order], roots[order]

    def root_of(documents: Numbers) -> Numbers:
        """Return the roots of documents; a document in no pair is its own root."""
        at = np.minimum(np.searchsorted(nodes, documents), max(len(nodes) - 1, 0))
        return np.where(nodes[at] == documents, roots[at], documents) if len(nodes) else documents

    def sent(tag: str, table: pa.Table, root: Numbers, *more: NDArray[np.bool_]) -> Sent:
        schema = {"nodes": _ROOTED_NODES, "members": _ROOTED_MEMBERS, "found": _ROOTED_FOUND}[tag]
        return Sent(tag, table_of([*table.columns, root, *more], schema), node_homes(root, layout))

    members = tables["members"]
    standing = members["representative"].to_numpy()
    documents = tables["nodes"]["document"].to_numpy()
    by_common = tables["by_common"]["document"].to_numpy() if "by_common" in tables else standing[:0]
    chosen = np.flatnonzero(np.isin(documents, nodes) | np.isin(documents, standing))
    documents = documents[chosen]
    yield sent("nodes", tables["nodes"].take(pa.array(chosen)), root_of(documents), np.isin(documents, by_common))
    yield sent("members", members, root_of(standing))
    yield sent("found", tables["found"], root_of(tables["found"]["a"].to_numpy()))


def _fetch_documents(flow: Flow, rooted: Inputs, sent: PartedTable, layout: Layout) -> PartedTable:
    """Return the shingles of documents in components with pairs found through common shingles."""

    def ask(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        document, root, by_common = (tables["nodes"][name].to_numpy() for name in ("document", "root", "by_common"))
        wanted = document[np.isin(root, root[by_common])]
        yield Sent("asked", table_of([wanted, np.full(len(wanted), partition)], _ASKED), layout.home(wanted))

    def answer(asked: pa.Table, known: Mapping[str, pa.Table]) -> tuple[pa.Table, Numbers]:
        documents, known_by = documents_with_sets(known["sent"])
        wanted = asked["document"].to_numpy()
        at = np.minimum(np.searchsorted(documents, wanted), max(len(documents) - 1, 0))
        there = np.flatnonzero(documents[at] == wanted) if len(documents) else at[:0]  # others only represent identical ones
        sets = taken(known_by, at[there])
        return table_of([wanted[there], as_lists(sets.hashes, np.diff(sets.first), pa.uint64())], SETS), there

    asked = flow.reduce("crowds", {"nodes": rooted["nodes"]}, ask, {"asked": _ASKED})["asked"]
    return lookup(flow, "crowd-documents", asked, {"sent": sent}, answer, SETS)


def _cluster(tables: Mapping[str, pa.Table], config: Config, layout: Layout) -> Iterator[Sent]:
    """Choose the canonical documents of components, as `clusters.stage` does for all documents in memory."""
    nodes, members = tables["nodes"], tables["members"]
    documents = np.unique(np.concatenate([nodes["document"].to_numpy(), members["document"].to_numpy()]))

    def row_of(numbers: Numbers) -> NDArray[np.int32]:
        return np.searchsorted(documents, numbers).astype(np.int32)

    n = len(documents)
    own = row_of(nodes["document"].to_numpy())
    representative = np.arange(n, dtype=np.int32)
    representative[row_of(members["document"].to_numpy())] = row_of(members["representative"].to_numpy())
    rank_key, size, by_common = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.bool_)
    rank_key[own], size[own] = nodes["rank_key"].to_numpy(), nodes["size"].to_numpy()
    by_common[own] = nodes["by_common"].to_numpy()
    rank = ranks(rank_key)
    if config.resemblance.min_containment > 0:
        rank = containers_first(rank, size, layout.side(documents))

    a, b, *scores = (tables["found"][name].to_numpy() for name in FOUND.names)
    found = Found(joined([Duplicates(row_of(a), row_of(b), *scores)]), by_common)
    comparer = comparer_of(_all_sets(tables, documents), config)
    duplicates, canonical = cluster_found(found, comparer, rank, config, layout.has_reference)
    canonical = expand(canonical, representative, layout.has_reference, config.clusters.chains)

    most = config.resemblance.max_shingle_documents
    listed = listed_pairs(duplicates, representative, most, layout.has_reference)
    columns = [documents[listed.a], documents[listed.b], listed.similarity, listed.containment_a, listed.containment_b]
    yield Sent("listed", table_of(columns, LISTED), layout.home(documents[listed.b]))

    in_clusters, first = clustered(canonical)
    kept, first = canonical[in_clusters].astype(np.int64), documents[first]
    similarity = similarity_to_kept(in_clusters, kept, representative, duplicates)
    yield Sent(
        "clustered", table_of([first, documents[in_clusters], documents[kept], similarity], CLUSTERED), layout.home(first)
    )
    partitions, counts = np.unique(layout.home(np.unique(first)), return_counts=True)
    yield Sent("counted", table_of([partitions, counts], COUNTED), 0)


def _all_sets(tables: Mapping[str, pa.Table], documents: Numbers) -> HashSets:
    """Return the shingles of documents; empty where they were not sent."""
    sizes = np.zeros(len(documents), np.int64)
    known_by = HashSets(np.empty(0, np.uint64), np.zeros(1, np.int64))
    if "sent" in tables:
        numbers, known_by = documents_with_sets(tables["sent"])
        sizes[np.searchsorted(documents, numbers)] = np.diff(known_by.first)
    return HashSets(known_by.hashes, starts_of(sizes))
