"""`ibidem report`: results as one page to look at and to send on."""

from __future__ import annotations

from pathlib import Path

import click

from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import run_options
from ibidem.config.quantities import size_of


@click.command()
@click.argument("folder", metavar="OUT", type=click.Path(path_type=Path))
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="The page.  [default: OUT/report.html]")
@click.option("--title", help="What the page is called.  [default: the name of the folder]")
@click.option(
    "--documents", metavar="INPUT", multiple=True, help="Where the documents are, if not where they were (repeatable)."
)
@click.option(
    "--max-pairs", type=click.IntRange(1, 100_000), default=2_500, show_default=True, help="Show at most so many pairs."
)
@click.option("--overwrite", is_flag=True, help="Replace a file that is no report, too.")
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
    """Write the results in OUT as one page of HTML that needs nothing else: no network, no other file.

    OUT is a folder that find, compare --pairs or cluster wrote. The page shows how much is shared, the pairs of documents,
    both texts side by side, how text went from one to another, families of passages, and what was left out. It holds the
    texts of the documents it shows: the inputs are read again for them.

    \b
    ibidem find articles/*.jsonl -o out && ibidem report out -o report.html
    """
    with loading_libraries():
        from ibidem.cli.display import open_display
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
        for line in remarks:
            click.echo(line, err=True)
        click.echo(f"report: {output} ({size_of(output.stat().st_size)})", err=True)
