"""Which files of an index may be deleted: only those that certainly no commit needs.

    temporary      catalog-….ibi.tmp: its writer was killed
    uncommitted    segment-….ibi.new and the like that the catalog does not list: their commit was never made
    dropped        the catalog lists them as replaced by a later commit

Everything else is kept: files of other indexes, unreadable files, and those of earlier versions, which have no identity, unless
this catalog dropped them. A file gets its name (`segment-….ibi`) only after its commit. So a file of this index that the
catalog does not list shows that the catalog is older than the folder. That is an error, since a newer catalog would need the
file.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Collection
from contextlib import suppress

from ibidem.errors import IndexChangedError, IndexStoreError
from ibidem.execution.durable_files import sync_folder
from ibidem.index.array_files import KINDS, NEW, give_name, read_about, write_problem
from ibidem.index.folder import OpenFolder, Place

_FILE = re.compile(rf"({'|'.join(KINDS)})-[0-9a-f]{{16}}\.ibi({re.escape(NEW)})?")
# Earlier versions gave a file its name before its commit, and used another one while writing it.
_TEMPORARY = re.compile(rf"({'|'.join(KINDS)}|catalog)-[0-9a-f]{{16}}\.ibi\.tmp")

_UNREADABLE = "?"  # never an identity


def sweep(folder: OpenFolder, identity: str | None, named: Collection[str], dropped: Collection[str]) -> list[str]:
    """Delete the files that no commit needs; return their names. Files of a later commit raise `IndexChangedError`.

    Call it while no other process can commit.
    """
    try:
        swept, later = _sort_out(folder, identity, named, dropped)
        refuse_later(folder, later)
        for name in swept:
            with suppress(FileNotFoundError):  # a creator that lost the race removes its own file
                (folder / name).unlink()
        unnamed = set(named).difference(folder.names())
        for name in unnamed:
            with suppress(OSError):  # readers find it anyway; if it is missing, that is damage, reported elsewhere
                give_name(folder / name)
        if unnamed:
            sync_folder(folder.handle)  # as after a commit: a final name shows what was committed
    except OSError as error:
        raise write_problem(folder.path, error) from error
    return swept


def later_files(folder: OpenFolder, identity: str | None, named: Collection[str], dropped: Collection[str]) -> list[str]:
    """Return the files of this index that belong to a commit unknown to its catalog."""
    return _sort_out(folder, identity, named, dropped)[1]


def refuse_later(folder: OpenFolder, later: Collection[str]) -> None:
    """Raise if there are files of a later commit: continuing would delete committed documents."""
    if later:
        several = f"{len(later):,} files" if len(later) > 1 else "a file"
        message = (
            f"{folder}: catalog.sqlite does not list {several} of this index, such as {min(later)}, which a later commit may "
            "have written; it may have been restored from a backup"
        )
        step = (
            "Put the newer catalog.sqlite back, or restore the whole folder from the backup. "
            "To continue from the older state, move these files out of the folder."
        )
        raise IndexChangedError(message, step)


def _sort_out(
    folder: OpenFolder, identity: str | None, named: Collection[str], dropped: Collection[str]
) -> tuple[list[str], list[str]]:
    """Return the files to delete, and those of a later commit."""
    swept: list[str] = []
    later: list[str] = []
    names = folder.names()
    unnamed = {name + NEW for name in set(named).difference(names)}  # killed between commit and rename
    for name in names:
        place = folder / name
        is_temporary = bool(_TEMPORARY.fullmatch(name))
        if name in named or name in unnamed or not (is_temporary or _FILE.fullmatch(name)):
            continue
        with suppress(FileNotFoundError):  # a creator that lost the race removes its own file
            if not stat.S_ISREG(place.status().st_mode):
                continue
            owner = None if is_temporary else _owner(place)
            is_new = name.endswith(NEW) and owner in (None, identity, _UNREADABLE)  # it may be incomplete
            if is_temporary or is_new or (name in dropped and owner in (None, identity)):
                swept.append(name)
            elif owner is not None and owner == identity:
                later.append(name)
    return swept, later


def _owner(place: Place) -> str | None:
    """Return the identity of the index that wrote a file; None if it has none, or `_UNREADABLE`."""
    try:
        owner = read_about(place).get("index")
    except IndexStoreError:
        return _UNREADABLE
    return None if owner is None else str(owner)
