"""A verb over partitions against the same verb on this machine, row for row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import ibidem
from ibidem.columns.parted_tables import NUMBERED
from ibidem.config import Config
from ibidem.execution.layout import Layout
from ibidem.execution.progress import Progress
from ibidem.formats import read_batches
from ibidem.model import RECEIPT, REMOVED
from ibidem.pipeline import find_tables, remove_duplicates, remove_repeated, split_to_find
from tests.memory_flow import MemoryFlow

Rows = list[dict[str, Any]]


def numbered_batches(inputs: Any, against: Any, config: Config, batch_rows: int) -> tuple[list[pa.RecordBatch], int, int]:
    """Return the documents in small batches, every second number left out, and the numbers of records and of inputs."""
    batches: list[pa.RecordBatch] = []
    n_records = n_input = 0
    for side in [inputs] if against is None else [inputs, against]:
        for batch in read_batches(side, config.documents, lambda record: None):
            for begin in range(0, batch.num_rows, batch_rows):
                rows = np.arange(begin, min(begin + batch_rows, batch.num_rows))
                documents = n_records + 2 * np.arange(len(rows))
                n_records += 2 * len(rows)
                part = batch.take(pa.array(rows))
                batches.append(pa.RecordBatch.from_arrays([pa.array(documents), *part.columns], schema=NUMBERED))
        if side is inputs:
            n_input = n_records
    return batches, n_records, n_input


def found_apart(
    inputs: Any,
    against: Any,
    n_partitions: int,
    batch_rows: int = 5,
    seed: int = 0,
    config: Config | None = None,
    **settings: Any,
) -> tuple[Rows, Rows, Rows]:
    """Return the rows of passages, documents and repeats that `find` gives over partitions in memory."""
    config = Config.of(config, **settings).with_signature("words")
    batches, n_records, n_input = numbered_batches(inputs, against, config, batch_rows)
    layout = Layout(n_records, n_input, n_partitions, homes_per_region=(seed + n_partitions) % 3)
    flow = MemoryFlow(n_partitions, seed, layout.n_regions, layout=layout)
    progress = Progress()
    sentences = split_to_find(flow, batches, config, progress)
    tables = {name: flow.collect(part.table(name)) for name, part in find_tables(flow, sentences, config, progress).items()}
    passages = tables["passages"].drop_columns(["number", "a_document", "b_document"]).to_pylist()
    documents = tables["documents"].drop_columns(["document"]).to_pylist()
    repeats = sorted(tables["repeats"].to_pylist(), key=_repeat_order)
    return passages, documents, [{k: v for k, v in row.items() if k not in ("document", "start")} for row in repeats]


def removed_apart(inputs: Any, against: Any, n_partitions: int, batch_rows: int = 5, seed: int = 0, **settings: Any) -> Rows:
    """Return the rows of what `dedup` removes over partitions in memory."""
    config = Config.of(**settings).with_signature("exact")
    batches, n_records, n_input = numbered_batches(inputs, against, config, batch_rows)
    layout = Layout(n_records, n_input, n_partitions)
    flow = MemoryFlow(n_partitions, seed, layout=layout)
    remove: Any = remove_duplicates if config.cleaning.level == "document" else remove_repeated
    _, removals = remove(flow, batches, config, Progress())
    names = [*REMOVED.names, *([RECEIPT.name] if config.cleaning.lossless else [])]
    return flow.collect(removals.table("removed")).select(names).to_pylist()


def _repeat_order(row: dict[str, Any]) -> tuple[Any, ...]:
    return -row["n_documents"], -len(row["text"]), row["text"], row["document"], row["start"], len(row["places"])


def rows_of(table: pa.Table) -> Rows:
    """Return the rows of a table with ids and words as they are."""
    columns = [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in table.columns]
    rows: Rows = pa.table(columns, names=table.column_names).to_pylist()
    return rows


def local_tables(inputs: Any, against: Any, **settings: Any) -> tuple[Rows, Rows, Rows]:
    """Return the rows of passages, documents and repeats that `find` gives on this machine."""
    result = ibidem.find(inputs, against=against, **settings)
    return rows_of(result.passages), rows_of(result.documents), rows_of(result.repeats)


def frame_rows(frame: Any, order: Sequence[str] = ()) -> Rows:
    """Return the rows of a Spark data frame, sorted by some columns if any are named."""
    return [_plain(row) for row in (frame.orderBy(*order) if order else frame).collect()]


def _plain(row: Any) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if hasattr(value, "asDict"):
            return {name: plain(part) for name, part in value.asDict().items()}
        return [plain(part) for part in value] if isinstance(value, list) else value

    return {name: plain(value) for name, value in row.asDict().items()}


def written_rows(folder: Any, name: str) -> Rows:
    """Return the rows of a table that Spark wrote as parts, one part after the other."""
    import pyarrow.parquet as pq

    def parts() -> Iterator[pa.Table]:
        for path in sorted((folder / f"{name}.parquet").glob("part-*")):
            yield pq.ParquetFile(path).read()

    rows: Rows = [row for table in parts() for row in table.to_pylist()]
    return rows
