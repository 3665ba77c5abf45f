"""The output folder of a run, kept for it alone while it lasts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ibidem.config import Config


@contextmanager
def folder_occupied(output: Path, config: Config) -> Iterator[Config]:
    """Keep a folder for a run, and yield the settings of a run into it.

    Before any work is done, it is an error if another run is writing there, or if a killed run has left stages and nothing
    is said of them.
    """
    from ibidem.execution.disk.work_folder import check_leftovers, occupied

    with occupied(output) as place:
        config = place.settings(config)
        check_leftovers(place.work, config)
        yield config


@contextmanager
def output_occupied(output: Path, config: Config) -> Iterator[Config]:
    """Do the same for tables of results; it is an error, too, if the folder may not take them."""
    from ibidem.results.table_files import check_output

    with folder_occupied(output, config) as config:
        check_output(output, config.output.overwrite)
        yield config
