"""`dedup` gives back what it was given, without what is removed, and says which rows stay."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ibidem
from ibidem.errors import InputError, UsageError
from tests.python_objects import TABLES, columns, rows_of
from tests.texts import text

LONG = text(1, 2, 3, count=12)
RECORDS = [
    {"id": "a", "text": LONG, "n": 1},
    {"id": "b", "text": f"{text(7)} {LONG}", "n": 2},
    {"id": "c", "text": None, "n": 3},
    {"id": "d", "text": LONG, "n": 4},
    {"id": "e", "text": text(4, 5), "n": 5},
]
NO_TEXT = 2
LEVELS: dict[str, dict[str, Any]] = {
    "document": {"shingle_size": 3, "min_similarity": 0.7},
    "passage": {"level": "passage"},
    "sentence": {"level": "sentence"},
}
KEPT = {"document": [0, 2, 4], "passage": [0, 1, 2, 4], "sentence": [0, 1, 2, 4]}
STORAGES: dict[str, dict[str, Any]] = {"memory": {}, "disk": {"partitions": 2}}


def expected(level: str, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records that stay: of the second one, text that is also in the first is cut."""
    cut = [{**r, "text": f"{text(7)} "} if level != "document" and r["id"] == "b" else r for r in records]
    return [cut[row] for row in KEPT[level]]


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", TABLES)
def test_what_stays_has_the_form_of_the_inputs(kind: str, level: str, storage: str) -> None:
    records = RECORDS if kind != "documents" else [{**r, "text": r["text"] or ""} for r in RECORDS]
    before = copy.deepcopy(records)
    inputs = TABLES[kind](records)
    with ibidem.dedup(inputs, **LEVELS[level], **STORAGES[storage]) as result:
        assert result.backing.storage == storage
        cleaned = result.cleaned()
        assert type(cleaned) is type(inputs)
        assert rows_of(cleaned) == expected(level, records)
        assert (result.keep_mask.dtype, np.flatnonzero(result.keep_mask).tolist()) == (np.bool_, KEPT[level])
        assert len(result.keep_mask) == len(records)
        assert [d.text for d in result.remaining()] == [r["text"] for r in expected(level, records) if r["text"]]
        assert result.original is inputs
    assert records == before


@pytest.mark.parametrize("level", LEVELS)
def test_frames_keep_index_types_and_columns(level: str) -> None:
    frame = TABLES["pandas"](RECORDS)
    frame["n"] = frame["n"].astype("int8")
    kept = ibidem.dedup(frame, **LEVELS[level]).cleaned()
    assert list(kept.index) == [f"row {row}" for row in KEPT[level]]
    assert (kept.dtypes == frame.dtypes).all()
    mask = ibidem.dedup(frame, **LEVELS[level]).keep_mask
    assert list(frame[mask].index) == list(kept.index)
    table = pa.table(columns(RECORDS)).replace_schema_metadata({"made": "here"})
    for kind in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
        typed = table.set_column(1, pa.field("text", kind), table["text"].cast(pa.string()).cast(kind))
        cleaned = ibidem.dedup(typed, **LEVELS[level]).cleaned()
        assert cleaned.schema.equals(typed.schema, check_metadata=True)
    dataset = TABLES["dataset"](RECORDS) if "dataset" in TABLES else None
    if dataset is not None:
        assert ibidem.dedup(dataset, **LEVELS[level]).cleaned().features == dataset.features


