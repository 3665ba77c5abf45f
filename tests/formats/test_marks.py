"""Marks instead of changes: columns where a format has them, a list where it has none."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibidem.errors import InputError
from ibidem.formats.decisions import Decision
from tests.formats import test_csv_copies, test_json_copies, test_jsonl_copies, test_parquet_copies
from tests.formats.copy_oracle import COMPRESSIONS, clean, decompressed, documents, folders, read_all, texts

COLUMNS = pa.schema(
    [
        pa.field("would_go", pa.bool_()),
        pa.field("copy_of", pa.string()),
        pa.field("spans", pa.list_(pa.struct([("start", pa.int64()), ("end", pa.int64())])), nullable=False),
        pa.field("share", pa.float64()),
    ]
)
MARKS = {"would_go": True, "copy_of": 'a "b", \u00e9;c', "spans": [{"start": 1, "end": 5}], "share": 0.5}
NOTHING: dict[str, Any] = dict.fromkeys(COLUMNS.names)


@st.composite
def marked(draw: Any, places: Any) -> Any:
    """Decisions about some places; in half of the cases, some of these records are also removed."""
    names = st.sets(st.sampled_from(COLUMNS.names))
    drops = draw(st.booleans())
    return {
        place: Decision(drop=drops and draw(st.booleans()), cuts=((0, 1),), marks={name: MARKS[name] for name in draw(names)})
        for place in places
        if draw(st.booleans())
    }


def check_marked(path: Path, found: Any, output: Path, **kwargs: Any) -> Path:
    """Mark one file; its documents, without those that are removed, must be the same with more fields."""
    before, skipped = read_all(path)
    (copy,) = clean(path, found, output, COLUMNS)
    after, still_skipped = documents(copy)
    left = [(place, old) for place, old in before.items() if not is_dropped(found, place)]
    for (place, old), new in zip(left, after, strict=True):
        assert (new.text, new.time, new.group) == (old.text, old.time, old.group)
        if len(left) == len(before):  # otherwise records without an id are known by another position
            assert new.id == old.id
        marks = {**NOTHING, **found.get(place, Decision()).marks}
        if "as_cells" in kwargs:
            marks = {name: _as_cell(value) for name, value in marks.items()}
        assert dict(new.fields) == {**old.fields, **marks}
    assert len(still_skipped) == len(skipped)
    return copy


def is_dropped(found: Any, place: Any) -> bool:
    return place in found and found[place].drop


def _as_cell(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_jsonl(data: Any) -> None:
    with folders(data.draw(st.sampled_from([7, 50, 4 << 20]))) as (inputs, output):
        path = inputs / "docs.jsonl"
        path.write_bytes(data.draw(test_jsonl_copies.files()))
        found = data.draw(marked(texts(path)))
        copy = check_marked(path, found, output)
        if any(is_dropped(found, place) for place in found):
            return
        for old, new in zip(path.read_bytes().split(b"\n"), copy.read_bytes().split(b"\n"), strict=True):
            assert new == old or new.startswith(old.rstrip()[:-1].rstrip())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_json(data: Any) -> None:
    with folders(data.draw(st.sampled_from([5, 40, 1 << 20]))) as (inputs, output):
        path = inputs / "docs.json"
        path.write_bytes(data.draw(test_json_copies.files()))
        check_marked(path, data.draw(marked(texts(path))), output)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_csv(data: Any) -> None:
    with folders(data.draw(st.sampled_from([7, 50, 4 << 20]))) as (inputs, output):
        extension, delimiter = data.draw(st.sampled_from([("csv", ","), ("tsv", "\t")]))
        path = inputs / f"docs.{extension}"
        path.write_bytes(data.draw(test_csv_copies.files(delimiter)).encode())
        check_marked(path, data.draw(marked(texts(path))), output, as_cells=True)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_parquet(data: Any) -> None:
    with folders() as (inputs, output):
        kind = data.draw(st.sampled_from(test_parquet_copies.TEXT_TYPES))
        table = test_parquet_copies.table_of(data.draw(st.lists(test_parquet_copies.TEXTS, min_size=1, max_size=9)), kind)
        path = inputs / "docs.parquet"
        pq.write_table(table, path, row_group_size=4, compression="zstd")
        found = data.draw(marked(texts(path)))
        copy = check_marked(path, found, output)
        before, after = pq.read_table(path), pq.read_table(copy)
        if not after.num_rows:
            return
        # Not filter: Arrow cannot filter views of strings.
        rows = [before.slice(row, 1) for row in range(before.num_rows) if not is_dropped(found, (str(path), row + 1))]
        before = pa.concat_tables(rows)
        assert after.select(before.column_names).equals(before)
        assert after.schema.field("spans").type == COLUMNS.field("spans").type
        assert pq.read_metadata(copy).row_group(0).column(pq.read_metadata(copy).num_columns - 1).compression == "ZSTD"


def test_what_is_written(tmp_path: Path) -> None:
    lines = b'{"text": "one"}\r\n{ "text": "two", "n": 1.0 }\nbroken\n{}\n{"text": "\xc3\xa9"}'
    (tmp_path / "a.jsonl").write_bytes(lines)
    columns = pa.schema({"m": pa.bool_(), "c": pa.string()})
    found = {(str(tmp_path / "a.jsonl"), n): Decision(marks={"m": True, "c": "\u00e9"}) for n in (2, 5)}
    (copy,) = clean(tmp_path / "a.jsonl", found, tmp_path / "out", columns)
    assert copy.read_bytes().split(b"\n") == [
        b'{"text": "one", "m": null, "c": null}\r',
        b'{ "text": "two", "n": 1.0, "m": true, "c": "\\u00e9" }',
        b"broken",
        b'{"m": null, "c": null}',
        b'{"text": "\xc3\xa9", "m": true, "c": "\xc3\xa9"}',
    ]
    (tmp_path / "b.csv").write_bytes(b'n;text\r\n1;"a;b"\r\n\r\n2;wrong;length\r\n3;last')
    found = {(str(tmp_path / "b.csv"), 5): Decision(marks={"m": False, "c": "x;y"})}
    (copy,) = clean(tmp_path / "b.csv", found, tmp_path / "out2", columns)
    assert copy.read_bytes() == b'n;text;m;c\r\n1;"a;b";;\r\n\r\n2;wrong;length;;\r\n3;last;false;"x;y"'
    assert next(csv.reader(io.StringIO(copy.read_text()), delimiter=";")) == ["n", "text", "m", "c"]


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_marks_in_other_encodings(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(COMPRESSIONS[suffix]('{"text": "caf\u00e9"}'.encode("utf-16")))
    found = {(str(path), 1): Decision(marks={"copy_of": "\u20ac"})}
    (copy,) = clean(path, found, tmp_path / "out", pa.schema({"copy_of": pa.string()}), encoding="utf-16")
    assert decompressed(copy) == '{"text": "caf\u00e9", "copy_of": "\\u20ac"}'.encode("utf-16")


def test_a_mark_that_the_encoding_does_not_know(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("text\ncaf\u00e9\n".encode("latin-1"))
    columns = pa.schema({"copy_of": pa.string()})
    found = {(str(path), 2): Decision(marks={"copy_of": "\u00e9"})}
    (copy,) = clean(path, found, tmp_path / "out", columns, encoding="latin-1")
    assert copy.read_bytes() == "text,copy_of\ncaf\u00e9,\u00e9\n".encode("latin-1")
    found = {(str(path), 2): Decision(marks={"copy_of": "\u20ac"})}
    with pytest.raises(InputError, match="cannot be written in"):
        clean(path, found, tmp_path / "out", columns, encoding="latin-1")


@pytest.mark.parametrize("name", ["b.jsonl", "b.json", "b.csv", "b.parquet"])
def test_a_column_of_that_name_is_an_error_before_anything_is_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    (tmp_path / "a.txt").write_bytes(b"first")
    contents = {"b.jsonl": b'{"m": 1, "text": "x"}\n', "b.json": b'[{"text": "x", "\\u006d": 1}]', "b.csv": b"text,m\nx,1\n"}
    if name in contents:
        path.write_bytes(contents[name])
    else:
        pq.write_table(pa.table({"text": ["x"], "m": [1]}), path)
    with pytest.raises(InputError, match=f"{name}.*'m'"):
        clean([tmp_path / "a.txt", path], {}, tmp_path / "out", pa.schema({"m": pa.bool_()}))
    assert not (tmp_path / "out").exists()


def test_a_column_of_that_name_further_down(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "x"}\n{"text": "y", "\\u006d": 1}\n')
    with pytest.raises(InputError, match="'m'"):
        clean(path, {}, tmp_path / "out", pa.schema({"m": pa.bool_()}))
    assert list((tmp_path / "out").iterdir()) == []


def test_formats_without_columns(tmp_path: Path) -> None:
    files = {
        "a.txt": b"text",
        "b.md.gz": gzip.compress(b"words"),
        "c.html": b"<p>page",
        "d.warc": _archive(),
        "e.jsonl": b'{"text": "x"}\n',
    }
    (tmp_path / "in").mkdir()
    for name, data in files.items():
        (tmp_path / "in" / name).write_bytes(data)
    places = texts(tmp_path / "in")
    columns = pa.schema({"m": pa.bool_(), "n": pa.int64()})
    found = {place: Decision(marks={"m": True}) for place in places if "a.txt" not in place[0]}
    out = tmp_path / "out"
    written = clean(tmp_path / "in", found, out, columns)
    assert [path.name for path in written] == [*files, "marks.jsonl"]
    assert {name: (out / name).read_bytes() for name in list(files)[:4]} == {name: files[name] for name in list(files)[:4]}
    folder = str(tmp_path / "in")
    assert [json.loads(line) for line in (out / "marks.jsonl").read_text().splitlines()] == [
        {"source": f"{folder}/b.md.gz", "position": 0, "id": f"{folder}/b.md.gz", "m": True, "n": None},
        {"source": f"{folder}/c.html", "position": 0, "id": f"{folder}/c.html", "m": True, "n": None},
        {"source": f"{folder}/d.warc", "position": 1, "m": True, "n": None},
    ]
    with pytest.raises(InputError, match="'position'"):
        clean(tmp_path / "in", found, tmp_path / "out2", pa.schema({"position": pa.bool_()}))


def _archive() -> bytes:
    from tests.formats.test_whole_file_copies import record

    return record("response", "http://a.example/", b"<p>page", 1)
