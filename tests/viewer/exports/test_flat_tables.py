"""Rows of exports against the tables of the run, and against the documents themselves."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pyarrow.parquet
import pytest

from ibidem.viewer.exports.csv_text import is_formula
from ibidem.viewer.exports.export_formats import ExportOptions, write_export
from ibidem.viewer.exports.flat_tables import COLUMNS, FlatTables, later_side
from ibidem.viewer.store import ViewStore
from tests.viewer.exports.conftest import hostile_records
from tests.viewer.invented import Invented

RECORDS = {record["id"]: record for record in hostile_records()}


def test_passages_are_those_of_the_run_with_their_texts(tables: FlatTables, hostile_out: Path) -> None:
    found = list(tables.rows("passages"))
    names = ("a_id", "a_start", "a_end", "b_id", "b_start", "b_end", "n_sentences", "similarity", "kind", "direction")
    wanted = pyarrow.parquet.read_table(hostile_out / "passages.parquet").to_pylist()
    assert sorted(tuple(row[n] for n in names) for row in found) == sorted(tuple(row[n] for n in names) for row in wanted)
    for row in found:
        assert tuple(name for name in COLUMNS["passages"] if name not in row) == ()
        for side in "ab":
            record = RECORDS[row[f"{side}_id"]]
            assert row[f"{side}_text"] == record["text"][row[f"{side}_start"] : row[f"{side}_end"]]
            assert row[f"{side}_group"] == record["group"]
            assert (row[f"{side}_time"] is None) == (record["time"] is None)
    assert next(row["a_time"] for row in found if row["a_id"] == "=1+2") == "1848-03-18T06:30:00Z"


def test_documents_are_those_of_the_run(tables: FlatTables, hostile_out: Path) -> None:
    wanted = pyarrow.parquet.read_table(hostile_out / "documents.parquet").to_pylist()
    shares = {row["id"]: (row["reused_share"], row["first_share"]) for row in wanted}
    assert {row["id"]: (row["reused_share"], row["first_share"]) for row in tables.rows("documents")} == shares
    assert any(first for _, first in shares.values())


def test_tables_of_an_invented_run_have_every_row(store: ViewStore, invented: Invented) -> None:
    tables = FlatTables(store)
    pairs, passages = list(tables.rows("pairs")), list(tables.rows("passages"))
    assert [pair["pair"] for pair in pairs] == invented.wanted(lambda pair: True)
    assert len(passages) == len(invented.passages)
    # Passages follow their pairs, which is what the links of a workbook rely on.
    assert [row["pair"] for row in passages] == [pair["pair"] for pair in pairs for _ in range(pair["n_passages"])]
    families, places = list(tables.rows("families")), list(tables.rows("places"))
    assert [row["family"] for row in places] == [row["family"] for row in families for _ in range(row["n_places"])]
    texts = {record["id"]: record["text"] for record in invented.records}
    assert all(row["text"] == texts[row["id"]][row["start"] : row["end"]] for row in places)
    documents = list(tables.rows("documents"))
    assert [row["id"] for row in documents] == [record["id"] for record in invented.records]
    assert [row["document"] for row in documents] == list(range(len(documents)))
    for name, rows in (("pairs", pairs), ("families", families), ("places", places), ("documents", documents)):
        assert tables.count(name) == len(rows) > 0
        assert all(set(COLUMNS[name]) <= row.keys() for row in rows)


@pytest.mark.parametrize("table", COLUMNS)
def test_csv_has_every_cell_and_no_formula(hostile: ViewStore, tables: FlatTables, table: str, tmp_path: Path) -> None:
    write_export(hostile, tmp_path / "t.csv", "csv", ExportOptions(table))
    written = (tmp_path / "t.csv").read_bytes()
    assert written.startswith(b"\xef\xbb\xbf")  # Excel would take the rest for another encoding
    head, *rows = csv.reader(io.StringIO(written.decode("utf-8-sig"), newline=""))
    assert tuple(head) == COLUMNS[table]
    wanted = list(tables.rows(table))
    assert len(rows) == len(wanted)
    for row, record in zip(rows, wanted, strict=True):
        for cell, name in zip(row, head, strict=True):
            value = record[name]
            if isinstance(value, str):
                assert not is_formula(cell)
                assert cell.removeprefix("'") == value
            elif value is None:
                assert cell == ""
            else:
                assert cell == (str(value).lower() if isinstance(value, bool) else str(value))


def test_the_later_side_reuses() -> None:
    assert later_side({"direction": "a_to_b"}, False) == "b"
    assert later_side({"direction": "b_to_a"}, False) == "a"
    assert later_side({"direction": "unknown"}, False) == "a"
    assert later_side({"direction": "a_to_b"}, True) == "a"
