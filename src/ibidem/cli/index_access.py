"""An index as the commands use it: opened, asked for documents, and the answers written."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ibidem.cli.screen import say
from ibidem.config import Config
from ibidem.errors import NoDocumentsError
from ibidem.execution.progress import Progress
from ibidem.execution.warmup import announcement
from ibidem.formats import describe_inputs, input_size, read
from ibidem.formats.inputs import given_names
from ibidem.formats.jobs import SkippedRecords
from ibidem.index.answers import QueryResult
from ibidem.index.index import Index
from ibidem.index.search import radius_note
from ibidem.model import Skipped
from ibidem.results.remote_folder import results_sent_to
from ibidem.results.summary import skipped_lines, unknown_files_lines
from ibidem.results.table_files import describe_run, write_result


def open_index(folder: Path, settings: dict[str, Any], *, create: bool = False, progress: Progress | None = None) -> Index:
    """Open an index with these settings; `create` makes it if there is none."""
    return Index(folder, create=create, progress=progress, **settings)


def tell_of_compiling(verb: str, quiet: bool, config: Config | None = None) -> None:
    """Say that a first run takes longer."""
    if not quiet and (line := announcement(verb, config)):
        say([f"ibidem: {line}"])


def look_up(
    verb: str, index: Index, inputs: Sequence[str], with_texts: bool, passages: bool, display: Progress, quiet: bool
) -> tuple[QueryResult, Sequence[str], Sequence[Skipped]]:
    """Return the answers, the texts of the documents if they are wanted, and what was skipped."""
    n_bytes = input_size(list(inputs))
    tell_of_compiling(verb, quiet, index.config)
    if not quiet and len(index) == 0:
        say(["ibidem: the index is empty"])
    if not quiet and "-" in inputs and sys.stdin is not None and sys.stdin.isatty():
        say(["ibidem: waiting for a text or records on standard input; end with Ctrl-D"])
    with display.stage("looking up", None if with_texts else n_bytes):
        if not with_texts:
            result = index.query(list(inputs), passages=passages)
            _tell_notes(result.notes, quiet)
            say([] if quiet else [f"ibidem: {notice}" for notice in index.notices])
            return result, (), result.skipped
        # Read here and not by the query, which does not keep the texts: they are shown.
        skipped = SkippedRecords(index.config.output.strict)
        documents = list(read(list(inputs), on_skip=skipped.add, **asdict(index.config.documents)))
        if not documents:
            message = f"the inputs contain no documents to look up: {given_names(list(inputs))}"
            raise NoDocumentsError(message, skipped.explain())
        display.add_documents(len(documents))
        result = index.query(documents, passages=passages, html=False, main_content=False)
        _tell_notes(result.notes, quiet)
        return result, [document.text for document in documents], skipped.records


def _tell_notes(notes: Sequence[str], quiet: bool) -> None:
    say([] if quiet else [f"ibidem: {note}" for note in notes])


def tell_of_radius(index: Index, quiet: bool) -> None:
    """Say for which sentences of a stream the bits search cannot keep its promise: these are not known yet."""
    settings = index.config.index
    longest = index.info()["bits"]["longest_sentence"] if settings.search_engine == "bits" else None
    if longest is not None and longest < index.config.sentences.max_sentence_words:
        _tell_notes([radius_note(longest, settings.max_false_positive)], quiet)


def write_answers(output: Path | str, result: QueryResult, inputs: Sequence[str], display: Progress) -> None:
    """Write the tables of answers to a folder."""
    tables = {"hits": result.hits, "passages": result.passages}
    if result.config.output.keep_text:
        tables = {"hits": result.hits_with_texts(), "passages": result.with_texts()}
    counts = {
        "documents": len(result.ids), "sentences": sum(verdict.n_sentences for verdict in result.verdicts),
        "hits": len(result), "passages": result.passages.num_rows, "skipped": len(result.skipped),
    }  # fmt: skip
    run = describe_run(result.config, describe_inputs(list(inputs)), counts, display.timings)
    with results_sent_to(output) as place:
        write_result(place, tables, result.skipped, run, result.config.output.format)


def tell_of_skipped(skipped: Sequence[Skipped], quiet: bool, listed_in: str | None = None) -> None:
    """Return which records could not be used."""
    if skipped and not quiet:
        say([*skipped_lines(skipped, listed_in), *unknown_files_lines(skipped, listed_in)])
