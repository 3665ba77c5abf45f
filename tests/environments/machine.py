"""A machine that does at random what administrators do around open indexes, and checks after each step that nothing is lost.

`python -m tests.environments.machine --steps 50000` runs it for long and prints how many steps were made, which errors the
index has answered with, and that no document was lost.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from ibidem.errors import IndexStoreError
from ibidem.index.index import Index
from tests.environments.world import CATALOG, Documents, Folder, Handle, LostError, Stream, World, copy, found_in, records

WHICH = st.integers(0, 7)
LINKS = ("link-1", "link-2")
STEPS_A_RUN = 40
_MOST_HANDLES, _MOST_STREAMS, _MOST_BACKUPS = 4, 2, 3


class Environment(RuleBasedStateMachine):
    """Indexes in four places and two links to them; handles and streams stay open while all of it is moved about.

    What a handle does must reach the folder that it was opened on, or be an error of the index that changes nothing.
    """

    n_steps: ClassVar[Counter[str]] = Counter()
    errors: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self._before = os.getcwd()
        self._scratch = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.root = Path(os.path.realpath(self._scratch.name))
        self.world = World(self.root, self.errors)
        self.handles: list[Handle] = []
        self.streams: list[Stream] = []
        self.links = dict.fromkeys(LINKS, "")
        os.chdir(self.root)

    def teardown(self) -> None:
        os.chdir(self._before)
        for handle in self.handles:
            with suppress(IndexStoreError):
                handle.index.close()
        self._scratch.cleanup()

    @initialize()
    def two_indexes(self) -> None:
        for place in ("x", "sub/x"):
            self.world.make(place, self.world.new_documents(2))
        for link in LINKS:
            self._switch(link, "x")
        self.world.check(set(self.world.folders))

    # --- What users do ------------------------------------------------------------------------------------------------

    @precondition(lambda self: len(self.handles) < _MOST_HANDLES)
    @rule(which=WHICH, way=st.sampled_from(["absolute", "relative", *LINKS]))
    def open(self, which: int, way: str) -> None:
        folder = _pick(self.world.there(), which)
        path: Path | str = self.world.path(folder)
        if way in LINKS:
            path = self.root / way
            folder = next((f for f in self.world.there() if f.place == self.links[way]), None)
        elif way == "relative":
            path = os.path.relpath(path)
        if folder is None:
            return
        self.count("open")
        self.handles.append(Handle(Index(path, create=False, workers=1), folder))
        self.world.check({folder})

    @precondition(lambda self: self.handles)
    @rule(which=WHICH)
    def close(self, which: int) -> None:
        self.count("close")
        handle = _pick(self.handles, which)
        self.handles.remove(handle)
        streams = [stream for stream in self.streams if stream.arrivals in list(handle.index._streams)]
        self.streams = [stream for stream in self.streams if stream not in streams]
        states = [state for stream in streams for state in _prefixes(stream)]  # what was answered is committed
        self.attempt("close", handle.folder, states, handle.index.close, must_change=False)

    @precondition(lambda self: self.handles)
    @rule(which=WHICH, n=st.integers(1, 2), streamed=st.booleans())
    def add(self, which: int, n: int, streamed: bool) -> None:
        handle = _pick(self.handles, which)
        new = self.world.new_documents(n)
        change = (lambda: list(handle.index.watch(records(new)))) if streamed else (lambda: handle.index.add(records(new)))
        self.attempt("watch" if streamed else "add", handle.folder, [new], change)

    @precondition(lambda self: self.handles)
    @rule(which=WHICH, document=WHICH)
    def replace(self, which: int, document: int) -> None:
        handle = _pick(self.handles, which)
        if not handle.folder.documents:
            return
        name = _pick(sorted(handle.folder.documents), document)
        new = self.world.new_documents(1, [name])
        self.world.gone.append(handle.folder.documents[name])
        self.attempt("replace", handle.folder, [new], lambda: handle.index.add(records(new), replace=True))

    @precondition(lambda self: self.handles)
    @rule(which=WHICH, document=WHICH)
    def remove(self, which: int, document: int) -> None:
        handle = _pick(self.handles, which)
        if not handle.folder.documents:
            return
        name = _pick(sorted(handle.folder.documents), document)
        self.world.gone.append(handle.folder.documents[name])
        self.attempt("remove", handle.folder, [], lambda: handle.index.remove(name), removed=name)

    @precondition(lambda self: self.handles)
    @rule(which=WHICH, recount=st.booleans())
    def compact(self, which: int, recount: bool) -> None:
        handle = _pick(self.handles, which)
        self.attempt("compact", handle.folder, [], lambda: handle.index.compact(recount=recount))

    @precondition(lambda self: self.handles)
    @rule(which=WHICH)
    def query(self, which: int) -> None:
        self.count("query")
        handle = _pick(self.handles, which)
        wanted = {(number, name) for name, number in handle.folder.documents.items()}
        try:
            found = found_in(handle.index, [number for number, _ in wanted])
        except IndexStoreError as error:
            self.errors[type(error).__name__] += 1
        else:
            if found != wanted:
                raise LostError(f"{handle.folder.place}: {sorted(wanted)} asked for, {sorted(found)} found")
        self.world.check(set())

    @precondition(lambda self: self.handles and len(self.streams) < _MOST_STREAMS)
    @rule(which=WHICH)
    def begin_stream(self, which: int) -> None:
        handle = _pick(self.handles, which)
        new = self.world.new_documents(2)
        arrivals = handle.index.watch(records(new), commit_every="1")
        stream = Stream(arrivals, handle.folder, new)
        if self.attempt("begin stream", handle.folder, _prefixes(stream), lambda: next(arrivals), must_change=False):
            self.streams.append(stream)

    @precondition(lambda self: self.streams)
    @rule(which=WHICH)
    def end_stream(self, which: int) -> None:
        stream = _pick(self.streams, which)
        self.streams.remove(stream)
        self.attempt("end stream", stream.folder, _prefixes(stream), lambda: list(stream.arrivals))

    # --- What administrators do ---------------------------------------------------------------------------------------

    @precondition(lambda self: self.world.free_places())
    @rule(which=WHICH, place=WHICH)
    def rename(self, which: int, place: int) -> None:
        self.count("rename")
        self._move(_pick(self.world.there(), which), _pick(self.world.free_places(), place))
        self.world.check(set())

    @precondition(lambda self: len(self.world.there()) > 1)
    @rule(which=WHICH, other=WHICH)
    def swap(self, which: int, other: int) -> None:
        self.count("swap")
        one, two = _pick(self.world.there(), which), _pick(self.world.there(), other)
        if one is not two:
            places = one.place, two.place
            self._move(one, self.world.new_name().name)
            self._move(two, places[0])
            self._move(one, places[1])
        self.world.check(set())

    @rule(which=WHICH, link=st.sampled_from(LINKS))
    def switch_link(self, which: int, link: str) -> None:
        self.count("switch link")
        self._switch(link, _pick(self.world.there(), which).place)
        self.world.check(set())

    @rule(is_sub=st.booleans())
    def change_directory(self, is_sub: bool) -> None:
        self.count("chdir")
        os.chdir(self.root / "sub" if is_sub else self.root)
        self.world.check(set())

    @rule(which=WHICH)
    def delete_lock(self, which: int) -> None:
        self.count("delete lock")
        folder = _pick(self.world.there(), which)
        (self.world.path(folder) / "lock").unlink(missing_ok=True)
        self.world.check({folder})

    @precondition(lambda self: self.world.free_places())
    @rule(which=WHICH, place=WHICH, links=st.booleans())
    def copy_folder(self, which: int, place: int, links: bool) -> None:
        self.count("hard links" if links else "copy")
        folder, free = _pick(self.world.there(), which), _pick(self.world.free_places(), place)
        copy(self.world.path(folder), self.root / free, links)
        made = self.world.enter(free, folder.documents, [folder] if links else [])
        self.world.check({made, folder})

    @rule(which=WHICH)
    def own_catalog(self, which: int) -> None:
        """Give a copy of hard links a catalog of its own, as the error says."""
        self.count("own catalog")
        folder = _pick(self.world.there(), which)
        path = self.world.path(folder) / CATALOG
        aside = shutil.copy2(path, self.world.new_name())
        os.replace(aside, path)
        self.world.check({folder})
        self.world.forget_peers(folder)

    @precondition(lambda self: len(self.world.there()) > 1)
    @rule(which=WHICH)
    def delete_folder(self, which: int) -> None:
        self.count("delete folder")
        self._delete(_pick(self.world.there(), which))
        self.world.check(set())

    @rule(which=WHICH, file=WHICH)
    def unname(self, which: int, file: int) -> None:
        """Leave a file as a writer does that is killed after its commit: without its name."""
        folder = _pick(self.world.there(), which)
        path = self.world.path(folder) / _pick(self._named(folder), file)
        if not path.exists():
            return
        self.count("unname")
        path.rename(path.with_name(path.name + ".new"))
        self.world.check({folder})

    # --- Backups ------------------------------------------------------------------------------------------------------

    @rule(which=WHICH)
    def back_up(self, which: int) -> None:
        self.count("back up")
        folder = _pick(self.world.there(), which)
        path = self.world.new_name()
        copy(self.world.path(folder), path)
        folder.backups = [*folder.backups, (path, dict(folder.documents))][-_MOST_BACKUPS:]
        self.world.check(set())

    @rule(which=WHICH, backup=WHICH)
    def restore_folder(self, which: int, backup: int) -> None:
        """`rm -r index; cp -a backup index`: a new folder with what was there then."""
        folder = _pick(self.world.there(), which)
        if not folder.backups:
            return
        self.count("restore folder")
        path, documents = _pick(folder.backups, backup)
        place = folder.place
        self._delete(folder)
        copy(path, self.root / place)
        made = self.world.enter(place, documents)
        made.backups = folder.backups
        self.world.check({made})

    @rule(which=WHICH, backup=WHICH, in_place=st.booleans(), open_before=st.booleans(), writable=st.booleans())
    def restore_catalog(self, which: int, backup: int, in_place: bool, open_before: bool, writable: bool) -> None:
        """`cp backup/catalog.sqlite index`, and a change: if it is refused, the newer catalog is put back, and all is there.

        With `writable`, everybody may write to all files before: modes must not tell what was committed.
        """
        folder = _pick(self.world.there(), which)
        if not folder.backups or folder.peers:
            return
        path, documents = _pick(folder.backups, backup)
        catalog = self.world.path(folder) / CATALOG
        if catalog.read_bytes() == (path / CATALOG).read_bytes():
            added = self.world.new_documents(1)
            self.attempt("add", folder, [added], lambda: self._add(folder, added))
        # An older catalog undoes a commit within which a writer was killed. So no commit is left like that.
        for name in self._named(folder):
            with suppress(FileNotFoundError):
                (catalog.parent / f"{name}.new").rename(catalog.parent / name)
        newer = self.world.new_name()
        shutil.copy2(catalog, newer)
        if newer.read_bytes() == (path / CATALOG).read_bytes():  # a stream has the lock
            self.world.check({folder})
            return
        self.count("restore catalog, all writable" if writable else "restore catalog")
        if writable:
            for file in catalog.parent.iterdir():
                file.chmod(0o666)
        before = Index(self.world.path(folder), create=False, workers=1) if open_before else None
        if before is not None:
            len(before)  # it has read the newer one
        later = set(os.listdir(catalog.parent)) - set(os.listdir(path))
        self._put(path / CATALOG, catalog, in_place)
        new = self.world.new_documents(1)
        try:
            with before or Index(self.world.path(folder), create=False, workers=1) as index:
                index.add(records(new))
        except IndexStoreError as error:
            self.errors[type(error).__name__] += 1
            self._put(newer, catalog, in_place)
            self.world.check({folder})
        else:  # nothing in the folder is newer than the backup, so that it goes on from there
            if missing := {name for name in later if ".ibi" in name} - set(os.listdir(catalog.parent)):
                raise LostError(f"{folder.place}: files that the newer catalog needs were deleted: {missing}")
            self.world.check({folder}, [(folder, [documents | new])])

    # --- How --------------------------------------------------------------------------------------------------------------

    def count(self, step: str) -> None:
        """Count a step."""
        self.n_steps[step] += 1

    def attempt(
        self,
        step: str,
        folder: Folder,
        added: Sequence[Documents],
        change: Callable[[], Any],
        *,
        removed: str | None = None,
        must_change: bool = True,
    ) -> bool:
        """Make a change that may be refused; see that the folder has all of it, or none. Return whether it was made.

        `added` are the states that a change may leave if it is broken off, the last one if it is not.
        """
        self.count(step)
        before = folder.documents
        states = [before | some for some in added] or [{n: s for n, s in before.items() if n != removed}]
        is_made = True
        try:
            change()
        except IndexStoreError as error:
            self.errors[type(error).__name__] += 1
            is_made = False
        allowed = [states[-1]] if is_made and must_change else [before, *states]
        self.world.check({folder}, [(folder, allowed)] if folder.place else [])
        return is_made

    def _add(self, folder: Folder, documents: Documents) -> None:
        with Index(self.world.path(folder), create=False, workers=1) as index:
            index.add(records(documents))

    def _named(self, folder: Folder) -> list[str]:
        with Index(self.world.path(folder), create=False, workers=1) as index:
            return sorted(index._catalog.state().named)

    def _switch(self, link: str, place: str) -> None:
        path = self.root / link
        path.unlink(missing_ok=True)
        path.symlink_to(self.root / place)
        self.links[link] = place

    def _move(self, folder: Folder, place: str) -> None:
        os.rename(self.world.path(folder), self.root / place)
        folder.place = place

    def _delete(self, folder: Folder) -> None:
        shutil.rmtree(self.world.path(folder))
        folder.place = ""
        self.world.forget_peers(folder)

    def _put(self, source: Path, target: Path, in_place: bool) -> None:
        if in_place:
            shutil.copyfile(source, target)
        else:
            os.replace(shutil.copy2(source, self.world.new_name()), target)


def _pick(things: Sequence[Any], which: int) -> Any:
    return things[which % len(things)] if things else None


def _prefixes(stream: Stream) -> list[Documents]:
    items = list(stream.documents.items())
    return [dict(items[:end]) for end in range(len(items) + 1)]


def run(n_examples: int, number: int, *, shrink: bool = True, steps: int = STEPS_A_RUN) -> None:
    """Run the machine so many times, always in the same way for the same number."""
    phases = [Phase.generate, Phase.shrink] if shrink else [Phase.generate]
    chosen = settings(
        max_examples=n_examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    run_state_machine_as_test(seed(number)(Environment), settings=chosen)


def main() -> None:
    """Make a number of steps and say what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    begin, number = time.monotonic(), given.seed
    while sum(Environment.n_steps.values()) < given.steps:
        run(50, number)
        number += 1
        print(f"{sum(Environment.n_steps.values()):,} steps, {time.monotonic() - begin:,.0f} s", flush=True)
    for title, counts in (("steps", Environment.n_steps), ("errors", Environment.errors)):
        print(f"{title}: {sum(counts.values()):,}: " + ", ".join(f"{name} {n:,}" for name, n in counts.most_common()))
    print("lost: 0")


if __name__ == "__main__":
    main()
