"""The backing of a run's tables: results are where the run worked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

import pyarrow as pa

from ibidem.clusters.removals import Removals
from ibidem.columns.collection import Documents
from ibidem.execution.disk.run import DiskRun
from ibidem.execution.flow import Parts
from ibidem.execution.run import LocalRun, MemoryRun, Run
from ibidem.results.cleaned_copies import LocalCopies
from ibidem.results.cleaning_result import Copies
from ibidem.results.memory_storage import MemoryBacking
from ibidem.results.storage import Backing

TableT = TypeVar("TableT")


def backing_of(
    run: Run[TableT],
    tables: Mapping[str, Parts[pa.Table]],
    documents: Parts[Any],
    removals: Parts[Removals] | Parts[pa.Table] | None = None,
) -> Backing[TableT]:
    """Return what a result is made of. `documents` are those that the tables are about: sentences, shingles, or no more than
    their sizes.
    """
    made: Backing[Any]
    if isinstance(run, MemoryRun):
        whole = {name: table.take() for name, table in tables.items()}
        known: Documents = documents.look()
        made = MemoryBacking(whole, known, None if removals is None else removals.take())
    else:
        parted = {name: table.take_table(name) for name, table in tables.items()}
        if removals is not None:
            parted |= {name: removals.take_table(name) for name in list(removals.tables)}
        if isinstance(run, DiskRun):
            from ibidem.results.disk_storage import DiskBacking

            made = DiskBacking(run, parted)
        else:
            from ibidem.results.spark_storage import SparkBacking

            texts = documents.table("texts") if "texts" in documents.tables else None
            made = SparkBacking(cast(Any, run), parted, texts)
    return cast("Backing[TableT]", made)


def copies_of(run: Run[TableT], backing: Backing[TableT], tables: Mapping[str, pa.Table] | None = None) -> Copies[Any]:
    """Return what makes cleaned copies of the inputs of a run, and writes further tables, which are small, beside them."""
    if isinstance(run, LocalRun):
        return LocalCopies(run.inputs, run.states, cast(Any, backing), tables or {})
    from ibidem.results.spark_storage import SparkCopies

    return SparkCopies(run.inputs, cast(Any, backing), tables or {})
