"""Watching a stream: each document is looked up among everything before it, answered, and added."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ibidem.columns.collection import Collection
from ibidem.config import Config
from ibidem.config.quantities import commit_rhythm
from ibidem.config.surface import given
from ibidem.execution.tasks import RunTasks
from ibidem.formats.jobs import SkippedRecords
from ibidem.formats.records import missing_field, surrogate_in
from ibidem.index.answers import QueryResult, Verdict, answer
from ibidem.index.arrivals import Arrivals
from ibidem.index.comparison import TooManyMatchesError
from ibidem.index.segment import SegmentSettings
from ibidem.index.writer import Writer
from ibidem.model import Document, Skipped

MOST_TOGETHER = 1024
_END = object()
_STEP_SECONDS = 0.2


@dataclass(frozen=True)
class Arrival:
    """What a document of the stream shares with everything before it; `skipped` says why it was left out, if so.

    `same_text_as` is the id of the first document in the index with the same whole text, if there is one.
    """

    id: str
    verdict: Verdict | None
    n_passages: int = 0
    skipped: Skipped | None = None
    same_text_as: str | None = None
    _list_passages: Callable[[], list[dict[str, Any]]] = field(default=list, repr=False, compare=False)

    @property
    def passages(self) -> list[dict[str, Any]]:
        """The passages as records; made on first use."""
        return self._list_passages()


class Watcher:
    """Answers the documents of a stream and adds them; commits as often as the settings say, and at the end."""

    def __init__(
        self,
        writer: Writer,
        collect: Callable[[list[Any], SkippedRecords], Collection],
        settings: SegmentSettings,
        config: Config,
        replace: bool,
        run_tasks: RunTasks,
    ) -> None:
        self._writer, self._collect, self._settings, self._config = writer, collect, settings, config
        self._replace, self._run_tasks = replace, run_tasks
        self._n_seen = 0
        self._is_sound = True

    def watch(self, documents: Iterable[Any]) -> Iterator[Arrival]:
        """Yield an answer for each document, in order. A document whose answer is not taken is not added."""
        rhythm = commit_rhythm(self._config.index.commit_every)
        assert rhythm is not None
        max_documents, max_seconds = rhythm
        last_commit = time.monotonic()

        def room() -> int:
            """Return how many documents may still come before a commit is due."""
            n_left = min(max_documents - self._writer.n_waiting_documents, self._writer.n_before_counting)
            return max(1, n_left)

        def commit_if_due() -> None:
            nonlocal last_commit
            is_full = self._writer.n_waiting_documents >= max_documents or self._writer.n_before_counting <= 0
            if is_full or time.monotonic() - last_commit >= max_seconds:
                self._writer.commit()
                last_commit = time.monotonic()

        try:
            with closing(_batches(documents, lambda: last_commit + max_seconds - time.monotonic(), room)) as batches:
                for waiting in batches:
                    while waiting:
                        together, waiting = self._take(waiting, room())
                        try:
                            yield from self._answer(together)
                        except TooManyMatchesError:  # among each other: raised before anything was added or answered
                            for item in together:
                                yield from self._answer([item])
                        commit_if_due()
                    commit_if_due()  # perhaps nothing has arrived for a while
        finally:
            if self._is_sound:
                self._writer.commit()

    def _take(self, waiting: list[Any], most: int) -> tuple[list[Any], list[Any]]:
        """Take what can be answered together: no id twice, and nothing after a document that replaces another."""
        waiting, later = waiting[:most], waiting[most:]
        names = [self._id_of(item) for item in waiting]
        known = self._writer.serials_of([name for name in names if name is not None]) if self._replace else {}
        seen: set[str] = set()
        for number, name in enumerate(names):
            if name in seen:
                return waiting[:number], waiting[number:] + later
            if name in known:
                return waiting[: number + 1], waiting[number + 1 :] + later
            if name is not None:
                seen.add(name)
        return waiting, later

    def _id_of(self, item: Any) -> str | None:
        """Return the id of a record; None if there is none, or if it cannot be encoded."""
        if isinstance(item, Document):
            value: Any = item.id
        else:
            value = item.get(self._config.documents.id_field) if hasattr(item, "get") else None
        return None if value is None or surrogate_in(str(value)) is not None else str(value)

    def _without_id(self, item: Any) -> str:
        """Return the reason for a record that has no usable id, and what to do."""
        name = self._config.documents.id_field
        value = item.id if isinstance(item, Document) else item.get(name) if hasattr(item, "get") else None
        if value is not None:
            return f"field '{name}' {'cannot be encoded' if str(value) else 'is empty'}; an index needs ids"
        fields = item.keys() if hasattr(item, "keys") else ()
        return f"{missing_field(name, fields)}. Name the id field with {given('id_field', 'NAME')}."

    def _answer(self, together: list[Any]) -> Iterator[Arrival]:
        """Answer documents and add them; for those that cannot be used, the answer is the reason."""
        skipped = SkippedRecords(self._config.output.strict)
        known = {} if self._replace else self._writer.serials_of([name for name in map(self._id_of, together) if name])
        wanted, refused = [], {}
        places: list[int] = []
        for number, item in enumerate(together):
            name = self._id_of(item)
            position = self._n_seen + number + 1
            if isinstance(item, Skipped):
                refused[number] = item
            elif not name:
                refused[number] = Skipped("stream", position, self._without_id(item))
            elif name in known:
                reason = f"the index already contains a document with this id; {given('replace', True)} replaces it"
                refused[number] = Skipped("stream", position, reason, name)
            else:
                wanted.append(item)
                places.append(number)
        for record in refused.values():
            skipped.add(record)
        collection = self._collect(wanted, skipped)
        refused |= {places[record.position - 1]: record for record in skipped.records[len(refused) :]}
        result, same_texts = self._add(collection) if collection.n_documents else (None, {})
        number_of = {name: number for number, name in enumerate(result.ids)} if result is not None else {}
        answered = 0
        try:
            for number, item in enumerate(together):
                name = self._id_of(item) or ""
                answered = number  # while it is handed over: the caller may go away
                if number in refused:
                    reason = refused[number].reason
                    yield Arrival(name, None, skipped=Skipped("stream", self._n_seen + number + 1, reason, name or None))
                elif result is not None:
                    at = number_of[name]
                    passages = partial(result.passages_of, at)
                    yield Arrival(name, result.verdicts[at], result.n_passages_of(at), None, same_texts.get(name), passages)
        except GeneratorExit:
            self._writer.retract([self._id_of(item) or "" for item in together[answered + 1 :]])
            raise
        self._n_seen += len(together)

    def _add(self, collection: Collection) -> tuple[QueryResult, dict[str, str]]:
        writer, ids = self._writer, collection.ids.to_pylist()
        arrivals = Arrivals(collection, self._run_tasks)
        serials = np.arange(writer.next_serial, writer.next_serial + len(ids))
        own = writer.build(arrivals, serials)
        known = writer.serials_of(ids)
        result = answer(arrivals, writer.parts(), own, known, writer.counts, self._settings, self._config, (), self._run_tasks)
        # Only now, when little can go wrong: a commit must not name documents without a segment.
        self._is_sound = False
        writer.claim(ids, self._replace)
        same_texts = writer.same_texts(own)
        writer.wait(own)
        self._is_sound = True
        return result, same_texts


def _batches(
    documents: Iterable[Any], seconds_left: Callable[[], float], room: Callable[[], int]
) -> Generator[list[Any], None, None]:
    """Yield everything that has arrived, up to the `room` before a commit: what is answered together is one segment, which is
    then committed as it is. An empty list if nothing arrives within `seconds_left`.

    A list is simply cut into pieces. Anything else is read in a separate thread, somewhat ahead, because it may block.
    """
    if isinstance(documents, Sequence):
        begin = 0
        while begin < len(documents):
            end = begin + min(MOST_TOGETHER, room())
            yield list(documents[begin:end])
            begin = end
        return
    arrived: queue.Queue[Any] = queue.Queue(MOST_TOGETHER)
    is_over = threading.Event()

    def put(item: Any) -> bool:
        while not is_over.is_set():
            with suppress(queue.Full):
                arrived.put(item, timeout=_STEP_SECONDS)
                return True
        return False

    def draw() -> None:
        try:
            if all(put(item) for item in documents):
                put(_END)
        except BaseException as error:
            put(error)

    threading.Thread(target=draw, name="ibidem-watch", daemon=True).start()
    try:
        while True:
            batch: list[Any] = []
            with suppress(queue.Empty):
                left = seconds_left()
                batch.append(arrived.get(timeout=max(left, 0.0) if left < threading.TIMEOUT_MAX else None))
                most = min(MOST_TOGETHER, room())
                while len(batch) < most and batch[-1] is not _END and not isinstance(batch[-1], BaseException):
                    batch.append(arrived.get_nowait())
            last = batch[-1] if batch else None
            if last is _END or isinstance(last, BaseException):
                batch.pop()
            yield batch
            if last is _END:
                return
            if isinstance(last, BaseException):
                raise last
    finally:
        is_over.set()
