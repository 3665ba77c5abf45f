"""Passages as SARIF 2.1.0, the format in which code hosts and editors show findings beside the text."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from ibidem.config import SentencesConfig
from ibidem.results.reuse_baseline import Baseline, new_parts, shared_sentences
from ibidem.version import __version__
from ibidem.viewer.exports.flat_tables import FlatTables
from ibidem.viewer.exports.placed_passages import Place, PlacedPassage, address_of, placed_passages, region_of

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_MOST_NAME_CHARS = 200
_FINGERPRINT = "ibidemPassage/v1"
# What has a meaning in a link, and how it loses it.
_LINK_SIGNS, _BACKSLASHED = re.compile(r"[\\\[\]]"), r"\\\g<0>"
_RULES = {
    "exact": "The same sentences also appear in another document.",
    "near": "Nearly the same sentences also appear in another document.",
    "quote": "A short stretch of text also appears in another document.",
}


def write_sarif(tables: FlatTables, file: TextIO, base: str, baseline: Path | None = None) -> None:
    """Write one run with a result per passage. Lines and columns count from 1, in characters.

    With a baseline, it has only the passages with something new, and these are where the new text is.
    """
    tables.need_passages("sarif")
    rules = [{"id": name, "shortDescription": {"text": text}} for name, text in _RULES.items()]
    driver = {"name": "ibidem", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints"}
    file.write(f'{{"$schema":{_json(_SCHEMA)},"version":"2.1.0","runs":[{_json(run)[:-1]},"results":[')
    passages = placed_passages(tables) if baseline is None else _new_passages(tables, Baseline.read(baseline))
    counts: Counter[str] = Counter()
    for number, passage in enumerate(passages):
        result = _result(tables, passage, base)
        if fingerprint := _fingerprint(passage):
            counts[fingerprint] += 1
            result["partialFingerprints"] = {_FINGERPRINT: f"{fingerprint}:{counts[fingerprint]}"}
        if baseline is not None:
            result |= {"level": "warning", "baselineState": "new"}
        file.write(("," if number else "") + "\n" + _json(result))
    file.write("\n]}]}\n")


def _new_passages(tables: FlatTables, baseline: Baseline) -> Iterator[PlacedPassage]:
    """Yield the passages with sentences that a document does not have in the baseline; `copy` is where they are."""
    settings = {each["name"]: each["value"] for each in tables.summary["settings"]}
    names = ("lang", "max_sentence_words")
    config = SentencesConfig(**{name: settings[name] for name in names if name in settings})
    known = baseline.known_among([row["id"] for row in tables.rows("documents") if not row["is_reference"]])
    for passage in placed_passages(tables):
        copy = _new_place(passage, passage.copy, known, config)
        if copy is not None:
            yield passage._replace(copy=copy)
        elif not tables.is_against and (source := _new_place(passage, passage.source, known, config)) is not None:
            yield passage._replace(copy=source, source=passage.copy)


def _new_place(
    passage: PlacedPassage, place: Place, known: Mapping[str, Collection[int]], config: SentencesConfig
) -> Place | None:
    """Return the part of a place that is new, None if all of it is known; a place without its text is new."""
    if place.text is None:
        return place
    other = passage.source.text if place is passage.copy else passage.copy.text
    text = pa.array([place.text], pa.large_string())
    (sentences,) = shared_sentences(text, config, [None if passage.kind == "exact" else other])
    parts = new_parts(sentences, known.get(place.id, ()))
    if sum(map(len, parts)) == len(sentences):
        return place
    if not parts:
        return None
    start, end = parts[0][0].start, parts[-1][-1].end
    return place._replace(start=place.start + start, end=place.start + end, text=place.text[start:end])


def _fingerprint(passage: PlacedPassage) -> str:
    """Return what stays the same when lines move or wrap differently: a hash of both ids and texts; empty without texts."""
    sides = sorted((side.id, " ".join((side.text or "").split())) for side in (passage.copy, passage.source))
    if not all(text for _, text in sides):
        return ""
    return hashlib.blake2b(json.dumps(sides).encode(), digest_size=16).hexdigest()


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
