"""Connected components by rounds are those of union–find, whatever the graph and however its edges are spread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ibidem.columns import components_exchange
from ibidem.columns.components_exchange import EDGES, ROOTS, connect, home_of_nodes
from ibidem.execution.disk.disk_flow import DiskFlow
from ibidem.execution.disk.stage_store import StageStore
from ibidem.execution.disk.stage_writer import StageWriter
from ibidem.execution.flow import Mapper, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.execution.progress import Progress
from ibidem.execution.spark.folder_flow import FolderFlow
from ibidem.execution.spark.spark_flow import SparkFlow
from tests.memory_flow import MemoryFlow

Edges = Sequence[tuple[int, int]] | NDArray[np.uint64]
BYTES_A_LINK = components_exchange._BYTES_A_LINK


class ScatteredFlow(MemoryFlow):
    """Hands every block to a mapper of its own, as a cluster of many workers does; keeps the rows of each stage."""

    def __init__(self, n_partitions: int, seed: int = 0, most_closed: int = -1) -> None:
        super().__init__(n_partitions, seed, n_task_bytes=BYTES_A_LINK * most_closed)
        self.stored: dict[str, dict[str, PartedTable]] = {}

    def map(self, stage: str, source: Any, mapper: Mapper, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        def run() -> Iterator[Sent]:
            for _, table in source.handle or []:
                yield from mapper(iter([table]))

        return self._store(stage, run(), outputs)

    def _store(self, stage: str, emitted: Any, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        self.stored[stage] = super()._store(stage, emitted, outputs)
        return self.stored[stage]

    @property
    def n_rounds(self) -> int:
        return sum("-round-" in stage for stage in self.stages)


def blocks_of(edges: Edges, n_pieces: int, n_partitions: int) -> PartedTable:
    columns = np.asarray(edges, np.uint64).reshape(-1, 2)
    pieces = np.array_split(columns, n_pieces)
    return PartedTable("edges", EDGES, [(number % n_partitions, table_of(piece)) for number, piece in enumerate(pieces)])


def table_of(rows: NDArray[np.uint64]) -> pa.Table:
    return pa.table([np.ascontiguousarray(column) for column in rows.T], schema=EDGES)


def union_find(edges: Edges) -> dict[int, int]:
    """The twin: the smallest node of the component of every node that has a neighbour."""
    parent: dict[int, int] = {}

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = node = parent[parent[node]]
        return node

    for a, b in np.asarray(edges, np.uint64).reshape(-1, 2).tolist():
        if a != b:
            one, other = sorted((root(parent.setdefault(a, a)), root(parent.setdefault(b, b))))
            parent[other] = one
    return {node: root(node) for node in parent}


def found(flow: MemoryFlow, blocks: PartedTable) -> dict[int, int]:
    assert blocks.schema.equals(ROOTS)
    for partition, table in blocks.handle:
        assert (home_of_nodes(table["node"].to_numpy(), flow.n_partitions) == partition).all()
    table = flow.collect(blocks)
    nodes = table["node"].to_pylist()
    assert len(set(nodes)) == len(nodes)
    return dict(zip(nodes, table["root"].to_pylist(), strict=True))


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Graphs with duplicates, edges in both directions and self-loops; nodes are small numbers or hashes."""
    n_nodes = draw(st.integers(1, 60))
    numbers = st.integers(0, n_nodes - 1)
    edges = draw(st.lists(st.tuples(numbers, numbers), max_size=90))
    if draw(st.booleans()):
        names = draw(st.lists(st.integers(0, 2**64 - 1), min_size=n_nodes, max_size=n_nodes, unique=True))
        edges = [(names[a], names[b]) for a, b in edges]
    return edges


