"""`ibidem compare`: two texts, or many listed pairs of documents, aligned closely."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ibidem.cli.commands import Verb, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import (
    ChoiceType,
    check_address,
    given_settings,
    inputs_argument,
    output_option,
    run_options,
    setting_options,
)
from ibidem.config import FORMATS, Config
from ibidem.config.document_settings import DOCUMENT_FACTS
from ibidem.config.settings import INPUT, OUTPUT


@click.command(
    cls=Verb,
    examples=(
        "ibidem compare draft.txt published.txt",
        "ibidem compare articles.jsonl --pairs pairs.csv -o out",
    ),
)
@inputs_argument
@option(
    "--pairs", metavar="PAIRS", type=click.Path(), group=INPUT,
    help="Compare these pairs: a table with columns a_id and b_id.",
)  # fmt: skip
@output_option("Folder for the results (with --pairs).", required=False)
@option(
    "--html", "page", metavar="FILE", type=click.Path(path_type=Path), group=OUTPUT,
    help="Write a page that shows A and B side by side.",
)  # fmt: skip
@option("--full", is_flag=True, group=OUTPUT, help="Also show long equal stretches (text).")
@option(
    "--format", "form", metavar="NAME", type=ChoiceType(["text", *FORMATS]), group=OUTPUT,
    help="Format of the results.", shown_default="text; with --pairs parquet",
)  # fmt: skip
@setting_options(
    "documents", "sentences", "alignment", "engine", "output",
    without=(
        "html", "group_field", "ignore", "align", "format", "engine", "memory", "max_disk", "tmp_dir", "partitions", "resume",
        *DOCUMENT_FACTS,
    ),
    also=("max_gap_sentences",),
)  # fmt: skip
@run_options
def compare(
    inputs: tuple[str, ...],
    pairs: str | None,
    output: Any,
    page: Path | None,
    full: bool,
    form: str | None,
    config_file: str | None,
    progress: str,
    quiet: bool,
    **flags: Any,
) -> None:
    """Align two texts, or many pairs, word by word and show the differences.

    INPUT is two files, A and B, with one text each. With --pairs, it is documents
    as for `ibidem find`; every listed pair of ids is compared.
    \f

    Passages that occur in both texts are shown side by side, or as lines of JSON with --format jsonl. With --pairs, they are
    written to the folder OUT.
    """
    _check_usage(inputs, pairs, output, page, full, form)
    settings = given_settings(config_file, flags)
    settings |= {} if pairs is None or form is None else {"format": form}
    config = Config.of(**settings)
    with loading_libraries():
        from ibidem.cli.runs import kernels_compiled
        from ibidem.cli.two_texts import compare_two

    with kernels_compiled("compare", config, inputs, quiet, aside=True):
        if pairs is not None:
            _compare_listed(inputs, pairs, output, config, progress, quiet)
        else:
            compare_two(inputs, config, page, form, full, quiet)


def _check_usage(
    inputs: Sequence[str], pairs: str | None, output: Any, page: Path | None, full: bool, form: str | None
) -> None:
    """Raise where options of the two ways to compare are mixed."""
    if pairs is not None:
        if output is None:
            raise click.UsageError("--pairs needs an output folder: -o OUT")
        if page is not None:
            raise click.UsageError("--html compares two texts, A and B; leave out --pairs")
        if full or form == "text":
            raise click.UsageError(f"{'--full' if full else '--format text'} compares two texts, A and B; leave out --pairs")
        check_address(output)
        return
    if output is not None:
        raise click.UsageError("-o OUT needs --pairs PAIRS, a list of pairs; to write a page on two texts, use --html FILE")
    if len(inputs) != 2:
        given = "only one file" if len(inputs) == 1 else f"{len(inputs)} files"
        raise click.UsageError(f"{given} given: name two, A and B, or list the pairs to compare with --pairs PAIRS -o OUT")
    if form not in (None, "text", "jsonl"):
        raise click.UsageError(f"--format {form} needs --pairs PAIRS, a list of pairs; for two texts use text or jsonl")
    if full and (form == "jsonl" or (page is not None and form is None)):
        raise click.UsageError("--full works with --format text only")


def _compare_listed(inputs: Sequence[str], pairs: str, output: Path, config: Config, progress: str, quiet: bool) -> None:
    """Compare the listed pairs and write what is found."""
    from ibidem.api import compare_pairs
    from ibidem.cli.display import open_display
    from ibidem.cli.runs import output_occupied
    from ibidem.cli.screen import say, screen_width
    from ibidem.results.summary import look_at, many, skipped_lines, unknown_files_lines

    with output_occupied(output, config) as config, open_display(progress, quiet) as display:
        result = compare_pairs(list(inputs), pairs, config=config, progress=display)
        with display.stage("writing"):
            result.write(output)
    if quiet:
        return
    read = many(result.counts["documents"], "document")
    say([f"{read}, {many(result.n_pairs, 'pair')}, {many(len(result), 'passage')}", *skipped_lines(result.skipped)])
    shown = look_at(output, screen_width(sys.stderr)) if len(result) else ()
    say([f"results: {output}", *shown, *unknown_files_lines(result.skipped)])
