"""Texts and other values inside of fields, in JSON, Parquet and Python objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ibidem
from ibidem.errors import InputError, UsageError

ONE = "The harbour froze over in the night, and nobody sailed out for three weeks."
TWO = "The captain waited for the thaw, and counted the barrels in the cellar twice."
RECORDS: list[dict[str, Any]] = [
    {"meta": {"key": "x", "site": {"name": "north"}}, "messages": [{"content": ONE}, {"content": TWO}], "doc": {"text": ONE}},
    {"meta": {"key": "y", "site": {"name": "south"}}, "messages": [{"content": ONE}, {"content": None}], "doc": {"text": TWO}},
]
NAMES = {"id_field": "meta.key", "group_field": "meta.site.name"}


def write(folder: Path, suffix: str, records: list[dict[str, Any]]) -> Path:
    path = folder / f"docs{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
    elif suffix == ".json":
        path.write_text(json.dumps(records), encoding="utf-8")
    else:
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".parquet", "objects", "table"])
@pytest.mark.parametrize(("name", "texts"), [("doc.text", [ONE, TWO]), ("messages[].content", [f"{ONE}\n\n{TWO}", ONE])])
def test_fields_inside_of_fields(tmp_path: Path, suffix: str, name: str, texts: list[str]) -> None:
    inputs: Any = RECORDS
    if suffix == "table":
        inputs = pa.Table.from_pylist(RECORDS)
    elif suffix != "objects":
        inputs = write(tmp_path, suffix, RECORDS)
    found = [(d.id, d.group, d.text) for d in ibidem.read(inputs, text_field=name, **NAMES)]  # type: ignore[arg-type]
    assert found == [("x", "north", texts[0]), ("y", "south", texts[1])]
    result = ibidem.find(inputs, text_field=name, min_words=3, **NAMES)  # type: ignore[arg-type]
    assert sorted(result.documents["id"].to_pylist()) == ["x", "y"]


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_a_field_with_a_point_in_its_name_comes_first(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path, suffix, [{"id": "a", "doc.text": ONE, "doc": {"text": TWO}}])
    assert [d.text for d in ibidem.read(path, text_field="doc.text")] == [ONE]


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_what_is_not_there_is_skipped_or_an_error(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path, suffix, [{"id": "a", "doc": {"text": ONE}}])
    with pytest.raises((InputError, UsageError), match="body"):
        ibidem.find(path, text_field="body.text")


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".parquet"])
def test_a_cleaned_copy_of_such_texts_is_refused(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path, suffix, [{"id": name, "doc": {"text": f"{ONE} {TWO}"}} for name in "ab"])
    with ibidem.dedup(path, text_field="doc.text") as result, pytest.raises(InputError, match="inside of another field"):
        result.write(tmp_path / "out")
