"""`ibidem find`: passages shared inside a collection, or of a collection against another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ibidem.cli.commands import Verb, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import input_arguments, is_on_spark, output_option, resolve_settings, setting_options, verb_options
from ibidem.cli.spark import run_on_spark
from ibidem.config.settings import OUTPUT


@click.command(
    cls=Verb,
    examples=(
        "ibidem find articles.jsonl -o out --report",
        "ibidem find today.jsonl --against archive.jsonl -o out",
    ),
)
@input_arguments
@output_option("Folder for the results (required).", required=True)
@option("--report", is_flag=True, group=OUTPUT, help="Also write OUT/report.html: one page to read and share.")
@setting_options(
    "documents", "sentences", "signatures", "matches", "passages", "alignment", "engine", "output",
    without=("summaries",),
)  # fmt: skip
@verb_options
def find(
    inputs: tuple[str, ...],
    references: tuple[str, ...],
    output: Path | str,
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

    To run on Spark: ibidem find hdfs:///crawl -o hdfs:///found --engine spark --tmp-dir hdfs:///tmp
    """
    config = resolve_settings(config_file, flags).with_signature("words")
    if is_on_spark(config, output):
        if report:
            raise click.UsageError("--report works with the local engine only; run `ibidem report` on the results")
        run_on_spark("find", inputs, references, output, config, spark_conf, progress, quiet)
        return
    with loading_libraries():
        from ibidem.api import find as find_in
        from ibidem.cli.runs import kernels_compiled, open_result, output_occupied
        from ibidem.cli.screen import screen_width
        from ibidem.results.summary import summarise

    with (
        output_occupied(output, config) as config,
        kernels_compiled("find", config, [*inputs, *references], quiet, aside=True),
        open_result(find_in, inputs, references, config, progress, quiet, output) as (result, display),
    ):
        page: Path | str | None = None
        if report:
            page = f"{output.rstrip('/')}/report.html" if isinstance(output, str) else output / "report.html"
            title = output.rstrip("/").rpartition("/")[2] if isinstance(output, str) else output.resolve().name
            with display.stage("report"):
                result.to_html(page, title=title)
        summary = summarise(result, output, report=page, width=screen_width(sys.stderr))
    if not quiet:
        click.echo(summary, err=True)
