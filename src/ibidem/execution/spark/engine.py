"""The Spark engine as users meet it: a session of theirs, and the verbs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ibidem.config import Config, EngineConfig
from ibidem.execution.checks import check_reference
from ibidem.execution.programs.dedup import clusters_flow, for_keeping, removals_flow
from ibidem.execution.programs.find import find_flow
from ibidem.execution.progress import Progress
from ibidem.execution.spark.run import start_run
from ibidem.execution.spark.session import own_session
from ibidem.execution.threads import available_cores
from ibidem.resemblance import SamplingPlan
from ibidem.results.cleaned_records import clean_records, send_records
from ibidem.results.cleaning_result import CleaningResult
from ibidem.results.result import ClusterResult, Result
from ibidem.results.spark_storage import SparkBacking, SparkCopies
from ibidem.results.spark_tables import cleaning_tables, cluster_tables, find_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class SparkEngine:
    """Runs `find`, `cluster` and `dedup` on a Spark session: `ibidem.find(…, engine=SparkEngine(spark))`.

    `tmp_dir` is a folder that all workers reach; stages are kept there while a run lasts and its result is in use. On one
    machine it is the system's folder for temporary files unless named. `partitions` 0: one for every 32 MB of input, and as
    many as there are cores at least.
    """

    def __init__(self, spark: Any, tmp_dir: str | None = None, partitions: int = 0) -> None:
        self.spark = spark
        self.tmp_dir = tmp_dir
        self.partitions = partitions

    def find(self, inputs: Any, against: Any, config: Config, progress: Progress) -> Result[DataFrame]:
        """Find every passage that stands in two documents; see `ibidem.find`."""
        with start_run(self, inputs, against, config, progress) as run:
            found = find_flow(run.flow, run.scans, config, run.layout, progress)
            tables = find_tables(run, found.passages, found.documents, found.repeats)
            kept = run.facts(config, progress)
            return Result(backing=SparkBacking(run, tables, kept["counts"]["documents"], found.texts), **kept)

    def cluster(
        self, inputs: Any, against: Any, config: Config, progress: Progress, plan: SamplingPlan | None
    ) -> ClusterResult[DataFrame]:
        """Find documents that are duplicates as wholes; see `ibidem.cluster`."""
        with start_run(self, inputs, against, for_keeping(config), progress) as run:
            found = clusters_flow(run.flow, run.scans, config, run.layout, plan, progress, unique_ids=True)
            tables, kept = cluster_tables(run, found.duplicates, found.clusters), run.facts(config, progress)
            return ClusterResult(backing=SparkBacking(run, tables, kept["counts"]["documents"]), plan=plan, **kept)

    def dedup(self, inputs: Any, against: Any, config: Config, progress: Progress) -> CleaningResult[DataFrame, DataFrame]:
        """Decide what goes out of a collection; see `ibidem.dedup`."""
        check_reference(inputs, against)
        with start_run(self, inputs, against, for_keeping(config), progress, whole=True) as run:
            flow, layout = run.flow, run.layout
            records = run.scans.records()
            gone, decisions = removals_flow(flow, run.scans, config, layout, progress)

            @cache
            def clean(mark_only: bool) -> Any:
                """Return the records that remain, or are marked; they are read once more."""
                stage, chosen = "marked" if mark_only else "cleaned", Config.of(config, mark_only=mark_only)
                kept = flow.map(f"{stage}-records", records, send_records(layout), {"records": records.schema})["records"]
                return clean_records(flow, kept, gone, decisions, chosen, stage)

            kept = run.facts(config, progress)
            backing = SparkBacking(run, cleaning_tables(run, gone), kept["counts"]["documents"])
            return CleaningResult(backing=backing, copies=SparkCopies(inputs, backing, clean, records.scan.kind), **kept)


def own_engine(settings: EngineConfig, spark_settings: Mapping[str, str]) -> SparkEngine:
    """Return an engine on the session that this process was started for, or on a new one on this machine."""
    spark = own_session(spark_settings, settings.workers or available_cores())
    return SparkEngine(spark, settings.tmp_folder, settings.partitions)
