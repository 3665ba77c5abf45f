"""A flow in memory: what Spark does with blocks, done by dictionaries. Rows reach reducers in a shuffled order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.execution.flow import Inputs, Mapper, PartedTable, Reducer, Sent, pieces
from ibidem.execution.layout import Layout


class MemoryFlow:
    """Runs stages in this process, over `n_partitions` partitions, and so many buckets for each of them."""

    def __init__(
        self, n_partitions: int, seed: int = 0, n_regions: int = 1, n_task_bytes: int = 1 << 27, layout: Layout | None = None
    ) -> None:
        self.layout = layout or Layout(n_partitions, n_partitions, n_partitions)
        self.n_partitions = n_partitions
        self.n_task_bytes = n_task_bytes
        self._n_buckets = n_partitions * n_regions
        self.stages: list[str] = []
        self._random = np.random.default_rng(seed)

    def map(self, stage: str, source: Any, mapper: Mapper, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        tables = source
        if isinstance(source, PartedTable) or all(isinstance(part, PartedTable) for part in source):
            several = [source] if isinstance(source, PartedTable) else source
            tables = [table for blocks in several for _, table in (blocks.handle or [])]
        return self._store(stage, mapper(iter(tables)), outputs)

    def reduce(self, stage: str, inputs: Inputs, reducer: Reducer, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        found: dict[int, dict[str, list[pa.Table]]] = {}
        schemas: dict[str, pa.Schema] = {}
        for name, given in inputs.items():
            for blocks in [given] if isinstance(given, PartedTable) else given:
                schemas[name] = blocks.schema
                for partition, table in blocks.handle or []:
                    found.setdefault(partition, {}).setdefault(name, []).append(table)

        empty = {name: schema.empty_table() for name, schema in schemas.items()}

        def run() -> Iterator[Sent]:
            for partition, tables in found.items():
                whole = {}
                for name, none in empty.items():
                    table = pa.concat_tables(tables[name]) if name in tables else none
                    if table.num_rows > 1:
                        table = table.take(pa.array(self._random.permutation(table.num_rows)))
                    whole[name] = table
                yield from reducer(partition, whole)

        return self._store(stage, run(), outputs)

    def count(self, blocks: PartedTable) -> int:
        return sum(table.num_rows for _, table in (blocks.handle or []))

    def collect(self, blocks: PartedTable) -> pa.Table:
        tables = [table for _, table in sorted((blocks.handle or []), key=lambda item: item[0])]
        return pa.concat_tables([blocks.schema.empty_table(), *tables])

    def _store(self, stage: str, emitted: Any, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        assert stage not in self.stages, f"{stage} is the name of two stages"
        self.stages.append(stage)
        stored: dict[str, list[tuple[int, pa.Table]]] = {tag: [] for tag in outputs}
        for one in emitted:
            assert one.rows.schema.equals(outputs[one.table]), f"{stage}/{one.table}: {one.rows.schema} != {outputs[one.table]}"
            for partition, table in pieces(one):
                assert 0 <= partition < self._n_buckets
                stored[one.table].append((partition, table))
        return {tag: PartedTable(tag, schema, stored[tag]) for tag, schema in outputs.items()}
