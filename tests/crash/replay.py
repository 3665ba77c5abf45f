"""Trace a process, rebuild the states that a power cut may leave, and look at each of them."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from tests.crash.calls import record
from tests.crash.disk import Names, Sync, Trace, Tree
from tests.crash.kinds import WRITTEN_SECONDS, Kind
from tests.crash.sampling import State, sample_states, states_without
from tests.crash.tracing import read_trace, snapshot

_RANDOM = re.compile(r"(?<=[-.])[0-9a-f]{16,32}(?=\.)")  # what makes names of files unique
_STATES_BETWEEN = 500
_REPOSITORY = Path(__file__).parent.parent.parent


@dataclass
class Report:
    """What became of the states of one kind of folder."""

    kind: str
    n_states: int = 0
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    losses: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return what there is to say."""
        counts = ", ".join(f"{count:,} {name}" for name, count in self.outcomes.most_common())
        head = f"{self.kind}: {self.n_states:,} states in {self.seconds:.0f} s, {len(self.losses)} losses ({counts})"
        return [head, *(f"  {loss}" for loss in self.losses)]


def trace_kinds(kinds: dict[str, Kind], folder: Path) -> dict[str, Trace]:
    """Run the changes of all kinds in one traced process; return what each did."""
    before = {}
    for name, kind in kinds.items():
        kind.prepare(folder / name)
        before[name] = snapshot(folder / name)
    given = str(next(iter(kinds.values())).given)
    command = [sys.executable, "-m", "tests.crash.child", given, str(folder), *kinds]
    path = os.pathsep.join([str(_REPOSITORY / "src"), str(_REPOSITORY)])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    log = folder / "strace.log"
    record(command, log, _REPOSITORY, environment)
    traces = {name: read_trace(log, folder / name, *before[name]) for name in kinds}
    log.unlink()
    return traces


def check_states(
    kind: Kind,
    name: str,
    trace: Trace,
    states: Iterable[State],
    place: Path,
    most_losses: int,
    tell: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Rebuild states one after the other in a place, and look at each; stop after so many losses, `tell` how far it is."""
    report, begin = Report(name, outcomes=kind.outcomes), time.monotonic()
    kind.outcomes.clear()
    for state in states:
        rebuild(state.tree, place)
        report.n_states += 1
        try:
            problems = kind.problems(place, state.marks)
        except Exception as error:  # a bug, and not a message to the user
            problems = [f"{type(error).__name__}: {error}"]
        if problems:
            report.losses.append(f"{problems[0]} [{state.tell(trace)}]")
            if len(report.losses) >= most_losses:
                break
        report.seconds = time.monotonic() - begin
        if report.n_states % _STATES_BETWEEN == 0:
            tell(report)
    shutil.rmtree(place, ignore_errors=True)
    return report


def check_sampled(
    kind: Kind,
    name: str,
    trace: Trace,
    n_states: int,
    seed: int,
    place: Path,
    tell: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Look at so many different states."""
    return check_states(kind, name, trace, sample_states(trace, n_states, seed), place, most_losses=5, tell=tell)


def check_without(kind: Kind, name: str, trace: Trace, forgotten: set[int], place: Path, most_states: int) -> Report:
    """Look at states that are possible only if some calls of `fsync` are not made, until a loss is found."""
    states = islice(states_without(trace, forgotten, seed=1), most_states)
    return check_states(kind, name, trace.without(forgotten), states, place, most_losses=1)


def syncs_by_role(trace: Trace) -> dict[str, set[int]]:
    """Return the calls of `fsync` of a trace by what they are for: the content of a file, or the last change in a folder."""
    roles: dict[str, set[int]] = {}
    for number, operation in enumerate(trace.operations):
        if isinstance(operation, Sync):
            role = f"content of {Path(operation.path).name}"
            if operation.inode in trace.folder_numbers:
                changes = [o for o in trace.operations[:number] if isinstance(o, Names) and o.inode == operation.inode]
                role = _change_told(changes[-1]) if changes else "nothing new"
            roles.setdefault(_RANDOM.sub("*", role), set()).add(number)
    return roles


def _change_told(change: Names) -> str:
    new = [name for name, inode in change.changes if inode is not None]
    return f"name of {new[0]}" if new else f"end of {change.changes[0][0]}"


def rebuild(tree: Tree, place: Path) -> None:
    """Make a folder what a state says."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for path, content in tree.items():
        if content is None:
            (place / path).mkdir()
        else:
            (place / path).write_bytes(content)
            os.utime(place / path, (WRITTEN_SECONDS, WRITTEN_SECONDS))
