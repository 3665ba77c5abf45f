"""The Spark engine as users see it: their session, and how runs use it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ibidem.config import EngineConfig
from ibidem.execution.spark.session import own_session
from ibidem.execution.threads import available_cores


class SparkEngine:
    """Runs `find`, `cluster` and `dedup` on a Spark session: `ibidem.find(…, engine=SparkEngine(spark))`.

    `tmp_dir` is a folder that all workers reach; stages are kept there while a run lasts and its result is in use. On one
    machine, it defaults to the system's folder for temporary files. `partitions` 0: one for every 32 MB of input, at least one
    per core.
    """

    def __init__(self, spark: Any, tmp_dir: str | None = None, partitions: int = 0) -> None:
        self.spark = spark
        self.tmp_dir = tmp_dir
        self.partitions = partitions


def own_engine(settings: EngineConfig, spark_settings: Mapping[str, str]) -> SparkEngine:
    """Return an engine on the session that this process was started in, or on a new local one."""
    spark = own_session(spark_settings, settings.workers or available_cores())
    return SparkEngine(spark, settings.tmp_folder, settings.partitions)
