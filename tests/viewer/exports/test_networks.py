"""Networks, as networkx reads them, and as a schema wants them."""

from __future__ import annotations

import json
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
    expected = [(edge.source, edge.target, edge) for edge in wanted.edges()]
    expected += [(edge.target, edge.source, edge) for edge in wanted.edges() if edge.is_mutual and edge.source != edge.target]
    assert Counter(ends(edge[:2]) for edge in graph.edges()) == Counter(ends(names) for *names, _ in expected)
    between: dict[Any, list[dict[str, Any]]] = {}
    for source, target, data in graph.edges(data=True):
        between.setdefault(ends((source, target)), []).append(data)
    for source, target, edge in expected:
        columns = [("weight", edge.weight), *zip((title for title, _ in wanted.edge_columns), edge.values, strict=True)]
        found = between[ends((source, target))]
        assert any(all(data[title] == value for title, value in columns if value is not None) for data in found)


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
        if None in ends:
            continue
        both_ways = {ends, ends[::-1]} if pair["direction"] == "unknown" else ()
        for way in both_ways or [ends[::-1] if pair["direction"] == "b_to_a" else ends]:
            wanted[way] += 1
    names = {node: data["label"] for node, data in graph.nodes(data=True)}
    found: Counter[tuple[str, str]] = Counter()
    for u, v, data in graph.edges(data=True):
        found[names[u], names[v]] += data["n_pairs"]
    assert found == wanted


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("network", ["documents", "groups"])
def test_pairs_of_unknown_order_are_connected_both_ways(form: str, network: str, tmp_path: Path) -> None:
    known = {"a": ("2031-05-01", "x"), "b": ("2031-05-02", "y"), "c": ("2031-05-02", "z"), "d": (None, "w")}
    records = documents(**{name: text(1, 2, 3, 4 + number) for number, name in enumerate(known)})
    records = [{**record, "time": known[record["id"]][0], "group": known[record["id"]][1]} for record in records]
    (tmp_path / "n.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    ibidem.find(tmp_path / "n.jsonl").write(tmp_path / "out")
    with views_at_hand(tmp_path / "out") as store:
        graph = written(store, form, network, tmp_path / "n.xml")
    names = {node: data["label"] for node, data in graph.nodes(data=True)}
    a, b, c, d = known if network == "documents" else [group for _, group in known.values()]
    both = [{b, c}, *({other, d} for other in (a, b, c))]
    expected = {(a, b), (a, c), *((u, v) for u in (a, b, c, d) for v in (a, b, c, d) if {u, v} in both)}
    assert {(names[u], names[v]) for u, v in graph.edges()} == expected


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


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("network", ["documents", "groups"])
def test_text_leads_from_the_reference_unless_times_say_otherwise(form: str, network: str, tmp_path: Path) -> None:
    files = {
        "new": {"essay": (None, "x"), "early": ("2031-05-01", "y")},
        "old": {"source": ("2031-05-02", "z")},
    }
    for name, known in files.items():
        records = documents(**{key: text(1, 2, 3, 4 + number) for number, key in enumerate(known)})
        records = [{**record, "time": known[record["id"]][0], "group": known[record["id"]][1]} for record in records]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    ibidem.find(tmp_path / "new.jsonl", against=tmp_path / "old.jsonl").write(tmp_path / "out")
    with views_at_hand(tmp_path / "out") as store:
        graph = written(store, form, network, tmp_path / "n.xml")
    names = {node: data["label"] for node, data in graph.nodes(data=True)}
    assert graph.is_directed()
    essay, early, source = ("essay", "early", "source") if network == "documents" else "xyz"
    assert {(names[u], names[v]) for u, v in graph.edges()} == {(source, essay), (early, source)}
