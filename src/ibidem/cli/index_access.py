"""An index as the commands use it: opened, asked for documents, and the answers written."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ibidem.errors import NoDocumentsError
from ibidem.execution.progress import Progress
from ibidem.execution.warmup import FIRST_RUN, is_index_compiled
from ibidem.formats import describe_inputs, input_size, read
from ibidem.formats.jobs import SkippedRecords
from ibidem.index.answers import QueryResult
from ibidem.index.index import Index
from ibidem.index.search import radius_note
from ibidem.model import Skipped
from ibidem.results.summary import skipped_lines, unknown_files_lines
from ibidem.results.table_files import describe_run, write_result


def open_index(folder: Path, settings: dict[str, Any], *, create: bool = False, progress: Progress | None = None) -> Index:
    """Open an index with these settings; `create` makes it if there is none."""
    return Index(folder, create=create, progress=progress, **settings)


def tell_of_compiling(quiet: bool, searching: bool) -> None:
    """Say that a first run takes longer."""
    if not quiet and not is_index_compiled(searching):
        click.echo(f"ibidem: {FIRST_RUN}", err=True)


def look_up(
    index: Index, inputs: Sequence[str], with_texts: bool, passages: bool, display: Progress, quiet: bool
) -> tuple[QueryResult, Sequence[str], Sequence[Skipped]]:
    """Return the answers, the texts of the documents if they are wanted, and what was skipped."""
    n_bytes = input_size(list(inputs))
    tell_of_compiling(quiet, searching=True)
    if not quiet and len(index) == 0:
        click.echo("ibidem: the index is empty", err=True)
    if not quiet and "-" in inputs and sys.stdin is not None and sys.stdin.isatty():
        click.echo("ibidem: waiting for a text or records on standard input; end with Ctrl-D", err=True)
    with display.stage("looking up", n_bytes):
        if not with_texts:
            result = index.query(list(inputs), passages=passages)
            _tell_notes(result.notes, quiet)
            return result, (), result.skipped
        # Read here and not by the query, which does not keep the texts: they are shown.
        skipped = SkippedRecords(index.config.output.strict)
        documents = list(read(list(inputs), on_skip=skipped.add, **asdict(index.config.documents)))
        if not documents:
            raise NoDocumentsError("the inputs contain no documents to look up", skipped.explain())
        result = index.query(documents, passages=passages, html=False, main_content=False)
        _tell_notes(result.notes, quiet)
        return result, [document.text for document in documents], skipped.records


def _tell_notes(notes: Sequence[str], quiet: bool) -> None:
    for note in () if quiet else notes:
        click.echo(f"ibidem: {note}", err=True)


def tell_of_radius(index: Index, quiet: bool) -> None:
    """Say for which sentences of a stream the bits search cannot keep its promise: these are not known yet."""
    settings = index.config.index
    longest = index.info()["bits"]["longest_sentence"] if settings.search_engine == "bits" else None
    if longest is not None and longest < index.config.sentences.max_sentence_words:
        _tell_notes([radius_note(longest, settings.max_false_positive)], quiet)


def write_answers(output: Path, result: QueryResult, inputs: Sequence[str], display: Progress) -> None:
    """Write the tables of answers to a folder."""
    tables = {"hits": result.hits, "passages": result.passages}
    counts = {
        "documents": len(result.ids), "sentences": sum(verdict.n_sentences for verdict in result.verdicts),
        "hits": len(result), "passages": result.passages.num_rows, "skipped": len(result.skipped),
    }  # fmt: skip
    run = describe_run(result.config, describe_inputs(list(inputs)), counts, display.timings)
    write_result(output, tables, result.skipped, run, result.config.output.format)


def tell_of_skipped(skipped: Sequence[Skipped], quiet: bool, listed_in: str | None = None) -> None:
    """Return which records could not be used."""
    if skipped and not quiet:
        click.echo("\n".join([*skipped_lines(skipped, listed_in), *unknown_files_lines(skipped, listed_in)]), err=True)
