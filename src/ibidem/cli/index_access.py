"""What the commands of an index share: the argument DIR, and how it is opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ibidem.cli.arrow import prepare_arrow
from ibidem.cli.signals import loading

if TYPE_CHECKING:
    from ibidem.execution.progress import Progress
    from ibidem.index.index import Index

NO_SEARCH_SETTINGS = ("signature_bits", "bits_per_word", "commit_every")  # of those of the index
FIRST_SETTINGS = (  # fixed when the index is made
    "lang", "max_sentence_words", "hash_seed", "min_similarity", "max_document_share", "signature_bits", "bits_per_word",
)  # fmt: skip

signature_option = click.option(
    "--signature",
    type=click.Choice(["words", "exact"]),
    help="What makes two sentences alike, fixed when the index is made.  [default: words]",
)
memory_option = click.option(
    "--memory", help="Memory for merging, as 500MB or 4GB.  [default: three quarters of what the machine has]"
)
max_places_option = click.option(
    "--max-places", type=int, help="Sentences that stand in more documents than this say nothing.  [default: 100]"
)


def index_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add DIR."""
    return click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))(command)


def load_index() -> None:
    """Load what an index needs. Called before there is anything to undo: a signal ends the process at once meanwhile."""
    with loading():
        prepare_arrow()
        import ibidem.execution.warmup
        import ibidem.index.index  # noqa: F401


def open_index(folder: Path, settings: dict[str, Any], *, create: bool = False, progress: Progress | None = None) -> Index:
    """Open an index with these settings; `create` makes it if there is none."""
    from ibidem.index.index import Index

    return Index(folder, create=create, progress=progress, **settings)


def tell_of_compiling(quiet: bool, searching: bool) -> None:
    """Say that a first run takes its time."""
    from ibidem.execution.warmup import FIRST_RUN, is_index_compiled

    if not quiet and not is_index_compiled(searching):
        click.echo(f"ibidem: {FIRST_RUN}", err=True)
