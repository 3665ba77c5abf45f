"""Which states of a disk are looked at: the corners of what is possible at every moment, and random ones between them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from tests.crash.disk import ONLY_SIZE, SECTOR_BYTES, WHOLE, Choice, Kept, Names, Trace, Tree, Truncate, Write, digest

_SHARES_KEPT = (0.1, 0.5, 0.5, 0.9)
_TORN_SHARE = 0.3  # of the writes that are kept in a random state
_ROUNDS_WITHOUT_NEWS = 3

_Corner = tuple[str, int]


@dataclass(frozen=True)
class State:
    """What a power cut before operation `end` may leave, and what was promised by then."""

    end: int
    choice: Choice
    tree: Tree
    marks: tuple[str, ...]

    def tell(self, trace: Trace) -> str:
        """Say where the power failed and what was lost."""
        lost = [f"{number} {_short(trace, number)}" for number in trace.pending(self.end) if number not in self.choice]
        torn = [f"{number} {_short(trace, number)}" for number, kept in self.choice.items() if kept != WHOLE]
        return f"before operation {self.end}, lost {lost or 'nothing'}, torn {torn or 'nothing'}"


def sample_states(trace: Trace, n_states: int, seed: int) -> Iterator[State]:
    """Yield so many different states, or all that are found; the same ones for the same seed.

    States are the same if names, contents and promises are. Half of them at most are corners.
    """
    chance = random.Random(seed)
    seen: set[tuple[bytes, int]] = set()
    corners = [(end, corner) for end in range(len(trace) + 1) for corner in _corners(trace, end)]
    if len(corners) > n_states // 2:
        corners = chance.sample(corners, n_states // 2)
    plan = ((end, _choose(trace, end, corner)) for end, corner in corners)
    n_idle = 0
    while len(seen) < n_states and n_idle < _ROUNDS_WITHOUT_NEWS:
        n_before = len(seen)
        for end, choice in plan:
            state = _state(trace, end, choice)
            key = digest(state.tree), len(state.marks)
            if key not in seen and len(seen) < n_states:
                seen.add(key)
                yield state
        n_idle = 0 if len(seen) > n_before else n_idle + 1
        ends = chance.choices(range(len(trace) + 1), k=max(n_states - len(seen), 50))
        plan = ((end, _random_choice(trace, end, chance)) for end in ends)


def states_without(trace: Trace, forgotten: set[int], seed: int) -> Iterator[State]:
    """Yield states that are possible only if some calls of `fsync` are not made: what they saved is lost, all else is kept.

    All of it at some moment, or one operation alone, in turn and in random order: the first ones are a sample.
    """
    chance = random.Random(seed)
    poorer = trace.without(forgotten)
    together, alone = [], []
    for end in range(len(trace) + 1):
        if saved := [number for number in poorer.pending(end) if trace.is_certain(number, end)]:
            together.append((end, saved))
            alone += [(end, [number]) for number in saved]
    seen: set[tuple[bytes, int]] = set()
    chance.shuffle(together)
    chance.shuffle(alone)
    for end, lost in (case for cases in zip_longest(together, alone) for case in cases if case is not None):
        state = _state(poorer, end, {number: WHOLE for number in poorer.pending(end) if number not in lost})
        if (key := (digest(state.tree), len(state.marks))) not in seen:
            seen.add(key)
            yield state


def _state(trace: Trace, end: int, choice: Choice) -> State:
    return State(end, choice, trace.tree(end, choice), tuple(trace.marks(end)))


def _corners(trace: Trace, end: int) -> list[_Corner]:
    """Return what to keep: all (a killed process leaves that), nothing, names or contents only, all but one, one, the first."""
    pending = trace.pending(end)
    if not pending:
        return [("all", 0)]
    inodes = {trace.operations[number].inode for number in pending}  # type: ignore[union-attr]
    return [
        ("all", 0), ("nothing", 0), ("names", 0), ("contents", 0), ("names and sizes", 0),
        *(("but file", inode) for inode in inodes),
        *((what, number) for number in pending for what in ("but", "only")),
        *(("first", count) for count in range(1, len(pending))),  # in their order, as with a journal
    ]  # fmt: skip


def _choose(trace: Trace, end: int, corner: _Corner) -> Choice:
    """Return what a corner keeps; there are too many of them to keep all."""
    pending = trace.pending(end)
    names = {number for number in pending if isinstance(trace.operations[number], Names)}
    what, which = corner
    if what == "names and sizes":
        return {number: WHOLE if number in names else ONLY_SIZE for number in pending}
    kept = {
        "all": pending,
        "nothing": (),
        "names": names,
        "contents": [number for number in pending if number not in names],
        "but file": [number for number in pending if trace.operations[number].inode != which],  # type: ignore[union-attr]
        "but": [number for number in pending if number != which],
        "only": [which],
        "first": pending[:which],
    }
    return dict.fromkeys(kept[what], WHOLE)


def _random_choice(trace: Trace, end: int, chance: random.Random) -> Choice:
    share = chance.choice(_SHARES_KEPT)
    choice: dict[int, Kept] = {}
    for number in trace.pending(end):
        operation = trace.operations[number]
        if chance.random() < share:
            is_torn = isinstance(operation, Write) and chance.random() < _TORN_SHARE
            choice[number] = _torn(operation, chance) if is_torn and isinstance(operation, Write) else WHOLE
    return choice


def _torn(operation: Write, chance: random.Random) -> Kept:
    size = len(operation.data)
    n_sectors = size // SECTOR_BYTES + 2
    return chance.choice(
        (
            ONLY_SIZE,
            Kept(chance.randrange(size), -1),
            Kept(min(size, SECTOR_BYTES * chance.randrange(n_sectors)), -1),
            Kept(size, chance.getrandbits(n_sectors)),
        )
    )


def _short(trace: Trace, number: int) -> str:
    operation = trace.operations[number]
    if isinstance(operation, Write):
        return f"write of {len(operation.data)} bytes at {operation.start} to file {operation.inode}"
    if isinstance(operation, Truncate):
        return f"cut of file {operation.inode} to {operation.size} bytes"
    return f"names {dict(operation.changes)} in folder {operation.inode}" if isinstance(operation, Names) else "nothing"
