"""`ibidem index`: documents on disk, and what new ones share with them."""

from __future__ import annotations

import click

from ibidem.cli.index_check import info, verify
from ibidem.cli.index_edit import add, compact, remove
from ibidem.cli.index_query import check, query
from ibidem.cli.verb_group import VerbGroup


@click.group(
    cls=VerbGroup,
    commands=[add, query, check, remove, compact, verify, info],
    examples=(
        "ibidem index add news.idx archive.jsonl",
        "ibidem index check news.idx draft.txt",
    ),
)
def index() -> None:
    """Keep documents in an index on disk, and look up what new ones share with it.

    The index is a folder. Any number of processes can query it while one changes
    it. What a command has added is safely on disk when the command ends; a run
    that is interrupted or killed leaves the index unchanged.

    Exit code 4: there is no index, it is damaged, in use by another writer, moved
    while it was open, or was created with other settings. Exit code 5: the disk is
    full.
    """
