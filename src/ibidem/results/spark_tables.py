"""Tables of a run on Spark: data frames and, on request, batches in this process, in the same order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ibidem.columns.parted_tables import in_order
from ibidem.execution.flow import PartedTable, Sent
from ibidem.execution.spark.run import SparkRun
from ibidem.execution.spark.session import SessionSettings, spark_errors
from ibidem.results.overview import longest_of
from ibidem.results.storage import in_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CLEANED_TEXTS = pa.schema([("id", pa.large_string()), ("text", pa.large_string())])
_BATCH_ROWS = 1000


class SparkTable:
    """Rows in partitions, in order over their partitions."""

    def __init__(self, run: SparkRun, parted: PartedTable, schema: pa.Schema) -> None:
        self.schema = schema
        self.parted = parted
        self._run = run

    @cached_property
    def n_rows(self) -> int:
        """Number of rows; they are not read for it."""
        with spark_errors(), SessionSettings(self._run.spark):
            return self._run.flow.count(self.parted)

    def stored_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows with every column that is stored; one partition at a time comes to this process."""
        with spark_errors():
            yield from self._run.flow.batches(self.parted)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield all rows, or some of their columns."""
        return in_schema(self.stored_batches(), self.schema, columns)

    def read(self) -> pa.Table:
        """Return all rows, in the memory of this process."""
        return pa.Table.from_batches(self.batches(), schema=self.schema)

    def frame(self, columns: Sequence[str] | None = None) -> DataFrame:
        """Return the table as it is written: real columns, in order."""
        frame: DataFrame = self._run.flow.frame(self.parted, self.schema.names if columns is None else columns)
        return frame


class _FrameTable(SparkTable):
    """A table whose rows Spark has to sort, or to choose."""

    def stored_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows."""
        with spark_errors():
            with SessionSettings(self._run.spark):
                rows = self.frame().toLocalIterator()
            while some := [row.asDict(recursive=True) for row in islice(rows, _BATCH_ROWS)]:
                yield pa.RecordBatch.from_pylist(some, schema=self.schema)


class OrderedRepeats(_FrameTable):
    """Groups of repeats, those of most documents first."""

    def frame(self, columns: Sequence[str] | None = None) -> DataFrame:
        """Return the table as it is written."""
        from pyspark.sql import functions

        order: list[Any] = ["n_documents", functions.length("text"), "text", "document", "start", functions.size("places")]
        frame = super().frame(["document", "start", *self.schema.names])
        return frame.orderBy(*order, ascending=[False, False, True, True, True, True]).drop("document", "start")


class CleanedTexts(_FrameTable):
    """The texts that were extracted from HTML."""

    def __init__(self, run: SparkRun, texts: PartedTable) -> None:
        super().__init__(run, texts, _CLEANED_TEXTS)

    @cached_property
    def n_rows(self) -> int:
        """Number of texts."""
        with spark_errors(), SessionSettings(self._run.spark):
            return int(self.frame().count())

    def frame(self, columns: Sequence[str] | None = None) -> DataFrame:
        """Return the table as it is written."""
        return super().frame([*self.schema.names, "cleaned"]).where("cleaned").drop("cleaned")


def longest_in_parts(run: SparkRun, passages: PartedTable, count: int) -> PartedTable:
    """Return the longest passages of each partition, in their order: the longest ones of all are among them."""

    def choose(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = in_order(tables["passages"], "number")
        rows = longest_of(table.to_batches(), count)
        yield Sent("longest", in_order(pa.Table.from_batches(rows, schema=table.schema), "number"), partition)

    given, gives = {"passages": passages}, {"longest": passages.schema}
    with spark_errors(), SessionSettings(run.spark):
        return run.flow.reduce(f"longest-{count}", given, choose, gives)["longest"]
