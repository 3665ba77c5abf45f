"""The settings and inputs of a run, and what it left out, as the page shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ibidem.config import Config, setting_fields
from ibidem.config.surface import given, in_shell

if TYPE_CHECKING:
    from ibidem.viewer.material import Material

_STAGES = {
    "find": ("documents", "sentences", "signatures", "matches", "passages", "alignment"),
    "compare": ("documents", "sentences", "passages", "alignment"),
    "query": ("documents", "sentences", "signatures", "matches", "passages", "index"),
    "cluster": ("documents", "signatures", "matches", "resemblance", "clusters"),
}
_MOST_REASONS = 20
_MOST_INPUTS = 100
_MOST_MIRRORS = 20


def describe_settings(settings: Mapping[str, Any], verb: str) -> list[dict[str, Any]]:
    """Return the settings that mattered, changed ones first, without the seed, which is random and tells a reader nothing."""
    usual = Config().with_alignment() if verb == "find" else Config()
    defaults = usual.with_signature("words").to_dict()
    described = [
        {
            "stage": stage,
            "name": setting.name,
            "value": settings.get(stage, {}).get(setting.name),
            "is_default": settings.get(stage, {}).get(setting.name) == defaults[stage][setting.name],
        }
        for stage, setting in setting_fields()
        if stage in _STAGES[verb] and setting.name in settings.get(stage, {}) and setting.name != "hash_seed"
    ]
    return sorted(described, key=lambda setting: setting["is_default"])


def describe_inputs(inputs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the inputs, each with its side."""
    names = ("path", "kind", "bytes", "modified")
    inputs = list(inputs)[:_MOST_INPUTS]
    return [
        {
            **{name: entry[name] for name in names if name in entry},
            **({"modified": str(entry["modified"]).replace("+00:00", "Z")} if "modified" in entry else {}),
            "is_reference": bool(entry.get("reference")),
        }
        for entry in inputs
    ]


def closest_mirrors(mirrors: pa.Table) -> dict[str, Any]:
    """Return how many pairs of groups share documents, and those that share most of the larger one of the two."""
    shares = np.minimum(mirrors["a_share"].to_numpy(), mirrors["b_share"].to_numpy())
    shared = mirrors["a_shared"].to_numpy() + mirrors["b_shared"].to_numpy()
    closest = mirrors.take(pa.array(np.lexsort((-shared, -shares))[:_MOST_MIRRORS])).to_pylist()
    return {"total": mirrors.num_rows, "items": closest}


def left_out(
    material: Material, why_no_texts: Sequence[str], n_changed: int, has_texts: bool, why_not_grey: str | None
) -> list[dict[str, Any]]:
    """Return what is missing from the results or cannot be shown, and why."""
    passages = material.run.get("settings", {}).get("passages", {})
    entries: list[dict[str, Any]] = []
    if material.verb == "find":
        entries += _limits(material, passages)
    n_ignored = material.run.get("counts", {}).get("ignored_sentences")
    if n_ignored or why_not_grey:
        why = why_not_grey or f"the run left them out{in_shell(' (--ignore)')}; they are grey in the texts"
        entries.append(_entry("ignored sentences", why, n_ignored))
    entries += [_entry("notes on the inputs", str(notice), None) for notice in material.run.get("notices", ())]
    reasons = Counter(str(record.get("reason")) for record in material.skipped)
    entries += [_entry("skipped records", reason, count) for reason, count in reasons.most_common(_MOST_REASONS)]
    if len(reasons) > _MOST_REASONS:
        rest = sum(count for _, count in reasons.most_common()[_MOST_REASONS:])
        entries.append(_entry("skipped records", "other reasons; all are in skipped.jsonl", rest))
    if material.verb == "query" and not material.named:
        entries.append(
            _entry(
                "texts",
                f"an index does not store texts{in_shell('; name its documents and the new ones with --documents')}",
                None,
            )
        )
    if why_no_texts:
        shown = "only stored parts of the texts are shown" if has_texts else "passages are shown without their texts"
        more = f", and {len(why_no_texts) - 1:,} more" if len(why_no_texts) > 1 else ""
        entries.append(
            _entry("texts", f"{why_no_texts[0]}{more}; {shown}{in_shell('; name the documents with --documents')}", None)
        )
    if changed := material.changed_inputs():
        more = f", and {len(changed) - 1:,} more" if len(changed) > 1 else ""
        why = f"{changed[0]}{more} has changed since the run: the texts shown may not be those that were compared; run it again"
        entries.append(_entry("changed texts", why, None))
    if n_changed:
        why = "they have changed since the run, so offsets would no longer match; run it again"
        entries.append(_entry("changed texts", why, n_changed))
    n_inputs = len(material.run.get("inputs", ()))
    if n_inputs > _MOST_INPUTS:
        entries.append(_entry("further inputs", "run.json lists all files that were read", n_inputs - _MOST_INPUTS))
    return entries


def _limits(material: Material, passages: Mapping[str, Any]) -> list[dict[str, Any]]:
    sentences, words = passages.get("min_sentences"), passages.get("min_quote_words")
    entries = [
        _entry(
            "short passages",
            f"a passage has at least {sentences} sentences, a single sentence at least {words} words",
            None,
        )
    ]
    n_repeats = 0 if material.repeats is None else material.repeats.num_rows
    why = f"a passage in more than {passages.get('max_places')} places is listed once, as a repeat group"
    entries.append(_entry("pairs of very common passages", why, n_repeats))
    if passages.get("skip_same_group"):
        entries.append(_entry("pairs of one group", f"the run skipped them ({given('skip_same_group', True)})", None))
    if not passages.get("same_document"):
        entries.append(_entry("repetition inside a document", "the run compared different documents only", None))
    return entries


def _entry(what: str, why: str, count: int | None) -> dict[str, Any]:
    return {"what": what, "why": why, "count": count}
