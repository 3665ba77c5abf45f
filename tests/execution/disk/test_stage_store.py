"""Stages on disk: what was put in comes out in order, is removed in time and no sooner, and is known again after a kill."""

from __future__ import annotations

import errno
import gc
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ibidem.errors import ResourceError
from ibidem.execution.disk import stage_writer
from ibidem.execution.disk.stage_store import FinishedStage, StageStore
from ibidem.execution.flow import PartedTable, Sent

ROWS = pa.schema([("writer", pa.int64()), ("number", pa.int64())])
TEXTS = pa.schema([("text", pa.large_string())])


def rows(numbers: Any, writer: int = 0) -> pa.Table:
    numbers = np.asarray(numbers, np.int64)
    return pa.Table.from_arrays([pa.array(np.full(len(numbers), writer)), pa.array(numbers)], schema=ROWS)


def stored(store: StageStore, stage: str, numbers: Any = range(10), partition: Any = 0) -> PartedTable:
    begun = store.begin(stage, {"rows": ROWS})
    assert not isinstance(begun, FinishedStage)
    begun.add(Sent("rows", rows(numbers), partition))
    return begun.finish().tables["rows"]


def numbers_of(blocks: PartedTable, partition: int | None = None) -> list[int]:
    file = blocks.handle
    chunks = file.in_order() if partition is None else file.by_partition.get(partition, ())
    found: list[int] = file.read_table(chunks)["number"].to_pylist()
    return found


def data_bytes(folder: Path, but: tuple[str, ...] = (".stage",)) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in folder.iterdir() if path.suffix not in but}


