"""Networks, as networkx reads them, and as a schema wants them."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem import UsageError
from ibidem.viewer.exports.export_formats import ExportOptions, write_export
from ibidem.viewer.exports.flat_tables import FlatTables
from ibidem.viewer.exports.networks import NETWORKS, network_of
from ibidem.viewer.exports.xml_writer import without_forbidden
from ibidem.viewer.store import ViewStore
from ibidem.viewer.store_cache import views_at_hand
from tests.texts import documents, text
from tests.viewer.exports.schemas import GEXF

networkx = pytest.importorskip("networkx")
etree = pytest.importorskip("lxml.etree")
FORMS = {"gexf": networkx.read_gexf, "graphml": networkx.read_graphml}


def written(store: ViewStore, form: str, network: str, path: Path) -> Any:
    write_export(store, path, form, ExportOptions(network=network))
    if form == "gexf":
        etree.RelaxNG(etree.fromstring(GEXF)).assertValid(etree.parse(str(path)))
    return FORMS[form](path)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("network", NETWORKS)
def test_every_node_and_edge_is_read(store: ViewStore, form: str, network: str, tmp_path: Path) -> None:
    graph = written(store, form, network, tmp_path / "n.xml")
    wanted = network_of(FlatTables(store), network)
    assert graph.is_directed() == wanted.is_directed == (network != "passages")
    nodes = {node.id: node for node in wanted.nodes()}
    assert set(graph) == nodes.keys()
    for name, node in nodes.items():
        found = graph.nodes[name]
        assert found["label"] == without_forbidden(node.label)
        values = {title: value for (title, _), value in zip(wanted.node_columns, node.values, strict=True) if value is not None}
        assert {title: found[title] for title in values} == values
    ends = tuple if wanted.is_directed else frozenset
    assert Counter(map(ends, graph.edges())) == Counter(ends((edge.source, edge.target)) for edge in wanted.edges())
    for edge in wanted.edges():
        found = graph.edges[edge.source, edge.target]
        assert found["weight"] == edge.weight
        columns = zip(wanted.edge_columns, edge.values, strict=True)
        assert all(found[title] == value for (title, _), value in columns if value is not None)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("network", NETWORKS)
def test_whatever_texts_contain_it_can_be_read(hostile: ViewStore, form: str, network: str, tmp_path: Path) -> None:
    graph = written(hostile, form, network, tmp_path / "n.xml")
    labels = {data["label"] for _, data in graph.nodes(data=True)}
    assert labels & {"Über die Brücke", "Kölner Blatt"}
    if network == "documents":
        assert "A \ufffd bell <b>&amp;</b>" in labels


def test_documents_are_connected_from_the_earlier_to_the_later(hostile: ViewStore, tmp_path: Path) -> None:
    graph = written(hostile, "gexf", "documents", tmp_path / "n.gexf")
    times = {node: data.get("start") for node, data in graph.nodes(data=True)}
    assert {"1848-03-18T06:30:00Z", "1848-03-19", None} <= set(times.values())
    known = [(times[u], times[v]) for u, v in graph.edges() if times[u] and times[v]]
    assert len(known) >= 4
    assert all(earlier < later for earlier, later in known)


def test_groups_count_their_pairs(store: ViewStore, tmp_path: Path) -> None:
    graph = written(store, "gexf", "groups", tmp_path / "n.gexf")
    wanted: Counter[tuple[str, str]] = Counter()
    for pair in FlatTables(store).rows("pairs"):
        ends = (pair["a_group"], pair["b_group"])
        if None not in ends:
            wanted[ends[::-1] if pair["direction"] == "b_to_a" else ends] += 1
    names = {node: data["label"] for node, data in graph.nodes(data=True)}
    assert {(names[u], names[v]): data["n_pairs"] for u, v, data in graph.edges(data=True)} == wanted


def test_a_passage_lasts_from_its_first_place_to_its_last(store: ViewStore, tmp_path: Path) -> None:
    graph = written(store, "gexf", "passages", tmp_path / "n.gexf")
    n_known = 0
    for node, data in graph.nodes(data=True):
        if data["what"] != "passage":
            continue
        times = sorted(_moment(graph.nodes[other]["start"]) for other in graph[node] if "start" in graph.nodes[other])
        assert len(times) <= data["n_documents"]
        if times:
            n_known += 1
            assert (_moment(data["start"]), _moment(data["end"])) == (times[0], times[-1])
    assert n_known > 5


def _moment(time: str) -> datetime:
    found = datetime.fromisoformat(time.replace("Z", "+00:00"))
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)


def test_without_times_nothing_has_a_direction(tmp_path: Path) -> None:
    records = documents(a=text(1, 2, 3), b=text(1, 2, 3, 4), c=text(1, 2, 3, 5))
    ibidem.find(records).write(tmp_path / "out", keep_text=True)
    with views_at_hand(tmp_path / "out") as store:
        graph = written(store, "gexf", "documents", tmp_path / "n.gexf")
        assert not graph.is_directed()
        assert graph.number_of_edges() == 3
        assert 'mode="static"' in (tmp_path / "n.gexf").read_text("utf-8").split("<attributes", 1)[0]
        with pytest.raises(UsageError, match="the documents have no groups"):
            network_of(FlatTables(store), "groups")
        with pytest.raises(UsageError, match="network must be one of documents, groups, passages"):
            network_of(FlatTables(store), "people")
