"""Results as networks: of documents, of groups, or of passages and the documents that contain them.

A network is directed if times say who was earlier: edges lead from the earlier document to the later one. Where this is not
known of a pair, its edge leads from the reference to the document compared with it, if there is a reference; otherwise it goes
both ways. Nodes appear when their document does, edges when the second of their documents does,
so that a timeline shows how text spread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ibidem.config.surface import given, named
from ibidem.errors import UsageError
from ibidem.viewer.exports.flat_tables import FlatTables
from ibidem.viewer.rows import time_of

NETWORKS = ("documents", "groups", "passages")
_LABEL_CHARS = 80
# The type of a column is what GEXF calls it; GraphML has the same words for these.
Columns = Sequence[tuple[str, str]]


class Node(NamedTuple):
    """A point of a network; `values` are those of its columns. Without a start it is always there."""

    id: str
    label: str
    start: str | None
    end: str | None
    values: Sequence[Any]


class Edge(NamedTuple):
    """A line of a network. A heavier one means more text."""

    source: str
    target: str
    weight: float
    start: str | None
    values: Sequence[Any]
    is_mutual: bool = False  # in a directed network, it goes both ways


@dataclass(frozen=True)
class Network:
    """Nodes and edges, read again whenever they are asked for."""

    about: str
    is_directed: bool
    node_columns: Columns
    edge_columns: Columns
    nodes: Callable[[], Iterator[Node]]
    edges: Callable[[], Iterator[Edge]]


def network_of(tables: FlatTables, name: str) -> Network:
    """Return a network by name: documents, groups or passages."""
    if name not in NETWORKS:
        raise UsageError(f"{named('network')} must be one of {', '.join(NETWORKS)}, not {name!r}")
    return {"documents": _documents, "groups": _groups, "passages": _passages}[name](tables)


_DOCUMENT_COLUMNS: Columns = (
    ("id", "string"), ("title", "string"), ("group", "string"), ("time", "string"), ("n_chars", "long"),
    ("n_pairs", "long"), ("reused_share", "double"), ("cluster", "long"), ("is_reference", "boolean"),
)  # fmt: skip


def _is_directed(tables: FlatTables) -> bool:
    return tables.is_against or any(True for _ in tables.store.stream("SELECT 1 FROM pairs WHERE direction <> 0 LIMIT 1"))


def _documents(tables: FlatTables) -> Network:
    is_directed = _is_directed(tables)
    from_b = ("b_to_a", "unknown") if tables.is_against else ("b_to_a",)

    def nodes() -> Iterator[Node]:
        return (_document(row) for row in tables.rows("documents") if row["n_pairs"])

    def edges() -> Iterator[Edge]:
        names = [name for name, _ in columns]
        for pair in tables.rows("pairs"):
            ends = [f"d{pair['a_document']}", f"d{pair['b_document']}"]
            if pair["direction"] in from_b:
                ends.reverse()
            later = max(pair["a_time"], pair["b_time"]) if pair["a_time"] and pair["b_time"] else None
            is_mutual = is_directed and not tables.is_against and pair["direction"] == "unknown"
            yield Edge(ends[0], ends[1], pair["shared"], later, [pair[name] for name in names], is_mutual)

    columns: Columns = (
        ("n_passages", "long"), ("shared", "long"), ("longest", "long"), ("similarity", "double"), ("coverage_a", "double"),
        ("coverage_b", "double"), ("kind", "string"), ("direction", "string"), ("days", "double"), ("verdict", "string"),
    )  # fmt: skip
    about = "Documents that share text; the weight of an edge is the number of shared characters"
    return Network(about, is_directed, _DOCUMENT_COLUMNS, columns, nodes, edges)


def _document(row: dict[str, Any]) -> Node:
    values = [row[name] for name, _ in _DOCUMENT_COLUMNS]
    return Node(f"d{row['document']}", row["title"] or row["id"], row["time"], None, values)


def _groups(tables: FlatTables) -> Network:
    if not tables.summary["has_groups"]:
        raise UsageError("the documents have no groups", f"Run it again with {given('group_field', 'NAME')}.")
    is_directed = _is_directed(tables)
    # Without directions, a pair of groups is one edge whichever document is a; in a network with directions, pairs of unknown
    # order are an edge of their own, from the reference if there is one.
    first, second = (f"{choice}(p.a_group, p.b_group)" for choice in ("min", "max"))
    if tables.is_against:
        first, second = "p.b_group", "p.a_group"
    cases = "CASE p.direction WHEN 1 THEN p.{}_group WHEN 2 THEN p.{}_group ELSE {} END"
    ends = (cases.format("a", "b", first), cases.format("b", "a", second)) if is_directed else (first, second)
    lines = f"""
      SELECT {ends[0]} AS source, {ends[1]} AS target, p.direction = 0 AS is_unknown,
        COUNT(*) AS n_pairs, SUM(p.shared) AS shared,
        MIN(max(a.time, b.time)) AS first_time, MAX(max(a.time, b.time)) AS last_time
      FROM pairs p JOIN documents a ON a.number = p.a JOIN documents b ON b.number = p.b
      WHERE p.a_group IS NOT NULL AND p.b_group IS NOT NULL GROUP BY source, target, is_unknown
      ORDER BY source, target, is_unknown"""
    points = """
      SELECT g.number, g.name, COUNT(*) AS n_documents, SUM(d.n_pairs > 0) AS n_sharing, MIN(d.time) AS first_time,
        MAX(d.time) AS last_time
      FROM groups g JOIN documents d ON d."group" = g.number GROUP BY g.number ORDER BY g.number"""

    def nodes() -> Iterator[Node]:
        for row in tables.store.stream(points):
            first, last = time_of(row["first_time"]), time_of(row["last_time"])
            yield Node(f"g{row['number']}", row["name"], first, None, [row["n_documents"], row["n_sharing"], first, last])

    def edges() -> Iterator[Edge]:
        for row in tables.store.stream(lines):
            first, last = time_of(row["first_time"]), time_of(row["last_time"])
            values = [row["n_pairs"], row["shared"], first, last]
            is_mutual = bool(is_directed and not tables.is_against and row["is_unknown"])
            yield Edge(f"g{row['source']}", f"g{row['target']}", row["n_pairs"], first, values, is_mutual)

    spread: Columns = (("first_time", "string"), ("last_time", "string"))
    about = "Groups whose documents share text; the weight of an edge is the number of pairs"
    sizes: Columns = (("n_documents", "long"), ("n_sharing", "long"), *spread)
    return Network(about, is_directed, sizes, (("n_pairs", "long"), ("shared", "long"), *spread), nodes, edges)


def _passages(tables: FlatTables) -> Network:
    columns: Columns = (
        ("what", "string"), ("id", "string"), ("title", "string"), ("group", "string"), ("time", "string"),
        ("n_chars", "long"), ("n_documents", "long"), ("n_places", "long"), ("text", "string"),
    )  # fmt: skip

    def nodes() -> Iterator[Node]:
        for row in tables.rows("families"):
            if not row["is_repeat"]:
                name = f"{'passage' if tables.has_passages else 'cluster'} {row['family']}"
                values = [row["n_chars"], row["n_documents"], row["n_places"], row["text"]]
                label = " ".join((row["text"] or name)[:_LABEL_CHARS].split())
                first = row["first_time"]
                yield Node(f"f{row['family']}", label, first, row["last_time"], ["passage", name, None, None, first, *values])
        for row in tables.rows("documents"):
            if row["n_pairs"]:
                values = ["document", *(row[name] for name in ("id", "title", "group", "time", "n_chars")), None, None, None]
                yield _document(row)._replace(values=values)

    def edges() -> Iterator[Edge]:
        found = tables.store.stream(
            'SELECT m.family, m.document, COUNT(*) AS n_places, SUM(m."end" - m.start) AS n_chars, d.time FROM families f '
            "JOIN places m ON m.family = f.number JOIN documents d ON d.number = m.document "
            "WHERE NOT f.is_repeat AND d.n_pairs > 0 GROUP BY m.family, m.document ORDER BY m.family, m.document"
        )
        for row in found:
            values = [row["n_places"], row["n_chars"]]
            yield Edge(f"d{row['document']}", f"f{row['family']}", row["n_places"], time_of(row["time"]), values)

    about = "Passages and the documents that contain them; the weight of an edge is the number of places"
    return Network(about, False, columns, (("n_places", "long"), ("n_chars", "long")), nodes, edges)
