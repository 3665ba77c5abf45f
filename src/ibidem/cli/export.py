"""`ibidem export`: results for other programs."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from ibidem.cli.commands import Verb, argument, files, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import ChoiceType, run_options
from ibidem.config.quantities import size_of
from ibidem.config.settings import INPUT, OUTPUT

_FORMATS = ("xlsx", "csv", "gexf", "graphml", "pan", "tei", "annotations", "sarif", "html-table")
_TABLES = ("pairs", "passages", "families", "places", "documents")
_NETWORKS = ("documents", "groups", "passages")


@click.command(
    cls=Verb,
    examples=(
        "ibidem export out --to xlsx",
        "ibidem export out --to gexf --network groups -o papers.gexf",
    ),
)
@argument("folder", metavar="OUT", type=click.Path(path_type=Path), about="Folder of results.")
@option(
    "--to", metavar="FORMAT", type=ChoiceType(_FORMATS), required=True, group=OUTPUT,
    help="xlsx, csv, gexf, graphml, pan, tei, annotations, sarif or html-table.",
)  # fmt: skip
@option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path), group=OUTPUT, shown_default="beside OUT",
    help="The file to write, or - for standard output. For pan, a folder.",
)  # fmt: skip
@option(
    "--table", metavar="NAME", type=ChoiceType(_TABLES), group=OUTPUT, shown_default="passages; pairs for cluster",
    help="Table for csv and html-table: pairs, passages, families, places or documents.",
)  # fmt: skip
@option(
    "--network", metavar="NAME", type=ChoiceType(_NETWORKS), shown_default="documents", group=OUTPUT,
    help="What gexf and graphml connect: documents, groups or passages.",
)  # fmt: skip
@option(
    "--base", metavar="URI", default="", group=OUTPUT,
    help="Prefix that turns document ids into addresses, in tei, annotations and sarif.",
)  # fmt: skip
@option(
    "--baseline", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), group=INPUT,
    help="In sarif, leave out what is shared according to this file of `find --update-baseline`.",
)  # fmt: skip
@option(
    "--documents", metavar="INPUT", multiple=True, group=INPUT, shell_complete=files,
    help="The documents, if they have moved (repeatable).",
)  # fmt: skip
@option("--overwrite", is_flag=True, group=OUTPUT, help="Replace FILE if it exists.")
@run_options
def export(
    folder: Path,
    to: str,
    output: Path | None,
    table: str | None,
    network: str | None,
    base: str,
    baseline: Path | None,
    documents: tuple[str, ...],
    overwrite: bool,
    progress: str,
    quiet: bool,
) -> None:
    """Write results for another program: a spreadsheet, a network, annotations.

    OUT is a folder that find, compare --pairs, cluster or index query -o wrote.
    \f

    xlsx: a workbook with linked sheets. csv, html-table: one table. gexf, graphml: a network, with times for Gephi's timeline.
    pan: the XML of the PAN evaluations. tei: stand-off markup. annotations: W3C Web Annotations. sarif: findings with lines and
    columns. Texts, times, groups and titles come from the inputs, which are read again. Nothing in OUT changes.
    """
    with loading_libraries():
        from ibidem.cli.display import open_display
        from ibidem.cli.screen import say
        from ibidem.viewer.exports.export_formats import (
            STANDARD_OUTPUT,
            ExportOptions,
            check_export,
            default_path,
            write_export,
        )
        from ibidem.viewer.material import read_run
        from ibidem.viewer.store_cache import views_at_hand

    read_run(folder)
    options = ExportOptions(table, network, base, baseline)
    output = output or default_path(folder, to, options)
    check_export(output, to, overwrite, options)  # before the work, not after it
    with open_display(progress, quiet) as display, ExitStack() as stack:
        with display.stage("views"):
            store = stack.enter_context(views_at_hand(folder, documents))
        with display.stage("writing"):
            remarks = write_export(store, output, to, options)
    if not quiet:
        size = "" if output == STANDARD_OUTPUT or output.is_dir() else f" ({size_of(output.stat().st_size)})"
        say([*remarks, *([] if output == STANDARD_OUTPUT else [f"export: {output}{size}"])])
