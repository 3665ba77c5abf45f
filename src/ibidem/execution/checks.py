"""Checks of a collection as a whole, made before the work begins.

The checks are rules about counts. In memory the counts are available; in partitions, every partition sends its counts.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import NO_TIME, Collection, Documents
from ibidem.columns.shingled import ShingledDocuments
from ibidem.config import Config, DocumentsConfig
from ibidem.config.cleaning_settings import CleaningConfig
from ibidem.config.settings import NONE
from ibidem.config.surface import given, named
from ibidem.errors import InputError, NoDocumentsError, NoValueError, UsageError
from ibidem.execution.flow import AnyFlow, InMemory, Parts
from ibidem.execution.layout import Layout
from ibidem.execution.progress import Progress
from ibidem.execution.unique_ids import check_ids, check_unique_ids
from ibidem.formats import resolve_inputs
from ibidem.formats.jobs import SkippedRecords
from ibidem.formats.sources import FileSource, place_of
from ibidem.formats.times import ACCEPTED
from ibidem.model import Skipped


class EmptySideError(NoDocumentsError):
    """The inputs or the reference contain no documents; the run knows their names and what was skipped."""

    def __init__(self, is_reference: bool) -> None:
        super().__init__("the reference contains no documents" if is_reference else "the inputs contain no documents")
        self.is_reference = is_reference


class NoTimesError(NoValueError):
    """No record has a time in the field that the user named; the run knows whether any could not be parsed."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"no record has a time in the field '{name}'", f"Check {named('time_field')}. Accepted times: {ACCEPTED}."
        )
        self.name = name


def check_sides(n_input: int, n_reference: int, has_reference: bool) -> None:
    """Raise EmptySideError if a side has no documents."""
    if n_input == 0:
        raise EmptySideError(is_reference=False)
    if has_reference and n_reference == 0:
        raise EmptySideError(is_reference=True)


def check_level(config: Config) -> None:
    """Raise if edited copies are to be removed, but not passages, or if a limit for them is given and they are not."""
    n_copies = config.cleaning.keep_copies
    if n_copies > 1 and config.cleaning.level != "document":
        step = f"Add {given('level', 'document')}, or leave out {named('keep_copies')}."
        raise UsageError(f"{given('keep_copies', n_copies)} counts whole documents, not parts of them", step)
    if config.cleaning.mark_copies and config.cleaning.level != "document":
        step = f"Add {given('level', 'document')}, or leave out {named('mark_copies')}."
        raise UsageError(f"{named('mark_copies')} counts whole documents, not parts of them", step)
    limit = config.cleaning.min_copy_similarity
    if not config.alignment.align and limit != CleaningConfig().min_copy_similarity:
        name = named("min_copy_similarity")
        step = f"Add {given('level', 'passage')} and {given('align', True)}, or leave out {name}."
        raise UsageError(f"{given('min_copy_similarity', float(limit))} has no effect: edited copies are not removed", step)
    if config.alignment.align and config.cleaning.level != "passage":
        step = f"Add {given('level', 'passage')}, or leave out {given('align', True)}."
        raise UsageError(f"{given('level', config.cleaning.level)} removes no edited passages", step)
    if config.cleaning.keep_if_differs != NONE and config.cleaning.level != "document":
        step = f"Leave out {named('keep_if_differs')} or {named('level')}."
        raise UsageError(f"{named('keep_if_differs')} works with {given('level', 'document')}", step)


def check_known_fields(n_times: int, n_groups: int, config: DocumentsConfig) -> None:
    """Raise InputError if the user named a field for times or groups and no record has a value in it."""
    usual = DocumentsConfig()
    for setting, n_known in {"time_field": n_times, "group_field": n_groups}.items():
        name = getattr(config, setting)
        if name != getattr(usual, setting) and n_known == 0:
            if setting == "time_field":
                raise NoTimesError(name)
            raise NoValueError(f"no record has a field '{name}' with text or a number", f"Check {named('group_field')}.")


def check_sentences(
    flow: AnyFlow,
    sentences: Parts[Collection],
    progress: Progress,
    fields: DocumentsConfig | None = None,
    unique_ids: bool = True,
) -> None:
    """Raise if a side has no documents, if ids that must be unique repeat, or if no record has a field that the user named."""
    if isinstance(flow, InMemory):
        check_documents(sentences.look(), flow.has_reference, unique_ids)
        if fields is not None:
            check_fields(sentences.look(), fields)
        return
    check_counts(flow.collect(sentences.take_table("counts")), flow.layout, progress, fields)
    if unique_ids:
        check_ids(flow, sentences.take_table("ids"))


