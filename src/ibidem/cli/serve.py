"""`ibidem serve`: a web app over a result folder or an index."""

from __future__ import annotations

import ctypes
import html
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from ibidem.cli.commands import Verb, argument, files, option
from ibidem.cli.libraries import loading_extra, loading_libraries
from ibidem.cli.options import listening_options, quiet_option
from ibidem.cli.signals import SIGNALS, leave_alone
from ibidem.config.quantities import memory_bytes
from ibidem.config.settings import INPUT
from ibidem.config.surface import speak
from ibidem.errors import UsageError

_LEAST_TOKEN_CHARS = 8
_PATH = click.Path(path_type=Path)
_ARGUMENTS_BEGIN, _ARGUMENTS_END = 45, 46  # in /proc/self/stat, counted after the name of the program


class SizeType(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A size as the user writes it, in bytes: 500kB, 10MB."""

    name = "size"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """Return the bytes that are meant."""
        n_bytes = value if isinstance(value, int) else memory_bytes(str(value))
        return n_bytes or self.fail(f"{value!r} is not a size such as 500kB or 10MB", parameter, context)


@click.command(
    cls=Verb,
    examples=(
        "ibidem serve out",
        "ibidem serve news.idx --port 8080",
    ),
)
@argument("folder", metavar="PATH", type=_PATH, about="Folder of results, or of an index.")
@option("--index", "index_folder", metavar="DIR", type=_PATH, group=INPUT, help="Index to check texts against.")
@option(
    "--documents", metavar="INPUT", multiple=True, group=INPUT, shell_complete=files,
    help="The documents, if they have moved (repeatable).",
)  # fmt: skip
@option("--arrivals", metavar="FILE", type=_PATH, group=INPUT, help="Answers of `ibidem watch` to follow.")
@listening_options(8765)
@option("--read-only", is_flag=True, help="Store no verdicts and add no documents.")
@option(
    "--max-upload", metavar="SIZE", type=SizeType(), default="10MB", shown_default="10MB",
    help="Largest text that may be uploaded.",
)  # fmt: skip
@option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
@option("-v", "--verbose", is_flag=True, is_common=False, help="Report every request.")
@quiet_option
def serve(
    folder: Path,
    index_folder: Path | None,
    documents: tuple[str, ...],
    arrivals: Path | None,
    host: str,
    port: int,
    token: str | None,
    read_only: bool,
    max_upload: int,
    open_browser: bool,
    verbose: bool,
    quiet: bool,
) -> None:
    """Show results or an index in a browser, and check texts against an index.

    Ctrl-C stops the server. Only this machine can reach it, unless --host says
    otherwise.
    \f

    The page shows pairs, passages side by side, families, and how text spread over time. With an index, it checks texts
    against it, and shows arriving documents, which can be added. Verdicts on pairs are stored beside the results.

    To let other machines in, use --host 0.0.0.0 with --token, on a network you trust or behind a server that encrypts. Put
    the token into the variable IBIDEM_TOKEN to keep it out of the list of processes. Everything the page shows is also
    available at /api/v1.
    """
    check_token(token)
    if token is not None:
        hide_argument(token)
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", "Give a folder that `ibidem find -o` wrote, or an index.")
    if arrivals is not None and not arrivals.exists() and not quiet:
        click.echo(f"ibidem: {arrivals} does not exist yet; it will be followed once it does", err=True)
    with loading_extra("serve", "web"):
        from ibidem.viewer.server.addresses import address_of, bind, is_local
        from ibidem.viewer.server.socket_server import make_server
    with loading_libraries():
        from ibidem.cli.display import open_display
        from ibidem.cli.index_access import tell_of_compiling
        from ibidem.viewer.server.security import Access
        from ibidem.viewer.server.served import open_served, warm_up

    if token is None and not is_local(host):
        raise UsageError(
            f"--host {host} makes this server reachable for others; without --token anyone could read and change everything",
            "Set a token with --token WORD, or leave out --host.",
        )
    with bind(host, port) as listening, ExitStack() as stack:
        options: dict[str, Any] = {"index_path": index_folder, "documents": documents, "arrivals": arrivals}
        if not quiet:
            click.echo(f"ibidem: opening {folder}", err=True)
        with open_display("auto", quiet) as display:
            served = stack.enter_context(open_served(folder, may_write=not read_only, progress=display, **options))
        if not quiet:
            for line in served.problems():
                click.echo(f"ibidem: {line}", err=True)
        if served.index is not None:
            tell_of_compiling("serve", quiet)
            warm_up(served.index)
        plain = address_of(listening)
        address = plain + (f"?token={quote(token, safe='')}" if token else "")
        server = make_server(served, Access(host, token, max_upload), verbose)
        # Signals are how a server is meant to end: the answers under way are given, and that is all. It listens to them
        # before it says that it serves; what it still loads after that would postpone the usual interruption for good.
        leave_alone()
        for number in SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, server.handle_exit)
        if not quiet:
            # A terminal is read by who started this; a file may be a log that others read.
            shown = address if sys.stderr.isatty() else plain
            how = "" if shown == address else "; open it with ?token= and the token"
            click.echo(f"ibidem: serving {folder} at {shown}  (Ctrl-C to stop{how})", err=True)
        if open_browser:
            click.launch(stack.enter_context(page_that_leads_to(address)) if token else address)
        speak("python")  # requests name settings as Python does
        server.run([listening])


def check_token(token: str | None) -> None:
    """Raise for a token that is easily guessed, or cannot be sent."""
    if token is not None and (len(token) < _LEAST_TOKEN_CHARS or not all("!" <= letter <= "~" for letter in token)):
        raise UsageError(
            f"--token must have at least {_LEAST_TOKEN_CHARS} characters: letters, digits and signs, no spaces",
            "To make a good one: python -c 'import secrets; print(secrets.token_urlsafe())'",
        )


def hide_argument(word: str) -> None:
    """Overwrite a word in the command line of this process, which everybody on the machine can list. Works on Linux only."""
    with suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        begin, end = int(fields[_ARGUMENTS_BEGIN]), int(fields[_ARGUMENTS_END])
        if not 0 < begin < end:
            return
        memory, secret = (ctypes.c_char * (end - begin)).from_address(begin), os.fsencode(word)
        place = memory.raw.find(secret)
        while secret and place >= 0:
            ctypes.memset(begin + place, ord("*"), len(secret))
            place = memory.raw.find(secret, place + len(secret))


@contextmanager
def page_that_leads_to(address: str) -> Iterator[str]:
    """Write a page that only this user can read and that leads to an address; yield its path. It is removed afterwards."""
    descriptor, path = tempfile.mkstemp(prefix="ibidem-", suffix=".html")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            target = html.escape(address)
            file.write('<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">')
            file.write(f'<meta http-equiv="refresh" content="0; url={target}"><a href="{target}">ibidem</a>\n')
        yield path
    finally:
        with suppress(OSError):
            os.unlink(path)
