"""Benchmarks as they are given: which fields of their records are prompts and answers, and the items in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ibidem.config import Config, DocumentsConfig
from ibidem.config.contamination_settings import AUTO_FIELDS, fields_of_benchmark, owners_of_fields
from ibidem.config.settings import NONE
from ibidem.config.surface import given, named
from ibidem.contamination.items import ANSWER, FIELDS, PROMPT, Items, prepare
from ibidem.errors import InputError, SettingsError
from ibidem.formats import describe_inputs, read_batches, resolve_inputs
from ibidem.formats.inputs import without_iterators
from ibidem.formats.known_fields import field_names
from ibidem.formats.python_inputs import repeatable, settle
from ibidem.formats.records import EMPTY_TEXT, shown_names
from ibidem.formats.sources import FileSource, place_of
from ibidem.model import Skipped

USUAL_FIELDS = {
    PROMPT: ("question", "problem", "prompt", "instruction", "input", "query", "stem", "premise", "goal", "ctx", "context",
             "passage", "sentence", "text"),
    ANSWER: ("answer", "solution", "target", "canonical_solution", "completion", "output", "response", "reference",
             "best_answer"),
}  # fmt: skip


def check_level(config: Config) -> None:
    """Raise unless whole documents or passages are to be removed."""
    level = config.cleaning.level
    if level not in ("document", "passage"):
        either = f"{given('level', 'document')} or {given('level', 'passage')}"
        raise SettingsError([f"decontaminate knows {either}, not {given('level', level)}"])


def read_items(benchmarks: Mapping[str, Any], config: Config, train: Any = ()) -> Items:
    """Read benchmarks, given their inputs by name. A named field that no record has, or a benchmark that is also among the
    training data, is an InputError.
    """
    if not isinstance(benchmarks, Mapping) or not benchmarks:
        raise SettingsError(['benchmarks must be a dict of names and inputs: {"quiz": "quiz.jsonl"}'])
    settings = config.contamination
    named_fields = settings.prompt_fields, settings.answer_fields, settings.item_id_field
    if unknown := [owner for owner in owners_of_fields(named_fields) if owner not in benchmarks]:
        known = ", ".join(benchmarks)
        raise SettingsError([f"fields are given for '{unknown[0]}', which is not a benchmark; the benchmarks are {known}"])
    rows: dict[str, list[Any]] = {name: [] for name in FIELDS.names}
    texts: list[str] = []
    skipped: list[tuple[str, Skipped]] = []
    inputs: list[Mapping[str, Any]] = []
    n_items = 0
    for number, (name, item) in enumerate(benchmarks.items()):
        sources = repeatable(settle(item))
        _check_apart(name, sources, train)
        inputs += [{**described, "benchmark": name} for described in describe_inputs(sources)]
        found = list(_read_fields(name, sources, config, skipped))
        ids = _distinct_ids(found)
        numbers = {place: n_items + number for number, place in enumerate(ids)}
        for field in found:
            place = field.source, field.position
            values = number, name, numbers[place], ids[place], field.field, field.role, *place
            for column, value in zip(rows.values(), values, strict=True):
                column.append(value)
            texts.append(field.text)
        n_items += len(ids)
    order = np.lexsort((np.arange(len(texts)), np.array(rows["item"], np.int64)))
    table = pa.table(rows, schema=FIELDS).take(pa.array(order))
    column = pa.array(texts, pa.large_string()).take(pa.array(order))
    return prepare(list(benchmarks), table, column, inputs, skipped, config)


def _distinct_ids(fields: Sequence[ReadField]) -> dict[tuple[str, int], str]:
    """Return the ids of the items of a benchmark by their places, in order. An id that occurs again becomes file and position,
    like a missing one: ids often restart in every file or subset.
    """
    given_ids = {(field.source, field.position): field.id for field in fields}
    own, taken = set(given_ids.values()), set[str]()
    for (source, position), item_id in given_ids.items():
        distinct = item_id
        while distinct in taken or (distinct != item_id and distinct in own):
            distinct = f"{source}:{position}" if distinct == item_id else f"{distinct}+"
        taken.add(distinct)
        given_ids[source, position] = distinct
    return given_ids


def _check_apart(name: str, benchmark: Any, train: Any) -> None:
    sides = [
        {place_of(source): source.name for source in resolve_inputs(without_iterators(side)) if isinstance(source, FileSource)}
        for side in (benchmark, train)
    ]
    if both := sides[0].keys() & sides[1].keys():
        step = "Leave it out of the training data: all of it would be removed."
        raise InputError(f"{sides[0][min(both)]} is both the benchmark {name} and training data", step)


class ReadField(NamedTuple):
    """A field of an item, with its text and its place."""

    id: str
    field: str
    role: str
    text: str
    source: str
    position: int


def _read_fields(name: str, inputs: Any, config: Config, skipped: list[tuple[str, Skipped]]) -> Iterator[ReadField]:
    """Yield the fields of a benchmark's items, field by field; records without any of them are skipped."""
    chosen = _chosen_fields(name, inputs, config)
    usable: set[tuple[str, int]] = set()
    left_out: dict[tuple[str, int], Skipped] = {}
    for role, field, is_named in chosen:
        ids = fields_of_benchmark(config.contamination.item_id_field, name) or [DocumentsConfig().id_field]
        fields = DocumentsConfig(text_field=field, id_field=ids[0], encoding=config.documents.encoding)
        missing: list[Skipped] = []
        n_found = 0
        for batch in read_batches(inputs, fields, missing.append):
            columns = (batch[column].to_pylist() for column in ("id", "text", "source", "position"))
            for item_id, text, source, position in zip(*columns, strict=True):
                usable.add((source, position))
                n_found += 1
                yield ReadField(item_id, field, role, text, source, position)
        if is_named and n_found == 0:
            raise _no_field(name, role, field, inputs, missing, config)
        for record in missing:
            place = record.source, record.position
            if place not in left_out or record.reason == EMPTY_TEXT:  # which says more than that there is no such field
                left_out[place] = record
    if not usable:
        raise _no_field(name, PROMPT, chosen[0][1], inputs, list(left_out.values()), config)
    skipped += [(name, record) for place, record in left_out.items() if place not in usable]


