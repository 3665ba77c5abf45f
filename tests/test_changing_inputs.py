"""Inputs that change between the two readings of `dedup`: it refuses, and what was there before stays."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from tests.changing_inputs import (
    CHANGES,
    FORMATS,
    LEVELS,
    MOMENTS,
    SENTENCES,
    Case,
    contents,
    run_by_chance,
    run_case,
    write_texts,
)

TEXTS = st.lists(st.lists(st.integers(0, len(SENTENCES) - 1), min_size=1, max_size=4).map(tuple), min_size=2, max_size=6)
CASES = st.builds(
    lambda texts, *rest: Case((*texts, *texts[:2]), *rest),
    TEXTS, st.sampled_from(FORMATS), st.sampled_from(LEVELS), st.sampled_from(CHANGES), st.integers(0, MOMENTS - 1),
    st.booleans(), st.booleans(),
)  # fmt: skip
UNIQUE = [f"Report number {number} is about the bridge, the river and house {number * 7} beside it." for number in range(40)]


@settings(max_examples=60, deadline=None)
@given(CASES)
def test_nothing_is_lost_whatever_changes_at_any_moment(tmp_path_factory: Any, case: Case) -> None:
    run_case(case, tmp_path_factory.mktemp("case"))


def test_runs_by_chance_end_in_both_ways() -> None:
    assert set(run_by_chance(40, seed=1)) == {"cleaned", "refused"}


def write_export(path: Path, turned: bool) -> None:
    """Write twenty texts twice, or the other way round: as many bytes."""
    texts = UNIQUE[:20] + UNIQUE[20:] + UNIQUE[:20]
    rows = [{"id": f"{number:03}", "text": text} for number, text in enumerate(texts[::-1] if turned else texts)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.mark.parametrize("mark_only", [False, True])
@pytest.mark.parametrize("partitions", [0, 2])
@pytest.mark.parametrize("unseen", [False, True])
def test_an_export_that_was_sorted_again_is_refused(tmp_path: Path, mark_only: bool, partitions: int, unseen: bool) -> None:
    source, out = tmp_path / "export.jsonl", tmp_path / "out"
    write_export(source, turned=False)
    ibidem.dedup(str(source)).write(out)
    earlier, state = contents(out), source.stat()
    with ibidem.dedup(str(source), mark_only=mark_only, partitions=partitions, shingle_size=3) as result:
        assert len(result) == 20
        write_export(source, turned=True)
        assert source.stat().st_size == state.st_size
        if unseen:
            os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns))
        which = r" \(record \d+\)" if unseen else ""
        with pytest.raises(ibidem.InputError, match=rf"export\.jsonl changed after it was read{which}"):
            result.write(out, overwrite=True)
        with pytest.raises(ibidem.InputError, match="changed after it was read"):
            list(result.remaining())
    assert contents(out) == earlier


def test_records_given_as_objects_that_change_are_refused() -> None:
    records = [{"id": "a", "text": UNIQUE[0]}, {"id": "b", "text": UNIQUE[0]}]
    result = ibidem.dedup(records)
    records[1]["text"] = UNIQUE[1]
    with pytest.raises(ibidem.InputError, match="the document b changed after it was read"):
        list(result.remaining())


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("level", LEVELS)
def test_inputs_that_do_not_change_are_cleaned(tmp_path: Path, kind: str, level: str) -> None:
    (tmp_path / "inputs").mkdir()
    write_texts(tmp_path / "inputs", kind, [" ".join(SENTENCES[:3]), " ".join(SENTENCES[:3]), SENTENCES[4]])
    result = ibidem.dedup(str(tmp_path / "inputs"), level=level, shingle_size=3)
    assert len(result) == 1
    result.write(tmp_path / "out")
    assert len(list(ibidem.read(str(tmp_path / "out")))) == 2
