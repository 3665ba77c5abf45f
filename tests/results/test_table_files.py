"""Tables that come as streams are written as tables in memory are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ibidem.model import PASSAGES, REPEATS
from ibidem.results import table_files
from ibidem.results.table_files import write_result
from tests.execution.disk.sameness import check_same_table

N_ROWS = 700


def passages() -> pa.Table:
    values = {
        "a_id": [f"doc {n // 7}" for n in range(N_ROWS)], "a_start": list(range(N_ROWS)), "a_end": list(range(5, N_ROWS + 5)),
        "b_id": [f'é "{n % 5}", and\nmore' for n in range(N_ROWS)], "b_start": [0] * N_ROWS, "b_end": [9] * N_ROWS,
        "n_sentences": [1 + n % 3 for n in range(N_ROWS)], "similarity": [n / N_ROWS for n in range(N_ROWS)],
        "kind": [("exact", "near", "quote")[n % 3] for n in range(N_ROWS)], "direction": ["unknown"] * N_ROWS,
        "a_sentence": list(range(N_ROWS)), "b_sentence": [n % 2 for n in range(N_ROWS)],
    }  # fmt: skip
    columns = []
    for field in PASSAGES:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        column = pa.array(values[field.name], kind)
        columns.append(column.dictionary_encode().cast(field.type) if pa.types.is_dictionary(field.type) else column)
    return pa.Table.from_arrays(columns, schema=PASSAGES)


def repeats() -> pa.Table:
    rows = [
        {"text": f"Nº {n}, “so”.", "n_documents": n, "places": [{"id": f"d{k}", "start": k, "end": k + n} for k in range(n)]}
        for n in range(40)
    ]
    return pa.Table.from_pylist(rows, schema=REPEATS)


def streamed(table: pa.Table, rows_a_batch: int) -> pa.RecordBatchReader:
    """Return a table as a stream; every batch has words of its own, as those that are read from disk have."""

    def batches() -> Any:
        for begin in range(0, table.num_rows, rows_a_batch):
            part = table.slice(begin, rows_a_batch).combine_chunks()
            columns = []
            for field, column in zip(table.schema, part.columns, strict=True):
                if pa.types.is_dictionary(field.type):
                    column = column.cast(field.type.value_type).combine_chunks()
                    columns.append(column.dictionary_encode().cast(field.type))
                else:
                    columns.append(column.combine_chunks())
            yield pa.RecordBatch.from_arrays(
                [c.chunk(0) if isinstance(c, pa.ChunkedArray) else c for c in columns], schema=table.schema
            )

    return pa.RecordBatchReader.from_batches(table.schema, batches())


@pytest.mark.parametrize("table_format", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize("rows_a_batch", [7, 64, 10_000])
def test_streams(table_format: str, rows_a_batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_files, "_PART_BYTES", 4000)  # so that streams are written in many parts
    tables = {"passages": passages(), "repeats": repeats(), "documents": passages().slice(0, 0)}
    streams = {name: streamed(table, rows_a_batch) for name, table in tables.items()}
    for side, given in (("whole", tables), ("stream", streams)):
        write_result(tmp_path / side, given, [], {"version": "1"}, table_format)
    for name, table in tables.items():
        whole, stream = (tmp_path / side / f"{name}.{table_format}" for side in ("whole", "stream"))
        if table_format == "parquet":
            check_same_table(pq.read_table(stream), pq.read_table(whole))
            assert pq.read_table(stream).to_pylist() == table.to_pylist()
        else:
            assert stream.read_bytes() == whole.read_bytes()
    if table_format == "jsonl":
        lines = (tmp_path / "stream" / "repeats.jsonl").read_text("utf-8").splitlines()
        assert [json.loads(line) for line in lines] == tables["repeats"].to_pylist()


def test_a_stream_that_breaks_leaves_no_table(tmp_path: Path) -> None:
    def broken() -> Any:
        yield from passages().slice(0, 10).to_batches()
        raise ValueError("the disk is gone")

    tables = {"passages": pa.RecordBatchReader.from_batches(PASSAGES, broken()), "repeats": repeats()}
    with pytest.raises(Exception, match="the disk is gone"):
        write_result(tmp_path / "out", tables, [], {}, "jsonl")
    assert "passages.jsonl" not in {path.name for path in (tmp_path / "out").iterdir()}
    assert "run.json" not in {path.name for path in (tmp_path / "out").iterdir()}
    assert not list((tmp_path / "out").glob("*.part"))
