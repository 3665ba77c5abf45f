"""Complexity fuzzing, short: fixed genomes, and work that is counted instead of timed, so that no machine is too busy for it.

What is counted: bytes that go into kernels, pairs of sets that the join may compare, bytes of arrays at their peak, rows, and
alignments.
`python -m fuzz.complexity` measures time, and looks for further genomes.
"""

from __future__ import annotations

import random
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core.registry import CPUDispatcher

import fuzz.verbs
from fuzz.complexity import BUDGET, Scored, search, summarise, worst_of
from fuzz.measuring import Growth, Measured, Worker, fit_exponent, measure_here
from fuzz.shapes import KNOWN, Genome, Shape, draw, mutate
from fuzz.verbs import VERBS, documents_of
from ibidem.alignment import aligner
from ibidem.alignment.kernels.room import Room
from ibidem.matches import join
from tests.texts import render, word

SIZES = (40_000, 80_000, 160_000)
FREE_BYTES = 16 << 20
CASES = [
    ("find", "one template, many documents"),
    ("find", "two templates"),
    ("find", "one sentence, two documents"),
    ("find", "near copies"),
    ("find-exact", "one sentence, tiny documents"),
    ("cluster", "near copies"),
    ("cluster", "one sentence, tiny documents"),
    ("dedup-passage-words", "one template, one document"),
    ("dedup-sentence", "nested"),
    ("compare", "nested"),
    ("index-query", "one sentence, two documents"),
    ("index-watch", "near copies"),
]


@dataclass
class Work:
    """What was done so far."""

    n_kernel_bytes: int = 0
    n_pairs: int = 0
    n_peak_bytes: int = 0
    n_rows: int = 0


def bytes_of(argument: Any) -> int:
    """Return the size of an array, or of all arrays of a record."""
    if isinstance(argument, tuple):
        return sum(map(bytes_of, argument))
    return int(argument.nbytes) if isinstance(argument, np.ndarray) else 0


