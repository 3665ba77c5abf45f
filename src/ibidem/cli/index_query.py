"""`ibidem index query` and `check`: what documents share with an index. Neither changes it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ibidem.cli.commands import Verb, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import (
    NO_SEARCH_SETTINGS,
    ChoiceType,
    check_address,
    given_settings,
    index_argument,
    inputs_argument,
    max_places_option,
    output_option,
    run_options,
    setting_options,
    source_words_option,
)
from ibidem.config import FORMATS, Config
from ibidem.config.settings import OUTPUT, REPORTED_LIMITS


@click.command(
    cls=Verb,
    short_help="Look up what documents share with the index.",
    examples=(
        "ibidem index query news.idx draft.txt",
        "ibidem index query news.idx today.jsonl -o out",
    ),
)
@index_argument
@inputs_argument
@output_option("Folder for the tables of hits and passages.", required=False)
@option(
    "--format", "form", metavar="NAME", type=ChoiceType(["text", "trec", *FORMATS]), group=OUTPUT,
    help="Format of the answers.", shown_default="with -o parquet; on a terminal text; else jsonl",
)  # fmt: skip
@source_words_option
@max_places_option
@setting_options(
    "documents", "passages", "alignment", "index",
    without=(*NO_SEARCH_SETTINGS, "min_hits", "max_places", "same_document", "runs", "min_run_words", "families", "summaries",
        *REPORTED_LIMITS,
    ),
    also=("ignore", "as_paper", "workers", "overwrite", "strict"),
)  # fmt: skip
@run_options
def query(
    folder: Path,
    inputs: tuple[str, ...],
    output: Path | str | None,
    form: str | None,
    config_file: str | None,
    progress: str,
    quiet: bool,
    **flags: Any,
) -> None:
    """Look up what documents share with an index: single sentences, and passages.

    \f
    A document is not compared with the one in the index that has its id. With -o, tables are written to a folder. Without,
    answers go to standard output: as text on a terminal, otherwise as JSON with one document per line. In JSON, hits and
    passages include the words of both sides if the index keeps its texts; --no-keep-text leaves them out. With --format trec,
    they are a ranked run as TREC's tools read it: documents of the index, by how many characters of the query they contain.
    """
    settings = given_settings(config_file, flags)
    check_address(output)
    if output is not None and form in ("text", "trec"):
        raise click.UsageError(f"--format {form} cannot be combined with -o")
    if form is not None and output is None and form not in ("text", "trec", "jsonl"):
        raise click.UsageError(f"--format {form} needs an output folder: -o OUT")
    with loading_libraries():
        from ibidem.cli.display import open_display
        from ibidem.cli.index_access import look_up, open_index, tell_of_skipped, write_answers
        from ibidem.cli.index_answers import list_passages, query_line, summarise_query, trec_lines
        from ibidem.cli.runs import output_occupied
        from ibidem.cli.screen import say, screen_width

    if output is None:
        as_text = _is_text(form)
        with open_display(progress, quiet) as display, open_index(folder, settings, progress=display) as index:
            result, texts, skipped = look_up("index query", index, inputs, as_text, True, display, quiet)
        for number in range(len(result.ids)):
            if as_text:
                say(list_passages(result, number, texts[number], screen_width(sys.stdout)), err=False)
            elif form == "trec":
                click.echo("".join(f"{line}\n" for line in trec_lines(result, number)), nl=False)
            else:
                click.echo(query_line(result, number, settings.get("keep_text", True)))
        tell_of_skipped(skipped, quiet)
        return
    settings |= {} if form is None else {"format": form}
    with (
        output_occupied(output, Config.of(overwrite=bool(settings.get("overwrite")))),
        open_display(progress, quiet) as display,
        open_index(folder, settings, progress=display) as index,
    ):
        result, _, skipped = look_up("index query", index, inputs, False, True, display, quiet)
        with display.stage("writing"):
            write_answers(output, result, inputs, display)
    if not quiet:
        say([*summarise_query(result, sum(display.timings.values())), f"results: {output}"])
        tell_of_skipped(skipped, quiet, "skipped.jsonl")


@click.command(
    cls=Verb,
    short_help="Say how much of each document is in the index.",
    examples=(
        "ibidem index check news.idx draft.txt",
        "ibidem index check news.idx today.jsonl --min-hits 5 --exit-code",
    ),
)
@index_argument
@inputs_argument
@option(
    "--format", "form", metavar="NAME", type=ChoiceType(["text", "jsonl"]), group=OUTPUT, help="Format of the verdicts.",
    shown_default="on a terminal text; else jsonl",
)  # fmt: skip
@option("--all", "show_all", is_flag=True, group=OUTPUT, help="List all known sentences, not just the first few (text).")
@option("--exit-code", is_flag=True, group=OUTPUT, help="Exit with code 1 if any document is duplicated.")
@source_words_option
@max_places_option
@setting_options(
    "documents", "alignment", "index", without=(*NO_SEARCH_SETTINGS, "summaries"),
    also=("ignore", "as_paper", "paper", "workers", "strict"),
)  # fmt: skip
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
    """Say for each document how much of it is in an index, and where.

    In JSON, `duplicated` says that --min-hits or more of its sentences are known.
    As text, a document is called a duplicate only if nearly all of it is known.
    \f

    With --as yoon, `duplicated` takes more than --min-hits. Sentences found in more than --max-places documents do not count.
    With --align, --difference-kinds or --only-differences, the answer also lists the passages and the share of the text they
    cover, with --align including edited copies; the verdict still counts sentences.
    The exit code is 0 whatever the verdict; with --exit-code it is 1 if any document is duplicated.
    """
    settings = given_settings(config_file, flags)
    with loading_libraries():
        from ibidem.cli.display import open_display
        from ibidem.cli.index_access import look_up, open_index, tell_of_skipped
        from ibidem.cli.index_answers import list_verdict, verdict_line
        from ibidem.cli.screen import say, screen_width
        from ibidem.index.answers import are_passages_listed

    as_text = _is_text(form)
    with open_display(progress, quiet) as display, open_index(folder, settings, progress=display) as index:
        with_passages = are_passages_listed(index.config)
        result, texts, skipped = look_up("index check", index, inputs, as_text, with_passages, display, quiet)
    for number in range(len(result.ids)):
        if as_text:
            say(list_verdict(result, number, texts[number], show_all, screen_width(sys.stdout)), err=False)
        else:
            click.echo(verdict_line(result, number, settings.get("keep_text", True)))
    tell_of_skipped(skipped, quiet)
    if exit_code and any(verdict.duplicated for verdict in result.verdicts):
        click.get_current_context().exit(1)


def _is_text(form: str | None) -> bool:
    return form == "text" or (form is None and sys.stdout.isatty())
