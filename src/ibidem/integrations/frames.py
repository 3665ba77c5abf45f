"""pandas and Polars frames, Arrow tables and other objects in memory: drop, cut or mark what an index knows, get the same type.

`mark_shared` puts the passages that `ibidem.find` found into a column of the frame that was searched.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from ibidem.errors import InputError, UsageError
from ibidem.formats.python_inputs import Taken, column_names, is_null, settle
from ibidem.integrations.batches import BatchStep, CutKnown, DropKnown, MarkKnown
from ibidem.integrations.known_text import MARKS, SPAN
from ibidem.model import Document
from ibidem.results.cleaned_objects import Changes, changed_object
from ibidem.results.result import PassageResult

Frame = TypeVar("Frame")
SPANS_COLUMN = "ibidem_spans"


def drop_known(frame: Frame, index: str | os.PathLike[str], **settings: Any) -> Frame:
    """Return the rows whose text the index does not know.

    Settings are `text_field`, `min_covered_share` and those of `Index.query`. A LazyFrame stays lazy: the index is asked when
    it is collected.
    """
    return _changed(frame, DropKnown(index, **settings))


def cut_known(frame: Frame, index: str | os.PathLike[str], **settings: Any) -> Frame:
    """Return all rows, without the passages that the index has word for word; rows with nothing left are dropped."""
    return _changed(frame, CutKnown(index, **settings))


def mark_known(frame: Frame, index: str | os.PathLike[str], **settings: Any) -> Frame:
    """Return all rows, with the columns `ibidem_known`, `ibidem_covered_share` and `ibidem_spans`."""
    return _changed(frame, MarkKnown(index, **settings))


def mark_shared(frame: Frame, result: PassageResult[pa.Table], *, id_field: str = "id") -> Frame:
    """Return all rows of a frame that was searched, with a column `ibidem_spans`: what each text shares with others.

    `id_field` is the column with the ids, as in `find`; without such a column, rows are known by the ids that `find` gave them.
    """
    (item,) = settle(frame)
    if not isinstance(item, Taken):
        raise UsageError("only an object in memory can get a column", "Pass the frame that was searched.")
    names = column_names(item.records)
    if SPANS_COLUMN in names:
        raise InputError(f"there is already a column '{SPANS_COLUMN}'", "Rename it: ibidem adds a column of that name.")
    ids = _ids(item, id_field)
    of_row = [f"records:{number}" if is_null(name) else str(name) for number, name in enumerate(ids, 1)]
    spans = _spans_by_id(result.passages)
    marks = pa.array([spans.get(name, []) for name in of_row], pa.list_(SPAN))
    changed: Frame = changed_object(item, Changes(np.ones(len(of_row), np.bool_), {}, {SPANS_COLUMN: marks}, ""))
    return changed


def _spans_by_id(passages: pa.Table) -> Mapping[str, list[dict[str, Any]]]:
    """Return the passages of each document, in reading order."""
    spans: dict[str, list[dict[str, Any]]] = {}
    for row in passages.to_pylist():
        for mine, other in ("ab", "ba"):
            values = [row[f"{mine}_start"], row[f"{mine}_end"], *(row[f"{other}_{name}"] for name in ("id", "start", "end"))]
            named = dict(zip([field.name for field in SPAN], [*values, row["similarity"], row["kind"]], strict=True))
            spans.setdefault(row[f"{mine}_id"], []).append(named)
    for found in spans.values():
        found.sort(key=lambda span: (span["start"], span["end"], span["matched_id"]))
    return spans


def _ids(item: Taken, name: str) -> list[Any]:
    """Return the ids of all rows, None where there is none."""
    records = item.records
    if item.kind == "list":
        return [record.id if isinstance(record, Document) else record.get(name) for record in records]
    if not hasattr(records, "__len__"):  # a streamed dataset
        return [record.get(name) for record in records.with_format(None)]
    if name not in column_names(records):
        return [None] * len(records)
    column = records[name]
    ids: list[Any] = column.to_pylist() if isinstance(column, (pa.Array, pa.ChunkedArray)) else list(column)
    return ids


def _changed(frame: Frame, step: BatchStep) -> Frame:
    changed: Frame = _stepped(frame, step)
    return changed


def _stepped(frame: Any, step: BatchStep) -> Any:
    if not (hasattr(frame, "collect_schema") and hasattr(frame, "map_batches")):
        return step(frame)
    schema = frame.collect_schema()  # a LazyFrame of Polars
    step.check_names(list(schema))
    empty = type(frame.clear().collect())  # the class of its frames
    return frame.map_batches(step, schema={**schema, **(empty(MARKS.empty_table()).schema if step.adds else {})})
