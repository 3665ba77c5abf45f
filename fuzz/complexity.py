"""Complexity fuzzing: texts that are as expensive as can be found, for every verb and every route that takes texts.

    python -m fuzz.complexity --minutes 30 --seed 1        # all verbs, their time shared evenly
    python -m fuzz.complexity --verb find --verb compare   # some of them
    python -m fuzz.complexity --verb find --replay GENOME  # measure one genome again, larger

A search begins with known and random genomes (`shapes.py`) and continues with changed copies of the worst few: those with most
time, memory or rows per byte, and those whose time grows fastest between two sizes. Then the worst are measured at doubled
sizes. What exceeds the budget of its verb is measured once more, by a new process and up to larger sizes, before it counts as a
finding. Findings are printed with the genome that reproduces them; the exit code is 1 if there are any.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzz.measuring import Growth, Measured, Worker
from fuzz.shapes import KNOWN, Genome, draw, mutate
from fuzz.verbs import VERBS

SMALL_BYTES, LARGE_BYTES = 100_000, 400_000
CONFIRMING_SECONDS, CONFIRMING_BYTES = 2.0, 12_800_000
_SEARCH_SHARE = 0.5  # of the time; the rest is for growth
_WORST = 3  # of each kind are changed further
_DRAWN_SHARE = 0.2  # of the cases are new ones
_MOST_FINDINGS = 3  # by verb: more are mostly the same one, and take long to confirm


@dataclass(frozen=True)
class Budget:
    """What a verb may take.

    Limits such as `max_places` let time and rows grow faster until they are reached. So growth counts only where costs per
    byte are no longer small, and highest at the largest size. Memory counts beyond `free_bytes`, which arrays of a fixed size
    may have.
    """

    exponent: float = 1.2
    small_seconds_per_megabyte: float = 0.2
    small_rows_per_byte: float = 0.1
    seconds_per_megabyte: float = 10.0
    memory_per_byte: float = 150.0
    rows_per_byte: float = 6.0
    free_bytes: int = 64 << 20

    def exceeded(self, growth: Growth) -> list[str]:
        """Return what a genome takes too much of."""
        problems = [growth.failure] if growth.failure else []
        last = growth.points[-1]
        is_slow = growth.is_slowing and growth.seconds_per_megabyte > self.small_seconds_per_megabyte
        is_wide = growth.is_widening and growth.rows_per_byte > self.small_rows_per_byte
        if is_slow and growth.exponent > self.exponent:
            problems.append(f"time grows with N^{growth.exponent:.2f}")
        if is_wide and growth.row_exponent > self.exponent:
            problems.append(f"rows grow with N^{growth.row_exponent:.2f}")
        if growth.seconds_per_megabyte > self.seconds_per_megabyte:
            problems.append(f"{growth.seconds_per_megabyte:.1f} s per MB")
        if last.peak_bytes > self.free_bytes + self.memory_per_byte * last.n_bytes:
            problems.append(f"{growth.memory_per_byte:.0f} bytes of memory per byte")
        if growth.rows_per_byte > self.rows_per_byte:
            problems.append(f"{growth.rows_per_byte:.1f} rows per byte")
        return problems


BUDGET = Budget()


@dataclass(frozen=True)
class Scored:
    """A genome at a small and a large size, once each."""

    genome: Genome
    small: Measured
    large: Measured

    @property
    def scores(self) -> tuple[float, float, float, float]:
        """Time, memory and rows per byte, and how fast the time grows: the larger, the worse."""
        large = self.large
        if large.failure:
            return (math.inf,) * 4
        growth = large.seconds / (self.small.seconds + 0.02)  # what takes nothing grows fast by chance
        return large.seconds / large.n_bytes, large.peak_bytes / large.n_bytes, large.n_rows / large.n_bytes, growth


def worst_of(scored: Sequence[Scored]) -> list[Scored]:
    """Return the worst few of each kind, each once: first the worst of every kind, then the second ones."""
    ranked = [sorted(scored, key=lambda one: one.scores[kind], reverse=True)[:_WORST] for kind in range(4)]
    return list({one.genome: one for rank in zip(*ranked, strict=True) for one in rank}.values())


def search(
    measure: Callable[[Genome, int], Measured], cases: Iterator[Genome], is_over: Callable[[], bool], seed: int
) -> list[Scored]:
    """Climb from `cases` towards what is expensive until it is over; return the worst few of each kind."""
    chance = random.Random(seed)
    scored: list[Scored] = []
    known: set[Genome] = set()
    while not is_over():
        genome = next(cases, None)
        if genome is None:
            is_new = not scored or chance.random() < _DRAWN_SHARE
            genome = draw(chance) if is_new else mutate(chance.choice(scored).genome, chance)
        if genome in known or not genome.texts(1):
            continue
        known.add(genome)
        small = measure(genome, SMALL_BYTES)
        large = small if small.failure else measure(genome, LARGE_BYTES)
        scored = worst_of([*scored, Scored(genome, small, large)])
    return scored


def fuzz_verb(
    verb: str, first: Sequence[Genome], seconds: float, seed: int, folder: Path, n_cases: list[int]
) -> tuple[list[Growth], list[Growth]]:
    """Search for some time, from these genomes on; return the growth of the worst, and of those that exceed the budget."""
    worker = Worker(verb, folder)
    try:
        worker.measure(Genome(), SMALL_BYTES)  # what is not compiled yet does not count
        begin = time.monotonic()

        def measure(genome: Genome, size_bytes: int) -> Measured:
            n_cases[0] += 1
            return worker.measure(genome, size_bytes)

        def is_over() -> bool:
            return time.monotonic() - begin > _SEARCH_SHARE * seconds

        worst = search(measure, iter(first), is_over, seed)
        growths: list[Growth] = []
        for scored in worst:
            if growths and time.monotonic() - begin > seconds:
                break
            growths.append(worker.growth(scored.genome))
        findings: list[Growth] = []
        for growth in growths:
            if BUDGET.exceeded(growth) and len(findings) < _MOST_FINDINGS:
                worker.close()
                again = worker.growth(growth.genome, CONFIRMING_SECONDS, CONFIRMING_BYTES)
                if BUDGET.exceeded(again):
                    findings.append(again)
    finally:
        worker.close()
    return growths, findings


def describe(growth: Growth) -> str:
    """Return the sizes of a growth, a line each."""
    lines = [
        f"    {point.n_bytes / 1e6:7.2f} MB {point.seconds:7.2f} s {point.peak_bytes / 1e6:7.0f} MB of memory"
        f" {point.n_rows:9,} rows {point.failure}"
        for point in growth.points
    ]
    return "\n".join([*lines, f"    --replay '{growth.genome.to_json()}'"])


def summarise(verb: str, growths: Sequence[Growth], n_cases: int) -> str:
    """Return the worst of everything that was seen of a verb."""
    exponent, seconds, memory, rows = (
        max(growths, key=lambda growth: getattr(growth, name))
        for name in ("exponent", "seconds_per_megabyte", "memory_per_byte", "rows_per_byte")
    )
    lines = [
        f"{verb}: {n_cases} measured",
        f"  time grows with N^{exponent.exponent:.2f} {exponent.genome.to_json()}",
        f"  {seconds.seconds_per_megabyte:.2f} s per MB {seconds.genome.to_json()}",
        f"  {memory.memory_per_byte:.0f} bytes of memory per byte {memory.genome.to_json()}",
        f"  {rows.rows_per_byte:.3f} rows per byte {rows.genome.to_json()}",
    ]
    return "\n".join(lines)


def main() -> int:
    """Run what the command line asks for; return 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.complexity", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=30, help="for all verbs together, compiling and confirming apart (30)")
    parser.add_argument("--seed", type=int, default=1, help="another number gives other genomes (1)")
    parser.add_argument("--verb", action="append", choices=list(VERBS), help="may be repeated; all if none is given")
    parser.add_argument("--new", action="store_true", help="begin with random genomes only, not with known ones")
    parser.add_argument("--replay", metavar="GENOME", help="measure this one, as a finding shows it, or a known one by name")
    options = parser.parse_args()
    verbs: list[str] = options.verb or list(VERBS)
    first = [] if options.new else list(KNOWN.values())
    n_findings = 0
    with tempfile.TemporaryDirectory(prefix="complexity-") as work:
        for verb in verbs:
            folder = Path(work)
            if options.replay is not None:
                genome = KNOWN.get(options.replay) or Genome.from_json(options.replay)
                worker = Worker(verb, folder)
                findings = [worker.growth(genome, CONFIRMING_SECONDS, CONFIRMING_BYTES)]
                worker.close()
                print(f"{verb}: N^{findings[0].exponent:.2f}\n{describe(findings[0])}", flush=True)
                findings = [growth for growth in findings if BUDGET.exceeded(growth)]
            else:
                n_cases = [0]
                growths, findings = fuzz_verb(verb, first, 60 * options.minutes / len(verbs), options.seed, folder, n_cases)
                print(summarise(verb, growths, n_cases[0]), flush=True)
            for growth in findings:
                print(f"FINDING {verb}: {'; '.join(BUDGET.exceeded(growth))}\n{describe(growth)}", flush=True)
            n_findings += len(findings)
    print(f"{n_findings} findings")
    return 1 if n_findings else 0


if __name__ == "__main__":
    sys.exit(main())
