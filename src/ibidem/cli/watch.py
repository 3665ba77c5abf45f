"""`ibidem watch`: documents answered as they arrive, and added to an index."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import click

from ibidem.cli.commands import Verb, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import (
    FIRST_SETTINGS,
    given_settings,
    index_argument,
    max_places_option,
    memory_option,
    quiet_option,
    setting_options,
    signature_option,
    source_words_option,
)
from ibidem.cli.signals import SIGNALS, note
from ibidem.config.document_settings import DOCUMENT_FACTS
from ibidem.config.settings import INPUT, REPORTED_LIMITS
from ibidem.errors import SkippedRecordsError


@click.command(
    cls=Verb,
    examples=(
        "ibidem watch news.idx < today.jsonl > answers.jsonl",
        "ibidem watch news.idx --min-hits 5 --commit-every 100,5s < today.jsonl",
    ),
)
@index_argument
@option("--replace", is_flag=True, group=INPUT, help="Replace documents whose id is already in the index.")
@signature_option
@memory_option
@source_words_option
@max_places_option
@setting_options(
    "documents", "passages", "alignment", "index",
    without=(
        "encoding", "query", "max_places", "runs", "min_run_words", "families", "summaries", *REPORTED_LIMITS,
        *DOCUMENT_FACTS,
    ),
    also=(*FIRST_SETTINGS, "ignore", "as_paper", "paper", "workers", "strict"),
)  # fmt: skip
@quiet_option
def watch(folder: Path, replace: bool, config_file: str | None, quiet: bool, **flags: Any) -> None:
    """Check documents as they arrive, and add each one to an index.

    Reads JSON documents, one per line with an id; writes one answer per line.
    \f

    An answer says whether the document is duplicated, names the documents it shares most sentences with, and lists the
    passages it shares with everything before it. Passages include the words of both sides if the index keeps its texts;
    --no-keep-text leaves them out. If a record cannot be used, the answer gives the reason ("skipped"). The
    index is created if there is none. Documents are safe on disk after the next commit (--commit-every), and in any case
    when the stream ends or the run is interrupted (Ctrl-C).

    To follow a file that grows: tail -f feed.jsonl | ibidem watch news.idx
    """
    settings = given_settings(config_file, flags)
    with_texts = bool(settings.get("keep_text", True))
    strict = bool(settings.pop("strict", False))  # here: what was read before the record is answered and kept
    if sys.stdin is None:
        raise click.UsageError("standard input is closed; pipe in documents as JSON lines")
    with loading_libraries():
        from ibidem.cli.index_access import open_index, tell_of_compiling, tell_of_radius
        from ibidem.cli.index_answers import arrival_line, same_texts_lines
        from ibidem.cli.screen import say
        from ibidem.formats.jsonl_files import arriving_records
        from ibidem.model import Skipped
        from ibidem.results.summary import many

    stopped = threading.Event()
    line_numbers: deque[int] = deque()
    unusable: Skipped | None = None
    n_documents = n_duplicated = n_skipped = 0
    same_texts: dict[str, str] = {}

    def records() -> Iterator[dict[str, Any] | Skipped]:
        for number, record in arriving_records(sys.stdin.fileno(), stopped):
            line_numbers.append(number)
            yield record
            if strict and isinstance(record, Skipped):
                return

    with _signals_to(stopped) as interrupted, open_index(folder, settings, create=True) as index:
        tell_of_compiling("watch", quiet, index.config)
        tell_of_radius(index, quiet)
        if sys.stdin.isatty() and not quiet:
            say(["ibidem: waiting for documents on standard input, one JSON object per line; end with Ctrl-D"])
        begin = time.perf_counter()
        answers = index.watch(records(), replace=replace)
        with closing(answers) as arrivals:
            for arrival in arrivals:
                line = line_numbers.popleft()
                click.echo(arrival_line(arrival, line, with_texts))  # it flushes: a reader sees the answer at once
                if arrival.verdict is not None:
                    n_documents += 1
                    n_duplicated += arrival.verdict.duplicated
                    if arrival.same_text_as is not None:
                        same_texts[arrival.id] = arrival.same_text_as
                    continue
                n_skipped += 1
                reason = arrival.skipped.reason if arrival.skipped else ""
                if strict and unusable is None:
                    unusable = Skipped("stdin", line, reason)
                    stopped.set()
                elif not quiet:
                    say([f"ibidem: line {line}: {reason}"])
        seconds = time.perf_counter() - begin
        min_hits, paper = index.config.index.min_hits, index.config.signatures.paper
    if not quiet:
        rule = f"duplicated (above --min-hits {min_hits})" if paper else f"duplicated (--min-hits {min_hits})"
        rate = f"{many(round(n_documents / max(seconds, 1e-9)), 'document')} per second"
        skipped = f", {many(n_skipped, 'record')} skipped" if n_skipped else ""
        say([f"{many(n_documents, 'document')} added, {n_duplicated:,} {rule}{skipped}, {rate}", *same_texts_lines(same_texts)])
    if unusable is not None:
        message = f"line {unusable.position}: {unusable.reason}"
        raise SkippedRecordsError(
            message, "Fix the record, or run without --strict to skip it. Documents already answered have been added."
        )
    if interrupted.is_set():
        raise click.Abort


@contextmanager
def _signals_to(stopped: threading.Event) -> Iterator[threading.Event]:
    """Let the first signal to end set the event, and the event that is yielded; a second one ends the process at once."""
    interrupted = threading.Event()
    previous = {number: signal.getsignal(number) for number in SIGNALS}

    def stop(number: int, frame: object) -> None:
        note(number)
        interrupted.set()
        stopped.set()
        for each in previous:
            signal.signal(each, signal.SIG_DFL)

    for number in previous:
        signal.signal(number, stop)
    try:
        yield interrupted
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
