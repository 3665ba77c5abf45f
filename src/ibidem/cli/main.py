"""The command `ibidem`: it installs signal handlers first, then loads everything else."""

from __future__ import annotations

from contextlib import ExitStack

from ibidem.cli.signals import interruptible, loading


def main() -> None:
    """Run the command line; errors become one message on stderr and their exit code."""
    with ExitStack() as signals:
        signals.enter_context(interruptible())
        with loading():
            from ibidem.cli.verbs import run
        run(signals)
