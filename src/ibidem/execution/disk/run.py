"""A run with stored stages: its work folder, its documents on disk, and the memory that each part may use."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import TracebackType
from typing import Any

from ibidem.config import Config, DocumentsConfig
from ibidem.config.quantities import size_of
from ibidem.config.sampling_plan import SamplingPlan
from ibidem.config.surface import in_shell, named
from ibidem.errors import UsageError
from ibidem.execution.checks import check_sides
from ibidem.execution.disk.disk_flow import DiskFlow
from ibidem.execution.disk.document_store import store_documents
from ibidem.execution.disk.stage_store import StageStore
from ibidem.execution.disk.work_folder import WorkFolder
from ibidem.execution.disk_limit import DiskBudget
from ibidem.execution.flow import PartedTable
from ibidem.execution.layout import Layout
from ibidem.execution.memory import allowed_memory, give_back_memory, is_used_memory_known, keep_little_memory, used_memory
from ibidem.execution.progress import Progress
from ibidem.execution.run import LocalRun, disk_of_run
from ibidem.execution.threads import available_cores
from ibidem.formats import describe_inputs
from ibidem.formats.word_tables import describe_words

# Shares of the memory that is free when a run begins; the rest is for everything else besides tasks and data waiting to be
# written.
_BUFFER_SHARE, _TASK_SHARE = 6, 2
_HOMES_IN_MEMORY = 20  # texts of a partition are this many times smaller than the memory of a worker
_DISK_A_BYTE = 6  # of input, as measured by `benchmarks/large.py`, plus a margin
_MANY_PARTS = 256
_LEAST_HOME_BYTES, _MOST_HOME_BYTES = 1 << 20, 128 << 20


class DiskRun(LocalRun):
    """A run whose stages are on disk. A result takes over the work folder and removes it when closed."""

    documents: PartedTable
    layout: Layout
    flow: DiskFlow

    def __init__(
        self, verb: str, inputs: Any, against: Any, config: Config, progress: Progress, plan: SamplingPlan | None = None,
        further: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(inputs, against, config, progress)
        keep_little_memory()
        settings = {stage: values for stage, values in config.recorded().items() if stage != "engine"}
        settings["output"] = {name: value for name, value in settings["output"].items() if name == "strict"}
        reference = [] if against is None else describe_inputs(against, is_reference=True)
        description: dict[str, Any] = {"verb": verb, "settings": settings, "inputs": describe_inputs(inputs) + reference}
        description["plan"] = None if plan is None else plan.to_dict()
        description |= further or {}
        if words := describe_words(config):
            description["words"] = words
        if config.engine.resume:
            _check_can_be_resumed(config, [*description["inputs"], *description.get("benchmarks", ())])
        self.work = WorkFolder(config, description)
        self._is_taken_over = False

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not self._is_taken_over:
            self.work.close(failed=error is not None)
        super().__exit__(kind, error, trace)

    def read(self, fields: DocumentsConfig, to_copy: bool = False) -> PartedTable:
        """Store all documents, or find those stored by an earlier run."""
        if to_copy:
            self._note_states()
        workers = self.config.engine.workers or available_cores()
        memory = allowed_memory(self.config.engine.memory)
        give_back_memory()
        free = max(memory - used_memory(), memory // 4)
        store = StageStore(self.work.stages, free // _BUFFER_SHARE, self.disk)
        n_bytes = self._n_bytes()
        home_bytes = free // (_HOMES_IN_MEMORY * workers)
        if self.config.engine.partitions and n_bytes:
            home_bytes = -(-n_bytes // self.config.engine.partitions)
        else:
            home_bytes = min(max(home_bytes, _LEAST_HOME_BYTES), _MOST_HOME_BYTES)
        n_found = sum(1 for _ in self.work.stages.glob("*.stage"))
        if n_found:
            self.progress.tell(f"continuing after {n_found} finished stage{'s' * (n_found > 1)}")
        else:
            if self.work.goes_on:
                self.progress.tell(f"no finished stage in {self.work.stages}; starting over")
            self._announce(n_bytes, memory)
        with self.progress.stage("inputs", n_bytes):
            read = store_documents(store, self._stream(fields), home_bytes, self.skipped, self._remarks)
        give_back_memory()
        self.skipped.records[:] = read.skipped
        self._remarks[:] = read.remarks
        self.documents, self.layout = read.documents, read.layout
        self.n_input_chars, self.has_cleaned_texts = read.n_input_chars, read.has_cleaned_texts
        self.page_marks = read.page_marks
        check_sides(read.layout.n_input, read.layout.n_records - read.layout.n_input, self.against is not None)
        self.progress.use(partitions=read.layout.n_partitions)
        self.flow = DiskFlow(
            store,
            read.layout,
            workers,
            free // _TASK_SHARE,
            self.progress,
            n_wanted_bytes=memory * 2 // 3,
            n_most_bytes=max(memory, used_memory() + free) if is_used_memory_known() else sys.maxsize,
        )
        return self.documents

    @cached_property
    def disk(self) -> DiskBudget:
        """The disk budget of the run."""
        return disk_of_run(self.inputs, self.against, self.config, str(self.work.stages))

    def _announce(self, n_bytes: int | None, memory: int) -> None:
        """Tell the user where temporary files go, and what may stop the run or make it exceed its limit."""
        free = shutil.disk_usage(self.work.stages.parent).free
        room = "" if n_bytes is None else f" (up to about {size_of(_DISK_A_BYTE * n_bytes)})"
        self.progress.tell(f"temporary files go to {self.work.stages}{room} and are deleted when the run ends")
        if n_bytes is not None and free < _DISK_A_BYTE * n_bytes:
            self.progress.tell(f"only {size_of(free)} free there; choose another folder with {named('tmp_dir')}")
        elif n_bytes is not None and self.disk.most_bytes < _DISK_A_BYTE * n_bytes:
            self.progress.tell(
                f"{named('max_disk')} allows {size_of(self.disk.most_bytes)} of temporary files, which may not be enough"
            )
        if memory < 2 * used_memory():
            used = size_of(used_memory())
            self.progress.tell(f"the program itself takes {used} of memory; a limit of {size_of(memory)} may be too low")
        n_parts = self.config.engine.partitions
        if n_parts > _MANY_PARTS and n_bytes is not None and n_bytes // n_parts < _LEAST_HOME_BYTES:
            self.progress.tell(f"{n_parts:,} partitions are many for so little text; fewer would be faster")

    def take_over(self) -> WorkFolder:
        """Return the work folder for a result, which will remove it."""
        self._is_taken_over = True
        return self.work


def _check_can_be_resumed(config: Config, inputs: Sequence[Mapping[str, Any]]) -> None:
    """Raise if a later run could not be checked for the same inputs, or could not find what this one stores."""
    if config.engine.work_dir == "auto":
        raise UsageError(
            f"{named('resume')} needs a folder that outlives the run",
            in_shell("Name one with -o.", f"Name one with {named('work_dir')}."),
        )
    kinds = {str(description.get("kind")) for description in inputs} - {"None"}
    if kinds:
        streams = [str(description.get("path")) for description in inputs if description.get("kind") == "stream"]
        what = ("standard input" if streams[0] == "-" else streams[0]) if streams else "Python objects"
        why = "ibidem cannot tell whether it has changed" if streams and streams[0] != "-" else "its input cannot be read again"
        raise UsageError(f"a run on {what} cannot be resumed: {why}", "Save the documents to a file first.")
