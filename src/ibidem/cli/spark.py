"""The verbs on Spark: a session, the work, and the tables in a folder of any file system."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from ibidem.cli.signals import loading
from ibidem.config import Config


def run_on_spark(
    verb: str,
    inputs: tuple[str, ...],
    references: tuple[str, ...],
    output: Any,
    config: Config,
    spark_conf: Mapping[str, str],
    progress: str,
    quiet: bool,
    **more: Any,
) -> None:
    """Run a verb on Spark and write its tables."""
    if "-" in (*inputs, *references):
        raise click.UsageError("Spark cannot read standard input; save it to a file, or leave out --engine spark")
    with loading():
        import ibidem
        from ibidem.cli.runs import open_result
        from ibidem.cli.screen import screen_width
        from ibidem.execution.spark.engine import own_engine
        from ibidem.execution.spark.files import check_spark_output
        from ibidem.execution.spark.session import check_pyspark
        from ibidem.results.summary import summarise_briefly

        check_pyspark()  # it loads pandas and PySpark
    engine = own_engine(config.engine, spark_conf)
    if output is not None:
        check_spark_output(engine.spark, str(output), config.output.overwrite)  # before the work, not after it
    folder = None if output is None else str(output)
    work = getattr(ibidem, verb)
    with open_result(work, inputs, references, config, progress, quiet, folder, engine=engine, **more) as (result, _):
        summary = summarise_briefly(result, output, screen_width(sys.stdout if output is None else sys.stderr))
    if output is None:
        click.echo(summary)
    elif not quiet:
        click.echo(summary, err=True)