@contextmanager
def counting(work: Work) -> Iterator[None]:
    """Count what kernels are given, and how many pairs that lets the join compare."""
    call = CPUDispatcher.__call__

    def counted(kernel: Any, *arguments: Any) -> Any:
        work.n_kernel_bytes += sum(map(bytes_of, arguments))
        if kernel.py_func.__name__ == "join_sets" and arguments[4] == 0:  # the first task of the probes
            sets, postings = arguments[:2]
            n_postings = np.diff(postings.first[sets.n_single :])
            paired = n_postings[n_postings <= join.MOST_POSTINGS]
            work.n_pairs += int((paired * (paired - 1) // 2).sum())
        result = call(kernel, *arguments)
        if kernel.py_func.__name__ == "count_pairs":
            work.n_pairs += int(arguments[-1].sum())
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CPUDispatcher, "__call__", counted, raising=False)
        yield


def work_of(verb: str, genome: Genome, size_bytes: int, folder: Path) -> Work:
    work = Work()
    with VERBS[verb](documents_of(genome.texts(size_bytes)), folder) as run, counting(work):
        tracemalloc.start()
        try:
            work.n_rows = run()
            work.n_peak_bytes = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    return work


def problems_of(verb: str, genome: Genome, folder: Path) -> list[str]:
    """Return what grows too fast, or is too much at the largest size."""
    works = [work_of(verb, genome, size_bytes, folder) for size_bytes in SIZES]
    problems = []
    for name, least in (("n_kernel_bytes", FREE_BYTES), ("n_pairs", 100_000), ("n_peak_bytes", FREE_BYTES), ("n_rows", 1000)):
        exponent = fit_exponent([(size, getattr(work, name)) for size, work in zip(SIZES, works, strict=True)], least)
        if exponent > BUDGET.exponent:
            problems.append(f"{name} grows with N^{exponent:.2f}")
    if works[-1].n_peak_bytes > FREE_BYTES + BUDGET.memory_per_byte * SIZES[-1]:
        problems.append(f"{works[-1].n_peak_bytes:,} bytes at the peak")
    if works[-1].n_rows > BUDGET.rows_per_byte * SIZES[-1]:
        problems.append(f"{works[-1].n_rows:,} rows")
    return problems


@pytest.fixture(autouse=True)
def few_postings(monkeypatch: pytest.MonkeyPatch) -> None:
    """What happens at thousands of sentences happens at a hundred."""
    monkeypatch.setattr(join, "MOST_POSTINGS", 64)


@pytest.mark.parametrize(("verb", "name"), CASES)
def test_work_grows_with_the_text(verb: str, name: str, tmp_path: Path) -> None:
    assert problems_of(verb, KNOWN[name], tmp_path) == []


def test_texts_with_many_passages_are_aligned_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of passages has to grow several times; the texts are not aligned again for that."""
    rooms = []

    def make_room(*sizes: int) -> Room:
        rooms.append(made(*sizes))
        return rooms[-1]

    made = aligner.make_room
    monkeypatch.setattr(aligner, "make_room", make_room)
    chance = random.Random(1)

    def some(n_words: int) -> str:
        return render([word(chance.randrange(12**4)) for _ in range(n_words)])

    shared = [some(40) for _ in range(30)]
    orders = shared, chance.sample(shared, len(shared))
    documents = documents_of([" ".join(f"{passage} {some(300)}" for passage in order) for order in orders])
    n_rows = []
    for first_rows in (1000, 0):
        monkeypatch.setattr(aligner, "FIRST_ROWS", first_rows)
        with VERBS["compare"](documents, tmp_path) as run:
            n_rows.append(run())
    assert n_rows[0] == n_rows[1] > 16
    assert [int(room.stamp[0]) for room in rooms] == [1, 1]


def test_a_join_that_looks_at_all_pairs_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join, "MOST_POSTINGS", 10**9)
    (problem,) = problems_of("find", KNOWN["two templates"], tmp_path)
    assert problem.startswith("n_pairs grows with N^")


def test_rows_that_are_all_pairs_of_places_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(VERBS, "mutant", fuzz.verbs._find(max_places=10**6))
    assert any("n_rows grows" in problem for problem in problems_of("mutant", KNOWN["one sentence, tiny documents"], tmp_path))


def test_arrays_that_are_squares_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def square(documents: fuzz.verbs.Documents, folder: Path) -> Iterator[fuzz.verbs.Work]:
        yield lambda: len(np.zeros((len(documents), len(documents)), np.int64))

    monkeypatch.setitem(VERBS, "mutant", square)
    problems = problems_of("mutant", KNOWN["one sentence, tiny documents"], tmp_path)
    assert any("n_peak_bytes grows" in problem for problem in problems)


@given(st.integers(0, 10**6))
def test_genomes_are_written_down_and_give_the_same_texts_whatever_follows(seed: int) -> None:
    chance = random.Random(seed)
    genome = mutate(draw(chance), chance)
    assert Genome.from_json(genome.to_json()) == genome
    texts = genome.texts(2_000)
    assert texts == Genome.from_json(genome.to_json()).texts(2_000)
    longer = genome.texts(4_000)
    assert len(longer) >= len(texts)
    assert all(after.startswith(before) for before, after in zip(texts, longer, strict=False))


@pytest.mark.parametrize("name", KNOWN)
def test_known_genomes_have_the_size_that_is_asked_for(name: str) -> None:
    n_bytes = sum(len(text.encode()) for text in KNOWN[name].texts(50_000))
    assert 50_000 <= n_bytes < 52_000


def test_sentences_come_again_as_their_shape_says() -> None:
    period = Shape(order="period", period=3)
    assert [period.sentence(k) for k in range(3)] == [period.sentence(k) for k in range(3, 6)]
    assert len({period.sentence(k) for k in range(3)}) == 3
    changed = replace(period, changed=4)
    before, after = changed.sentence(0).split(), changed.sentence(3).split()
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 3
    stairs = Shape(n_common=0, n_own=6, order="stairs", period=100)
    assert len(set(stairs.sentence(1).lower().split()) & set(stairs.sentence(2).lower().split())) == 4  # one has a stop


def growth_of(power: float, scale: float = 1e-6) -> Growth:
    sizes = [50_000 * 2**k for k in range(6)]
    return Growth(Genome(), tuple(Measured(size, scale * size**power, 30 * size, 0) for size in sizes))


def test_a_power_is_fitted_and_held_against_the_budget() -> None:
    assert growth_of(1).exponent == pytest.approx(1)
    assert growth_of(2, 1e-12).exponent == pytest.approx(2)
    assert growth_of(2, 1e-16).exponent == 0  # too little to tell
    assert BUDGET.exceeded(growth_of(1)) == []
    assert BUDGET.exceeded(growth_of(2, 1e-12)) == ["time grows with N^2.00"]
    assert BUDGET.exceeded(growth_of(2, 1e-14)) == []  # still next to nothing
    points = growth_of(2, 1e-12).points
    bounded = replace(points[-1], seconds=points[-2].seconds)
    assert BUDGET.exceeded(Growth(Genome(), (*points[:-1], bounded))) == []  # some limit was reached
    many = tuple(replace(point, n_rows=point.n_bytes**2 // 10**6, seconds=0.1) for point in points)
    assert BUDGET.exceeded(Growth(Genome(), many)) == ["rows grow with N^2.00"]
    points = growth_of(1).points
    last = points[-1]
    for changed, problem in (
        (replace(last, failure="not within 60 s"), "not within 60 s"),
        (replace(last, peak_bytes=400 * last.n_bytes), "400 bytes of memory per byte"),
        (replace(last, n_rows=7 * last.n_bytes), "7.0 rows per byte"),
        (replace(last, seconds=11e-6 * last.n_bytes), "11.0 s per MB"),
    ):
        assert problem in BUDGET.exceeded(Growth(Genome(), (*points[:-1], changed)))
    assert "N^1.00" in summarise("find", [growth_of(1)], 12)


def test_the_search_climbs_towards_what_is_expensive() -> None:
    """The cost has its peak at many common words and few of a sentence's own."""

    def measure(genome: Genome, size_bytes: int) -> Measured:
        shape = genome.shapes[0]
        return Measured(size_bytes, size_bytes * 1e-6 * min(100, shape.n_common) / (1 + shape.n_own), size_bytes, 0)

    def worst(n_cases: int) -> Scored:
        left = iter(range(n_cases))
        return search(measure, iter([Genome()]), lambda: next(left, None) is None, seed=1)[0]

    assert worst(1).genome == Genome()
    assert worst(1500).scores[0] > 20 * worst(1).scores[0]


def test_the_worst_of_every_kind_are_kept() -> None:
    def scored(number: int, **cost: float) -> Scored:
        measured = Measured(1000, **{"seconds": 0.001, "peak_bytes": 1, "n_rows": 1, **cost})  # type: ignore[arg-type]
        return Scored(Genome(n_sentences=number), replace(measured, seconds=0.001), measured)

    usual = [scored(number) for number in range(20)]
    special = [scored(30, seconds=9.0), scored(31, peak_bytes=10**6), scored(32, n_rows=10**6)]
    kept = worst_of([*usual, *special])
    assert {one.genome.n_sentences for one in special} <= {one.genome.n_sentences for one in kept}
    assert len(kept) <= 12
    failed = Scored(Genome(n_sentences=40), Measured(0), Measured(0, failure="ended"))
    assert worst_of([*usual, failed])[0] is failed


def test_what_is_refused_and_what_is_found_are_measured_alike(tmp_path: Path) -> None:
    refused = Genome((Shape(n_common=0, n_own=0, unit="\x00", n_units=9),), 2)
    assert measure_here(VERBS["find-exact"], refused, 2_000, 1, tmp_path).n_rows == 0
    measured = measure_here(VERBS["find-exact"], KNOWN["one sentence, two documents"], 2_000, 2, tmp_path)
    assert measured.n_rows == 1
    assert measured.n_bytes >= 2_000
    assert measured.seconds > 0


@pytest.mark.parametrize(
    ("program", "limit_seconds", "failure"),
    [
        ("import time; time.sleep(600)", 0.05, "no answer within 1 s"),
        ("input()", 60, "the process ended with 0"),
        ("import os, signal; input(); os.kill(os.getpid(), signal.SIGPROF)", 60, "more than 60 s of processor time"),
    ],
)
def test_a_process_that_hangs_ends_or_takes_too_long_is_a_failure(
    program: str, limit_seconds: float, failure: str, tmp_path: Path
) -> None:
    started = "print('{\"n_bytes\": 0}', flush=True); input(); "
    worker = Worker("find", tmp_path, limit_seconds)
    worker._command = [sys.executable, "-c", started + program]
    try:
        assert failure in worker.measure(Genome(), 1000).failure
        assert worker._process is None
    finally:
        worker.close()
