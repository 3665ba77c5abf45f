"""One traced process for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crash.all_kinds import KINDS
from tests.crash.calls import why_not
from tests.crash.disk import Trace
from tests.crash.kinds import Kind
from tests.crash.replay import trace_kinds
from tests.index_faults import quick_folder


@dataclass(frozen=True)
class Traced:
    """What all kinds of folders were traced to be, and where states are rebuilt."""

    kinds: dict[str, Kind]
    traces: dict[str, Trace]
    place: Path


@pytest.fixture(scope="session")
def traced() -> Iterator[Traced]:
    if reason := why_not():
        pytest.skip(reason)
    with quick_folder() as folder:
        given = folder / "given"
        given.mkdir()
        kinds = {name: kind(given) for name, kind in KINDS.items()}
        yield Traced(kinds, trace_kinds(kinds, folder), folder / "place")
