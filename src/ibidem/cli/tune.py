"""`ibidem tune`: a sampling plan for a wanted precision, or limits that separate what was confirmed from what was rejected."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import click

from ibidem.cli.commands import Verb, argument, files, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import resolve_settings, run_options, setting_options
from ibidem.config.document_settings import DOCUMENT_FACTS
from ibidem.config.papers import MIN_PRECISION
from ibidem.config.settings import CRITERIA, INPUT, OUTPUT
from ibidem.config.surface import flag

T = TypeVar("T")


@click.command(
    cls=Verb,
    examples=(
        "ibidem tune crawl.jsonl --min-precision 0.9 -o plan.json",
        "ibidem tune crawl.jsonl --ratios 2,4,8,16 --limits 0.6,0.8 --all-remainders",
    ),
)
@argument(
    "inputs", metavar="INPUT...", nargs=-1, about="Files, folders or patterns; - is standard input.", shell_complete=files
)
@option(
    "--from-verdicts", "judged", metavar="OUT", type=click.Path(path_type=Path), group=INPUT,
    help="Results whose pairs were judged in ibidem serve. Choose limits that keep the confirmed ones, instead of a plan.",
)  # fmt: skip
@option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), group=OUTPUT,
    help="File for the plan or, with --from-verdicts, for the settings (TOML).",
)  # fmt: skip
@option(
    "--picture", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), group=OUTPUT,
    help="SVG file for precision and recall by each limit. Needs --from-verdicts.",
)  # fmt: skip
@option(
    "--min-precision", metavar="N", type=float, shown_default="0.9", group=CRITERIA,
    help="Share of the pairs found that must be right. With --from-verdicts, the default is the best balance with recall.",
)  # fmt: skip
@option(
    "--max-documents", metavar="N", type=int, default=0, shown_default="0", group=INPUT,
    help="Measure on the first N documents; 0: on all.",
)  # fmt: skip
@option(
    "--groups",
    metavar="SIZES",
    group=CRITERIA,
    is_common=False,
    help="Where size groups begin, in shingles, such as 0,500,1000.",
)
@option(
    "--ratios",
    metavar="LIST",
    group=CRITERIA,
    is_common=False,
    help="Show all figures at these ratios, such as 2,4,25 or 1/2,1/4,1/25.",
)
@option(
    "--limits", metavar="LIST", group=CRITERIA, is_common=False, help="Show all figures at these similarities, such as 0.6,0.8."
)
@option(
    "--all-remainders", is_flag=True, group=CRITERIA, is_common=False,
    help="Try all n samples of one in n shingles, instead of at most four.",
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
    judged: Path | None,
    output: Path | None,
    picture: Path | None,
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

    With --from-verdicts, it measures which limits separate the pairs that were
    confirmed from those that were rejected. Use the resulting file with --config.
    """
    for path, name in ((table, "--table"), (output, "-o"), (picture, "--picture")):
        if path is not None and not path.parent.is_dir():  # before the work, not after it
            raise click.UsageError(f"{name} {path}: there is no folder {path.parent}")
    if table is not None and table.suffix.lower() not in (".csv", ".json"):
        raise click.UsageError(f"--table {table}: name a file that ends in .csv or .json")
    if judged is not None:
        of_plans = {
            "INPUT": inputs, "--groups": groups, "--ratios": ratios, "--limits": limits, "--all-remainders": all_remainders,
            "--max-documents": max_documents, "--config": config_file,
        }  # fmt: skip
        given = [name for name, value in of_plans.items() if value]
        given += [flag(name) for name, value in flags.items() if value is not None]
        if given:
            raise click.UsageError(f"--from-verdicts does not use {', '.join(given)}")
        _tune_from_verdicts(judged, output, picture, table, min_precision, quiet)
        return
    if picture is not None:
        raise click.UsageError("--picture needs --from-verdicts OUT")
    if not inputs:
        raise click.UsageError("Missing argument 'INPUT...'.")
    config = resolve_settings(config_file, flags)
    from ibidem.config.sampling_plan import is_plan

    bounds = _list_of(int, groups, "--groups must be whole numbers such as 0,500,1000")
    tried = _list_of(_ratio, ratios, "--ratios must be numbers such as 2,4,25 or 1/2,1/4,1/25")
    wanted = _list_of(_limit, limits, "--limits must be numbers such as 0.6,0.8")
    has_grid = bool(tried or wanted or all_remainders or table)
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


def _tune_from_verdicts(
    judged: Path, output: Path | None, picture: Path | None, table: Path | None, min_precision: float | None, quiet: bool
) -> None:
    """Print limits that separate what was confirmed from what was rejected, and write them."""
    with loading_libraries():
        from ibidem.cli.screen import say, screen_width
        from ibidem.results.limits_from_verdicts import is_limits_file
        from ibidem.results.sampling_grid import write_grid
        from ibidem.results.verdict_summary import summary_text
        from ibidem.viewer.verdict_limits import tune_from_verdicts

    if output is not None and output.exists() and not is_limits_file(output):
        raise click.UsageError(f"-o {output}: the file exists and was not written by `ibidem tune --from-verdicts`")
    tuning = tune_from_verdicts(judged, min_precision=min_precision)
    click.echo(summary_text(tuning, screen_width(sys.stdout)))
    written = []
    if table is not None:
        write_grid(tuning.curve, table)
        written.append(f"table: {table}")
    if picture is not None:
        picture.write_text(tuning.to_svg(), encoding="utf-8")
        written.append(f"picture: {picture}")
    if output is not None:
        tuning.save(output)
        written.append(f"settings: {output}; use them with `ibidem {tuning.verb} … --config {output}`")
    if not quiet:
        say(written)


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
