"""Inputs as Spark reads them: paths on any file system it knows, data frames, or objects converted to data frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

import pyarrow as pa

from ibidem.columns.page_columns import PageMarks
from ibidem.config import Config, DocumentsConfig
from ibidem.config.document_settings import SAME, reference_fields
from ibidem.config.surface import given, named
from ibidem.errors import InputError, NoValueError
from ibidem.execution.checks import EmptySideError
from ibidem.execution.flow import Mapper, PartedTable
from ibidem.execution.spark.readers import (
    LINES,
    NUMBER,
    PAGED,
    SKIPPED,
    NumberedFile,
    Reader,
    file_reader,
    line_reader,
    raw_lines,
    raw_rows,
    row_reader,
    through,
)
from ibidem.execution.spark.scans import FRAME, Counted, Part, count_records, parts_of, quoted
from ibidem.execution.spark.splits import Splits, raw_split_lines, split_reader
from ibidem.formats.file_encodings import AUTO
from ibidem.formats.jobs import SkippedRecords
from ibidem.formats.records import Wanted, missing_column
from ibidem.formats.registry import FORMATS, JSONL, MBOX, PARQUET
from ibidem.model import Skipped

_READERS: Mapping[str, Callable[[Mapping[str, NumberedFile], DocumentsConfig], Reader]] = {
    JSONL: line_reader,
    PARQUET: row_reader,
    FRAME: row_reader,
    MBOX: file_reader,
    **{name: file_reader for name, kind in FORMATS.items() if kind.is_document},
}
_MOST_TOLD = 1000


@dataclass(frozen=True)
class Scan:
    """A data frame of raw rows, and how they become documents; `records` is the same with all columns, for copies."""

    frame: Any
    reader: Reader
    kind: str
    records: Any
    files: Mapping[str, NumberedFile]
    is_input: bool
    splits: Splits | None = None


@dataclass
class Scans:
    """Everything a run reads. After a stage has read it, `skipped` has the skipped records, and `page_marks` says whether texts
    have pages.

    Files that cannot be read at all are known before: `skipped_here`.
    """

    config: Config
    scans: list[Scan] = field(default_factory=list)
    n_records: int = 0
    n_input: int = 0
    n_bytes: int = 0
    n_frames: int = 0
    described: list[dict[str, Any]] = field(default_factory=list)
    skipped_here: list[Skipped] = field(default_factory=list)
    skipped: PartedTable | None = None
    n_skipped_there: int = 0
    page_marks: PageMarks = field(default_factory=PageMarks)
    columns: dict[str, None] = field(default_factory=dict)  # of tables, in their order

    @property
    def n_skipped(self) -> int:
        """The total number of skipped records."""
        return len(self.skipped_here) + self.n_skipped_there

    def records(self) -> RecordScans:
        """Return the unchanged records of the inputs, for copies."""
        inputs = [scan for scan in self.scans if scan.is_input]
        kinds = sorted({scan.kind for scan in inputs})
        if len(inputs) != 1 or kinds[0] not in (JSONL, PARQUET, FRAME):
            what = " and ".join(kinds) if len(kinds) > 1 else f"{len(inputs)} inputs of {kinds[0]}"
            raise InputError(f"Spark cannot write a cleaned copy of {what}", "Give JSON Lines, or Parquet, or one data frame.")
        return RecordScans(inputs[0], self.config.documents.encoding)

    def mapped(self, mapper: Mapper) -> Iterator[tuple[Any, Mapper]]:
        """Yield every frame with the mapper that reads its rows."""
        for scan in self.scans:
            yield scan.frame, through(scan.reader, mapper)

    @property
    def outputs(self) -> Mapping[str, pa.Schema]:
        """What readers return besides documents."""
        return {"skipped": SKIPPED, "paged": PAGED}

    def after_reading(self, flow: Any, stored: Mapping[str, PartedTable]) -> None:
        """Record skipped records and pages; raise if no record may be skipped."""
        paged = flow.collect(stored["paged"])["has_regions"].to_pylist()
        self.page_marks = PageMarks(bool(paged), any(paged))
        self.skipped = stored["skipped"]
        self.n_skipped_there = flow.count(self.skipped)
        if self.config.output.strict:
            self.first_skipped(flow, strict=True)

    def first_skipped(self, flow: Any, strict: bool) -> SkippedRecords:
        """Return the first skipped records; raise if none are allowed."""
        skipped = SkippedRecords(strict)
        for record in self.skipped_here:
            skipped.add(record)
        if self.skipped is not None and self.n_skipped_there:
            names = ["source", "position", "reason", "id", "document"]
            for row in flow.frame(self.skipped, names).orderBy("document").limit(_MOST_TOLD).collect():
                skipped.add(Skipped(row.source, row.position, row.reason, row.id))
        return skipped


@dataclass
class RecordScans:
    """The unchanged records of an input."""

    scan: Scan
    encoding: str

    @property
    def schema(self) -> pa.Schema:
        """The columns of records, the number of the document first."""
        from pyspark.sql.pandas.types import to_arrow_schema

        if self.scan.kind == JSONL:
            return LINES
        columns = list(to_arrow_schema(self.scan.records.schema, timezone="UTC"))[2:]  # without path and row
        return pa.schema([pa.field(NUMBER, pa.int64()), *columns])

    @property
    def outputs(self) -> Mapping[str, pa.Schema]:
        """What is read besides records: nothing."""
        return {}

    def mapped(self, mapper: Mapper) -> Iterator[tuple[Any, Mapper]]:
        """Yield the frame with the mapper that reads its rows."""
        if self.scan.splits is not None:
            read = raw_split_lines(self.scan.splits, self.scan.files, self.encoding)
        elif self.scan.kind == JSONL:
            read = raw_lines(self.scan.files, self.encoding)
        else:
            read = raw_rows(self.scan.files, self.schema)
        yield self.scan.records, through(read, mapper)

    def after_reading(self, flow: Any, stored: Mapping[str, PartedTable]) -> None:
        """Do nothing: no record is skipped."""


def scan_inputs(spark: Any, inputs: Any, against: Any, scans: Scans, store: Callable[[str, Any], str], whole: bool) -> None:
    """Add what is to be read to the scans, its records counted; `whole`: also for copies with all columns.

    `store` keeps a data frame in the work folder and returns its path.
    """
    config = scans.config
    _check_encoding(config.documents.encoding)
    for is_input, side in ((True, inputs), (False, against)):
        if not is_input and side is None:
            break
        if not is_input:
            _check_id_field(scans, config.documents, "id_field")
            scans.columns.clear()
            config = replace(config, documents=reference_fields(config.documents, config.reference))
        for part in parts_of(spark, side, config):
            _add(spark, part, config, scans, store, is_input, whole)
        if is_input:
            scans.n_input = scans.n_records
        if scans.n_records == (0 if is_input else scans.n_input):
            raise EmptySideError(is_reference=not is_input)
    has_own = against is not None and config.reference.against_id_field != SAME
    _check_id_field(scans, config.documents, "against_id_field" if has_own else "id_field")


def _check_id_field(scans: Scans, fields: DocumentsConfig, setting: str) -> None:
    """Raise where the user named a field for ids, and the inputs are tables without such a column."""
    name = fields.id_field
    is_table = all(scan.kind in (PARQUET, FRAME) for scan in scans.scans)
    if name != DocumentsConfig().id_field and is_table and name not in scans.columns:
        raise NoValueError(f"no record has a field '{name}' with a value", f"Check {named(setting)}.")


def _check_encoding(encoding: str) -> None:
    """Raise for encodings in which line ends cannot be found by their bytes, and where each file may have another."""
    if encoding == AUTO:
        next_step = f"Convert the files to UTF-8, or leave out {given('engine', 'spark')}."
        raise InputError("Spark cannot detect the encoding of files", next_step)
    if "\n{".encode(encoding) != b"\n{":
        raise InputError(
            f"Spark cannot read lines in {encoding}", f"Convert the files to UTF-8, or leave out {given('engine', 'spark')}."
        )


def _add(
    spark: Any, part: Part, config: Config, scans: Scans, store: Callable[[str, Any], str], is_input: bool, whole: bool
) -> None:
    """Count the records of a part, number its files, and add it to the scans."""
    wanted = Wanted(config.documents)
    if part.kind == FRAME:
        scans.n_frames += 1
        if config.documents.text_field not in part.frame.columns:
            raise missing_column("the data frame", part.frame.columns, wanted)
        scans.columns.update(dict.fromkeys(part.frame.columns))
        names = part.frame.columns if whole else [name for name in part.frame.columns if name in wanted.names]
        stored = store(f"input-{len(scans.scans)}", part.frame.select(*map(quoted, names)))
        part = part.stored_at(spark, stored, "records" if scans.n_frames == 1 else f"records{scans.n_frames}")
        scans.described.append({"kind": "data frame"})
    counted: Counted = count_records(spark, part, wanted)
    if part.kind == PARQUET:
        scans.columns.update(dict.fromkeys(counted.whole_rows.columns[2:]))  # without path and row
    numbered: dict[str, NumberedFile] = {}
    n_before = scans.n_records
    for path, file in part.files.items():
        firsts, line = {}, 1
        for begin in sorted(counted.records[path]):
            firsts[begin] = line
            line += counted.records[path][begin]
        # A file as one document has no position; rows of a frame are counted over all files it was stored in.
        is_document = part.kind != FRAME and FORMATS[part.kind].is_document
        first_position = 1 + scans.n_records - n_before if part.kind == FRAME else 0 if is_document else 1
        numbered[path] = NumberedFile(file, scans.n_records, first_position, firsts)
        scans.n_records += line - 1
        scans.n_bytes += part.sizes[path]
        if part.kind != FRAME:
            description = {"path": file.name, "bytes": part.sizes[path]} | ({} if is_input else {"reference": True})
            is_path = file.doc_id == PurePath(file.name).as_posix()
            scans.described.append(description if is_path else description | {"id": file.doc_id})
        if part.kind == PARQUET and part.sizes[path] == 0:
            scans.skipped_here.append(Skipped(file.name, 0, "cannot be read to its end: the file is empty"))
    if counted.splits is not None:
        reader = split_reader(counted.splits, numbered, config.documents)
    else:
        reader = _READERS[part.kind](numbered, config.documents)
    scans.scans.append(Scan(counted.rows, reader, part.kind, counted.whole_rows, numbered, is_input, counted.splits))
