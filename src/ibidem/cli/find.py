"""`ibidem find`: passages shared inside a collection, or of a collection against another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import input_arguments, is_on_spark, output_option, resolve_settings, setting_options, verb_options
from ibidem.cli.spark import run_on_spark


@click.command()
@input_arguments
@output_option("Folder for the results.", required=True)
@setting_options(
    "documents", "sentences", "signatures", "matches", "passages", "alignment", "engine", "output",
    without=("summaries",),
)  # fmt: skip
@click.option("--report", is_flag=True, help="Write report.html into OUT, too: one page to look at and to send on.")
@verb_options
def find(
    inputs: tuple[str, ...],
    references: tuple[str, ...],
    output: Path,
    report: bool,
    config_file: str | None,
    progress: str,
    quiet: bool,
    spark_conf: dict[str, str],
    **flags: Any,
) -> None:
    """Find every passage that stands in two documents.

    INPUT is a file, a folder, a glob pattern or - for standard input; formats by extension: txt, md, html, jsonl, json,
    csv, tsv, parquet, warc, each also .gz or .zst.

    \b
    ibidem find articles/*.jsonl -o out
    ibidem find new.parquet --against archive/ -o out --signature exact --report
    ibidem find hdfs:///crawl -o hdfs:///found --engine spark --tmp-dir hdfs:///tmp
    """
    config = resolve_settings(config_file, flags).with_signature("words")
    if is_on_spark(config, output):
        if report:
            raise click.UsageError("--report is for the local engine; run `ibidem report` on the results")
        run_on_spark("find", inputs, references, output, config, spark_conf, progress, quiet)
        return
    with loading_libraries():
        from ibidem.api import find as find_in
        from ibidem.cli.runs import kernels_compiled_aside, look_at, open_result, output_occupied
        from ibidem.results.summary import summarise

    with (
        output_occupied(output, config) as config,
        kernels_compiled_aside(config, quiet),
        open_result(find_in, inputs, references, config, progress, quiet, output) as (result, display),
    ):
        if report:
            with display.stage("report"):
                result.to_html(output / "report.html", title=output.resolve().name)
        summary = summarise(result, output)
    if not quiet:
        click.echo(summary, err=True)
        click.echo(f"report: {output / 'report.html'}" if report else look_at(output), err=True)
