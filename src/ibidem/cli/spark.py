"""The verbs on Spark: a session, the work, and the tables in a folder of any file system."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from ibidem.cli.signals import loading
from ibidem.config import Config


def spark_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --spark-conf."""
    help_text = "Setting of the Spark session, as spark.executor.memory=8g (repeatable)."
    return click.option("--spark-conf", metavar="KEY=VALUE", multiple=True, callback=_as_mapping, help=help_text)(command)


def _as_mapping(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for given in values:
        key, separator, value = given.partition("=")
        if not separator or not key.startswith("spark."):
            raise click.BadParameter(f"{given!r} is not like spark.executor.memory=8g")
        settings[key] = value
    return settings


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
        raise click.UsageError("Spark cannot read standard input; store it in a file, or leave out --engine spark")
    with loading():
        from ibidem import api
        from ibidem.cli.display import open_display
        from ibidem.execution.spark.engine import own_engine
        from ibidem.execution.spark.files import check_spark_output
        from ibidem.execution.spark.session import check_pyspark
        from ibidem.results.summary import summarise_briefly

        check_pyspark()  # it loads pandas and PySpark
    engine = own_engine(config.engine, spark_conf)
    if output is not None:
        check_spark_output(engine.spark, str(output), config.output.overwrite)  # before the work, not after it
    with open_display(progress, quiet) as display:
        settings = {"config": config, "progress": display, "engine": engine, **more}
        with getattr(api, verb)(list(inputs), against=list(references) or None, **settings) as result:
            if output is not None:
                with display.stage("writing"):
                    result.write(str(output))
            summary = summarise_briefly(result, output)
    if output is None:
        click.echo(summary)
    elif not quiet:
        click.echo(summary, err=True)
