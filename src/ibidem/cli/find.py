"""`ibidem find`: passages shared inside a collection, or of a collection against another."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from ibidem.cli.commands import Verb, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import (
    NumberType,
    input_arguments,
    is_on_spark,
    output_option,
    report_option,
    resolve_settings,
    setting_options,
    verb_options,
)
from ibidem.cli.spark import run_on_spark
from ibidem.config.settings import CRITERIA

EXCEEDED = 1


@click.command(
    cls=Verb,
    examples=(
        "ibidem find articles.jsonl -o out --report",
        "ibidem find today.jsonl --against archive.jsonl -o out",
    ),
)
@input_arguments
@output_option("Folder for the results. Required, except with --max-reused-share.", required=False)
@option(
    "--max-reused-share", metavar="SHARE", type=NumberType(), group=CRITERIA,
    help="Fail if a document shares more than SHARE. That is a part of its text, from 0 to 1. The exit code is then 1, and "
    "the places are listed.",
)  # fmt: skip
@option(
    "--baseline", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), group=CRITERIA, is_common=False,
    help="What is shared according to this file does not count for --max-reused-share.",
)  # fmt: skip
@option(
    "--update-baseline", is_flag=True, group=CRITERIA, is_common=False,
    help="Write what is shared now to the file that --baseline names.",
)  # fmt: skip
@report_option
@setting_options(
    "documents", "reference", "sentences", "signatures", "matches", "passages", "alignment", "engine", "output",
    without=("summaries", "contained"), on=("align",),
)  # fmt: skip
@verb_options
def find(
    inputs: tuple[str, ...],
    references: tuple[str, ...],
    output: Path | str | None,
    max_reused_share: Fraction | None,
    baseline: Path | None,
    update_baseline: bool,
    report: bool,
    config_file: str | None,
    progress: str,
    quiet: bool,
    spark_conf: dict[str, str],
    **flags: Any,
) -> None:
    """Find every passage that appears in two documents.

    \f
    The folder OUT then contains the tables passages, repeats and documents, the settings and counts of the run (run.json),
    and a list of skipped records (skipped.jsonl).

    With --max-reused-share, it is a check for continuous integration: what exceeds the limit is listed on standard output, with
    file, line and column, and no folder is needed.

    To run on Spark: ibidem find hdfs:///crawl -o hdfs:///found --engine spark --tmp-dir hdfs:///tmp
    """
    config = resolve_settings(config_file, flags).with_alignment().with_signature("words")
    is_check = max_reused_share is not None or update_baseline
    _check_options(output, max_reused_share, baseline, update_baseline, report)
    if is_on_spark(config, output):
        if is_check or output is None:
            raise click.UsageError("--max-reused-share and --update-baseline work with the local engine only")
        if report:
            raise click.UsageError("--report works with the local engine only; run `ibidem report` on the results")
        run_on_spark("find", inputs, references, output, config, spark_conf, progress, quiet)
        return
    with loading_libraries():
        from ibidem.api import find as find_in
        from ibidem.cli.runs import kernels_compiled, open_result, output_occupied, write_report
        from ibidem.cli.screen import say, screen_width
        from ibidem.results.reuse_baseline import Baseline
        from ibidem.results.reuse_summary import check_lines, place_lines
        from ibidem.results.summary import summarise

    if baseline is not None and not update_baseline:
        Baseline.read(baseline)  # before the work, not after it
    with (
        nullcontext(config) if output is None else output_occupied(output, config) as config,
        kernels_compiled("find", config, [*inputs, *references], quiet, aside=True),
        open_result(find_in, inputs, references, config, progress, quiet, output) as (result, display),
    ):
        page = write_report(result, output, display) if report and output is not None else None
        summary = summarise(result, output, report=page, width=screen_width(sys.stderr), with_passages=not is_check)
        if update_baseline and baseline is not None:
            result.write_baseline(baseline)
            summary += f"\nbaseline: {baseline}"
        checked = result.check_reuse(max_reused_share, baseline=baseline) if max_reused_share is not None else None
    if not quiet:
        click.echo(summary, err=True)
    if checked is not None:
        for line in place_lines(checked, screen_width(sys.stdout)):
            click.echo(line)
        if not quiet or not checked.passed:
            say(check_lines(checked, baseline is not None))
        if not checked.passed:
            sys.exit(EXCEEDED)


def _check_options(
    output: Path | str | None, max_share: Fraction | None, baseline: Path | None, update_baseline: bool, report: bool
) -> None:
    if max_share is not None and not 0 <= max_share <= 1:
        raise click.UsageError(f"--max-reused-share must be from 0 to 1, not {float(max_share):g}")
    if update_baseline and baseline is None:
        raise click.UsageError("--update-baseline needs --baseline FILE, the file to write")
    if update_baseline and baseline is not None and not baseline.absolute().parent.is_dir():
        raise click.UsageError(f"--baseline {baseline}: there is no folder {baseline.parent}")
    if baseline is not None and max_share is None and not update_baseline:
        raise click.UsageError("--baseline needs --max-reused-share or --update-baseline")
    if output is None and max_share is None and not update_baseline:
        raise click.UsageError("Name a folder for the results with -o FOLDER.")
    if output is None and report:
        raise click.UsageError("--report needs -o OUT, the folder for the report")