@settings(max_examples=200, deadline=None)
@given(edges=graphs(), n_partitions=st.integers(1, 7), n_pieces=st.integers(1, 12), seed=st.integers(0, 3))
def test_components_are_those_of_union_find(edges: list[tuple[int, int]], n_partitions: int, n_pieces: int, seed: int) -> None:
    roots = union_find(edges)
    blocks = blocks_of(edges, n_pieces, n_partitions)
    # By rounds only; by rounds until little is open; at once, of what mappers send by themselves or are asked for.
    for most_closed, few in ((-1, 99), (10, 0), (99, 99), (99, 2)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(components_exchange, "_FIRST_CLOSE", 1)
            patch.setattr(components_exchange, "_SLOTS_AT_A_TIME", 7)
            patch.setattr(components_exchange, "_FEW", few)
            flow = ScatteredFlow(n_partitions, seed, most_closed)
            assert found(flow, connect(flow, "c", blocks)) == roots
            assert flow.n_rounds <= (0 if most_closed == 99 else 14)


@settings(max_examples=100, deadline=None)
@given(edges=graphs(), n_partitions=st.integers(1, 5), most_rows=st.integers(1, 20), cut=st.integers(0, 90))
def test_mappers_that_run_full_and_several_stages_of_edges_change_nothing(
    edges: list[tuple[int, int]], n_partitions: int, most_rows: int, cut: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(components_exchange, "_MOST_ROWS", most_rows)
        flow = MemoryFlow(n_partitions, n_task_bytes=-BYTES_A_LINK)
        given = [blocks_of(part, 9, n_partitions) for part in (edges[:cut], edges[cut:], [])]
        assert found(flow, connect(flow, "c", given)) == union_find(edges)


@pytest.mark.parametrize("edges", [[], [(3, 3)], [(5, 5), (0, 0), (5, 5)]])
@pytest.mark.parametrize("n_partitions", [1, 3])
@pytest.mark.parametrize("most_closed", [-1, 99])
def test_without_edges_between_two_nodes_there_is_no_component(edges: Edges, n_partitions: int, most_closed: int) -> None:
    flow = ScatteredFlow(n_partitions, most_closed=most_closed)
    assert found(flow, connect(flow, "c", blocks_of(edges, 2, n_partitions))) == {}


@pytest.mark.parametrize("most_closed", [-1, 99])
def test_the_extreme_numbers_are_nodes_too(most_closed: int) -> None:
    edges = [(0, 2**64 - 1), (2**64 - 1, 2**63), (1, 2**63 - 1)]
    for n_partitions in (1, 4):
        flow = ScatteredFlow(n_partitions, most_closed=most_closed)
        assert found(flow, connect(flow, "c", blocks_of(edges, 3, n_partitions))) == union_find(edges)


def chain(n_nodes: int, order: str, seed: int) -> NDArray[np.uint64]:
    random = np.random.default_rng(seed)
    nodes = np.arange(n_nodes) if order == "counting" else random.permutation(n_nodes)
    return random.permutation(np.stack([nodes[1:], nodes[:-1]], axis=1)).astype(np.uint64)


@pytest.mark.parametrize("order", ["counting", "shuffled"])
@pytest.mark.parametrize("n_partitions", [2, 3, 7, 16, 64])
# A round here is one stage; a round of the paper is two, and it takes 11 to 14 of those.
@pytest.mark.parametrize(("most_closed", "most_rounds"), [(1 << 21, 0), (2000, 8), (-1, 18)])
def test_a_long_chain_takes_few_rounds(order: str, n_partitions: int, most_closed: int, most_rounds: int) -> None:
    edges = chain(5000, order, seed=n_partitions)
    flow = ScatteredFlow(n_partitions, most_closed=most_closed)
    assert found(flow, connect(flow, "c", blocks_of(edges, 4 * n_partitions, n_partitions))) == dict.fromkeys(range(5000), 0)
    assert flow.n_rounds <= most_rounds


@pytest.mark.parametrize("centre", [0, 10_000, 20_000])
def test_a_centre_of_many_leaves_burdens_no_partition(centre: int) -> None:
    n_nodes, n_partitions, n_mappers = 20_001, 16, 40
    leaves = np.delete(np.arange(n_nodes), centre)
    edges = np.random.default_rng(1).permutation(np.stack([leaves, np.full(n_nodes - 1, centre)], axis=1))
    flow = ScatteredFlow(n_partitions)
    assert found(flow, connect(flow, "c", blocks_of(edges, n_mappers, n_partitions))) == dict.fromkeys(range(n_nodes), 0)
    assert flow.n_rounds <= 5
    for stage, outputs in flow.stored.items():
        n_rows = np.zeros(n_partitions, np.int64)
        for tag, blocks in outputs.items():
            if tag not in ("counts", "few"):
                for partition, table in blocks.handle:
                    n_rows[partition] += table.num_rows
        assert n_rows.max() < 1.2 * n_nodes / n_partitions + n_mappers * n_partitions, stage


@pytest.mark.parametrize(("before", "after"), [(1 << 20, -BYTES_A_LINK), (-BYTES_A_LINK, 1 << 20)])
def test_a_run_that_goes_on_with_other_memory_asks_for_the_same_stages(tmp_path: Path, before: int, after: int) -> None:
    edges = chain(3000, "shuffled", seed=3)

    def connect_stored(n_task_bytes: int) -> tuple[dict[int, int], int]:
        store = StageStore(tmp_path, 1 << 16)
        begun = store.begin("edges", {"edges": EDGES})
        if isinstance(begun, StageWriter):
            begun.add(Sent("edges", table_of(edges), 0))
            begun = begun.finish()
        flow = DiskFlow(store, Layout(3, 3, 3), 2, n_task_bytes, Progress())
        roots = flow.collect(connect(flow, "c", begun.tables.pop("edges")))
        found = dict(zip(roots["node"].to_pylist(), roots["root"].to_pylist(), strict=True))
        return found, sum(1 for _ in tmp_path.glob("*.stage"))

    first = connect_stored(before)
    assert first[0] == dict.fromkeys(range(3000), 0)
    assert connect_stored(after) == first


class Numbers:
    """A source of rows that represent edges."""

    outputs: Mapping[str, pa.Schema] = {}

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def mapped(self, mapper: Mapper) -> Iterator[tuple[Any, Mapper]]:
        yield self.frame, mapper

    def after_reading(self, flow: Any, stored: Any) -> None:
        pass


@pytest.mark.parametrize("n_task_bytes", [1 << 27, -BYTES_A_LINK])
@pytest.mark.parametrize("n_partitions", [5])
@pytest.mark.parametrize("flow_of", [FolderFlow, SparkFlow])
def test_spark_gives_the_components_of_union_find(
    spark: Any, work: str, flow_of: Any, n_partitions: int, n_task_bytes: int
) -> None:
    edges = np.random.default_rng(2).integers(0, 400, (300, 2)).astype(np.uint64)
    flow = flow_of(spark, work, Layout(n_partitions, n_partitions, n_partitions))
    flow.n_task_bytes = n_task_bytes

    def send(batches: Iterator[pa.RecordBatch]) -> Iterator[Sent]:
        for batch in batches:
            rows = edges[batch["id"].to_numpy()]
            yield Sent("edges", table_of(rows), np.arange(len(rows)) % n_partitions)

    blocks = flow.map("edges", Numbers(spark.range(0, len(edges), 1, 3)), send, {"edges": EDGES, "none": EDGES})
    table = flow.collect(connect(flow, "some", [blocks["edges"], blocks["none"]]))
    assert sorted(zip(table["node"].to_pylist(), table["root"].to_pylist(), strict=True)) == sorted(union_find(edges).items())
    assert flow.collect(connect(flow, "none", blocks["none"])).num_rows == 0
