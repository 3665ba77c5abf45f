"""What tasks write into a folder, and what later tasks read of it; against dictionaries."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.errors import InputError, ResourceError
from ibidem.execution.flow import Sent
from ibidem.execution.layout import Layout
from ibidem.execution.spark import pieces as pieces_module
from ibidem.execution.spark.folder_flow import FolderFlow
from ibidem.execution.spark.pieces import Piece, read_partitions, write_pieces
from ibidem.execution.spark.splits import Split, _unchanged

N_PARTITIONS = 5
SCHEMAS = {
    "numbers": pa.schema([("number", pa.int64())]),
    "texts": pa.schema([("text", pa.large_string())]),
    "none": pa.schema([("number", pa.int64())]),
}
# A task: tables, each with the partition of each of its rows.
SENT = st.lists(st.tuples(st.sampled_from(["numbers", "texts"]), st.lists(st.integers(0, N_PARTITIONS - 1), max_size=6)))


def rows_of(name: str, first: int, count: int) -> pa.Table:
    values = range(first, first + count)
    return pa.table([pa.array(values if name == "numbers" else map(str, values), SCHEMAS[name].types[0])], schema=SCHEMAS[name])


@given(tasks=st.lists(SENT, min_size=1, max_size=4), buffer_bytes=st.sampled_from([0, 5000, 1 << 20]), cuts=st.integers(1, 5))
def test_everything_is_read_once_in_order(tasks: list[list[tuple[str, list[int]]]], buffer_bytes: int, cuts: int) -> None:
    expected: dict[tuple[str, int], list[str]] = {}
    number = 0
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces_module, "_BUFFER_BYTES", buffer_bytes)
        tables: dict[str, list[Piece]] = {}
        for place, task in enumerate(tasks):
            sent = []
            for name, to in task:
                sent.append(Sent(name, rows_of(name, number, len(to)), np.array(to, np.int64)))
                for value, partition in enumerate(to, number):
                    expected.setdefault((name, partition), []).append(str(value))
                number += len(to)
            written = write_pieces(folder, f"task-{place}", sent, SCHEMAS, N_PARTITIONS)
            assert all(piece.n_rows for piece in written.values())
            for name, piece in written.items():
                tables.setdefault(name, []).append(piece)
        assert sum(piece.n_rows for given in tables.values() for piece in given) == number
        found: dict[tuple[str, int], list[str]] = {}
        bounds = [N_PARTITIONS * cut // cuts for cut in range(cuts + 1)]
        seen: list[int] = []
        for begin, end in pairwise(bounds):
            for partition, chunks in read_partitions(tables, N_PARTITIONS, begin, end):
                seen.append(partition)
                for name, chunk in chunks:
                    assert chunk.schema == SCHEMAS[name]
                    found.setdefault((name, partition), []).extend(map(str, chunk.column(0).to_pylist()))
        assert seen == sorted({partition for _, partition in expected})
    assert found == expected


def test_a_folder_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    """The run may have ended meanwhile, or the workers do not share the folder."""
    sent = [Sent("out", pa.table({"n": [1]}), 0)]
    with pytest.raises(ResourceError, match="All workers must reach the folder of tmp_dir"):
        write_pieces(str(tmp_path / "gone" / "stage"), "task", sent, {"out": pa.schema([("n", pa.int64())])}, 2)
    assert list(tmp_path.iterdir()) == []


def test_a_stage_has_a_folder_of_its_own(tmp_path: Path) -> None:
    flow = FolderFlow(None, str(tmp_path), Layout(4, 4, 4))
    assert flow._folder_of("once") != flow._folder_of("twice")
    with pytest.raises(ValueError, match="`once`"):
        flow._folder_of("once")


def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one"}\n')
    split = Split(str(path), 0, path.stat().st_size, path.stat().st_size, is_whole=True)
    with _unchanged(split):
        pass
    with pytest.raises(InputError, match=r"a\.jsonl changed while it was read"), _unchanged(split), open(path, "a") as file:
        file.write('{"text": "two"}\n')
    with pytest.raises(InputError, match="changed while it was read"), _unchanged(split):
        pytest.fail("it is longer already")


def test_a_second_attempt_does_not_touch_the_first(tmp_path: Path) -> None:
    def broken() -> Iterator[Sent]:
        yield Sent("numbers", rows_of("numbers", 0, 3), 1)
        raise ValueError("lost")

    with pytest.raises(ValueError, match="lost"):
        write_pieces(str(tmp_path), "0-1", broken(), SCHEMAS, N_PARTITIONS)
    pieces = write_pieces(str(tmp_path), "0-2", [Sent("numbers", rows_of("numbers", 7, 2), 4)], SCHEMAS, N_PARTITIONS)
    read = read_partitions({"numbers": [pieces["numbers"]]}, N_PARTITIONS, 0, N_PARTITIONS)
    assert [(number, [part["number"].to_pylist() for _, part in chunks]) for number, chunks in read] == [(4, [[7, 8]])]
    Path(pieces["numbers"].path).write_bytes(Path(pieces["numbers"].path).read_bytes()[:-8])
    with pytest.raises(OSError, match="shorter than it was"):
        list(read_partitions({"numbers": [pieces["numbers"]]}, N_PARTITIONS, 0, N_PARTITIONS))
