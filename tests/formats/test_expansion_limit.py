"""Files that unfold to far more than text does: they are read up to a limit, and the rest is skipped with the reason."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.config import Config
from ibidem.formats import byte_streams, parquet_files, read_batches
from ibidem.formats.byte_streams import ByteStream, UnfoldedError
from ibidem.formats.http_bodies import BodyError, decode_body
from ibidem.model import Skipped
from tests.bombs import COMPRESSIONS, long_lines, write_repeating_parquet
from tests.cli.test_find import Run, said

REASON = "expands to more than 1,000 times its size"
LIMIT = 1_000_000


@pytest.fixture(autouse=True)
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notice bombs of megabytes, not of hundreds of them."""
    monkeypatch.setattr(byte_streams, "LEAST_LIMIT_BYTES", LIMIT)
    monkeypatch.setattr(byte_streams, "MOST_TIMES", 100)


def read_all(path: Path) -> tuple[list[str], list[Skipped]]:
    skipped: list[Skipped] = []
    batches = list(read_batches(str(path), Config().documents, skipped.append))
    return [text for batch in batches for text in batch["text"].to_pylist()], skipped


def is_noticed(skipped: list[Skipped]) -> bool:
    return "expands to more than 100 times its size" in skipped[-1].reason


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_a_compressed_file_is_read_up_to_the_limit(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"bomb.jsonl{ending}"
    path.write_bytes(COMPRESSIONS[ending](long_lines(50, 100_000)))
    assert 100 * path.stat().st_size < 4_000_000
    texts, skipped = read_all(path)
    assert 5 < len(texts) <= max(LIMIT, 100 * path.stat().st_size) / 100_000
    assert is_noticed(skipped)
    assert "bytes of decompressed text" in skipped[-1].reason


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_text_that_packs_well_is_read_to_its_end(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"log.jsonl{ending}"
    numbers = np.random.default_rng(1).integers(0, 10**9, 20_000)
    records = [{"id": str(n), "text": f"INFO request handled in {number} ms"} for n, number in enumerate(numbers)]
    path.write_bytes(COMPRESSIONS[ending]("".join(json.dumps(record) + "\n" for record in records).encode()))
    texts, skipped = read_all(path)
    assert (len(texts), skipped) == (20_000, [])


@settings(max_examples=40)
@given(st.lists(st.integers(5000, 70_000), min_size=1, max_size=40))
def test_it_ends_at_the_same_byte_however_much_is_read_at_a_time(bomb: Path, sizes: list[int]) -> None:
    with ByteStream(str(bomb)) as stream:
        pieces: list[bytes] = []
        with pytest.raises(UnfoldedError):
            pieces.extend(map(stream.read, cycle(sizes)))
    assert sum(map(len, pieces)) == LIMIT


@pytest.fixture(scope="module")
def bomb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bomb") / "bomb.txt.gz"
    path.write_bytes(gzip.compress(bytes(4_000_000)))
    return path


@pytest.mark.parametrize("is_stored_as_dictionary", [False, True])
def test_one_text_in_many_rows_of_parquet(is_stored_as_dictionary: bool, tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    n_bytes = write_repeating_parquet(path, 2000, 50_000, is_stored_as_dictionary=is_stored_as_dictionary)
    texts, skipped = read_all(path)
    assert len(texts) == max(LIMIT, 100 * n_bytes) // 50_000 < 100
    assert is_noticed(skipped)


def test_long_values_of_another_column_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    write_repeating_parquet(path, 2000, 50_000, "id")
    texts, skipped = read_all(path)
    assert len(texts) < 500
    assert is_noticed(skipped)


@pytest.mark.parametrize("n_chars", [1000, 2_000_000, 20_000_000])
def test_few_rows_are_decoded_at_once_where_one_may_be_long(
    n_chars: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.parquet"
    write_repeating_parquet(path, 200, n_chars)
    monkeypatch.setattr(byte_streams, "LEAST_LIMIT_BYTES", 1 << 40)
    largest = 0
    iter_batches = pq.ParquetFile.iter_batches

    def watched(*arguments: object) -> Iterator[pa.RecordBatch]:
        nonlocal largest
        for number, batch in enumerate(iter_batches(*arguments)):
            largest = max(largest, batch.nbytes)
            yield batch
            if number == 2:
                return

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", watched)
    read_all(path)
    assert 0 < largest <= max(2 * n_chars, parquet_files._MOST_REPEATED_BYTES)


def test_the_size_of_a_dictionary_is_read_from_its_page(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    for n_chars in (1, 100, 10_000, 3_000_000):
        write_repeating_parquet(path, 8, n_chars)
        with pa.OSFile(str(path)) as stored, pq.ParquetFile(stored) as file:
            chunk = file.metadata.row_group(0).column(1)
            n_bytes = parquet_files._dictionary_bytes(chunk, stored)
            assert 4 * n_chars <= n_bytes <= 4 * (n_chars + 100)
    pq.write_table(pa.table({"text": ["one", "two"]}), path, use_dictionary=False)
    with pa.OSFile(str(path)) as stored, pq.ParquetFile(stored) as file:
        assert parquet_files._dictionary_bytes(file.metadata.row_group(0).column(0), stored) == 0


def test_pages_that_were_packed_twice(tmp_path: Path) -> None:
    page = gzip.compress(b"<p>" + b"many words " * 90_000)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n"
    records = [
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:%032d>\r\nWARC-Target-URI: http://a.example/%d\r\n"
        b"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s%s\r\n\r\n"
        % (number, number, len(head + page), head, page)
        for number in range(60)
    ]
    path = tmp_path / "bomb.warc.gz"
    path.write_bytes(gzip.compress(b"".join(records)))
    texts, skipped = read_all(path)
    assert 0 < len(texts) <= max(LIMIT, 100 * path.stat().st_size) // (11 * 90_000) < 60
    assert is_noticed(skipped)
    with pytest.raises(BodyError, match=r"expands to more than 1\.0 MB"):
        decode_body(gzip.compress(bytes(2_000_000)), None, "gzip")


def test_no_copy_is_made_that_would_lack_what_was_not_read(run: Run, tmp_path: Path) -> None:
    for name, write in {
        "bomb.parquet": lambda path: write_repeating_parquet(path, 500, 50_000),
        "bomb.jsonl.zst": lambda path: path.write_bytes(COMPRESSIONS[".zst"](long_lines(50, 100_000, "z"))),
    }.items():
        write(tmp_path / name)
        said(run("dedup", name, "-o", "clean"), 3, "would lack the rest")
        assert not (tmp_path / "clean").exists()


def test_a_column_that_nobody_reads_may_unfold_as_far_as_it_likes(run: Run, tmp_path: Path) -> None:
    n_bytes = write_repeating_parquet(tmp_path / "notes.parquet", 400, 50_000, "notes")
    assert max(LIMIT, 100 * n_bytes) < 400 * 50_000
    said(run("dedup", "notes.parquet", "-o", "clean", "--mark-only"), 0)
    copy, original = (pq.read_table(tmp_path / name) for name in ("clean/notes.parquet", "notes.parquet"))
    assert copy.select(original.column_names).to_pylist() == original.to_pylist()


@pytest.mark.parametrize("is_stored_as_dictionary", [False, True])
def test_long_values_are_stored_once_in_a_copy_too(run: Run, tmp_path: Path, is_stored_as_dictionary: bool) -> None:
    """Arrow would write each of them out as soon as a dictionary has more than a megabyte."""
    source = tmp_path / "notes.parquet"
    n_bytes = write_repeating_parquet(source, 400, 500_000, "notes", is_stored_as_dictionary, compression="none")
    assert n_bytes < 3_000_000
    said(run("dedup", "notes.parquet", "-o", "clean", "--mark-only"), 0)
    assert (tmp_path / "clean" / "notes.parquet").stat().st_size < 4 * n_bytes  # 200 MB are two row groups


def test_a_copy_that_would_fill_the_disk_is_refused(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_repeating_parquet(tmp_path / "notes.parquet", 400, 50_000, "notes", compression="none")
    monkeypatch.setattr(byte_streams, "MOST_TIMES", 2)
    monkeypatch.setattr(parquet_files, "MAX_GROUP_BYTES", 100_000)
    said(run("dedup", "notes.parquet", "-o", "clean", "--mark-only"), 3, "the copy of notes.parquet would be more than")
    assert not (tmp_path / "clean").exists()


def test_strict_stops_at_it(run: Run, tmp_path: Path) -> None:
    write_repeating_parquet(tmp_path / "bomb.parquet", 500, 50_000)
    said(run("find", "bomb.parquet", "-o", "out", "--strict"), 3, "expands to more than")


def test_a_stream_is_measured_by_what_was_read_of_it(tmp_path: Path) -> None:
    program = (
        "import sys; from ibidem.formats import byte_streams; byte_streams.LEAST_LIMIT_BYTES = 1_000_000\n"
        "from ibidem.cli.main import main; sys.argv[1:] = ['find', '-', '-o', 'out', '-q']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=gzip.compress(b'{"text": "' + b"a" * 8_000_000), cwd=tmp_path,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert REASON in done.stderr.decode()


def test_python_objects_have_no_limit() -> None:
    table = pa.table({"id": [str(n) for n in range(40)], "text": ["many words " * 10_000] * 40})
    assert sum(1 for _ in ibidem.read(table)) == 40
    assert sum(1 for _ in ibidem.read(pq.read_table(io.BytesIO(_parquet_of(table))))) == 40


def _parquet_of(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()
