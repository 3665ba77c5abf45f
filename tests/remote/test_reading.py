"""Inputs elsewhere are read as the same files here: every format and compression; failures are errors that say where."""

from __future__ import annotations

import gzip
import json
import random
import ssl
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from ibidem.config import DocumentsConfig
from ibidem.config.addresses import shown_address
from ibidem.errors import InputError, ResourceError
from ibidem.formats import describe_inputs, read, read_batches, remote_streams
from ibidem.formats.remote_access import tried
from ibidem.formats.remote_files import look_up
from ibidem.formats.remote_streams import RemoteStream
from ibidem.model import Skipped
from tests.remote.web_server import Site

pytest.importorskip("s3fs")  # of the extra `remote`
# After an answer that is an error, fsspec leaves the connection to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
RECORDS = [{"id": f"n{number}", "text": f"This is text number {number}. " * 20, "time": "2031-05-04"} for number in range(3000)]
LINES = b"".join(json.dumps(record).encode() + b"\n" for record in RECORDS)


def rows_of(inputs: Any, **config: Any) -> tuple[list[dict[str, Any]], list[Skipped]]:
    skipped: list[Skipped] = []
    batches = list(read_batches(inputs, DocumentsConfig(**config), skipped.append))
    return [row for batch in batches for row in batch.to_pylist()], skipped


