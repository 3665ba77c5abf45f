"""Small files that unfold to very much: compressed once, compressed twice, or with one long text in many rows."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

Compress = Callable[[bytes], bytes]


def zstd(data: bytes) -> bytes:
    """Compress by zstd."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


COMPRESSIONS: dict[str, Compress] = {".gz": gzip.compress, ".zst": zstd, ".bz2": bz2.compress}


def long_lines(n_lines: int, n_chars: int, name: str = "") -> bytes:
    """Return lines of JSON with one long text each, all of them alike except for their ids."""
    text = "a " * (n_chars // 2)
    return b"".join(json.dumps({"id": f"{name}{number}", "text": text}).encode() + b"\n" for number in range(n_lines))


def write_repeating_parquet(
    path: Path,
    n_rows: int,
    n_chars: int,
    column: str = "text",
    is_stored_as_dictionary: bool = False,
    compression: str = "zstd",
) -> int:
    """Write a file whose rows have one of four long texts each, which are stored once; return its size."""
    words = [f"Paragraph {letter} of the long page says the same as all others. " for letter in "abcd"]
    values = pa.array([(word * (n_chars // len(word) + 1))[:n_chars] for word in words], pa.large_string())
    repeated = pa.DictionaryArray.from_arrays(pa.array([row % 4 for row in range(n_rows)], pa.int32()), values)
    columns = {"id": pa.array([str(row) for row in range(n_rows)]), "text": pa.array(["A short text."] * n_rows)}
    table = pa.table(columns | {column: repeated})
    pq.write_table(
        table, path, compression=compression, dictionary_pagesize_limit=1 << 30, store_schema=is_stored_as_dictionary
    )
    return path.stat().st_size
