"""A run of a verb: its output folder, its progress, and the result it writes there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from ibidem.cli.display import open_display
from ibidem.cli.screen import say
from ibidem.config import Config
from ibidem.execution.disk.work_folder import check_leftovers, occupied
from ibidem.execution.disk_limit import disk_budget
from ibidem.execution.progress import Progress
from ibidem.execution.spill import temporary_folder
from ibidem.execution.warmup import announcement, later_stages_compiled_aside
from ibidem.formats import resolve_inputs
from ibidem.formats.copy_files import spool_stdin
from ibidem.formats.inputs import check_query
from ibidem.results.remote_folder import check_not_replaced, check_results_folder


@contextmanager
def folder_occupied(output: Path | str, config: Config) -> Iterator[Config]:
    """Lock a folder for a run, and yield the settings of a run into it. A folder elsewhere cannot be locked.

    Raises before any work is done if another run is writing there, or if a killed run has left stages and no setting says what
    to do with them.
    """
    if isinstance(output, str):
        yield config
        return
    with occupied(output) as place:
        config = place.settings(config)
        check_leftovers(place.work, config)
        yield config


@contextmanager
def output_occupied(output: Path | str, config: Config) -> Iterator[Config]:
    """Do the same for tables of results; also raise if the folder cannot receive them."""
    with folder_occupied(output, config) as config:
        check_results_folder(output, config.output.overwrite)
        yield config


@contextmanager
def stored_inputs(inputs: Sequence[str], config: Config) -> Iterator[list[Any]]:
    """Yield inputs that can be read twice: standard input is stored first, in a temporary folder."""
    paths: list[Any] = list(inputs)
    with ExitStack() as stack:
        if "-" in paths:
            folder = stack.enter_context(temporary_folder(config.engine.tmp_folder))
            paths[paths.index("-")] = spool_stdin(folder, disk_budget(config.engine.max_disk, folder, None))
        yield paths


@contextmanager
def kernels_compiled(verb: str, config: Config, inputs: Sequence[Any], quiet: bool, aside: bool = False) -> Iterator[None]:
    """Say how long the first run will compile, if it will; `aside`: a second process compiles what later stages need.

    Inputs that are not there are an error before anything is said.
    """
    if not quiet and (line := announcement(verb, config)):
        resolve_inputs(list(inputs))
        say([f"ibidem: {line}"])
    with later_stages_compiled_aside(verb, config) if aside else nullcontext():
        yield


@contextmanager
def open_result(
    work: Callable[..., Any],
    inputs: Sequence[Any],
    references: Sequence[str],
    config: Config,
    progress: str,
    quiet: bool,
    output: Path | str | None = None,
    **more: Any,
) -> Iterator[tuple[Any, Progress]]:
    """Yield what a verb of the API finds, written to `output` if one is given, and the progress that is shown."""
    if "engine" not in more:  # Spark reads by itself
        check_query([*inputs, *references], config.documents)
        if output is not None:
            check_not_replaced(resolve_inputs([*inputs, *references]), output)
    if references:
        more["against"] = list(references)
    with (
        open_display(progress, quiet) as display,
        work(list(inputs), config=config, progress=display, **more) as result,
    ):
        if output is not None:
            with display.stage("writing"):
                result.write(output)
        yield result, display


def write_report(result: Any, output: Path | str, display: Progress) -> Path | str:
    """Write a report next to results, called like their folder; return its path."""
    with display.stage("report"):
        page = f"{output.rstrip('/')}/report.html" if isinstance(output, str) else output / "report.html"
        result.to_html(page, title=output.rstrip("/").rpartition("/")[2] if isinstance(output, str) else output.resolve().name)
    return page
