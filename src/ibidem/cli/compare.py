"""`ibidem compare`: two texts, or many listed pairs of documents, aligned closely."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ibidem.cli.arrow import prepare_arrow
from ibidem.cli.options import (
    check_local_folder,
    given_settings,
    inputs_argument,
    output_option,
    run_options,
    setting_options,
)
from ibidem.cli.signals import loading
from ibidem.config import FORMATS, Config

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ibidem.model import Document, Passage

_CONTROLS = re.compile("[\x7f-\x9f]")  # JSON may hold them as they are, but terminals obey them
_PLAIN_WIDTH = 100


@click.command()
@inputs_argument
@click.option("--pairs", metavar="PAIRS", type=click.Path(), help="File of the pairs to compare, with columns a_id and b_id.")
@output_option("Folder for the results (with --pairs).", required=False)
@click.option("--html", "page", metavar="FILE", type=click.Path(path_type=Path), help="Write a page that shows A and B.")
@click.option("--full", is_flag=True, help="Show long equal stretches too (text).")
@click.option(
    "--format", "form", type=click.Choice(["text", *FORMATS]),
    help="Format of what is found.  [default: text; parquet with --pairs]",
)  # fmt: skip
@setting_options(
    "documents", "sentences", "alignment", "engine", "output",
    without=("html", "group_field", "align", "format", "engine", "memory", "max_disk", "tmp_dir", "partitions", "resume"),
    also=("max_gap_sentences",),
)  # fmt: skip
@run_options
def compare(
    inputs: tuple[str, ...],
    pairs: str | None,
    output: Any,
    page: Path | None,
    full: bool,
    form: str | None,
    config_file: str | None,
    progress: str,
    quiet: bool,
    **flags: Any,
) -> None:
    """Align two texts closely and show what differs, or many listed pairs of documents.

    INPUT is two files A and B, each of which holds one text (- is standard input): the passages that stand in both are shown
    side by side. Or, with --pairs, it is documents as for `ibidem find`; every pair of ids that the file lists is compared,
    and the passages are written to a folder.

    \b
    ibidem compare draft.txt published.txt
    ibidem compare draft.md page.html --html differences.html
    ibidem compare draft.txt published.txt --format jsonl | jq .similarity
    ibidem compare articles/*.jsonl --pairs pairs.csv -o out
    """
    _check_usage(inputs, pairs, output, page, full, form)
    settings = given_settings(config_file, flags)
    settings |= {} if pairs is None or form is None else {"format": form}
    config = Config.of(**settings)
    with loading():
        prepare_arrow()
        import ibidem.api  # noqa: F401 (now, for a second process runs from here on)
        from ibidem.execution.warmup import FIRST_RUN, later_stages_compiled_aside

    with later_stages_compiled_aside(config, comparing=True) as is_first_run:
        if is_first_run and not quiet:
            click.echo(f"ibidem: {FIRST_RUN}", err=True)
        if pairs is not None:
            _compare_listed(inputs, pairs, output, config, progress, quiet)
        else:
            _compare_two(inputs, config, page, form, full, quiet)


def _check_usage(
    inputs: Sequence[str], pairs: str | None, output: Any, page: Path | None, full: bool, form: str | None
) -> None:
    """Raise where options of the two ways to compare are mixed."""
    if pairs is not None:
        if output is None:
            raise click.UsageError("--pairs needs a folder for the results: -o OUT")
        if page is not None:
            raise click.UsageError("--html shows two texts A and B; leave out --pairs")
        if full or form == "text":
            raise click.UsageError(f"{'--full' if full else '--format text'} shows two texts A and B; leave out --pairs")
        check_local_folder(output)
        return
    if output is not None:
        raise click.UsageError("-o OUT is for many pairs, which --pairs PAIRS lists; --html FILE writes a page of two texts")
    if len(inputs) != 2:
        given = "one file is" if len(inputs) == 1 else f"{len(inputs)} files are"
        raise click.UsageError(f"{given} given; give two, A and B, or list the pairs to compare with --pairs PAIRS -o OUT")
    if form not in (None, "text", "jsonl"):
        raise click.UsageError(f"--format {form} is for many pairs, which --pairs PAIRS lists; for two texts: text or jsonl")
    if full and (form == "jsonl" or (page is not None and form is None)):
        raise click.UsageError("--full is for --format text")


def _compare_listed(inputs: Sequence[str], pairs: str, output: Path, config: Config, progress: str, quiet: bool) -> None:
    """Compare the listed pairs and write what is found."""
    from ibidem.api import compare_pairs
    from ibidem.cli.display import look_at, open_display
    from ibidem.cli.output_folder import output_occupied
    from ibidem.results.summary import many, skipped_lines

    with output_occupied(output, config) as config, open_display(progress, quiet) as display:
        result = compare_pairs(list(inputs), pairs, config=config, progress=display)
        with display.stage("writing"):
            result.write(output)
    if quiet:
        return
    read = many(result.counts["documents"], "document")
    click.echo(f"{read}, {many(result.n_pairs, 'pair')}, {many(len(result), 'passage')}", err=True)
    if result.skipped:
        click.echo("\n".join(skipped_lines(result.skipped)), err=True)
    click.echo(f"results: {output}\n{look_at(output)}", err=True)


def _compare_two(names: Sequence[str], config: Config, page: Path | None, form: str | None, full: bool, quiet: bool) -> None:
    """Compare two files, show what they share, and write the page if one is wanted."""
    if page is not None:
        _check_page(page, config.output.overwrite, names)  # before the work, not after it
    from ibidem.api import compare as compare_texts

    name_a, name_b = names
    a, b = (_read_one(name, config, quiet) for name in names)
    config = dataclasses.replace(config, documents=Config().documents)  # they were for reading: these are plain texts now
    passages = [
        dataclasses.replace(passage, a=passage.a._replace(id=name_a), b=passage.b._replace(id=name_b))
        for passage in compare_texts(a.text, b.text, config=config)
    ]
    if form == "jsonl":
        for line in _json_lines(passages):
            click.echo(_writable(line))
    elif form == "text" or page is None:
        _show(passages, names, (a, b), full)
    if page is not None:
        from ibidem.viewer.comparison_page import comparison_page
        from ibidem.viewer.side_by_side import describe_sharing

        _write_page(page, comparison_page(passages, name_a, name_b, a.text, b.text))
        if not quiet:
            if form != "text":
                click.echo(describe_sharing(passages, name_a, name_b, len(a.text), len(b.text)), err=True)
            click.echo(f"page: {page}", err=True)


def _read_one(name: str, config: Config, quiet: bool) -> Document:
    """Return the one text that a file, or standard input, holds."""
    from ibidem.errors import InputError, NoDocumentsError
    from ibidem.formats import read
    from ibidem.formats.jobs import SkippedRecords

    if not quiet and name == "-" and sys.stdin is not None and sys.stdin.isatty():
        click.echo("ibidem: waiting for a text on standard input; Ctrl-D ends", err=True)
    many_texts = "To compare many documents, list the pairs of their ids: --pairs PAIRS -o OUT."
    if os.path.isdir(name):
        raise InputError(f"{name} is a folder, not a text", many_texts)
    skipped = SkippedRecords(config.output.strict)
    document: Document | None = None
    for record in read([name], on_skip=skipped.add, **dataclasses.asdict(config.documents)):
        if document is not None:
            raise InputError(f"{name} holds more than one text", many_texts)
        document = record
    shown = "standard input" if name == "-" else name
    if document is None:
        raise NoDocumentsError(f"there is no text in {shown}", skipped.explain())
    if skipped.records:
        raise InputError(f"{shown} holds more than one record, and not all can be used: {skipped.explain()}", many_texts)
    return document


def _show(passages: Sequence[Passage], names: Sequence[str], documents: Sequence[Document], full: bool) -> None:
    from rich.console import Console

    from ibidem.viewer.side_by_side import print_side_by_side

    # A pipe has no width of its own; rich would take the 80 columns of old terminals.
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal() else _PLAIN_WIDTH
    console = Console(width=width, markup=False, highlight=False, emoji=False)
    name_a, name_b = names
    n_chars_a, n_chars_b = (len(document.text) for document in documents)
    with console.capture() as shown:  # and not printed by rich, which ends the program if the reader has gone
        print_side_by_side(console, passages, name_a, name_b, n_chars_a, n_chars_b, full)
    click.echo(_writable(shown.get()), nl=False, color=True)


def _writable(text: str) -> str:
    """Return a text with question marks for what standard output cannot hold in its encoding."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def _json_lines(passages: Sequence[Passage]) -> Iterator[str]:
    """Yield a passage a line: the columns of the passages table, both texts, and where they differ."""
    for passage in passages:
        record = {
            "a_id": passage.a.id, "a_start": passage.a.start, "a_end": passage.a.end,
            "b_id": passage.b.id, "b_start": passage.b.start, "b_end": passage.b.end,
            "n_sentences": passage.n_sentences, "similarity": passage.similarity,
            "kind": passage.kind, "direction": passage.direction, "a_text": passage.a.text, "b_text": passage.b.text,
            "differences": [difference._asdict() for difference in passage.differences],
        }  # fmt: skip
        line = json.dumps(record, ensure_ascii=False)
        yield _CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", line)


def _check_page(page: Path, overwrite: bool, names: Sequence[str]) -> None:
    from ibidem.errors import OutputExistsError

    if any(name != "-" and page.exists() and os.path.exists(name) and page.samefile(name) for name in names):
        raise click.UsageError(f"--html {page} is one of the two texts")
    if page.is_dir():
        raise click.UsageError(f"--html {page} is a folder; give a file")
    if not page.parent.is_dir():
        raise click.UsageError(f"--html {page}: there is no folder {page.parent}")
    if page.exists() and not overwrite:
        raise OutputExistsError(f"there is a file {page} already", "Give another name, or --overwrite to replace it.")


def _write_page(page: Path, content: str) -> None:
    from ibidem.errors import ResourceError
    from ibidem.execution.durable_files import replace_file

    aside = page.with_name(page.name + ".part")  # no half page is ever seen
    try:
        aside.write_text(content, "utf-8")
        replace_file(aside, page)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise ResourceError(f"cannot write {page}: {error.strerror}", "Is there room, and may you write there?") from error
