"""What is wrong with a collection as a whole, said before the work begins."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.collection import NO_TIME, Documents
from ibidem.config import Config, DocumentsConfig
from ibidem.errors import InputError, NoDocumentsError, UsageError
from ibidem.execution.unique_ids import find_repeated_id
from ibidem.formats import resolve_inputs
from ibidem.formats.jobs import SkippedRecords
from ibidem.formats.sources import FileSource
from ibidem.model import Skipped


def check_documents(collection: Documents, has_reference: bool, skipped: SkippedRecords, unique_ids: bool = True) -> None:
    """Raise where a side has no documents, or, with `unique_ids`, two of one id."""
    sides = {"the inputs": (0, collection.n_input), "the reference": (collection.n_input, collection.n_documents)}
    for name, (begin, end) in sides.items():
        if begin == end and (has_reference or name == "the inputs"):
            raise NoDocumentsError(f"{name} hold{'s' * (name != 'the inputs')} no documents", skipped.explain())
        if unique_ids:
            find_repeated_id(
                [b for b, first in zip(collection.batches, collection.batch_first, strict=False) if begin <= first < end]
            )


def check_fields(collection: Documents, config: DocumentsConfig) -> None:
    """Raise where the user named a field for times or groups, and no record has anything in it."""
    check_known_fields(bool((collection.times != NO_TIME).any()), bool((collection.group_numbers >= 0).any()), config)


def check_known_fields(has_times: bool, has_groups: bool, config: DocumentsConfig) -> None:
    """The same, given whether any record has a time and any has a group."""
    usual = DocumentsConfig()
    for setting, is_there in {"time_field": has_times, "group_field": has_groups}.items():
        name = getattr(config, setting)
        if name != getattr(usual, setting) and not is_there:
            what = "a time in a form that is known" if setting == "time_field" else "a value"
            raise InputError(f"no record has a field '{name}' with {what}", f"Check --{setting.replace('_', '-')}.")


def fields_for_keeping(config: Config) -> DocumentsConfig:
    """Return how documents are read so that the field that decides which one stays is there: as their group, unused else."""
    field, separator, _ = config.clusters.keep.rpartition(":")
    return dataclasses.replace(config.documents, group_field=field) if separator else config.documents


def check_keeping(documents: Documents, config: Config) -> None:
    """Raise where the field or the times that decide which document stays are nowhere."""
    rule = config.clusters.keep
    if ":" in rule and documents.groups.null_count == len(documents.groups):
        raise nothing_to_keep_by(rule)
    if rule == "earliest" and (documents.times == NO_TIME).all():
        raise nothing_to_keep_by(rule)


def nothing_to_keep_by(rule: str) -> InputError:
    """Return what is said where no record has what the rule looks at."""
    field, separator, _ = rule.rpartition(":")
    if separator:
        return InputError(f"no record has a field '{field}' with a value", "Check --keep.")
    return InputError("no record has a time, so none is the earliest", "Check --time-field, or choose another --keep.")


def check_reference(inputs: Any, against: Any) -> None:
    """Raise where a file is an input and a reference too: all of it would go."""
    sides = [
        {os.path.realpath(source.path) for source in resolve_inputs(given) if isinstance(source, FileSource)}
        for given in (inputs, against)
        if isinstance(given, (str, os.PathLike, list, tuple))
    ]
    if len(sides) == 2 and (both := sides[0] & sides[1]):
        raise InputError(f"{min(both)} is an input and a reference too", "Give different files, or leave out --against.")


def numbers_of_pairs(
    collection: Documents, pairs: Sequence[tuple[str, str]], source: str, skipped: SkippedRecords
) -> NDArray[np.int64]:
    """Return pairs of ids as pairs of document numbers. Pairs of documents that are not there are skipped records."""
    number_of = {name: number for number, name in enumerate(collection.ids.to_pylist())}
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for position, pair in enumerate(pairs, start=1):
        if isinstance(pair, str) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise UsageError(f"{source}: {pair!r} is not a pair of ids", "Give pairs of two texts each.")
        missing = [name for name in pair if name not in number_of]
        numbers = tuple(number_of[name] for name in pair if name in number_of)
        if missing:
            skipped.add(Skipped(source, position, f"there is no document {' and no document '.join(missing)}"))
        elif numbers[0] == numbers[1]:
            skipped.add(Skipped(source, position, "a document and itself", id=pair[0]))
        elif tuple(sorted(numbers)) in found:
            skipped.add(Skipped(source, position, "the pair stands in the list before"))
        else:
            found[tuple(sorted(numbers))] = numbers
    if not found:
        raise InputError(f"{source} lists no pair of documents that are there", skipped.explain() or "List pairs of ids.")
    return np.array(list(found.values()), np.int64)
