"""A run whose stages are stored: broken off and resumed, finished, and its results replaced by those of another run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tests.crash.kinds import Kind, Promise, files_in, run_command
from tests.execution.disk.sameness import write_lines
from tests.execution.random_collections import random_records

_FOLDER = "new/deep/out"
_FORMAT = ("--format", "jsonl", "--workers", "1")


class RunFolder(Kind):
    """Results of `find` in a new folder: of one collection, stored in parts, and then of another one."""

    def __init__(self, given: Path) -> None:
        super().__init__(given)
        self._expected: dict[str, dict[str, bytes]] = {}

    def prepare(self, root: Path) -> None:
        root.mkdir(parents=True)
        write_lines(self.given / "first.jsonl", random_records(3, 10))
        write_lines(self.given / "second.jsonl", random_records(4, 6, "e"))

    def change(self, root: Path, promise: Promise) -> None:
        out = root / _FOLDER
        _succeed(self._find("first", out, "--resume"))
        promise("first")
        promise("replacing")
        _succeed(self._find("second", out, "--overwrite"))
        promise("second")

    def problems(self, root: Path, promised: Sequence[str]) -> list[str]:
        out = root / _FOLDER
        last = promised[-1] if promised else "nothing"
        found = files_in(out)
        allowed = {"nothing": ["first", ""], "first": ["first"], "replacing": ["first", "second", ""], "second": ["second"]}
        which = self._which(found)
        if which not in allowed[last]:
            return [f"{last} was promised, there is {which or 'no whole result'}: {sorted(found)}"]
        if last == "nothing":
            return self._problems_of_resuming(out, is_whole=which == "first")
        return self._problems_of_overwriting("second", out)

    def _problems_of_resuming(self, out: Path, is_whole: bool) -> list[str]:
        code, said = self._find("first", out, "--resume")
        if code == 0:
            is_going_on = "continuing after" in said
            self.outcomes["resumed" if is_going_on else "begun again"] += 1
            if (which := self._which(files_in(out))) != "first":
                return [f"resumed to {which or 'something else'}: {said}"]
            return []
        if code not in (2, 5) or "Traceback" in said:
            return [f"--resume ended with {code}: {said}"]
        if is_whole and self._which(files_in(out)) != "first":
            return [f"--resume refused, and damaged what was there: {said}"]
        self.outcomes[f"refused by {_reason(said)}"] += 1
        return self._problems_of_overwriting("first", out)

    def _problems_of_overwriting(self, name: str, out: Path) -> list[str]:
        code, said = self._find(name, out, "--overwrite")
        if code:
            return [f"--overwrite ended with {code}: {said}"]
        if self._which(files_in(out)) != name:
            return [f"--overwrite gave something else: {sorted(files_in(out))}"]
        self.outcomes["overwritten"] += 1
        return []

    def _which(self, found: dict[str, bytes]) -> str:
        """Return whose results these are; nothing if they are not said to be whole."""
        if "run.json" not in found:
            return ""
        try:
            json.loads(found["run.json"])
        except ValueError:
            return "a broken run.json"
        for name in ("first", "second"):
            if _tables(found) == self._tables_of(name):
                return name
        return "a mixture"

    def _tables_of(self, name: str) -> dict[str, bytes]:
        if name not in self._expected:
            folder = self.given / f"expected-{name}"
            _succeed(self._find(name, folder, "--overwrite"))
            self._expected[name] = _tables(files_in(folder))
        return self._expected[name]

    def _find(self, name: str, out: Path, *flags: str) -> tuple[int, str]:
        parts = ("--partitions", "2") if name == "first" else ()
        return run_command("find", str(self.given / f"{name}.jsonl"), "-o", str(out), *_FORMAT, *parts, *flags)


def _tables(found: dict[str, bytes]) -> dict[str, bytes]:
    return {name: content for name, content in found.items() if name != "run.json" and not name.endswith(".part")}


def _reason(said: str) -> str:
    """Return which of the refusals that a user may meet was given."""
    words = " ".join(said.split())
    known = ("is damaged", "cannot be read", "already contains", "is not what the run stored")
    return next((f"'{reason}'" for reason in known if reason in words), words)


def _succeed(ended: tuple[int, str]) -> None:
    assert ended[0] == 0, ended[1]
