"""The output folder of a run, kept for it alone while it lasts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ibidem.config import Config


@contextmanager
def output_occupied(output: Path, config: Config) -> Iterator[Config]:
    """Keep the folder for tables of results, and yield the settings of a run into it.

    Before any work is done, it is an error if the folder may not take results, if another run is writing there, or if a
    killed run has left stages and nothing is said of them.
    """
    from ibidem.reports.writing import check_output
    from ibidem.stored.work import check_leftovers, occupied

    with occupied(output) as place:
        config = place.settings(config)
        check_leftovers(place.work, config)
        check_output(output, config.output.overwrite)
        yield config
