"""Files of lines that workers read themselves, with the readers of all engines: a large file in parts, a small one as a whole.

Java would parse the lines into rows and hand them over; here it only says which parts are whose.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.config import DocumentsConfig
from ibidem.errors import InputError
from ibidem.execution.flow import Sent
from ibidem.execution.spark.readers import LINES, NumberedFile, Reader, numbered
from ibidem.execution.spark.session import job_name
from ibidem.formats.byte_streams import ByteStream
from ibidem.formats.jobs import Job
from ibidem.formats.jsonl_files import read as read_lines
from ibidem.formats.line_ranges import LineRange, can_be_cut, count_lines, count_lines_between, lines_of
from ibidem.formats.reader import file_jobs
from ibidem.formats.records import Wanted

_MOST_BYTES = 64 << 20  # a task reads this much, and has a few times as much in memory
_LEAST_BYTES = 4 << 20
_TASKS_A_WORKER = 2  # so that none waits long for the last one


@dataclass(frozen=True)
class Split:
    """The lines of a file of `size` bytes that begin between two of them; `is_whole`: the whole file, which is not cut."""

    path: str
    begin: int
    end: int
    size: int
    is_whole: bool = False


Splits = Sequence[Sequence[Split]]


def splits_of(sizes: Mapping[str, int], n_workers: int, encoding: str) -> Splits:
    """Return what each task reads of files, given with their sizes: neighbours together, about the same for each task."""
    most = min(max(_LEAST_BYTES, -(-sum(sizes.values()) // (_TASKS_A_WORKER * n_workers))), _MOST_BYTES)
    tasks: list[list[Split]] = []
    n_bytes = 0
    for split in _all_splits(sizes, most, encoding):
        if not tasks or n_bytes + split.end - split.begin > most:
            tasks.append([])
            n_bytes = 0
        tasks[-1].append(split)
        n_bytes += split.end - split.begin
    return tasks


def count_split_lines(spark: Any, splits: Splits) -> dict[str, dict[int, int]]:
    """Return the number of lines of each split: by file, and by the byte where it begins."""
    if sum(split.end - split.begin for task in splits for split in task) <= _LEAST_BYTES:
        counts = [[_n_lines(split) for split in task] for task in splits]
    else:
        context = spark.sparkContext
        with job_name(context, "inputs"):
            counts = context.parallelize(splits, len(splits)).map(lambda task: [_n_lines(split) for split in task]).collect()
    found: dict[str, dict[int, int]] = {}
    for task, of_task in zip(splits, counts, strict=True):
        for split, n_lines in zip(task, of_task, strict=True):
            found.setdefault(split.path, {})[split.begin] = n_lines
    return found


def split_reader(splits: Splits, files: Mapping[str, NumberedFile], config: DocumentsConfig) -> Reader:
    """Return a reader of rows that are numbers of tasks."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch | Sent]:
        wanted = Wanted(config)
        for split in _chosen(splits, batches):
            file = files[split.path]
            with _unchanged(split):
                for job in _jobs(split, file, wanted):
                    yield from numbered(job(), file)

    return read


def raw_split_lines(splits: Splits, files: Mapping[str, NumberedFile], encoding: str) -> Reader:
    """Return a reader of rows that are numbers of tasks; it gives unchanged lines, in UTF-8 and numbered."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch | Sent]:
        for split in _chosen(splits, batches):
            file = files[split.path]
            first = file.first_document + file.first_lines[split.begin] - 1
            with _unchanged(split), _opened(split) as stream:
                for lines in lines_of(stream, encoding):
                    numbers = pa.array(np.arange(first, first + len(lines)))
                    first += len(lines)
                    yield pa.RecordBatch.from_arrays([numbers, pa.array(lines, pa.large_binary())], schema=LINES)

    return read


def _all_splits(sizes: Mapping[str, int], most: int, encoding: str) -> Iterator[Split]:
    for path, size in sizes.items():
        if size > most and can_be_cut(path, encoding):
            n_parts = -(-size // most)
            bounds = [size * part // n_parts for part in range(n_parts + 1)]
            yield from (Split(path, begin, end, size) for begin, end in pairwise(bounds))
        else:
            yield Split(path, 0, size, size, is_whole=True)


def _chosen(splits: Splits, batches: Iterator[pa.RecordBatch]) -> Iterator[Split]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from splits[number]


def _n_lines(split: Split) -> int:
    return count_lines(split.path) if split.is_whole else count_lines_between(split.path, split.begin, split.end)


def _jobs(split: Split, file: NumberedFile, wanted: Wanted) -> Iterator[Job]:
    if split.is_whole:
        # Under its full path: workers may run in another folder.
        yield from file_jobs([replace(file.source, stored=split.path)], wanted)
        return
    with LineRange(split.path, split.begin, split.end) as stream:
        yield from read_lines(stream, file.source, wanted, file.first_lines[split.begin])


@contextmanager
def _unchanged(split: Split) -> Iterator[None]:
    """Raise an InputError if the file no longer has the size with which its lines were counted and numbered."""
    _check_size(split)
    yield
    _check_size(split)


def _check_size(split: Split) -> None:
    try:
        size = os.path.getsize(split.path)
    except OSError:  # whoever reads it says so
        return
    if size != split.size:
        raise InputError(f"{split.path} changed while it was read", "Run again when nothing else writes to it.")


def _opened(split: Split) -> ByteStream | LineRange:
    return ByteStream(split.path) if split.is_whole else LineRange(split.path, split.begin, split.end)
