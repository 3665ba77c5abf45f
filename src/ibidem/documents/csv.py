"""CSV and TSV with a header row.

Python's own parser, not Arrow's: it knows the line of every record even where quoted fields hold line breaks, goes on
after a broken row, and has no limit on the length of a row.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import chain

from ibidem.documents.fields import MAX_JOB_CHARS, RecordCollector
from ibidem.documents.jsonl import line_blocks
from ibidem.documents.records import Job, Wanted, missing_column
from ibidem.documents.streams import READ_ERRORS, ByteStream

MAX_FIELD_CHARS = 2**31 - 1


def read_csv(stream: ByteStream, source: str, delimiter: str, wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each handful of rows; the position of a record is the line it starts in."""
    # The limit belongs to the whole process; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_FIELD_CHARS))
    blocks = line_blocks(stream, wanted.config.encoding)
    texts = (block.decode("utf-8", "surrogateescape") for block in blocks)
    lines = chain.from_iterable(io.StringIO(text, newline="") for text in texts)
    first_line = next(lines, "")
    if delimiter == "," and "," not in first_line and ";" in first_line:
        delimiter = ";"  # what spreadsheets write where the comma is the decimal sign
    rows = csv.reader(chain([first_line], lines), delimiter=delimiter)
    collector = RecordCollector(source, wanted)
    header: list[str] | None = None
    while True:
        line = rows.line_num + 1
        try:
            row = next(rows, None)
        except csv.Error as error:
            collector.skip(line, f"broken row: {error}")
            continue
        except READ_ERRORS:
            yield collector.job(stream.take_count())
            raise
        if row is None:
            break
        if not row:
            continue
        if header is None:
            header = row
            if wanted.config.text_field not in header:
                raise missing_column(source, header, wanted)
        elif len(row) != len(header):
            collector.skip(line, f"{len(row)} columns where the header has {len(header)}")
        else:
            record: dict[str, str | None] = dict(zip(header, row, strict=True))
            # An empty cell is all that CSV has for "no group".
            if not record.get(wanted.config.group_field):
                record[wanted.config.group_field] = None
            collector.add(record, line)
        if collector.n_chars >= MAX_JOB_CHARS:
            yield collector.job(stream.take_count())
            collector = RecordCollector(source, wanted)
    yield collector.job(stream.take_count())
