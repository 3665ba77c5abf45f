"""What results in memory and on disk have in common: Arrow tables for their users, and files written by this process."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ibidem.config.addresses import is_remote
from ibidem.model import TEXT_FIELDS, Skipped
from ibidem.results.overview import longest_of
from ibidem.results.remote_folder import check_results_folder, results_sent_to
from ibidem.results.storage import Table, n_true
from ibidem.results.table_files import write_result


class LocalBacking(ABC):
    """Tables of this process. Where they are kept, and where texts are, is up to the two kinds of it."""

    _tables: Mapping[str, Table]

    def has(self, name: str) -> bool:
        """Return whether there is a table of this name."""
        return name in self._tables

    @abstractmethod
    def table(self, name: str) -> Table:
        """Return a table; UsageError once the result is closed."""

    def native(self, name: str) -> pa.Table:
        """Return a table as users get it. What is not in memory is read each time."""
        return self.table(name).read()

    def count_true(self, name: str, column: str) -> int:
        """Return in how many rows a column is true."""
        return n_true(self.table(name), column)

    def longest(self, count: int) -> list[pa.RecordBatch]:
        """Return the rows of the longest passages, as they are stored, each as a batch; equal ones in reading order."""
        return longest_of(self.table("passages").stored_batches(), count)

    def facts(self) -> Mapping[str, Any]:
        """Return nothing: local runs report what they used under resources."""
        return {}

    def check_output(self, folder: str | os.PathLike[str], overwrite: bool) -> None:
        """Raise unless results can be written into the folder."""
        check_results_folder(folder, overwrite)

    def write(
        self, folder: str | os.PathLike[str], tables: Mapping[str, Table], skipped: Sequence[Skipped],
        run: Mapping[str, Any], table_format: str,
    ) -> list[Path]:  # fmt: skip
        """Write tables, the skipped records and, last of all, `run.json`; return the paths, elsewhere an empty list."""
        written = {name: self._to_write(table) for name, table in tables.items()}
        with results_sent_to(folder) as place:
            paths = write_result(place, written, skipped, run, table_format)
        return [] if is_remote(folder) else paths

    @abstractmethod
    def _to_write(self, table: Table) -> pa.Table | pa.RecordBatchReader:
        """Return a table whole, or as a stream where it may be larger than memory."""


def with_texts(batch: pa.RecordBatch, texts: Callable[[pa.RecordBatch, str], Iterable[str]]) -> pa.RecordBatch:
    """Return a batch of passages with the texts of both sides."""
    columns = [pa.array(list(texts(batch, side)), field.type) for field, side in zip(TEXT_FIELDS, "ab", strict=True)]
    return pa.RecordBatch.from_arrays([*batch.columns, *columns], schema=pa.schema([*batch.schema, *TEXT_FIELDS]))
