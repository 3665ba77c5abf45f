"""The verbs over stages on disk, on one screen: the counterpart of `pipeline` for what outgrows memory."""

from __future__ import annotations

from typing import Any

from ibidem.config import Config
from ibidem.execution.checks import check_reference, fields_for_keeping
from ibidem.execution.disk.run import StoredRun
from ibidem.execution.programs.dedup import clusters_flow, removals_flow
from ibidem.execution.programs.find import find_flow
from ibidem.execution.progress import Progress
from ibidem.formats.file_states import file_states
from ibidem.formats.inputs import resolve_inputs, without_iterators
from ibidem.resemblance import SamplingPlan
from ibidem.results.disk_result import (
    Stored,
    StoredCleaningResult,
    StoredClusterResult,
    StoredResult,
    cleaning_tables,
    cluster_tables,
    found_tables,
)
from ibidem.results.disk_tables import order_repeats


def find_stored(inputs: Any, against: Any, config: Config, progress: Progress) -> StoredResult:
    """Find every passage that stands in two documents; see `ibidem.find`."""
    with StoredRun("find", inputs, against, config, progress) as run:
        run.read(config.documents)
        found = find_flow(run.flow, run.documents, config, run.layout, progress)
        with progress.stage("tables"):
            repeats = order_repeats(run.flow.store, found.repeats)
        tables, kept = found_tables(found.passages, found.documents, repeats), run.kept()
        return StoredResult(stored=Stored(run, tables), **kept)


def cluster_stored(
    inputs: Any, against: Any, config: Config, progress: Progress, plan: SamplingPlan | None
) -> StoredClusterResult:
    """Find documents that are duplicates as wholes; see `ibidem.cluster`."""
    with StoredRun("cluster", inputs, against, config, progress, plan) as run:
        run.read(fields_for_keeping(config))
        found = clusters_flow(run.flow, run.documents, config, run.layout, plan, progress, unique_ids=True)
        tables, kept = cluster_tables(found.duplicates, found.clusters), run.kept()
        return StoredClusterResult(stored=Stored(run, tables), plan=plan, **kept)


def dedup_stored(inputs: Any, against: Any, config: Config, progress: Progress) -> StoredCleaningResult:
    """Decide what goes out of a collection; see `ibidem.dedup`."""
    check_reference(inputs, against)
    states = file_states(resolve_inputs(without_iterators(inputs)))
    with StoredRun("dedup", inputs, against, config, progress) as run:
        run.read(fields_for_keeping(config))
        gone, members = removals_flow(run.flow, run.documents, config, run.layout, progress)
        tables, kept = cleaning_tables(gone, members), run.kept()
        return StoredCleaningResult(stored=Stored(run, tables), original=inputs, states=states, **kept)
