"""What reading consists of: jobs that run in parallel, their outcomes in order, and the skipped records.

A reader yields *jobs*: calls that need no more input and return an `Outcome`. Reading stays in order, jobs run in parallel, and
nothing that a job finds is reported to the caller before its turn.
"""

from __future__ import annotations

import queue
import re
import threading
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ibidem.config.surface import given, named
from ibidem.errors import SkippedRecordsError
from ibidem.formats.file_access import is_unknown_kind
from ibidem.formats.inputs import REPEATED
from ibidem.formats.registry import FORMATS
from ibidem.formats.times import ACCEPTED
from ibidem.model import Skipped

MIN_HEAVY_BYTES = 64 << 20
N_WORKERS = 2
MAX_JOBS_AHEAD = 4
MAX_WAIT_SECONDS = 2
TIMES, WITHOUT_ROW, UNUSED, ENCODING, UNMATCHED = "times", "without row", "unused", "encoding", "unmatched"
_DAY_OR_MONTH = re.compile(r"'(0?[1-9]|1[0-2])([/.-])(0?[1-9]|1[0-2])\2\d{2,4}\b")


@dataclass(frozen=True)
class ReadingRemark:
    """Something to tell about the inputs: how many times, and the first of them.

    Its kind is TIMES, for those that cannot be parsed; ENCODING, for files in the encoding that `all` names; WITHOUT_ROW, for
    documents that the metadata do not mention; UNMATCHED, for those whose path does not have what the setting in `all` looks
    for; or UNUSED, for rows of the metadata about no document, which `all` lists: they may be about documents of the other
    side.
    """

    count: int
    first: str
    kind: str = TIMES
    all: tuple[str, ...] = ()


def reading_notices(unread: Sequence[ReadingRemark]) -> list[str]:
    """Say what there is to tell about the inputs, each with the first of its kind; an empty list if there is nothing."""
    without = [each for each in unread if each.kind == WITHOUT_ROW]
    unused = [each.all for each in unread if each.kind == UNUSED]
    notices = []
    if without:
        count = sum(each.count for each in without)
        what = f"{count:,} documents have" if count > 1 else "1 document has"
        notices.append(f"{what} no row in the metadata, such as {without[0].first}")
    if unused and (left := [key for key in unused[0] if all(key in others for others in unused[1:])]):
        what = f"{len(left):,} rows of the metadata are" if len(left) > 1 else "1 row of the metadata is"
        notices.append(f"{what} for documents that were not read, such as {left[0]:.80}")
    for name in sorted({each.all[0] for each in unread if each.kind == UNMATCHED}):
        unmatched = [each for each in unread if each.kind == UNMATCHED and each.all == (name,)]
        count = sum(each.count for each in unmatched)
        what = f"{count:,} documents have paths" if count > 1 else "1 document has a path"
        notices.append(f"{what} that {named(name)} does not match, such as {unmatched[0].first}")
    encodings = Counter(name for each in unread if each.kind == ENCODING for name in each.all)
    if encodings:
        first = next(each.first for each in unread if each.kind == ENCODING)
        what = "1 file is" if encodings.total() == 1 else f"{encodings.total():,} files are"
        how = ", ".join(f"{name} ({count:,})" for name, count in encodings.most_common())
        notices.append(f"{what} not UTF-8; detected: {how}, such as {first}")
    return [*_time_notices([each for each in unread if each.kind == TIMES]), *notices]


def _time_notices(unread: Sequence[ReadingRemark]) -> list[str]:
    if not unread:
        return []
    count = sum(each.count for each in unread)
    ignored = (
        "timestamp could not be parsed and was ignored" if count == 1 else "timestamps could not be parsed and were ignored"
    )
    first = unread[0].first
    if _DAY_OR_MONTH.match(first):
        help_with_it = f"{given('date_format', 'day-first')} or month-first says which number is the day"
    else:
        help_with_it = f"accepted: {ACCEPTED}; {named('date_format')} sets another form"
    return [f"{count:,} {ignored}, such as {first}; {help_with_it}"]


