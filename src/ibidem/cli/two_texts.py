"""Two texts compared: read from files, shown side by side or as JSON, and written as a page."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from ibidem.api import compare
from ibidem.cli.screen import say
from ibidem.config import Config
from ibidem.errors import InputError, NoDocumentsError, OutputExistsError
from ibidem.formats import read
from ibidem.formats.jobs import SkippedRecords
from ibidem.model import Document, Passage
from ibidem.viewer.comparison_page import comparison_page
from ibidem.viewer.page import write_page
from ibidem.viewer.side_by_side import describe_sharing, print_side_by_side

_CONTROLS = re.compile("[\x7f-\x9f]")  # JSON may contain them as they are, but terminals obey them
_PLAIN_WIDTH = 100


def compare_two(names: Sequence[str], config: Config, page: Path | None, form: str | None, full: bool, quiet: bool) -> None:
    """Compare two files, show what they share, and write the page if one is wanted."""
    if page is not None:
        _check_page(page, config.output.overwrite, names)  # before the work, not after it
    name_a, name_b = names
    a, b = (_read_one(name, config, quiet) for name in names)
    config = dataclasses.replace(config, documents=Config().documents)  # they were for reading: these are plain texts now
    min_words = config.alignment.min_aligned_words
    passages = [
        dataclasses.replace(passage, a=passage.a._replace(id=name_a), b=passage.b._replace(id=name_b))
        for passage in compare(a.text, b.text, config=config)
    ]
    if form == "jsonl":
        for line in _json_lines(passages):
            click.echo(_writable(line))
    elif form == "text" or page is None:
        _show(passages, names, (a, b), min_words, full)
    if page is not None:
        write_page(page, comparison_page(passages, name_a, name_b, a.text, b.text, min_words))
        if not quiet:
            if form != "text":
                say([describe_sharing(passages, name_a, name_b, len(a.text), len(b.text), min_words)])
            say([f"page: {page}"])


def _read_one(name: str, config: Config, quiet: bool) -> Document:
    """Return the one text in a file, or on standard input."""
    if not quiet and name == "-" and sys.stdin is not None and sys.stdin.isatty():
        click.echo("ibidem: waiting for a text on standard input; end with Ctrl-D", err=True)
    many_texts = "To compare many documents, list the pairs of their ids: --pairs PAIRS -o OUT."
    if os.path.isdir(name):
        raise InputError(f"{name} is a folder, not a text", many_texts)
    skipped = SkippedRecords(config.output.strict)
    document: Document | None = None
    for record in read([name], on_skip=skipped.add, **dataclasses.asdict(config.documents)):
        if document is not None:
            raise InputError(f"{name} contains more than one text", many_texts)
        document = record
    shown = "standard input" if name == "-" else name
    if document is None:
        raise NoDocumentsError(f"{shown} contains no text", skipped.explain())
    if skipped.records:
        raise InputError(f"{shown} contains more than one record, and some cannot be used: {skipped.explain()}", many_texts)
    return document


def _show(passages: Sequence[Passage], names: Sequence[str], documents: Sequence[Document], min_words: int, full: bool) -> None:
    from rich.console import Console

    # A pipe has no width of its own; rich would take the 80 columns of old terminals.
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal() else _PLAIN_WIDTH
    console = Console(width=width, markup=False, highlight=False, emoji=False)
    name_a, name_b = names
    n_chars_a, n_chars_b = (len(document.text) for document in documents)
    with console.capture() as shown:  # and not printed by rich, which ends the program if the reader has gone
        print_side_by_side(console, passages, name_a, name_b, n_chars_a, n_chars_b, min_words, full)
    click.echo(_writable(shown.get()), nl=False, color=True)


def _writable(text: str) -> str:
    """Return a text with question marks for what standard output cannot show in its encoding."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def _json_lines(passages: Sequence[Passage]) -> Iterator[str]:
    """Yield one line per passage: the columns of the passages table, both texts, and where they differ."""
    for passage in passages:
        record = {
            "a_id": passage.a.id, "a_start": passage.a.start, "a_end": passage.a.end,
            "b_id": passage.b.id, "b_start": passage.b.start, "b_end": passage.b.end,
            "n_sentences": passage.n_sentences, "similarity": passage.similarity,
            "kind": passage.kind, "direction": passage.direction, "a_sentence": passage.a_sentence,
            "b_sentence": passage.b_sentence, "a_text": passage.a.text, "b_text": passage.b.text,
            "differences": [difference._asdict() for difference in passage.differences],
        }  # fmt: skip
        line = json.dumps(record, ensure_ascii=False)
        yield _CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", line)


def _check_page(page: Path, overwrite: bool, names: Sequence[str]) -> None:
    if any(name != "-" and page.exists() and os.path.exists(name) and page.samefile(name) for name in names):
        raise click.UsageError(f"--html {page} is one of the two texts")
    if page.is_dir():
        raise click.UsageError(f"--html {page} is a folder; give a file")
    if not page.parent.is_dir():
        raise click.UsageError(f"--html {page}: there is no folder {page.parent}")
    if page.exists() and not overwrite:
        raise OutputExistsError(f"{page} already exists", "Give another name, or --overwrite to replace it.")
