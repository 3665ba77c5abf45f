"""The Spark engine as users meet it: a session of theirs, and the verbs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ibidem.config import Config, EngineConfig
from ibidem.distributed.finding import find_flow
from ibidem.distributed.results import SparkResult
from ibidem.distributed.runs import start_run
from ibidem.engines.local import available_cores
from ibidem.engines.spark.session import own_session
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


def own_engine(settings: EngineConfig, spark_settings: Mapping[str, str]) -> SparkEngine:
    """Return an engine on the session that this process was started for, or on a new one on this machine."""
    spark = own_session(spark_settings, settings.workers or available_cores())
    return SparkEngine(spark, settings.tmp_folder, settings.partitions)
