"""Inputs that are damaged, mistaken or hostile: what `docs/operations/bad-input.md` lists, and the tests try."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import random
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Content = bytes | Callable[[Path], object]
GOOD_NAME = "good.jsonl"
SENTENCE = "The harbour froze over in the night, and nobody sailed out for three weeks."


@dataclass(frozen=True)
class Case:
    """One bad input: what is wrong, the files that make it, and how the command is called beside a good file.

    `inputs` are the names that are given, all files if none are; `flags` are further words of the call. A large one takes
    some seconds to make and to read.
    """

    title: str
    files: Mapping[str, Content]
    inputs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    verb: str = "find"
    needs_permissions: bool = field(default=False, kw_only=True)
    is_large: bool = field(default=False, kw_only=True)

    def make(self, folder: Path) -> list[str]:
        """Write the files into a folder, and return the words of the call, to be made in that folder."""
        (folder / GOOD_NAME).write_bytes(lines({"id": "good-1", "text": SENTENCE}, {"id": "good-2", "text": SENTENCE}))
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            else:
                content(path)
        return [self.verb, *self.flags, "-o", "out", "--", GOOD_NAME, *(self.inputs or self.files)]


def lines(*records: Any) -> bytes:
    """Return records as JSON lines; bytes are lines as they are."""
    return b"".join((record if isinstance(record, bytes) else json.dumps(record).encode()) + b"\n" for record in records)


def many(n_records: int = 2000) -> bytes:
    """Return JSON lines that no compression makes small."""
    noise = random.Random(1)
    return lines(*({"id": f"bad-{number}", "text": noise.randbytes(150).hex()} for number in range(1, n_records + 1)))


def table(columns: Mapping[str, Any], **settings: Any) -> bytes:
    """Return a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), sink, **settings)
    return sink.getvalue()


def flipped(data: bytes, place: int, n_bytes: int = 1) -> bytes:
    """Return data with every bit of some bytes turned over."""
    return data[:place] + bytes(byte ^ 0xFF for byte in data[place : place + n_bytes]) + data[place + n_bytes :]


def warc(*pages: tuple[str, bytes], length: int | None = None) -> list[bytes]:
    """Return the records of a web archive, the last one perhaps with a wrong length."""
    records = []
    for number, (url, page) in enumerate(pages, 1):
        body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + page
        n_bytes = len(body) if length is None or number < len(pages) else length
        head = [
            "WARC/1.0", "WARC-Type: response", f"WARC-Target-URI: {url}", f"WARC-Record-ID: <urn:uuid:{number}>",
            "Content-Type: application/http; msgtype=response", f"Content-Length: {n_bytes}", "", "",
        ]  # fmt: skip
        records.append("\r\n".join(head).encode() + body + b"\r\n\r\n")
    return records


def zstd(data: bytes) -> bytes:
    """Return data as zst."""
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def bomb(n_bytes: int, beginning: bytes) -> Callable[[Path], object]:
    """Return what writes a small gzip file of very many equal letters."""

    def write(path: Path) -> None:
        with gzip.open(path, "wb", compresslevel=6) as file:
            file.write(beginning)
            for _ in range(n_bytes >> 20):
                file.write(b"a" * (1 << 20))

    return write


def packed_lines(n_lines: int) -> Callable[[Path], object]:
    """Return what writes a small zst file of long lines."""

    def write(path: Path) -> None:
        with pa.CompressedOutputStream(str(path), "zstd") as file:
            for number in range(n_lines):
                file.write(lines({"id": f"bad-{number}", "text": "Words. " * 150_000}))

    return write


def one_text(n_rows: int) -> Callable[[Path], object]:
    """Return what writes a small Parquet file with one long text in all rows, which is stored once."""
    places = pa.array([0] * n_rows, pa.int32())

    def write(path: Path) -> None:
        text = pa.DictionaryArray.from_arrays(places, pa.array(["Words. " * 150_000], pa.large_string()))
        ids = [f"bad-{number}" for number in range(n_rows)]
        pq.write_table(pa.table({"id": ids, "text": text}), path, dictionary_pagesize_limit=1 << 30, compression="zstd")

    return write


def link(target: str) -> Callable[[Path], object]:
    """Return what makes a symbolic link."""
    return lambda path: path.symlink_to(target)


