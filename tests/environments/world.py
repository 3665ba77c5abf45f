"""Folders of indexes on disk, and what has to be in each of them, whatever is done around the indexes that are open.

A `Folder` is one folder, not a path: it keeps its documents when it is renamed, and a copy of it is another one. Every document
is one sentence that no other document has, so that a query tells which version of which document is there.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ibidem.errors import IbidemError
from ibidem.index.index import Index
from tests.index_faults import sentence

Documents = dict[str, int]  # the number of the sentence, by id
CATALOG, LOCK = "catalog.sqlite", "lock"
PLACES = ("x", "y", "sub/x", "sub/y")  # the same names in two folders, so that relative paths lead to either
_ASKED_GONE = 6


class LostError(AssertionError):
    """An index is not what it has to be."""


@dataclass(eq=False)
class Folder:
    """A folder of an index. `place` is where it is, empty if it was deleted."""

    place: str
    documents: Documents
    peers: set[Folder] = field(default_factory=set)  # copies of hard links, which share the catalog
    seen: dict[str, tuple[int, ...]] = field(default_factory=dict)
    backups: list[tuple[Path, Documents]] = field(default_factory=list)


@dataclass(eq=False)
class Handle:
    """An open index."""

    index: Index
    folder: Folder


@dataclass(eq=False)
class Stream:
    """A stream that waits between two documents, with the lock held."""

    arrivals: Any
    folder: Folder
    documents: Documents


class World:
    """All folders, and the checks of them."""

    def __init__(self, root: Path, errors: Counter[str]) -> None:
        self.root = root
        self.errors = errors
        self.folders: list[Folder] = []
        self.gone: list[int] = []
        self._n_sentences = self._n_names = 0
        (root / "sub").mkdir()

    def path(self, folder: Folder) -> Path:
        """Return where a folder is."""
        return self.root / folder.place

    def there(self) -> list[Folder]:
        """Return the folders that were not deleted."""
        return [folder for folder in self.folders if folder.place]

    def free_places(self) -> list[str]:
        """Return the places where no folder is."""
        return [place for place in PLACES if place not in {folder.place for folder in self.there()}]

    def new_name(self) -> Path:
        """Return a path beside the indexes that is not used."""
        self._n_names += 1
        return self.root / f"aside-{self._n_names}"

    def new_documents(self, n: int, ids: Sequence[str] = ()) -> Documents:
        """Return documents of sentences that were nowhere before; of these ids, or new ones."""
        documents: Documents = {}
        for number in range(n):
            self._n_sentences += 1
            documents[ids[number] if ids else f"d{self._n_sentences}"] = self._n_sentences
        return documents

    def make(self, place: str, documents: Documents) -> Folder:
        """Make an index; without documents there is only its catalog."""
        with Index(self.root / place, workers=1) as index:
            if documents:
                index.add(records(documents))
        return self.enter(place, documents)

    def enter(self, place: str, documents: Documents, peers: Sequence[Folder] = ()) -> Folder:
        """Take a folder that has come into being into the world."""
        folder = Folder(place, dict(documents))
        self.folders.append(folder)
        for peer in peers:
            for one, other in ((folder, peer), *((folder, third) for third in peer.peers)):
                one.peers.add(other)
                other.peers.add(one)
        return folder

    def forget_peers(self, folder: Folder) -> None:
        """Note that a folder has a catalog of its own."""
        for peer in folder.peers:
            peer.peers.discard(folder)
        folder.peers.clear()

    def check(self, touched: set[Folder], allowed: Sequence[tuple[Folder, Sequence[Documents]]] = ()) -> None:
        """See that folders have their documents and are sound; those not `touched` must not have changed at all.

        Folders that are `allowed` may be in one of several states; they are in that one from now on.
        """
        states = dict(allowed)
        for folder in list(touched):
            touched = touched | folder.peers
        for folder in self.there():
            now = self._look(folder)
            if folder not in touched:
                if folder.seen != now:
                    raise LostError(f"{folder.place} was changed, and nobody had anything to do with it")
                continue
            possible = states.get(folder, [folder.documents])
            if folder.seen != now or folder.documents not in possible:  # not if a change was refused
                self._check_documents(folder, possible)
                folder.seen = self._look(folder)

    def _look(self, folder: Folder) -> dict[str, tuple[int, ...]]:
        """Return what can be seen of the files, except for the lock: one of hard links is that of another folder too."""
        with os.scandir(self.path(folder)) as entries:
            files = {entry.name: entry.stat() for entry in entries if entry.name != LOCK}
        return {name: (status.st_ino, status.st_size, status.st_mtime_ns) for name, status in files.items()}

    def _check_documents(self, folder: Folder, states: Sequence[Documents]) -> None:
        try:
            with Index(self.path(folder), create=False, workers=1) as index:
                if problems := index.verify():
                    raise LostError(f"{folder.place}: {problems}")
                ids = set(index._catalog.ids())
                state = next((state for state in states if set(state) == ids), None)
                if state is None:
                    raise LostError(f"{folder.place} has {sorted(ids)}, not {[sorted(state) for state in states]}")
                found = found_in(index, [*state.values(), *self.gone[-_ASKED_GONE:]])
        except IbidemError as error:
            raise LostError(f"{folder.place}: {error}") from error
        wanted = {(number, name) for name, number in state.items()}
        if {hit for hit in found if hit[0] in state.values()} != wanted or {name for _, name in found} - set(state):
            raise LostError(f"{folder.place}: {sorted(wanted)} asked for, {sorted(found)} found")
        folder.documents = dict(state)


def records(documents: Documents) -> list[dict[str, str]]:
    """Return documents as an index takes them."""
    return [{"id": name, "text": sentence(number)} for name, number in documents.items()]


def found_in(index: Index, numbers: Sequence[int]) -> set[tuple[int, str]]:
    """Return which of the sentences are in which documents."""
    if not numbers:
        return set()
    asked = [{"id": f"?{number}", "text": sentence(number)} for number in dict.fromkeys(numbers)]
    return {(int(hit.a_id[1:]), hit.b_id) for hit in index.query(asked, passages=False)}


def copy(source: Path, target: Path, links: bool = False) -> None:
    """Copy a folder, as `cp -a` or `cp -al` does."""
    shutil.copytree(source, target, copy_function=os.link if links else shutil.copy2)