def ids(inputs: Any, **config: Any) -> list[str]:
    return [row["id"] for row in rows_of(inputs, **config)[0]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The same records in several formats."""
    folder = tmp_path_factory.mktemp("files")
    table = pa.Table.from_pylist(RECORDS)
    pq.write_table(table, folder / "n.parquet", row_group_size=500)
    with pa.CompressedOutputStream(str(folder / "n.jsonl.zst"), "zstd") as packed:
        packed.write(LINES)
    with pa.csv.CSVWriter(folder / "n.csv", table.schema) as writer:
        writer.write_table(table)
    (folder / "n.jsonl").write_bytes(LINES)
    (folder / "n.jsonl.gz").write_bytes(gzip.compress(LINES))
    (folder / "n.json").write_bytes(json.dumps(RECORDS).encode())
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("has_sizes", [True, False])
@pytest.mark.parametrize("has_ranges", [True, False])
def test_formats_on_the_web(site: Site, files: dict[str, bytes], has_ranges: bool, has_sizes: bool) -> None:
    site.has_ranges, site.has_sizes = has_ranges, has_sizes
    site.files = {f"/{name}": data for name, data in files.items()}
    for name in files:
        rows, skipped = rows_of(f"{site.address}/{name}")
        assert not skipped
        assert [row["id"] for row in rows] == [record["id"] for record in RECORDS]
        assert [row["text"] for row in rows] == [record["text"] for record in RECORDS]


def test_formats_on_s3(s3: tuple[Any, str], files: dict[str, bytes]) -> None:
    system, bucket = s3
    for name, data in files.items():
        system.pipe(f"{bucket}/{name}", data)
        assert ids(f"s3://{bucket}/{name}") == [record["id"] for record in RECORDS]


def test_large_files_come_in_parts(site: Site) -> None:
    noise = random.Random(1)
    records = [{"id": str(number), "text": "".join(noise.choices("abcdefgh ", k=3000))} for number in range(8000)]
    lines = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    site.files = {"/n.jsonl": lines}
    reading = read(f"{site.address}/n.jsonl")
    assert next(reading).id == "0"
    assert all(asked is not None for asked in site.bodies())  # never the whole file
    assert [document.id for document in reading] == [record["id"] for record in records[1:]]
    assert max(_length(asked) for asked in site.bodies()) <= remote_streams.MOST_BYTES


def _length(asked: str | None) -> int:
    start, _, end = (asked or "").removeprefix("bytes=").partition("-")
    return int(end) - int(start) + 1


def test_parquet_is_read_by_ranges_and_only_the_columns_that_count(site: Site, tmp_path: Path) -> None:
    noise = random.Random(1)
    table = pa.table(
        {
            "text": [f"This is text {number}." for number in range(300)],
            "picture": [noise.randbytes(200_000) for _ in range(300)],
        }
    )
    pq.write_table(table, tmp_path / "n.parquet", row_group_size=300, compression="none", use_dictionary=False)
    site.files = {"/n.parquet": (tmp_path / "n.parquet").read_bytes()}
    assert len(ids(f"{site.address}/n.parquet")) == 300
    assert sum(map(_length, site.bodies())) < 16_000_000 < 60_000_000 < len(site.files["/n.parquet"])


def test_folders_and_patterns_are_listed_as_they_are_here(
    s3: tuple[Any, str], memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [
        "b.txt", "a/z.md", "a/b/c.txt", "a.txt", ".hidden.txt", ".git/x.txt", "picture.png", "a/_SUCCESS",
        "old/run.json", "old/skipped.jsonl", "old/documents.jsonl", "m.jsonl",
    ]  # fmt: skip
    system, bucket = s3
    for name in names:
        text = LINES[:1000].rpartition(b"\n")[0] if name.endswith(".jsonl") else f"text of {name}".encode()
        (tmp_path / "f" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "f" / name).write_bytes(text)
        system.pipe(f"{bucket}/f/{name}", text)
        memory.pipe(f"/f/{name}", text)
    monkeypatch.chdir(tmp_path)
    for root in (f"s3://{bucket}/f", f"s3://{bucket}/f/", "memory://f"):
        here, elsewhere = rows_of("f"), rows_of(root)
        beginning = root.rstrip("/")
        assert [row["id"] for row in elsewhere[0]] == [row["id"].replace("f/", f"{beginning}/", 1) for row in here[0]]
        assert [row["text"] for row in elsewhere[0]] == [row["text"] for row in here[0]]
        expected = {(f"{beginning}{each.source.removeprefix('f')}", each.reason) for each in here[1]}
        assert {(each.source, each.reason) for each in elsewhere[1]} == expected
        assert ids(f"{beginning}/*.txt") == [f"{beginning}/a.txt", f"{beginning}/b.txt"]
        assert ids(f"{beginning}/**/*.md") == [f"{beginning}/a/z.md"]
    assert ids([f"s3://{bucket}/f/b.txt", "f/a.txt", f"s3://{bucket}/f/b.txt"]) == [f"s3://{bucket}/f/b.txt", "f/a.txt"]


def test_patterns_on_a_web_server_that_lists_its_files(site: Site) -> None:
    site.files = {"/d/a.txt": b"one", "/d/b.txt": b"two", "/d/c.md": b"three"}
    assert ids(f"{site.address}/d/*.txt") == [f"{site.address}/d/a.txt", f"{site.address}/d/b.txt"]


@pytest.mark.parametrize("has_ranges", [True, False])
def test_a_connection_that_breaks_is_taken_up_again(site: Site, has_ranges: bool) -> None:
    site.files, site.has_ranges = {"/n.jsonl": LINES, "/n.jsonl.gz": gzip.compress(LINES)}, has_ranges
    for name in site.files:
        for failures in ([10], [503], [429, 70_000], [100, 100, 200]):
            site.failures = list(failures)
            assert len(ids(site.address + name)) == len(RECORDS)
            assert not site.failures


@pytest.mark.parametrize("has_ranges", [True, False])
@pytest.mark.parametrize("has_sizes", [True, False])
def test_a_connection_that_stays_broken_is_an_error_and_never_fewer_documents(
    site: Site, has_ranges: bool, has_sizes: bool
) -> None:
    site.files = {"/n.jsonl": LINES, "/n.jsonl.gz": gzip.compress(LINES), "/a.txt": b"words " * 100_000}
    site.has_ranges, site.has_sizes = has_ranges, has_sizes
    for name in site.files:
        site.failures = [20] * 100
        with pytest.raises(InputError, match=f"cannot read {site.address}{name}: the connection broke"):
            ids(site.address + name)
        site.failures = []


def test_a_parquet_file_whose_connection_breaks(site: Site, files: dict[str, bytes]) -> None:
    site.files = {"/n.parquet": files["n.parquet"]}
    site.failures = [20, 503]
    assert len(ids(f"{site.address}/n.parquet")) == len(RECORDS)
    site.failures = [20] * 100
    with pytest.raises(InputError, match=f"cannot read {site.address}/n.parquet: "):
        ids(f"{site.address}/n.parquet")


def test_what_is_not_there_or_not_allowed_is_said(site: Site, s3: tuple[Any, str], memory: Any) -> None:
    _, bucket = s3
    site.files = {"/a.txt": b"words"}
    for address in (f"{site.address}/b.txt", f"s3://{bucket}/b.txt", f"s3://{bucket}x/b.txt", "memory://b.txt"):
        with pytest.raises(InputError, match=f"there is no file or folder {address}"):
            ids(address)
    with pytest.raises(InputError, match=r"no file matches s3://.*/\*.txt"):
        ids(f"s3://{bucket}/*.txt")
    site.password = "me:secret"
    with pytest.raises(InputError, match=f"no access to {site.address}/a.txt"):
        ids(f"{site.address}/a.txt")
    assert ids(f"{site.address.replace('://', '://me:secret@')}/a.txt") == [f"{site.address.replace('://', '://…@')}/a.txt"]
    with pytest.raises(InputError, match="unknown protocol nowhere://"):
        ids("nowhere://a.txt")
    with pytest.raises(InputError, match=r"cannot read http://127.0.0.1:9/a\.txt: "):
        ids("http://127.0.0.1:9/a.txt")


def test_credentials_that_do_not_fit(s3: tuple[Any, str], monkeypatch: pytest.MonkeyPatch) -> None:
    system, bucket = s3
    system.pipe(f"{bucket}/a.txt", b"words")

    def denied(*arguments: Any, **options: Any) -> Any:
        raise PermissionError("Forbidden")

    monkeypatch.setattr(system, "info", denied)
    with pytest.raises(InputError, match=rf"no access to s3://{bucket}/a.txt\nCheck your credentials"):
        ids(f"s3://{bucket}/a.txt")


def test_a_certificate_that_is_not_trusted_is_not_asked_for_again() -> None:
    """It will be the same in a quarter of a minute."""
    asked = []

    def connect() -> None:
        asked.append(1)
        raise OSError("cannot connect") from ssl.SSLCertVerificationError("self-signed certificate")

    with pytest.raises(InputError, match="cannot read"):
        tried("https://news.example/a.jsonl", connect)
    assert len(asked) == 1


def test_a_missing_library_is_named_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ResourceError, match=r"needs fsspec, which is not installed\n.*pip install 'ibidem\[remote\]'"):
        ids("s3://bucket/a.txt")


def test_no_password_and_no_token_is_shown(site: Site) -> None:
    site.files, site.password = {"/a.jsonl": LINES}, "me:hunter2"
    address = f"{site.address.replace('://', '://me:hunter2@')}/a.jsonl?X-Amz-Signature=c0ffee&version=3"
    rows, _ = rows_of(address)
    assert len(rows) == len(RECORDS)
    (described,) = describe_inputs(address)
    assert described["path"] == f"{site.address.replace('://', '://…@')}/a.jsonl?X-Amz-Signature=…&version=…"
    assert described["bytes"] == len(LINES)
    said = [json.dumps(described), *(row["source"] for row in rows)]
    site.failures = [100] * 100
    with pytest.raises(InputError) as raised:
        rows_of(address)
    said += [str(raised.value), repr(raised.value.__cause__)]
    site.password = "me:other"
    with pytest.raises(InputError) as raised:
        rows_of(address)
    said += [str(raised.value), repr(raised.value.__cause__)]
    assert not any("hunter2" in each or "c0ffee" in each for each in said)


def test_addresses_that_are_shown_alike_have_names_of_their_own(site: Site) -> None:
    site.files = {"/a.txt": b"words"}
    address = f"{site.address}/a.txt"
    assert ids([f"{address}?page=1", f"{address}?page=2"]) == [f"{address}?page=…", f"{address}?page=… (2)"]


def test_a_file_that_is_replaced_while_it_is_read_is_noticed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_streams, "FIRST_BYTES", 1000)
    site.files, site.versions = {"/n.jsonl": LINES}, {"/n.jsonl": '"1"'}
    original = remote_streams.RemoteStream.readinto

    def replaced(stream: Any, buffer: Any) -> int:
        site.versions["/n.jsonl"] = '"2"'
        return original(stream, buffer)

    monkeypatch.setattr(remote_streams.RemoteStream, "readinto", replaced)
    _, skipped = rows_of(f"{site.address}/n.jsonl")
    assert [record.reason for record in skipped] == [
        "changed while it was being read; what was read is used, and may mix old and new content"
    ]


def test_metadata_elsewhere(memory: Any) -> None:
    memory.pipe("/d/a.txt", b"words")
    memory.pipe("/dates.csv", b"file,time,group\na.txt,2031-05-04,press\n")
    memory.pipe("/folder/x.csv", b"file")
    ((row,), _) = rows_of("memory://d", metadata="memory://dates.csv")
    assert (row["time"].year, row["group"]) == (2031, "press")
    memory.pipe("/dates.csv", b"file,time,group\na.txt,2032-05-04,press\n")
    assert rows_of("memory://d", metadata="memory://dates.csv")[0][0]["time"].year == 2032
    with pytest.raises(InputError, match=r"there is no file or folder memory://none\.csv"):
        rows_of("memory://d", metadata="memory://none.csv")
    with pytest.raises(InputError, match="are a folder"):
        rows_of("memory://d", metadata="memory://folder")


def test_a_file_that_has_grown_is_not_read_in_part(site: Site, memory: Any, s3: tuple[Any, str]) -> None:
    system, bucket = s3
    site.files = {"/n.jsonl": LINES[:1000]}
    memory.pipe("/n.jsonl", LINES[:1000])
    system.pipe_file(f"{bucket}/n.jsonl", LINES[:1000])
    for address in (f"{site.address}/n.jsonl", "memory://n.jsonl", f"s3://{bucket}/n.jsonl"):
        path = look_up(address)
        assert path is not None
        with RemoteStream(path) as stream:
            assert stream.readall() == LINES[:1000]
    grown = [look_up(address) for address in (f"{site.address}/n.jsonl", "memory://n.jsonl", f"s3://{bucket}/n.jsonl")]
    site.files["/n.jsonl"] = LINES[:2000]
    memory.pipe("/n.jsonl", LINES[:2000])
    system.pipe_file(f"{bucket}/n.jsonl", LINES[:2000])
    for path in grown:
        assert path is not None
        with RemoteStream(path) as stream, pytest.raises(InputError, match=r"n\.jsonl changed while it was being read"):
            stream.readall()


def test_a_parquet_file_that_is_replaced_while_it_is_read_is_noticed(
    site: Site, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    site.files, site.versions = {"/n.parquet": files["n.parquet"]}, {"/n.parquet": '"1"'}
    original = remote_streams.RemotePages.readinto

    def replaced(pages: Any, buffer: Any) -> int:
        site.versions["/n.parquet"] = '"2"'
        return original(pages, buffer)

    monkeypatch.setattr(remote_streams.RemotePages, "readinto", replaced)
    assert ["changed while it was being read" in record.reason for record in rows_of(f"{site.address}/n.parquet")[1]] == [True]


@pytest.mark.parametrize("pattern", ["d/*/*.txt", "d/**/*.txt", "d"])
def test_a_folder_that_cannot_be_listed_is_an_error_and_never_fewer_documents(
    memory: Any, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    memory.pipe({"/d/a/1.txt": b"words", "/d/b/2.txt": b"more words"})
    assert len(ids(f"memory://{pattern}")) == 2
    original = type(memory).ls

    def broken(files: Any, path: str, *arguments: Any, **options: Any) -> Any:
        if path.rstrip("/").endswith("/b"):
            raise OSError("the server is busy")
        return original(files, path, *arguments, **options)

    monkeypatch.setattr(type(memory), "ls", broken)
    with pytest.raises(InputError, match="the server is busy"):
        ids(f"memory://{pattern}")


def test_a_folder_on_s3_that_cannot_be_listed(s3: tuple[Any, str], monkeypatch: pytest.MonkeyPatch) -> None:
    system, bucket = s3
    for name in ("d/a/1.txt", "d/b/2.txt"):
        system.pipe_file(f"{bucket}/{name}", b"words")
    original = type(system)._lsdir

    async def refused(files: Any, path: str, *arguments: Any, **options: Any) -> Any:
        if path.rstrip("/").endswith("/b"):
            raise PermissionError("Access Denied")
        return await original(files, path, *arguments, **options)

    monkeypatch.setattr(type(system), "_lsdir", refused)
    with pytest.raises(InputError, match="no access to s3://"):
        ids(f"s3://{bucket}/d/*/*.txt")


def test_names_that_look_like_something_else(s3: tuple[Any, str]) -> None:
    system, bucket = s3
    names = ["a::b.txt", "a", "100%.txt", "a b.txt", "a%20b.txt", "ü#1.txt", "[x].txt"]
    for name in names:
        system.pipe_file(f"{bucket}/d/{name}", f"words of {name}".encode())
    root = f"s3://{bucket}/d"
    rows = rows_of(root)[0]
    assert {row["id"]: row["text"] for row in rows} == {f"{root}/{name}": f"words of {name}" for name in names if name != "a"}
    assert [row["text"] for row in rows_of(f"{root}/a::b.txt")[0]] == ["words of a::b.txt"]
    assert shown_address("zip://a.txt::https://me:secret@example.org/a.zip?key=secret") == (
        "zip://a.txt::https://…@example.org/a.zip?key=…"
    )
