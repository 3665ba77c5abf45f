"""Passages as SARIF 2.1.0, the format in which code hosts and editors show findings beside the text."""

from __future__ import annotations

import json
import re
from typing import Any, TextIO

from ibidem.version import __version__
from ibidem.viewer.exports.flat_tables import FlatTables
from ibidem.viewer.exports.placed_passages import Place, PlacedPassage, address_of, placed_passages, region_of

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_MOST_NAME_CHARS = 200
# What has a meaning in a link, and how it loses it.
_LINK_SIGNS, _BACKSLASHED = re.compile(r"[\\\[\]]"), r"\\\g<0>"
_RULES = {
    "exact": "The same sentences also appear in another document.",
    "near": "Nearly the same sentences also appear in another document.",
    "quote": "A short stretch of text also appears in another document.",
}


def write_sarif(tables: FlatTables, file: TextIO, base: str) -> None:
    """Write one run with a result per passage. Lines and columns count from 1, in characters."""
    tables.need_passages("sarif")
    rules = [{"id": name, "shortDescription": {"text": text}} for name, text in _RULES.items()]
    driver = {"name": "ibidem", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints"}
    file.write(f'{{"$schema":{_json(_SCHEMA)},"version":"2.1.0","runs":[{_json(run)[:-1]},"results":[')
    for passage in placed_passages(tables):
        file.write(("," if passage.number > 1 else "") + "\n" + _json(_result(tables, passage, base)))
    file.write("\n]}]}\n")


def _result(tables: FlatTables, passage: PlacedPassage, base: str) -> dict[str, Any]:
    source = passage.source
    amount = f"{passage.n_sentences} {'sentence' if passage.n_sentences == 1 else 'sentences'}"
    likeness = "" if passage.kind == "exact" else f", similarity {passage.similarity:.2f}"
    name = " ".join((source.title or source.id).split())[:_MOST_NAME_CHARS]
    link = f"[{_LINK_SIGNS.sub(_BACKSLASHED, name)}](1)"
    return {
        "ruleId": passage.kind,
        "ruleIndex": list(_RULES).index(passage.kind),
        "level": "note",
        "message": {"text": f"{amount} also in {link}{likeness}"},
        "locations": [_location(tables, passage.copy, base)],
        "relatedLocations": [{"id": 1, **_location(tables, source, base), "message": {"text": name}}],
        "properties": {"similarity": passage.similarity, "family": passage.family},
    }


def _location(tables: FlatTables, place: Place, base: str) -> dict[str, Any]:
    region = region_of(tables, place)
    if place.text is not None:
        region["snippet"] = {"text": place.text}
    return {"physicalLocation": {"artifactLocation": {"uri": address_of(place.id, base)}, "region": region}}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