@pytest.mark.parametrize("level", LEVELS)
def test_texts_stay_texts(level: str) -> None:
    texts = [record["text"] for record in RECORDS]
    stay = [record["text"] for record in expected(level, RECORDS)]

    def cleaned(inputs: Any) -> Any:
        return ibidem.dedup(inputs, **LEVELS[level]).cleaned()

    assert cleaned(texts) == stay
    assert cleaned(iter(texts)) == stay
    assert cleaned(pa.array(texts)).equals(pa.array(stay))
    assert cleaned(pa.chunked_array([texts])).to_pylist() == stay
    pandas = pytest.importorskip("pandas")
    kept = cleaned(pandas.Series(texts, index=list("vwxyz"), name="body"))
    assert kept.to_dict() == dict(zip((list("vwxyz")[row] for row in KEPT[level]), stay, strict=True))
    assert kept.name == "body"
    assert cleaned(pandas.Series(texts, dtype="category")).tolist() == pandas.Series(stay, dtype="category").tolist()
    polars = pytest.importorskip("polars")
    assert cleaned(polars.Series("body", texts)).equals(polars.Series("body", stay))


def test_streams_become_tables_and_generators_lists() -> None:
    settings = LEVELS["sentence"]
    table = pa.table(columns(RECORDS))
    cleaned = ibidem.dedup(table.to_reader(), **settings).cleaned()
    assert isinstance(cleaned, pa.Table)
    assert cleaned.to_pylist() == expected("sentence", RECORDS)
    assert ibidem.dedup((record for record in RECORDS), **settings).cleaned() == expected("sentence", RECORDS)


def test_several_inputs_give_as_many() -> None:
    both = [pa.table(columns(RECORDS[:3])), RECORDS[3:]]
    with ibidem.dedup(both, level="sentence") as result:
        first, second = result.cleaned()
        assert isinstance(first, pa.Table)
        assert [*first.to_pylist(), *second] == expected("sentence", RECORDS)
        assert np.flatnonzero(result.keep_mask).tolist() == KEPT["sentence"]
    (alone,) = ibidem.dedup([pa.table(columns(RECORDS))], level="sentence").cleaned()
    assert alone.to_pylist() == expected("sentence", RECORDS)


@pytest.mark.parametrize("kind", TABLES)
def test_marks_are_added_where_nothing_is_removed(kind: str) -> None:
    records = [record for record in RECORDS if record["text"]]
    for level, names in (("document", {"ibidem_cluster", "ibidem_duplicate_of"}), ("sentence", {"ibidem_cuts"})):
        result = ibidem.dedup(TABLES[kind](records), mark_only=True, **LEVELS[level])
        rows = rows_of(result.cleaned())
        assert [{name: row[name] for name in records[0]} for row in rows] == records
        assert all(names <= set(row) for row in rows)
        assert not result.keep_mask.all()
    assert [row["ibidem_cuts"] is None for row in rows] == [True, False, False, True]
    taken = [{**record, "ibidem_cuts": 1} for record in records]
    if kind != "documents":
        with pytest.raises(InputError, match="already has a column 'ibidem_cuts'"):
            ibidem.dedup(TABLES[kind](taken), level="sentence", mark_only=True).cleaned()


def test_what_cannot_be_given_back_is_said(tmp_path: Path) -> None:
    texts = [record["text"] for record in RECORDS]
    with pytest.raises(UsageError, match="a list of texts has no columns for marks\nLeave out mark_only and mark_copies,"):
        ibidem.dedup(texts, mark_only=True, level="sentence").cleaned()
    records = [dict(record) for record in RECORDS]
    result = ibidem.dedup(records, level="sentence")
    records[1]["text"] = "other"
    with pytest.raises(InputError, match="changed after it was read"):
        result.cleaned()
    page = [{"text": f"<p>{record['text']}</p>"} for record in RECORDS if record["text"]]
    with pytest.raises(InputError, match=r'cannot be cut out of HTML.*\n.*mark_only=True or level="document"'):
        ibidem.dedup(page, html=True, level="sentence").cleaned()
    assert len(ibidem.dedup(page, html=True, **LEVELS["document"]).cleaned()) == 2
    (tmp_path / "a.txt").write_text(LONG)
    (tmp_path / "b.txt").write_text(LONG)
    with ibidem.dedup(tmp_path) as files:
        assert files.keep_mask.tolist() == [True, False]
        with pytest.raises(UsageError, match=r"the inputs are files.*\nUse write\(folder\)"):
            files.cleaned()


