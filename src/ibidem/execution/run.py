"""One run of a verb: its inputs, settings and engine, and what it keeps track of."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from functools import cached_property
from types import TracebackType
from typing import Any, TypeVar

import pyarrow as pa

from ibidem.columns.collection import Collection, gather
from ibidem.columns.hashes import is_secret
from ibidem.columns.shingled import ShingledDocuments, gather_shingles
from ibidem.config import Config, DocumentsConfig
from ibidem.execution.checks import check_documents
from ibidem.execution.disk_limit import DiskBudget, disk_budget
from ibidem.execution.progress import Progress
from ibidem.execution.threads import Threads
from ibidem.formats import describe_inputs, input_size, read_batches
from ibidem.formats.byte_streams import STDIN
from ibidem.formats.inputs import resolve_inputs, unknown_kinds_notice, without_iterators
from ibidem.formats.jobs import SkippedRecords, UnreadTimes
from ibidem.formats.sources import FileSource
from ibidem.sentences.equal_digests import settle_sentences

AnyRun = TypeVar("AnyRun", bound="Run")


class OutgrownError(Exception):
    """There is more text than a run in memory may hold."""


class Run:
    """Reads the inputs (and the reference, `against`) and says what a result keeps of it all. Used in a with block.

    More text than `most_text_bytes` is an OutgrownError.
    """

    def __init__(self, inputs: Any, against: Any, config: Config, progress: Progress) -> None:
        self.inputs = inputs
        self.against = against
        self.config = config
        self.progress = progress
        self.skipped = SkippedRecords(config.output.strict)
        self.most_text_bytes = sys.maxsize
        self._n_text_bytes = 0
        self._unread_times: list[UnreadTimes] = []
        self._engine = Threads(config.engine.workers)
        self.run_tasks = self._engine.run_tasks

    def __enter__(self: AnyRun) -> AnyRun:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._engine.__exit__(kind, error, trace)

    @cached_property
    def disk(self) -> DiskBudget:
        """What the run may use of the disk for temporary files. Standard input that was stored to be read twice counts."""
        budget = disk_budget(self.config.engine.max_disk, self._tmp_folder(), self._n_bytes())
        for source in resolve_inputs(without_iterators(self.inputs)):
            if isinstance(source, FileSource) and source.name == STDIN and source.stored is not None:
                budget.take("standard input", source.n_bytes or 0)
        return budget

    def _tmp_folder(self) -> str:
        """Return where temporary files go."""
        return self.config.engine.tmp_folder or tempfile.gettempdir()

    def read_sentences(self, fields: DocumentsConfig, unique_ids: bool, settle: bool | None = None) -> Collection:
        """Read all documents, and split them into sentences.

        With `settle` equal digests mean equal sentences; None: if somebody may know the seed.
        """
        with self.progress.stage("sentences", self._n_bytes()):
            batches, reference = self._batches(fields)
            collection = gather(batches, reference, self.config.sentences, self.run_tasks, self.progress.add_documents)
            if not is_secret(self.config.sentences.hash_seed) if settle is None else settle:
                collection = settle_sentences(collection, self.run_tasks)
            check_documents(collection, self.against is not None, self.skipped, unique_ids)
        return collection

    def read_shingles(
        self, fields: DocumentsConfig, unique_ids: bool, max_documents: int = 0, removing: bool = False
    ) -> ShingledDocuments:
        """Read all documents (or the first `max_documents`), and keep what they are known by as wholes."""
        with self.progress.stage("shingles", self._n_bytes()):
            batches, reference = self._batches(fields)
            if max_documents:
                batches = _first_rows(batches, max_documents)
            on_batch = self.progress.add_documents
            documents = gather_shingles(batches, reference, self.config, self.run_tasks, on_batch, self.disk, removing)
            self.progress.use(**self.disk.used())
            check_documents(documents, self.against is not None, self.skipped, unique_ids)
        return documents

    def kept(self) -> dict[str, Any]:
        """Return what every result keeps of a run."""
        reference = [] if self.against is None else describe_inputs(self.against, is_reference=True)
        return {
            "skipped": self.skipped.records,
            "config": self.config,
            "inputs": describe_inputs(self.inputs) + reference,
            "counts": self.progress.counts,
            "timings": self.progress.timings,
            "notices": self._notices(),
            "resources": self.progress.resources,
        }

    def _notices(self) -> list[str]:
        """Return what the user should know of the inputs, in words."""
        notices = []
        if unknown := unknown_kinds_notice([self.inputs] if self.against is None else [self.inputs, self.against]):
            notices.append(unknown)
        if self._unread_times:
            count, first = sum(unread.count for unread in self._unread_times), self._unread_times[0].first
            notices.append(f"{count:,} times are in no form that is known, and count as none; the first: {first}")
        return notices

    def _n_bytes(self) -> int | None:
        return input_size([self.inputs] if self.against is None else [self.inputs, self.against])

    def _batches(self, fields: DocumentsConfig) -> tuple[Iterator[pa.RecordBatch], Iterator[pa.RecordBatch]]:
        tell = self.skipped.add, self.progress.add_bytes, self._unread_times.append
        reference = iter(()) if self.against is None else read_batches(self.against, fields, *tell)
        return self._counted(read_batches(self.inputs, fields, *tell)), self._counted(reference)

    def _counted(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            self._n_text_bytes += batch.column("text").nbytes
            if self._n_text_bytes > self.most_text_bytes:
                raise OutgrownError
            yield batch


def _first_rows(batches: Iterator[pa.RecordBatch], n_rows: int) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.slice(0, n_rows)
        n_rows -= batch.num_rows
        if n_rows <= 0:
            return
