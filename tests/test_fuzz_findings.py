"""What fuzzing has found, one test each."""

from __future__ import annotations

import gzip
import json
import shutil
import struct
import time
import zlib
from datetime import datetime, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ibidem
from ibidem.config import Config
from ibidem.errors import IndexDamagedError, InputError
from ibidem.evaluation.truth_files import read_passages
from ibidem.formats import read_batches
from ibidem.formats.byte_streams import READ_ERRORS, ByteStream
from ibidem.formats.html_text import extract_text
from ibidem.formats.jobs import ReadingRemark
from ibidem.formats.times import from_array
from ibidem.index.index import Index
from ibidem.viewer.material import material_of_folder
from tests.index_faults import records
from tests.texts import text


def documents_of(path: Path, **settings: object) -> tuple[list[str], list[str]]:
    """Return the texts of a file, and the reasons why records of it were left out."""
    skipped: list[ibidem.Skipped] = []
    batches = read_batches(str(path), Config.of(**settings).documents, skipped.append)
    texts = [found for batch in batches for found in batch.column("text").to_pylist()]
    return texts, [record.reason for record in skipped]


def test_letters_that_are_marks_on_a_blank_make_no_sentences() -> None:
    """They were sentences without words, and all of them the same one."""
    a, b = "\ufe70! \ufe72! \ufe74! \ufe76! \ufe78!", "\ufe7a! \ufe7c! \ufe7e! \ufc5e! \ufc5f!"
    assert ibidem.split_sentences(a) == []
    result = ibidem.find([{"id": "a", "text": a}, {"id": "b", "text": b}], signature="exact")
    assert len(result) == 0


@pytest.mark.parametrize("damaged_byte", [40, 100])
def test_a_damaged_stream_gives_nothing_after_its_error(tmp_path: Path, damaged_byte: int) -> None:
    """Asked again, Arrow's decompressor handed out what lay in its memory: texts of other documents."""
    lines = b"".join(b'{"text": "number %d of many"}\n' % (number * 7919 % 1000) for number in range(200))
    content = bytearray(gzip.compress(lines))
    content[damaged_byte : damaged_byte + 8] = b"\xff" * 8
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(content)
    with ByteStream(str(path)) as stream:
        pieces: list[bytes] = []
        with pytest.raises(READ_ERRORS):
            pieces.extend(iter(lambda: stream.read(1000), b""))
        assert lines.startswith(b"".join(pieces)), "what stands before the damage is handed out"
        for _ in range(3):
            with pytest.raises(READ_ERRORS):
                stream.read(1000)
        with pytest.raises(READ_ERRORS):
            stream.peek(4)


def test_the_columns_of_what_is_no_table_are_told_in_bounds(tmp_path: Path) -> None:
    """A binary file had its first line in the error, whole, in characters that cannot be written."""
    path = tmp_path / "a.csv"
    path.write_bytes(b",".join([b"\x8b\xff" * 500] * 300) + b"\n")
    with pytest.raises(InputError, match=r"has no column 'text'.*and 260 more") as caught:
        documents_of(path)
    assert len(str(caught.value).encode("utf-8")) < 5_000


def test_a_sound_file_in_the_place_of_another_is_damage(tmp_path: Path) -> None:
    """Its checksums are right, so its documents were there twice and those of the other file were not."""
    folder = tmp_path / "index"
    with Index(folder) as index:
        index.add(records({"a": (1, 2, 3)}))
        index.add(records({"b": (4, 5, 6)}))
        first, second = (entry.name for entry in index._catalog.state().segments)
    shutil.copy(folder / first, folder / second)
    with Index(folder, create=False) as index:
        assert index.verify() == [f"{folder / second} is not the file of that name but a copy of {first}"]
        with pytest.raises(IndexDamagedError, match="a copy of"):
            index.query(records({"c": (4, 5, 6)}))
        with pytest.raises(IndexDamagedError, match="a copy of"):
            index.remove("b")


def archive(*pages: tuple[str, bytes, bytes]) -> bytes:
    """Return a web archive of pages: address, headers besides the type, and body."""
    records = []
    for url, more, body in pages:
        answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n" + more + b"\r\n" + body
        lines = ["WARC/1.0", "WARC-Type: response", f"WARC-Target-URI: {url}", f"Content-Length: {len(answer)}"]
        lines += ["Content-Type: application/http; msgtype=response", "", ""]
        records.append("\r\n".join(lines).encode() + answer + b"\r\n\r\n")
    return b"".join(records)


@pytest.mark.parametrize("url", ["http://[broken/", "http://a\u2100b.example/"])
def test_an_address_that_is_none_has_no_group(tmp_path: Path, url: str) -> None:
    """It ended the run with a ValueError."""
    path = tmp_path / "a.warc"
    path.write_bytes(archive((url, b"", b"<p>One"), ("http://sound.example/", b"", b"<p>Two")))
    found = list(ibidem.read(str(path)))
    assert [(document.id, document.text, document.group) for document in found] == [
        (url, "One", None),
        ("http://sound.example/", "Two", "sound.example"),
    ]


