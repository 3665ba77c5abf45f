"""Readers: arbitrary bytes under every extension, through the door that all verbs use."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import tempfile
import warnings
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.targets import Target
from ibidem.config import Config
from ibidem.errors import IbidemError
from ibidem.formats import read, read_batches
from ibidem.formats.jobs import ReadingRemark
from ibidem.model import DOCUMENT_BATCH, Skipped

EXTENSIONS = (
    "jsonl", "json", "csv", "tsv", "parquet", "warc", "txt", "md", "html", "warc.gz", "jsonl.gz", "csv.zst", "json.bz2",
    "parquet.gz",
)  # fmt: skip
SETTINGS: tuple[dict[str, Any], ...] = (
    {}, {"html": True}, {"html": True, "main_content": True}, {"encoding": "latin-1"}, {"encoding": "utf-16"},
    {"encoding": "shift_jis"},
    {"text_field": "id", "id_field": "text"}, {"group_field": "text", "time_field": "text"},
)  # fmt: skip
RECORDS: list[dict[str, Any]] = [
    {"id": "a", "text": "The harbour was closed.\nÜber Nacht. 漢字。", "time": "2024-05-01T10:00:00+02:00", "group": "g"},
    {"id": 7, "text": "Two <b>ferries</b> stayed \u0000 in port", "time": 1714550400, "group": None},
    {"id": "c", "text": "", "time": "Wed, 01 May 2024 10:00:00 GMT", "group": 3.5},
    {"text": None, "more": {"nested": [1, 2, {"x": "\ud800"}]}},
]
PAGE = (
    b"<!DOCTYPE html><html><head><meta charset=utf-8><title>T</title></head><body><p>One &amp; two<table><tr><td>a<td>b"
    b"</table><script>x</script></body></html>"
)
PIECES = (
    b'{"id": "d", "text": "x"}\n', b'"text"', b'"id"', b'"time"', b'"group"', b"null", b"true", b"NaN", b"-Infinity",
    b"\\u0000", b"\\ud800", b"\\ude00",
    b"[", b"]", b"[[[[[[[[", b'{"a":{"a":{"a":', b"}", b'""', b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"\r\n", b"\n", b"\r",
    b"\xe2\x80\xa8", b"\x85", b";", b",", b"\t",
    b'"', b"'", b"id,text,time,group\n", b"text\n", b"a;b\n", b"PAR1", b"WARC/1.0\r\n", b"WARC-Type: response\r\n",
    b"Content-Length: 40\r\n",
    b"Content-Type: text/html; charset=", b"Content-Encoding: gzip\r\n", b"Content-Encoding: br\r\n",
    b"Content-Encoding: deflate\r\n",
    b"Transfer-Encoding: chunked\r\n", b"HTTP/1.1 200 OK\r\n", b"\r\n\r\n",
    b"WARC-Target-URI: http://[", b"http://a.b/", b"WARC-Date: 2024-05-01T10:00:00Z\r\n", b"\x1f\x8b", b"\x28\xb5\x2f\xfd",
    b"BZh", b"<html>", b"<td>", b"</", b"&#0;", b"&#xd800;",
    b"2024-05-01", b"99999999-99-99", b"1e999", b"9" * 5000, b"0x1F", b"\xc3", b"\xed\xa0\x80", b"10\r\n",
)  # fmt: skip
_scratch = tempfile.TemporaryDirectory(prefix="fuzz-readers-")


def seeds() -> list[bytes]:
    """Return files of every format, as raw bytes and, with the second bit of the first byte, to be compressed here."""
    lines = "\n".join(json.dumps(record) for record in RECORDS).encode()
    table = b'id,text,time,group\na,"The harbour, ""closed""\nfor a day",2024-05-01,g\nb,x,,\nc,short\n'
    contents = {
        "jsonl": lines, "json": json.dumps(RECORDS, indent=1).encode(), "csv": table, "tsv": table.replace(b",", b"\t"),
        "parquet": _parquet(), "warc": _warc(),
        "txt": b"Plain text.\n\nIn two paragraphs.", "md": b"# Title\n\n- item", "html": PAGE,
    }  # fmt: skip
    found = [bytes([number, 0]) + contents[name] for number, name in enumerate(EXTENSIONS) if name in contents]
    for number, name in enumerate(EXTENSIONS):
        if name not in contents:
            content = contents[name.partition(".")[0]]
            found += [bytes([number, 1]) + content, bytes([number, 0]) + gzip.compress(content, mtime=0)]
    found += [bytes([0, 2 * number]) + lines for number in range(1, len(SETTINGS))]
    found.append(bytes([EXTENSIONS.index("parquet"), 0]) + _other_parquet())
    found += [bytes([EXTENSIONS.index("warc"), 0]) + _warc(name) for name in (b"gzip", b"deflate", b"br", b"zstd")]
    return [*found, b"", bytes([EXTENSIONS.index("csv"), 0]) + table.replace(b",", b";")]


def check(data: bytes) -> str:
    """Read what follows the first two bytes, which say under which extension and with which settings."""
    which, how, content = data[0] if data else 0, data[1] if len(data) > 1 else 0, data[2:]
    extension = EXTENSIONS[which % len(EXTENSIONS)]
    settings = SETTINGS[(how >> 1) % len(SETTINGS)]
    if how & 1:
        content = _compressed(content, extension)
    path = Path(_scratch.name) / f"case.{extension}"
    path.write_bytes(content)
    skipped: list[Skipped] = []
    told: list[ReadingRemark] = []
    batches: list[Any] | None = None
    try:
        batches = list(read_batches(str(path), Config.of(**settings).documents, skipped.append, None, told.append))
        outcome = _check_batches(batches, path)
    except IbidemError as error:
        _check_error(error)
        outcome = type(error).__name__
    _check_skipped(skipped, path)
    _check_again(path, settings, batches, skipped)
    reasons = sorted({"".join(c for c in record.reason.partition(":")[0] if not c.isdigit())[:40] for record in skipped})
    return f"{extension} {how & 15} {outcome} {reasons} {len(told)}"


def _check_batches(batches: list[Any], path: Path) -> str:
    n_rows = n_times = n_groups = 0
    for batch in batches:
        if batch.schema != DOCUMENT_BATCH:
            raise AssertionError("another schema")
        batch.validate(full=True)
        for name in ("id", "text", "source", "position", "cleaned"):
            if batch.column(name).null_count:
                raise AssertionError(f"a row without {name}")
        texts, sources = batch.column("text").to_pylist(), set(batch.column("source").to_pylist())
        if any(not text or text.isspace() for text in texts) or sources - {str(path)}:
            raise AssertionError("an empty text, or another source")
        if any(position < 0 for position in batch.column("position").to_pylist()):
            raise AssertionError("a position before the file")
        batch.column("time").to_pylist()
        n_rows += batch.num_rows
        n_times += batch.num_rows - batch.column("time").null_count
        n_groups += batch.num_rows - batch.column("group").null_count
    return f"{n_rows.bit_length()} {n_times.bit_length()} {n_groups.bit_length()}"


def _check_skipped(skipped: list[Skipped], path: Path) -> None:
    for record in skipped:
        if record.source != str(path) or record.position < 0 or not record.reason.strip():
            raise AssertionError(f"a record that was left out without telling where and why: {record}")
        record.reason.encode("utf-8")  # it is written to a file and to the terminal


def _check_error(error: IbidemError) -> None:
    if not str(error).strip():
        raise AssertionError("an error that says nothing")
    str(error).encode("utf-8")


def _check_again(path: Path, settings: dict[str, Any], batches: list[Any] | None, skipped: list[Skipped]) -> None:
    """Check that reading with all fields, which goes other ways, gives the same documents and leaves the same ones out."""
    again: list[Skipped] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            documents = list(read(str(path), on_skip=again.append, **settings))
    except IbidemError as error:
        if batches is not None:
            raise AssertionError(f"one way reads what the other refuses: {error}") from error
        return
    if batches is None:
        raise AssertionError("one way reads what the other refuses")
    if ".parquet" in path.name and any("cannot be read" in record.reason for record in skipped + again):
        return  # a column that is damaged matters to those only who ask for it
    names = ("id", "text", "time", "group")
    rows = [row for batch in batches for row in zip(*(batch.column(name).to_pylist() for name in names), strict=True)]
    rows_again = [(each.id, each.text, each.time, each.group) for each in documents]
    if rows != rows_again:
        raise AssertionError(f"the documents depend on whether all fields are asked for: {rows!r:.2000} {rows_again!r:.2000}")
    if [(record.position, record.id) for record in skipped] != [(record.position, record.id) for record in again]:
        raise AssertionError("what is left out depends on whether all fields are asked for")


def _compressed(content: bytes, extension: str) -> bytes:
    kind = os.path.splitext(extension)[1]
    if kind == ".zst":
        return bytes(pa.compress(content, codec="zstd", asbytes=True))
    if kind == ".bz2":
        return bz2.compress(content)
    # By members now and then, as archives of the web are.
    half = len(content) // 2 if zlib.crc32(content) & 1 else 0
    return b"".join(gzip.compress(part, 1, mtime=0) for part in (content[:half], content[half:]))


def _parquet() -> bytes:
    columns = {
        "id": ["a", "b", None],
        "text": ["The harbour.", None, "Two ferries."],
        "time": pa.array([0, None, 10**15], pa.timestamp("us")),
        "group": pa.array(["g", "h", "g"]).dictionary_encode(),
        "other": [[1], [], None],
    }
    return _written(columns)


def _other_parquet() -> bytes:
    columns = {
        "id": [7, 8],
        "text": pa.array([b"Nothing moved.", b"\xc3\x9cber Nacht"], pa.large_binary()),
        "time": pa.array([19844, 10**8], pa.date32()),
        "group": [1.5, float("nan")],
        "seen": pa.array([1714521600, 10**14], pa.timestamp("ms")),
        "title": ["One", "Two"],
    }
    return _written(columns)


def _written(columns: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, compression="none")
    return file.getvalue()


def _warc(encoding: bytes = b"") -> bytes:
    parts = []
    page, head = PAGE, b""
    if encoding:
        names = {b"br": "brotli", b"zstd": "zstd", b"gzip": "gzip"}
        page = pa.compress(PAGE, names[encoding], asbytes=True) if encoding in names else zlib.compress(PAGE)
        page = b"%x\r\n%s\r\n%x;x\r\n%s\r\n0\r\n\r\n" % (9, page[:9], len(page) - 9, page[9:])
        head = b"Content-Encoding: " + encoding + b"\r\nTransfer-Encoding: chunked\r\n"
    for number, kind in enumerate((b"text/html; charset=utf-8", b"text/plain", b"image/png")):
        body = b"HTTP/1.1 200 OK\r\n" + head + b"Content-Type: " + kind + b"\r\n\r\n" + page
        parts.append(
            b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/%d\r\nWARC-Date: 2024-05-01T10:00:00Z"
            b"\r\nWARC-Record-ID: <urn:uuid:%036d>\r\nContent-Type: application/http; msgtype=response\r\n"
            b"Content-Length: %d\r\n\r\n" % (number, number, len(body)) + body + b"\r\n\r\n"
        )
    return b"".join(parts)


TARGET = Target(check, seeds, PIECES, max_bytes=8192)
