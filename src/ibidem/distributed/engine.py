"""The Spark engine as users meet it: a session of theirs, and the verbs."""

from __future__ import annotations

from typing import Any

from ibidem.config import Config
from ibidem.distributed.finding import find_flow
from ibidem.distributed.results import SparkResult
from ibidem.distributed.runs import start_run
from ibidem.progress import Progress


class SparkEngine:
    """Runs `find`, `cluster` and `dedup` on a Spark session.

    `tmp_dir` is a folder that all workers reach; stages are kept there while a run lasts and its result is in use. On one
    machine it is the system's folder for temporary files unless named. `partitions` 0: one for every 32 MB of input, and as
    many as there are cores at least.
    """

    def __init__(self, spark: Any, tmp_dir: str | None = None, partitions: int = 0) -> None:
        self.spark = spark
        self.tmp_dir = tmp_dir
        self.partitions = partitions

    def find(self, inputs: Any, against: Any, config: Config, progress: Progress) -> SparkResult:
        """Find every passage that stands in two documents; see `ibidem.find`."""
        with start_run(self.spark, self.tmp_dir, self.partitions, inputs, against, config, progress) as run:
            found = find_flow(run.flow, run.scans, config, run.layout, progress)
            return SparkResult(run, run.kept(), config, progress, found)
