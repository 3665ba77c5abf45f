"""One run on Spark: its session, its folder, where documents live, and what is read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from ibidem.config import Config
from ibidem.config.quantities import memory_bytes
from ibidem.errors import NoDocumentsError
from ibidem.execution.disk_limit import DiskBudget
from ibidem.execution.layout import Layout
from ibidem.execution.progress import Progress
from ibidem.execution.spark.inputs import Scans, scan_inputs
from ibidem.execution.spark.readers import without_scheme
from ibidem.execution.spark.session import SessionSettings, WorkFolder, spark_errors
from ibidem.execution.spark.spark_flow import SparkFlow
from ibidem.formats.inputs import unknown_kinds_notice

_PARTITION_BYTES, _LARGE_PARTITION_BYTES = 32 << 20, 128 << 20
_MANY_PARTITIONS = 2048


@dataclass(frozen=True)
class SparkRun:
    """What a run works with. `folder` is removed when `stack` is closed."""

    spark: Any
    folder: str
    flow: SparkFlow
    layout: Layout
    scans: Scans
    stack: ExitStack
    notices: Sequence[str] = ()

    def facts(self, config: Config, progress: Progress) -> dict[str, Any]:
        """Return what every result keeps of a run; of skipped records the first ones."""
        return {
            "skipped": self.scans.first_skipped(self.flow, strict=False).records,
            "n_skipped": self.scans.n_skipped,
            "config": config,
            "inputs": self.scans.described,
            "counts": progress.counts,
            "timings": progress.timings,
            "notices": self.notices,
        }

    def kept(self) -> ExitStack:
        """Return the stack that keeps the folder, for a result to close."""
        return self.stack.pop_all()


@contextmanager
def start_run(
    engine: Any, inputs: Any, against: Any, config: Config, progress: Progress, whole: bool = False
) -> Iterator[SparkRun]:
    """Yield a run. Its folder is removed at the end, unless a result has taken it over with `kept`."""
    spark = engine.spark
    with spark_errors(), SessionSettings(spark), ExitStack() as stack:
        folder = stack.enter_context(WorkFolder(spark, engine.tmp_dir))

        def store(name: str, frame: Any) -> str:
            frame.write.parquet(f"{folder}/{name}")
            return f"{folder}/{name}"

        with progress.stage("inputs"), SessionSettings(spark, for_rows=True):
            scans = scan_inputs(spark, inputs, against, config, store, whole)
        n_partitions = engine.partitions or max(spark.sparkContext.defaultParallelism, _n_partitions(scans.n_bytes))
        layout = Layout(scans.n_records, scans.n_input, n_partitions)
        flow = SparkFlow(spark, folder, n_partitions, _disk_of(config.engine.max_disk))
        notice = unknown_kinds_notice([*_local_paths(inputs), *_local_paths(against)])
        run = SparkRun(spark, folder, flow, layout, scans, stack, [] if notice is None else [notice])
        try:
            yield run
        except NoDocumentsError as error:
            raise NoDocumentsError(error.message, scans.first_skipped(run.flow, strict=False).explain()) from error


def _local_paths(inputs: Any) -> list[str]:
    """Return those of the inputs that are paths of this machine."""
    given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    paths = [without_scheme(os.fspath(item)) for item in given if isinstance(item, (str, os.PathLike))]
    return [path for path in paths if "://" not in path]


def _disk_of(max_disk: str) -> DiskBudget | None:
    """Return the budget for stages, if there is a limit: to ask a shared file system after each of them takes a while."""
    n_bytes = memory_bytes(max_disk)
    return DiskBudget(n_bytes) if n_bytes else None


def _n_partitions(n_bytes: int) -> int:
    """Return a partition for every 32 MB; of very many, since each task writes to all of them, for every 128 MB."""
    return min(-(-n_bytes // _PARTITION_BYTES), max(_MANY_PARTITIONS, -(-n_bytes // _LARGE_PARTITION_BYTES)))
