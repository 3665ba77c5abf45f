"""What a run tells: every step with `--verbose`, and what it used of the machine in `run.json`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import ibidem
from ibidem.execution.progress import Progress, Step
from tests.cli.test_find import Run, said, write_jsonl
from tests.execution.disk.sameness import written
from tests.execution.random_collections import random_records

SIZE = r"[\d.,]+ (?:bytes|kB|MB|GB)"
STAGE = re.compile(rf"(\S+) +(\d+\.\d) s  memory {SIZE} now, {SIZE} peak(?:; .*)?")
STEP = re.compile(
    rf"  (\S+) +(\d+\.\d) s  memory {SIZE} now, {SIZE} peak; read {SIZE} \({SIZE}/s\), wrote {SIZE}, on disk {SIZE}"
)
STAGES = {
    "find": {"inputs", "sentences", "matches", "passages", "alignment", "tables", "writing"},
    "cluster": {"inputs", "shingles", "pairs", "clusters", "tables", "writing"},
    "dedup": {"inputs", "shingles", "pairs", "clusters", "differences", "tables", "writing"},
}
USED = ("spilled_bytes", "spilled_bytes_peak", "partitions")


@pytest.fixture
def news(tmp_path: Path) -> str:
    """A file of documents."""
    return write_jsonl(tmp_path / "news.jsonl", random_records(3, 14))


@pytest.mark.parametrize("verb", STAGES)
def test_every_step_is_told_of(verb: str, run: Run, news: str) -> None:
    answer = run(verb, news, "-o", "out", "--partitions", "3", "--verbose")
    said(answer, 0, "ibidem: temporary files go to ")
    lines = answer.err.splitlines()
    steps = [match[1] for line in lines if (match := STEP.fullmatch(line))]
    stages = [match[1] for line in lines if (match := STAGE.fullmatch(line))]
    assert set(stages) == STAGES[verb]
    assert len(steps) >= 10
    assert len(steps) == len(set(steps))
    (inputs,) = (line for line in lines if line.startswith("inputs "))
    assert re.search(rf"read {SIZE} \({SIZE}/s\)", inputs)
    assert any("14 documents" in line for line in lines if STAGE.fullmatch(line))


def test_a_run_in_memory_tells_of_its_stages(run: Run, news: str) -> None:
    lines = run("find", news, "-o", "out", "-v").err.splitlines()
    stages = [match[1] for line in lines if (match := STAGE.fullmatch(line))]
    assert {"sentences", "matches", "passages", "writing"} <= set(stages)
    assert not any(STEP.fullmatch(line) for line in lines)


def test_little_is_told_otherwise(run: Run, news: str) -> None:
    assert run("find", news, "-o", "quiet", "--partitions", "3", "--quiet").err == ""
    answer = run("find", news, "-o", "out", "--partitions", "3")
    assert sum(line.startswith("ibidem: ") for line in answer.err.splitlines()) == 1, answer.err
    assert not any(map(STEP.fullmatch, answer.err.splitlines()))


@pytest.mark.parametrize("verb", STAGES)
def test_what_was_used_is_in_run_json(verb: str, run: Run, news: str, tmp_path: Path) -> None:
    said(run(verb, news, "-o", "whole"), 0)
    said(run(verb, news, "-o", "stored", "--partitions", "3"), 0)
    whole, stored = (json.loads((tmp_path / name / "run.json").read_text("utf-8")) for name in ("whole", "stored"))
    for told in (whole, stored):
        assert told["peak_memory_bytes"] > 10_000_000
        assert "work_dir" not in json.dumps(told["settings"])
    assert not set(USED) & set(whole)
    assert all(isinstance(stored[name], int) and stored[name] > 0 for name in USED)
    assert stored["spilled_bytes_peak"] <= stored["spilled_bytes"]
    assert 2 <= stored["partitions"] <= 14
    assert set(whole) <= set(stored)
    assert whole["counts"].items() - {("largest_class", whole["counts"].get("largest_class"))} <= stored["counts"].items()


def test_progress_is_told_of_steps() -> None:
    class Listening(Progress):
        def __init__(self) -> None:
            super().__init__()
            self.steps: list[Step] = []

        def add_step(self, step: Step) -> None:
            self.steps.append(step)

    listening = Listening()
    with written(random_records(3, 14)) as (inputs,), ibidem.find(inputs, partitions=3, progress=listening):
        pass
    assert len(listening.steps) > 10
    assert all(step.seconds >= 0 and step.n_read_bytes >= 0 for step in listening.steps)
    assert max(step.n_stored_bytes for step in listening.steps) <= listening.resources["spilled_bytes_peak"]
    assert sum(step.n_written_bytes for step in listening.steps) <= listening.resources["spilled_bytes"]
    assert {"inputs", "sentences", "matches", "passages", "tables"} <= set(listening.timings)
