"""Networks as GEXF, with times for Gephi's timeline, and as GraphML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

from ibidem.version import __version__
from ibidem.viewer.exports.networks import Columns, Edge, Network
from ibidem.viewer.exports.xml_writer import XmlWriter

_MIDNIGHT = "T00:00:00Z"
_GRAPHML_TYPES = {"string": "string", "long": "long", "double": "double", "boolean": "boolean"}


def write_gexf(network: Network, file: TextIO) -> None:
    """Write a network as GEXF 1.2, which more programs read than 1.3, dynamic if any document has a time."""
    xml = XmlWriter(file)
    is_dynamic = any(node.start for node in network.nodes())
    # All programs read times of day under this name, too; some know no other.
    times = {"mode": "dynamic", "timeformat": "date"} if is_dynamic else {"mode": "static"}
    with xml.element("gexf", {"xmlns": "http://www.gexf.net/1.2draft", "version": "1.2"}):
        with xml.element("meta"):
            xml.leaf("creator", text=f"ibidem {__version__}")
            xml.leaf("description", text=network.about)
        with xml.element("graph", {"defaultedgetype": _type_of(network), **times}):
            for name, columns in (("node", network.node_columns), ("edge", network.edge_columns)):
                with xml.element("attributes", {"class": name, "mode": "static"}):
                    for number, (title, kind) in enumerate(columns):
                        xml.leaf("attribute", {"id": number, "title": title, "type": kind})
            with xml.element("nodes"):
                for node in network.nodes():
                    attributes = {"id": node.id, "label": node.label, "start": _day(node.start), "end": _day(node.end)}
                    with xml.element("node", attributes):
                        _attvalues(xml, node.values)
            with xml.element("edges"):
                for number, edge in enumerate(network.edges()):
                    ends = {"id": number, "source": edge.source, "target": edge.target, "weight": edge.weight}
                    both_ways = {"type": "mutual"} if edge.is_mutual and edge.source != edge.target else {}
                    with xml.element("edge", {**ends, **both_ways, "start": _day(edge.start)}):
                        _attvalues(xml, edge.values)


def write_graphml(network: Network, file: TextIO) -> None:
    """Write a network as GraphML."""
    xml = XmlWriter(file)
    nodes: Columns = (("label", "string"), ("start", "string"), ("end", "string"), *network.node_columns)
    edges: Columns = (("weight", "double"), ("start", "string"), *network.edge_columns)
    with xml.element("graphml", {"xmlns": "http://graphml.graphdrawing.org/xmlns"}):
        for name, columns in (("node", nodes), ("edge", edges)):
            for number, (title, kind) in enumerate(columns):
                key = {"id": f"{name[0]}{number}", "for": name, "attr.name": title, "attr.type": _GRAPHML_TYPES[kind]}
                xml.leaf("key", key)
        with xml.element("graph", {"id": "ibidem", "edgedefault": _type_of(network)}):
            for node in network.nodes():
                with xml.element("node", {"id": node.id}):
                    _data(xml, "n", (node.label, node.start, node.end, *node.values))
            for number, edge in enumerate(network.edges()):
                _graphml_edge(xml, f"e{number}", edge)
                # Programs refuse, or ignore, single edges without a direction in a directed graph.
                if edge.is_mutual and edge.source != edge.target:
                    _graphml_edge(xml, f"e{number}b", edge._replace(source=edge.target, target=edge.source))


def _graphml_edge(xml: XmlWriter, name: str, edge: Edge) -> None:
    with xml.element("edge", {"id": name, "source": edge.source, "target": edge.target}):
        _data(xml, "e", (edge.weight, edge.start, *edge.values))


def _type_of(network: Network) -> str:
    return "directed" if network.is_directed else "undirected"


def _day(time: str | None) -> str | None:
    return time and time.removesuffix(_MIDNIGHT)


def _attvalues(xml: XmlWriter, values: Sequence[Any]) -> None:
    with xml.element("attvalues"):
        for number, value in enumerate(values):
            if value is not None:
                xml.leaf("attvalue", {"for": number, "value": value})


def _data(xml: XmlWriter, prefix: str, values: Sequence[Any]) -> None:
    for number, value in enumerate(values):
        if value is not None:
            text = ("false", "true")[value] if isinstance(value, bool) else str(value)
            xml.leaf("data", {"key": f"{prefix}{number}"}, text)
