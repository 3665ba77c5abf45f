"""What a kill would leave on disk, at every moment at which something becomes visible there.

Stages, tables and cleaned files are written aside and put in their places by `os.replace`. A copy of the folder before and
after each of these calls is what a kill at that moment leaves: nothing that is in memory counts, and locks end with their
process. So one run gives all states that there are; `tests/execution/disk/test_kills.py` checks with real kills that they are
right.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_find import Answer, Run


@dataclass(frozen=True)
class State:
    """A folder as a kill leaves it: before or after a file has got its name."""

    copy: Path
    when: str
    file: str

    @property
    def n_stages(self) -> int:
        """Number of stages that are finished."""
        return sum(1 for _ in self.copy.rglob("*.stage"))

    def __str__(self) -> str:
        return f"{self.when} {self.file}"


class Crashes:
    """Copies a folder while a run works in it, and puts the copies back."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, copies: Path) -> None:
        self.folder = folder
        self.states: list[State] = []
        self._monkeypatch = monkeypatch
        self._copies = copies
        self._n_copies = 0
        self._lock = threading.Lock()

    @contextmanager
    def watched(self, wanted: Callable[[str, str], bool], then: BaseException | None = None) -> Iterator[None]:
        """Copy the folder at every moment that is wanted, by "before" or "after" and the name of a file.

        `then` is raised after the first copy: the run need not go on.
        """
        replace = os.replace

        def copying(source: Any, target: Any) -> None:
            with self._lock:
                self._copy("before", target, wanted, then)
                replace(source, target)
                self._copy("after", target, wanted, then)

        with self._monkeypatch.context() as patch:
            patch.setattr(os, "replace", copying)
            yield

    def take(self, when: str, target: Any) -> State:
        """Copy the folder now."""
        self._n_copies += 1
        state = State(self._copies / str(self._n_copies), when, Path(target).name)
        shutil.copytree(self.folder, state.copy)  # keeps times of change: inputs are not taken for changed
        self.states.append(state)
        return state

    def _copy(self, when: str, target: Any, wanted: Callable[[str, str], bool], then: BaseException | None) -> None:
        if self.folder in Path(target).resolve().parents and wanted(when, Path(target).name):
            self.take(when, target)
            if then is not None:
                raise then

    def put_back(self, state: State) -> None:
        """Make the folder what it was."""
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        shutil.copytree(state.copy, self.folder, dirs_exist_ok=True)

    def kill(self, run: Run, *arguments: str, after_stages: int = 4) -> Answer:
        """Run the command, and leave the folder as a kill after some stages that it finishes leaves it."""
        n_stages = 0

        def wanted(when: str, name: str) -> bool:
            nonlocal n_stages
            n_stages += when == "after" and name.endswith(".stage")
            return n_stages == after_stages if after_stages else name == "work.json" and when == "after"

        with self.watched(wanted, KeyboardInterrupt()):
            answer = run(*arguments)
        assert answer.code == 130, answer.err
        self.put_back(self.states.pop())
        return answer
