"""The verbs over stages on disk, on one screen: the counterpart of `pipeline` for what outgrows memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from ibidem.config import Config
from ibidem.execution.checks import check_reference, fields_for_keeping
from ibidem.execution.disk.run import DiskRun
from ibidem.execution.programs.dedup import clusters_flow, removals_flow
from ibidem.execution.programs.find import find_flow
from ibidem.execution.progress import Progress
from ibidem.formats.inputs import resolve_inputs, without_iterators
from ibidem.formats.sources import file_states
from ibidem.model import Document
from ibidem.resemblance import SamplingPlan
from ibidem.results.cleaned_copies import LocalCopies
from ibidem.results.cleaning_result import CleaningResult
from ibidem.results.disk_storage import DiskBacking, cleaning_tables, cluster_tables, find_tables
from ibidem.results.disk_tables import order_repeats
from ibidem.results.result import ClusterResult, Result


def find_stored(inputs: Any, against: Any, config: Config, progress: Progress) -> Result[pa.Table]:
    """Find every passage that stands in two documents; see `ibidem.find`."""
    with DiskRun("find", inputs, against, config, progress) as run:
        run.read(config.documents)
        found = find_flow(run.flow, run.documents, config, run.layout, progress)
        with progress.stage("tables"):
            repeats = order_repeats(run.flow.store, found.repeats)
        tables, kept = find_tables(found.passages, found.documents, repeats), run.kept()
        return Result(backing=DiskBacking(run, tables), **kept)


def cluster_stored(
    inputs: Any, against: Any, config: Config, progress: Progress, plan: SamplingPlan | None
) -> ClusterResult[pa.Table]:
    """Find documents that are duplicates as wholes; see `ibidem.cluster`."""
    with DiskRun("cluster", inputs, against, config, progress, plan) as run:
        run.read(fields_for_keeping(config))
        found = clusters_flow(run.flow, run.documents, config, run.layout, plan, progress, unique_ids=True)
        tables, kept = cluster_tables(found.duplicates, found.clusters), run.kept()
        return ClusterResult(backing=DiskBacking(run, tables), plan=plan, **kept)


def dedup_stored(inputs: Any, against: Any, config: Config, progress: Progress) -> CleaningResult[pa.Table, Iterator[Document]]:
    """Decide what goes out of a collection; see `ibidem.dedup`."""
    check_reference(inputs, against)
    states = file_states(resolve_inputs(without_iterators(inputs)))
    with DiskRun("dedup", inputs, against, config, progress) as run:
        run.read(fields_for_keeping(config))
        gone, members = removals_flow(run.flow, run.documents, config, run.layout, progress)
        tables, kept = cleaning_tables(gone, members), run.kept()
        backing = DiskBacking(run, tables)
        return CleaningResult(backing=backing, copies=LocalCopies(inputs, states, backing), **kept)
