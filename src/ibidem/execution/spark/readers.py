"""From rows that Spark reads to documents, with the readers that all engines share. These functions run in the workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ibidem.columns.page_columns import PageMarks
from ibidem.columns.parted_tables import NUMBERED, table_of
from ibidem.columns.texts import text_buffers
from ibidem.config import DocumentsConfig
from ibidem.config.surface import as_spoken_here
from ibidem.execution.flow import Mapper, Sent
from ibidem.formats.arrow_records import arrow_jobs
from ibidem.formats.byte_streams import BOM, is_utf8
from ibidem.formats.extracted_files import documents_of_contents
from ibidem.formats.jobs import Outcome
from ibidem.formats.jsonl_files import parse_lines
from ibidem.formats.mbox_files import documents_of_mailbox
from ibidem.formats.records import Wanted
from ibidem.formats.registry import FORMATS, MBOX, TEXT
from ibidem.formats.sources import FileSource
from ibidem.formats.text_files import documents_of_files

NUMBER = "ibidem:document"  # of copied records; no user's column has this name
LINES = pa.schema([(NUMBER, pa.int64()), ("line", pa.large_binary())])
SKIPPED = pa.schema(
    [("document", pa.int64()), ("source", pa.string()), ("position", pa.int64()), ("reason", pa.string()), ("id", pa.string())]
)
PAGED = pa.schema([("has_regions", pa.bool_())])  # a row for each batch in which texts have pages

Reader = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch | Sent]]


@dataclass(frozen=True)
class NumberedFile:
    """A file, the document number and the position of its first record.

    `first_lines`: for files of lines, the first line of each block, by the byte at which the block begins.
    """

    source: FileSource
    first_document: int
    first_position: int
    first_lines: Mapping[int, int]


def without_scheme(path: str) -> str:
    """Return a local path without its scheme, and others unchanged."""
    return "/" + path[5:].lstrip("/") if path.startswith("file:") else path


def plain_path(uri: str) -> str:
    """Return the path that Spark means by a URI: local ones without a scheme, others with it."""
    return without_scheme(unquote(uri))


def through(reader: Reader, mapper: Mapper) -> Mapper:
    """Return a mapper over the rows of a reader; what the reader skips is sent along with the mapper's output."""

    @as_spoken_here
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[Sent]:
        aside: list[Sent] = []

        def documents() -> Iterator[pa.RecordBatch]:
            for read in reader(batches):
                if isinstance(read, Sent):
                    aside.append(read)
                else:
                    yield read

        for emitted in mapper(documents()):
            yield emitted
            while aside:
                yield aside.pop()
        yield from aside

    return run


def line_reader(files: Mapping[str, NumberedFile], config: DocumentsConfig) -> Reader:
    """Return a reader of rows (path, block, line): the lines of a block come in order, one after the other."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch | Sent]:
        wanted = Wanted(config)
        n_seen: dict[tuple[str, int], int] = {}
        for batch in batches:
            for path, block, begin, end in _runs(batch.column(0), batch.column(1).to_numpy()):
                file = files[plain_path(path)]
                line = file.first_lines[block] + n_seen.get((path, block), 0)
                n_seen[path, block] = n_seen.get((path, block), 0) + end - begin
                lines = batch.column(2).slice(begin, end - begin)
                outcome = parse_lines(_joined(lines, line == 1, config.encoding), line, file.source.name, wanted)
                yield from numbered(outcome, file)

    return read


def row_reader(files: Mapping[str, NumberedFile], config: DocumentsConfig) -> Reader:
    """Return a reader of rows (path, number in the file, columns…) of Parquet files."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch | Sent]:
        wanted = Wanted(config)
        for batch in batches:
            numbers = batch.column(1).to_numpy()
            rows = batch.select(batch.schema.names[2:])
            # Rows left out by filters or splits would break the count.
            for path, _, begin, end in _runs(batch.column(0), numbers - np.arange(len(numbers))):
                file = files[plain_path(path)]
                first = file.first_position + int(numbers[begin])
                for job in arrow_jobs(rows.slice(begin, end - begin), first, file.source.name, wanted):
                    yield from numbered(job(), file)

    return read


