"""A cleaned collection that takes the place of an earlier one, in a folder in which the user keeps a file of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from tests.crash.kinds import Kind, Promise, files_in, run_command
from tests.execution.disk.sameness import write_lines
from tests.execution.random_collections import random_records

_UNFINISHED = "unfinished.json"
_NOTES = "notes.txt"
_ROOT = re.compile(rb'"/[^"]*/((?:old|new)/)')


class CleanedFolder(Kind):
    """The results of `dedup` over those of an earlier run; inputs are in the same root."""

    def __init__(self, given: Path) -> None:
        super().__init__(given)
        self._expected: dict[str, dict[str, bytes]] = {}

    def prepare(self, root: Path) -> None:
        root.mkdir(parents=True)
        for name, seed in (("old", 5), ("new", 6)):
            (root / name / "sub").mkdir(parents=True)
            write_lines(root / name / "same.jsonl", random_records(seed, 8))
            write_lines(root / name / "sub" / f"{name}.jsonl", random_records(seed, 8, "e"))
        (root / "old" / "gone").mkdir()
        write_lines(root / "old" / "gone" / "gone.jsonl", random_records(7, 4, "f"))
        self._succeed(root, "old", root / "out")
        (root / "out" / _NOTES).write_text("mine\n", "utf-8")
        for name in ("old", "new"):
            self._succeed(root, name, self.given / f"cleaned-{name}")
            self._expected[name] = _results(files_in(self.given / f"cleaned-{name}"))
        self._inputs = {name: files_in(root / name) for name in ("old", "new")}

    def change(self, root: Path, promise: Promise) -> None:
        self._succeed(root, "new", root / "out")
        promise("new")

    def problems(self, root: Path, promised: Sequence[str]) -> list[str]:
        out = root / "out"
        found = files_in(out)
        if problems := self._untouched(root):
            return problems
        which = self._which(found)
        if which not in (["new"] if promised else ["old", "new", ""]):
            return [f"{'new' if promised else 'nothing'} was promised, there is {which or 'no whole result'}: {sorted(found)}"]
        self.outcomes[which or "unfinished, and said so"] += 1
        code, said = self._dedup(root, "new", out)
        if code != 2 or f"already contains {'an unfinished run' if not which else 'results'}" not in " ".join(said.split()):
            return [f"{which or 'unfinished'}, and dedup ended with {code}: {said}"]
        code, said = self._dedup(root, "new", out, "--overwrite")
        if code:
            return [f"--overwrite ended with {code}: {said}"]
        if (which := self._which(files_in(out))) != "new":
            return [f"--overwrite gave {which or 'nothing whole'}: {sorted(files_in(out))}"]
        return self._untouched(root)

    def _untouched(self, root: Path) -> list[str]:
        if not (root / "out" / _NOTES).exists() or (root / "out" / _NOTES).read_text("utf-8") != "mine\n":
            return ["the user's own file is gone"]
        return [f"the inputs {name} have changed" for name, files in self._inputs.items() if files_in(root / name) != files]

    def _which(self, found: dict[str, bytes]) -> str:
        """Return whose results these are; nothing if they are not said to be whole."""
        if "run.json" not in found or _UNFINISHED in found:
            return ""
        try:
            json.loads(found["run.json"])
        except ValueError:
            return "a broken run.json"
        return next((name for name, files in self._expected.items() if _results(found) == files), "a mixture")

    def _dedup(self, root: Path, name: str, out: Path, *flags: str) -> tuple[int, str]:
        return run_command("dedup", str(root / name), "-o", str(out), "--workers", "1", "--level", "sentence", *flags)

    def _succeed(self, root: Path, name: str, out: Path) -> None:
        code, said = self._dedup(root, name, out, "--overwrite")
        assert code == 0, said


def _results(found: dict[str, bytes]) -> dict[str, bytes]:
    """Return the results as they would be in any root: `removed.jsonl` names the inputs by their paths."""
    others = ("run.json", _NOTES, _UNFINISHED)
    results = {name: content for name, content in found.items() if name not in others and not name.endswith(".part")}
    return {name: _ROOT.sub(rb'"\1', content) for name, content in results.items()}
