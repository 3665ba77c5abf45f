"""One run on Spark: its session, its folder, where documents live, and what is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from ibidem.config import Config
from ibidem.distributed.layout import Layout
from ibidem.distributed.sources import Scans, scan_inputs
from ibidem.engines.spark.flow import SparkFlow
from ibidem.engines.spark.session import SessionSettings, WorkFolder, spark_errors
from ibidem.errors import NoDocumentsError
from ibidem.model import Skipped
from ibidem.progress import Progress
from ibidem.reports import SkippedRecords

_PARTITION_BYTES = 32 << 20
_MOST_TOLD = 1000


@dataclass(frozen=True)
class SparkRun:
    """What a run works with. `folder` is removed when `stack` is closed."""

    spark: Any
    folder: str
    flow: SparkFlow
    layout: Layout
    scans: Scans
    stack: ExitStack

    def kept(self) -> ExitStack:
        """Return the stack that keeps the folder, for a result to close."""
        return self.stack.pop_all()

    def first_skipped(self, strict: bool) -> SkippedRecords:
        """Return the first records that were left out; raise where none may be."""
        skipped = SkippedRecords(strict)
        for record in self.scans.skipped_here:
            skipped.add(record)
        if self.scans.skipped is not None and self.flow.count(self.scans.skipped):
            names = ["source", "position", "reason", "id", "document"]
            for row in self.flow.frame(self.scans.skipped, names).orderBy("document").limit(_MOST_TOLD).collect():
                skipped.add(Skipped(row.source, row.position, row.reason, row.id))
        return skipped


@contextmanager
def start_run(engine: Any, inputs: Any, against: Any, config: Config, progress: Progress) -> Iterator[SparkRun]:
    """Yield a run. Its folder is removed at the end, unless a result has taken it over with `kept`."""
    spark = engine.spark
    with spark_errors(), SessionSettings(spark), ExitStack() as stack:
        folder = stack.enter_context(WorkFolder(spark, engine.tmp_dir))

        def store(name: str, frame: Any) -> str:
            frame.write.parquet(f"{folder}/{name}")
            return f"{folder}/{name}"

        with progress.stage("inputs"):
            scans = scan_inputs(spark, inputs, against, config, store)
        if against is not None and scans.n_records == scans.n_input:
            raise NoDocumentsError("the reference holds no documents", "Check the paths given with --against.")
        n_partitions = engine.partitions or max(spark.sparkContext.defaultParallelism, -(-scans.n_bytes // _PARTITION_BYTES))
        layout = Layout(scans.n_records, scans.n_input, n_partitions)
        run = SparkRun(spark, folder, SparkFlow(spark, folder, n_partitions), layout, scans, stack)
        try:
            yield run
        except NoDocumentsError as error:
            raise NoDocumentsError(error.message, run.first_skipped(strict=False).explain()) from error
