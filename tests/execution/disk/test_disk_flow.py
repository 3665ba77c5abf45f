"""Mappers and reducers over stages on disk: what they are given, how many run at a time, and how they end."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ibidem.errors import ResourceError
from ibidem.execution.disk import disk_flow
from ibidem.execution.disk.disk_flow import DiskFlow
from ibidem.execution.disk.stage_store import FinishedStage, StageStore
from ibidem.execution.flow import PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.execution.progress import Progress, Step
from tests.waiting import LIMIT_SECONDS, wait_until

NUMBERS = pa.schema([("number", pa.int64())])
LARGE = 1 << 40


class Steps(Progress):
    """Keeps what it is told of steps."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []

    def add_step(self, step: Step) -> None:
        self.steps.append(step)


def table(numbers: Any) -> pa.Table:
    return pa.table({"number": pa.array(np.asarray(numbers, np.int64))})


def new_flow(folder: Path, workers: int = 2, n_task_bytes: int = LARGE, progress: Progress | None = None) -> DiskFlow:
    return DiskFlow(StageStore(folder, 1 << 20), Layout(4, 4, 4), workers, n_task_bytes, progress or Progress())


def given(flow: DiskFlow, sizes: Mapping[int, int], stage: str = "given") -> PartedTable:
    """Store rows: so many in each partition."""
    begun = flow.store.begin(stage, {"numbers": NUMBERS})
    if isinstance(begun, FinishedStage):
        return begun.tables["numbers"]
    for partition, size in sizes.items():
        begun.add(Sent("numbers", table(np.arange(size)), partition))
    return begun.finish().tables["numbers"]


def collected(flow: DiskFlow, blocks: PartedTable) -> list[int]:
    found: list[int] = flow.collect(blocks)["number"].to_pylist()
    return found


