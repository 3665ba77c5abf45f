"""Folders such as year=2031/paper=Gazette are fields of the records in them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import ibidem
from ibidem.formats.partitions import fields_of_folders
from tests.formats.test_inputs import collect

RECORDS = [
    {"id": f"n{number}", "text": f"This is text {number}.", "date": f"2031-05-{number % 3 + 1:02}", "paper": f"P {number % 2}"}
    for number in range(30)
]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A dataset as Arrow writes it."""
    kinds = pa.schema([("date", pa.string()), ("paper", pa.string())])
    parts = ds.partitioning(kinds, flavor="hive")
    ds.write_dataset(pa.Table.from_pylist(RECORDS), tmp_path / "news", format="parquet", partitioning=parts)
    assert (tmp_path / "news" / "date=2031-05-01" / "paper=P%200").is_dir()
    return tmp_path / "news"


def test_times_and_groups_of_a_dataset(dataset: Path) -> None:
    rows, skipped = collect(dataset, group_field="paper")
    assert not skipped
    found = {row["id"]: (f"{row['time']:%Y-%m-%d}", row["group"]) for row in rows}
    assert found == {record["id"]: (record["date"], record["paper"]) for record in RECORDS}


def test_what_records_say_themselves_counts_more(tmp_path: Path) -> None:
    folder = tmp_path / "news" / "year=2031" / "month=5" / "day=4" / "group=press"
    folder.mkdir(parents=True)
    records = [{"text": "One.", "group": "own", "time": "2030-01-01"}, {"text": "Two."}]
    (folder / "n.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "n.txt").write_text("Three.")
    found = [(row["text"], f"{row['time']:%Y-%m-%d}", row["group"]) for row in collect(tmp_path / "news")[0]]
    assert found == [("One.", "2030-01-01", "own"), ("Two.", "2031-05-04", "press"), ("Three.", "2031-05-04", "press")]


def test_all_fields_of_folders_are_fields_of_documents(dataset: Path) -> None:
    document = next(iter(ibidem.read(dataset)))
    assert document.fields == {"date": "2031-05-01", "paper": "P 0"}


def test_metadata_and_patterns_override_folders(dataset: Path) -> None:
    rows, _ = collect(dataset, group_field="paper", group_from="paper=P%20(.)")
    assert {row["group"] for row in rows} == {"0", "1"}


def test_names_of_folders() -> None:
    assert fields_of_folders("a/year=2031/b=__HIVE_DEFAULT_PARTITION__/c=/x=1.txt") == {"year": "2031", "c": ""}
    assert fields_of_folders("https://example.org/a=1/x.csv?b=2/c=3/d") == {"a": "1"}
    assert fields_of_folders("plain/file.txt") == {}
