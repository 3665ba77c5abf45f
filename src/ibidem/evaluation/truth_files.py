"""Tables of passages and lists of pairs from files: Parquet, JSON lines or CSV, as ibidem writes them or made by hand."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ibidem.config import FORMATS
from ibidem.errors import InputError
from ibidem.evaluation.document_numbers import PLACES, misplaced_rows

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_KNOWN_FORMATS = "Give a .parquet, .jsonl or .csv table (the last two also as .gz or .zst), or a results folder."
_MAX_CELL_CHARS = (1 << 31) - 1  # texts of passages may be beside the places
_READ_ERRORS = (OSError, EOFError, ValueError, csv.Error, pa.ArrowException)


def read_passages(path: Path) -> pa.Table:
    """Return the places of passages, and their categories if there are any, from a table or from a folder of results."""
    return read_table(path, PLACES)


def read_pairs(path: Path) -> pa.Table:
    """Return pairs of documents (a_id, b_id), and their categories if there are any."""
    return read_table(path, ("a_id", "b_id"))


def read_table(path: Path, columns: Sequence[str], names: Sequence[str] = ("passages",)) -> pa.Table:
    """Return some columns of a table, and `category` if it is there.

    Of a folder of results the first table of these names is read. Whatever cannot be in a column raises, with its file and
    line.
    """
    table_path = _table_in(path, names)
    table_format = _format_of(table_path)
    if table_format is None:
        raise InputError(f"{table_path} is not a table in a known format", _KNOWN_FORMATS)
    read = {"parquet": _read_parquet, "jsonl": _read_jsonl, "csv": _read_csv}[table_format]
    tables = []
    for file in _files_of(table_path):
        try:
            tables.append(read(file, columns))
        except _READ_ERRORS as error:
            raise InputError(f"{file} cannot be read as {table_format}: {error}", _KNOWN_FORMATS) from error
    if not tables:
        raise InputError(f"{path} contains no part of a table", _KNOWN_FORMATS)
    return pa.concat_tables(tables, promote_options="default")


def table_columns(path: Path, names: Sequence[str] = ("passages",)) -> frozenset[str]:
    """Return the names of the columns that the first row of a table has, without checking anything else."""
    table_path = _table_in(path, names)
    for file in _files_of(table_path):
        try:
            columns = _first_columns(file, _format_of(table_path))
        except (*_READ_ERRORS, TypeError, RecursionError):
            break
        if columns:  # a file may be empty
            return columns
    return frozenset()  # reading the table will tell what is wrong with it


def _first_columns(file: Path, table_format: str | None) -> frozenset[str]:
    if table_format == "parquet":
        import pyarrow.parquet

        return frozenset(pyarrow.parquet.read_schema(file).names)
    if table_format == "jsonl":
        with _open_text(file, newline="\n") as text:
            return frozenset(json.loads(next(filter(str.strip, text), "{}")))
    with _open_text(file, newline="") as text:
        return frozenset(next(csv.reader(text), []))


def _files_of(table_path: Path) -> list[Path]:
    """Return the file of a table, or all of them if it is a folder, as Spark writes it."""
    if not table_path.is_dir():
        return [table_path]
    return sorted(file for file in table_path.iterdir() if file.is_file() and file.name[0] not in "._")


def _table_in(path: Path, names: Sequence[str]) -> Path:
    """Return the path itself, or if it is a folder of results, the table of one of these names."""
    if not path.exists():
        raise InputError(f"there is no file or folder {path}", f"Check the spelling; the current folder is {Path.cwd()}.")
    if not path.is_dir() or path.suffix.removeprefix(".") in FORMATS:
        return path
    for name in names:
        found = sorted(entry for entry in path.iterdir() if entry.name.startswith(f"{name}.") and _format_of(entry))
        if len(found) > 1:
            raise InputError(f"{path} contains more than one table of {name}", f"Give one of them: {found[0]}")
        if found:
            return found[0]
    verb = {"passages": "find", "hits": "index query"}.get(names[0], "cluster")
    next_step = f"Give a folder that `ibidem {verb}` wrote, or the table itself."
    raise InputError(f"{path} contains no table of {' or '.join(names)}", next_step)


def _format_of(path: Path) -> str | None:
    """Return the format that the name of a table says, None if it is not known."""
    compressed = path.suffix.lower() in _COMPRESSIONS
    table_format = (path.with_suffix("") if compressed else path).suffix.lower().removeprefix(".")
    return table_format if table_format in FORMATS and not (compressed and table_format == "parquet") else None


def _read_parquet(path: Path, columns: Sequence[str]) -> pa.Table:
    import pyarrow.parquet

    # A file, and not a path: files in folders may look like partitions.
    with pyarrow.parquet.ParquetFile(path) as file:
        names = set(file.schema_arrow.names)
        _check_columns(path, columns, names)
        table = file.read([*columns, *({"category"} & names)])
    for k, name in enumerate(table.column_names):
        try:
            column = _cast(table[name], name)
        except pa.ArrowException as error:
            raise InputError(f"{path}: column {name} does not contain {_wanted(name)}: {error}", _how(columns)) from error
        if column.null_count and name != "category":
            row = column.is_null().index(True).as_py()
            raise InputError(f"{path}, row {row + 1}: no {name}", _how(columns))
        table = table.set_column(k, name, column)
    if "category" in names and table["category"].null_count == table.num_rows:
        table = table.drop_columns(["category"])
    _check_places(path, table, "row", range(1, table.num_rows + 1))
    return table


def _cast(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    kind = _kind_of(name)
    if kind == "answer" and not pa.types.is_boolean(column.type):
        answers = [None if value is None else _answer(value) for value in column.to_pylist()]
        if len(wrong := [k for k, value in enumerate(answers) if value is None and column[k].is_valid]):
            raise pa.ArrowInvalid(f"{column[wrong[0]].as_py()!r} in row {wrong[0] + 1}")
        return pa.chunked_array([answers], pa.bool_())
    column = column.cast(_TYPES[kind])
    return pc.if_else(pc.equal(column, ""), None, column) if name == "category" else column


def _read_jsonl(path: Path, columns: Sequence[str]) -> pa.Table:
    with _open_text(path, newline="\n") as text:
        return _table_of(path, _json_records(path, text, columns), columns)


def _read_csv(path: Path, columns: Sequence[str]) -> pa.Table:
    with _open_text(path, newline="") as text:
        return _table_of(path, _csv_records(path, text, columns), columns)


def _open_text(path: Path, newline: str) -> io.TextIOWrapper:
    stream = pa.input_stream(path, compression=_COMPRESSIONS.get(path.suffix.lower()))
    return io.TextIOWrapper(stream, encoding="utf-8-sig", newline=newline)


def _table_of(path: Path, records: Iterator[tuple[int, dict[str, Any]]], columns: Sequence[str]) -> pa.Table:
    """Return records as columns, each value checked."""
    values: dict[str, list[Any]] = {name: [] for name in (*columns, "category")}
    lines = []
    for line, record in records:
        lines.append(line)
        for name in columns:
            value = _READ_AS[_kind_of(name)](record[name])
            if value is None:
                raise InputError(f"{path}, line {line}: {name} is {record[name]!r}, not {_wanted(name)}", _how(columns))
            values[name].append(value)
        values["category"].append(_name(record.get("category")))
    if not any(values["category"]):
        del values["category"]
    table = pa.table({name: pa.array(column, _type_of(name)) for name, column in values.items()})
    _check_places(path, table, "line", lines)
    return table


def _json_records(path: Path, text: io.TextIOWrapper, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, written in enumerate(text, start=1):
        if not written.strip():
            continue
        try:
            record = json.loads(written)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {line} is not JSON: {error}", _how(columns)) from error
        if not isinstance(record, dict):
            raise InputError(f"{path}, line {line} is not a JSON object", _how(columns))
        _check_columns(f"{path}, line {line}", columns, record)
        yield line, record


def _csv_records(path: Path, text: io.TextIOWrapper, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    csv.field_size_limit(max(csv.field_size_limit(), _MAX_CELL_CHARS))
    reader = csv.reader(text)
    header = next(reader, [])
    _check_columns(path, columns, header)
    for cells in reader:
        if not cells:
            continue
        if len(cells) != len(header):
            raise InputError(
                f"{path}, line {reader.line_num} has {len(cells)} cells, but the header has {len(header)}", _how(columns)
            )
        yield reader.line_num, dict(zip(header, cells, strict=True))


def _check_columns(where: Path | str, columns: Sequence[str], present: Any) -> None:
    if missing := [name for name in columns if name not in present]:
        word = "columns" if len(missing) > 1 else "column"
        raise InputError(f"{where}: missing {word} {', '.join(missing)}", _how(columns))


def _check_places(path: Path, table: pa.Table, unit: str, numbers: Sequence[int]) -> None:
    for name in (name for name in table.column_names if name.endswith("_sentence")):
        if len(rows := np.flatnonzero(table[name].to_numpy() < 0)):
            raise InputError(f"{path}, {unit} {numbers[rows[0]]}: {name} is below 0", "Sentences are numbered from 0.")
    if "a_start" not in table.column_names or not len(rows := misplaced_rows(table)):
        return
    (row,) = table.slice(rows[0], 1).to_pylist()
    places = " and ".join(f"{side} [{row[f'{side}_start']}:{row[f'{side}_end']}]" for side in "ab")
    message = f"{path}, {unit} {numbers[rows[0]]}: {places} are not inside two texts"
    raise InputError(message, "Offsets count characters from 0; the end is not included.")


def _offset(value: Any) -> int | None:
    """Return a whole number of at most 18 digits, also one that is written as text; None for anything else."""
    if type(value) is int:
        return value if abs(value) < 10**18 else None
    return int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 18 else None


def _name(value: Any) -> str | None:
    """Return text, or a number as text; None for anything else and for an empty text."""
    return str(value) if type(value) is int else value if isinstance(value, str) and value else None


def _answer(value: Any) -> bool | None:
    """Return yes or no as it is written in JSON, or as CSV may have it; None for anything else."""
    return value if isinstance(value, bool) else _ANSWERS.get(str(value).strip().lower())


_ANSWERS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_READ_AS = {"number": _offset, "name": _name, "answer": _answer}
_TYPES = {"number": pa.int64(), "name": pa.large_string(), "answer": pa.bool_()}


def _kind_of(name: str) -> str:
    if name.endswith(("_start", "_end", "_sentence")):
        return "number"
    return "answer" if name in ("duplicated", "canonical") else "name"


def _type_of(name: str) -> pa.DataType:
    return _TYPES[_kind_of(name)]


def _wanted(name: str) -> str:
    return {"number": "a whole number", "name": "an id", "answer": "true or false"}[_kind_of(name)]


def _how(columns: Sequence[str]) -> str:
    return f"Required columns: {' '.join(columns)}; a column category is optional."
