"""One run of a verb, in memory, on disk or on Spark: its inputs and settings, what it reads, and what it records."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, Generic, TypeVar

import pyarrow as pa

from ibidem.config import Config, DocumentsConfig
from ibidem.config.document_settings import about_reference, reference_fields
from ibidem.errors import InputError, NoDocumentsError, NoValueError
from ibidem.execution.checks import EmptySideError, NoTimesError
from ibidem.execution.disk_limit import DiskBudget, disk_budget
from ibidem.execution.flow import AnyFlow, InMemory, Source, Stream
from ibidem.execution.progress import Progress
from ibidem.execution.threads import Threads
from ibidem.formats import describe_inputs, input_size, read_batches
from ibidem.formats.byte_streams import STDIN
from ibidem.formats.inputs import given_names, resolve_inputs, source_names, without_iterators
from ibidem.formats.jobs import TIMES, ReadingRemark, SkippedRecords, reading_notices
from ibidem.formats.known_fields import fields_seen
from ibidem.formats.sources import FileSource, FileState, file_states

TableT_co = TypeVar("TableT_co", covariant=True)
AnyRun = TypeVar("AnyRun", bound="Run[Any]")


class OutgrownError(Exception):
    """There is more text than fits a run in memory."""


class Run(Generic[TableT_co]):
    """What every run has, wherever it works. Use it in a with block; `flow` is set once the inputs have been read."""

    flow: AnyFlow

    def __init__(self, inputs: Any, against: Any, config: Config, progress: Progress) -> None:
        self.inputs = inputs
        self.against = against
        self.config = config
        self.progress = progress
        self.skipped = SkippedRecords(config.output.strict)

    def __enter__(self: AnyRun) -> AnyRun:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, EmptySideError):
            side = self.against if error.is_reference else self.inputs
            named = f": {names}" if (names := given_names(side)) else ""
            raise NoDocumentsError(error.message + named, self._explain_skipped(side)) from error
        if isinstance(error, NoTimesError) and (first := self._first_unread_time()):
            raise InputError(
                f"no time in the field '{error.name}' could be parsed, such as {first}", error.next_step
            ) from error
        if isinstance(error, NoValueError) and (fields := self._fields_seen()):
            raise NoValueError(error.message + fields, error.next_step) from error

    def read(self, fields: DocumentsConfig, to_copy: bool = False) -> Source:
        """Return the documents for the first stage. `to_copy`: the inputs will be read again, for a cleaned copy."""
        raise NotImplementedError

    def facts(self) -> dict[str, Any]:
        """Return what every result records about its run."""
        raise NotImplementedError

    def _explain_skipped(self, side: Any) -> str:
        if not self.skipped.records and not given_names(side):
            return "Pass at least one document. A generator can be read only once."
        return self.skipped.explain(None if self.against is None else source_names(side))

    def _fields_seen(self) -> str:
        """Return which fields the inputs have, to be added to a message."""
        return fields_seen(self.inputs, self.config.documents.encoding)

    def _first_unread_time(self) -> str | None:
        """Return a time that could not be parsed, and where it is."""
        return None


class LocalRun(Run[pa.Table]):
    """A run on this machine, which reads its inputs itself.

    `states` are the states of files to be copied, taken before they were read.
    """

    def __init__(self, inputs: Any, against: Any, config: Config, progress: Progress) -> None:
        super().__init__(inputs, against, config, progress)
        self.states: dict[str, FileState] = {}
        self._remarks: list[ReadingRemark] = []

    def facts(self) -> dict[str, Any]:
        """Return what every result records about its run."""
        reference = [] if self.against is None else describe_inputs(self.against, is_reference=True)
        return {
            "skipped": self.skipped.records,
            "config": self.config,
            "inputs": describe_inputs(self.inputs) + reference,
            "counts": self.progress.counts,
            "timings": self.progress.timings,
            "notices": reading_notices(self._remarks),
            "resources": self.progress.resources,
        }

    def _first_unread_time(self) -> str | None:
        return next((remark.first for remark in self._remarks if remark.kind == TIMES), None)

    def _note_states(self) -> None:
        self.states = file_states(resolve_inputs(without_iterators(self.inputs)))

    def _n_bytes(self) -> int | None:
        return _size_of(self.inputs, self.against)

    def _stream(self, fields: DocumentsConfig) -> Stream:
        tell = self.skipped.add, self.progress.add_bytes, self._remarks.append
        reference = iter(()) if self.against is None else self._read_reference(fields, *tell)
        return Stream(read_batches(self.inputs, fields, *tell), reference, self._n_bytes())

    def _read_reference(self, fields: DocumentsConfig, *tell: Any) -> Iterator[pa.RecordBatch]:
        try:
            yield from read_batches(self.against, reference_fields(fields, self.config.reference), *tell)
        except InputError as error:
            raise about_reference(error, self.config.reference) from error


class MemoryRun(LocalRun):
    """A run whose collection is in memory. More text than `most_text_bytes` raises OutgrownError."""

    flow: InMemory

    def __init__(
        self, inputs: Any, against: Any, config: Config, progress: Progress, most_text_bytes: int = sys.maxsize
    ) -> None:
        super().__init__(inputs, against, config, progress)
        self._most_text_bytes = most_text_bytes
        self._n_text_bytes = 0
        self._threads = Threads(config.engine.workers)
        folder = config.engine.tmp_folder or tempfile.gettempdir()
        # Not a method: a reference from the flow back to the run would keep the inputs in memory until Python collects cycles.
        disk = partial(disk_of_run, inputs, against, config, folder)
        self.flow = InMemory(self._threads.run_tasks, against is not None, disk, self._threads.run_aside)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._threads.close()
        super().__exit__(kind, error, trace)

    def read(self, fields: DocumentsConfig, to_copy: bool = False) -> Stream:
        """Return the documents as a stream, read while the first stage works on them."""
        if to_copy:
            self._note_states()
        stream = self._stream(fields)
        return replace(stream, batches=self._counted(stream.batches), reference=self._counted(stream.reference))

    def _counted(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            self._n_text_bytes += batch.column("text").nbytes
            if self._n_text_bytes > self._most_text_bytes:
                raise OutgrownError
            yield batch


def disk_of_run(inputs: Any, against: Any, config: Config, folder: str) -> DiskBudget:
    """Return the disk budget of a run for temporary files. Stored standard input counts."""
    budget = disk_budget(config.engine.max_disk, folder, _size_of(inputs, against))
    for source in resolve_inputs(without_iterators(inputs)):
        if isinstance(source, FileSource) and source.name == STDIN and source.stored is not None:
            budget.take("standard input", source.n_bytes or 0)
    return budget


def _size_of(inputs: Any, against: Any) -> int | None:
    return input_size([inputs] if against is None else [inputs, against])
