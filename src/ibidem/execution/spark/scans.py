"""What inputs mean on Spark: runs of files of one kind, and how many records each file has."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from ibidem.config import Config
from ibidem.config.surface import given
from ibidem.errors import InputError
from ibidem.execution.spark.readers import plain_path, without_scheme
from ibidem.execution.spark.session import escaped, list_sizes
from ibidem.execution.spark.splits import Splits, count_split_lines, splits_of
from ibidem.formats.byte_streams import COMPRESSIONS
from ibidem.formats.inputs import resolve
from ibidem.formats.mbox_files import count_messages
from ibidem.formats.metadata import NONE
from ibidem.formats.python_inputs import Texts
from ibidem.formats.records import Wanted, missing_column
from ibidem.formats.registry import FORMATS, JSONL, MBOX, PARQUET, format_of
from ibidem.formats.sources import FileSource, ObjectSource, has_arrow
from ibidem.model import Document

FRAME = "data frame"
_KINDS = (JSONL, PARQUET, MBOX, *(name for name, kind in FORMATS.items() if kind.is_document))


@dataclass(frozen=True)
class Part:
    """Files of one kind, by their full paths, with their sizes in bytes; or a data frame."""

    kind: str
    files: Mapping[str, FileSource]
    sizes: Mapping[str, int]
    frame: Any = None

    def stored_at(self, spark: Any, folder: str, name: str) -> Part:
        """Return the data frame as the files it was stored in, in the order of its rows."""
        sizes = {without_scheme(path): size for path, size in list_sizes(spark, folder).items()}
        return Part(FRAME, {path: FileSource(name, name, PARQUET) for path in sizes}, sizes)


@dataclass(frozen=True)
class Counted:
    """The number of records of every file, by the byte where each block begins; and the rows to read.

    Rows begin with the path and the block or number; `whole_rows` have all columns. With `splits`, rows are the numbers of
    tasks, which read these.
    """

    records: Mapping[str, Mapping[int, int]]
    rows: Any
    whole_rows: Any
    splits: Splits | None = None


def is_frame(item: Any) -> bool:
    """Return whether an object is a Spark data frame."""
    return hasattr(item, "mapInArrow") and hasattr(item, "sparkSession")


def parts_of(spark: Any, inputs: Any, config: Config) -> Iterator[Part]:
    """Yield the parts of the inputs, in order."""
    given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    waiting: list[Any] = []
    found: list[Any] = []
    for item in given:
        is_remote = isinstance(item, str) and "://" in item and not item.startswith("file:")
        if is_frame(item) or is_remote:
            found += _local_sources(waiting, config)
            waiting = []
            found += [item] if is_frame(item) else _remote_files(spark, item)
        else:
            waiting.append(without_scheme(item) if isinstance(item, str) else item)
    found += _local_sources(waiting, config)
    files: list[tuple[FileSource, int]] = []
    for source in found:
        if isinstance(source, tuple) and (not files or files[0][0].format == source[0].format):
            files.append(source)
            continue
        yield from _as_part(files)
        files = [source] if isinstance(source, tuple) else []
        if not files:
            yield Part(FRAME, {}, {}, source if is_frame(source) else _as_frame(spark, source, config))
    yield from _as_part(files)


def _local_sources(items: list[Any], config: Config) -> list[Any]:
    if not items:
        return []
    resolved, table = resolve(items if len(items) > 1 else items[0]), config.documents.metadata
    sources = (resolved if table == NONE else resolved.without_file(table)).sources
    return [(source, source.n_bytes or 0) if isinstance(source, FileSource) else source for source in sources]


def _remote_files(spark: Any, path: str) -> list[tuple[FileSource, int]]:
    sizes = list_sizes(spark, path)
    if not sizes:
        raise InputError(f"no file matches {path}", "Check the spelling, and that Spark may read there.")
    return [(FileSource(name, name, format_of(name)), size) for name, size in sizes.items()]


def _as_part(files: Sequence[tuple[FileSource, int]]) -> Iterator[Part]:
    if not files:
        return
    by_path: dict[str, FileSource] = {}
    for file, _ in files:
        _check_file(file)
        path = file.name if "://" in file.name else os.path.abspath(file.path)
        if path in by_path:
            raise InputError(f"{file.name} is given twice", "Give it once.")
        by_path[path] = file
    yield Part(files[0][0].format or "", by_path, dict(zip(by_path, (size for _, size in files), strict=True)))


def _check_file(file: FileSource) -> None:
    name = os.path.basename(file.name)
    other = (
        "Spark reads Parquet, JSON Lines, mailboxes and files that are one document; convert it, or leave out "
        f"{given('engine', 'spark')}."
    )
    if file.format not in _KINDS:
        raise InputError(f"Spark cannot read {file.name}", other)
    if os.path.splitext(name)[1].lower() in COMPRESSIONS and file.format != JSONL:
        raise InputError(f"Spark cannot read {file.name}: of compressed files it reads only JSON Lines", other)
    if name.startswith((".", "_")):
        raise InputError(f"Spark ignores {file.name} because of the first character of its name", "Rename it.")


def _as_frame(spark: Any, source: ObjectSource, config: Config) -> Any:
    """Return an object with records as a data frame with all their fields."""
    records = source.records
    try:
        if has_arrow(records):
            records = records.with_format("arrow")[:] if hasattr(records, "with_format") else records
            table = pa.Table.from_pandas(records) if hasattr(records, "itertuples") else pa.table(records)
        else:
            names = config.documents
            found = records.records(names.text_field, names.id_field) if isinstance(records, Texts) else records
            table = pa.Table.from_pylist([_as_dict(record, config) for record in found])
        if table.num_rows == 0:
            table = pa.table({config.documents.text_field: pa.array([], pa.string())})
        return spark.createDataFrame(table)
    except (pa.ArrowException, TypeError) as error:
        raise InputError(f"Spark cannot read the records as a table: {error}", "Give a data frame, or files.") from error


def _as_dict(record: Any, config: Config) -> Mapping[str, Any]:
    if not isinstance(record, Document):
        return record  # type: ignore[no-any-return]
    names = config.documents
    own = {names.id_field: record.id, names.text_field: record.text, names.time_field: record.time}
    return {**own, names.group_field: record.group, **asdict(record)["fields"]}


def count_records(spark: Any, part: Part, wanted: Wanted) -> Counted:
    """Count the records of every file; for lines, also where Spark splits the file."""
    from pyspark.sql import functions

    paths = [escaped(path) for path in part.files]
    counted: dict[str, dict[int, int]] = {path: {} for path in part.files}
    if part.kind == MBOX or (part.kind != FRAME and FORMATS[part.kind].is_document):
        frame = spark.read.format("binaryFile").load(paths)
        rows = frame.select(_file_metadata(frame, "file_path", "path"), functions.col("content"))
        if part.kind == MBOX:
            for row in rows.mapInArrow(_count_messages, "path string, n long").collect():
                counted[plain_path(row.path)][0] = row.n
            return Counted(counted, rows, rows)
        return Counted({path: {0: 1} for path in part.files}, rows, rows)
    if part.kind == JSONL and all("://" not in path for path in part.files):
        splits = splits_of(part.sizes, spark.sparkContext.defaultParallelism, wanted.config.encoding)
        rows = spark.range(0, len(splits), 1, max(1, len(splits)))
        return Counted(count_split_lines(spark, splits), rows, rows, splits)
    if part.kind == JSONL:
        frame = spark.read.option("lineSep", "\n").text(paths)
        place = [_file_metadata(frame, "file_path", "path"), _file_metadata(frame, "file_block_start", "place")]
        for row in frame.select(*place).groupBy("ibidem:path", "ibidem:place").count().collect():
            counted[plain_path(row[0])][row[1]] = row[2]
        rows = frame.select(*place, functions.col("value").cast("binary"))
        return Counted(counted, rows, rows)
    frame = spark.read.option("mergeSchema", "true").parquet(*paths)
    if wanted.config.text_field not in frame.columns:
        raise missing_column(next(iter(part.files.values())).name, frame.columns, wanted)
    place = [_file_metadata(frame, "file_path", "path"), _file_metadata(frame, "row_index", "place")]
    for row in frame.select(place[0]).groupBy("ibidem:path").count().collect():
        counted[plain_path(row[0])][0] = row[1]
    chosen = [quoted(name) for name in frame.columns if name in wanted.names]
    return Counted(counted, frame.select(*place, *chosen), frame.select(*place, *map(quoted, frame.columns)))


def _count_messages(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        numbers = [count_messages(content.as_py()) for content in batch.column(1)]
        yield pa.RecordBatch.from_arrays([batch.column(0).cast(pa.string()), pa.array(numbers, pa.int64())], ["path", "n"])


def quoted(name: str) -> str:
    """Return the name of a column, quoted for Spark."""
    return "`" + name.replace("`", "``") + "`"


def _file_metadata(frame: Any, name: str, alias: str) -> Any:
    """Return what Spark reports about each row's file, under a name that no user's column has."""
    return frame.metadataColumn("_metadata").getField(name).alias(f"ibidem:{alias}")
