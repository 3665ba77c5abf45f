"""`ibidem index query` and `check`: what documents share with an index. Neither changes it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ibidem.cli.index_access import (
    NO_SEARCH_SETTINGS,
    index_argument,
    load_index,
    max_places_option,
    open_index,
    tell_of_compiling,
)
from ibidem.cli.options import given_settings, inputs_argument, output_option, run_options, setting_options
from ibidem.config import FORMATS, Config

if TYPE_CHECKING:
    from ibidem.execution.progress import Progress
    from ibidem.index.answers import QueryResult
    from ibidem.index.index import Index
    from ibidem.model import Skipped


@click.command(short_help="Look up what documents share with the index.")
@index_argument
@inputs_argument
@output_option("Folder for the tables hits and passages.", required=False)
@click.option(
    "--format", "form", type=click.Choice(["text", *FORMATS]),
    help="Format of the answers.  [default: parquet with -o; else text on a terminal, jsonl elsewhere]",
)  # fmt: skip
@max_places_option
@setting_options(
    "documents", "passages", "index",
    without=(*NO_SEARCH_SETTINGS, "min_hits", "max_places", "same_document"), also=("workers", "overwrite", "strict"),
)  # fmt: skip
@run_options
def query(
    folder: Path,
    inputs: tuple[str, ...],
    output: Path | None,
    form: str | None,
    config_file: str | None,
    progress: str,
    quiet: bool,
    **flags: Any,
) -> None:
    """Look up what documents share with the index in DIR: sentence by sentence (hits), and as passages.

    INPUT is as for `ibidem find`. A document is not compared with the one of its own id in the index. With -o, the tables
    are written to a folder; without, the answers go to standard output, as JSON one document a line unless that is a
    terminal.

    \b
    ibidem index query news.idx today.jsonl -o out
    ibidem index query news.idx draft.txt
    ibidem index query news.idx - --engine bits --words-flexible 3 < today.jsonl | jq .passages
    """
    settings = given_settings(config_file, flags)
    if form is not None and output is not None and form == "text":
        raise click.UsageError("--format text is for answers without -o")
    if form is not None and output is None and form not in ("text", "jsonl"):
        raise click.UsageError(f"--format {form} needs a folder: -o OUT")
    load_index()
    from ibidem.cli.display import open_display

    if output is None:
        from ibidem.cli.index_answers import list_passages, query_line

        as_text = _is_text(form)
        with open_display(progress, quiet) as display, open_index(folder, settings, progress=display) as index:
            result, texts, skipped = _look_up(index, inputs, as_text, True, display, quiet)
        for number in range(len(result.ids)):
            click.echo("\n".join(list_passages(result, number, texts[number])) if as_text else query_line(result, number))
        _tell_of_skipped(skipped, quiet)
        return
    from ibidem.cli.output_folder import output_occupied

    settings |= {} if form is None else {"format": form}
    with (
        output_occupied(output, Config.of(overwrite=bool(settings.get("overwrite")))),
        open_display(progress, quiet) as display,
        open_index(folder, settings, progress=display) as index,
    ):
        result, _, skipped = _look_up(index, inputs, False, True, display, quiet)
        with display.stage("writing"):
            _write(output, result, inputs, display)
    if not quiet:
        from ibidem.cli.index_answers import summarise_query

        click.echo("\n".join(summarise_query(result, sum(display.timings.values()))), err=True)
        _tell_of_skipped(skipped, quiet, "skipped.jsonl")
        click.echo(f"results: {output}", err=True)


@click.command(short_help="Say of each document whether it is duplicated.")
@index_argument
@inputs_argument
@click.option(
    "--format", "form", type=click.Choice(["text", "jsonl"]),
    help="Format of the verdicts.  [default: text on a terminal, jsonl elsewhere]",
)  # fmt: skip
@click.option("--all", "show_all", is_flag=True, help="List all known sentences, not only the first ones (text).")
@click.option("--exit-code", is_flag=True, help="End with exit code 1 if any document is duplicated.")
@max_places_option
@setting_options("documents", "index", without=NO_SEARCH_SETTINGS, also=("paper", "workers", "strict"))
@run_options
def check(
    folder: Path,
    inputs: tuple[str, ...],
    form: str | None,
    show_all: bool,
    exit_code: bool,
    config_file: str | None,
    progress: str,
    quiet: bool,
    **flags: Any,
) -> None:
    """Say of each document whether it is duplicated: whether sentences of it are in the index in DIR already.

    A document is duplicated if at least --min-hits of its sentences are known (with --paper, more than that). Sentences that
    stand in more than --max-places documents do not count. The exit code is 0 whatever the verdict, unless --exit-code is
    given: then it is 1 if any document is duplicated.

    \b
    ibidem index check news.idx submission.txt
    ibidem index check news.idx today.jsonl --engine fingerprint --min-hits 5 --format jsonl
    ibidem index check news.idx draft.txt --exit-code -q --format jsonl > verdict.json || echo "seen before"
    """
    settings = given_settings(config_file, flags)
    load_index()
    from ibidem.cli.display import open_display
    from ibidem.cli.index_answers import list_verdict, verdict_line

    as_text = _is_text(form)
    with open_display(progress, quiet) as display, open_index(folder, settings, progress=display) as index:
        result, texts, skipped = _look_up(index, inputs, as_text, False, display, quiet)
    max_places = result.config.passages.max_places
    for number, verdict in enumerate(result.verdicts):
        lines = list_verdict(verdict, texts[number], max_places, show_all) if as_text else (verdict_line(verdict),)
        click.echo("\n".join(lines))
    _tell_of_skipped(skipped, quiet)
    if exit_code and any(verdict.duplicated for verdict in result.verdicts):
        click.get_current_context().exit(1)


def _is_text(form: str | None) -> bool:
    return form == "text" or (form is None and sys.stdout.isatty())


def _look_up(
    index: Index, inputs: Sequence[str], with_texts: bool, passages: bool, display: Progress, quiet: bool
) -> tuple[QueryResult, Sequence[str], Sequence[Skipped]]:
    """Return the answers, the texts of the documents if they are wanted, and what was skipped."""
    from ibidem.errors import NoDocumentsError
    from ibidem.formats import input_size, read
    from ibidem.formats.jobs import SkippedRecords

    n_bytes = input_size(list(inputs))
    tell_of_compiling(quiet, searching=True)
    if not quiet and len(index) == 0:
        click.echo("ibidem: the index is empty", err=True)
    if not quiet and "-" in inputs and sys.stdin is not None and sys.stdin.isatty():
        click.echo("ibidem: waiting for a text or records on standard input; Ctrl-D ends", err=True)
    with display.stage("looking up", n_bytes):
        if not with_texts:
            result = index.query(list(inputs), passages=passages)
            return result, (), result.skipped
        # Read here and not by the query, which does not keep the texts: they are shown.
        skipped = SkippedRecords(index.config.output.strict)
        documents = list(read(list(inputs), on_skip=skipped.add, **asdict(index.config.documents)))
        if not documents:
            raise NoDocumentsError("there are no documents to look up", skipped.explain())
        result = index.query(documents, passages=passages, html=False, main_content=False)
        return result, [document.text for document in documents], skipped.records


def _write(output: Path, result: QueryResult, inputs: Sequence[str], display: Progress) -> None:
    from ibidem.formats import describe_inputs
    from ibidem.results.table_files import describe_run, write_result

    tables = {"hits": result.hits, "passages": result.passages}
    counts = {
        "documents": len(result.ids), "sentences": sum(verdict.n_sentences for verdict in result.verdicts),
        "hits": len(result), "passages": result.passages.num_rows, "skipped": len(result.skipped),
    }  # fmt: skip
    run = describe_run(result.config, describe_inputs(list(inputs)), counts, display.timings)
    write_result(output, tables, result.skipped, run, result.config.output.format)


def _tell_of_skipped(skipped: Sequence[Skipped], quiet: bool, listed_in: str | None = None) -> None:
    from ibidem.results.summary import skipped_lines

    if skipped and not quiet:
        click.echo("\n".join(skipped_lines(skipped, listed_in)), err=True)
