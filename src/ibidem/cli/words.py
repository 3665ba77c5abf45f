"""`ibidem words`: how common words are in a collection, for signatures of other runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ibidem.cli.commands import Verb, files, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import inputs_argument, resolve_settings, run_options, setting_options
from ibidem.config.document_settings import DOCUMENT_FACTS
from ibidem.config.settings import CRITERIA, OUTPUT

_ENDINGS = (".tsv", ".csv", ".parquet", ".txt")


@click.command(
    cls=Verb,
    examples=(
        "ibidem words crawl.jsonl -o crawl.tsv",
        "ibidem words crawl.jsonl -o stop.txt --max-words 100",
    ),
)
@inputs_argument
@option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), required=True, group=OUTPUT,
    shell_complete=files, help="File for the words (required): .tsv, .csv or .parquet; .txt for a plain list.",
)  # fmt: skip
@option("--overwrite", is_flag=True, group=OUTPUT, help="Replace the file if it exists.")
@option(
    "--min-documents", metavar="N", type=int, default=1, shown_default="1", group=CRITERIA,
    help="Leave out words that occur in fewer documents.",
)  # fmt: skip
@option(
    "--max-words", metavar="N", type=int, default=0, shown_default="0", group=CRITERIA,
    help="Keep only the N most frequent words; 0: all.",
)  # fmt: skip
@setting_options(
    "documents",
    "sentences",
    also=("workers", "strict"),
    without=("ignore", "group_field", "time_field", "hash_seed", *DOCUMENT_FACTS),
)  # fmt: skip
@run_options
def words(
    inputs: tuple[str, ...],
    output: Path,
    overwrite: bool,
    min_documents: int,
    max_words: int,
    config_file: str | None,
    progress: str,
    quiet: bool,
    **flags: Any,
) -> None:
    """Count in how many documents each word occurs, and how often.

    Other runs use the file with --word-counts, so that words are as common for
    them as they are here, or, as a list of words, with --stop-words.
    \f

    The columns are word, documents and occurrences, the most frequent words first. The row of the word * counts all documents.
    Memory is needed for the vocabulary only, however large the collection is.
    """
    config = resolve_settings(config_file, flags)
    if output.suffix.lower() not in _ENDINGS:  # before the work, not after it
        raise click.UsageError(f"-o {output}: the name must end in {', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}")
    if not output.absolute().parent.is_dir():
        raise click.UsageError(f"-o {output}: there is no folder {output.parent}")
    if output.exists() and not overwrite:
        raise click.UsageError(f"-o {output}: the file exists; --overwrite replaces it")
    with loading_libraries():
        from ibidem.cli.display import open_display
        from ibidem.results.summary import many, skipped_lines, unknown_files_lines
        from ibidem.word_api import words as words_of

    with open_display(progress, quiet) as display:
        table = words_of(list(inputs), min_documents=min_documents, max_words=max_words, config=config, progress=display)
        table.write(output)
    if quiet:
        return
    lines = [f"{many(len(table), 'word')} of {many(table.n_documents, 'document')}: {output}"]
    lines += [*skipped_lines(table.skipped, listed_in=None), *unknown_files_lines(table.skipped, listed_in=None)]
    click.echo("\n".join(lines), err=True)
