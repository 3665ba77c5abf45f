"""`--against-text-field` and the like: the fields of the reference have names of their own, in every verb that takes one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.errors import IbidemError, SettingsError
from ibidem.viewer.material import material_of_folder

TEXT = (
    "The harbour was closed on Monday because of the storm. Two ferries stayed in port over night with all their passengers. "
    "The mayor asked everyone to stay at home until the wind had gone down."
)
NAMES = {
    "against_text_field": "doc.body", "against_id_field": "url", "against_time_field": "seen", "against_group_field": "site",
}  # fmt: skip


def write(path: Path, *records: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return str(path)


@pytest.fixture
def sides(tmp_path: Path) -> tuple[str, str]:
    new = write(tmp_path / "new.jsonl", {"id": "n", "text": f"It was loud. {TEXT}", "time": "2031-02-01", "group": "g"})
    record = {"url": "k", "doc": {"body": TEXT}, "seen": "2031-01-01", "site": "s", "text": "something else", "id": "no"}
    return new, write(tmp_path / "known.jsonl", record)


@pytest.mark.parametrize("way", [{}, {"partitions": 2}])
def test_each_verb(sides: tuple[str, str], way: dict[str, Any]) -> None:
    new, known = sides
    with ibidem.find(new, against=known, **NAMES, **way) as result:
        assert [(p.a.id, p.b.id, p.direction) for p in result] == [("n", "k", "b_to_a")]
    with ibidem.cluster(new, against=known, **NAMES, **way, min_similarity=0.5) as clusters:
        assert clusters.duplicates["b_id"].to_pylist() == ["k"]
    for level in ("document", "passage"):
        with ibidem.dedup(new, against=known, **NAMES, **way, level=level, min_similarity=0.5) as cleaned:
            assert [row["matched_id"] for row in cleaned.removed.to_pylist()] == ["k"]
    with ibidem.find(new, against=known, **way) as result:
        assert len(result) == 0


def test_a_report_reads_the_reference_again(sides: tuple[str, str], tmp_path: Path) -> None:
    new, known = sides
    ibidem.find(new, against=known, **NAMES).write(tmp_path / "out")
    documents = list(material_of_folder(tmp_path / "out").read_documents())
    assert [(d.id, d.text, d.group, d.is_reference) for d in documents] == [
        ("n", f"It was loud. {TEXT}", "g", False),
        ("k", TEXT, "s", True),
    ]


def test_errors_name_the_setting(sides: tuple[str, str]) -> None:
    new, known = sides
    with pytest.raises(SettingsError, match="against_id_field is a field of the reference; add against"):
        ibidem.find(new, against_id_field="url")
    with pytest.raises(IbidemError) as raised:
        ibidem.find(new, against=known, against_text_field="doc.body", against_id_field="nothing")
    assert "no record has a field 'nothing'" in raised.value.message
    assert raised.value.next_step == "Check against_id_field."
    with pytest.raises(IbidemError) as raised:
        ibidem.find(new, against=known, against_text_field="nothing")
    assert "the reference contains no documents" in raised.value.message
    assert "no field 'nothing'" in raised.value.next_step


def test_a_page_that_contains_an_item_is_dropped(tmp_path: Path) -> None:
    item = "Which of the three lighthouses on the coast was built last, and why was its lamp never lit in winter?"
    around = " ".join(f"word{k}" for k in range(200))
    page = {"id": "page", "text": f"{around} {item} {around}"}
    part = {"id": "part", "text": item[:60]}
    call: dict[str, Any] = {"min_containment": 1, "shingle_size": 5}
    benchmark = [{"q": item, "n": 7}]
    names = {"against_text_field": "q", "against_id_field": "n"}
    for contained, expected in (("reference", {"page"}), ("input", {"part"}), ("either", {"page", "part"})):
        for way in ({}, {"partitions": 2}):
            with ibidem.dedup([page, part], against=benchmark, contained=contained, **call, **names, **way) as result:
                assert {row["id"] for row in result.removed.to_pylist()} == expected
                assert {row["matched_id"] for row in result.removed.to_pylist()} == {"7"}