PAGE = b"<p>" + b" ".join(b"word%d" % (number * 7919 % 1000) for number in range(300))


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_page_that_cannot_be_decoded_is_left_out_alone(tmp_path: Path, encoding: str) -> None:
    """All pages after it were lost, and the place that was told was that of the file."""
    codecs = {"br": "brotli", "zstd": "zstd", "gzip": "gzip"}
    whole = pa.compress(PAGE, codecs[encoding], asbytes=True) if encoding in codecs else zlib.compress(PAGE)
    broken = whole[: len(whole) // 2] + b"\xff" * 40 + whole[len(whole) // 2 + 40 :]
    head = f"Content-Encoding: {encoding}\r\n".encode()
    path = tmp_path / "a.warc"
    path.write_bytes(archive(("http://a/", head, whole), ("http://b/", head, broken), ("http://c/", b"", PAGE)))
    skipped: list[ibidem.Skipped] = []
    found = list(ibidem.read(str(path), on_skip=skipped.append))
    assert [document.id for document in found] == ["http://a/", "http://c/"]
    assert found[0].text == found[1].text
    assert [(record.position, record.id) for record in skipped] == [(2, "http://b/")]
    assert skipped[0].reason.startswith(f"its body cannot be decoded: {encoding}")


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        (b"Transfer-Encoding: chunked\r\n", b"5\r\n<p>On\r\n1;x=y\r\ne\r\n0\r\n\r\n", "One"),
        (b"Transfer-Encoding: chunked\r\n", b"<p>undone already", "undone already"),
        (b"Transfer-Encoding: chunked\r\n", b"10\r\n<p>cut", "cut"),
        (b"Content-Encoding: gzip\r\n", b"<p>undone already", "undone already"),
        (b"Content-Encoding: x-gzip\r\n", gzip.compress(b"<p>One", mtime=0) + gzip.compress(b" more", mtime=0), "One more"),
        (b"Content-Encoding: deflate\r\n", zlib.compress(b"<p>One")[2:-4], "One"),
        (b"Content-Encoding: br\r\n", b" <p>undone already", "undone already"),
        (b"Content-Encoding: identity\r\n", b"<p>One", "One"),
    ],
)  # fmt: skip
def test_bodies_are_taken_as_they_are_meant(tmp_path: Path, head: bytes, body: bytes, expected: str) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(archive(("http://a/", head, body)))
    assert documents_of(path) == ([expected], [])


def test_a_page_whose_chunks_break_off_in_the_middle_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(archive(("http://a/", b"Transfer-Encoding: chunked\r\n", b"3\r\n<p>\r\nno chunk")))
    assert documents_of(path) == ([], ["its body cannot be decoded: no chunk begins at byte 8 of the body"])


@pytest.mark.parametrize("tags", ["<ul><li>", "<OL a='<'><li>", "<ul><li></p>"])
def test_lists_in_lists_take_time_in_proportion(tags: str) -> None:
    """Ten thousand of them, 100 kB, took a minute, and were indented to fifteen million characters."""
    page = "".join(f"{tags}item{number}" for number in range(10_000)) + "</ul>" * 10_000 + "<p>after"
    started_seconds = time.process_time()
    found = extract_text(page, main_content=False)
    assert time.process_time() - started_seconds < 10
    assert len(found) < 2_000_000
    words = [word for word in found.split() if word.isalnum()]
    assert words == [*(f"item{number}" for number in range(10_000)), "after"]


def test_lists_as_people_make_them_stay_as_they_are() -> None:
    page = "<ul><li>one<ul><li>two<ol><li>three</ol></ul><li>four</ul>" * 20
    lines = [line.split()[-1] for line in extract_text(page, main_content=False).splitlines() if line.strip()]
    assert lines == ["one", "two", "three", "four"] * 20


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "out"
    documents = [{"id": name, "text": text(1, 2, 3, 4, 5)} for name in ("a", "b")]
    ibidem.find(documents).write(folder, format="jsonl")
    return folder


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("passages.jsonl", '"a_id"\n'),
        ("passages.jsonl", DEEP),
        ("documents.jsonl", f'{{"id": "a", "n_chars": {"9" * 25}}}\n'),
        ("run.json", DEEP),
        ("skipped.jsonl", DEEP),
    ],
)
def test_damaged_results_are_told_of(results: Path, tmp_path: Path, name: str, content: str) -> None:
    """They ended in an AttributeError, an OverflowError, a RecursionError."""
    folder = tmp_path / "out"
    shutil.copytree(results, folder)
    material_of_folder(folder)
    (folder / name).write_text(content)
    with pytest.raises(InputError, match=name):
        material_of_folder(folder)


