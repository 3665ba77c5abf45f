"""Where the rows of results are, and that they are the same rows however they are cut into batches."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.results import memory_storage
from tests.execution.disk.sameness import files_of, write_lines
from tests.texts import documents, text


def files(folder: Path) -> list[str]:
    records = documents(text(1, 2, 3), text(4), text(1, 2, 3), text(2, 3, 5), text(1, 2, 3, 6), text(4), text(3), text(1, 2, 3))
    parts = (records[:3], records[3:4], records[4:])
    return [str(write_lines(folder / f"part{number}.jsonl", part)) for number, part in enumerate(parts)]


@pytest.mark.parametrize("mark_only", [False, True])
@pytest.mark.parametrize("call", [{"level": "document"}, {"level": "passage", "min_sentences": 2}, {"level": "sentence"}])
def test_batches_of_what_is_removed_change_nothing(
    call: dict[str, Any], mark_only: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = files(tmp_path)
    call = call | {"min_similarity": 0.6, "shingle_size": 2, "min_quote_words": 1, "hash_seed": 1}
    whole = ibidem.dedup(given, **call)
    monkeypatch.setattr(memory_storage, "_DECIDED_BATCH_ROWS", 2)
    cut = ibidem.dedup(given, **call)
    assert len(whole) > 2
    assert cut.backing.table("removed").n_batches > 1  # type: ignore[attr-defined]
    assert cut.removed.to_pylist() == whole.removed.to_pylist()
    assert list(cut.changes()) == list(whole.changes())
    assert list(cut.remaining()) == list(whole.remaining())
    assert cut.overview() == whole.overview()
    assert cut.first_removed(3) == whole.first_removed(3)
    for result, name in ((whole, "whole"), (cut, "cut")):
        result.write(tmp_path / name, mark_only=mark_only)
    assert files_of(tmp_path / "cut") == files_of(tmp_path / "whole")


def test_a_result_says_where_its_rows_are(tmp_path: Path) -> None:
    given = files(tmp_path)
    for verb in (ibidem.find, ibidem.cluster, ibidem.dedup):
        assert verb(given).backing.storage == "memory"
        with verb(given, partitions=2) as result:
            assert result.backing.storage == "disk"
    assert ibidem.compare_pairs(given, [("d0", "d2")]).backing.storage == "memory"


def test_nothing_can_be_read_of_a_closed_result(tmp_path: Path) -> None:
    given, work = files(tmp_path), tmp_path / "work"
    work.mkdir()
    found, cleaned = (verb(given, partitions=2, tmp_dir=str(work)) for verb in (ibidem.find, ibidem.dedup))
    assert len(list(work.iterdir())) == 2
    for result in (found, cleaned):
        result.close()
    assert list(work.iterdir()) == []
    for read in (
        lambda: found.passages, lambda: len(found), lambda: list(found), lambda: found.longest(1), found.with_texts,
        lambda: cleaned.removed, lambda: list(cleaned.remaining()), lambda: cleaned.write(tmp_path / "out"),
    ):  # fmt: skip
        with pytest.raises(ibidem.UsageError, match="was closed"):
            read()


def test_a_forgotten_result_removes_its_files(tmp_path: Path) -> None:
    given, work = files(tmp_path), tmp_path / "work"
    work.mkdir()
    result = ibidem.dedup(given, partitions=2, tmp_dir=str(work))
    left = result.remaining()
    del result
    gc.collect()
    assert len(list(left)) > 0  # what reads it keeps it
    del left
    gc.collect()
    assert list(work.iterdir()) == []
