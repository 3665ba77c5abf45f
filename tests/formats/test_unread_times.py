"""Times that cannot be parsed: the documents are used without them, and the user is informed."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import ibidem
from ibidem.formats.html_text import extract_text
from tests.texts import text

RECORDS = [
    {"id": "a", "text": text(1, 2, 3), "time": "2031-03-01"},
    {"id": "b", "text": text(9, 1, 2, 3), "time": "01/03/2031"},
    {"id": "c", "text": text(8, 4, 5), "time": "yesterday"},
    {"id": "d", "text": text(8, 4, 6)},
]


def write(path: Path) -> str:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS), "utf-8")
    elif path.suffix == ".json":
        path.write_text(json.dumps(RECORDS), "utf-8")
    elif path.suffix == ".csv":
        lines = [f"{r['id']},{r['text']},{r.get('time', '')}" for r in RECORDS]
        path.write_text("\n".join(["id,text,time", *lines, ""]), "utf-8")
    else:
        pyarrow.parquet.write_table(pa.Table.from_pylist(RECORDS), path)
    return str(path)


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".parquet"])
def test_times_that_are_not_known_are_counted_and_the_first_is_named(tmp_path: Path, suffix: str) -> None:
    result = ibidem.find(write(tmp_path / f"news{suffix}"))
    (notice,) = result.notices
    assert notice.startswith("2 timestamps could not be parsed and were ignored")
    assert "'01/03/2031'" in notice
    assert f"news{suffix}:" in notice
    assert result.run()["notices"] == [notice]


def test_nothing_is_said_where_all_times_are_known_or_absent(tmp_path: Path) -> None:
    known = [record for record in RECORDS if record.get("time") in (None, "2031-03-01")]
    result = ibidem.find([*known, {"id": "e", "text": text(7), "time": ""}, {"id": "f", "text": text(6), "time": None}])
    assert result.notices == []
    assert "notices" not in result.run()


def test_tags_that_are_nested_too_deep_are_left_out_and_their_text_is_not() -> None:
    for n_tags in (10, 4_000, 60_000):
        page = "<div>" * n_tags + "deep down" + "</div>" * n_tags + "<p>and after</p>" + "<ul>" + "<li>one" * 3_000 + "</ul>"
        found = extract_text(page, main_content=False).split()
        assert found[:2] == ["deep", "down"]
        assert "after" in found
        assert found.count("one") + found.count("•") >= 3_000
