"""`ibidem decontaminate`: items of benchmarks in training data, and a copy without them."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from ibidem.cli.commands import Verb, files, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import (
    NumberType,
    is_on_spark,
    output_option,
    plain_inputs_argument,
    report_option,
    resolve_settings,
    setting_options,
    verb_options,
)
from ibidem.cli.spark import run_on_spark
from ibidem.config.document_settings import DOCUMENT_FACTS
from ibidem.config.settings import CRITERIA, INPUT, OUTPUT

EXCEEDED = 1


def _by_name(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, list[str]]:
    benchmarks: dict[str, list[str]] = {}
    for given in values:
        name, separator, path = given.partition("=")
        if not (name and separator and path):
            raise click.BadParameter(f"must have the form NAME=PATH, such as quiz=quiz.jsonl, not {given!r}")
        if path == "-":
            raise click.BadParameter(f"{given}: a benchmark cannot be read from standard input; save it to a file")
        benchmarks.setdefault(name, []).append(path)
    return benchmarks


@click.command(
    cls=Verb,
    examples=(
        "ibidem decontaminate train.jsonl --benchmark test=test.jsonl -o clean",
        "ibidem decontaminate crawl.jsonl --benchmark test=test.jsonl --dry-run",
    ),
)
@plain_inputs_argument
@option(
    "--benchmark", "benchmarks", metavar="NAME=PATH", multiple=True, required=True, callback=_by_name, group=INPUT,
    help="A benchmark, and a file or folder with its items. Can be repeated.", shell_complete=files,
)  # fmt: skip
@output_option("Folder for the cleaned copy and the tables.", required=False)
@option("--dry-run", is_flag=True, group=OUTPUT, help="Write nothing; show what was found.")
@option(
    "--max-contaminated-share", metavar="SHARE", type=NumberType(), group=CRITERIA,
    is_common=False,
    help="Fail (exit code 1) if more than this share of a benchmark's items was found, from 0 to 1. Needs no -o.",
)  # fmt: skip
@report_option
@setting_options(
    "documents", "contamination", "engine", "output",
    without=("keep_text", "format", "time_field", "group_field", *DOCUMENT_FACTS),
    also=("hash_seed", "ignore", "level", "mark_only"),
)  # fmt: skip
@verb_options
def decontaminate(
    inputs: tuple[str, ...],
    benchmarks: dict[str, list[str]],
    output: Path | str | None,
    dry_run: bool,
    max_contaminated_share: Fraction | None,
    report: bool,
    config_file: str | None,
    progress: str,
    quiet: bool,
    spark_conf: dict[str, str],
    **flags: Any,
) -> None:
    """Find benchmark items in training data, and write a copy without them.

    \f
    An item is found whole where most of its words are close together in a document, however lines break, with single words
    changed, or with other text between its parts. It is found in part where enough of its words are nearly in a row.

    OUT then contains the same files without the documents that contain an item (--level document) or without the items
    (--level passage); removed.jsonl, which says what was removed and why; and the tables benchmarks, found_items, item_places.

    With --max-contaminated-share, it is a check for continuous integration.
    """
    config = resolve_settings(config_file, flags)
    is_check = max_contaminated_share is not None
    _check_options(output, dry_run, max_contaminated_share, report, config.engine.resume)
    output = None if dry_run else output
    if is_on_spark(config, output):
        if is_check or report:
            raise click.UsageError("--max-contaminated-share and --report work with the local engine only")
        run_on_spark("decontaminate", inputs, (), output, config, spark_conf, progress, quiet, benchmarks=benchmarks)
        return
    with loading_libraries():
        from ibidem.cli.runs import folder_occupied, kernels_compiled, open_result, stored_inputs
        from ibidem.cli.screen import say, screen_width
        from ibidem.contamination_api import decontaminate as decontaminate_in
        from ibidem.formats import input_size
        from ibidem.results.cleaned_copies import check_cleaning
        from ibidem.results.contamination_summary import limit_lines, summarise_contamination

    with ExitStack() as stack:
        paths = stack.enter_context(stored_inputs(inputs, config))
        if output is not None:
            config = stack.enter_context(folder_occupied(output, config))
            check_cleaning(paths, output, config)
        stack.enter_context(kernels_compiled("decontaminate", config, paths, quiet))
        opened = open_result(decontaminate_in, paths, (), config, progress, quiet, benchmarks=benchmarks)
        result, display = stack.enter_context(opened)
        page: Path | str | None = None
        if output is not None:
            with display.stage("writing", input_size(paths)):
                result.write(output, on_bytes=display.add_bytes)
            if report:
                page = f"{output.rstrip('/')}/report.html" if isinstance(output, str) else output / "report.html"
                result.to_html(page, overwrite=config.output.overwrite)
        summary = summarise_contamination(result, output, page, screen_width(sys.stdout if output is None else sys.stderr))
        passed = max_contaminated_share is None or not result.exceeding(max_contaminated_share)
        outcome = [] if max_contaminated_share is None else list(limit_lines(result, max_contaminated_share))
    if output is None and not (quiet and is_check):
        click.echo(summary)
    elif not quiet:
        click.echo(summary, err=True)
    if outcome and (not quiet or not passed):
        say(outcome)
    if not passed:
        sys.exit(EXCEEDED)


def _check_options(output: Any, dry_run: bool, max_share: Fraction | None, report: bool, resume: bool) -> None:
    if max_share is not None and not 0 <= max_share <= 1:
        raise click.UsageError(f"--max-contaminated-share must be from 0 to 1, not {float(max_share):g}")
    if output is None and not dry_run and max_share is None:
        raise click.UsageError("name a folder for the cleaned copy with -o, or try it with --dry-run")
    if dry_run and resume:
        raise click.UsageError("--dry-run writes nothing, so --resume has nothing to continue")
    if report and (output is None or dry_run):
        raise click.UsageError("--report needs -o OUT, the folder for the report")
