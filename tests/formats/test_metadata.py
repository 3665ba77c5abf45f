"""Times, groups and titles that come from a table beside the documents, or from their paths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ibidem
from ibidem.errors import InputError, SettingsError
from ibidem.formats.times import parse_time

TEXT = "The harbour froze over in the night, and nobody sailed out for three weeks. The captain waited for the thaw."
ROWS = [
    {"file": "news/a.txt", "date": "4. Mai 1848", "group": "Köln", "title": "Eis"},
    {"file": "b.txt", "date": "1848-05-06", "group": "Trier", "title": "Tauwetter"},
    {"file": "gone.txt", "date": "1848-05-07", "group": "Bonn", "title": "Nebel"},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("news/a.txt", "news/b.txt", "news/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(TEXT, encoding="utf-8")
    return tmp_path


def write_rows(path: Path, rows: list[dict[str, str]]) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        sign = "\t" if path.suffix == ".tsv" else ";" if "excel" in path.name else ","
        lines = [sign.join(rows[0]), *(sign.join(row.values()) for row in rows)]
        path.write_bytes("\r\n".join(lines).encode("cp1252" if "excel" in path.name else "utf-8-sig"))
    return path


def known(documents: Any) -> list[tuple[str, str | None, str | None, Any]]:
    return [(d.id, d.time and d.time.date().isoformat(), d.group, d.fields.get("title")) for d in documents]


@pytest.mark.parametrize("name", ["m.csv", "m.tsv", "excel.csv", "m.jsonl", "m.parquet"])
def test_a_table_is_joined_by_file_name(folder: Path, name: str) -> None:
    table = write_rows(folder / name, ROWS)
    assert known(ibidem.read("news", metadata=table)) == [
        ("news/a.txt", "1848-05-04", "Köln", "Eis"),
        ("news/b.txt", "1848-05-06", "Trier", "Tauwetter"),
        ("news/c.txt", None, None, None),
    ]


@pytest.mark.parametrize("pattern", ["news", "news/*.*", "."])
def test_a_table_among_the_inputs_is_no_document(folder: Path, pattern: str) -> None:
    table = write_rows(folder / "news" / "m.csv", ROWS)
    result = ibidem.find(pattern, metadata=table)
    assert not result.skipped
    assert len(result.documents) == 3
    with ibidem.dedup("news", metadata="news/m.csv") as cleaned:
        cleaned.write("out")
    assert sorted(path.name for path in (folder / "out").iterdir() if path.suffix in (".csv", ".txt")) == ["a.txt", "m.csv"]
    assert (folder / "out" / "m.csv").read_bytes() == table.read_bytes()


def test_dates_that_could_be_two_days_lead_to_the_setting(folder: Path) -> None:
    write_rows(folder / "m.csv", [{"file": "a.txt", "date": "4/5/1848"}, {"file": "b.txt", "date": "4/5/1848"}])
    found = [notice for notice in ibidem.find("news", metadata="m.csv").notices if "timestamps" in notice]
    assert found == [
        "2 timestamps could not be parsed and were ignored, such as '4/5/1848' for news/a.txt; "
        'date_format="day-first" or month-first says which number is the day'
    ]
    assert not [n for n in ibidem.find("news", metadata="m.csv", date_format="day-first").notices if "timestamp" in n]


def test_what_fits_nothing_is_said_in_memory_and_on_disk(folder: Path) -> None:
    table = write_rows(folder / "m.csv", ROWS)
    expected = [
        "1 document has no row in the metadata, such as news/c.txt",
        "1 row of the metadata is for documents that were not read, such as gone.txt",
    ]
    result = ibidem.find("news", metadata=table)
    assert list(result.notices) == expected
    assert [row["direction"] for row in result.passages.to_pylist()] == ["a_to_b", "unknown", "unknown"]
    with ibidem.find("news", metadata=table, memory="100MB", partitions=2) as on_disk:
        assert on_disk.backing.storage == "disk"
        assert list(on_disk.notices) == expected
        assert on_disk.passages.to_pylist() == result.passages.to_pylist()


def test_rows_about_the_reference_count_as_used(folder: Path) -> None:
    table = write_rows(folder / "m.csv", ROWS[:2])
    result = ibidem.find("news/a.txt", against="news/b.txt", metadata=table)
    assert list(result.notices) == []


def test_records_are_joined_by_id_and_keep_what_the_table_does_not_say(folder: Path) -> None:
    records = [{"id": "x", "text": TEXT, "group": "own"}, {"id": "y", "text": TEXT, "time": "2001-01-01", "group": "own"}]
    (folder / "r.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    table = write_rows(folder / "m.csv", [{"id": "y", "time": "3 March 1900", "group": ""}])
    assert known(ibidem.read("r.jsonl", metadata=table)) == [("x", None, "own", None), ("y", "1900-03-03", "own", None)]


def test_a_report_shows_titles_and_survives_without_the_table(folder: Path) -> None:
    table = write_rows(folder / "m.csv", ROWS)
    result = ibidem.find("news", metadata="m.csv")
    result.write("out")
    assert "Tauwetter" in result.to_html("a.html").read_text("utf-8")
    table.unlink()
    assert "Tauwetter" not in result.to_html("b.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"metadata": "none.csv"}, InputError, "cannot read the metadata none.csv"),
        ({"metadata": "m.csv", "metadata_key": "x"}, InputError, "its columns are file, date, group, title"),
        ({"metadata": "bad.parquet"}, InputError, "cannot read the metadata bad.parquet"),
        ({"group_from": "("}, SettingsError, "must be a regular expression"),
        ({"date_format": "dmy"}, SettingsError, "auto, day-first, month-first"),
    ],
)
def test_what_cannot_be_used_is_an_error_before_anything_is_read(
    folder: Path, settings: dict[str, str], error: type[Exception], words: str
) -> None:
    write_rows(folder / "m.csv", ROWS)
    (folder / "bad.parquet").write_bytes(b"words")
    with pytest.raises(error, match=words):
        ibidem.find("news", **settings)  # type: ignore[arg-type]


def test_paths_say_time_and_group(folder: Path) -> None:
    (folder / "papers").mkdir()
    for name in ("Kölnische_1848-05-04_p1.txt", "Trierische_1848-05-06_p2.txt"):
        (folder / "papers" / name).write_text(TEXT, encoding="utf-8")
    (notice,) = ibidem.find("papers", group_from=r"/(K\w+?)_", time_from=r"\d{4}-\d\d-\d\d").notices
    assert notice == "1 document has a path that group_from does not match, such as papers/Trierische_1848-05-06_p2.txt"
    documents = ibidem.read("papers", group_from=r"/(\w+?)_", time_from=r"p?_(?P<time>\d{4}-\d\d-\d\d)")
    assert [(d.time.date().isoformat(), d.group) for d in documents] == [  # type: ignore[union-attr]
        ("1848-05-04", "Kölnische"),
        ("1848-05-06", "Trierische"),
    ]


WRITTEN = [
    "4 May 2031", "4. Mai 2031", "May 4, 2031", "Sunday, May 4th, 2031", "4 de mayo de 2031", "4 mai 2031", "4 maggio 2031",
    "4 мая 2031", "4 maja 2031", "2031年5月4日", "2031년 5월 4일", "04.05.2031", "4. 5. 2031", "2031/05/04", "4 May. 2031",
    "4/5/2031", "4 مايو 2031",
]  # fmt: skip


@pytest.mark.parametrize("text", WRITTEN)
def test_written_dates(text: str) -> None:
    moment = parse_time(text, "day-first")
    assert moment is not None
    assert moment.date().isoformat() == "2031-05-04"
    assert (parse_time(text) is None) == (text == "4/5/2031"), "it could be 5 April"


def test_what_is_ambiguous_is_asked_for() -> None:
    assert parse_time("4/5/2031") is None
    assert parse_time("4/5/2031", "month-first").month == 4  # type: ignore[union-attr]
    assert parse_time("25/5/2031").day == 25  # type: ignore[union-attr]
    assert parse_time("5/25/2031").day == 25  # type: ignore[union-attr]
    assert parse_time("5/5/2031").day == 5  # type: ignore[union-attr]
    assert parse_time("31.4.2031") is None
    assert parse_time("4 ma 2031") is None, "March or May"
    assert parse_time("31-05-04", "%y-%m-%d").year == 2031  # type: ignore[union-attr]
    assert parse_time("2031-05-04", "%y/%m/%d").year == 2031, "what is plain needs no form"  # type: ignore[union-attr]
    records = [{"id": 1, "text": TEXT, "time": "4/5/2031"}, {"id": 2, "text": TEXT}]
    (notice,) = ibidem.find(records).notices
    assert notice.startswith("1 timestamp could not be parsed and was ignored, such as '4/5/2031'")
    assert 'date_format="day-first" or month-first' in notice
    assert ibidem.find(records, date_format="%d/%m/%Y").notices == []


def test_a_row_about_a_file_is_not_one_about_its_records(tmp_path: Path) -> None:
    (tmp_path / "1914.jsonl").write_text('{"id": "5001", "text": "One text."}\n{"id": "5002", "text": "Two texts."}\n', "utf-8")
    (tmp_path / "m.csv").write_text("id,time\n1914,1931-05-04\n5001,1914-02-03\n", "utf-8")
    found = {each.id: each.time for each in ibidem.read(tmp_path / "1914.jsonl", metadata=str(tmp_path / "m.csv"))}
    assert found["5001"] is not None
    assert found["5002"] is None


def test_a_year_may_be_a_number(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One text.", "utf-8")
    (tmp_path / "m.jsonl").write_text('{"id": "a.txt", "year": 1895}\n', "utf-8")
    (document,) = ibidem.read(tmp_path / "a.txt", metadata=str(tmp_path / "m.jsonl"))
    assert str(document.time).startswith("1895")
