"""The verbs of `ibidem`, loaded when they are called, so that `--help` answers at once; and how a run of one ends."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from importlib import import_module
from typing import Any, NoReturn

import click

from ibidem.cli.signals import exit_code, loading
from ibidem.cli.verb_group import VerbGroup
from ibidem.errors import IbidemError, ResourceError
from ibidem.version import __version__

_NO_MEMORY = ("not enough memory", "Set a lower limit with --memory, so that the run works in parts on disk.")
# Job → verb, which is a module of that name in this folder → the line that `ibidem --help` shows. The lines are here so that
# help loads no verb.
JOBS = {
    "Find shared text": {
        "find": "Find passages that appear in two documents.",
        "compare": "Align two texts, or many pairs, and show the differences.",
        "cluster": "Find whole documents that are duplicates, and group them.",
    },
    "Clean a collection": {
        "dedup": "Write a copy without duplicate documents or repeated text.",
        "decontaminate": "Find benchmark items in training data, and remove them.",
        "collapse": "Fold search results that are nearly the same as a higher one.",
    },
    "Check new documents": {
        "index": "Index documents on disk; look up what new ones share with them.",
        "verify": "Check whether quotations appear in an index, word for word.",
        "watch": "Check documents as they arrive, and add them to an index.",
        "mcp": "Offer an index to agents (Model Context Protocol).",
    },
    "Read results": {
        "report": "Write results as a single HTML page.",
        "export": "Write results for Excel, Gephi, TEI editors and other programs.",
        "serve": "Browse results and check texts in a web browser.",
    },
    "Measure": {
        "eval": "Evaluate results against ground truth.",
        "tune": "Choose limits from verdicts; measure how far to sample.",
        "papers": "List the papers that --as runs as printed, and what it sets.",
        "words": "Count how common words are, for signatures of other runs.",
    },
    "Learn more": {
        "help": "Explain a verb or a topic, such as formats or memory.",
        "completion": "Print a script that completes commands in your shell.",
        "warmup": "Compile everything in advance, for example in a container image.",
    },
}
VERBS = {verb: line for verbs in JOBS.values() for verb, line in verbs.items()}


class Program(VerbGroup):
    """A group whose verbs are modules of the same name."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the verbs."""
        return list(VERBS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Load a verb."""
        if name not in VERBS:
            return None
        with loading():
            command: click.Command = getattr(import_module(f"ibidem.cli.{name}"), name)
        return command

    def listing(self) -> dict[str, dict[str, str]]:
        """List the verbs without loading them."""
        return JOBS


def _show_version(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if not is_asked or context.resilient_parsing:
        return
    if "--verbose" in sys.argv[1:]:  # which click may not have parsed yet
        from ibidem.cli.installed import described

        click.echo("\n".join(described()))
    else:
        click.echo(f"ibidem, version {__version__}")
    context.exit()


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    subcommand_metavar="VERB ...",
    options_metavar="",
    examples=(
        "ibidem find articles.jsonl -o out --report",
        "ibidem dedup crawl.jsonl -o clean",
    ),
)
@click.option("--verbose", is_flag=True, is_eager=True, expose_value=False, hidden=True, help="With --version: all packages.")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
    help="Show the version; with --verbose, also what is installed and what is missing.",
)  # fmt: skip
def ibidem() -> None:
    """\b
    Find text that also appears elsewhere, and see where, to the character.
    Exit codes: 0 done, 1 check failed, 2 usage, 3 input, 4 index, 5 resources.
    """


def _leave_quietly() -> NoReturn:
    """Handle a closed stdout: there is nothing to report, and nothing to flush at exit."""
    _leave_output()
    sys.exit(0)


def _lack(what: str, next_step: str = "") -> NoReturn:
    """Report that something the machine should have is missing."""
    _leave_output()
    click.echo("\n".join(filter(None, (f"ibidem: {what}", next_step))), err=True)
    sys.exit(ResourceError.exit_code)


def run(signals: ExitStack) -> None:
    """Run a verb, and end the process with its exit code. `signals` are closed as soon as the verb has ended."""
    _open_streams()
    try:
        with signals:
            code = ibidem.main(prog_name="ibidem", standalone_mode=False)
            sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except IbidemError as error:
        from ibidem.formats.printable_names import printable  # ids and names of files may contain anything

        lines = [f"ibidem: {error.message}", *([error.next_step] if error.next_step else [])]
        click.echo("\n".join(map(printable, lines)), err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("ibidem: interrupted", err=True)
        sys.exit(exit_code())
    except BrokenPipeError:
        _leave_quietly()
    except SystemExit:
        if "Pacify" in type(sys.stdout).__name__:  # click's sign that the reader has gone
            _leave_quietly()
        raise
    except OSError as error:  # all others were turned into messages where they came up
        where = f"cannot read or write {error.filename or 'standard output'}: {error.strerror}"
        _lack(where if error.strerror else str(error))
    except MemoryError:
        _lack(*_NO_MEMORY)
    except RuntimeError as error:
        if "start new thread" not in str(error):
            raise
        _lack(*_NO_MEMORY)


class _PatientStream:
    """Standard error until its reader goes away; after that, output is dropped and the work continues."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, or say nothing."""
        try:
            self._stream.write(text)
        except OSError:
            _lead_nowhere(2)
        return len(text)

    def flush(self) -> None:
        """Flush, or say nothing."""
        try:
            self._stream.flush()
        except OSError:
            _lead_nowhere(2)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _open_streams() -> None:
    """Make sure that there are streams to write to. A closed standard output has no reader."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        reader, writer = os.pipe()
        os.close(reader)
        sys.stdout = os.fdopen(writer, "w")
    sys.stderr = _PatientStream(sys.stderr)


def _leave_output() -> None:
    """Drop what is still buffered for standard output: no one reads it."""
    _lead_nowhere(sys.stdout.fileno())


def _lead_nowhere(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
