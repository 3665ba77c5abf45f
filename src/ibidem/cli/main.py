"""The command `ibidem`: it installs signal handlers first, then loads everything else."""

from __future__ import annotations

import gc
from contextlib import ExitStack

from ibidem.cli.signals import interruptible, loading


def main() -> None:
    """Run the command line; errors become one message on stderr and their exit code."""
    # Loading a verb makes half a million objects, nearly all of them for good: rarely look for garbage among them.
    gc.set_threshold(100_000)
    try:
        with ExitStack() as signals:
            signals.enter_context(interruptible())
            with loading():
                from ibidem.cli.verbs import run
            run(signals)
    finally:
        gc.freeze()  # and not at all when the process ends