@dataclass
class Outcome:
    """What a job found: batches in reading order, the records left out, and the raw bytes that went into it."""

    batches: list[Any] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    n_bytes: int = 0
    others: list[dict[str, Any]] | None = None
    remarks: list[ReadingRemark] = field(default_factory=list)


Job = Callable[[], Outcome]


@dataclass(frozen=True)
class HeavyJob:
    """A job that takes so much memory that nothing should be read beside it."""

    job: Job

    def __call__(self) -> Outcome:
        """Do the job."""
        return self.job()


def weighed(job: Job, n_bytes: int) -> Job:
    """Return a job that takes this many bytes, as a heavy one if they are many."""
    return HeavyJob(job) if n_bytes >= MIN_HEAVY_BYTES else job


def skip_source(source: str, reason: str, n_bytes: int = 0) -> Outcome:
    """Return the outcome of a source that cannot be read, or not to its end."""
    return Outcome(skipped=[Skipped(source, 0, reason)], n_bytes=n_bytes)


def run_jobs(jobs: Iterator[Job]) -> Iterator[Outcome]:
    """Yield the outcomes of jobs in order; a separate thread reads `jobs`, only a few ahead.

    After a heavy job, nothing is read until its outcome was taken.

    What `jobs` or a job raises is raised here, in its turn. Closing this generator ends the threads.
    """
    room = threading.Semaphore(MAX_JOBS_AHEAD)
    futures: queue.SimpleQueue[tuple[Future[Outcome], bool] | BaseException | None] = queue.SimpleQueue()
    heavy_taken = threading.Event()
    closed = threading.Event()
    with ThreadPoolExecutor(N_WORKERS, thread_name_prefix="ibidem-read") as pool:

        def draw_jobs() -> None:
            try:
                while room.acquire() and not closed.is_set():
                    job = next(jobs, None)
                    if job is None:
                        break
                    is_heavy = isinstance(job, HeavyJob)
                    futures.put((pool.submit(job), is_heavy))
                    del job
                    if is_heavy:
                        heavy_taken.wait()
                        heavy_taken.clear()
                futures.put(None)
            except BaseException as error:
                futures.put(error)

        feeder = threading.Thread(target=draw_jobs, name="ibidem-feed", daemon=True)
        feeder.start()
        try:
            while (drawn := futures.get()) is not None:
                if isinstance(drawn, BaseException):
                    raise drawn
                future, is_heavy = drawn
                outcome = future.result()
                room.release()
                yield outcome
                del drawn, future, outcome
                if is_heavy:
                    heavy_taken.set()
        finally:
            closed.set()
            room.release()
            heavy_taken.set()
            # Not for ever: it may wait for input that never comes.
            feeder.join(MAX_WAIT_SECONDS)


class SkippedRecords:
    """Collects the skipped records for the user; in strict mode, the first one is an error."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.records: list[Skipped] = []

    def add(self, record: Skipped) -> None:
        """Keep a record."""
        if self.strict:
            what = "Give it once" if record.reason == REPEATED else f"Fix the {'record' if record.position else 'file'}"
            raise SkippedRecordsError(
                f"{_place(record)}: {record.reason}", f"{what}, or run without {given('strict', True)} to skip it."
            )
        self.records.append(record)

    def explain(self, names: Container[str] | None = None) -> str:
        """Explain why there is nothing to work on, and what to do; with `names`, only from these sources."""
        records = [record for record in self.records if names is None or record.source in names]
        if not records:
            return _known_formats()
        first, count = records[0], len(records)
        what = "file" if all(record.position == 0 for record in records) else "record"
        those = f"{count:,} {what}s skipped; the first, " if count > 1 else f"1 {what} skipped: "
        text = f"{those}{_place(first)}: {first.reason}."
        if all(is_unknown_kind(record.reason) for record in records):
            return f"{text} {_known_formats()}"
        return text + (
            f" If the text is in another field, name it with {given('text_field', 'NAME')}."
            if "no field" in first.reason
            else ""
        )


def _known_formats() -> str:
    known = ", ".join(extension[1:] for kind in FORMATS.values() for extension in kind.extensions)
    return f"Known formats: {known}, each also .gz or .zst."


def _place(record: Skipped) -> str:
    return f"{record.source}:{record.position}" if record.position else record.source
