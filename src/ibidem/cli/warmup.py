"""`ibidem warmup`: everything compiled in advance."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import click

from ibidem.cli.commands import Verb, argument
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import quiet_option
from ibidem.config.quantities import size_of
from ibidem.errors import ResourceError

VERBS = ("find", "cluster", "dedup", "decontaminate", "compare", "tune", "index")
_SAME = {"watch": "index", "serve": "index"}


@click.command(
    cls=Verb,
    examples=(
        "ibidem warmup",
        "ibidem warmup find index",
    ),
)
@argument(
    "verbs",
    metavar="[VERB]...",
    nargs=-1,
    type=click.Choice([*VERBS, *_SAME]),
    about="Verbs to compile for (default: all).",
)
@quiet_option
def warmup(verbs: tuple[str, ...], quiet: bool) -> None:
    """Compile everything in advance, so later runs start at once.

    Takes about a minute. Use it when you build an image or install for
    others.
    \f

    Compiled code is stored beside the package if it can be written, otherwise in the cache of your home folder, otherwise in a
    private temporary folder. To choose the place, set NUMBA_CACHE_DIR, also for later runs. It is made for the processor of
    this machine: for an image that runs on others, set NUMBA_CPU_NAME=generic, also for later runs.
    """
    with loading_libraries():
        from ibidem.cli.rehearsals import rehearsals
        from ibidem.cli.screen import say
        from ibidem.execution.kernel_cache import n_compiled, storage_folder, stored_size

    folder = storage_folder()
    if folder is None:
        raise ResourceError("no folder can be written to keep what is compiled", "Name one in the variable NUMBA_CACHE_DIR.")
    chosen = list(dict.fromkeys(_SAME.get(verb, verb) for verb in verbs)) or list(VERBS)
    begin = time.perf_counter()
    for number, verb in enumerate(chosen, 1):
        n_before, since = n_compiled(), time.perf_counter()
        with tempfile.TemporaryDirectory() as name:
            jobs = list(rehearsals(verb, Path(name)))
            for done, job in enumerate(jobs):
                if sys.stderr.isatty() and not quiet:
                    click.echo(f"\r{number} of {len(chosen)}: {verb}, {100 * done // len(jobs)} %  ", nl=False, err=True)
                job()
        if not quiet:
            cleared = "\r\033[K" if sys.stderr.isatty() else ""
            n_new = n_compiled() - n_before
            compiled = f"{n_new:,} kernels compiled" if n_new else "compiled already"
            click.echo(f"{cleared}{verb}: {compiled}, {time.perf_counter() - since:.1f} s", err=True)
    if not quiet:
        n_files, n_bytes = stored_size()
        say([f"kernels: {folder} ({n_files:,} files, {size_of(n_bytes)}), {time.perf_counter() - begin:.1f} s"])
