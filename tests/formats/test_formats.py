"""Every format and compression gives the same documents."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ibidem.config import DocumentsConfig
from ibidem.errors import InputError
from ibidem.formats import read, read_batches
from ibidem.model import DOCUMENT_BATCH, Skipped

RECORDS = [
    {"id": "a", "text": "The harbour froze.\nNobody sailed.", "time": "2020-01-31", "group": "north"},
    {
        "id": " b ",
        "text": 'Zwölf Boxkämpfer, 十二, 😀 and a "quoted" comma, too',
        "time": "2020-02-01T10:00:00Z",
        "group": "ü",
    },
    {"id": "c", "text": "A third text\r\nwith two lines", "time": None, "group": None},
]


def collect(inputs: Any, **settings: Any) -> tuple[list[dict[str, Any]], list[Skipped]]:
    skipped: list[Skipped] = []
    rows: list[dict[str, Any]] = []
    for batch in read_batches(inputs, DocumentsConfig(**settings), skipped.append):
        assert batch.schema == DOCUMENT_BATCH
        batch.validate(full=True)
        assert all(column.offset == 0 for column in batch.columns)
        rows.extend(batch.to_pylist())
    return rows, skipped


def write_jsonl(records: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def write_json(records: list[dict[str, Any]]) -> bytes:
    return json.dumps(records, indent=2).encode()


def write_csv(records: list[dict[str, Any]], delimiter: str = ",") -> bytes:
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, list(records[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(records)
    return file.getvalue().encode()


def write_tsv(records: list[dict[str, Any]]) -> bytes:
    return write_csv(records, "\t")


def write_parquet(records: list[dict[str, Any]]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records), sink, row_group_size=2)
    return sink.getvalue()


def noise(n_bytes: int) -> bytes:
    return random.Random(1).randbytes(n_bytes // 2).hex().encode()


def zstd(data: bytes) -> bytes:
    return pa.Codec("zstd").compress(data, asbytes=True)


WRITERS = {
    "jsonl": write_jsonl,
    "ndjson": write_jsonl,
    "json": write_json,
    "csv": write_csv,
    "tsv": write_tsv,
    "parquet": write_parquet,
}
COMPRESSIONS = {"": bytes, ".gz": gzip.compress, ".zst": zstd, ".bz2": bz2.compress}


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_documents(tmp_path: Path, name: str, suffix: str) -> None:
    path = tmp_path / f"docs.{name}{suffix}"
    path.write_bytes(COMPRESSIONS[suffix](WRITERS[name](RECORDS)))
    told: list[int] = []
    rows = [row for batch in read_batches(path, DocumentsConfig(), pytest.fail, told.append) for row in batch.to_pylist()]
    assert [(row["id"], row["text"], row["group"]) for row in rows] == [(r["id"], r["text"], r["group"]) for r in RECORDS]
    assert [row["time"] and row["time"].isoformat() for row in rows] == [
        "2020-01-31T00:00:00+00:00",
        "2020-02-01T10:00:00+00:00",
        None,
    ]
    assert {row["source"] for row in rows} == {str(path)}
    assert not any(row["cleaned"] for row in rows)
    assert sum(told) == path.stat().st_size
    expected = [2, 4, 5] if name in ("csv", "tsv") else [1, 2, 3]
    assert [row["position"] for row in rows] == expected


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("name", ["txt", "md", "text", "html", "htm", "xhtml"])
def test_a_text_or_html_file_is_a_document(tmp_path: Path, name: str, suffix: str) -> None:
    html = "htm" in name
    content = (
        "<html><body><p>Erster Satz.</p><p>Zweiter für Köln.</p></body></html>" if html else "Erster Satz.\n\nZweiter für Köln."
    )
    path = tmp_path / f"page.{name}{suffix}"
    path.write_bytes(COMPRESSIONS[suffix](content.encode()))
    rows, skipped = collect(tmp_path)
    assert not skipped
    assert [(row["id"], row["text"], row["cleaned"], row["position"]) for row in rows] == [
        (str(path), "Erster Satz.\n\nZweiter für Köln.", html, 0)
    ]


@pytest.mark.parametrize("compress", [gzip.compress, zstd, bz2.compress])
def test_several_compressed_parts_in_one_file_are_read_as_one(tmp_path: Path, compress: Any) -> None:
    path = tmp_path / "docs.jsonl.gz"
    path.write_bytes(b"".join(compress(write_jsonl([record])) for record in RECORDS))
    assert [row["id"] for row in collect(path)[0]] == ["a", " b ", "c"]


def test_html_in_the_text_field_is_cleaned(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(
        write_jsonl(
            [
                {"id": "1", "text": "<h1>Head</h1><p>One &amp; two<script>x()</script><ul><li>item</ul>"},
                {"id": "2", "text": "<p> </p>"},
            ]
        )
    )
    rows, skipped = collect(path, html=True)
    assert [(row["text"], row["cleaned"]) for row in rows] == [("Head\n\nOne & two\n\n  • item", True)]
    assert [(record.id, record.reason) for record in skipped] == [("2", "empty text")]


def test_cells_of_a_table_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("<table><tr><td>one</td><td>two</td></tr><tr><TH>three<td>four</table>", encoding="utf-8")
    assert collect(path)[0][0]["text"] == "one two\nthree four"


def test_main_content_leaves_navigation_out(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    body = (
        "<nav><ul><li><a href='/'>Home</a></ul></nav><main><p>"
        + "The council met again on Tuesday. " * 9
        + "</p></main><footer>Imprint</footer>"
    )
    path.write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
    assert "Home" in collect(path)[0][0]["text"]
    text = collect(path, main_content=True)[0][0]["text"]
    assert text.startswith("The council")
    assert "Imprint" not in text


def test_html_says_its_own_encoding(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes('<meta charset="iso-8859-1"><p>Café für alle'.encode("latin-1"))
    assert collect(path)[0][0]["text"] == "Café für alle"


@pytest.mark.parametrize("name", ["txt", "jsonl", "json", "csv"])
def test_another_encoding_is_decoded(tmp_path: Path, name: str) -> None:
    content = {"txt": "Käse", "jsonl": '{"text": "Käse"}\n', "json": '[{"text": "Käse"}]', "csv": "text\nKäse\n"}[name]
    path = tmp_path / f"docs.{name}"
    for encoding in ("cp1252", "utf-16", "utf-8-sig"):
        path.write_bytes(content.encode(encoding))
        rows, skipped = collect(path, encoding="utf-8" if encoding == "utf-8-sig" else encoding)
        assert [row["text"] for row in rows] == ["Käse"], encoding
        assert not skipped


@pytest.mark.parametrize("name", ["csv", "parquet"])
def test_a_table_without_text_column_is_an_error_that_names_the_columns(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"docs.{name}"
    path.write_bytes(WRITERS[name]([{"id": "1", "body": "words"}]))
    with pytest.raises(InputError, match=r"docs.*no column 'text'.*id, body") as caught:
        collect(path)
    assert 'text_field="NAME"' in caught.value.next_step
    assert collect(path, text_field="body")[0][0]["text"] == "words"


def test_parquet_takes_other_types(tmp_path: Path) -> None:
    path = tmp_path / "docs.parquet"
    table = pa.table(
        {
            "text": pa.array([b"one", b"tw\xff", None, b"four"], pa.binary()),
            "id": pa.array([1, 2, 3, None], pa.int32()),
            "time": pa.array([0, 1, 2, 3], pa.timestamp("ns")),
            "group": pa.array(["x", "y", "x", "y"]).dictionary_encode(),
        }
    )
    pq.write_table(table, path)
    rows, skipped = collect(path)
    assert [(row["id"], row["text"], row["group"]) for row in rows] == [("1", "one", "x"), (f"{path}:4", "four", "y")]
    assert [(record.position, record.id) for record in skipped] == [(2, "2"), (3, "3")]
    assert "invalid UTF-8" in skipped[0].reason
    assert "field 'text' is null" in skipped[1].reason
    pq.write_table(pa.table({"text": [1, 2]}), path)
    with pytest.raises(InputError, match="contains int64, not text"):
        collect(path)


def warc_record(url: str, body: bytes, kind: str = "text/html", extra: str = "", status: int = 200, number: int = 1) -> bytes:
    http = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{extra}\r\n".encode() + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{number}>\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(http)}\r\n\r\n"
    )
    return head.encode() + http + b"\r\n\r\n"


WARC = [
    warc_record("http://one.example/a", b"<p>First page"),
    warc_record("http://one.example/x.png", b"\x89PNG", "image/png"),
    warc_record("http://one.example/gone", b"<p>No such page", status=404),
    warc_record("http://two.example/b", gzip.compress(b"<p>Second page"), extra="Content-Encoding: gzip\r\n"),
    warc_record("http://one.example/a", b"plain again", "text/plain", number=7),
    warc_record("http://one.example/l", "Köln".encode("latin-1"), "text/html; charset=iso-8859-1"),
]


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_pages_of_a_web_archive(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"crawl.warc{suffix}"
    path.write_bytes(b"".join(COMPRESSIONS[suffix](record) for record in WARC))
    rows, skipped = collect(path)
    assert not skipped
    assert [(row["id"], row["text"], row["group"], row["cleaned"], row["position"]) for row in rows] == [
        ("http://one.example/a", "First page", "one.example", True, 1),
        ("http://two.example/b", "Second page", "two.example", True, 4),
        ("http://one.example/a#<urn:uuid:7>", "plain again", "one.example", False, 5),
        ("http://one.example/l", "Köln", "one.example", True, 6),
    ]
    assert {row["time"].isoformat() for row in rows} == {"2020-01-02T03:04:05+00:00"}


def test_a_broken_web_archive_gives_what_it_can(tmp_path: Path) -> None:
    path = tmp_path / "crawl.warc"
    path.write_bytes(WARC[0] + b"garbage\r\n\r\n" + WARC[3])
    rows, skipped = collect(path)
    assert [row["text"] for row in rows] == ["First page"]
    assert [(record.source, record.position) for record in skipped] == [(str(path), 0)]
    packed = b"".join(gzip.compress(record) for record in [WARC[0], warc_record("http://one.example/n", noise(100_000))])
    (tmp_path / "cut.warc.gz").write_bytes(packed[: len(packed) - 40])
    rows, skipped = collect(tmp_path / "cut.warc.gz")
    assert rows[0]["text"] == "First page"
    assert "Truncated" in skipped[-1].reason


def test_read_passes_all_other_fields_through(tmp_path: Path) -> None:
    records = [
        {"id": "1", "text": "words", "time": "2020", "tags": [{"y": 1}], "n": 3},
        {"id": "2", "text": "more", "n": None},
    ]
    path = tmp_path / "docs.jsonl"
    path.write_bytes(write_jsonl(records))
    first, second = read(path)
    assert (first.id, first.text, first.fields) == ("1", "words", {"tags": [{"y": 1}], "n": 3})
    assert second.fields == {"n": None}
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "docs.parquet")
    assert next(iter(read(tmp_path / "docs.parquet"))).fields["n"] == 3
    (tmp_path / "docs.csv").write_bytes(write_csv([{"text": "words", "n": "3", "empty": ""}]))
    assert [dict(document.fields) for document in read(tmp_path / "docs.csv")] == [{"n": "3", "empty": ""}]


def test_read_warns_once_of_skipped_records(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(b'{"text": "one"}\n{"text": ""}\nbroken\n')
    with pytest.warns(UserWarning, match="2 records were skipped"):
        assert [document.text for document in read(path)] == ["one"]
    skipped: list[Skipped] = []
    assert len(list(read(path, on_skip=skipped.append))) == 1
    assert len(skipped) == 2


def test_csv_with_semicolons_as_spreadsheets_write_it(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('id;text\n1;"Alles gut; 3,50 Euro"\n2;Nichts\n', "utf-8")
    assert [(d.id, d.text) for d in read(path)] == [("1", "Alles gut; 3,50 Euro"), ("2", "Nichts")]