def check_shingled(flow: AnyFlow, shingled: Parts[ShingledDocuments], progress: Progress, unique_ids: bool = True) -> None:
    """Raise if a side has no documents or if ids that must be unique repeat; record the counts of documents and shingles."""
    if isinstance(flow, InMemory):
        check_documents(shingled.look(), flow.has_reference, unique_ids)
        return
    table = flow.collect(shingled.table("counts"))
    counts = {name: int(table[name].to_numpy().sum()) for name in table.column_names}
    check_sides(counts["n_documents"] - counts["n_reference"], counts["n_reference"], flow.layout.has_reference)
    if unique_ids:
        check_ids(flow, shingled.take_table("ids"))
    progress.count(documents=counts["n_documents"], shingles=counts["n_shingles"])


def check_documents(collection: Documents, has_reference: bool, unique_ids: bool = True) -> None:
    """Raise if a side has no documents or, with `unique_ids`, if two documents of a side have the same id."""
    n_input, n_documents = collection.n_input, collection.n_documents
    check_sides(n_input, n_documents - n_input, has_reference)
    if unique_ids:
        n_batches = int(np.searchsorted(collection.batch_first[:-1], n_input))
        for side in (collection.batches[:n_batches], collection.batches[n_batches:]):
            check_unique_ids(side)


def check_fields(collection: Documents, config: DocumentsConfig) -> None:
    """Raise if the user named a field for times or groups and no document has a value in it."""
    n_groups = len(collection.groups) - collection.groups.null_count
    check_known_fields(int(np.count_nonzero(collection.times != NO_TIME)), n_groups, config)


def check_counts(counts: pa.Table, layout: Layout, progress: Progress, fields: DocumentsConfig | None = None) -> None:
    """Raise what `check_documents` and, with `fields`, `check_fields` raise, for the counts of all partitions; record the
    counts of documents and sentences.
    """
    sums = (int(column.to_numpy().sum()) for column in counts.columns)
    n_documents, n_reference, n_sentences, n_times, n_groups, n_ignored = sums
    check_sides(n_documents - n_reference, n_reference, layout.has_reference)
    progress.add_documents(n_documents, n_sentences)
    if n_ignored:
        progress.count(ignored_sentences=n_ignored)
    if fields is not None:
        check_known_fields(n_times, n_groups, fields)


def check_reference(inputs: Any, against: Any) -> None:
    """Raise if a file is both an input and a reference: all of it would be removed."""
    if against is None:  # inputs may be where only Spark reaches
        return
    sides = [
        {place_of(source): source.name for source in resolve_inputs(given) if isinstance(source, FileSource)}
        for given in (inputs, against)
        if isinstance(given, (str, os.PathLike, list, tuple))
    ]
    if len(sides) == 2 and (both := sides[0].keys() & sides[1].keys()):
        raise InputError(
            f"{sides[0][min(both)]} is both an input and a reference", f"Give different files, or leave out {named('against')}."
        )


def numbers_of_pairs(
    collection: Documents, pairs: Sequence[tuple[str, str]], source: str, skipped: SkippedRecords
) -> NDArray[np.int64]:
    """Return pairs of ids as pairs of document numbers. Pairs with unknown documents become skipped records."""
    number_of = {name: number for number, name in enumerate(collection.ids.to_pylist())}
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for position, pair in enumerate(pairs, start=1):
        if isinstance(pair, str) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise UsageError(f"{source}: {pair!r} is not a pair of ids", "Give pairs of two ids, both strings.")
        missing = [name for name in pair if name not in number_of]
        numbers = tuple(number_of[name] for name in pair if name in number_of)
        if missing:
            skipped.add(Skipped(source, position, f"no such document: {', '.join(missing)}"))
        elif numbers[0] == numbers[1]:
            skipped.add(Skipped(source, position, "a document and itself", id=pair[0]))
        elif tuple(sorted(numbers)) in found:
            skipped.add(Skipped(source, position, "the pair is already in the list"))
        else:
            found[tuple(sorted(numbers))] = numbers
    if not found:
        raise InputError(f"{source} lists no pair of documents in the inputs", skipped.explain() or "List pairs of ids.")
    return np.array(list(found.values()), np.int64)
