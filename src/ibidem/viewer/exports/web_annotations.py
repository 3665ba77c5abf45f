"""Passages as W3C Web Annotations: each says of a place in one document that it appears in another one, too."""

from __future__ import annotations

import json
from typing import Any, TextIO

from ibidem.version import __version__
from ibidem.viewer.exports.flat_tables import FlatTables
from ibidem.viewer.exports.placed_passages import Place, PlacedPassage, address_of, placed_passages, words_around

# What the vocabulary of annotations has no words for.
_OWN_WORDS = {"ibidem": "urn:ibidem:", **{name: f"ibidem:{name}" for name in ("kind", "similarity", "direction")}}
_CONTEXT = ["http://www.w3.org/ns/anno.jsonld", _OWN_WORDS]


def write_annotations(tables: FlatTables, file: TextIO, base: str) -> None:
    """Write one page of annotations (JSON-LD), an annotation per line."""
    tables.need_passages("annotations")
    head = {
        "@context": _CONTEXT, "id": "urn:ibidem:annotations", "type": "AnnotationPage", "label": tables.summary["title"],
    }  # fmt: skip
    file.write(f'{_json(head)[:-1]},"items":[')
    for passage in placed_passages(tables):
        file.write(("," if passage.number > 1 else "") + "\n" + _json(_annotation(tables, passage, base)))
    file.write("\n]}\n")


def _annotation(tables: FlatTables, passage: PlacedPassage, base: str) -> dict[str, Any]:
    return {
        "id": f"urn:ibidem:passage:{passage.number}",
        "type": "Annotation",
        "motivation": "linking",
        "generator": {"id": "urn:ibidem:program", "type": "Software", "name": f"ibidem {__version__}"},
        "kind": passage.kind,
        "similarity": passage.similarity,
        "direction": "body_to_target" if passage.is_known else "unknown",
        "body": _resource(tables, passage.source, base),
        "target": _resource(tables, passage.copy, base),
    }


def _resource(tables: FlatTables, place: Place, base: str) -> dict[str, Any]:
    selectors: list[dict[str, Any]] = [{"type": "TextPositionSelector", "start": place.start, "end": place.end}]
    if place.text is not None:
        before, after = words_around(tables, place)
        selectors.append({"type": "TextQuoteSelector", "exact": place.text, "prefix": before, "suffix": after})
    return {"type": "SpecificResource", "source": address_of(place.id, base), "selector": selectors}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
