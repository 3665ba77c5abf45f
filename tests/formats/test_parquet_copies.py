"""Parquet: rows go or are cut; types, metadata, codecs and row groups stay."""

from __future__ import annotations

import datetime
import gzip
import io
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.errors import InputError
from ibidem.formats import parquet_files
from ibidem.formats.decisions import Decision
from tests.formats.copy_oracle import check_copy, clean, cut, decided, folders, texts

TEXT_TYPES = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.large_binary(),
    pa.dictionary(pa.int32(), pa.string()),
    pa.dictionary(pa.int8(), pa.large_string()),
]
TAGS = pa.list_(pa.struct([("a", pa.list_(pa.int64())), ("b", pa.string())]))
TEXTS = st.one_of(
    st.sampled_from([None, "", "  ", "one", "one two", "\u4e2d\u6587 \U0001f600 end"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)


def table_of(found: list[str | None], kind: Any) -> pa.Table:
    n = len(found)
    value_type = kind.value_type if pa.types.is_dictionary(kind) else kind
    column = pa.array([None if text is None else text.encode() for text in found], pa.binary()).cast(value_type)
    return pa.table(
        {
            "n": pa.array(range(n), pa.uint8()),
            "text": column.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else column,
            "tags": pa.array([[{"a": [i], "b": str(i)}] * (i % 3) for i in range(n)], TAGS),
            "when": pa.array([datetime.datetime(2020, 1, 1)] * n, pa.timestamp("ns")),
            "kind": pa.array(["x"] * n).dictionary_encode(),
        },
        metadata={"made by": "hand"},
    )


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_table(data: Any) -> None:
    size = data.draw(st.sampled_from([64, 1 << 27]))
    with folders() as (inputs, output), patch("ibidem.formats.parquet_files.MAX_GROUP_BYTES", size):
        table = table_of(data.draw(st.lists(TEXTS, min_size=1, max_size=20)), data.draw(st.sampled_from(TEXT_TYPES)))
        path = inputs / "docs.parquet"
        pq.write_table(table, path, row_group_size=data.draw(st.integers(1, 20)))
        found = data.draw(decided(texts(path)))
        copy = check_copy(path, found, output)
        read, copied = pq.read_table(path), pq.read_table(copy)
        assert copied.schema.equals(read.schema, check_metadata=True)
        expected = []
        for position, row in enumerate(read.to_pylist(), 1):
            decision = found.get((str(path), position), Decision())
            if decision.cuts:
                text = row["text"]
                row["text"] = cut(text.decode(), decision).encode() if isinstance(text, bytes) else cut(text, decision)
            if not decision.drop:
                expected.append(row)
        assert copied.to_pylist() == expected


def test_it_is_written_as_the_input_was(tmp_path: Path) -> None:
    path = tmp_path / "docs.parquet"
    codecs = {"n": "GZIP", "text": "ZSTD", "tags.list.element.a.list.element": "SNAPPY", "tags.list.element.b": "NONE"}
    codecs |= {"when": "BROTLI", "kind": "LZ4"}
    table = table_of([f"text {n}" for n in range(10)], pa.string())
    table = table.cast(table.schema.set(1, pa.field("text", pa.string(), nullable=False, metadata={"of": "a field"})))
    pq.write_table(
        table,
        path,
        compression=codecs,
        row_group_size=4,
        use_dictionary=["kind"],
        write_statistics=["n"],
        use_deprecated_int96_timestamps=True,
    )
    name = str(path)
    copy = check_copy(path, {(name, n): Decision(drop=True) for n in (1, 2, 3, 4, 6)}, tmp_path / "out")
    before, after = pq.ParquetFile(path), pq.ParquetFile(copy)
    with before, after:
        assert after.schema_arrow.equals(before.schema_arrow, check_metadata=True)
        assert after.schema == before.schema
        assert [after.metadata.row_group(n).num_rows for n in range(after.num_row_groups)] == [3, 2]
        for number in range(before.metadata.num_columns):
            old, new = (file.metadata.row_group(0).column(number) for file in (before, after))
            assert (old.compression, old.has_dictionary_page, old.is_stats_set, old.physical_type) == (
                new.compression,
                new.has_dictionary_page,
                new.is_stats_set,
                new.physical_type,
            )


def test_without_the_schema_of_arrow(tmp_path: Path) -> None:
    path = tmp_path / "docs.parquet"
    pq.write_table(pa.table({"text": ["one", "two"]}), path, store_schema=False, version="1.0", compression="none")
    copy = check_copy(path, {(str(path), 1): Decision(drop=True)}, tmp_path / "out")
    metadata = pq.read_metadata(copy)
    assert metadata.metadata is None
    assert metadata.format_version == "1.0"
    assert metadata.row_group(0).column(0).compression == "UNCOMPRESSED"


def test_compressed_as_a_whole(tmp_path: Path) -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"text": ["one", "two three"]}), sink)
    path = tmp_path / "docs.parquet.gz"
    path.write_bytes(gzip.compress(sink.getvalue()))
    copy = check_copy(path, {(str(path), 2): Decision(cuts=((0, 4),))}, tmp_path / "out")
    assert pq.read_table(io.BytesIO(gzip.decompress(copy.read_bytes()))).to_pydict() == {"text": ["one", "three"]}


