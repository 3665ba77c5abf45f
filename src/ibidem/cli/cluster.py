"""`ibidem cluster`: whole documents that are duplicates."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ibidem.cli.commands import Verb
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import (
    input_arguments,
    is_on_spark,
    output_option,
    plan_option,
    report_option,
    resolve_settings,
    setting_options,
    verb_options,
)
from ibidem.cli.spark import run_on_spark
from ibidem.config import is_compared_in_full


@click.command(
    cls=Verb,
    examples=(
        "ibidem cluster crawl.jsonl -o out",
        "ibidem cluster crawl.jsonl -o out --min-similarity 0.6 --keep longest",
    ),
)
@input_arguments
@output_option("Folder for the results (required).", required=True)
@plan_option
@report_option
@setting_options(
    "documents", "reference", "signatures", "matches", "resemblance", "clusters", "engine", "output",
    without=("signature", "max_document_share", "sentence_pairs", "postings", "keep_text"), also=("hash_seed", "ignore"),
)  # fmt: skip
@verb_options
def cluster(
    inputs: tuple[str, ...],
    references: tuple[str, ...],
    output: Path,
    plan: str | None,
    report: bool,
    config_file: str | None,
    progress: str,
    quiet: bool,
    spark_conf: dict[str, str],
    **flags: Any,
) -> None:
    """Find whole documents that are duplicates, and the clusters they form.

    Two documents are duplicates if they share most of their shingles (ten words
    in a row).
    \f

    Every pair is compared in full, and every document of a cluster resembles the one that is kept.
    """
    config = resolve_settings(config_file, flags)
    if is_on_spark(config, output):
        if report:
            raise click.UsageError("--report works with the local engine only; run `ibidem report` on the results")
        run_on_spark("cluster", inputs, references, output, config, spark_conf, progress, quiet, plan=plan)
        return
    with loading_libraries():
        from ibidem.api import cluster as cluster_in
        from ibidem.cli.runs import kernels_compiled, open_result, output_occupied, write_report
        from ibidem.cli.screen import say, screen_width
        from ibidem.results.cluster_summary import summarise_clusters

    if not config.resemblance.verify and not quiet and (plan or not is_compared_in_full(config)):
        say(["ibidem: pairs are not verified: similarities are estimates, and some pairs may not be duplicates"])
    with (
        output_occupied(output, config) as config,
        kernels_compiled("cluster", config, [*inputs, *references], quiet),
        open_result(cluster_in, inputs, references, config, progress, quiet, output, plan=plan) as (result, display),
    ):
        page = write_report(result, output, display) if report else None
        summary = summarise_clusters(result, output, page, screen_width(sys.stderr))
    if not quiet:
        click.echo(summary, err=True)
