"""Results on Spark: tables in the folder of a run, cleaned copies, and results in a folder of any file system."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.config import Config
from ibidem.errors import UsageError
from ibidem.execution.flow import PartedTable
from ibidem.execution.spark.files import check_spark_output, clear_spark_output, uri_of, write_file, write_frame
from ibidem.execution.spark.run import SparkRun
from ibidem.execution.spark.session import SessionSettings, escaped, rename_parts, spark_errors
from ibidem.formats.registry import JSONL
from ibidem.model import SNIPPET, TEXT_FIELDS, Skipped
from ibidem.passages.exchange.texts import with_pages
from ibidem.passages.exchange.texts import with_texts as with_texts_flow
from ibidem.results.cleaned_records import clean_records, send_records
from ibidem.results.local_storage import with_texts
from ibidem.results.overview import longest_of
from ibidem.results.spark_tables import CleanedTexts, OrderedRepeats, SparkTable, longest_in_parts
from ibidem.results.storage import Sizes, Table, closed_error, schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class SparkBacking:
    """Tables by name, and the folder of the run, which is removed by `close`, or with this.

    `texts` are the documents with their texts, where passages are found.
    """

    storage: Literal["spark"] = "spark"
    documents = None

    def __init__(self, run: SparkRun, tables: Mapping[str, PartedTable], texts: PartedTable | None = None) -> None:
        self.run = run
        self.layout = run.flow.layout
        self._tables = {
            name: (OrderedRepeats if name == "repeats" else SparkTable)(run, table, schema_of(name, table.schema))
            for name, table in tables.items()
        }
        marks = run.scans.page_marks
        if marks.has_pages and texts is not None and "passages" in tables:
            paged = with_pages(run.flow, tables["passages"], texts, self.layout, marks)
            schema = pa.schema([*self._tables["passages"].schema, *marks.fields])
            self._tables["passages"] = SparkTable(run, paged, schema)
        self._texts = texts
        self._n_documents = run.progress.counts["documents"]
        self._frames: dict[str, DataFrame] = {}
        self._longest: dict[int, PartedTable] = {}
        self._closing = weakref.finalize(self, run.take_over().close)

    def has(self, name: str) -> bool:
        """Return whether there is a table of this name."""
        return name in self._tables

    def table(self, name: str) -> SparkTable:
        """Return a table; UsageError once the result is closed."""
        if not self._closing.alive:
            raise closed_error()
        return self._tables[name]

    def native(self, name: str) -> DataFrame:
        """Return a table as a data frame; it is stored as Parquet first, so that the session's settings may be any."""
        table = self.table(name)
        if name not in self._frames:
            self._frames[name] = self.store(f"table-{name}", table.frame())
        return self._frames[name]

    def store(self, name: str, frame: DataFrame) -> DataFrame:
        """Store a data frame in the folder of the run; return what was stored."""
        path = f"{self.run.folder}/{name}"
        with spark_errors(), SessionSettings(self.run.spark):
            frame.write.parquet(path)
        stored: DataFrame = self.run.spark.read.parquet(escaped(path))
        return stored

    def count_true(self, name: str, column: str) -> int:
        """Return in how many rows a column is true."""
        with spark_errors(), SessionSettings(self.run.spark):
            return int(self.table(name).frame([column]).where(column).count())

    def removal_counts(self) -> tuple[int, int, int, int, int]:
        """Return the last five numbers of a CleaningOverview."""
        from pyspark.sql import functions

        frame = self.table("removed").frame(["document", "removed", "start", "end"])
        sums = (functions.countDistinct("document"), functions.count("*"), functions.sum(frame["end"] - frame["start"]))
        with spark_errors(), SessionSettings(self.run.spark):
            found = {row[0]: row[1:] for row in frame.groupBy("removed").agg(*sums).collect()}
        whole, parts = (found.get(what, (0, 0, 0)) for what in ("document", "passage"))
        return int(whole[0]), int(parts[0]), int(parts[1]), int(whole[1] + parts[1]), int(whole[2] + parts[2])

    def longest(self, count: int) -> list[pa.RecordBatch]:
        """Return the rows of the longest passages; those of each partition are chosen where it is."""
        passages = self.table("passages").parted
        if count not in self._longest:
            self._longest[count] = longest_in_parts(self.run, passages, count)
        return longest_of(SparkTable(self.run, self._longest[count], self.table("passages").schema).stored_batches(), count)

    def add_texts(self, passages: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield stored batches of passages with `a_text` and `b_text`; their documents are fetched together."""
        assert self._texts is not None
        rows = list(passages)
        numbers = {number for batch in rows for side in "ab" for number in batch[f"{side}_document"].to_pylist()}
        with spark_errors(), SessionSettings(self.run.spark):
            frame = self.run.flow.frame(self._texts, ["document", "text"])
            texts = dict(map(tuple, frame.where(frame["document"].isin(list(numbers))).collect()))

        def cut(batch: pa.RecordBatch, side: str) -> Iterator[str]:
            columns = (batch[f"{side}_{name}"].to_pylist() for name in ("document", "start", "end"))
            return (texts[number][start:end] for number, start, end in zip(*columns, strict=True))

        return (with_texts(batch, cut) for batch in rows)

    def passages_with_texts(self) -> SparkTable:
        """Return all passages with `a_text` and `b_text`."""
        self.table("passages")
        return self._with_texts

    @cached_property
    def _with_texts(self) -> SparkTable:
        assert self._texts is not None
        run = self.run
        with spark_errors(), SessionSettings(run.spark):
            parted = with_texts_flow(run.flow, self.table("passages").parted, self._texts, self.layout)
        return SparkTable(run, parted, pa.schema([*self.table("passages").schema, *TEXT_FIELDS]))

    def cleaned_texts(self) -> SparkTable | None:
        """Return the texts that were extracted from HTML, if any."""
        assert self._texts is not None
        table = CleanedTexts(self.run, self._texts)
        with spark_errors(), SessionSettings(self.run.spark):
            return table if table.frame().limit(1).count() else None

    def sizes(self) -> Sizes:
        """Return how large the inputs are; with a reference, records of the inputs that were skipped count, too."""
        layout = self.layout
        return Sizes(layout.n_input if layout.has_reference else self._n_documents, self._n_documents)

    def facts(self) -> Mapping[str, Any]:
        """Return what `run.json` says of the session."""
        context = self.run.spark.sparkContext
        n_partitions = self.layout.n_partitions
        return {"spark": {"version": context.version, "master": context.master, "partitions": n_partitions}}

    def check_output(self, folder: str | os.PathLike[str], overwrite: bool) -> None:
        """Raise unless results can be written into the folder."""
        check_spark_output(self.run.spark, os.fspath(folder), overwrite)

    def write(
        self, folder: str | os.PathLike[str], tables: Mapping[str, Table], skipped: Sequence[Skipped],
        run: Mapping[str, Any], table_format: str, write_more: Callable[[str], None] = lambda folder: None,
    ) -> list[Path]:  # fmt: skip
        """Write tables, all skipped records, what `write_more` writes, and, last of all, `run.json`, into any file system."""
        spark = self.run.spark
        clear_spark_output(spark, os.fspath(folder))
        uri = uri_of(os.fspath(folder))
        with spark_errors(), SessionSettings(spark):
            for name, table in tables.items():
                assert isinstance(table, SparkTable)
                write_frame(table.frame(), uri, name, table_format)
            if self.run.scans.n_skipped:
                write_frame(self._skipped_frame(), uri, "skipped", "jsonl")
            write_more(uri)
        write_file(spark, os.fspath(folder), "run.json", json.dumps(run, indent=2, ensure_ascii=False) + "\n")
        return []

    def _skipped_frame(self) -> DataFrame:
        scans, names = self.run.scans, ["source", "position", "reason", "id"]
        here: DataFrame = self.run.spark.createDataFrame(
            [(s.source, s.position, s.reason, s.id) for s in scans.skipped_here],
            "source string, position long, reason string, id string",
        )
        if scans.skipped is None:
            return here
        there: DataFrame = self.run.flow.frame(scans.skipped, [*names, "document"]).coalesce(1).sortWithinPartitions("document")
        return there.drop("document").unionByName(here) if scans.skipped_here else there.drop("document")

    def close(self, failed: bool = False) -> None:
        """Remove the folder of the run; its frames cannot be used any more."""
        self._closing()


class SparkCopies:
    """Cleaned copies, made by Spark, which reads the records once more."""

    def __init__(self, original: Any, backing: SparkBacking, tables: Mapping[str, pa.Table]) -> None:
        self.original = original
        self._backing = backing
        self._small = tables
        self._records = backing.run.scans.records()
        self._kind = self._records.scan.kind
        self._remaining: DataFrame | None = None
        self._made: dict[bool, dict[str, PartedTable]] = {}

    def remaining(self, config: Config) -> DataFrame:
        """Return the records that remain: all their columns, or their lines (`value`)."""
        if self._remaining is None:
            self._remaining = self._backing.store("table-remaining", self._cleaned(config.cleaning.mark_only))
        return self._remaining

    def cleaned(self, config: Config) -> DataFrame:
        """Return the same: on Spark, what is left is a data frame."""
        return self.remaining(config)

    def keep_mask(self) -> NDArray[np.bool_]:
        """Raise: the rows of a data frame have no order."""
        raise UsageError("a data frame on Spark has no mask: its rows have no order", "Use cleaned(), or join with removed.")

    def write(
        self, folder: str | os.PathLike[str], config: Config, skipped: Sequence[Skipped],
        run: Callable[[], Mapping[str, Any]], on_bytes: Callable[[int], None] | None,
    ) -> list[Path]:  # fmt: skip
        """Write the records that remain, `removed.jsonl`, `skipped.jsonl` and `run.json`."""
        self._backing.check_output(folder, config.output.overwrite)
        cleaned = self._cleaned(config.cleaning.mark_only)  # before anything is replaced: it fails if inputs have changed

        def write_cleaned(where: str) -> None:
            if self._kind == JSONL:
                cleaned.write.text(f"{where}/cleaned.jsonl")
                rename_parts(self._backing.run.spark, f"{where}/cleaned.jsonl", ".txt", ".jsonl")
            else:
                cleaned.write.parquet(f"{where}/cleaned.parquet")
            for name, table in self._small.items():
                lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table.to_pylist())
                write_file(self._backing.run.spark, where.removeprefix("file:"), f"{name}.jsonl", lines)

        schema = pa.schema([*self._backing.table("removed").schema, SNIPPET])
        removed = SparkTable(self._backing.run, self._made[config.cleaning.mark_only]["removed"], schema)
        tables: dict[str, Table] = {"removed": removed}
        if self._backing.has("item_places"):
            tables["item_places"] = self._backing.table("item_places")
        return self._backing.write(folder, tables, skipped, run(), "jsonl", write_cleaned)

    def _clean(self, mark_only: bool) -> dict[str, PartedTable]:
        """Return the records that remain, or all of them, marked, and what is removed."""
        flow, layout, records = self._backing.run.flow, self._backing.layout, self._records
        stage, config = "marked" if mark_only else "cleaned", Config.of(self._backing.run.config, mark_only=mark_only)
        sent = flow.map(f"{stage}-records", records, send_records(layout), {"records": records.schema})["records"]
        members = self._backing.table("members").parted if self._backing.has("members") else None
        return clean_records(flow, sent, self._backing.table("removed").parted, members, config, stage)

    def _cleaned(self, mark_only: bool) -> DataFrame:
        self._backing.table("removed")
        run = self._backing.run
        with spark_errors(), SessionSettings(run.spark):
            if mark_only not in self._made:
                self._made[mark_only] = self._clean(mark_only)
        parted = self._made[mark_only]["cleaned"]
        is_lines = self._kind == JSONL
        frame: DataFrame = run.flow.frame(parted, ["line"] if is_lines else parted.schema.names[1:])
        return frame.selectExpr("cast(line as string) as value") if is_lines else frame