@pytest.mark.parametrize("workers", [1, 3])
def test_mappers_and_reducers_see_everything_once(tmp_path: Path, workers: int) -> None:
    progress = Steps()
    flow = new_flow(tmp_path, workers, progress=progress)
    sources = [given(flow, {0: 5, 3: 4}, "one"), given(flow, {1: 3}, "two"), PartedTable("none", NUMBERS)]

    def spread(tables: Iterator[pa.Table]) -> Iterator[Sent]:
        for part in tables:
            numbers = part["number"].to_numpy()
            yield Sent("numbers", table(10 * numbers), numbers % 3)

    mapped = flow.map("spread", sources, spread, {"numbers": NUMBERS})["numbers"]
    assert sorted(collected(flow, mapped)) == sorted([0, 10, 20, 30, 40, 0, 10, 20, 30, 0, 10, 20])
    assert flow.count(mapped) == 12
    seen: dict[int, list[int]] = {}

    def total(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        assert set(tables) == {"mapped", "none"}
        assert tables["none"].equals(NUMBERS.empty_table())
        seen[partition] = sorted(tables["mapped"]["number"].to_pylist())
        yield Sent("sums", table([sum(seen[partition])]), partition)

    inputs = {"mapped": mapped, "none": sources[2]}
    sums = flow.reduce("total", inputs, total, {"sums": NUMBERS})["sums"]
    assert seen == {0: [0, 0, 0, 30, 30], 1: [10, 10, 10, 40], 2: [20, 20, 20]}
    assert collected(flow, sums) == [60, 70, 60]
    assert [step.name for step in progress.steps] == ["spread", "total"]
    assert all(step.n_read_bytes and step.n_written_bytes and step.n_stored_bytes for step in progress.steps)
    assert progress.resources["spilled_bytes"] >= progress.resources["spilled_bytes_peak"] > 0


def test_a_stage_that_was_finished_is_not_run_again(tmp_path: Path) -> None:
    n_calls = 0

    def keep(tables: Iterator[pa.Table]) -> Iterator[Sent]:
        nonlocal n_calls
        n_calls += 1
        for part in tables:
            yield Sent("numbers", part, 1)

    for _ in range(2):
        flow = new_flow(tmp_path)
        assert collected(flow, flow.map("keep", given(flow, {0: 6}), keep, {"numbers": NUMBERS})["numbers"]) == [*range(6)]
    assert n_calls == 1


def test_collected_rows_can_be_collected_again_by_the_next_run(tmp_path: Path) -> None:
    for _ in range(2):
        flow = new_flow(tmp_path)
        assert collected(flow, given(flow, {2: 4, 0: 3})) == [0, 1, 2, 0, 1, 2, 3]
        for stage in ("later", "last"):
            given(flow, {0: 1}, stage)


class Watched:
    """A reducer that notes how many rows are held at a time, and by how many tasks."""

    def __init__(self, wanted_together: int = 1) -> None:
        self.most_bytes_together = self.most_together = 0
        self.n_done = 0
        self.together_with_a_large_one = False
        self._held: list[int] = []
        self._lock = threading.Lock()
        self._wanted_together = wanted_together

    def __call__(self, partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        n_bytes = tables["given"].nbytes
        with self._lock:
            self._held.append(n_bytes)
            self.most_together = max(self.most_together, len(self._held))
            if len(self._held) > 1:
                self.most_bytes_together = max(self.most_bytes_together, sum(self._held))
        wait_until(lambda: self.most_together >= self._wanted_together, "a second task beside the first")
        time.sleep(0.002)  # for others to begin that should not
        yield Sent("numbers", tables["given"].slice(0, 1), partition)
        with self._lock:
            self._held.remove(n_bytes)
            self.n_done += 1


def test_tasks_together_stay_below_the_limit(tmp_path: Path) -> None:
    n_task_bytes = 100_000
    flow = new_flow(tmp_path, workers=4, n_task_bytes=n_task_bytes)
    sizes = {partition: 50 if partition % 5 else 1200 for partition in range(60)}  # rows of eight bytes
    reducer = Watched(wanted_together=2)
    flow.reduce("watched", {"given": given(flow, sizes)}, reducer, {"numbers": NUMBERS})
    assert reducer.n_done == 60
    assert reducer.most_bytes_together <= n_task_bytes
    assert 2 <= reducer.most_together <= 4


def test_a_task_larger_than_the_memory_runs_alone(tmp_path: Path) -> None:
    n_task_bytes = 100_000
    flow = new_flow(tmp_path, workers=4, n_task_bytes=n_task_bytes)
    sizes = dict.fromkeys(range(20), 10) | {3: 50_000, 11: 80_000, 19: 60_000}
    reducer = Watched(wanted_together=2)
    flow.reduce("watched", {"given": given(flow, sizes)}, reducer, {"numbers": NUMBERS})
    assert reducer.n_done == 20
    assert reducer.most_bytes_together <= n_task_bytes  # so none of the three was among several
    assert reducer.most_together >= 2


def test_without_memory_everything_runs_one_by_one(tmp_path: Path) -> None:
    flow = new_flow(tmp_path, workers=4, n_task_bytes=0)
    reducer = Watched()
    flow.reduce("watched", {"given": given(flow, dict.fromkeys(range(15), 8))}, reducer, {"numbers": NUMBERS})
    assert (reducer.n_done, reducer.most_together) == (15, 1)


def test_a_task_waits_while_memory_is_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flow = DiskFlow(StageStore(tmp_path, 1 << 20), Layout(4, 4, 4), 4, LARGE, Progress(), n_most_bytes=1000)
    given_blocks = given(flow, dict.fromkeys(range(12), 8))
    n_used = 990
    monkeypatch.setattr(disk_flow, "used_memory", lambda: n_used)
    alone = Watched()
    flow.reduce("short", {"given": given_blocks}, alone, {"numbers": NUMBERS})
    assert (alone.n_done, alone.most_together) == (12, 1)
    n_used = 100
    beside = Watched(wanted_together=2)
    flow.reduce("enough", {"given": given_blocks}, beside, {"numbers": NUMBERS})
    assert beside.n_done == 12
    assert beside.most_together >= 2


def test_a_task_begins_as_soon_as_memory_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flow = DiskFlow(StageStore(tmp_path, 1 << 20), Layout(4, 4, 4), 2, LARGE, Progress(), n_most_bytes=1000)
    second_begun = threading.Event()
    begun: list[int] = []
    # Short only while the first task has just begun: nothing ends that could wake who waits.
    n_looks = 0

    def used_memory() -> int:
        nonlocal n_looks
        n_looks += bool(begun)
        return 990 if n_looks < 6 else 0

    monkeypatch.setattr(disk_flow, "used_memory", used_memory)

    def reducer(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        begun.append(partition)
        if len(begun) == 1:
            assert second_begun.wait(LIMIT_SECONDS), "the second one waits for the first"
        second_begun.set()
        yield Sent("numbers", tables["given"], partition)

    blocks = given(flow, {0: 8, 1: 8})
    flow.reduce("given back", {"given": blocks}, reducer, {"numbers": NUMBERS})
    assert sorted(begun) == [0, 1]


def test_an_error_ends_the_stage_and_leaves_it_unfinished(tmp_path: Path) -> None:
    flow = new_flow(tmp_path, workers=2)
    begun: list[int] = []

    def fail(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        begun.append(partition)
        yield Sent("numbers", tables["given"], partition)
        if partition == 3:
            raise ValueError("the third")
        time.sleep(0.01)

    source = given(flow, dict.fromkeys(range(100), 5))
    with pytest.raises(ValueError, match="the third"):
        flow.reduce("failing", {"given": source}, fail, {"numbers": NUMBERS})
    assert len(begun) < 100  # the others were not even begun
    assert [path.name for path in tmp_path.glob("*.stage")] == ["001-given.stage"]
    again = new_flow(tmp_path, workers=2)
    source = given(again, {})
    found = again.reduce("failing", {"given": source}, lambda p, t: [Sent("numbers", t["given"], p)], {"numbers": NUMBERS})
    assert again.count(found["numbers"]) == 500


def test_a_full_disk_ends_the_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flow = new_flow(tmp_path, workers=3)
    source = given(flow, dict.fromkeys(range(20), 1000))

    def full(descriptor: int, data: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(ResourceError, match=f"to {tmp_path}: {os.strerror(errno.ENOSPC)}"):
            flow.reduce("full", {"given": source}, lambda p, t: [Sent("numbers", t["given"], p)], {"numbers": NUMBERS})
    assert [path.name for path in tmp_path.glob("*.stage")] == ["001-given.stage"]


@pytest.mark.parametrize("n_tasks", [2, 50], ids=["all tasks begun", "tasks still to come"])
def test_an_interruption_ends_it_soon(tmp_path: Path, n_tasks: int) -> None:
    flow = new_flow(tmp_path, workers=2)
    source = given(flow, dict.fromkeys(range(n_tasks), 5))
    begun: list[int] = []
    n_ended: list[int] = []

    def go_on(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        begun.append(partition)
        try:
            for _ in range(round(LIMIT_SECONDS / 0.01)):
                yield Sent("numbers", tables["given"], partition)
                time.sleep(0.01)
            pytest.fail("nobody has stopped it")
        finally:
            n_ended.append(partition)

    def interrupt() -> None:
        wait_until(lambda: len(begun) == 2)
        signal.pthread_kill(main.ident or 0, signal.SIGINT)

    main = threading.main_thread()
    if threading.current_thread() is not main:
        pytest.skip("signals reach the main thread only")
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        flow.reduce("interrupted", {"given": source}, go_on, {"numbers": NUMBERS})
    thread.join()
    assert len(n_ended) == 2  # nothing goes on behind our back
    assert [path.name for path in tmp_path.glob("*.stage")] == ["001-given.stage"]
