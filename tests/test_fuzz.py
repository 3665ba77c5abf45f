"""Every fuzzing target for some cases, always the same ones; `make fuzz` runs them for half an hour each."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import executing, running
from fuzz.executing import Executor
from fuzz.mutating import Mutator
from fuzz.targets import PLACES, Target, load_target

# A case of the index takes twenty times as long as one of the others.
N_CASES = {"splitter": 200, "readers": 250, "pages": 250, "index": 40, "results": 40}


def findings(folder: Path) -> list[str]:
    return [path.read_text("utf-8") for path in sorted(folder.glob("*.txt"))]


@pytest.mark.parametrize("name", N_CASES)
def test_nothing_is_found(name: str, tmp_path: Path) -> None:
    target = load_target(name)
    executor = Executor(target, tmp_path)
    # Seeds are cases too; those of some targets are more than are run here.
    mutator = Mutator(target.seeds(), target.pieces, target.max_bytes, seed_number=1)
    for _ in range(N_CASES[name]):
        case = mutator.next_case()
        outcome = executor.run(case)
        if outcome is not None:
            mutator.learn(case, outcome)
    assert findings(tmp_path) == []
    assert executor.n_cases == N_CASES[name]
    assert mutator.n_outcomes > 10


def test_every_target_is_run_here() -> None:
    assert {PLACES[name].module for name in N_CASES} == {place.module for place in PLACES.values()}


def test_cases_are_the_same_for_the_same_seed_number() -> None:
    def cases(seed_number: int) -> list[bytes]:
        mutator = Mutator([b"one two", b"three"], [b"piece"], 40, seed_number)
        found = []
        for _ in range(200):
            found.append(mutator.next_case())
            mutator.learn(found[-1], str(len(found[-1])))
        return found

    assert cases(1) == cases(1) != cases(2)
    assert max(map(len, cases(1))) <= 40
    assert len(set(cases(1))) > 100


def test_what_a_target_raises_is_found_once_and_can_be_run_again(tmp_path: Path) -> None:
    def check(data: bytes) -> str:
        if b"x" in data:
            raise ValueError("an x")
        return "none"

    executor = Executor(Target(check, list), tmp_path)
    assert [executor.run(case) for case in (b"a", b"bx", b"xc")] == ["none", None, None]
    (found,) = findings(tmp_path)
    assert "ValueError: an x" in found
    (case,) = tmp_path.glob("*.case")
    assert case.read_bytes() == b"bx"


def test_what_takes_too_long_or_too_much_memory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    peaks = iter([100, 100, 100, 900])
    monkeypatch.setattr(executing, "_peak_megabytes", lambda: next(peaks))
    Executor(Target(lambda data: str(sum(range(100_000))), list, max_seconds=1e-6), tmp_path / "slow").run(b"")
    Executor(Target(lambda data: "", list), tmp_path / "large").run(b"")
    assert "processor time" in findings(tmp_path / "slow")[0]
    assert "800 MB" in findings(tmp_path / "large")[0]


@pytest.mark.parametrize(
    ("ending", "kind"), [("kill -SEGV $$", "signal 11"), ("exit 3", "exit 3"), ("sleep 60", "hang"), ("exit 0", None)]
)
def test_a_process_that_crashes_or_hangs_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, kind: str | None
) -> None:
    script = tmp_path / "python"
    folder = tmp_path / "found"
    statistics = f"echo '{{\"cases\": 7}}' > {folder}/statistics.json"
    script.write_text(f"#!/bin/sh\nprintf case > {folder}/current\n{statistics}\n{ending}\n")
    script.chmod(0o755)
    monkeypatch.setattr(running.sys, "executable", str(script))
    monkeypatch.setattr(running, "_HANG_SECONDS", 1.5)
    monkeypatch.setattr(running, "_LOOK_EVERY_SECONDS", 0.05)
    told = running.run_for("pages", 0.001, folder, seed_number=1, guided=False)
    assert told["cases"] >= 7
    found = [(path.read_bytes(), path.with_suffix(".txt").read_text().split("\n")[0]) for path in folder.glob("*.case")]
    assert found == ([] if kind is None else [(b"case", kind)])


def test_findings_of_earlier_runs_are_tried_again_first(tmp_path: Path) -> None:
    executing.record(tmp_path, b"of old", "hang", "")
    running.run_for("pages", 0, tmp_path, seed_number=1, guided=False)
    assert findings(tmp_path) == []
    target, seeds = running._ready("pages", tmp_path)
    assert seeds == [*target.seeds(), b"of old"]


def test_without_atheris_the_mutation_loop_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "has_atheris", lambda: True)
    assert [name for name in PLACES if running.is_guided(name)] == ["readers", "index", "results"]
    monkeypatch.setattr(running, "has_atheris", lambda: False)
    assert not any(map(running.is_guided, PLACES))
