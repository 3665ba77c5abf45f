"""An index: documents are added, replaced, removed and watched, segments are merged. Each commit is a promise."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ibidem.errors import IbidemError, IndexChangedError
from ibidem.index.index import Index
from ibidem.index.writer import Writer
from tests.crash.kinds import Kind, Promise
from tests.index_faults import NOT_THE_INDEX, Texts, make_script, problems_of, records

SEQUENCE = ("add", "replace", "remove", "add", "recount", "watch-replace", "compact", "watch", "remove")
_FOLDER = "new/deep/index"  # none of these is there yet
_CATALOG = "catalog.sqlite"
_MORE: Texts = {"more": (1, 2, 3)}


class IndexFolder(Kind):
    """An index in a new folder of new folders. A copy of its catalog is put aside with each promise."""

    def prepare(self, root: Path) -> None:
        root.mkdir(parents=True)

    def change(self, root: Path, promise: Promise) -> None:
        n_promises = 0

        def promise_and_copy(text: str) -> None:
            nonlocal n_promises
            # Not by `shutil`, which copies inside the kernel: that is not followed.
            self._copy_of_catalog(n_promises).write_bytes((root / _FOLDER / _CATALOG).read_bytes())
            n_promises += 1
            promise(text)

        with Index(root / _FOLDER) as index:
            for number, step in enumerate(self._steps()):
                with _commits_promised(number, promise_and_copy if step.kind.startswith("watch") else _ignore):
                    step.run(index)
                promise_and_copy(f"{number + 1} 0")

    def problems(self, root: Path, promised: Sequence[str]) -> list[str]:
        folder, allowed = root / _FOLDER, self._allowed(promised)
        try:
            if not (folder / _CATALOG).exists():
                if promised:
                    return ["the index is gone"]
                self.outcomes["no index yet"] += 1
                which = 0
            else:
                problems, which = problems_of(folder, allowed)
                if problems:
                    return problems
                self.outcomes["before the change" if which == 0 else "after it, or within a stream"] += 1
            problems = self._problems_of_older_catalog(folder, len(promised))
            return problems or _problems_of_next_add(folder, allowed[which])
        except IbidemError as error:
            return [f"{type(error).__name__}: {error}"]

    def _copy_of_catalog(self, number: int) -> Path:
        return self.given / f"catalog-{number}"

    def _problems_of_older_catalog(self, folder: Path, n_promises: int) -> list[str]:
        """Put a catalog back that is one promise older: a writer must not delete a file that the promised one needs."""
        if n_promises < 2:
            return []
        copy = folder.with_name("copy")
        shutil.copytree(folder, copy)
        try:
            (copy / f"{_CATALOG}-journal").unlink(missing_ok=True)
            shutil.copyfile(self._copy_of_catalog(n_promises - 1), copy / _CATALOG)
            with Index(copy) as index:
                needed = index._catalog.state().named & _names_in(copy)  # a later commit may have dropped some
            shutil.copyfile(self._copy_of_catalog(n_promises - 2), copy / _CATALOG)
            with suppress(IndexChangedError), Index(copy) as index:
                index.remove([])
            lost = needed - _names_in(copy)
            return [f"with an older catalog, {sorted(lost)} were deleted"] if lost else []
        finally:
            shutil.rmtree(copy)

    def _steps(self) -> Any:
        return make_script(3, SEQUENCE)

    def _allowed(self, promised: Sequence[str]) -> list[Texts]:
        """Return the documents that may be there: what was committed, and what the next commits would add."""
        number, n_documents = map(int, promised[-1].split()) if promised else (0, 0)
        there: Texts = {}
        steps = self._steps()
        for step in steps[:number]:
            there = step.states(there)[-1]
        return list(steps[number].states(there)[n_documents:]) if number < len(steps) else [there]


@contextmanager
def _commits_promised(step: int, promise: Promise) -> Iterator[None]:
    """Promise after each commit of a stream how many of its documents are safe."""
    claim, commit, n_claimed = Writer.claim, Writer.commit, 0

    def counted(self: Writer, ids: Sequence[str], replace: bool) -> Any:
        nonlocal n_claimed
        serials = claim(self, ids, replace)
        n_claimed += len(ids)
        return serials

    def promised(self: Writer) -> int:
        n_added = commit(self)
        promise(f"{step} {n_claimed}")
        return n_added

    Writer.claim, Writer.commit = counted, promised  # type: ignore[method-assign]
    try:
        yield
    finally:
        Writer.claim, Writer.commit = claim, commit  # type: ignore[method-assign]


def _names_in(folder: Path) -> set[str]:
    return {name.removesuffix(".new") for name in os.listdir(folder)}


def _ignore(text: str) -> None:
    """Promise nothing."""


def _problems_of_next_add(folder: Path, there: Texts) -> list[str]:
    """See that the next change works, and sweeps away what was left over."""
    with Index(folder) as index:
        index.add(records(_MORE))
        problems = [f"after the next add: {problem}" for problem in index.verify()]
        ids, state = set(index._catalog.ids()), index._catalog.state()
    if ids != {*there, *_MORE}:
        problems.append(f"after the next add there are {sorted(ids)}")
    left = set(os.listdir(folder)) - {entry.name for entry in state.segments} - {state.vocabulary} - NOT_THE_INDEX
    return problems + ([f"left over: {sorted(left)}"] if left else [])
