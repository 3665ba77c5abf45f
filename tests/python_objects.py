"""The same records as every kind of Python object that inputs may be. Libraries that are not installed are left out."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import pyarrow as pa

import ibidem

Make = Callable[[list[dict[str, Any]]], Any]


def columns(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [record[name] for record in records] for name in records[0]}


def dataset(records: list[dict[str, Any]]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import datasets

        datasets.disable_progress_bars()
    return datasets.Dataset.from_dict(columns(records))


def only_split(records: list[dict[str, Any]]) -> Any:
    made = dataset(records)
    import datasets

    return datasets.DatasetDict({"train": made})


def pandas_frame(records: list[dict[str, Any]]) -> Any:
    import pandas

    return pandas.DataFrame(columns(records), index=[f"row {n}" for n in range(len(records))])


def polars_frame(records: list[dict[str, Any]]) -> Any:
    import polars

    return polars.DataFrame(columns(records))


def rows_of(table: Any) -> list[dict[str, Any]]:
    """Return the rows of any of the objects."""
    if hasattr(table, "collect"):
        table = table.collect()
    if isinstance(table, list):
        return [as_dict(record) if isinstance(record, ibidem.Document) else record for record in table]
    if isinstance(table, (pa.Table, pa.RecordBatch)):
        rows: list[dict[str, Any]] = table.to_pylist()
        return rows
    if hasattr(table, "to_dicts"):
        return list(table.to_dicts())
    if hasattr(table, "to_dict") and hasattr(table, "iloc"):
        return list(table.to_dict("records"))
    if isinstance(table, dict):
        return rows_of(table["train"])
    return [dict(row) for row in table]


def as_dict(document: ibidem.Document) -> dict[str, Any]:
    return {"id": document.id, "text": document.text, **document.fields}


_TABLES: dict[str, tuple[str, Make]] = {
    "records": ("", list),
    "documents": ("", lambda rs: [ibidem.Document(r["id"], r["text"], fields={"n": r["n"]}) for r in rs]),
    "arrow": ("", lambda rs: pa.table(columns(rs))),
    "record batch": ("", lambda rs: pa.RecordBatch.from_pydict(columns(rs))),
    "pandas": ("pandas", pandas_frame),
    "polars": ("polars", polars_frame),
    "lazy frame": ("polars", lambda rs: polars_frame(rs).lazy()),
    "dataset": ("datasets", dataset),
    "dataset of one split": ("datasets", only_split),
    "streamed dataset": ("datasets", lambda rs: dataset(rs).to_iterable_dataset()),
}
TABLES = {name: make for name, (library, make) in _TABLES.items() if not library or importlib.util.find_spec(library)}