def _chosen_fields(name: str, inputs: Any, config: Config) -> list[tuple[str, str, bool]]:
    """Return role and name of the fields to read, and whether they were named by the user."""
    chosen: list[tuple[str, str, bool]] = []
    for role, setting in ((PROMPT, config.contamination.prompt_fields), (ANSWER, config.contamination.answer_fields)):
        fields = fields_of_benchmark(setting, name) or [AUTO_FIELDS]
        if fields == [AUTO_FIELDS]:
            known = _known_fields(inputs, config.documents.encoding)
            found = [field for field in USUAL_FIELDS[role] if field in known]
            if role == PROMPT and not found:
                if known:
                    step = f"Name one with {_prompt_setting(name)}. The fields are {shown_names(sorted(known))}."
                    raise InputError(f"the benchmark {name} has no field that usually contains a prompt", step)
                found = [DocumentsConfig().text_field]  # plain texts
            chosen += [(role, field, False) for field in found]
        elif fields != [NONE]:
            chosen += [(role, field, True) for field in fields]
    if len({field for _, field, _ in chosen}) < len(chosen):
        twice = next(field for _, field, _ in chosen if [each for _, each, _ in chosen].count(field) > 1)
        raise SettingsError([f"the field '{twice}' of the benchmark {name} is named twice"])
    if not chosen:
        raise SettingsError(
            [f"the benchmark {name} has no fields: {named('prompt_fields')} and {named('answer_fields')} are none"]
        )
    return chosen


def _prompt_setting(name: str) -> str:
    return given("prompt_fields", f"{name}=FIELD")


def _known_fields(inputs: Any, encoding: str) -> set[str]:
    """Return the names of the fields of all records: of several subsets in one file, each may have its own."""
    known: set[str] = set()
    for source in resolve_inputs(inputs):
        known |= set(field_names(source, encoding, of_all=True))
    return known


def _no_field(name: str, role: str, field: str, inputs: Any, missing: Sequence[Skipped], config: Config) -> InputError:
    """Return the error for a field in which no record has text, or for a benchmark without records."""
    where = ""
    if missing:
        first = min(missing, key=lambda record: (record.source, record.position))
        line = f":{first.position}" if first.position else ""
        where = f" ({first.source}{line}: {first.reason})"
    known = sorted(_known_fields(inputs, config.documents.encoding))
    is_empty = [record.reason == EMPTY_TEXT for record in missing]
    if not missing or not (known or any(is_empty) or any(record.position for record in missing)):
        return InputError(f"the benchmark {name} has no records{where}", "Check the path, or what is passed.")
    setting = given(f"{role}_fields", f"{name}=FIELD")
    step = f"Name another with {setting}." + (f" The fields are {shown_names(known)}." if known else "")
    if all(is_empty):
        return InputError(f"all texts of the benchmark {name} in the field '{field}' are empty{where}", step)
    return InputError(f"no record of the benchmark {name} has text in the field '{field}'{where}", step)
