"""Passages as TEI stand-off markup: the documents, the places in them, and how places relate."""

from __future__ import annotations

from typing import Any, TextIO

from ibidem.version import __version__
from ibidem.viewer.exports.flat_tables import FlatTables
from ibidem.viewer.exports.placed_passages import Place, address_of, placed_passages
from ibidem.viewer.exports.xml_writer import XmlWriter

_NAMESPACE = "http://www.tei-c.org/ns/1.0"


def write_tei(tables: FlatTables, file: TextIO, base: str) -> None:
    """Write one TEI document. A place is `ADDRESS#char=START,END`, as RFC 5147 points into plain text."""
    tables.need_passages("tei")
    xml = XmlWriter(file)
    with xml.element("TEI", {"xmlns": _NAMESPACE}):
        _header(xml, tables.summary)
        with xml.element("standOff"):
            _documents(xml, tables, base)
            with xml.element("spanGrp", {"type": "passages"}):
                for passage in placed_passages(tables):
                    _span(xml, f"p{passage.number}.copy", passage.copy, base)
                    _span(xml, f"p{passage.number}.source", passage.source, base)
            with xml.element("listRelation", {"type": "reuse"}):
                for passage in placed_passages(tables):
                    copy, source = f"#p{passage.number}.copy", f"#p{passage.number}.source"
                    ends = {"active": copy, "passive": source} if passage.is_known else {"mutual": f"{copy} {source}"}
                    name = "reuses" if passage.is_known else "sharesText"
                    with xml.element("relation", {"name": name, "type": passage.kind, **ends}):
                        similarity = f"{passage.similarity:.4f}".rstrip("0").rstrip(".")
                        with xml.element("desc"):
                            xml.leaf("num", {"type": "similarity", "value": similarity}, similarity)


def _header(xml: XmlWriter, summary: dict[str, Any]) -> None:
    with xml.element("teiHeader"):
        with xml.element("fileDesc"):
            with xml.element("titleStmt"):
                xml.leaf("title", text=summary["title"])
            with xml.element("publicationStmt"):
                xml.leaf("p", text="Unpublished.")
            with xml.element("sourceDesc"):
                xml.leaf("p", text="Text that appears in two documents, found by comparing them.")
        application = {"ident": "ibidem", "version": __version__}
        with xml.element("encodingDesc"), xml.element("appInfo"), xml.element("application", application):
            xml.leaf("label", text="ibidem")


def _documents(xml: XmlWriter, tables: FlatTables, base: str) -> None:
    with xml.element("listBibl"):
        xml.leaf("head", text="Documents")
        for row in tables.rows("documents"):
            if not row["n_pairs"]:
                continue
            with xml.element("bibl", {"xml:id": f"d{row['document']}"}):
                xml.leaf("title", text=row["title"] or row["id"])
                xml.leaf("idno", text=row["id"])
                if row["group"] is not None:
                    xml.leaf("publisher", text=row["group"])
                if row["time"] is not None:
                    xml.leaf("date", {"when": row["time"]}, row["time"])
                xml.leaf("ptr", {"target": address_of(row["id"], base)})


def _span(xml: XmlWriter, name: str, place: Place, base: str) -> None:
    address = address_of(place.id, base).replace("#", "%23")  # an address has room for one fragment
    target = f"{address}#char={place.start},{place.end}"
    xml.leaf("span", {"xml:id": name, "corresp": f"#d{place.document}", "target": target}, place.text)
