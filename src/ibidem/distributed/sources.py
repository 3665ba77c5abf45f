"""Inputs as Spark reads them: paths of any file system that it knows, data frames, or what the local readers take."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ibidem.blocks import Blocks, Mapper
from ibidem.config import Config, DocumentsConfig
from ibidem.distributed.cleaning import LINES
from ibidem.distributed.reading import (
    SKIPPED,
    NumberedFile,
    Reader,
    file_reader,
    line_reader,
    plain_path,
    raw_lines,
    raw_rows,
    row_reader,
    through,
)
from ibidem.documents import read_batches, resolve_inputs
from ibidem.documents.inputs import HTML, JSONL, PARQUET, TEXT, FileSource, format_of
from ibidem.documents.records import Wanted, missing_column
from ibidem.documents.streams import COMPRESSIONS
from ibidem.engines.spark.session import list_files
from ibidem.errors import InputError
from ibidem.model import Skipped

_FRAME = "frame"
_READERS: Mapping[str, Callable[[Mapping[str, NumberedFile], DocumentsConfig], Reader]] = {
    JSONL: line_reader,
    PARQUET: row_reader,
    TEXT: file_reader,
    HTML: file_reader,
    _FRAME: row_reader,
}
_NEXT_STEP = "Spark reads Parquet, JSON Lines and text files; convert it, or leave out --engine spark."


@dataclass(frozen=True)
class Scan:
    """A data frame of raw rows, and how they become documents; `records` is the same with all columns, for copies."""

    frame: Any
    reader: Reader
    kind: str
    records: Any
    files: Mapping[str, NumberedFile]


@dataclass
class Scans:
    """All that a run reads. After a stage has read it, `skipped` is where the records that were left out lie."""

    scans: Sequence[Scan]
    n_records: int
    n_input: int
    n_bytes: int
    n_frames: int
    described: list[dict[str, Any]]
    skipped_here: list[Skipped] = field(default_factory=list)
    skipped: Blocks | None = None

    def records(self) -> RecordScans:
        """Return the records of the inputs as they stand, to be copied."""
        inputs = [scan for scan in self.scans if all(file.first_document < self.n_input for file in scan.files.values())]
        kinds = {scan.kind for scan in inputs}
        if len(inputs) != 1 or not kinds <= {JSONL, PARQUET, _FRAME}:
            what = " and ".join(sorted(kinds)) if len(kinds) > 1 else f"{len(inputs)} inputs of {min(kinds)}"
            raise InputError(f"Spark cannot write a cleaned copy of {what}", "Give JSON Lines, or Parquet, or one data frame.")
        return RecordScans(inputs[0])

    def mapped(self, mapper: Mapper) -> Iterator[tuple[Any, Mapper]]:
        """Yield every frame with the mapper that reads its rows."""
        for scan in self.scans:
            yield scan.frame, through(scan.reader, mapper)

    @property
    def outputs(self) -> Mapping[str, pa.Schema]:
        """What readers give besides documents."""
        return {"skipped": SKIPPED}


@dataclass
class RecordScans:
    """The records of an input as they stand."""

    scan: Scan
    skipped: Blocks | None = None

    @property
    def schema(self) -> pa.Schema:
        """The columns of records, the number of the document first."""
        from pyspark.sql.pandas.types import to_arrow_schema

        if self.scan.kind == JSONL:
            return LINES
        columns = list(to_arrow_schema(self.scan.records.schema))[2:]  # without path and row
        return pa.schema([pa.field("document", pa.int64()), *columns])

    @property
    def outputs(self) -> Mapping[str, pa.Schema]:
        """What is read besides."""
        return {"skipped": SKIPPED}

    def mapped(self, mapper: Mapper) -> Iterator[tuple[Any, Mapper]]:
        """Yield the frame with the mapper that reads its rows."""
        read = raw_lines(self.scan.files) if self.scan.kind == JSONL else raw_rows(self.scan.files, self.schema)
        yield self.scan.records, through(read, mapper)


@dataclass(frozen=True)
class _Part:
    """Neighbouring files of one kind, or a data frame."""

    kind: str
    files: list[FileSource]
    frame: Any = None


def scan_inputs(spark: Any, inputs: Any, against: Any, config: Config, store: Callable[[str, Any], str]) -> Scans:
    """Return what is to be read, its records counted. `store` keeps a data frame in the work folder and returns its path."""
    scans = Scans([], 0, 0, 0, 0, [])
    found: list[Scan] = []
    for side in [inputs] if against is None else [inputs, against]:
        for part in _parts(spark, side, config, scans):
            _count(spark, part, config, scans, found, store)
        if side is inputs:
            scans.n_input = scans.n_records
    scans.scans = found
    return scans


def is_frame(item: Any) -> bool:
    """Whether an object is a Spark data frame."""
    return hasattr(item, "mapInArrow") and hasattr(item, "sparkSession")


def _parts(spark: Any, inputs: Any, config: Config, scans: Scans) -> Iterator[_Part]:
    given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    alone = len(given) == 1
    waiting: list[Any] = []
    for item in given:
        if is_frame(item):
            yield from _local_parts(spark, waiting, config, scans)
            waiting = []
            yield _Part(_FRAME, [], item)
        elif isinstance(item, str) and "://" in item and not item.startswith("file://"):
            yield from _local_parts(spark, waiting, config, scans)
            waiting = []
            yield from _file_parts(_remote_files(spark, item, alone))
        else:
            waiting.append(item.removeprefix("file://") if isinstance(item, str) else item)
    yield from _local_parts(spark, waiting, config, scans)


def _local_parts(spark: Any, items: list[Any], config: Config, scans: Scans) -> Iterator[_Part]:
    if not items:
        return
    sources = resolve_inputs(items if len(items) > 1 else items[0])
    files = [source for source in sources if isinstance(source, FileSource)]
    if len(files) == len(sources):
        yield from _file_parts(files)
        return
    # Python objects: read here, by the readers that know them, and handed to Spark.
    fields = ["id", "text", "time", "group"]
    batches = [batch.select(fields) for batch in read_batches(items, config.documents, scans.skipped_here.append)]
    names = [getattr(config.documents, f"{name}_field") for name in fields]
    table = pa.Table.from_batches(batches).rename_columns(names) if batches else None
    if table is not None:
        kinds = [pa.string() if pa.types.is_large_string(kind) else kind for kind in table.schema.types]
        yield _Part(_FRAME, [], spark.createDataFrame(table.cast(pa.schema(list(zip(names, kinds, strict=True))))))


def _remote_files(spark: Any, path: str, alone: bool) -> list[FileSource]:
    names = list_files(spark, path)
    if not names:
        raise InputError(f"no file matches {path}", "Check the spelling, and whether Spark may read there.")
    prefix = path.rstrip("/") + "/"
    return [FileSource(name, name.removeprefix(prefix) if alone else name, format_of(name)) for name in names]


def _file_parts(files: Sequence[FileSource]) -> Iterator[_Part]:
    waiting: list[FileSource] = []
    for file in files:
        _check_format(file)
        if waiting and waiting[0].format != file.format:
            yield _Part(waiting[0].format or "", waiting)
            waiting = []
        waiting.append(file)
    if waiting:
        yield _Part(waiting[0].format or "", waiting)


def _check_format(file: FileSource) -> None:
    if file.format not in _READERS:
        raise InputError(f"Spark cannot read {file.name}", _NEXT_STEP)
    suffix = os.path.splitext(file.name)[1].lower()
    if suffix in COMPRESSIONS and file.format != JSONL:
        raise InputError(f"Spark cannot read {file.name}: of compressed files it reads JSON Lines", _NEXT_STEP)


def _count(spark: Any, part: _Part, config: Config, scans: Scans, found: list[Scan], store: Callable[[str, Any], str]) -> None:
    """Count the records of a part, number its files, and add it to the scans."""
    from pyspark.sql import functions

    frame, files = part.frame, {_absolute(file.name): file for file in part.files}
    if part.kind == _FRAME:
        if config.documents.text_field not in frame.columns:
            raise missing_column("the data frame", frame.columns, Wanted(config.documents))
        stored = store(f"input-{len(found)}", frame)
        scans.n_frames += 1
        name = "records" if scans.n_frames == 1 else f"records{scans.n_frames}"
        files = {_without_scheme(path): FileSource(name, name, PARQUET) for path in list_files(spark, stored)}
        frame = spark.read.parquet(stored)
        scans.described.append({"kind": "data frame"})
    elif part.kind == PARQUET:
        frame = spark.read.parquet(*map(_escaped, files))
        if config.documents.text_field not in frame.columns:
            raise missing_column(part.files[0].name, frame.columns, Wanted(config.documents))
    elif part.kind == JSONL:
        frame = spark.read.option("lineSep", "\n").text([_escaped(path) for path in files])
    else:
        frame = spark.read.format("binaryFile").load([_escaped(path) for path in files])
    path, block = functions.col("_metadata.file_path"), functions.col("_metadata.file_block_start")
    counted: dict[str, dict[int, int]] = {name: {} for name in files}
    if part.kind in (TEXT, HTML):
        counted = {name: {0: 1} for name in files}
        rows = frame.select(functions.col("path"), functions.col("content"))
    elif part.kind == JSONL:
        for row in frame.groupBy(path.alias("path"), block.alias("block")).count().collect():
            counted[plain_path(row["path"])][row["block"]] = row["count"]
        rows = frame.select(path, block, functions.col("value").cast("binary"))
    else:
        for row in frame.groupBy(path.alias("path")).count().collect():
            counted[plain_path(row["path"])][0] = row["count"]
        columns = [name for name in frame.columns if name in Wanted(config.documents).names]
        rows = frame.select(path, functions.col("_metadata.row_index"), *(functions.col(f"`{name}`") for name in columns))
    numbered: dict[str, NumberedFile] = {}
    n_before = scans.n_records
    for name, source in files.items():
        firsts, line = {}, 1
        for begin in sorted(counted[name]):
            firsts[begin] = line
            line += counted[name][begin]
        # A file as a whole has no position; rows of a frame are counted over all the files that it was stored in.
        first_position = {TEXT: 0, HTML: 0, _FRAME: 1 + scans.n_records - n_before}.get(part.kind, 1)
        numbered[name] = NumberedFile(source, scans.n_records, first_position, firsts)
        scans.n_records += line - 1
    for file in part.files:
        scans.n_bytes += file.n_bytes or 0
        scans.described.append({"path": file.name, **({"bytes": file.n_bytes} if file.n_bytes is not None else {})})
    records = rows if part.kind not in (PARQUET, _FRAME) else frame.select(path, functions.col("_metadata.row_index"), "*")
    found.append(Scan(rows, _READERS[part.kind](numbered, config.documents), part.kind, records, numbered))


def _absolute(path: str) -> str:
    return path if "://" in path else os.path.abspath(path)


def _without_scheme(path: str) -> str:
    """Return a path of this machine as a path, others as they are."""
    return "/" + path[5:].lstrip("/") if path.startswith("file:") else path


def _escaped(path: str) -> str:
    """Return a path that Spark takes as it is: it would read some characters as patterns."""
    return "".join("\\" + c if c in "*?[]{}\\" else c for c in path)