@pytest.mark.parametrize("level", LEVELS)
def test_a_dataset_stores_its_rows_and_not_what_a_transform_shows_of_them(level: str) -> None:
    datasets = pytest.importorskip("datasets")
    stored = TABLES["dataset"](RECORDS)

    def shout(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
        return {"text": [str(each).upper() for each in batch["text"]], "n": [-each for each in batch["n"]]}

    for shown in (stored.with_transform(shout), stored.with_format("numpy", columns=["n"])):
        for inputs in (shown, datasets.DatasetDict({"train": shown})):
            cleaned = ibidem.dedup(inputs, **LEVELS[level]).cleaned()
            cleaned = cleaned["train"] if inputs is not shown else cleaned
            assert rows_of(cleaned.with_format(None)) == expected(level, RECORDS)
            assert cleaned.format == shown.format
    assert next(iter(ibidem.dedup(stored.with_transform(shout), **LEVELS[level]).cleaned()["n"])) == -1


@pytest.mark.parametrize("mark_only", [False, True])
@pytest.mark.parametrize("level", LEVELS)
def test_a_dataset_that_is_a_stream_keeps_its_features_and_its_format(level: str, mark_only: bool) -> None:
    pytest.importorskip("datasets")
    stored = TABLES["dataset"](RECORDS)
    stream = stored.to_iterable_dataset().with_format("numpy")
    cleaned = ibidem.dedup(stream, mark_only=mark_only, **LEVELS[level]).cleaned()
    assert cleaned.features is not None
    assert {name: cleaned.features[name] for name in stored.features} == dict(stored.features)
    assert isinstance(next(iter(cleaned))["n"], (np.ndarray, np.integer))
    rows = [{name: row[name] for name in RECORDS[0]} for row in cleaned.with_format(None)]
    assert rows == (RECORDS if mark_only else expected(level, RECORDS))
    if mark_only:
        assert all("ibidem_" in name for name in set(cleaned.features) - set(stored.features))
        assert set(cleaned.features) == set(next(iter(cleaned)))


def test_columns_keep_their_types_where_texts_are_cut() -> None:
    polars = pytest.importorskip("polars")
    pandas = pytest.importorskip("pandas")
    texts = [LONG, f"{text(7)} {LONG}", LONG]
    stay = [LONG, f"{text(7)} "]
    stored, stored_stay = [each.encode() for each in texts], [each.encode() for each in stay]
    groups = polars.Series(["x", "y", "x"], dtype=polars.Categorical)
    frame = polars.DataFrame({"text": polars.Series(texts, dtype=polars.Categorical), "group": groups})
    cleaned = ibidem.dedup(frame, level="sentence").cleaned()
    assert (cleaned["text"].to_list(), cleaned.schema) == (stay, frame.schema)
    assert ibidem.dedup(polars.DataFrame({"text": stored}), level="sentence").cleaned()["text"].to_list() == stored_stay
    fixed = polars.Series("text", texts, dtype=polars.Enum(texts[:2]))
    for inputs in (fixed, fixed.to_frame()):
        with pytest.raises(InputError, match=r"is an Enum, which cannot contain a text that was cut\nCast it to String"):
            ibidem.dedup(inputs, level="sentence").cleaned()
    assert ibidem.dedup(pandas.DataFrame({"text": stored}), level="sentence").cleaned()["text"].tolist() == stored_stay
    kept = ibidem.dedup(pandas.DataFrame({"text": pandas.Series(texts, dtype="category")}), level="sentence").cleaned()
    assert (kept["text"].tolist(), str(kept["text"].dtype)) == (stay, "category")


def test_tables_that_cannot_be_read_are_refused_in_words() -> None:
    with pytest.raises(InputError, match="contain no documents"):
        ibidem.find(pa.chunked_array([], pa.struct([("text", pa.string())])))
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="the frame has several columns 'n'"):
        ibidem.find(pandas.DataFrame([[1, 2, LONG]], columns=["n", "n", "text"]))
