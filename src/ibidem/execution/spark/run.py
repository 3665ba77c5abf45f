"""One run on Spark: its session, its folder, where documents live, and what is read."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ibidem.config import Config, DocumentsConfig
from ibidem.config.quantities import memory_bytes
from ibidem.execution.disk_limit import DiskBudget
from ibidem.execution.layout import Layout
from ibidem.execution.progress import Progress
from ibidem.execution.run import Run
from ibidem.execution.spark.engine import SparkEngine
from ibidem.execution.spark.folder_flow import FolderFlow
from ibidem.execution.spark.inputs import Scan, Scans, scan_inputs
from ibidem.execution.spark.readers import without_scheme
from ibidem.execution.spark.session import SessionSettings, WorkFolder, spark_errors
from ibidem.execution.spark.spark_flow import SparkFlow
from ibidem.formats.inputs import files_of_unknown_kind
from ibidem.formats.jobs import SkippedRecords
from ibidem.formats.known_fields import fields_seen
from ibidem.formats.records import shown_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PARTITION_BYTES, _LARGE_PARTITION_BYTES = 32 << 20, 128 << 20
_MANY_PARTITIONS = 2048


class SparkRun(Run["DataFrame"]):
    """A run on a Spark session. A result takes over its folder and removes it when closed."""

    flow: FolderFlow | SparkFlow
    scans: Scans

    def __init__(self, engine: SparkEngine, inputs: Any, against: Any, config: Config, progress: Progress) -> None:
        super().__init__(inputs, against, config, progress)
        self.spark = engine.spark
        self._engine = engine
        self._folder = ExitStack()  # a result may take it over

    def __enter__(self) -> SparkRun:
        with ExitStack() as opened:
            opened.enter_context(spark_errors())
            opened.enter_context(SessionSettings(self.spark))
            opened.enter_context(self._folder)
            self.folder = self._folder.enter_context(WorkFolder(self.spark, self._engine.tmp_dir))
            self._opened = opened.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._opened:  # Spark's errors are translated here too
            super().__exit__(kind, error, trace)
            if error is not None:
                raise error

    def read(self, fields: DocumentsConfig, to_copy: bool = False) -> Scans:
        """Return scans of the inputs: records are counted now, and read by the workers in the first stage."""
        engine, config = self._engine, replace(self.config, documents=fields)
        with self.progress.stage("inputs"), SessionSettings(self.spark, for_rows=True):
            self.scans = Scans(config)
            scan_inputs(self.spark, self.inputs, self.against, self.scans, self._store, whole=to_copy)
        self.scans.skipped_here += files_of_unknown_kind([*_local_paths(self.inputs), *_local_paths(self.against)])
        if to_copy:
            self.scans.records()  # some inputs cannot be copied: better to fail now than after hours
        least = self.spark.sparkContext.defaultParallelism
        n_partitions = engine.partitions or max(least, _n_partitions(self.scans.n_bytes))
        layout = Layout(self.scans.n_records, self.scans.n_input, n_partitions)
        through = SparkFlow if "://" in without_scheme(self.folder) else FolderFlow
        self.flow = through(self.spark, self.folder, layout, _disk_of(config.engine.max_disk))
        return self.scans

    def facts(self) -> dict[str, Any]:
        """Return what every result records about its run, with the first skipped records."""
        return {
            "skipped": self.scans.first_skipped(self.flow, strict=False).records,
            "n_skipped": self.scans.n_skipped,
            "config": self.config,
            "inputs": self.scans.described,
            "counts": self.progress.counts,
            "timings": self.progress.timings,
            "notices": [],
        }

    def take_over(self) -> ExitStack:
        """Return the object that removes the folder, for a result to close."""
        return self._folder.pop_all()

    def _explain_skipped(self, side: Any) -> str:
        names = {file.source.name for scan in self.scans.scans for file in scan.files.values() if self._is_of(scan, side)}
        flow = getattr(self, "flow", None)  # not there before all inputs were counted
        skipped = SkippedRecords(strict=False) if flow is None else self.scans.first_skipped(flow, strict=False)
        return skipped.explain(None if self.against is None else names)

    def _is_of(self, scan: Scan, side: Any) -> bool:
        return scan.is_input == (side is self.inputs)

    def _fields_seen(self) -> str:
        if self.scans.columns:
            return f"; the columns are {shown_names(list(self.scans.columns))}"
        return fields_seen(_local_paths(self.inputs), self.config.documents.encoding)

    def _store(self, name: str, frame: DataFrame) -> str:
        frame.write.parquet(f"{self.folder}/{name}")
        return f"{self.folder}/{name}"


def _local_paths(inputs: Any) -> list[str]:
    """Return the inputs that are local paths."""
    given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    paths = [without_scheme(os.fspath(item)) for item in given if isinstance(item, (str, os.PathLike))]
    return [path for path in paths if "://" not in path]


def _disk_of(max_disk: str) -> DiskBudget | None:
    """Return the budget for stages, if there is a limit: asking a shared file system after each stage takes a while."""
    n_bytes = memory_bytes(max_disk)
    return DiskBudget(n_bytes) if n_bytes else None


def _n_partitions(n_bytes: int) -> int:
    """Return one partition for every 32 MB, or for every 128 MB if there are very many, as each task writes to all of them."""
    return min(-(-n_bytes // _PARTITION_BYTES), max(_MANY_PARTITIONS, -(-n_bytes // _LARGE_PARTITION_BYTES)))
