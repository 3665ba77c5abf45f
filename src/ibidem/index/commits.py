"""Commits: what a writer puts on disk, under the lock of the index. First files of arrays, then a commit that names them."""

from __future__ import annotations

import secrets
import shlex
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ibidem.errors import IndexChangedError, IndexLockedError, IndexStoreError, NoIndexError
from ibidem.execution.durable_files import sync_folder
from ibidem.execution.locks import FileLock, HeldByAnotherError
from ibidem.index.array_files import check_arrays, give_name, is_written, new_name, write_arrays, write_problem
from ibidem.index.catalog import Catalog
from ibidem.index.catalog_file import CATALOG_FILE
from ibidem.index.catalog_state import Change, Mark, SegmentEntry
from ibidem.index.folder import LOCK_FILE, OpenFolder
from ibidem.index.segment import Segment
from ibidem.index.sweep import sweep
from ibidem.index.vocabulary import WordCounts


class WriterLock:
    """The lock for writing to the index in `folder`, inside a `with` block; other writers are refused at once."""

    def __init__(self, folder: Path | OpenFolder) -> None:
        if isinstance(folder, OpenFolder):
            self._lock = FileLock(folder.path / LOCK_FILE, folder.descriptor)
        else:
            self._lock = FileLock(folder / LOCK_FILE)

    def __enter__(self) -> WriterLock:
        folder = self._lock.path.parent
        try:
            self._lock.__enter__()
        except HeldByAnotherError as error:
            raise IndexLockedError(
                f"{error.who} has been writing to the index in {folder}{error.since}",
                "Wait until it has finished, or stop it, and run this again.",
            ) from None
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoIndexError(f"there is no folder {folder}", "Check the path of the index.") from error
        except OSError as error:
            raise write_problem(self._lock.path, error) from error
        return self

    def __exit__(self, *problem: object) -> None:
        self._lock.__exit__(*problem)

    def check(self) -> None:
        """Raise `IndexChangedError` if the lock file was deleted or replaced: another process may be writing by now."""
        if not self._lock.is_held():
            message = f"{self._lock.path} was deleted or replaced while this process was writing to the index"
            raise IndexChangedError(message, "Run it again when no other process writes to the index; never delete that file.")


class Commits:
    """The files and commits of one writer, which has the lock."""

    def __init__(self, lock: WriterLock, catalog: Catalog) -> None:
        self._lock, self._catalog, self._folder = lock, catalog, catalog.opened
        self._tried: set[str] = set()  # an interrupted commit may have succeeded after all
        self._identity = catalog.adopt()

    def is_own(self, mark: Mark) -> bool:
        """Return whether a commit was tried here."""
        return mark.commit in self._tried

    def check_file(self, name: str) -> None:
        """Raise `IndexDamagedError` if a file is damaged; otherwise files made from it would get valid checksums."""
        check_arrays(self._folder / name)

    def store_segment(self, segment: Segment, version: int) -> SegmentEntry:
        """Write a segment, made with that version of the word counts, to a file; the next commit must name it."""
        name = new_name("segment")
        about = {"index": self._identity, "word_counts": version}
        n_bytes = write_arrays(self._folder / name, segment.arrays(), about)
        return SegmentEntry(name, segment.n_documents, segment.n_sentences, segment.n_types, n_bytes)

    def store_counts(self, counts: WordCounts) -> str:
        """Write counts of words to a file; return its name, for the next commit."""
        name = new_name("words")
        about: dict[str, Any] = {"index": self._identity, "n_documents": counts.n_documents, "version": counts.version}
        about |= {"given": True} if counts.is_given else {}
        write_arrays(self._folder / name, counts.arrays(), about)
        return name

    def commit(self, change: Change, after: Mark) -> None:
        """Commit a change on top of the commit `after` and no other; first check that all its files exist."""
        own = secrets.token_hex(8)
        change = replace(change, after=after, commit=own)
        self._tried.add(own)
        names = [entry.name for entry in change.add_segments] + ([change.vocabulary] if change.vocabulary else [])

        def check() -> None:
            self._lock.check()
            self.refuse_shared()
            for name in names:
                if not is_written(self._folder / name):
                    message = f"{self._folder / name} was deleted before it was committed"
                    raise IndexChangedError(message, "Run it again when no other process writes to the index.")

        self._catalog.commit(change, check)
        with suppress(OSError):  # readers find the files anyway, and the next writer renames them
            for name in names:
                give_name(self._folder / name)
            if names:
                sync_folder(self._folder.handle)

    def refuse_shared(self) -> None:
        """Raise if the catalog is also in a second folder (by hard link). The new files would not be: a commit would damage
        that index.
        """
        if self._catalog.is_shared():
            path = self._folder.path / CATALOG_FILE
            message = f"{path} is hard-linked from another folder, so writing here would damage that copy"
            old, new = shlex.quote(str(path)), shlex.quote(f"{path}.new")
            step = f"Stop `serve` and `watch`, then give this index its own file: cp {old} {new} && mv {new} {old}"
            raise IndexStoreError(message, step)

    def sweep(self) -> None:
        """Delete the files that no commit needs. Readers that have them open keep them until they close."""
        with self._catalog.nobody_commits() as state:
            self._lock.check()
            sweep(self._folder, state.identity, state.named, state.dropped)