def test_nesting_without_end_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "truth.jsonl"
    path.write_text(DEEP)
    with pytest.raises(InputError, match="line 1 is not JSON"):
        read_passages(path)
    with pytest.raises(InputError, match="is not a sampling plan"):
        ibidem.SamplingPlan.load(path)


@pytest.mark.parametrize(
    "before",
    ["<!-->", "<!--->", "<svg><style>", '<p =">', "<p a='>'b=\">\">"],
    ids=["whole comment", "whole comment with a dash", "style that is parsed", "quote that is a name", "signs in values"],
)
def test_nothing_hides_lists_from_being_counted(before: str) -> None:
    """What is before them is another thing to browsers than it looks like."""
    page = before + "".join(f"<ul><li>item{number}" for number in range(3_000))
    found = extract_text(page, main_content=False)
    assert [word for word in found.split() if word.isalnum()] == [f"item{number}" for number in range(3_000)]
    assert len(found) < 60 * 3_000


def test_ends_of_what_is_not_open_end_nothing() -> None:
    page = "".join(f"</ol></div><ul><li>item{number}" for number in range(3_000))
    assert len(extract_text(page, main_content=False)) < 60 * 3_000


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["9999-12-31T23:30:00-03:30", "2024-05-01T00:00:00Z"]),
        pa.array(["0001-01-01T00:00:00+03:30", "2024-05-01T00:00:00Z"]),
        pa.array([10**18, 1714521600 * 10**6], pa.timestamp("us")),
        pa.array([-(10**18), 1714521600 * 10**6], pa.timestamp("us", tz="UTC")),
        pa.array([2**62, 1714521600], pa.timestamp("s")),
        pa.array([10**17, 1714521600 * 1000], pa.timestamp("ms")),
        pa.array([2**31 - 1, 19844], pa.date32()),
        pa.array([2**62, 1714521600 * 1000], pa.date64()),
    ],
    ids=str,
)
def test_times_that_nobody_can_write_are_none(column: pa.Array) -> None:
    """They were in no year that Python has, or wrapped around to another one."""
    expected = [None, datetime(2024, 5, 1, tzinfo=timezone.utc)]
    assert from_array(column).to_pylist() == expected
    told: list[ReadingRemark] = []
    table = pa.table({"text": ["One.", "Two."], "time": column})
    batches = list(read_batches(table, Config().documents, pytest.fail, None, told.append))
    assert [moment for batch in batches for moment in batch.column("time").to_pylist()] == expected
    assert [unread.count for unread in told] == [1]


def test_a_span_of_time_is_no_time() -> None:
    assert from_array(pa.array([10**18], pa.duration("s"))).to_pylist() == [None]


def test_the_first_and_the_last_time_are_read() -> None:
    written = ["0001-01-01T00:00:00", "9999-12-31T23:59:59.999999"]
    assert [str(moment) for moment in from_array(pa.array(written)).to_pylist()] == [
        "0001-01-01 00:00:00+00:00",
        "9999-12-31 23:59:59.999999+00:00",
    ]


def test_further_fields_that_python_cannot_hold_are_none() -> None:
    """They ended the reading, and with it the report."""
    no_text = pa.StringArray.from_buffers(2, pa.py_buffer(struct.pack("<3i", 0, 2, 3)), pa.py_buffer(b"\xff\xfea"))
    table = pa.table({"text": ["One.", "Two."], "published": pa.array([10**18, 0], pa.timestamp("us")), "title": no_text})
    assert [document.fields for document in ibidem.read(table)] == [
        {"published": None, "title": None},
        {"published": datetime(1970, 1, 1), "title": "a"},
    ]


def test_rows_that_arrow_loses_are_told_of(tmp_path: Path) -> None:
    """A damaged column that nobody asked for took all rows away, and nothing was said."""
    path = tmp_path / "a.parquet"
    columns = {"text": ["One.", "Two."], "seen": pa.array([1714521600, 10**14], pa.timestamp("ms"))}
    pq.write_table(pa.table(columns), path, compression="none", use_dictionary=False, write_statistics=False)
    whole = path.read_bytes()
    lost = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        skipped: list[ibidem.Skipped] = []
        try:
            n_read = len(list(ibidem.read(str(path), on_skip=skipped.append)))
        except InputError:
            continue
        assert n_read == 2 or skipped, place
        lost += any("but its metadata says" in record.reason for record in skipped)
    assert lost > 0


def test_results_that_tell_of_an_input_without_a_path(tmp_path: Path) -> None:
    """The report ended in an error of Python's."""
    out = tmp_path / "out"
    ibidem.find([{"id": "a", "text": "One two three."}]).write(out)
    run = json.loads((out / "run.json").read_text())
    run["inputs"] = [{"modified": "2020-01-01T00:00:00+00:00", "bytes": 3}]
    (out / "run.json").write_text(json.dumps(run))
    assert material_of_folder(out).changed_inputs() == []
