"""`ibidem compare`: two texts, or many listed pairs of documents, aligned closely."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import (
    check_local_folder,
    given_settings,
    inputs_argument,
    output_option,
    run_options,
    setting_options,
)
from ibidem.config import FORMATS, Config


@click.command()
@inputs_argument
@click.option("--pairs", metavar="PAIRS", type=click.Path(), help="File of the pairs to compare, with columns a_id and b_id.")
@output_option("Folder for the results (with --pairs).", required=False)
@click.option("--html", "page", metavar="FILE", type=click.Path(path_type=Path), help="Write a page that shows A and B.")
@click.option("--full", is_flag=True, help="Show long equal stretches too (text).")
@click.option(
    "--format", "form", type=click.Choice(["text", *FORMATS]),
    help="Format of what is found.  [default: text; parquet with --pairs]",
)  # fmt: skip
@setting_options(
    "documents", "sentences", "alignment", "engine", "output",
    without=("html", "group_field", "align", "format", "engine", "memory", "max_disk", "tmp_dir", "partitions", "resume"),
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
    """Align two texts closely and show what differs, or many listed pairs of documents.

    INPUT is two files A and B, each of which holds one text (- is standard input): the passages that stand in both are shown
    side by side. Or, with --pairs, it is documents as for `ibidem find`; every pair of ids that the file lists is compared,
    and the passages are written to a folder.

    \b
    ibidem compare draft.txt published.txt
    ibidem compare draft.md page.html --html differences.html
    ibidem compare draft.txt published.txt --format jsonl | jq .similarity
    ibidem compare articles/*.jsonl --pairs pairs.csv -o out
    """
    _check_usage(inputs, pairs, output, page, full, form)
    settings = given_settings(config_file, flags)
    settings |= {} if pairs is None or form is None else {"format": form}
    config = Config.of(**settings)
    with loading_libraries():
        from ibidem.cli.runs import kernels_compiled_aside
        from ibidem.cli.two_texts import compare_two

    with kernels_compiled_aside(config, quiet, comparing=True):
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
            raise click.UsageError("--pairs needs a folder for the results: -o OUT")
        if page is not None:
            raise click.UsageError("--html shows two texts A and B; leave out --pairs")
        if full or form == "text":
            raise click.UsageError(f"{'--full' if full else '--format text'} shows two texts A and B; leave out --pairs")
        check_local_folder(output)
        return
    if output is not None:
        raise click.UsageError("-o OUT is for many pairs, which --pairs PAIRS lists; --html FILE writes a page of two texts")
    if len(inputs) != 2:
        given = "one file is" if len(inputs) == 1 else f"{len(inputs)} files are"
        raise click.UsageError(f"{given} given; give two, A and B, or list the pairs to compare with --pairs PAIRS -o OUT")
    if form not in (None, "text", "jsonl"):
        raise click.UsageError(f"--format {form} is for many pairs, which --pairs PAIRS lists; for two texts: text or jsonl")
    if full and (form == "jsonl" or (page is not None and form is None)):
        raise click.UsageError("--full is for --format text")


def _compare_listed(inputs: Sequence[str], pairs: str, output: Path, config: Config, progress: str, quiet: bool) -> None:
    """Compare the listed pairs and write what is found."""
    from ibidem.api import compare_pairs
    from ibidem.cli.display import open_display
    from ibidem.cli.runs import look_at, output_occupied
    from ibidem.results.summary import many, skipped_lines

    with output_occupied(output, config) as config, open_display(progress, quiet) as display:
        result = compare_pairs(list(inputs), pairs, config=config, progress=display)
        with display.stage("writing"):
            result.write(output)
    if quiet:
        return
    read = many(result.counts["documents"], "document")
    click.echo(f"{read}, {many(result.n_pairs, 'pair')}, {many(len(result), 'passage')}", err=True)
    if result.skipped:
        click.echo("\n".join(skipped_lines(result.skipped)), err=True)
    click.echo(f"results: {output}\n{look_at(output)}", err=True)
