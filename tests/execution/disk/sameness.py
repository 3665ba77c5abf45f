"""A run whose stages are stored against the same run in memory: tables, counts, and all that a result can be asked for."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import ibidem

# Any number of partitions, and so little memory that tasks run one by one, or enough for all of them side by side.
ways = st.fixed_dictionaries(
    {
        "partitions": st.sampled_from([1, 2, 3, 5, 20]),
        "memory": st.sampled_from(["1MB", "200MB", "4GB"]),
        "workers": st.sampled_from([1, 2, 3]),
    }
)
_MORE_IN_MEMORY = ("largest_class",)  # a figure that only the run in memory has a use for


def examples(count: int) -> Any:
    """Return settings for a test that tries so many cases, always the same ones."""
    return settings(max_examples=count, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@contextmanager
def written(*sides: Sequence[dict[str, Any]] | None) -> Iterator[list[str | None]]:
    """Write records as files, for as long as they are needed; None stays None."""
    with tempfile.TemporaryDirectory() as folder:
        paths: list[str | None] = []
        for number, side in enumerate(sides):
            paths.append(None if side is None else str(Path(folder) / f"side{number}.jsonl"))
            if side is not None:
                write_lines(Path(folder) / f"side{number}.jsonl", side)
        yield paths


def write_lines(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    """Write records as JSON lines; return the path."""
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")
    return path


def plain(table: pa.Table) -> pa.Table:
    """Return a table in one piece, with ids and words as they are."""
    columns = [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in table.columns]
    return pa.table(columns, names=table.column_names).combine_chunks()


def check_same_table(stored: pa.Table, whole: pa.Table) -> None:
    """Check that two tables have the same columns of the same types, and the same rows in the same order."""
    assert stored.schema.equals(whole.schema), f"{stored.schema}\nis not\n{whole.schema}"
    assert plain(stored).to_pylist() == plain(whole).to_pylist()


def check_same_run(stored: Any, whole: Any) -> None:
    """Check that two results tell the same of their runs."""
    assert type(stored) is type(whole)
    assert (stored.backing.storage, whole.backing.storage) == ("disk", "memory"), "the run that should be stored was not"
    ours, theirs = ({k: v for k, v in r.run()["counts"].items() if k not in _MORE_IN_MEMORY} for r in (stored, whole))
    assert ours == theirs
    assert list(stored.skipped) == list(whole.skipped)
    assert list(stored.notices) == list(whole.notices)
    assert list(stored.inputs) == list(whole.inputs)
    assert len(stored) == len(whole)


def check_same_find(inputs: Any, against: Any = None, *, way: dict[str, Any], **call: Any) -> ibidem.Result:
    """Check that `find` gives the same stored as in memory; return what it gives in memory."""
    whole: ibidem.Result = ibidem.find(inputs, against=against, workers=1, **call)
    with ibidem.find(inputs, against=against, **way, **call) as stored:
        for name in ("passages", "documents", "repeats"):
            check_same_table(getattr(stored, name), getattr(whole, name))
        check_same_run(stored, whole)
        check_same_table(stored.with_texts(), whole.with_texts())
        assert list(stored) == list(whole)
        for count in (1, 3, len(whole) + 1):
            assert stored.longest(count) == whole.longest(count)
        ours, theirs = stored.overview(), whole.overview()
        assert (ours.kinds, ours.n_repeats, ours.n_reused) == (theirs.kinds, theirs.n_repeats, theirs.n_reused)
        assert ours.n_documents == theirs.n_documents
    return whole


def check_same_cluster(inputs: Any, against: Any = None, *, way: dict[str, Any], **call: Any) -> ibidem.ClusterResult:
    """Check that `cluster` gives the same stored as in memory; return what it gives in memory."""
    call = {"hash_seed": 1, **call}  # which documents meet at common shingles depends on it
    whole: ibidem.ClusterResult = ibidem.cluster(inputs, against=against, workers=1, **call)
    with ibidem.cluster(inputs, against=against, **way, **call) as stored:
        check_same_table(stored.duplicates, whole.duplicates)
        check_same_table(stored.clusters, whole.clusters)
        check_same_run(stored, whole)
        assert stored.overview() == whole.overview()
    return whole


def check_same_dedup(inputs: Any, against: Any = None, *, way: dict[str, Any], **call: Any) -> Any:
    """Check that `dedup` decides the same stored as in memory, and writes the same files; return what it gives in memory."""
    call = {"hash_seed": 1, **call}
    whole = ibidem.dedup(inputs, against=against, workers=1, **call)
    with ibidem.dedup(inputs, against=against, **way, **call) as stored, tempfile.TemporaryDirectory() as folder:
        check_same_table(stored.removed, whole.removed)
        check_same_run(stored, whole)
        assert list(stored.remaining()) == list(whole.remaining())
        assert list(stored.changes()) == list(whole.changes())
        assert stored.overview() == whole.overview()
        for ours, theirs in zip(stored.first_removed(2), whole.first_removed(2), strict=True):
            assert theirs.items() <= ours.items()
        for mark_only in (False, True):
            sides = [Path(folder) / f"{name}-{mark_only}" for name in ("stored", "whole")]
            for side, result in zip(sides, (stored, whole), strict=True):
                result.write(side, mark_only=mark_only)
            assert files_of(sides[0]) == files_of(sides[1])
    return whole


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder of results by name; `run.json` tells of times and is left out."""
    found = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    assert "run.json" in found, f"{folder} holds no whole result: {sorted(found)}"
    return {name: path.read_bytes() for name, path in found.items() if name != "run.json"}
