"""`ibidem report`: results as a single HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from ibidem.cli.commands import Verb, argument, files, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import run_options
from ibidem.config.quantities import size_of
from ibidem.config.settings import INPUT, OUTPUT


@click.command(
    cls=Verb,
    examples=(
        "ibidem report out",
        "ibidem report out -o reprints.html --title Reprints",
    ),
)
@argument("folder", metavar="OUT", type=click.Path(path_type=Path), about="Folder of results.")
@option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path), group=OUTPUT, help="The page to write.",
    shown_default="OUT/report.html",
)  # fmt: skip
@option("--title", metavar="TEXT", group=OUTPUT, help="Title of the page.", shown_default="name of the folder")
@option(
    "--documents", metavar="INPUT", multiple=True, group=INPUT, shell_complete=files,
    help="The documents, if they have moved (repeatable).",
)  # fmt: skip
@option(
    "--max-pairs", metavar="N", type=click.IntRange(1, 100_000), default=2_500, shown_default="2500", group=OUTPUT,
    help="Show at most N pairs.",
)  # fmt: skip
@option("--overwrite", is_flag=True, group=OUTPUT, help="Replace FILE even if it is not a report.")
@run_options
def report(
    folder: Path,
    output: Path | None,
    title: str | None,
    documents: tuple[str, ...],
    max_pairs: int,
    overwrite: bool,
    progress: str,
    quiet: bool,
) -> None:
    """Write results as one HTML page that needs no network and no other file.

    OUT is a folder that find, compare --pairs, cluster or dedup wrote. For a
    cleaned copy, the page shows what was removed, next to what stays.
    \f

    The page shows how much text is shared, the pairs of documents, both texts side by side, how text spread over time,
    families of passages, and what was left out. It contains the texts of the documents it shows, so the inputs are read
    again.
    """
    with loading_libraries():
        from ibidem.cli.display import open_display
        from ibidem.cli.screen import say
        from ibidem.viewer.material import material_of_folder, read_run
        from ibidem.viewer.report import check_report, write_report
        from ibidem.viewer.store_cache import passing_views

    read_run(folder)
    output = output or folder / "report.html"
    check_report(output, overwrite)  # before the work, not after it
    with open_display(progress, quiet) as display:
        with display.stage("reading"):
            material = material_of_folder(folder, documents)
        with display.stage("views"), passing_views(material) as store:
            remarks = write_report(store, output, title, max_pairs)
    if not quiet:
        say([*remarks, f"report: {output} ({size_of(output.stat().st_size)})"])
