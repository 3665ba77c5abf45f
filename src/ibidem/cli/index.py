"""`ibidem index`: documents on disk, and what new ones share with them."""

from __future__ import annotations

import click

from ibidem.cli.index_check import info, verify
from ibidem.cli.index_edit import add, compact, remove
from ibidem.cli.index_query import check, query


class Commands(click.Group):
    """A group that lists its commands in the order of their use."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the commands."""
        return list(self.commands)


@click.group(cls=Commands, commands=[add, query, check, remove, compact, verify, info])
def index() -> None:
    """Keep documents in an index on disk, add to it, and look up what new documents share with it.

    The index is a folder, DIR. Any number of processes may query it; one at a time may change it. What was added is on disk
    for good when the command ends; a run that is interrupted or killed leaves the index as it was.

    \b
    ibidem index add news.idx archive/*.jsonl
    ibidem index query news.idx today.jsonl -o out
    ibidem index check news.idx submission.txt

    Exit code 4: there is no index, it is damaged, being written to, moved while it was open, or made with other settings.
    Exit code 5: no space is left on its disk.
    """
