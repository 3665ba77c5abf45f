"""Settings of reading: where texts, ids, times and groups of documents come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ibidem.config.settings import criterion, input_setting
from ibidem.config.surface import named
from ibidem.errors import InputError

SAME = "same"
# What is known about documents from elsewhere: for verbs whose results depend on times and groups.
DOCUMENT_FACTS = ("date_format", "metadata", "metadata_key", "time_from", "group_from")


def _reference_setting(what: str) -> Any:
    return input_setting(SAME, f"Like --{what}-field, for the reference. same: the same field as in INPUT.", value="NAME")


@dataclass(frozen=True)
class DocumentsConfig:
    """How records become documents."""

    text_field: str = input_setting("text", "Field or column with the text.", common=True, value="NAME")
    id_field: str = input_setting(
        "id",
        "Field with the document's id. Records without one get an id made of file name and position.",
        common=True,
        value="NAME",
    )
    time_field: str = input_setting(
        "time",
        "Field with the publication time. ISO 8601, seconds since 1970, or a written date such as 4 May 2031.",
        common=True,
        value="NAME",
    )
    group_field: str = input_setting(
        "group", "Field with outlet, author or site. It is called the document's group.", common=True, value="NAME"
    )
    date_format: str = input_setting(
        "auto",
        "How dates are written: day-first or month-first for 4/5/2031, or a form such as %d/%m/%Y. auto: every form that can "
        "mean one date only.",
        value="FORM",
    )
    metadata: str = input_setting(
        "none",
        "Table with times, groups, titles and other fields of the documents: CSV, TSV, JSON lines or Parquet. Rows are found "
        "by id or file name.",
        value="FILE",
    )
    metadata_key: str = input_setting(
        "auto", "Column of the metadata with ids or file names. auto: id, file, path and the like.", value="NAME"
    )
    time_from: str = input_setting(
        "none",
        "Take the time from the path of a file: a regular expression whose group `time`, or first group, matches it.",
        value="PATTERN",
    )
    group_from: str = input_setting(
        "none",
        "Take the group from the path of a file: a regular expression whose group `group`, or first group, matches it.",
        value="PATTERN",
    )
    query: str = input_setting(
        "none",
        "SQL query for SQLite and DuckDB files, such as SELECT id, body AS text FROM articles. none: all rows of the table "
        "with the text field.",
        value="SQL",
    )
    html: bool = input_setting(False, "The text field contains HTML: extract the text from it.")
    main_content: bool = input_setting(False, "Keep only the main content of HTML, without navigation and footers.")
    text_path: str = input_setting(
        "auto",
        "Elements with the text of XML files, such as article/body//p. auto: TEI, ALTO and PAGE files are known.",
        value="PATH",
    )
    encoding: str = input_setting(
        "utf-8", "Character encoding of text, JSON and CSV files. auto: detected file by file, and reported.", value="NAME"
    )


@dataclass(frozen=True)
class ReferenceConfig:
    """How records of the reference become documents, where its fields have other names than those of the inputs."""

    against_text_field: str = _reference_setting("text")
    against_id_field: str = _reference_setting("id")
    against_time_field: str = _reference_setting("time")
    against_group_field: str = _reference_setting("group")
    contained: str = criterion(
        "input",
        "With a reference and a minimum containment: which document must be contained in the other. input: a document is a "
        "duplicate if the reference contains it; reference: if it contains a reference document; either: in both cases.",
        value="SIDE",
        choices=("input", "reference", "either"),
    )


def reference_fields(inputs: DocumentsConfig, reference: ReferenceConfig) -> DocumentsConfig:
    """Return how the documents of the reference are read, given the settings of both sides."""
    return replace(inputs, **own_fields(asdict(reference)))


def own_fields(reference: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of reading that differ for the reference, by the names that they have for the inputs."""
    names = {name.removeprefix("against_"): value for name, value in reference.items() if name.startswith("against_")}
    return {name: value for name, value in names.items() if value != SAME}


def about_reference(error: InputError, reference: ReferenceConfig) -> InputError:
    """Return an error of reading the reference that names the setting of the reference."""
    for name in own_fields(asdict(reference)):
        if named(name) in error.next_step:
            return InputError(error.message, error.next_step.replace(named(name), named(f"against_{name}")))
    return error
