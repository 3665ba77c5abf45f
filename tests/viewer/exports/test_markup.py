"""PAN, TEI, Web Annotations and SARIF: valid, complete, and pointing to the right characters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibidem
from ibidem import UsageError
from ibidem.viewer.exports.export_formats import ExportOptions, write_export
from ibidem.viewer.exports.flat_tables import FlatTables
from ibidem.viewer.exports.placed_passages import address_of, placed_passages
from ibidem.viewer.exports.xml_writer import XmlWriter, without_forbidden
from ibidem.viewer.store import ViewStore
from ibidem.viewer.store_cache import views_at_hand
from tests.texts import documents, text
from tests.viewer.exports.conftest import hostile_records
from tests.viewer.exports.schemas import ANNOTATIONS, PAN, TEI

etree = pytest.importorskip("lxml.etree")
RECORDS = {record["id"]: record for record in hostile_records()}
TEXTS = {name: record["text"] for name, record in RECORDS.items()}
_TEI = {"t": "http://www.tei-c.org/ns/1.0"}


def parsed(path: Path, schema: str) -> Any:
    found = etree.parse(str(path))
    etree.RelaxNG(etree.fromstring(schema)).assertValid(found)
    return found.getroot()


def id_of(address: str) -> str:
    return next(name for name in TEXTS if name == address or name == unquote(address))


Side = tuple[str, int, int]


def wanted(tables: FlatTables) -> list[tuple[Side, Side]]:
    """Return the places of all passages, the copy first."""
    return [
        ((p.copy.id, p.copy.start, p.copy.end), (p.source.id, p.source.start, p.source.end)) for p in placed_passages(tables)
    ]


def test_the_copy_is_the_later_document(tables: FlatTables) -> None:
    found = list(placed_passages(tables))
    assert len(found) >= 5
    for passage in found:
        assert passage.copy.text == TEXTS[passage.copy.id][passage.copy.start : passage.copy.end]
        if passage.is_known:
            assert passage.source.time is not None
            assert passage.copy.time is not None
            assert passage.source.time < passage.copy.time
    assert {passage.is_known for passage in found} == {True, False}


def test_pan_has_every_passage_once(hostile: ViewStore, tables: FlatTables, tmp_path: Path) -> None:
    remarks = write_export(hostile, tmp_path / "pan", "pan", ExportOptions())
    found = []
    for path in (tmp_path / "pan").iterdir():
        root = parsed(path, PAN)
        starts = [int(feature.get("this_offset")) for feature in root]
        assert starts == sorted(starts)
        for f in root:
            this = (root.get("reference"), int(f.get("this_offset")), int(f.get("this_length")))
            source = (f.get("source_reference"), int(f.get("source_offset")), int(f.get("source_length")))
            found.append(tuple((name, start, start + length) for name, start, length in (this, source)))
    assert sorted(found) == sorted(wanted(tables))
    n_files = len(list((tmp_path / "pan").iterdir()))
    assert remarks == [f"{n_files} files, one for each document that reuses text"]


def test_pan_names_files_after_documents_and_keeps_them_apart(tmp_path: Path) -> None:
    names = ("suspicious-1.txt", "suspicious-1", "x/suspicious-1.txt", "Ü" * 200, "..")
    against = documents(source=text(1, 2, 3))
    result = ibidem.find(documents(**dict.fromkeys(names, text(9) + " " + text(1, 2, 3))), against=against)
    result.export(tmp_path / "pan", to="pan")
    written = sorted(path.name for path in (tmp_path / "pan").iterdir())
    assert len(written) == 5
    assert "suspicious-1.xml" in written
    references = {parsed(tmp_path / "pan" / name, PAN).get("reference") for name in written}
    assert references == set(names)


def test_tei_points_into_both_texts(hostile: ViewStore, tables: FlatTables, tmp_path: Path) -> None:
    write_export(hostile, tmp_path / "t.xml", "tei", ExportOptions())
    root = parsed(tmp_path / "t.xml", TEI)
    spans = {}
    for span in root.iterfind(".//t:span", _TEI):
        address, _, place = span.get("target").rpartition("#char=")
        start, end = map(int, place.split(","))
        spans[span.get("{http://www.w3.org/XML/1998/namespace}id")] = (id_of(address), start, end)
        assert span.text == without_forbidden(TEXTS[id_of(address)][start:end])
    relations = list(root.iterfind(".//t:relation", _TEI))
    assert {relation.get("name") for relation in relations} == {"reuses", "sharesText"}
    found = []
    for relation in relations:
        names = relation.get("mutual") or f"{relation.get('active')} {relation.get('passive')}"
        copy, source = (spans[name.removeprefix("#")] for name in names.split())
        found.append((copy, source))
    assert found == wanted(tables)
    titles = {
        bibl.findtext("t:idno", namespaces=_TEI): bibl.findtext("t:title", namespaces=_TEI) for bibl in root.iter("{*}bibl")
    }
    assert titles["Bücher/Äpfel ö.txt"] == "Über die Brücke"


def test_annotations_quote_both_texts(hostile: ViewStore, tables: FlatTables, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    write_export(hostile, tmp_path / "a.jsonld", "annotations", ExportOptions(base="https://archive.example/text/"))
    page = json.loads((tmp_path / "a.jsonld").read_text("utf-8"))
    jsonschema.Draft202012Validator(ANNOTATIONS).validate(page)
    found = []
    for annotation in page["items"]:
        sides = []
        for resource in (annotation["target"], annotation["body"]):
            source, (place, quote) = resource["source"], resource["selector"]
            name = id_of(source.removeprefix("https://archive.example/text/"))
            assert source.startswith("https://archive.example/text/") or source == name
            sides.append((name, place["start"], place["end"]))
            full = TEXTS[name]
            assert quote["exact"] == full[place["start"] : place["end"]]
            assert full[: place["start"]].endswith(quote["prefix"])
            assert full[place["end"] :].startswith(quote["suffix"])
            assert len(quote["prefix"]) == min(32, place["start"])
        found.append(tuple(sides))
    assert found == wanted(tables)


def test_sarif_gives_lines_and_columns(hostile: ViewStore, tables: FlatTables, tmp_path: Path) -> None:
    sarif_pydantic = pytest.importorskip("sarif_pydantic")
    write_export(hostile, tmp_path / "t.sarif", "sarif", ExportOptions())
    content = (tmp_path / "t.sarif").read_text("utf-8")
    log = sarif_pydantic.Sarif.model_validate_json(content)
    assert list(_unknown_names(log)) == ["log.runs.columnKind"]  # SARIF has it (§3.14.17), the library does not
    (run,) = log.runs
    assert run.columnKind == "unicodeCodePoints"
    rules = [rule.id for rule in run.tool.driver.rules]
    found = []
    for result in run.results:
        assert rules[result.rule_index] == result.rule_id
        sides = []
        for location in (result.locations[0], result.related_locations[0]):
            place = location.physical_location
            name, region = id_of(place.artifact_location.uri), place.region
            sides.append((name, region.char_offset, region.char_offset + region.char_length))
            lines = TEXTS[name].split("\n")
            start = sum(len(line) + 1 for line in lines[: region.start_line - 1]) + region.start_column - 1
            end = sum(len(line) + 1 for line in lines[: region.end_line - 1]) + region.end_column - 1
            assert (name, start, end) == sides[-1]
            assert region.snippet.text == TEXTS[name][start:end]
        found.append(tuple(sides))
        assert "](1)" in result.message.text
    assert found == wanted(tables)
    assert any(r.locations[0].physical_location.region.start_line > 1 for r in run.results)
    # A title that looks like a link must not become one.
    assert any(r"新聞 \[快報\](1) \\ \]" in result.message.text for result in run.results)


def _unknown_names(model: Any, place: str = "log") -> Any:
    """Yield the properties that SARIF does not have; those of a property bag may have any name."""
    for name in (model.model_extra or {}) if hasattr(model, "model_extra") else ():
        if name != "$schema":
            yield f"{place}.{name}"
    for name in getattr(type(model), "model_fields", ()):
        value = getattr(model, name)
        for each in value if isinstance(value, list) else [value]:
            if hasattr(each, "model_extra"):
                yield from _unknown_names(each, f"{place}.{name}")


def test_texts_that_cannot_be_read_again_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in documents(a=text(1, 2, 3), b=text(9, 1, 2, 3))), "utf-8")
    ibidem.find(path).write(tmp_path / "out")
    path.unlink()
    with views_at_hand(tmp_path / "out") as store:
        for form in ("sarif", "annotations", "tei", "csv", "html-table", "pan", "gexf"):
            remarks = write_export(store, tmp_path / form, form, ExportOptions())
            assert any("texts:" in remark for remark in remarks), form
    (result,) = json.loads((tmp_path / "sarif").read_text("utf-8"))["runs"][0]["results"]
    assert set(result["locations"][0]["physicalLocation"]["region"]) == {"charOffset", "charLength"}
    (annotation,) = json.loads((tmp_path / "annotations").read_text("utf-8"))["items"]
    assert [selector["type"] for selector in annotation["body"]["selector"]] == ["TextPositionSelector"]
    parsed(tmp_path / "tei", TEI)


@pytest.mark.parametrize("form", ["pan", "tei", "annotations", "sarif"])
def test_clusters_have_no_passages(form: Any, tmp_path: Path) -> None:
    result = ibidem.cluster(documents(a=text(1, 2, 3, 4), b=text(1, 2, 3, 4)))
    with pytest.raises(UsageError, match=f"{form} lists passages, and this run of cluster has none"):
        result.export(tmp_path / "x", to=form)
    assert not (tmp_path / "x").exists()
    assert list(tmp_path.iterdir()) == []


@given(st.text(), st.text())
def test_any_text_makes_well_formed_xml(content: str, value: str) -> None:
    import io

    file = io.StringIO()
    xml = XmlWriter(file)
    with xml.element("a", {"value": value, "none": None, "yes": True}):
        xml.leaf("b", text=content)
    root = etree.fromstring(file.getvalue().encode("utf-8"))
    assert (root[0].text or "") == without_forbidden(content)
    assert root.get("value") == without_forbidden(value)
    assert root.get("yes") == "true"
    assert "none" not in root.attrib
    assert len(without_forbidden(content)) == len(content)


@given(st.text(min_size=1), st.sampled_from(["", "https://example.org/"]))
def test_an_address_can_be_turned_back(name: str, base: str) -> None:
    address = address_of(name.encode("utf-8", "replace").decode(), base)
    assert address.isascii()
    assert not set(address) & set(' \t\r\n<>"{}|\\^`')
    if not address.startswith(("http:", "https:", "ftp:", "file:", "urn:", "doi:", "ark:")):
        assert ":" not in address.partition("/")[0]
    if address.startswith(base) and base:
        assert unquote(address.removeprefix(base)) == name.encode("utf-8", "replace").decode()
