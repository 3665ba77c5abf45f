"""`ibidem dedup`: a cleaned copy of a collection."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ibidem.cli.commands import Verb, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import (
    input_arguments,
    is_on_spark,
    output_option,
    plan_option,
    resolve_settings,
    setting_options,
    verb_options,
)
from ibidem.cli.spark import run_on_spark
from ibidem.config.cleaning_settings import CleaningConfig
from ibidem.config.settings import DIFFERENCE_SETTINGS, OUTPUT, REPORTED_LIMITS


@click.command(
    cls=Verb,
    examples=(
        "ibidem dedup crawl.jsonl -o clean",
        "ibidem dedup train.jsonl --against test.jsonl --level sentence --dry-run",
    ),
)
@input_arguments
@output_option("Folder for the cleaned copy.", required=False)
@option("--dry-run", is_flag=True, group=OUTPUT, help="Write nothing; show what would be removed.")
@plan_option
@setting_options(
    "documents", "reference", "sentences", "signatures", "matches", "passages", "alignment", "resemblance", "clusters",
    "cleaning", "engine", "output",
    without=(
        "max_gap_sentences", "extend_ends", "max_places", "skip_same_group", "families", "runs", "summaries",
        "sentence_pairs", "postings", "keep_text", "format", "by_group", *DIFFERENCE_SETTINGS,
        *REPORTED_LIMITS,
    ),
)  # fmt: skip
@verb_options
def dedup(
    inputs: tuple[str, ...],
    references: tuple[str, ...],
    output: Path | None,
    dry_run: bool,
    plan: str | None,
    config_file: str | None,
    progress: str,
    quiet: bool,
    spark_conf: dict[str, str],
    **flags: Any,
) -> None:
    """Write a copy of a collection without duplicates: the same files and fields.

    \f
    --level document removes whole documents that are duplicates of one that is kept. --level passage and --level sentence
    remove passages or single sentences that occur earlier, word for word; --level passage --align also removes edited copies
    and parts of sentences. All other bytes stay as they are. removed.jsonl
    lists what was removed and what it matched. With --against, only text that occurs in REF is removed.
    """
    config = resolve_settings(config_file, flags)
    if config.cleaning.level != "passage" and not flags.get("align"):  # of a configuration file that other verbs share
        config = replace(config, alignment=replace(config.alignment, align=False))
        if flags.get("min_copy_similarity") is None:
            usual = CleaningConfig().min_copy_similarity
            config = replace(config, cleaning=replace(config.cleaning, min_copy_similarity=usual))
    if output is None and not dry_run:
        raise click.UsageError("name a folder for the cleaned copy with -o, or try it with --dry-run")
    if dry_run and config.engine.resume:
        raise click.UsageError("--dry-run writes nothing, so --resume has nothing to continue")
    if is_on_spark(config, output):
        folder = None if dry_run else output
        run_on_spark("dedup", inputs, references, folder, config, spark_conf, progress, quiet, plan=plan)
        return
    output = None if dry_run else output
    with loading_libraries():
        from ibidem.api import dedup as dedup_in
        from ibidem.cli.runs import folder_occupied, kernels_compiled, open_result, stored_inputs
        from ibidem.cli.screen import say, screen_width
        from ibidem.formats import input_size
        from ibidem.results.cleaned_copies import check_cleaning
        from ibidem.results.cleaning_summary import summarise_cleaning

    if not config.resemblance.verify and not quiet:
        say(["ibidem: pairs are not verified: documents that are not duplicates may be removed"])
    with ExitStack() as stack:
        paths = stack.enter_context(stored_inputs(inputs, config))
        if output is not None:
            config = stack.enter_context(folder_occupied(output, config))
        check_cleaning(paths, output, config)
        stack.enter_context(kernels_compiled("dedup", config, [*paths, *references], quiet))
        result, display = stack.enter_context(open_result(dedup_in, paths, references, config, progress, quiet, plan=plan))
        if output is not None:
            with display.stage("writing", input_size(paths)):
                result.write(output, on_bytes=display.add_bytes)
        summary = summarise_cleaning(result, output, screen_width(sys.stdout if dry_run else sys.stderr))
    if dry_run:
        click.echo(summary)
    elif not quiet:
        click.echo(summary, err=True)
