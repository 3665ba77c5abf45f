"""`ibidem tune`: the sampling plan that keeps a promise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import resolve_settings, run_options, setting_options


@click.command()
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="PLAN", type=click.Path(path_type=Path, dir_okay=False), help="File for the plan.")
@click.option("--min-precision", type=float, default=0.9, show_default=True, help="Share of pairs found that must be right.")
@click.option("--max-documents", type=int, default=0, help="Measure on the first so many documents; 0 for all.")
@click.option("--groups", metavar="SIZES", help="Where size groups begin, in shingles: 0,500,1000.")
@setting_options(
    "documents", "signatures", "matches", "resemblance", "engine", "output",
    without=(
        "signature", "min_idf", "max_idf", "antecedents", "spot_distance", "spot_chain", "max_document_share", "paper",
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
    """Measure how far shingles may be sampled, by document size, so that a wanted share of the pairs found is right.

    The plan is for `ibidem cluster --plan` on this collection, or on others like it.

    \b
    ibidem tune crawl/*.parquet --min-similarity 0.8 --min-precision 0.9 -o plan.json
    ibidem cluster crawl/*.parquet --plan plan.json -o out
    """
    config = resolve_settings(config_file, flags)
    from ibidem.config.sampling_plan import is_plan

    bounds: list[int] | None = None
    if groups is not None:
        try:
            bounds = [int(size) for size in groups.split(",")]
        except ValueError:
            raise click.UsageError(f"--groups {groups}: not a list of whole numbers like 0,500,1000") from None
    if output is not None and not output.parent.is_dir():
        raise click.UsageError(f"-o {output}: there is no folder {output.parent}")  # before the work, not after it
    if output is not None and output.exists() and not is_plan(output):
        raise click.UsageError(f"-o {output}: there is a file already, and it is no sampling plan")
    with loading_libraries():
        from ibidem.api import tune as tune_for
        from ibidem.cli.display import open_display
        from ibidem.results.summary import skipped_lines
        from ibidem.results.tuning_summary import tuning_table

    with open_display(progress, quiet) as display:
        tuning = tune_for(
            list(inputs),
            min_precision=min_precision,
            max_documents=max_documents,
            groups=bounds,
            config=config,
            progress=display,
        )
    click.echo(tuning_table(tuning))
    if tuning.skipped and not quiet:
        click.echo("\n".join(skipped_lines(tuning.skipped, listed_in=None)), err=True)
    if output is not None:
        tuning.plan.save(output)
        if not quiet:
            click.echo(f"plan: {output}", err=True)
