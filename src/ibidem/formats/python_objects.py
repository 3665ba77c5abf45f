"""Python objects: Arrow tables and streams, data frames, Hugging Face datasets, iterables of dicts and Documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from ibidem.formats.arrow_records import arrow_jobs
from ibidem.formats.fields import MAX_JOB_CHARS, RecordCollector
from ibidem.formats.inputs import ObjectSource, has_arrow
from ibidem.formats.records import Job, Wanted
from ibidem.model import Document

N_DATASET_ROWS = 1000


def read_object(source: ObjectSource, wanted: Wanted) -> Iterator[Job]:
    """Yield jobs for all records of an object; their position is their number, from 1."""
    if has_arrow(source.records):
        position = 1
        for batch in _arrow_batches(source.records):
            yield from arrow_jobs(batch, position, source.name, wanted)
            position += batch.num_rows
    else:
        yield from _read_records(source.records, source.name, wanted)


def _arrow_batches(item: Any) -> Any:
    if isinstance(item, pa.Table):  # its batches are here; as a stream, some string views crash pyarrow before 25
        return item.to_batches()
    if hasattr(item, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(item)
    if hasattr(item, "__arrow_c_array__"):
        return [pa.record_batch(item)]
    if hasattr(item, "with_format"):
        # A dataset's table is not enough: a filtered one keeps all rows and a list of those that count.
        return item.with_format("arrow").iter(batch_size=N_DATASET_ROWS)
    return pa.Table.from_pandas(item, preserve_index=False).to_batches()


def _read_records(items: Iterable[Any], source: str, wanted: Wanted) -> Iterator[Job]:
    collector = RecordCollector(source, wanted)
    for position, item in enumerate(items, 1):
        collector.add(_as_mapping(item, wanted) if isinstance(item, Document) else item, position)
        if collector.n_chars >= MAX_JOB_CHARS:
            yield collector.job(0)
            collector = RecordCollector(source, wanted)
    yield collector.job(0)


def _as_mapping(document: Document, wanted: Wanted) -> dict[str, Any]:
    text_name, id_name, time_name, group_name = wanted.names
    named = {group_name: document.group, time_name: document.time, id_name: document.id, text_name: document.text}
    # A field of the user's that is to be taken for the group is not hidden by a group that is none.
    return {**document.fields, **{name: value for name, value in named.items() if value is not None}}
