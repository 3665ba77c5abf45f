"""Text, HTML, web archives and mailboxes: files and records that go or stay as a whole."""

from __future__ import annotations

import gzip
import itertools
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.config import DocumentsConfig
from ibidem.errors import InputError
from ibidem.formats import mbox_files
from ibidem.formats.copies import check_cuts_possible
from ibidem.formats.decisions import Decision
from ibidem.formats.inputs import resolve_inputs
from tests.formats.copy_oracle import (
    COMPRESSIONS,
    apply,
    check_copy,
    clean,
    decided,
    decompressed,
    documents,
    folders,
    read_all,
    texts,
)


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "gb18030"])
def test_a_text_keeps_its_encoding(tmp_path: Path, suffix: str, encoding: str) -> None:
    text = "\u00e9 one\r\ntwo \u00fc\nthree"
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(COMPRESSIONS[suffix](text.encode(encoding)))
    read_as = "utf-8" if encoding == "utf-8-sig" else encoding
    copy = check_copy(path, {(str(path), 0): Decision(cuts=((1, 5), (10, 11)))}, tmp_path / "out", encoding=read_as)
    assert decompressed(copy) == (text[:1] + text[5:10] + text[11:]).encode(encoding)


def test_a_text_without_a_byte_order_mark_gets_none(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("one two".encode("utf-16").removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff"))
    copy = check_copy(path, {(str(path), 0): Decision(cuts=((0, 4),))}, tmp_path / "out", encoding="utf-16")
    assert copy.read_bytes() == "two".encode("utf-16").removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff")


def test_files_of_a_folder(tmp_path: Path) -> None:
    files = {
        "a.txt": b"\xef\xbb\xbfstays",
        "sub/b.md": b"goes",
        "sub/c.html": b"<p>stays",
        "sub/d.html": b"<p>goes",
        "e.txt": b"caf\xe9 is no UTF-8",
        "f.txt.gz": gzip.compress(b"stays"),
        "g.txt.gz": gzip.compress(b"damaged" * 1000)[:-9],
        "sub/ignored.pptx": b"not read",
    }
    for name, data in files.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(data)
    gone = ["sub/b.md", "sub/d.html"]
    found = {(str(tmp_path / "in" / name), 0): Decision(drop=True) for name in gone}
    out = tmp_path / "out"
    written = clean(tmp_path / "in", found, out)
    copies = {path.relative_to(out).as_posix(): path.read_bytes() for path in written}
    assert copies == {name: data for name, data in files.items() if name not in [*gone, "sub/ignored.pptx"]}


def record(kind: str, url: str, body: bytes, number: int) -> bytes:
    block = body if kind != "response" else b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{number}>\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


@st.composite
def archives(draw: Any) -> list[bytes]:
    kinds = st.sampled_from(["response", "response", "response", "request", "warcinfo", "metadata", "strange"])
    random_bytes = random.Random(1)
    return [
        record(
            draw(kinds),
            f"http://a.example/{number}",
            draw(st.sampled_from([b"", b"<p>page", b"<p>" + random_bytes.randbytes(100).hex().encode() * 300, b"\x89PNG"])),
            number,
        )
        for number in range(draw(st.integers(0, 8)))
    ]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_archive(data: Any) -> None:
    with folders() as (inputs, output):
        suffix = data.draw(st.sampled_from(list(COMPRESSIONS)))
        records = data.draw(archives())
        way = data.draw(st.sampled_from(["by record", "as one", "by two"]))
        size = {"by record": 1, "as one": max(1, len(records)), "by two": 2}[way]
        members = [b"".join(records[start : start + size]) for start in range(0, len(records), size)]
        path = inputs / f"crawl.warc{suffix}"
        path.write_bytes(b"".join(map(COMPRESSIONS[suffix], members)))
        found = data.draw(decided(texts(path), with_cuts=False))
        copy = check_copy(path, found, output)
        numbers = itertools.accumulate(b"WARC-Type: response" in part for part in records)
        gone = [
            b"WARC-Type: response" in part and (str(path), number) in found
            for part, number in zip(records, numbers, strict=True)
        ]
        kept = [part for part, is_gone in zip(records, gone, strict=True) if not is_gone]
        assert decompressed(copy) == b"".join(kept)
        if way == "by record" and (suffix in ("", ".gz") and kept):
            assert copy.read_bytes() == b"".join(map(COMPRESSIONS[suffix], kept))
        if suffix == ".gz" and found and way == "as one":
            assert copy.read_bytes().count(b"\x1f\x8b\x08") >= len(kept)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_records_of_a_broken_archive_are_counted_as_the_reader_counts(data: Any) -> None:
    with folders() as (inputs, output):
        suffix = data.draw(st.sampled_from(["", ".gz"]))
        content = bytearray(b"".join(data.draw(archives())))
        for _ in range(data.draw(st.integers(0, 3)) if content else 0):
            place = data.draw(st.integers(0, len(content) - 1))
            other = data.draw(st.sampled_from([b"", b"x", b"\r\n", b"\r\n\r\n"]))
            content[place : place + data.draw(st.integers(0, 3))] = other
        path = inputs / f"crawl.warc{suffix}"
        path.write_bytes(COMPRESSIONS[suffix](bytes(content)))
        found = data.draw(decided(texts(path), with_cuts=False))
        expected = [document.text for document in apply(read_all(path)[0], found)]
        (copy,) = clean(path, found, output, damaged=[str(path)])
        assert [document.text for document in documents(copy)[0]][: len(expected)] == expected


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_what_follows_a_break_in_an_archive_stays(tmp_path: Path, suffix: str) -> None:
    records = [record("response", f"http://a.example/{n}", b"<p>page %d" % n, n) for n in range(3)]
    parts = [*records[:2], b"garbage\r\n\r\n", records[2]]
    path = tmp_path / f"crawl.warc{suffix}"
    path.write_bytes(b"".join(map(COMPRESSIONS[suffix], parts)))
    found = {(str(path), 2): Decision(drop=True)}
    assert list(texts(path)) == [(str(path), 1), (str(path), 2)]
    with pytest.raises(InputError, match="cannot be read to its end"):
        clean(path, found, tmp_path / "out")
    (copy,) = clean(path, found, tmp_path / "out", damaged=[str(path)])
    assert decompressed(copy) == records[0] + parts[2] + parts[3]


def test_a_truncated_archive(tmp_path: Path) -> None:
    bodies = [random.Random(n).randbytes(50_000).hex().encode() for n in range(3)]
    records = [record("response", f"http://a.example/{n}", body, n) for n, body in enumerate(bodies)]
    members = [gzip.compress(part) for part in records]
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(b"".join(members)[:-40])
    found = {(str(path), 1): Decision(drop=True)}
    (copy,) = clean(path, found, tmp_path / "out", damaged=[str(path)])
    assert copy.read_bytes() == (members[1] + members[2])[:-40]


LETTERS = [
    b"",
    b"\n",
    b"words\n",
    b"From here\n\nFrom there\n",
    b">From us\n\n",
    b"x" * 3000 + b"\n\n",
    b"a\r\n\r\n",
    b"cut off",
]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_mailbox(data: Any) -> None:
    with folders() as (inputs, output), pytest.MonkeyPatch.context() as patch:
        patch.setattr(mbox_files, "_READ_BYTES", data.draw(st.sampled_from([5, 1000, 1 << 20])))
        patch.setattr(mbox_files, "MAX_RECORD_BYTES", data.draw(st.sampled_from([2000, 1 << 20])))
        suffix = data.draw(st.sampled_from(list(COMPRESSIONS)))
        begin = b"From a@example.org Mon May  5 10:00:00 2031\n"
        letters = [
            b"%sSubject: %d\n\n%s\n\n" % (begin, number, letter)
            for number, letter in enumerate(data.draw(st.lists(st.sampled_from(LETTERS), min_size=1, max_size=7)))
        ]
        path = inputs / f"all.mbox{suffix}"
        path.write_bytes(COMPRESSIONS[suffix](b"".join(letters)))
        found = data.draw(decided(texts(path), with_cuts=False))
        copy = check_copy(path, found, output)
        kept = [letter for number, letter in enumerate(letters, 1) if (str(path), number) not in found]
        assert decompressed(copy) == b"".join(kept)


@pytest.mark.parametrize("name", ["a.html", "a.warc", "a.jsonl", "a.csv"])
def test_texts_cannot_be_cut_out_of_html(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    content = {
        "a.html": b"<p>one two",
        "a.warc": record("response", "http://a.example/", b"<p>one two", 1),
        "a.jsonl": b'{"text": "<p>one two"}\n',
        "a.csv": b"text\n<p>one two\n",
    }
    path.write_bytes(content[name])
    other = tmp_path / "first.txt"
    other.write_bytes(b"stays")
    html = name in ("a.jsonl", "a.csv")
    inputs = [other, path]
    ((place, text),) = texts(path, html=html).items()
    assert text == "one two"
    with pytest.raises(InputError, match=rf"{name}.*HTML"):
        clean(inputs, {place: Decision(cuts=((0, 4),))}, tmp_path / "out", html=html)
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match=rf"{name}.*HTML"):
        check_cuts_possible(resolve_inputs(inputs), DocumentsConfig(html=html))
    written = clean(inputs, {place: Decision(drop=True)}, tmp_path / "out", html=html)
    assert documents([str(path) for path in written], html=html)[0][0].text == "stays"
    assert len(documents([str(path) for path in written], html=html)[0]) == 1


def test_a_name_that_says_nothing(tmp_path: Path) -> None:
    for name, content, text in [("lines", b'{"text": "one two"}', "two"), ("words", b"one two", "two")]:
        path = tmp_path / name
        path.write_bytes(content)
        ((place, _),) = texts(path).items()
        copy = check_copy(path, {place: Decision(cuts=((0, 4),))}, tmp_path / f"out of {name}")
        assert [document.text for document in documents(copy)[0]] == [text]


def test_damaged_files_are_copied_as_far_as_they_go(tmp_path: Path) -> None:
    lines = [b'{"text": "%s"}\n' % random.Random(n).randbytes(5000).hex().encode() for n in range(50)]
    path = tmp_path / "docs.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(lines))[:-50])
    (copy,) = clean(path, {}, tmp_path / "same")
    assert copy.read_bytes() == path.read_bytes()
    n_read = len(texts(path))
    assert 10 < n_read < 50
    found = {(str(path), 3): Decision(drop=True)}
    with pytest.raises(InputError, match="cannot be read to its end"):
        clean(path, found, tmp_path / "out")
    (copy,) = clean(path, found, tmp_path / "out", damaged=[str(path)])
    lines.pop(2)
    assert b"".join(lines).startswith(decompressed(copy))
    assert decompressed(copy).startswith(b"".join(lines[: n_read - 1]))


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    (tmp_path / "unknown").write_bytes(b"\x1f\x8bnonsense")
    for name, copies in [("gone.txt", 0), ("unknown", 1)]:
        path = str(tmp_path / name)
        for marks in (None, pa.schema({"m": pa.bool_()})):
            out = tmp_path / f"out{name}{marks is None}"
            with pytest.raises(InputError, match="cannot be read"):
                clean(path, {}, out, marks)
            assert len([copy for copy in clean(path, {}, out, marks, damaged=[path]) if copy.name == name]) == copies