def raw_lines(files: Mapping[str, NumberedFile], encoding: str) -> Reader:
    """Return a reader of unchanged lines, in UTF-8 and numbered."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch | Sent]:
        n_seen: dict[tuple[str, int], int] = {}
        for batch in batches:
            for path, block, begin, end in _runs(batch.column(0), batch.column(1).to_numpy()):
                file = files[plain_path(path)]
                first = file.first_document + file.first_lines[block] - 1 + n_seen.get((path, block), 0)
                n_seen[path, block] = n_seen.get((path, block), 0) + end - begin
                numbers = pa.array(np.arange(first, first + end - begin))
                lines = batch.column(2).slice(begin, end - begin).cast(pa.large_binary())
                if not is_utf8(encoding):
                    lines = pa.array([_as_utf8(line, encoding) for line in lines.to_pylist()], pa.large_binary())
                yield pa.RecordBatch.from_arrays([numbers, lines], schema=LINES)

    return read


def raw_rows(files: Mapping[str, NumberedFile], schema: pa.Schema) -> Reader:
    """Return a reader of unchanged rows, numbered."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch | Sent]:
        for batch in batches:
            numbers = batch.column(1).to_numpy()
            for path, _, begin, end in _runs(batch.column(0), numbers - np.arange(len(numbers))):
                documents = pa.array(files[plain_path(path)].first_document + numbers[begin:end])
                columns = [column.slice(begin, end - begin) for column in batch.columns[2:]]
                columns = [column.cast(kind) for column, kind in zip(columns, schema.types[1:], strict=True)]
                yield pa.RecordBatch.from_arrays([documents, *columns], schema=schema)

    return read


def file_reader(files: Mapping[str, NumberedFile], config: DocumentsConfig) -> Reader:
    """Return a reader of rows (path, content): a file is a document, or a mailbox."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch | Sent]:
        wanted = Wanted(config)
        for batch in batches:
            for path, content in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
                file = files[plain_path(path)]
                data = content.as_py()
                if file.source.format == MBOX:
                    outcome = documents_of_mailbox(data, file.source.name, wanted)
                else:
                    make = documents_of_contents if FORMATS[file.source.format or TEXT].is_extracted else documents_of_files
                    outcome = make([(file.source, data)], wanted)
                yield from numbered(outcome, file)

    return read


def _runs(paths: pa.Array, blocks: Any) -> Iterator[tuple[str, int, int, int]]:
    """Yield (path, block, begin, end) of consecutive rows of one file and block."""
    codes = paths.dictionary_encode()
    names, numbers = codes.dictionary.to_pylist(), codes.indices.to_numpy()
    changes = np.flatnonzero((np.diff(numbers) != 0) | (np.diff(blocks) != 0)) + 1
    bounds = [0, *changes.tolist(), len(numbers)] if len(numbers) else [0]
    for begin, end in pairwise(bounds):
        yield names[numbers[begin]], int(blocks[begin]), begin, end


def _joined(lines: pa.Array, is_first: bool, encoding: str) -> bytes:
    """Return lines as one block of bytes in UTF-8."""
    newline, nothing = pa.scalar(b"\n", pa.large_binary()), pa.scalar(b"", pa.large_binary())
    ended = pc.binary_join_element_wise(lines.cast(pa.large_binary()), newline, nothing)
    data, offsets = text_buffers(ended)
    block = data[offsets[0] : offsets[-1]].tobytes()
    if is_first:
        block = block.removeprefix(BOM)
    return block if is_utf8(encoding) else _as_utf8(block, encoding)


def _as_utf8(data: bytes, encoding: str) -> bytes:
    """Return bytes in UTF-8; invalid bytes are left unchanged, and are then invalid UTF-8."""
    return data.decode(encoding, "surrogateescape").encode("utf-8", "surrogateescape")


def numbered(outcome: Outcome, file: NumberedFile) -> Iterator[pa.RecordBatch | Sent]:
    """Yield the documents of an outcome with their numbers, the skipped records, and whether texts have pages."""
    before_first = file.first_document - file.first_position
    for batch in outcome.batches:
        marks = PageMarks.of(batch.column("text"))
        if marks.has_pages:
            yield Sent("paged", table_of([[marks.has_regions]], PAGED), 0)
        documents = batch.column("position").to_numpy() + before_first
        yield pa.RecordBatch.from_arrays([pa.array(documents), *batch.columns], schema=NUMBERED)
    if outcome.skipped:
        rows = [(before_first + s.position, s.source, s.position, s.reason, s.id) for s in outcome.skipped]
        yield Sent("skipped", table_of([list(column) for column in zip(*rows, strict=True)], SKIPPED), 0)
