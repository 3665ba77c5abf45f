"""What a disk may keep of a sequence of operations when the power fails: the strict reading of POSIX.

The content of a file is certain once `fsync` of the file has returned, a change of names once `fsync` of its folder has. Until
then each write, cut and change of names may be kept or lost whatever becomes of the others, and a write may be kept in part:
cut off at any byte, some of its sectors, or nothing but the size it gave the file. Names and content are independent: a
new name may lead to a file whose content is lost. One thing is taken for granted that every file system promises: a rename
never loses the file. Inside of one folder the old name goes when the new one comes; between two, the old one may stay.

File systems with a journal keep changes of names in their order. That is milder: all their states are among these.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

SECTOR_BYTES = 512


@dataclass(frozen=True)
class Write:
    """Bytes written to a file."""

    inode: int
    start: int
    data: bytes


@dataclass(frozen=True)
class Truncate:
    """A file cut, or lengthened with zeros."""

    inode: int
    size: int


@dataclass(frozen=True)
class Names:
    """Names of a folder that lead elsewhere now, or nowhere. If `needs` is given, that operation must be kept, too."""

    inode: int
    changes: tuple[tuple[str, int | None], ...]
    needs: int = -1


@dataclass(frozen=True)
class Sync:
    """What was done to a file or folder before operation `since` is on disk for good. `path` was its path then."""

    inode: int
    since: int
    path: str


@dataclass(frozen=True)
class Mark:
    """The process has promised something."""

    text: str


Operation = Write | Truncate | Names | Sync | Mark


@dataclass(frozen=True)
class Kept:
    """How much of a write is kept: its first bytes, of which only some sectors (a bit each, in turn) have arrived."""

    n_bytes: int
    sectors: int


WHOLE = Kept(1 << 62, -1)
ONLY_SIZE = Kept(1 << 62, 0)

Choice = Mapping[int, Kept]  # the operations that are kept of those that are not certain, by number
Tree = dict[str, bytes | None]  # paths with the contents of files; folders have none


@dataclass(frozen=True)
class Trace:
    """A folder as it was, and what was done in it; `folder_numbers` tells folders from files, new ones included."""

    folders: Mapping[int, Mapping[str, int]]
    files: Mapping[int, bytes]
    operations: Sequence[Operation]
    folder_numbers: frozenset[int]

    def __len__(self) -> int:
        return len(self.operations)

    def marks(self, end: int) -> list[str]:
        """Return what was promised by then."""
        return [operation.text for operation in self.operations[:end] if isinstance(operation, Mark)]

    def without(self, forgotten: set[int]) -> Trace:
        """Return the trace as if some calls of `fsync` had not been made. Numbers of operations stay as they are."""
        operations = [
            replace(operation, since=0) if number in forgotten and isinstance(operation, Sync) else operation
            for number, operation in enumerate(self.operations)
        ]
        return replace(self, operations=operations)

    @cached_property
    def _certain_from(self) -> list[int]:
        """For each operation, the first end of the trace at which it is certain."""
        certain = [len(self.operations) + 1] * len(self.operations)
        waiting: dict[int, list[int]] = {}
        for number, operation in enumerate(self.operations):
            if isinstance(operation, Sync):
                done = [other for other in waiting.get(operation.inode, ()) if other < operation.since]
                for other in done:
                    certain[other] = number + 1
                waiting[operation.inode] = [n for n in waiting.get(operation.inode, ()) if n >= operation.since]
            elif isinstance(operation, Mark):
                certain[number] = 0
            else:
                waiting.setdefault(operation.inode, []).append(number)
        return certain

    def pending(self, end: int) -> list[int]:
        """Return the operations before `end` that are not certain when the power fails there."""
        changes = (Write, Truncate, Names)
        return [n for n in range(end) if not self.is_certain(n, end) and isinstance(self.operations[n], changes)]

    def is_certain(self, number: int, end: int) -> bool:
        """Return whether an operation is on disk for good when the power fails before `end`."""
        return self._certain_from[number] <= end

    def tree(self, end: int, choice: Choice) -> Tree:
        """Return what is on disk if the power fails before operation `end` and what is in `choice` is kept."""
        folders = {number: dict(names) for number, names in self.folders.items()}
        files = {number: bytearray(content) for number, content in self.files.items()}
        is_kept = [self.is_certain(number, end) or number in choice for number in range(end)]
        for number in range(end):
            operation = self.operations[number]
            if not is_kept[number]:
                continue
            if isinstance(operation, Names):
                if operation.needs < 0 or is_kept[operation.needs]:
                    _change_names(folders.setdefault(operation.inode, {}), operation)
            elif isinstance(operation, Truncate):
                content = files.setdefault(operation.inode, bytearray())
                content[operation.size :] = bytes(max(0, operation.size - len(content)))
            elif isinstance(operation, Write):
                _write(files.setdefault(operation.inode, bytearray()), operation, choice.get(number, WHOLE))
        found: Tree = {}
        self._collect(found, folders, files, 0, "")
        return found

    def _collect(
        self, found: Tree, folders: Mapping[int, Mapping[str, int]], files: Mapping[int, bytearray], number: int, above: str
    ) -> None:
        for name, inode in sorted(folders.get(number, {}).items()):
            if inode in self.folder_numbers:
                found[above + name] = None
                self._collect(found, folders, files, inode, f"{above}{name}/")
            else:
                found[above + name] = bytes(files.get(inode, b""))


def _change_names(names: dict[str, int], operation: Names) -> None:
    for name, inode in operation.changes:
        if inode is None:
            names.pop(name, None)
        else:
            names[name] = inode


def _write(content: bytearray, operation: Write, kept: Kept) -> None:
    data = operation.data[: kept.n_bytes]
    end = operation.start + len(data)
    content.extend(bytes(max(0, end - len(content))))
    if kept.sectors == -1:
        content[operation.start : end] = data
        return
    first = operation.start // SECTOR_BYTES
    for sector in range(first, -(-end // SECTOR_BYTES)):
        if kept.sectors >> (sector - first) & 1:
            start, stop = max(operation.start, sector * SECTOR_BYTES), min(end, (sector + 1) * SECTOR_BYTES)
            content[start:stop] = data[start - operation.start : stop - operation.start]


def digest(tree: Tree) -> bytes:
    """Return a hash of a state: two states are the same if names and contents are."""
    whole = hashlib.blake2b(digest_size=16)
    for path, content in sorted(tree.items()):
        whole.update(f"{path}\0{-1 if content is None else len(content)}\0".encode("utf-8", "surrogateescape"))
        whole.update(content or b"")
    return whole.digest()
