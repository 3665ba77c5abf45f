"""A collection and passages in it that are drawn by chance, and what a list of dicts says of them."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa

from ibidem.model import DIRECTIONS, DOCUMENTS, KINDS, PASSAGES
from ibidem.viewer.document_pairs import NO_TIME
from ibidem.viewer.material import Material
from tests.texts import text
from tests.viewer.twins import Plain, expected_families, expected_pairs

N_DOCUMENTS = 24
GROUPS = (None, "Herald", "UK", "100% _sure_", 'O\'Neil "Post"', "日報", "NEAR/2 (x OR y)*", "Äther")
TITLES = (
    None, "Über die Brücke", "50% off_all", 'say "velmo" now', "back\\slash", "新聞 快報", "a*b (c) NEAR", "x:y ^z {q} +p",
)  # fmt: skip
SIMILARITIES = (0.25, 0.5, 0.75, 1.0)  # sums of which are exact
_START = int(datetime(2029, 11, 1, tzinfo=timezone.utc).timestamp())


def invented_record(number: int, chance: random.Random) -> dict[str, Any]:
    written = text(number, number + 100) + f" 桜が咲く{number} 100%_sure 'quoted' a\\b " + text(number + 200)
    moment = _START + 86_400 * chance.randrange(700) + chance.choice([0, 3_600])
    optional = {
        "group": chance.choice(GROUPS),
        "title": chance.choice(TITLES),
        "time": datetime.fromtimestamp(moment, timezone.utc).isoformat() if chance.random() < 0.7 else None,
    }
    name = f"d{number:03}" if number % 5 else f"x_{number}%'\"*"
    return {"id": name, "text": written} | {name: value for name, value in optional.items() if value is not None}


def invented_passages(records: list[dict[str, Any]], chance: random.Random, n_passages: int) -> list[Plain]:
    found = []
    for _ in range(n_passages):
        a, b = sorted(chance.sample(range(len(records)), 2))
        length = chance.choice([10, 20, 20, 40, 60])
        starts = [chance.randrange(0, len(records[side]["text"]) - 70) for side in (a, b)]
        kind, direction = chance.randrange(len(KINDS)), chance.randrange(len(DIRECTIONS))
        places = (starts[0], starts[0] + length, starts[1], starts[1] + chance.choice([length, length - 5]))
        found.append(Plain(a, b, *places, 1, chance.choice(SIMILARITIES), kind, direction))
    return found


def passage_table(passages: list[Plain], ids: list[str]) -> pa.Table:
    rows = [
        {
            "a_id": ids[p.a], "a_start": p.a_start, "a_end": p.a_end, "b_id": ids[p.b], "b_start": p.b_start,
            "b_end": p.b_end, "n_sentences": p.n_sentences, "similarity": p.similarity, "kind": KINDS[p.kind],
            "direction": DIRECTIONS[p.direction],
            "a_sentence": 0,
            "b_sentence": 0,
        }
        for p in passages
    ]  # fmt: skip
    flat = pa.schema([(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type) for f in PASSAGES])
    return pa.Table.from_pylist(rows, flat).cast(PASSAGES)


@dataclass(frozen=True)
class Invented:
    """What the views are made of, and the twin: pairs as a list of dicts, in the order of their numbers."""

    material: Material
    records: list[dict[str, Any]]
    passages: list[Plain]
    pairs: list[dict[str, Any]]

    def wanted(self, keep: Callable[[dict[str, Any]], bool], key: str = "interest", rising: bool = False) -> list[int]:
        """Return the numbers of pairs that are to be kept, in the order that a query promises."""
        return in_order([pair for pair in self.pairs if keep(pair)], key, rising)


def shown_name(record: dict[str, Any]) -> str:
    """Return what a document is listed by."""
    return str((record.get("title") or "").strip() or record["id"]).lower()


def in_order(rows: list[dict[str, Any]], key: str, rising: bool) -> list[int]:
    """Return the numbers of rows: those without a value last, equal ones by number, which falls if the values do."""
    sign = 1 if rising else -1
    having = sorted((row for row in rows if row[key] is not None), key=lambda row: (row[key], row["number"]))[::sign]
    lacking = sorted((row for row in rows if row[key] is None), key=lambda row: row["number"])[::sign]
    return [row["number"] for row in (*having, *lacking)]


def invent(folder: Path, seed: int, n_passages: int = 160) -> Invented:
    """Write a collection to a folder and return what is made of it."""
    chance = random.Random(seed)
    records = [invented_record(number, chance) for number in range(N_DOCUMENTS)]
    path = folder / "records.jsonl"
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")
    passages = invented_passages(records, chance, n_passages)
    documents = [
        {
            "id": r["id"], "n_chars": len(r["text"]), "n_sentences": 3, "first_share": 0.5, "cluster": None,
            "reused_share": chance.choice([0.0, 0.25, 0.5]),
        }
        for r in records
    ]  # fmt: skip
    run = {"version": "0", "finished": "2031-01-01T00:00:00+00:00", "inputs": [{"path": str(path)}], "folder": str(folder)}
    skipped = [{"source": "s", "position": k, "reason": f"reason {k % 3}", "id": None} for k in range(7)]
    ids = [record["id"] for record in records]
    tables = {"passages": passage_table(passages, ids), "documents": pa.Table.from_pylist(documents, DOCUMENTS)}
    pairs = _told(records, passages)
    return Invented(Material("Invented", run, skipped, **tables), records, passages, pairs)


def _told(records: list[dict[str, Any]], passages: list[Plain]) -> list[dict[str, Any]]:
    times = [NO_TIME if "time" not in r else _microseconds(r["time"]) for r in records]
    pairs = expected_pairs(passages, [len(r["text"]) for r in records], times)
    of_passage, places = expected_families(passages, records)
    family_texts = [_longest(places_of_family, records) for places_of_family in places]
    n_places = [len(places_of_family) for places_of_family in places]
    for number, pair in enumerate(pairs):
        sides = [records[pair["a"]], records[pair["b"]]]
        later = max((side["time"] for side in sides if "time" in side), default=None)
        coverage = max(pair["coverage_a"], pair["coverage_b"])
        own = [(of, p) for of, p in zip(of_passage, passages, strict=True) if (p.a, p.b) == (pair["a"], pair["b"])]
        families = {of for of, _ in own}
        # A passage whose text is in many places is divided among them.
        lengths = [p.length * 2 / (n_places[of - 1] if of else 2) for of, p in own]
        pair |= {
            "number": number,
            "coverage": coverage,
            "interest": math.log1p(min(pair["shared"], sum(lengths))) * math.sqrt(coverage),
            "groups": {side["group"] for side in sides if "group" in side},
            "year": None if later is None else int(later[:4]),
            "ids": (sides[0]["id"], sides[1]["id"]),
            "name of a": (shown_name(sides[0]), pair["a"]),
            "name of b": (shown_name(sides[1]), pair["b"]),
            "names": [side.get(name, "") for side in sides for name in ("id", "title", "group")],
            "texts": [family_texts[family - 1] for family in families if family is not None],
        }
    return pairs


def _longest(places: list[tuple[int, int, int]], records: list[dict[str, Any]]) -> str:
    document, start, end = min(places, key=lambda place: (place[1] - place[2], place))
    return str(records[document]["text"][start:end])


def _microseconds(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp()) * 1_000_000
