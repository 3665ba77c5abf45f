"""`ibidem tune`: a sampling plan for a wanted precision."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import click

from ibidem.cli.commands import Verb, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import plain_inputs_argument, resolve_settings, run_options, setting_options
from ibidem.config.document_settings import DOCUMENT_FACTS
from ibidem.config.papers import MIN_PRECISION
from ibidem.config.settings import CRITERIA, INPUT, OUTPUT

T = TypeVar("T")


@click.command(
    cls=Verb,
    examples=(
        "ibidem tune crawl.jsonl --min-precision 0.9 -o plan.json",
        "ibidem tune crawl.jsonl --ratios 2,4,8,16 --limits 0.6,0.8 --all-remainders",
    ),
)
@plain_inputs_argument
@option(
    "-o", "--output", metavar="PLAN", type=click.Path(path_type=Path, dir_okay=False), group=OUTPUT, help="File for the plan."
)
@option(
    "--min-precision", metavar="N", type=float, shown_default="0.9", group=CRITERIA,
    help="Share of the pairs found that must be right.",
)  # fmt: skip
@option(
    "--max-documents", metavar="N", type=int, default=0, shown_default="0", group=INPUT,
    help="Measure on the first N documents; 0: on all.",
)  # fmt: skip
@option("--groups", metavar="SIZES", group=CRITERIA, help="Where size groups begin, in shingles, such as 0,500,1000.")
@option("--ratios", metavar="LIST", group=CRITERIA, help="Show all figures at these ratios, such as 2,4,25 or 1/2,1/4,1/25.")
@option("--limits", metavar="LIST", group=CRITERIA, help="Show all figures at these similarities, such as 0.6,0.8.")
@option(
    "--all-remainders", is_flag=True, group=CRITERIA, help="Try all n samples of one in n shingles, instead of at most four."
)  # fmt: skip
@option(
    "--table", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), group=OUTPUT,
    is_common=False, help="File for all figures: .csv or .json.",
)  # fmt: skip
@setting_options(
    "documents", "signatures", "matches", "resemblance", "engine", "output",
    without=(
        "signature", "min_idf", "max_idf", "antecedents", "spot_stop_words", "spot_short_chains", "spot_distance", "spot_chain",
        "max_document_share", "word_counts", "stop_words", "paper",
        "measure", "method", "min_containment", "min_shared_shingles", "sampling", "sample_every", "sample_remainder",
        "sample_size", "supershingles", "supershingle_size", "min_supershingles", "verify", "filter_bits", "permutations",
        "bands", "max_bits_apart", "sentence_pairs", "postings", "format", "keep_text", "overwrite", "group_field",
        "time_field", "partitions", *DOCUMENT_FACTS, "resume",
    ),
    also=("hash_seed",),
)  # fmt: skip
@run_options
def tune(
    inputs: tuple[str, ...],
    output: Path | None,
    min_precision: float | None,
    max_documents: int,
    groups: str | None,
    ratios: str | None,
    limits: str | None,
    all_remainders: bool,
    table: Path | None,
    config_file: str | None,
    progress: str,
    quiet: bool,
    **flags: Any,
) -> None:
    """Measure how few shingles are enough to find duplicates with a given precision.

    The result is a sampling plan by document size. Use it with `ibidem cluster
    --plan` or `ibidem dedup --plan` on this collection, or on similar ones.
    """
    config = resolve_settings(config_file, flags)
    from ibidem.config.sampling_plan import is_plan

    bounds = _list_of(int, groups, "--groups must be whole numbers such as 0,500,1000")
    tried = _list_of(_ratio, ratios, "--ratios must be numbers such as 2,4,25 or 1/2,1/4,1/25")
    wanted = _list_of(_limit, limits, "--limits must be numbers such as 0.6,0.8")
    if table is not None and table.suffix.lower() not in (".csv", ".json"):
        raise click.UsageError(f"--table {table}: name a file that ends in .csv or .json")
    if table is not None and not table.parent.is_dir():
        raise click.UsageError(f"--table {table}: there is no folder {table.parent}")
    has_grid = bool(tried or wanted or all_remainders or table)
    if output is not None and not output.parent.is_dir():
        raise click.UsageError(f"-o {output}: there is no folder {output.parent}")  # before the work, not after it
    if output is not None and output.exists() and not is_plan(output):
        raise click.UsageError(f"-o {output}: the file exists and is not a sampling plan")
    with loading_libraries():
        from ibidem.api import tune as tune_for
        from ibidem.cli.display import open_display
        from ibidem.cli.runs import kernels_compiled
        from ibidem.cli.screen import say, screen_width
        from ibidem.results.sampling_grid import grid_text, write_grid
        from ibidem.results.summary import skipped_lines, unknown_files_lines
        from ibidem.results.tuning_summary import tuning_table

    with kernels_compiled("tune", config, inputs, quiet), open_display(progress, quiet) as display:
        tuning = tune_for(
            list(inputs),
            max_documents=max_documents,
            groups=bounds,
            ratios=tried,
            limits=wanted if wanted or not has_grid else [config.matches.min_similarity],
            all_remainders=all_remainders,
            config=config,
            progress=display,
            min_precision=MIN_PRECISION.get(config.signatures.as_paper, 0.9) if min_precision is None else min_precision,
        )
    width = screen_width(sys.stdout)
    if has_grid:
        click.echo(grid_text(tuning.grid))
    if output is not None or not has_grid:
        click.echo(tuning_table(tuning, width))
    if table is not None:
        write_grid(tuning.grid, table)
        if not quiet:
            say([f"table: {table}"])
    if tuning.skipped and not quiet:
        say([*skipped_lines(tuning.skipped, listed_in=None), *unknown_files_lines(tuning.skipped, listed_in=None)])
    if output is not None:
        tuning.plan.save(output)
        if not quiet:
            say([f"plan: {output}"])


def _list_of(read: Callable[[str], T], text: str | None, expected: str) -> list[T] | None:
    """Return the values of a list with commas; None if there is none."""
    if text is None:
        return None
    try:
        return [read(each) for each in text.split(",")]
    except (ValueError, ZeroDivisionError):
        raise click.UsageError(f"{expected}, not {text!r}") from None


def _ratio(text: str) -> int:
    """Return n for n or 1/n."""
    value = int(text.strip().removeprefix("1/"))
    if value < 2:
        raise ValueError
    return value


def _limit(text: str) -> Fraction:
    value = Fraction(text.strip())
    if not 0 < value <= 1:
        raise ValueError
    return value
