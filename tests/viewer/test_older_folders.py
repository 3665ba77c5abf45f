"""Folders that were written before passages had numbers of sentences are shown as before."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import ibidem
from ibidem.viewer.material import material_of_folder
from tests.texts import text


@pytest.mark.parametrize("table_format", ["parquet", "jsonl", "csv"])
def test_passages_without_numbers_of_sentences(tmp_path: Path, table_format: str) -> None:
    records = [{"id": "a", "text": text(1, 2, 3)}, {"id": "b", "text": text(9, 1, 2, 3)}]
    result = ibidem.find(records)
    result.write(tmp_path / "new", format=table_format, keep_text=True)
    result.write(tmp_path / "old", format=table_format, keep_text=True)
    path = tmp_path / "old" / f"passages.{table_format}"
    if table_format == "parquet":
        pq.write_table(pq.read_table(path).drop_columns(["a_sentence", "b_sentence"]), path)
    elif table_format == "csv":
        table = pa.csv.read_csv(path).drop_columns(["a_sentence", "b_sentence"])
        pa.csv.write_csv(table, path)
    else:
        path.write_text(path.read_text("utf-8").replace(', "a_sentence": 0, "b_sentence": 1', ""), "utf-8")
    assert "a_sentence" not in path.read_bytes().decode("utf-8", "ignore")
    shown = [material_of_folder(tmp_path / name).passages for name in ("old", "new")]
    assert shown[0] is not None
    assert shown[0].equals(shown[1])
    assert shown[0].num_rows == 1
