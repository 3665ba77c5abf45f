"""The verbs over stages on disk, on one screen: the counterpart of `pipeline` for what outgrows memory."""

from __future__ import annotations

from typing import Any

from ibidem.checking import check_reference, fields_for_keeping
from ibidem.config import Config
from ibidem.distributed.finding import find_flow
from ibidem.distributed.removing import clusters_flow, removals_flow
from ibidem.documents.inputs import resolve_inputs, without_iterators
from ibidem.documents.states import file_states
from ibidem.progress import Progress
from ibidem.resemblance import SamplingPlan
from ibidem.stored.results import (
    Stored,
    StoredCleaningResult,
    StoredClusterResult,
    StoredResult,
    cleaning_tables,
    cluster_tables,
    found_tables,
)
from ibidem.stored.running import StoredRun
from ibidem.stored.tables import order_repeats


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
