"""Passages refined word by word, and edited copies added; so far only in memory."""

from __future__ import annotations

from typing import NoReturn

from ibidem.alignment.places import aligned_table
from ibidem.alignment.refinement import align_passages, pair_by_pair
from ibidem.columns.collection import Collection
from ibidem.config import Config, passage_limits
from ibidem.config.surface import given, named
from ibidem.errors import UsageError
from ibidem.execution.flow import AnyFlow, InMemory, Parts
from ibidem.execution.progress import Progress
from ibidem.passages.stage import FoundPassages


def refine(
    flow: AnyFlow, sentences: Parts[Collection], found: Parts[FoundPassages], config: Config, progress: Progress
) -> None:
    """Move the ends of passages to where words differ, and add passages that only words find."""
    if not isinstance(flow, InMemory):
        refuse_partitions()
    whole, collection = found.look(), sentences.look()
    rows = whole.rows
    whole.passages, aligned = align_passages(
        whole.passages, rows, whole.types, collection, whole.pairing, config, flow.run_tasks, progress
    )
    whole.aligned = aligned_table(aligned, collection, passage_limits(config).min_sentences)
    whole.covering = pair_by_pair(whole.passages, aligned, rows)


def refuse_partitions() -> NoReturn:
    """Say that a run in partitions cannot align."""
    raise UsageError(
        "alignment needs the whole collection in memory",
        f"Leave out {given('align', True)}, or allow more {named('memory')}.",
    )