def test_all_rows_gone(tmp_path: Path) -> None:
    path = tmp_path / "docs.parquet"
    pq.write_table(pa.table({"text": ["one"], "n": [1]}), path)
    copy = check_copy(path, {(str(path), 1): Decision(drop=True)}, tmp_path / "out")
    assert pq.read_table(copy).schema == pq.read_table(path).schema


def test_invalid_text_in_other_rows_stays(tmp_path: Path) -> None:
    path = tmp_path / "docs.parquet"
    buffers = pa.array([b"one two", b"caf\xe9", b"gone"], pa.binary()).buffers()
    pq.write_table(pa.table({"text": pa.Array.from_buffers(pa.string(), 3, buffers)}), path)
    found = {(str(path), 1): Decision(cuts=((0, 4),)), (str(path), 3): Decision(drop=True)}
    copy = check_copy(path, found, tmp_path / "out")
    assert pq.read_table(copy)["text"].cast(pa.binary()).to_pylist() == [b"two", b"caf\xe9"]


def test_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "docs.parquet"
    table = pa.table({"text": [f"number {n}" for n in range(1000)]})
    pq.write_table(table, path, row_group_size=500, compression="gzip", use_dictionary=False)
    data = bytearray(path.read_bytes())
    offset = pq.read_metadata(path).row_group(1).column(0).data_page_offset
    data[offset + 60 : offset + 90] = bytes(30)
    path.write_bytes(data)
    with patch("ibidem.formats.parquet_files.MAX_ROWS", 100):
        assert len(texts(path)) == 500
    found = {(str(path), 7): Decision(drop=True)}
    with pytest.raises(InputError, match="cannot be read to its end"):
        clean(path, found, tmp_path / "out")
    (copy,) = clean(path, found, tmp_path / "out", damaged=[str(path)])
    assert pq.read_table(copy).num_rows == 499
    assert pq.read_table(copy)["text"].to_pylist() == [f"number {n}" for n in range(500) if n != 6]


def test_batches_that_arrow_cannot_measure_are_measured_by_their_buffers() -> None:
    """As string views before pyarrow 24."""

    class Views:
        @property
        def nbytes(self) -> int:
            raise pa.ArrowTypeError("Extracting byte ranges not supported for type string_view")

        def get_total_buffer_size(self) -> int:
            return 48

    batch = pa.record_batch({"n": pa.array([1, 2], pa.int64())})
    assert (parquet_files.n_bytes_of(batch), parquet_files.n_bytes_of(Views())) == (16, 48)
