"""`ibidem index add`, `remove` and `compact`: what changes an index."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import click

from ibidem.cli.commands import Verb, argument, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import (
    FIRST_SETTINGS,
    given_settings,
    index_argument,
    inputs_argument,
    memory_option,
    quiet_option,
    run_options,
    setting_options,
    signature_option,
)
from ibidem.config.quantities import size_of
from ibidem.config.settings import INPUT, OUTPUT
from ibidem.errors import IndexStoreError, InputError, NoDocumentsError

_IDS_SHOWN = 10


@click.command(
    cls=Verb,
    short_help="Add documents; create the index if there is none.",
    examples=(
        "ibidem index add news.idx archive.jsonl",
        "ibidem index add news.idx today.jsonl --replace",
    ),
)
@index_argument
@inputs_argument
@option("--replace", is_flag=True, group=INPUT, help="Replace documents whose id is already in the index.")
@option(
    "--skipped", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), group=OUTPUT,
    help="List skipped records in this file.",
)  # fmt: skip
@signature_option
@memory_option
@setting_options("documents", also=(*FIRST_SETTINGS, "ignore", "search_engine", "as_paper", "paper", "workers", "strict"))
@run_options
def add(
    folder: Path,
    inputs: tuple[str, ...],
    replace: bool,
    skipped: Path | None,
    config_file: str | None,
    progress: str,
    quiet: bool,
    **flags: Any,
) -> None:
    """Add documents to an index: all of them, or none if something fails.

    The index is created if there is none.
    \f

    What makes sentences match (--signature, --min-similarity, --lang, …) is fixed when the index is created, and need not be
    given again.
    """
    settings = given_settings(config_file, flags)
    if skipped is not None and (skipped.exists() or not skipped.absolute().parent.is_dir()):  # before the work, not after it
        problem = "the file already exists" if skipped.exists() else f"there is no folder {skipped.parent}"
        raise click.UsageError(f"--skipped {skipped}: {problem}")
    with loading_libraries():
        from ibidem.cli.display import open_display
        from ibidem.cli.index_access import open_index, tell_of_compiling
        from ibidem.cli.index_answers import same_texts_lines
        from ibidem.cli.screen import say
        from ibidem.config import Config
        from ibidem.formats import input_size
        from ibidem.formats.inputs import check_query, given_names
        from ibidem.index.elements import needs_counts
        from ibidem.index.vocabulary import ENOUGH_DOCUMENTS
        from ibidem.results.summary import many, skipped_lines, unknown_files_lines
        from ibidem.results.table_files import write_skipped

    check_query(list(inputs), Config.of(**settings).documents)
    n_bytes = input_size(list(inputs))  # before an index is made for files that are not there
    tell_of_compiling("index add", quiet)
    begin = time.perf_counter()
    with open_display(progress, quiet) as display, open_index(folder, settings, create=True, progress=display) as index:
        n_before = len(index)
        with display.stage("adding", n_bytes):
            n_added = index.add(list(inputs), replace=replace)
        n_replaced = n_before + n_added - len(index)
        about = index.info()
    if skipped is not None:
        write_skipped(skipped, index.skipped.records)
    if not n_added:
        raise NoDocumentsError(f"the inputs contain no documents: {given_names(list(inputs))}", index.skipped.explain())
    if quiet:
        return
    replaced = f" ({n_replaced:,} replaced)" if n_replaced else ""
    sentences = many(display.counts["sentences"], "sentence")
    say([f"{many(n_added, 'document')} added{replaced}, {sentences}, {time.perf_counter() - begin:.1f} s"])
    listed_in = str(skipped) if skipped else None
    lines = list(skipped_lines(index.skipped.records, listed_in))
    if lines and skipped is None and len(index.skipped.records) > 1:
        lines.append("  --skipped FILE lists them all")
    lines += [*index.notices, *same_texts_lines(index.same_texts)]
    lines.append(f"{folder}: {many(about['documents'], 'document')}, {size_of(about['bytes'])}")
    counts, signature = about["word_counts"], about["settings"]["signature"]
    is_given = "word_counts" in about["settings"]
    if needs_counts(index.config.signatures) and not is_given and counts["documents"] < ENOUGH_DOCUMENTS:
        lines.append(
            f"{signature} depends on word counts, which were taken from {many(counts['documents'], 'document')} and stay"
        )
    say([*lines, *unknown_files_lines(index.skipped.records, listed_in)])


@click.command(
    cls=Verb,
    short_help="Remove documents by id.",
    examples=(
        "ibidem index remove news.idx article-17",
        "ibidem index remove news.idx --from withdrawn.txt",
    ),
)
@index_argument
@argument("ids", metavar="[ID]...", nargs=-1, about="Ids of documents to remove.")
@option(
    "--from", "id_file", metavar="FILE", type=click.File(encoding="utf-8"), group=INPUT,
    help="Read ids from a file, one per line; - is standard input.",
)  # fmt: skip
@option("--strict", is_flag=True, group=INPUT, help="Remove nothing (exit code 4) if an id is not in the index.")
@quiet_option
def remove(folder: Path, ids: tuple[str, ...], id_file: TextIO | None, strict: bool, quiet: bool) -> None:
    """Remove documents from an index by id.

    They are no longer found from now on. Their space is freed as the index grows,
    or by `ibidem index compact`. An id that is not in the index is an error (exit
    code 4); without --strict, the other documents are removed all the same.
    """
    if not ids and id_file is None:
        raise click.UsageError("name ids, or a file of ids with --from")
    wanted = list(dict.fromkeys([*ids, *(_ids_in(id_file) if id_file else ())]))
    with loading_libraries():
        from ibidem.cli.index_access import open_index
        from ibidem.results.summary import many

    with open_index(folder, {}) as index:
        missing = [name for name in wanted if name not in index]
        shown = ", ".join(missing[:_IDS_SHOWN]) + (f" and {len(missing) - _IDS_SHOWN:,} more" if missing[_IDS_SHOWN:] else "")
        part = f"{len(missing):,} of {many(len(wanted), 'id')} {'is' if len(missing) == 1 else 'are'} "
        unknown = f"{part if len(missing) < len(wanted) else ''}not in the index: {shown}"
        if missing and strict:
            raise IndexStoreError(unknown, "Nothing was removed. Without --strict the other documents are removed.")
        n_removed = index.remove(wanted)
    if missing:
        removed = f"{many(n_removed, 'other document')} {'was' if n_removed == 1 else 'were'}" if n_removed else "Nothing was"
        raise IndexStoreError(unknown, f"{removed} removed.")
    if not quiet:
        click.echo(f"{many(n_removed, 'document')} removed", err=True)


def _ids_in(file: TextIO) -> Iterator[str]:
    try:
        yield from filter(None, (line.rstrip("\r\n") for line in file))
    except UnicodeDecodeError as error:
        raise InputError(f"{file.name} is not UTF-8: {error.reason}", "Give a text file with one id per line.") from error


@click.command(
    cls=Verb,
    short_help="Merge segments, and free the space of removed documents.",
    examples=(
        "ibidem index compact news.idx",
        "ibidem index compact news.idx --recount",
    ),
)
@index_argument
@option("--recount", is_flag=True, help="Also recount how common each word is. This changes scores and fingerprints.")
@memory_option
@quiet_option
def compact(folder: Path, recount: bool, memory: str | None, quiet: bool) -> None:
    """Merge the segments of an index, and free the space of removed documents.

    An index stays fast without it. Queries can run meanwhile.
    """
    with loading_libraries():
        from ibidem.cli.index_access import open_index, tell_of_compiling
        from ibidem.cli.screen import say
        from ibidem.results.summary import many

    tell_of_compiling("index compact", quiet)
    begin = time.perf_counter()
    with open_index(folder, {} if memory is None else {"memory": memory}) as index:
        before = index.info()
        index.compact(recount=recount)
        after = index.info()
    if not quiet:
        old, new = (f"{many(about['segments'], 'segment')}, {size_of(about['bytes'])}" for about in (before, after))
        say([f"{folder}: {old} → {new}, {time.perf_counter() - begin:.1f} s"])
