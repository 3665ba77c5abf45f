"""`ibidem tune`: a sampling plan for a wanted precision."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ibidem.cli.commands import Verb, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import plain_inputs_argument, resolve_settings, run_options, setting_options
from ibidem.config.settings import CRITERIA, INPUT, OUTPUT


@click.command(
    cls=Verb,
    examples=(
        "ibidem tune crawl.jsonl --min-precision 0.9 -o plan.json",
        "ibidem tune crawl.jsonl --min-similarity 0.6 --max-documents 1000",
    ),
)
@plain_inputs_argument
@option(
    "-o", "--output", metavar="PLAN", type=click.Path(path_type=Path, dir_okay=False), group=OUTPUT, help="File for the plan."
)
@option(
    "--min-precision", metavar="N", type=float, default=0.9, shown_default="0.9", group=CRITERIA,
    help="Share of the pairs found that must be right.",
)  # fmt: skip
@option(
    "--max-documents", metavar="N", type=int, default=0, shown_default="0", group=INPUT,
    help="Measure on the first N documents; 0: on all.",
)  # fmt: skip
@option("--groups", metavar="SIZES", group=CRITERIA, help="Where size groups begin, in shingles, such as 0,500,1000.")
@setting_options(
    "documents", "signatures", "matches", "resemblance", "engine", "output",
    without=(
        "signature", "min_idf", "max_idf", "antecedents", "spot_stop_words", "spot_short_chains", "spot_distance", "spot_chain",
        "max_document_share", "word_counts", "stop_words", "paper",
        "measure", "method", "min_containment", "sample_every", "sample_remainder", "verify", "filter_bits", "permutations",
        "bands", "max_bits_apart", "format", "keep_text", "overwrite", "group_field", "time_field", "partitions", "resume",
    ),
    also=("hash_seed",),
)  # fmt: skip
@run_options
def tune(
    inputs: tuple[str, ...],
    output: Path | None,
    min_precision: float,
    max_documents: int,
    groups: str | None,
    config_file: str | None,
    progress: str,
    quiet: bool,
    **flags: Any,
) -> None:
    """Measure how few shingles are enough to find duplicates with a given precision.

    The result is a sampling plan by document size. Use it with `ibidem cluster
    --plan` on this collection, or on similar ones.
    """
    config = resolve_settings(config_file, flags)
    from ibidem.config.sampling_plan import is_plan

    bounds: list[int] | None = None
    if groups is not None:
        try:
            bounds = [int(size) for size in groups.split(",")]
        except ValueError:
            raise click.UsageError(f"--groups must be whole numbers such as 0,500,1000, not {groups!r}") from None
    if output is not None and not output.parent.is_dir():
        raise click.UsageError(f"-o {output}: there is no folder {output.parent}")  # before the work, not after it
    if output is not None and output.exists() and not is_plan(output):
        raise click.UsageError(f"-o {output}: the file exists and is not a sampling plan")
    with loading_libraries():
        from ibidem.api import tune as tune_for
        from ibidem.cli.display import open_display
        from ibidem.cli.runs import kernels_compiled
        from ibidem.cli.screen import say, screen_width
        from ibidem.results.summary import skipped_lines, unknown_files_lines
        from ibidem.results.tuning_summary import tuning_table

    with kernels_compiled("tune", config, quiet), open_display(progress, quiet) as display:
        tuning = tune_for(
            list(inputs),
            min_precision=min_precision,
            max_documents=max_documents,
            groups=bounds,
            config=config,
            progress=display,
        )
    click.echo(tuning_table(tuning, screen_width(sys.stdout)))
    if tuning.skipped and not quiet:
        say([*skipped_lines(tuning.skipped, listed_in=None), *unknown_files_lines(tuning.skipped, listed_in=None)])
    if output is not None:
        tuning.plan.save(output)
        if not quiet:
            say([f"plan: {output}"])
