"""Writing tables to files. They get temporary names and are renamed when all are complete: a partial result is never visible.

`run.json` shows that the results are complete, even after a power cut. It is removed before any other file is replaced and
written last, and the folder is synced before each next step: otherwise names may reach the disk in any order.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime, timezone
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from ibidem.config import Config
from ibidem.config.papers import departures
from ibidem.config.settings import NO_PAPER
from ibidem.errors import ResourceError
from ibidem.execution.durable_files import make_folder, replace_file, sync_file, sync_folder
from ibidem.execution.operating_system import peak_memory
from ibidem.execution.output_folder import clear_output
from ibidem.formats.word_tables import describe_words
from ibidem.model import Skipped
from ibidem.version import __version__

_JSON_BATCH_ROWS = 50_000
_PART_BYTES = 16 << 20
_GROUP_ROWS = 1 << 22  # each group repeats the ids: with a million rows, four million passages took half as much time again


def write_result(
    folder: Path,
    tables: Mapping[str, pa.Table | pa.RecordBatchReader],
    skipped: Sequence[Skipped],
    run: Mapping[str, Any],
    table_format: str,
    clear: bool = True,
) -> list[Path]:
    """Write all tables, `skipped.jsonl` and, last of all, `run.json`; return the paths. `clear` removes earlier tables.

    If it fails, the folder is as before. When it returns, everything is durable.
    """
    writers: dict[str, Callable[[Any, Path], None]] = {"parquet": _write_parquet, "jsonl": _write_jsonl, "csv": _write_csv}
    writes = {folder / f"{name}.{table_format}": partial(writers[table_format], table) for name, table in tables.items()}
    begin = time.perf_counter()
    paths = [*writes, folder / "skipped.jsonl", folder / "run.json"]
    try:
        make_folder(folder)
        with ThreadPoolExecutor(len(tables)) as pool:
            for job in [pool.submit(_write_and_sync, write, _aside(path)) for path, write in writes.items()]:
                job.result()
        _write_skipped(_aside(folder / "skipped.jsonl"), skipped)
        timings = {**run.get("timings_seconds", {}), "writing": round(time.perf_counter() - begin, 3)}
        described = {**run, "timings_seconds": timings, "peak_memory_bytes": peak_memory()}
        _write_text(_aside(folder / "run.json"), json.dumps(described, indent=2, ensure_ascii=False) + "\n")
        for path in paths[-2:]:
            sync_file(_aside(path))
        with suppress(FileNotFoundError):
            (folder / "run.json").unlink()
            sync_folder(folder)
        if clear:
            clear_output(folder, but=[_aside(path) for path in paths])
        for path in paths[:-1]:
            os.replace(_aside(path), path)
        sync_folder(folder)
        os.replace(_aside(paths[-1]), paths[-1])
        sync_folder(folder)
    except OSError as error:
        raise ResourceError(
            f"cannot write to {folder}: {error.strerror or error}", "Check disk space and permissions."
        ) from error
    finally:
        for path in paths:
            with suppress(OSError):
                _aside(path).unlink(missing_ok=True)
    return paths


def write_skipped(path: Path, skipped: Sequence[Skipped]) -> Path:
    """Write the skipped records, one per line; return the path."""
    aside = _aside(path)
    try:
        _write_skipped(aside, skipped)
        replace_file(aside, path)
    finally:
        aside.unlink(missing_ok=True)
    return path


def describe_run(
    config: Config,
    inputs: Sequence[Mapping[str, Any]],
    counts: Mapping[str, int],
    timings: Mapping[str, float],
    resources: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Return the content of `run.json`: version, settings, inputs, counts, timings and resources used."""
    return {
        "version": __version__,
        "finished": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "settings": settings_by_stage(config),
        **_described_paper(config),
        **({"words": words} if (words := describe_words(config)) else {}),
        "folder": os.getcwd(),  # paths of inputs are relative to this
        "inputs": list(inputs),
        "counts": dict(counts),
        "timings_seconds": {name: round(seconds, 3) for name, seconds in timings.items()},
        "peak_memory_bytes": peak_memory(),
        **(resources or {}),
    }


def _described_paper(config: Config) -> dict[str, Any]:
    """Return which paper was run as printed, if any, and which of its settings were given another value."""
    changed = {name: {"printed": _plain(printed), "used": _plain(used)} for name, printed, used in departures(config)}
    name = config.signatures.as_paper
    return {} if name == NO_PAPER else {"paper": {"name": name, "changed": changed}}


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Fraction) else value


def settings_by_stage(config: Config) -> dict[str, dict[str, Any]]:
    """Return the settings as `run.json` records them."""
    settings = config.recorded()
    del settings["engine"]["work_dir"]  # it lasts as long as the run
    return settings


def _aside(path: Path) -> Path:
    """Return where a file is written before it takes its name."""
    return path.with_name(path.name + ".part")


def _write_and_sync(write: Callable[[Path], None], path: Path) -> None:
    """Write a file to disk; the tables wait for it side by side."""
    write(path)
    sync_file(path)


def _write_skipped(path: Path, skipped: Sequence[Skipped]) -> None:
    _write_text(path, "".join(json.dumps(asdict(record), ensure_ascii=False) + "\n" for record in skipped))


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="surrogatepass")


def _parts(rows: pa.Table | pa.RecordBatchReader) -> Iterator[pa.Table]:
    """Yield a table as it is, and a stream in parts of some size."""
    if isinstance(rows, pa.Table):
        yield rows
        return
    waiting: list[pa.RecordBatch] = []
    n_bytes = 0
    for batch in rows:
        waiting.append(batch)
        n_bytes += batch.nbytes
        if n_bytes >= _PART_BYTES:
            yield pa.Table.from_batches(waiting)
            waiting, n_bytes = [], 0
    yield pa.Table.from_batches(waiting, schema=rows.schema)


def _write_parquet(rows: pa.Table | pa.RecordBatchReader, path: Path) -> None:
    import pyarrow.parquet

    # Measured on four million passages: lz4 is twice as fast as zstd and a quarter larger; the smallest and largest id of a row
    # group cost a third of the time and are useless.
    with pyarrow.parquet.ParquetWriter(
        path,
        rows.schema,
        compression="lz4",
        use_dictionary=[field.name for field in rows.schema if pa.types.is_dictionary(field.type)],
        write_statistics=[field.name for field in rows.schema if pa.types.is_primitive(field.type)],
    ) as writer:
        for table in _parts(rows):
            writer.write_table(table, row_group_size=_GROUP_ROWS)


def _write_csv(rows: pa.Table | pa.RecordBatchReader, path: Path) -> None:
    import pyarrow.csv

    schema = pa.schema([(field.name, _flat_type(field.type)) for field in rows.schema])
    with pyarrow.csv.CSVWriter(path, schema) as writer:
        for table in _parts(rows):
            columns = []
            for column, kind in zip(table.columns, schema.types, strict=True):
                if pa.types.is_nested(column.type):  # CSV stores nested values as JSON
                    cells = [json.dumps(value, ensure_ascii=False) for value in column.to_pylist()]
                    columns.append(pa.array(cells, kind))
                else:
                    columns.append(column.cast(kind))
            writer.write_table(pa.table(columns, schema=schema))


def _flat_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return kind.value_type
    return pa.large_string() if pa.types.is_nested(kind) else kind


def _write_jsonl(rows: pa.Table | pa.RecordBatchReader, path: Path) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for table in _parts(rows):
            for batch in table.to_batches(max_chunksize=_JSON_BATCH_ROWS):
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())
