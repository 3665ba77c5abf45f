"""What a traced process does in one folder, as operations on files and names.

What the model of `disk.py` does not know (shared writable mappings, io_uring, copies inside the kernel, a second process
that writes) is a TraceError: better no answer than one about another sequence of calls.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.calls import Call, TraceError, calls_in
from tests.crash.disk import Mark, Names, Operation, Sync, Trace, Truncate, Write

MARK = b"@crash "  # begins, with the name of the folder, what a traced process writes once something is promised
ROOT = 0
_UNKNOWN_CALLS = {"copy_file_range", "sendfile", "splice", "fallocate", "symlink", "symlinkat", "openat2"}
_NEVER = {"io_uring_setup", "io_submit"}
_OPEN_FILES = re.compile(r"/proc/(?:self|thread-self|\d+)/fd/(\d+)(/.*)?")
_IOV_BASE = re.compile(r"iov_base=\$(\d+)")


def snapshot(root: Path) -> tuple[dict[int, dict[str, int]], dict[int, bytes]]:
    """Return the folders and files under a root by number, as they are; the root has the number 0."""
    folders: dict[int, dict[str, int]] = {ROOT: {}}
    files: dict[int, bytes] = {}

    def take(path: Path, number: int) -> None:
        for child in sorted(path.iterdir()):
            new = len(folders) + len(files)
            folders[number][child.name] = new
            if child.is_dir():
                folders[new] = {}
                take(child, new)
            else:
                files[new] = child.read_bytes()

    take(root, ROOT)
    return folders, files


def read_trace(log: Path, root: Path, folders: dict[int, dict[str, int]], files: dict[int, bytes]) -> Trace:
    """Return what a traced process did in a root folder that was as the snapshot says when it began."""
    recorder = _Recorder(root, folders, files)
    begun: dict[str, int] = {}
    for call, thread, is_own in calls_in(log):
        if call is None:
            begun[thread] = len(recorder.operations)
        else:
            recorder.take(call, begun[thread], is_own)
    return Trace(folders, files, recorder.operations, recorder.folder_numbers)


@dataclass
class _Opened:
    """What a descriptor refers to; copies of a descriptor share it, and so the position."""

    inode: int
    position: int = 0
    appends: bool = False


@dataclass
class _Recorder:
    """Follows names, descriptors and positions as the kernel does, and notes what changes."""

    root: Path
    first_folders: dict[int, dict[str, int]]
    first_files: dict[int, bytes]
    operations: list[Operation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._folders = {number: dict(names) for number, names in self.first_folders.items()}
        self._sizes = {number: len(content) for number, content in self.first_files.items()}
        self._opened: dict[int, _Opened] = {}

    @property
    def folder_numbers(self) -> frozenset[int]:
        """All folders that ever were there."""
        return frozenset(self._folders)

    def take(self, call: Call, since: int, is_own: bool) -> None:
        """Note what a call does to the folder."""
        if call.name in _NEVER:
            raise TraceError(f"{call.name}: writes would pass unseen")
        if not is_own:
            self._refuse_if_inside(call)
            return
        if call.name in _UNKNOWN_CALLS:
            self._refuse_if_inside(call)
        elif call.name in ("open", "creat", "openat"):
            self._open(call)
        elif call.name in ("write", "pwrite64", "writev", "pwritev", "pwritev2"):
            self._write(call)
        elif call.name in ("rename", "renameat", "renameat2", "link", "linkat"):
            self._rename(call)
        elif call.name in ("unlink", "unlinkat", "rmdir"):
            self._remove(call)
        elif call.name in ("mkdir", "mkdirat"):
            if place := self._place(call, 1 if call.name == "mkdirat" else 0):
                self._name(*place, self._new_folder())
        elif call.name in ("truncate", "ftruncate"):
            self._truncate(call)
        elif call.name in ("fsync", "fdatasync") and (opened := self._of(call, 0)):
            self.operations.append(Sync(opened.inode, since, self._path_of(opened.inode)))
        elif call.name in ("sync", "syncfs"):
            everything = [*self._folders, *self._sizes]
            self.operations += [Sync(inode, since, self._path_of(inode)) for inode in everything]
        elif call.name in ("mmap", "msync"):
            self._map(call)
        else:
            self._describe(call)

    def _refuse_if_inside(self, call: Call) -> None:
        inside = os.fsencode(self.root)
        is_inside = any(text == inside or text.startswith(inside + b"/") for text in call.texts)
        is_reading = call.name in ("open", "openat") and "O_RDONLY" in call.arguments[1 + (call.name == "openat")]
        if is_inside and call.name not in ("close", "lseek", "fcntl", "mmap") and not is_reading:
            raise TraceError(f"{call.name} in the folder, by a process or in a way that is not followed")

    def _open(self, call: Call) -> None:
        at = 1 if call.name == "openat" else 0
        flags = "O_WRONLY|O_CREAT|O_TRUNC" if call.name == "creat" else call.arguments[at + 1]
        self._opened.pop(call.result, None)
        place = self._place(call, at)
        if place is None:
            return
        if any(flag in flags.split("|") for flag in ("O_SYNC", "O_DSYNC", "O_TMPFILE", "O_DIRECT")):
            raise TraceError(f"opened with {flags}")
        folder, name = place
        inode = self._folders[folder].get(name) if name else folder
        if inode is None:
            if "O_CREAT" not in flags:
                raise TraceError(f"{name} was opened, and is not known to be there")
            inode = len(self._folders) + len(self._sizes)
            self._sizes[inode] = 0
            self._name(folder, name, inode)
        elif "O_TRUNC" in flags and self._sizes[inode]:
            self._cut(inode, 0)
        self._opened[call.result] = _Opened(inode, appends="O_APPEND" in flags)

    def _write(self, call: Call) -> None:
        opened = self._of(call, 0)
        if opened is None:
            mark = MARK + os.fsencode(self.root.name) + b" "
            if call.name == "write" and call.text(1).startswith(mark):
                self.operations.append(Mark(call.text(1).removeprefix(mark).decode().strip()))
            return
        if call.name in ("write", "pwrite64"):
            data = call.text(1)
        else:
            data = b"".join(call.texts[int(number)] for number in _IOV_BASE.findall(call.arguments[1]))
        data = data[: call.result]  # less may have been written than was asked for
        is_placed = call.name.startswith("p")
        start = self._sizes[opened.inode] if opened.appends else call.number(3) if is_placed else opened.position
        if not is_placed:
            opened.position = start + len(data)
        if data:
            self.operations.append(Write(opened.inode, start, data))
            self._sizes[opened.inode] = max(self._sizes[opened.inode], start + len(data))

    def _rename(self, call: Call) -> None:
        has_folders = call.name.endswith(("at", "at2"))
        source, target = self._place(call, 1 if has_folders else 0), self._place(call, 3 if has_folders else 1)
        if source is None and target is None:
            return
        if source is None or target is None or "RENAME_EXCHANGE" in call.arguments[-1]:
            raise TraceError(f"{call.name} into the folder, out of it, or in exchange")
        inode = self._folders[source[0]][source[1]]
        if call.name.startswith("link"):
            self._name(*target, inode)
        elif self._folders[target[0]].get(target[1]) == inode:
            return
        elif source[0] == target[0]:
            self._names(source[0], ((source[1], None), (target[1], inode)))
        else:
            self._name(*target, inode)
            self._names(source[0], ((source[1], None),), needs=len(self.operations) - 1)

    def _remove(self, call: Call) -> None:
        if place := self._place(call, 1 if call.name == "unlinkat" else 0):
            self._names(place[0], ((place[1], None),))

    def _truncate(self, call: Call) -> None:
        if call.name == "ftruncate":
            if opened := self._of(call, 0):
                self._cut(opened.inode, call.number(1))
        elif place := self._place(call, 0):
            self._cut(self._folders[place[0]][place[1]], call.number(1))

    def _map(self, call: Call) -> None:
        if call.name == "msync" or "MAP_SHARED" not in call.arguments[3] or "PROT_WRITE" not in call.arguments[2]:
            return
        opened = self._of(call, 4)
        # The index of a write-ahead log lives in shared memory; the first one to open the database makes it again.
        if opened is not None and not self._path_of(opened.inode).endswith("-shm"):
            raise TraceError(f"{self._path_of(opened.inode)} is mapped to be written")

    def _describe(self, call: Call) -> None:
        """Follow what a call does to descriptors."""
        if call.name == "close":
            self._opened.pop(_descriptor(call.arguments[0]), None)
        elif call.name == "lseek" and (opened := self._of(call, 0)):
            opened.position = call.result
        elif call.name.startswith("dup") or (call.name == "fcntl" and call.arguments[1].startswith("F_DUPFD")):
            opened = self._of(call, 0)
            self._opened.pop(call.result, None)
            if opened is not None:
                self._opened[call.result] = opened

    def _new_folder(self) -> int:
        number = len(self._folders) + len(self._sizes)
        self._folders[number] = {}
        return number

    def _name(self, folder: int, name: str, inode: int) -> None:
        self._names(folder, ((name, inode),))

    def _names(self, folder: int, changes: tuple[tuple[str, int | None], ...], needs: int = -1) -> None:
        for name, inode in changes:
            if inode is None:
                del self._folders[folder][name]
            else:
                self._folders[folder][name] = inode
        self.operations.append(Names(folder, changes, needs))

    def _cut(self, inode: int, size: int) -> None:
        if self._sizes[inode] != size:
            self.operations.append(Truncate(inode, size))
            self._sizes[inode] = size

    def _of(self, call: Call, at: int) -> _Opened | None:
        return self._opened.get(_descriptor(call.arguments[at]))

    def _place(self, call: Call, at: int) -> tuple[int, str] | None:
        """Return the folder and the name that a path means, None outside of the root; for the root itself no name."""
        path = os.fsdecode(call.text(at))
        if found := _OPEN_FILES.fullmatch(path):
            opened = self._opened.get(int(found[1]))
            return None if opened is None else self._walk(opened.inode, (found[2] or "/").strip("/"))
        if not os.path.isabs(path):
            before = call.arguments[at - 1] if call.name.endswith(("at", "at2")) else ""
            opened = self._opened.get(_descriptor(before)) if before and not before.startswith("AT_FDCWD") else None
            if opened is not None:
                return self._walk(opened.inode, path)
            if "@" not in before:
                raise TraceError(f"{call.name} of {path}: it is not known where that is")
            path = os.path.join(os.fsdecode(call.texts[int(before.partition("@")[2])]), path)
        path, inside = os.path.normpath(path), str(self.root)
        if path == inside:
            return ROOT, ""
        return self._walk(ROOT, path[len(inside) + 1 :]) if path.startswith(inside + "/") else None

    def _walk(self, folder: int, path: str) -> tuple[int, str]:
        *above, name = path.split("/")
        for part in above:
            folder = self._folders[folder][part]
        return folder, name if name != "." else ""

    def _path_of(self, inode: int) -> str:
        def find(folder: int) -> Iterator[str]:
            for name, child in self._folders[folder].items():
                if child == inode:
                    yield name
                if child in self._folders:
                    yield from (f"{name}/{rest}" for rest in find(child))

        return "." if inode == ROOT else next(find(ROOT), "")


def _descriptor(argument: str) -> int:
    number = argument.partition("@")[0]
    return int(number) if number.lstrip("-").isdigit() else -1