@pytest.mark.parametrize("n_buffer_bytes", [0, 700, 1 << 20])
def test_what_each_thread_puts_in_comes_out_in_order(tmp_path: Path, n_buffer_bytes: int) -> None:
    store = StageStore(tmp_path, n_buffer_bytes)
    begun = store.begin("many", {"rows": ROWS})
    assert not isinstance(begun, FinishedStage)
    n_writers, n_times, n_partitions = 4, 60, 3

    def put(writer: int) -> None:
        chance = np.random.default_rng(writer)
        for turn in range(n_times):
            routes = chance.integers(0, n_partitions, 5)
            begun.add(Sent("rows", rows(np.arange(5 * turn, 5 * turn + 5), writer), routes))

    threads = [threading.Thread(target=put, args=(writer,)) for writer in range(n_writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    file = begun.finish().tables["rows"].handle
    assert file.n_rows == n_writers * n_times * 5
    found: dict[int, list[int]] = {writer: [] for writer in range(n_writers)}
    for partition in range(n_partitions):
        table = file.read_table(file.by_partition[partition])
        for writer in range(n_writers):
            own = table.filter(pa.array(table["writer"].to_numpy() == writer))["number"].to_pylist()
            assert own == sorted(own)
            found[writer] += own
    assert all(sorted(numbers) == list(range(5 * n_times)) for numbers in found.values())


MIXED = pa.schema(
    [
        ("number", pa.int64()),
        ("is_odd", pa.bool_()),
        ("maybe", pa.int32()),
        ("values", pa.list_(pa.uint64())),
        ("name", pa.dictionary(pa.int32(), pa.large_string())),
    ]
)


@pytest.mark.parametrize("with_text", [False, True])
@pytest.mark.parametrize("chunk_bytes", [1, 300, 8 << 20])
def test_columns_of_every_kind_come_back(
    tmp_path: Path, with_text: bool, chunk_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of very different sizes, tables in several pieces and slices of larger ones, to all partitions and to one."""
    monkeypatch.setattr(stage_writer, "_CHUNK_BYTES", chunk_bytes)
    monkeypatch.setattr(stage_writer, "_ROUTES_AT_A_TIME", 3)
    schema = pa.schema([*MIXED, *([("text", pa.large_string())] if with_text else [])])
    chance = np.random.default_rng(5)
    begun = StageStore(tmp_path, 5000).begin("mixed", {"rows": schema})
    assert not isinstance(begun, FinishedStage)
    expected: dict[int, list[pa.Table]] = {}
    for turn in range(30):
        numbers = np.arange(100 * turn, 100 * turn + chance.integers(1, 40))
        columns: list[Any] = [
            pa.array(numbers),
            pa.array(numbers % 2 == 1),
            pa.array([None if number % 3 == 0 else number for number in numbers.tolist()], pa.int32()),
            pa.array([[n] * (5000 if n % 97 == 0 else n % 4) for n in numbers.tolist()], MIXED.field("values").type),
            pa.array([f"name {number % 5}" for number in numbers.tolist()], pa.large_string()).dictionary_encode(),
        ]
        columns += [pa.array(["x" * (number % 50) for number in numbers.tolist()], pa.large_string())] if with_text else []
        table = pa.Table.from_arrays(columns, schema=schema).slice(int(chance.integers(0, len(numbers))))
        table = pa.concat_tables([table.slice(0, 7), table.slice(7)])
        routes: Any = 2 if turn % 4 == 0 else chance.integers(0, 5, table.num_rows)
        begun.add(Sent("rows", table, routes))
        for partition in range(5):
            kept = np.broadcast_to(np.asarray(routes) == partition, table.num_rows)
            expected.setdefault(partition, []).append(table.filter(pa.array(kept)))
    file = begun.finish().tables["rows"].handle
    for partition, tables in expected.items():
        found = file.read_table(file.by_partition[partition])
        assert found.to_pylist() == pa.concat_tables(tables).to_pylist()
    if chunk_bytes == 1:
        assert len(file) == file.n_rows  # every row is a chunk of its own


def test_rows_go_to_their_partitions_and_texts_come_back(tmp_path: Path) -> None:
    store = StageStore(tmp_path, 1 << 20)
    blocks = stored(store, "first", range(12), np.arange(12) % 5)
    assert [numbers_of(blocks, partition) for partition in range(6)] == [[0, 5, 10], [1, 6, 11], [2, 7], [3, 8], [4, 9], []]
    assert numbers_of(blocks) == [0, 5, 10, 1, 6, 11, 2, 7, 3, 8, 4, 9]
    begun = store.begin("texts", {"texts": TEXTS, "none": ROWS})
    assert not isinstance(begun, FinishedStage)
    values = ["", "Ünïcödé 𝔸", "x" * 3_000_000, None]
    for value in values:
        begun.add(Sent("texts", pa.table({"text": pa.array([value], pa.large_string())}), 2))
    finished = begun.finish({"said": "ü"})
    assert finished.metadata == {"said": "ü"}
    file = finished.tables["texts"].handle
    assert file.read_table(file.in_order())["text"].to_pylist() == values
    assert finished.tables["none"].handle.n_rows == 0
    assert finished.tables["none"].handle.read_table([]).equals(ROWS.empty_table())
    assert file.n_bytes < 1_000_000  # texts are compressed


def test_a_small_first_chunk_does_not_decide_how_texts_are_stored(tmp_path: Path) -> None:
    begun = StageStore(tmp_path, 1).begin("texts", {"rows": TEXTS})
    assert not isinstance(begun, FinishedStage)
    begun.add(Sent("rows", pa.table({"text": ["x"]}, schema=TEXTS), 0))
    begun.add(Sent("rows", pa.table({"text": ["the same words again " * 10_000] * 20}, schema=TEXTS), 1))
    begun.finish()
    assert sum(data_bytes(tmp_path).values()) < 400_000


def test_rows_of_another_schema_are_refused(tmp_path: Path) -> None:
    begun = StageStore(tmp_path, 1 << 20).begin("first", {"rows": ROWS})
    assert not isinstance(begun, FinishedStage)
    with pytest.raises(TypeError, match="001-first/rows"):
        begun.add(Sent("rows", pa.table({"number": [1]}), 0))


def test_data_go_when_nobody_can_ask_for_them_and_the_next_stage_is_finished(tmp_path: Path) -> None:
    store = StageStore(tmp_path, 1 << 20)
    first = stored(store, "first", range(100))
    second = stored(store, "second", range(50))
    first_name = Path(first.handle.path).name
    assert first_name in data_bytes(tmp_path)
    del first
    gc.collect()
    assert first_name in data_bytes(tmp_path)  # a run killed now needs them to go on
    begun = store.begin("third", {"rows": ROWS})
    assert not isinstance(begun, FinishedStage)
    begun.add(Sent("rows", rows(range(7)), 0))
    assert first_name in data_bytes(tmp_path)
    third = begun.finish().tables["rows"]
    assert first_name not in data_bytes(tmp_path)
    assert numbers_of(second) == list(range(50))
    assert numbers_of(third) == list(range(7))
    assert len(list(tmp_path.glob("*.stage"))) == 3  # that they were finished is known all the same
    n_manifest_bytes = sum(path.stat().st_size for path in tmp_path.glob("*.stage"))
    assert store.disk.n_bytes_now == sum(data_bytes(tmp_path).values()) + n_manifest_bytes
    assert store.disk.n_bytes_written > store.disk.n_bytes_now
    assert store.disk.n_bytes_peak == store.disk.n_bytes_written


def test_data_that_are_to_be_kept_stay(tmp_path: Path) -> None:
    store = StageStore(tmp_path, 1 << 20)
    kept, other = stored(store, "kept"), stored(store, "other")
    store.keep(kept.handle)
    names = [Path(blocks.handle.path).name for blocks in (kept, other)]
    del kept, other
    gc.collect()
    stored(store, "last")
    assert names[0] in data_bytes(tmp_path)
    assert names[1] not in data_bytes(tmp_path)


def test_the_next_run_finds_finished_stages_and_only_those(tmp_path: Path) -> None:
    store = StageStore(tmp_path, 1 << 20)
    stored(store, "first", range(30), np.arange(30) % 2)
    begun = store.begin("second", {"rows": ROWS})
    assert not isinstance(begun, FinishedStage)
    begun.add(Sent("rows", rows(range(5)), 0))
    begun.close()  # as a kill leaves it: data, and no word of them
    again = StageStore(tmp_path, 1 << 20)
    first = again.begin("first", {"rows": ROWS})
    assert isinstance(first, FinishedStage)
    assert numbers_of(first.tables["rows"]) == [*range(0, 30, 2), *range(1, 30, 2)]
    assert numbers_of(stored(again, "second", [3, 4])) == [3, 4]


def spoil_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut_in_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize("damage", [spoil_a_byte, cut_in_half, Path.unlink])
def test_data_of_an_earlier_run_that_are_damaged_are_told_of(tmp_path: Path, damage: Any) -> None:
    blocks = stored(StageStore(tmp_path, 1 << 20), "first", range(1000))
    damage(blocks.handle.path)
    again = StageStore(tmp_path, 1 << 20).begin("first", {"rows": ROWS})
    assert isinstance(again, FinishedStage)
    with pytest.raises(ResourceError, match="damaged") as caught:
        numbers_of(again.tables["rows"])
    assert str(tmp_path) in caught.value.message
    assert "overwrite=True" in caught.value.next_step


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [cut_in_half, empty])
def test_a_manifest_that_is_damaged_is_told_of(tmp_path: Path, damage: Any) -> None:
    stored(StageStore(tmp_path, 1 << 20), "first", range(1000))
    damage(next(tmp_path.glob("*.stage")))
    with pytest.raises(ResourceError, match="damaged"):
        StageStore(tmp_path, 1 << 20).begin("first", {"rows": ROWS})


def test_no_part_of_a_manifest_is_taken_on_trust(tmp_path: Path) -> None:
    """A power cut may leave zeros in it: rows would be looked for in other partitions, and nobody would notice."""
    stored(StageStore(tmp_path, 1 << 20), "first", range(1000), np.arange(1000) % 7)
    path = next(tmp_path.glob("*.stage"))
    whole = path.read_bytes()
    n_changed = 0
    for start in range(0, len(whole), 40):
        content = whole[:start] + bytes(len(whole[start : start + 40])) + whole[start + 40 :]
        if content != whole:
            n_changed += 1
            path.write_bytes(content)
            with pytest.raises(ResourceError, match="damaged"):
                StageStore(tmp_path, 1 << 20).begin("first", {"rows": ROWS})
    assert n_changed > 20


def test_a_full_disk_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = StageStore(tmp_path, 100).begin("first", {"rows": ROWS})
    assert not isinstance(begun, FinishedStage)

    def full(descriptor: int, data: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(ResourceError) as caught:
            begun.add(Sent("rows", rows(range(1000)), 0))
    assert caught.value.message == f"cannot write temporary files to {tmp_path}: {os.strerror(errno.ENOSPC)}"
    assert "tmp_dir" in caught.value.next_step
    begun.close()
    assert not list(tmp_path.glob("*.stage"))


def test_a_disk_that_takes_little_at_a_time_gets_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:37]))
        blocks = stored(StageStore(tmp_path, 1 << 20), "first", range(500))
    assert numbers_of(blocks) == list(range(500))
