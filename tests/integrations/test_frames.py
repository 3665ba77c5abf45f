"""Frames, tables and lists: what comes back has the type that was given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ibidem
from ibidem.errors import InputError, UsageError
from ibidem.integrations.batches import CutKnown, DropKnown, IsNew, MarkKnown
from ibidem.integrations.frames import cut_known, drop_known, mark_known, mark_shared
from ibidem.integrations.known_text import MARKS
from tests.integrations.conftest import COUNT, KNOWN, NEW, REMAINING
from tests.python_objects import TABLES, rows_of
from tests.texts import text

RECORDS = [{"id": f"d{n}", "text": value, "n": n} for n, value in enumerate(NEW)]
KINDS = [kind for kind in TABLES if kind != "dataset of one split"]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_dropped_cut_and_marked(kind: str, index_path: Path) -> None:
    table = TABLES[kind](RECORDS)
    kept = drop_known(table, index_path)
    assert type(kept) is type(table)
    assert [row["n"] for row in rows_of(kept)] == [n for n, known in enumerate(KNOWN) if not known]
    cut = cut_known(table, index_path)
    assert type(cut) is type(table)
    # The empty text stays: nothing was cut out of it.
    assert [(row["n"], row["text"]) for row in rows_of(cut)] == [(n, REMAINING[n]) for n in (0, 2, 3, 4, 5)]
    marked = mark_known(table, index_path)
    assert type(marked) is type(table)
    rows = rows_of(marked)
    assert [(row["n"], row["text"], row["ibidem_known"]) for row in rows] == list(zip(range(6), NEW, KNOWN, strict=True))
    assert [[span["matched_id"] for span in row["ibidem_spans"]] for row in rows] == [
        [], ["old 1"], ["old 2"], ["old 3"], ["old 4"], [],
    ]  # fmt: skip
    assert rows[0]["ibidem_covered_share"] == 0
    assert rows_of(table) == rows_of(TABLES[kind](RECORDS))


def test_columns_are_typed_even_if_nothing_is_known(index_path: Path) -> None:
    new = RECORDS[:1]
    assert mark_known(pa.Table.from_pylist(new), index_path).select(MARKS.names).schema == MARKS
    polars = pytest.importorskip("polars")
    frame = mark_known(polars.DataFrame(new), index_path)
    assert frame.schema["ibidem_spans"].inner.fields[0].name == "start"
    assert frame.lazy().collect_schema() == mark_known(polars.DataFrame(new).lazy(), index_path).collect_schema()
    pandas = pytest.importorskip("pandas")
    assert str(mark_known(pandas.DataFrame(new), index_path).dtypes["ibidem_known"]) == "bool"


def test_a_lazy_frame_stays_lazy(index_path: Path) -> None:
    polars = pytest.importorskip("polars")
    asked = []
    lazy = polars.DataFrame(RECORDS).lazy().map_batches(lambda frame: asked.append(1) or frame)
    kept = drop_known(lazy, index_path)
    assert not asked
    assert kept.select("n").collect()["n"].to_list() == [0, 2, 4, 5]
    assert asked


def test_a_column_with_another_name(index_path: Path) -> None:
    table = pa.table({"body": NEW})
    assert drop_known(table, index_path, text_field="body").num_rows == 4
    with pytest.raises(InputError, match="there is no column 'text', only body"):
        drop_known(table, index_path)
    with pytest.raises(InputError, match="there is already a column 'ibidem_known'"):
        mark_known(mark_known(table, index_path, text_field="body"), index_path, text_field="body")


def test_lists_of_texts(index_path: Path) -> None:
    assert drop_known(NEW, index_path) == [value for value, known in zip(NEW, KNOWN, strict=True) if not known]
    assert cut_known(NEW, index_path) == [REMAINING[n] for n in (0, 2, 3, 4, 5)]
    with pytest.raises(UsageError, match="no columns for marks"):
        mark_known(NEW, index_path)
    with pytest.raises(UsageError, match="only one object in memory"):
        drop_known("documents.jsonl", index_path)


def test_columns_in_dicts_and_single_records(index_path: Path) -> None:
    columns = {"n": list(range(6)), "text": NEW}
    assert DropKnown(index_path)(columns)["n"] == [0, 2, 4, 5]
    assert CutKnown(index_path)(columns) == {"n": [0, 2, 3, 4, 5], "text": [REMAINING[n] for n in (0, 2, 3, 4, 5)]}
    assert MarkKnown(index_path)(columns)["ibidem_known"] == KNOWN
    assert IsNew(index_path)(columns) == [not known for known in KNOWN]
    assert columns["text"] is NEW
    record = {"n": 2, "text": NEW[2]}
    assert IsNew(index_path)(record)
    assert CutKnown(index_path)(record) == {"n": 2, "text": REMAINING[2]}
    assert MarkKnown(index_path)(record)["ibidem_spans"][0]["matched_id"] == "old 2"
    with pytest.raises(UsageError, match="a single record cannot be dropped"):
        DropKnown(index_path)(record)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("with_ids", [True, False])
def test_shared_passages_as_a_column(kind: str, with_ids: bool) -> None:
    texts = [text(1, 2, 3, count=COUNT), text(9, 1, 2, 3, count=COUNT), text(8, count=COUNT)]
    records: list[dict[str, Any]] = [{"id": f"d{n}" if with_ids else None, "text": t, "n": n} for n, t in enumerate(texts)]
    if not with_ids and kind == "documents":
        pytest.skip("a Document has an id")
    table = TABLES[kind](records)
    marked = mark_shared(table, ibidem.find(table))
    spans = [row["ibidem_spans"] for row in rows_of(marked)]
    assert [len(found) for found in spans] == [1, 1, 0]
    (a,), (b,) = spans[:2]
    assert (a["start"], a["end"], a["kind"]) == (0, len(texts[0]), "exact")
    assert (b["start"], b["end"]) == (a["matched_start"], a["matched_end"]) == (len(text(9, count=COUNT)) + 1, len(texts[1]))
    assert (a["matched_id"], b["matched_id"]) == (("d1", "d0") if with_ids else ("records:2", "records:1"))


def test_tables_of_results_become_frames() -> None:
    result = ibidem.find([text(1, 2, 3, count=COUNT), text(9, 1, 2, 3, count=COUNT)])
    pandas = pytest.importorskip("pandas")
    frame = result.passages.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["a_id"].tolist() == ["0"]
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(result.passages)["b_id"].to_list() == ["1"]
    assert polars.DataFrame(result.with_texts())["a_text"].to_list() == [text(1, 2, 3, count=COUNT)]
    assert polars.DataFrame(result.documents)["id"].to_list() == ["0", "1"]