def listen(path: Path) -> None:
    """Make a socket; its name stays when it is closed."""
    here = os.getcwd()
    os.chdir(path.parent)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


def forbidden(path: Path) -> None:
    """Make a file that nobody may read."""
    path.write_bytes(b"words")
    path.chmod(0)


def forbidden_folder(path: Path) -> None:
    """Make a folder that nobody may look into."""
    path.mkdir()
    path.chmod(0)


PAGES = [(f"http://example.org/{number}", f"<p>Page {number}. {SENTENCE}</p>".encode()) for number in range(1, 6)]
ROWS = {"id": [f"bad-{number}" for number in range(1, 1001)], "text": [f"Text {number}." for number in range(1, 1001)]}
NUMBERED = [{"id": f"bad-{number}", "text": f"Text {number}."} for number in range(1, 4)]
CSV_ROWS = b"id,text\nbad-1,one\n"
PARQUET = table(ROWS, row_group_size=500, compression="none", use_dictionary=False)
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + random.Random(2).randbytes(4000)
ZIP = b"PK\x03\x04\x14\0\x06\0\x08\0" + random.Random(3).randbytes(4000)

SECTIONS: dict[str, list[Case]] = {
    "Compression": [
        Case("gzip cut off in the middle", {"bad.jsonl.gz": gzip.compress(many(), mtime=0)[:200_000]}),
        Case("zst cut off in the middle", {"bad.jsonl.zst": zstd(many())[:200_000]}),
        Case("bz2 cut off in the middle", {"bad.jsonl.bz2": bz2.compress(many())[:200_000]}),
        Case("gzip with other bytes behind it", {"bad.jsonl.gz": gzip.compress(lines(*NUMBERED), mtime=0) + b"garbage " * 9}),
        Case("zst with other bytes behind it", {"bad.jsonl.zst": zstd(lines(*NUMBERED)) + b"garbage " * 9}),
        Case("gzip with a wrong checksum", {"bad.jsonl.gz": flipped(gzip.compress(many(), mtime=0), -8, 4)}),
        Case("gzip damaged in the middle", {"bad.jsonl.gz": flipped(gzip.compress(many(), mtime=0), 200_000, 40)}),
        Case("an empty file called .gz", {"bad.jsonl.gz": b""}),
        Case("plain text called .gz", {"bad.jsonl.gz": lines(*NUMBERED)}),
        Case("gzip that is not called .gz", {"bad.jsonl": gzip.compress(lines(*NUMBERED), mtime=0)}),
        Case("gzip inside gzip", {"bad.jsonl.gz": gzip.compress(gzip.compress(lines(*NUMBERED), mtime=0), mtime=0)}),
        Case(
            "1 MB of gzip that unfolds to a line of 1.2 GB",
            {"bad.jsonl.gz": bomb(1200 << 20, lines(*NUMBERED) + b'{"text": "')},
            is_large=True,
        ),
        Case("1 MB of gzip that unfolds to a text of 1.2 GB", {"bad.txt.gz": bomb(1200 << 20, b"")}, is_large=True),
        Case("50 kB of zst that unfold to 400 MB of lines", {"bad.jsonl.zst": packed_lines(400)}, is_large=True),
        Case("50 kB of Parquet with one text of 1 MB in 20,000 rows", {"bad.parquet": one_text(20_000)}, is_large=True),
    ],
    "JSON lines": [
        Case("a broken line", {"bad.jsonl": lines(NUMBERED[0], b'{"id": "bad-2", "text": "two', NUMBERED[2])}),
        Case("lines that are no objects", {"bad.jsonl": lines(NUMBERED[0], 5, [], "text", None, NUMBERED[2])}),
        Case("texts that are no texts", {"bad.jsonl": lines(*({"text": value} for value in (None, 5, ["a"], {}, True)), {})}),
        Case("a text field that is not there", {"bad.jsonl": lines(*NUMBERED)}, flags=("--text-field", "body")),
        Case("NaN, Infinity and a number of 10,000 digits", {
            "bad.jsonl": lines(b'{"text": "one", "n": NaN, "m": -Infinity}', b'{"text": "two", "n": ' + b"9" * 10_000 + b"}")
        }),
        Case("a name that stands twice", {"bad.jsonl": lines(b'{"id": "bad-1", "text": "first", "text": "last"}')}),
        Case("a byte order mark, CRLF, empty lines", {
            "bad.jsonl": b"\xef\xbb\xbf" + lines(*NUMBERED).replace(b"\n", b"\r\n\r\n")
        }),
        Case("UTF-16", {"bad.jsonl": lines(*NUMBERED).decode().encode("utf-16")}),
        Case("UTF-16 without a byte order mark", {"bad.jsonl": lines(*NUMBERED).decode().encode("utf-16-le")}),
        Case("Latin-1 in one line", {"bad.jsonl": lines(NUMBERED[0], b'{"id": "bad-2", "text": "caf\xe9"}', NUMBERED[2])}),
        Case("lone surrogates, escaped and raw", {
            "bad.jsonl": lines(b'{"text": "a \\ud800 b"}', b'{"text": "a \xed\xa0\x80 b"}', b'{"id": "\\udc80", "text": "b"}')
        }),
        Case("a hole of NUL bytes, as crashes leave them", {"bad.jsonl": lines(NUMBERED[0], bytes(5000), NUMBERED[2])}),
        Case("lists nested 100,000 deep", {
            "bad.jsonl": lines(b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", NUMBERED[1])
        }),
        Case("a text of 40 MB in one line", {"bad.jsonl": lines({"id": "bad-1", "text": "word " * 8_000_000}, NUMBERED[1])}),
        Case("a JSON array, one record a line", {"bad.jsonl": b"[\n" + b",\n".join(map(lines, NUMBERED)) + b"]\n"}),
        Case("an id that stands twice", {"bad.jsonl": lines(NUMBERED[0], NUMBERED[0])}),
        Case("no final line break, cut in the middle", {"bad.jsonl": lines(*NUMBERED)[:-10]}),
        Case("an empty file", {"bad.jsonl": b""}),
    ],
    "JSON": [
        Case("an array cut off in the middle", {"bad.json": json.dumps(NUMBERED, indent=1).encode()[:-30]}),
        Case("a break in the middle", {"bad.json": json.dumps(NUMBERED, indent=1).encode().replace(b'"bad-3"', b"bad-3")}),
        Case("a second array behind the first", {"bad.json": json.dumps(NUMBERED).encode() * 2}),
        Case("lists nested 100,000 deep", {"bad.json": b'[{"text": "one"}, ' + b"[" * 100_000 + b"]" * 100_000 + b"]"}),
        Case("an object around the array", {"bad.json": json.dumps({"data": NUMBERED}).encode()}),
        Case("a large field besides the text", {
            "bad.json": json.dumps([record | {"html": "x" * 1_000_000} for record in NUMBERED]).encode()
        }),
        Case("UTF-16", {"bad.json": json.dumps(NUMBERED).encode("utf-16")}),
        Case("an empty file", {"bad.json": b""}),
    ],
    "CSV": [
        Case("no column for the text", {"bad.csv": b"id,body\nbad-1,one\n"}),
        Case("rows of different lengths", {"bad.csv": CSV_ROWS + b"bad-2\nbad-3,three,more\nbad-4,four\n"}),
        Case("an unclosed quotation mark", {"bad.csv": CSV_ROWS + b'bad-2,"two\nbad-3,three\nbad-4,four\n'}),
        Case("NUL bytes", {"bad.csv": CSV_ROWS + b"bad-2,t\0wo\nbad-3," + b"\0" * 50 + b"\nbad-4,four\n"}),
        Case("another delimiter", {"bad.csv": b"id|text\nbad-1|one\n"}),
        Case("semicolons", {"bad.csv": b"id;text\nbad-1;one, two\n"}),
        Case("Latin-1 in one row", {"bad.csv": CSV_ROWS + b"bad-2,caf\xe9\nbad-3,three\n"}),
        Case("UTF-16, as spreadsheets write it", {"bad.csv": "id,text\nbad-1,one\n".encode("utf-16")}),
        Case("an empty file", {"bad.csv": b""}),
        Case("a header and no rows", {"bad.csv": b"id,text\n"}),
    ],
    "Parquet": [
        Case("cut off in the middle", {"bad.parquet": PARQUET[: len(PARQUET) // 2]}),
        Case("an empty file", {"bad.parquet": b""}),
        Case("bits turned over in the second row group", {"bad.parquet": flipped(PARQUET, len(PARQUET) // 2 + 1500, 200)}),
        Case("bits turned over in the footer", {"bad.parquet": flipped(PARQUET, len(PARQUET) - 200, 20)}),
        Case("no column for the text", {"bad.parquet": table({"id": ["bad-1"], "body": ["one"]})}),
        Case("numbers for texts", {"bad.parquet": table({"text": [1, 2]})}),
        Case("lists for texts", {"bad.parquet": table({"text": [["one"], ["two"]]})}),
        Case("bytes for texts, some no UTF-8", {"bad.parquet": table({"text": [b"one", b"caf\xe9", b"three"]})}),
        Case("a dictionary of texts", {"bad.parquet": table({"text": pa.array(["one", "two", None]).dictionary_encode()})}),
        Case("nulls only", {"bad.parquet": table({"text": pa.nulls(2)})}),
        Case("a text of 1 MB in 300 rows, stored once", {"bad.parquet": table({"text": ["word " * 200_000] * 300})}),
        Case("another file called .parquet", {"bad.parquet": lines(*NUMBERED)}),
        Case("a folder called .parquet, as Spark writes it", {
            "bad.parquet/part-0.parquet": table({"text": ["one"]}), "bad.parquet/_SUCCESS": b""
        }, ("bad.parquet",)),
    ],
    "Web archives": [
        Case("cut off in the middle", {"bad.warc": b"".join(warc(*PAGES))[:-100]}),
        Case("a length that is too great", {"bad.warc": b"".join(warc(*PAGES, length=5000))}),
        Case("a length that is too small", {"bad.warc": b"".join(warc(*PAGES[:2], length=80) + warc(*PAGES[2:]))}),
        Case("garbage between two records", {"bad.warc": b"".join([*warc(*PAGES[:2]), b"garbage\r\n" * 9, *warc(*PAGES[2:])])}),
        Case("a gzip member that is damaged", {
            "bad.warc.gz": b"".join(
                flipped(member, 150, 20) if number == 2 else member
                for number, member in enumerate(gzip.compress(record, mtime=0) for record in warc(*PAGES))
            )
        }),
        Case("another file called .warc", {"bad.warc": lines(*NUMBERED)}),
    ],
    "HTML and text": [
        Case("100,000 elements inside one another", {"bad.html": b"<div>" * 100_000 + b"words" + b"</div>" * 100_000}),
        Case("100,000 elements that are never closed", {"bad.html": b"<div/>" * 100_000 + b"words"}),
        Case("300,000 attributes in one tag", {
            "bad.html": b"<p " + b" ".join(b'a%d="<"' % number for number in range(300_000)) + b">words</p>"
        }),
        Case("an attribute of 10 MB", {"bad.html": b'<p title="' + b"<" * 10_000_000 + b'">words</p>'}),
        Case("characters that there are not", {"bad.html": b"<p>one &#xd800; &#x110000; &nosuch; two</p>"}),
        Case("a script that is never closed", {"bad.html": b"<p>words</p><script>" + b"x" * 1_000_000}),
        Case("bytes that are no UTF-8", {"bad.txt": b"caf\xe9 au lait"}),
        Case("UTF-16", {"bad.txt": "words".encode("utf-16")}),
        Case("a picture called .txt", {"bad.txt": PNG}),
        Case("a picture called .txt, read as Latin-1", {"bad.txt": PNG}, flags=("--encoding", "latin-1")),
        Case("empty, and blank", {"bad-1.txt": b"", "bad-2.txt": b" \n\n "}),
    ],
    "Files, folders and names": [
        Case("a file that is not there", {}, ("bad.jsonl",)),
        Case("a broken link", {"bad.txt": link("nowhere.txt")}),
        Case("a link to itself", {"bad.txt": link("bad.txt")}),
        Case("a link back to the folder that it is in", {"bad/one.txt": b"words", "bad/again": link(".")}, ("bad",)),
        Case("a file that may not be read", {"bad.txt": forbidden}, needs_permissions=True),
        Case("a folder that may not be read, in another", {
            "bad/closed": forbidden_folder, "bad/one.txt": b"words"
        }, ("bad",), needs_permissions=True),
        Case("a named pipe in a folder", {"bad/pipe.txt": os.mkfifo, "bad/one.txt": b"words"}, ("bad",)),
        Case("a named pipe that nobody writes to", {"bad.jsonl": os.mkfifo}),
        Case("a socket", {"bad.txt": listen}),
        Case("a socket in a folder", {"bad/bad.txt": listen, "bad/one.txt": b"words"}, ("bad",)),
        Case("/dev/null", {}, ("/dev/null",)),
        Case("/dev/zero, which never ends", {}, ("/dev/zero",)),
        Case("a link to /dev/zero called .jsonl", {"bad.jsonl": link("/dev/zero")}),
        Case("/dev/urandom", {}, ("/dev/urandom",)),
        Case("a folder called .jsonl", {"bad.jsonl/one.txt": b"words"}, ("bad.jsonl",)),
        Case("a name with a line break, and one with an escape", {"bad\n1.txt": b"\xff", "bad\x1b[31m2.txt": b"\xff"}),
        Case("names that are no UTF-8", {os.fsdecode(b"caf\xe9.txt"): b"words", os.fsdecode(b"bad\x80.jsonl"): b"broken\n"}),
        Case("quotation marks and a dash in names", {"-bad.txt": b"words", "ba'd\".txt": b"words"}),
        Case("a file given twice, and in its folder", {"bad/one.txt": b"words"}, ("bad/one.txt", "bad", "./bad/one.txt")),
        Case("a link to a file that is read too", {"bad/one.txt": b"words", "bad/two.txt": link("one.txt")}, ("bad",)),
        Case("kinds that are not known, in a folder", {
            "bad/a.xlsx": ZIP, "bad/b.xlsx": ZIP, "bad/c.png": PNG, "bad/one.txt": b"words"
        }, ("bad",)),
        Case("kinds that are not known, named", {
            "bad.xlsx": ZIP, "bad.png": PNG, "pdf.txt": b"%PDF-1.7\n%\xe2\xe3\n", "rtf.txt": b"{\\rtf1 words}"
        }),
        Case("not what their names say", {
            "bad.docx": ZIP, "bad.odt": b"words", "bad.pdf": b"words", "bad.rtf": b"words", "bad.eml": b"Dear all, words",
            "bad.mbox": b"Dear all, words",
        }),
        Case("PDF cut off in the middle", {"bad.pdf": b"%PDF-1.7\n%\xe2\xe3\n"}),
        Case("XML that is broken, of an unknown kind, or defines entities", {
            "a.xml": b"<TEI><text>words</TEI>", "b.xml": b"<doc><p>words</p></doc>",
            "c.xml": b'<!DOCTYPE TEI [<!ENTITY a "words"><!ENTITY b "&a;&a;">]><TEI><text>&b;</text></TEI>',
        }),
        Case("a folder without anything to read", {"bad/readme": b"words"}, ("bad",)),
    ],
    "Settings that do not fit": [
        Case("an id field that is not there", {"bad.jsonl": lines(*NUMBERED)}, flags=("--id-field", "key")),
        Case("a time field that is not there", {"bad.jsonl": lines(*NUMBERED)}, flags=("--time-field", "when")),
        Case("times in no known form", {"bad.jsonl": lines(NUMBERED[0] | {"time": "yesterday"})}),
        Case("an encoding that is not known", {"bad.jsonl": lines(*NUMBERED)}, flags=("--encoding", "utf-9")),
        Case("a record that cannot be used, with --strict", {"bad.jsonl": lines(*NUMBERED, b"broken")}, flags=("--strict",)),
    ],
    "Other verbs": [
        Case("cluster: gzip cut off in the middle", {
            "bad.jsonl.gz": gzip.compress(many(), mtime=0)[:200_000]
        }, verb="cluster"),
        Case("dedup: gzip cut off in the middle", {"bad.jsonl.gz": gzip.compress(many(), mtime=0)[:200_000]}, verb="dedup"),
        Case("dedup: an unclosed quotation mark", {
            "bad.csv": CSV_ROWS + b'bad-2,"one\nbad-3,one\nbad-4,four\n'
        }, verb="dedup"),
        Case("dedup: no column for the text", {"bad.parquet": table({"id": ["bad-1"], "body": ["one"]})}, verb="dedup"),
        Case("dedup: a name that is no UTF-8", {os.fsdecode(b"caf\xe9.jsonl"): lines(*NUMBERED)}, verb="dedup"),
        Case("dedup: a socket", {"bad.txt": listen}, verb="dedup"),
    ],
}  # fmt: skip
