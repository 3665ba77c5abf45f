"""`ibidem find`: passages shared inside a collection, or of a collection against another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ibidem.cli.arrow import prepare_arrow
from ibidem.cli.options import (
    check_local_folder,
    input_arguments,
    output_option,
    resolve_settings,
    run_options,
    setting_options,
)
from ibidem.cli.signals import loading
from ibidem.cli.spark import run_on_spark, spark_option


@click.command()
@input_arguments
@output_option("Folder for the results.", required=True)
@setting_options(
    "documents", "sentences", "signatures", "matches", "passages", "alignment", "engine", "output",
    without=("summaries",),
)  # fmt: skip
@click.option("--report", is_flag=True, help="Write report.html into OUT, too: one page to look at and to send on.")
@spark_option
@run_options
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
    if config.engine.engine == "spark":
        if report:
            raise click.UsageError("--report is for the local engine; run `ibidem report` on the results")
        run_on_spark("find", inputs, references, output, config, spark_conf, progress, quiet)
        return
    check_local_folder(output)
    with loading():
        prepare_arrow()
        from ibidem.api import find as find_in
        from ibidem.cli.display import look_at, open_display
        from ibidem.cli.output_folder import output_occupied
        from ibidem.execution.warmup import FIRST_RUN, later_stages_compiled_aside
        from ibidem.results.summary import summarise

    with output_occupied(output, config) as config, later_stages_compiled_aside(config) as is_first_run:
        if is_first_run and not quiet:
            click.echo(f"ibidem: {FIRST_RUN}", err=True)
        with (
            open_display(progress, quiet) as display,
            find_in(list(inputs), against=list(references) or None, config=config, progress=display) as result,
        ):
            with display.stage("writing"):
                result.write(output)
            if report:
                with display.stage("report"):
                    result.to_html(output / "report.html", title=output.resolve().name)
            summary = summarise(result, output)
    if not quiet:
        click.echo(summary, err=True)
        click.echo(f"report: {output / 'report.html'}" if report else look_at(output), err=True)
