"""Cleaned Python objects: what the caller gave, without what is removed, in the same form.

A pandas frame stays a pandas frame with its index, a Polars frame, an Arrow table, a dataset, a series or a list what it is.
Rows that were skipped stay. No library is imported here: an object has the methods that its kind needs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.config import DocumentsConfig
from ibidem.config.surface import given, named
from ibidem.errors import InputError, UsageError
from ibidem.formats.arrow_records import arrow_batches
from ibidem.formats.decisions import Decisions, Marks, SourceDecisions, without_spans
from ibidem.formats.edits import changed_input
from ibidem.formats.python_inputs import Several, Taken, Texts, column_names
from ibidem.model import Document

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Changes:
    """What happens to the rows of an object: which stay, new texts by row, and columns that are added, by name and typed."""

    keep: Mask
    texts: Mapping[int, str]
    marks: Mapping[str, pa.Array]
    text_field: str

    @property
    def kept_rows(self) -> list[int]:
        """The rows that stay."""
        rows: list[int] = np.flatnonzero(self.keep).tolist()
        return rows

    def kept_texts(self) -> tuple[list[int], list[str]]:
        """Return the texts that are new, and in which of the rows that stay."""
        place = np.cumsum(self.keep) - 1
        rows = sorted(row for row in self.texts if self.keep[row])
        return [int(place[row]) for row in rows], [self.texts[row] for row in rows]


def clean_inputs(settled: Sequence[Any], decisions: Decisions, fields: DocumentsConfig, marks: Marks | None) -> Any:
    """Return inputs without what is removed; with `marks`, nothing is, and these columns are added."""
    if not are_objects(settled):
        raise UsageError(
            "the inputs are files, not objects in memory",
            "Use write(folder) for copies of them, or remaining() for the documents.",
        )
    cleaned = []
    for number, item in enumerate(settled, 1):
        source = decisions.of_source(_name(number))
        cleaned.append(changed_object(item, _changes(item, source, _name(number), fields, marks)))
    return cleaned if isinstance(settled, Several) else cleaned[0]


def changed_object(item: Taken, changes: Changes) -> Any:
    """Return an object with changes, in the form it was given in."""
    return _CLEAN[item.kind](item, changes)


def are_objects(settled: Sequence[Any]) -> bool:
    """Say whether all inputs are objects in memory."""
    return all(isinstance(item, Taken) for item in settled)


def kept_rows(settled: Sequence[Any], decisions: Decisions) -> Mask:
    """Return for each row of all objects, one after the other, whether it stays."""
    return np.concatenate([_kept(item, decisions.of_source(_name(number))) for number, item in enumerate(settled, 1)])


def _name(number: int) -> str:
    return "records" if number == 1 else f"records{number}"


def _n_rows(item: Taken) -> int:
    records = item.records
    if isinstance(records, pa.Table | pa.RecordBatch):
        return int(records.num_rows)
    return len(records) if hasattr(records, "__len__") else sum(1 for _ in records)


def _kept(item: Taken, source: SourceDecisions) -> Mask:
    keep = np.ones(_n_rows(item), np.bool_)
    keep[[position - 1 for position, decision in source.all() if decision.drop]] = False
    return keep


def _changes(item: Taken, source: SourceDecisions, name: str, fields: DocumentsConfig, marks: Marks | None) -> Changes:
    decided = source.all()
    rows = [position - 1 for position, _ in decided]
    has_cuts = source.has_cuts
    if fields.html and has_cuts:
        raise InputError(
            "text cannot be cut out of HTML in a table",
            f"Use {given('mark_only', True)} or {given('level', 'document')}, or extract the text first.",
        )
    texts = _texts_at(item, rows, fields.text_field) if has_cuts or not fields.html else []
    if not fields.html and rows and source.known is not None:
        positions = np.array([position for position, _ in decided])
        if source.known.first_unlike(positions, pa.array(texts, pa.large_string())) is not None:
            raise changed_input(name)
    new = {
        row: without_spans(text, decision.cuts)
        for row, text, (_, decision) in zip(rows, texts, decided, strict=False)
        if decision.cuts and not decision.drop
    }
    columns: dict[str, pa.Array] = {}
    if marks is not None:
        marks.check(column_names(item.records), name)
        every = [source.at(position) for position in range(1, _n_rows(item) + 1)]
        columns = dict(zip(marks.names, marks.as_arrays(every), strict=True))
    return Changes(_kept(item, source), new, columns, fields.text_field)


def _texts_at(item: Taken, rows: list[int], name: str) -> list[str]:
    records = item.records
    if isinstance(records, Texts):
        found: Any = [records.texts[row] for row in rows]
    elif item.kind == "list":
        found = [each.text if isinstance(each, Document) else each[name] for each in map(records.__getitem__, rows)]
    elif item.kind == "pandas":
        found = records[name].iloc[rows].tolist()
    elif item.kind in ("polars", "lazyframe"):
        found = records[name][rows].to_list() if rows else []
    elif item.kind in ("dataset", "splits"):
        if not hasattr(records, "select"):  # it is a stream
            chosen = set(rows)
            return [record[name] for row, record in enumerate(records.with_format(None)) if row in chosen]
        found = records.select(rows).with_format(None)[name][:]
    else:
        found = _chosen(_as_table(records).select([name]), rows)[name].to_pylist()
    return [text.decode("utf-8") if isinstance(text, bytes) else text for text in found]


def _as_table(records: Any) -> pa.Table:
    return records if isinstance(records, pa.Table) else pa.Table.from_batches(list(arrow_batches(records)))


def _chosen(table: pa.Table, rows: Sequence[int]) -> pa.Table:
    """Return some rows of a table. Arrow takes none of columns that are views, so these are something else meanwhile."""
    schema = table.schema
    plain = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}
    stored = [column.with_type(plain.get(str(column.type), column.type)) for column in schema]
    taken = table.cast(pa.schema(stored, schema.metadata)).take(pa.array(rows, pa.int64()))
    return taken.cast(schema)


def _clean_list(item: Taken, changes: Changes) -> list[Any]:
    if isinstance(item.records, Texts):
        return _kept_values(item.original, changes)
    records = list(item.records)
    if changes.marks and any(not isinstance(record, (Document, Mapping)) for record in records):
        raise _nothing_to_mark("the list")
    marks = {name: values.to_pylist() for name, values in changes.marks.items()}
    rows = changes.kept_rows
    return [_changed_record(records[row], row, changes, {name: marks[name][row] for name in marks}) for row in rows]


def _changed_record(record: Any, row: int, changes: Changes, marks: Mapping[str, Any]) -> Any:
    if isinstance(record, Document):
        fields = {**record.fields, **marks} if marks else record.fields
        return dataclasses.replace(record, text=changes.texts.get(row, record.text), fields=fields)
    if row not in changes.texts and not marks:
        return record
    return {**record, **({changes.text_field: changes.texts[row]} if row in changes.texts else {}), **marks}


def _kept_values(values: Sequence[Any], changes: Changes) -> list[Any]:
    """Return the texts that stay."""
    if changes.marks:
        raise _nothing_to_mark("a list of texts")
    return [changes.texts.get(row, values[row]) for row in changes.kept_rows]


def _nothing_to_mark(what: str) -> UsageError:
    return UsageError(
        f"{what} has no columns for marks",
        f"Leave out {named('mark_only')} and {named('mark_copies')}, or pass records or a table.",
    )


def _clean_pandas(item: Taken, changes: Changes) -> Any:
    frame = item.records.loc[changes.keep].copy()
    places, texts = changes.kept_texts()
    if places:
        frame[changes.text_field] = _with_texts(frame[changes.text_field], places, texts)
    for name, values in changes.marks.items():
        frame[name] = _pandas_values(values.filter(pa.array(changes.keep)))
    return frame


def _pandas_values(values: pa.Array) -> NDArray[Any]:
    """Return a column as NumPy has it; as objects, if it has nulls or is neither truth values nor numbers."""
    kind = values.type
    if not values.null_count and (pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return values.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
    objects = np.empty(len(values), object)
    for row, value in enumerate(values.to_pylist()):  # one by one: NumPy would take lists of one length for a table
        objects[row] = value
    return objects


def _with_texts(column: Any, places: list[int], texts: list[str]) -> Any:
    """Return a pandas column with other texts in some places."""
    is_category = str(column.dtype) == "category"
    changed = column.astype(object) if is_category else column.copy()
    was_bytes = [isinstance(value, bytes) for value in changed.iloc[places]]
    changed.iloc[places] = [text.encode("utf-8") if was else text for text, was in zip(texts, was_bytes, strict=True)]
    return changed.astype("category") if is_category else changed


def _clean_series(item: Taken, changes: Changes) -> Any:
    if changes.marks:
        raise _nothing_to_mark("a Series")
    places, texts = changes.kept_texts()
    series = item.original[changes.keep]
    if not places:
        return series
    if not hasattr(series, "iloc"):  # an Index
        return type(series)(_kept_values(item.records.texts, changes), name=series.name)
    return _with_texts(series, places, texts)


def _clean_polars(item: Taken, changes: Changes) -> Any:
    frame = item.records
    series = type(frame.get_columns()[0])
    if changes.texts:
        column = frame[changes.text_field]
        values = column.to_list()
        _refuse_enum(column.dtype, f"column '{changes.text_field}'")
        for row, text in changes.texts.items():
            values[row] = text.encode("utf-8") if isinstance(values[row], bytes) else text
        frame = frame.with_columns(series(changes.text_field, values).cast(column.dtype))
    for name, values in changes.marks.items():
        frame = frame.with_columns(series(name, values))
    frame = frame.filter(series("keep", changes.keep.tolist()))
    return frame.lazy() if item.kind == "lazyframe" else frame


def _refuse_enum(kind: Any, what: str) -> None:
    if type(kind).__name__ == "Enum":
        raise InputError(f"{what} is an Enum, which cannot contain a text that was cut", "Cast it to String first.")


def _clean_polars_series(item: Taken, changes: Changes) -> Any:
    series = item.original
    if changes.texts:
        _refuse_enum(series.dtype, "the Series")
    return type(series)(series.name, _kept_values(item.records.texts, changes), dtype=series.dtype)


def _clean_arrow(item: Taken, changes: Changes) -> Any:
    table = _as_table(item.records)
    if changes.texts:
        number = table.schema.get_field_index(changes.text_field)
        field, values = table.schema.field(number), table.column(number).to_pylist()
        for row, text in changes.texts.items():
            values[row] = text
        table = table.set_column(number, field, _typed(values, field.type))
    for name, values in changes.marks.items():
        table = table.append_column(name, values)
    table = _chosen(table, changes.kept_rows)
    if not isinstance(item.original, pa.RecordBatch):
        return table
    arrays = [column.combine_chunks() for column in table.columns]
    return pa.RecordBatch.from_arrays(arrays, schema=table.schema)


def _typed(values: list[Any], kind: pa.DataType) -> Any:
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode().cast(kind)
    return pa.array(values, kind)


def _clean_array(item: Taken, changes: Changes) -> Any:
    values = _typed(_kept_values(item.records.texts, changes), item.original.type)
    return pa.chunked_array([values]) if isinstance(item.original, pa.ChunkedArray) else values


def _clean_dataset(item: Taken, changes: Changes) -> Any:
    """Return a dataset; one that is a stream is cleaned as it is read.

    A format or transform says how rows are shown. It is set aside meanwhile: rows are stored as they are, not as shown.
    """
    dataset, name = item.records.with_format(None), changes.text_field
    keep, texts = changes.keep, dict(changes.texts)
    marks = {column: values.to_pylist() for column, values in changes.marks.items()}

    def cut(record: dict[str, Any], row: int) -> dict[str, Any]:
        changed = {name: texts[row]} if row in texts else {}
        return {**changed, **{column: values[row] for column, values in marks.items()}}

    is_stream = not hasattr(dataset, "select")
    if is_stream:
        cleaned, features = dataset, dataset.features
        if features is not None and marks:
            added = pa.schema([(column, values.type) for column, values in changes.marks.items()])
            features = type(features)({**features, **type(features).from_arrow_schema(added)})
        if texts or marks:
            cleaned = dataset.map(cut, with_indices=True, features=features)
        cleaned = cleaned.filter(lambda record, row: bool(keep[row]), with_indices=True)
    else:
        cleaned = dataset
        if texts:
            cleaned = cleaned.map(cut, with_indices=True, features=dataset.features, load_from_cache_file=False)
        for column, values in changes.marks.items():
            cleaned = cleaned.add_column(column, values)
        cleaned = cleaned.select(np.flatnonzero(keep))
    cleaned = with_format_of(item.records, cleaned)
    return type(item.original)(dict.fromkeys(item.original, cleaned)) if item.kind == "splits" else cleaned


def with_format_of(original: Any, changed: Any) -> Any:
    """Return a changed dataset with the format that the original shows its rows in."""
    if not hasattr(original, "select"):  # it is a stream
        shown_as = getattr(getattr(original, "_formatting", None), "format_type", None)
        return changed if shown_as is None else changed.with_format(shown_as)
    shown = dict(original.format)
    chosen = None if set(shown["columns"]) == set(original.column_names) else shown["columns"]
    return changed.with_format(shown["type"], chosen, shown["output_all_columns"], **shown["format_kwargs"])


_CLEAN: Mapping[str, Callable[[Taken, Changes], Any]] = {
    "list": _clean_list,
    "pandas": _clean_pandas,
    "series": _clean_series,
    "polars": _clean_polars,
    "lazyframe": _clean_polars,
    "polars-series": _clean_polars_series,
    "arrow": _clean_arrow,
    "stream": _clean_arrow,
    "array": _clean_array,
    "dataset": _clean_dataset,
    "splits": _clean_dataset,
}
