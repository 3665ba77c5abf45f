"""The targets by name: what is fuzzed, from which seeds, and within which bounds."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Target:
    """One thing to be fuzzed.

    `check` raises if something is wrong, and otherwise says what happened. `pieces` are bytes that mean something to the
    target. A case that takes more than `max_seconds` of processor time is a finding, and so is one that takes `max_megabytes`.
    """

    check: Callable[[bytes], str]
    seeds: Callable[[], Sequence[bytes]]
    pieces: Sequence[bytes] = ()
    max_bytes: int = 4096
    max_seconds: float = 5.0
    max_megabytes: int = 512


@dataclass(frozen=True)
class Place:
    """Where a target is defined, and what its process needs before that is imported.

    `instrumented` are the modules whose branches may guide atheris; without any it is of no use. Compiled kernels are left out.
    """

    module: str
    instrumented: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


PLACES = {
    "splitter": Place("fuzz.splitter"),
    # Kernels do not check whether they read and write inside their arrays, unless they are compiled to do so.
    "splitter-checked": Place("fuzz.splitter", environment={"NUMBA_BOUNDSCHECK": "1"}),
    "readers": Place("fuzz.readers", ["ibidem.formats"]),
    "pages": Place("fuzz.pages"),
    "index": Place("fuzz.index_files", ["ibidem.index"]),
    "results": Place("fuzz.results", ["ibidem.viewer", "ibidem.evaluation"]),
}


def load_target(name: str) -> Target:
    """Return a target; what it needs is imported now."""
    target: Target = importlib.import_module(PLACES[name].module).TARGET
    return target
