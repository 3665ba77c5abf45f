"""`ibidem mcp`: an index as tools for agents."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

import click

from ibidem.cli.commands import Verb, option
from ibidem.cli.libraries import loading_extra, loading_libraries
from ibidem.cli.options import check_no_listening, index_argument, listening_options, quiet_option
from ibidem.cli.serve import check_token, hide_argument
from ibidem.cli.signals import SIGNALS, leave_alone
from ibidem.errors import UsageError


@click.command(
    cls=Verb,
    examples=(
        "ibidem mcp news.idx",
        "ibidem mcp news.idx --http --port 8766",
    ),
)
@index_argument
@option("--allow-add", is_flag=True, help="Let agents add documents.")
@option("--http", "use_http", is_flag=True, help="Serve over HTTP, at /mcp, instead of standard input and output.")
@listening_options(8766)
@option(
    "--max-chars", metavar="N", type=click.IntRange(1, 100_000_000), default=200_000, shown_default="200000",
    help="Longest text that a tool takes, in characters.",
)  # fmt: skip
@option(
    "--max-answers", metavar="N", type=click.IntRange(1, 1000), default=20, shown_default="20",
    help="List at most N passages or sources per call.",
)  # fmt: skip
@option(
    "--max-seconds", metavar="N", type=click.FloatRange(0.001, 3600), default=30.0, shown_default="30",
    help="Answer with an error if a call takes longer.",
)  # fmt: skip
@quiet_option
def mcp(
    folder: Path,
    allow_add: bool,
    use_http: bool,
    host: str,
    port: int,
    token: str | None,
    max_chars: int,
    max_answers: int,
    max_seconds: float,
    quiet: bool,
) -> None:
    """Offer an index to agents as tools of the Model Context Protocol.

    Tools: check_text, find_passages, verify_quotation and compare_texts; with
    --allow-add also add_document.
    \f

    Without --http, the client starts this command and talks to it over standard input and output; messages go to standard
    error. Nothing is changed without --allow-add.
    """
    check_token(token)
    if token is not None:
        hide_argument(token)
    with loading_extra("mcp", "mcp"):
        import anyio

        from ibidem.agents.http_service import http_service, run_on
        from ibidem.agents.mcp_server import Limits, mcp_server, warm_up
    with loading_libraries():
        from ibidem.cli.index_access import open_index, tell_of_compiling
        from ibidem.viewer.server.addresses import address_of, bind, is_local

    if not use_http:
        check_no_listening("--http")
    if use_http and token is None and not is_local(host):
        raise UsageError(
            f"--host {host} lets other machines reach this server; without --token, anyone could use it",
            "Set a token with --token WORD, or leave out --host.",
        )
    with ExitStack() as stack:
        index = stack.enter_context(open_index(folder, {"workers": 1}))  # calls already share the cores
        listening = stack.enter_context(bind(host, port)) if use_http else None
        tell_of_compiling("serve", quiet)
        warm_up(index)
        server = mcp_server(index, Limits(max_chars, max_answers, max_seconds), allow_add)
        leave_alone()
        if listening is None:
            _end_by(_leave)
            anyio.run(server.run_stdio_async)
            return
        service = http_service(server, host, token, max_chars)
        _end_by(service.handle_exit)
        if not quiet:
            click.echo(f"ibidem: serving {folder} at {address_of(listening)}mcp  (Ctrl-C to stop)", err=True)
        run_on(service, listening)


def _end_by(end: Callable[[int, FrameType | None], None]) -> None:
    """Let signals end the program, except those that are ignored."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)


def _leave(number: int, frame: FrameType | None) -> None:
    """End at once: a thread waits for the next line, and nothing can interrupt it. A commit under way is whole or undone."""
    os._exit(128 + number)
