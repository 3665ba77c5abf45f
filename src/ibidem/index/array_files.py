"""Files of arrays that are written once, memory-mapped by readers, and fully checksummed.

    prefix   32 bytes: magic, format version, crc32 of what follows up to the first array, header length, file length
    header   JSON: {"arrays": [{"name", "dtype", "length", "offset", "crc32"}, ...], "about": {...}, "name": its own}
    arrays   little endian, each at a multiple of 64 bytes, zeros between; offsets count from the end of the padded header

A file is written as `NAME.new` and becomes `NAME` once a commit lists it. If the writer is killed in between, readers find a
listed file under its first name, and the next writer renames it. So a file with its final name is part of some commit, whatever
happens to the catalog; a `.new` file that the catalog does not list is not. Names survive copies and changed permissions, and
only the new files have to be synced before the commit.

A written file never changes. It may be deleted when no commit lists it any more; processes that have it mapped keep it.
`about["index"]` is the identity of the index that wrote it; earlier versions did not write one.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import secrets
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ibidem.errors import IndexDamagedError, IndexSpaceError, IndexStoreError, IndexWriteError
from ibidem.execution.durable_files import sync_folder
from ibidem.execution.operating_system import read_at
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.index.folder import Place

MAGIC = b"\x89ibidem\n"
FORMAT_VERSION = 1
KINDS = ("segment", "words")
NEW = ".new"  # not ".tmp", which backups may skip: a file can keep this name for a while after its commit

_PREFIX = struct.Struct("<8sIIQQ")
_CRC_START_BYTES = 16  # magic and version are compared directly; the crc32 covers the rest of prefix and header
_ALIGNMENT_BYTES = 64
_CHUNK_BYTES = 1 << 20
_NUMERIC_KINDS = "biufc"
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EROFS}
# The file may be sound: this process just cannot access it.
_OUT_OF_REACH = {errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
REPAIR_STEP = "Run `ibidem index verify DIR` to see what else is damaged; restore the index from a backup, or rebuild it."


@dataclass(frozen=True)
class _StoredArray:
    """Where one array is in its file."""

    name: str
    dtype: np.dtype[Any]
    length: int
    start_bytes: int
    end_bytes: int
    crc32: int


@dataclass(frozen=True)
class _Header:
    arrays: tuple[_StoredArray, ...]
    about: dict[str, Any]
    file_bytes: int


def new_name(kind: str) -> str:
    """Return a new, unique file name of a kind (`segment`, `words`)."""
    if kind not in KINDS:
        raise ValueError(f"no such kind of file: {kind}")
    return f"{kind}-{secrets.token_hex(8)}.ibi"


def write_arrays(path: Path | Place, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> int:
    """Write one-dimensional numeric arrays and their JSON description to a new file; return its length in bytes.

    When this returns, the file is durable under its first name (see `give_name`). If it raises, nothing is left.
    """
    place = Place.of(path)
    prefix, starts_bytes, file_bytes = _lay_out(place.name, arrays, about)
    written = _before_commit(place)
    try:
        with written.open("wb") as file:
            file.write(prefix)
            position_bytes = len(prefix)
            for array, start_bytes in zip(arrays.values(), starts_bytes, strict=True):
                file.write(bytes(start_bytes - position_bytes))
                for chunk in _chunks(array):
                    file.write(chunk)
                position_bytes = start_bytes + array.nbytes
            file.flush()
            os.fsync(file.fileno())
        sync_folder(place.parent)
    except BaseException as error:
        with suppress(OSError):
            written.unlink()
        if isinstance(error, OSError):
            raise write_problem(place.path, error) from error
        raise
    return file_bytes


def _before_commit(place: Place) -> Place:
    return place.with_name(place.name + NEW)


def is_written(path: Path | Place) -> bool:
    """Return whether a file exists that is not yet committed."""
    try:
        _before_commit(Place.of(path)).status()
    except FileNotFoundError:
        return False
    return True


def give_name(path: Path | Place) -> None:
    """Give a file its final name after the commit that lists it. Until the folder is synced, a power cut may undo that."""
    _before_commit(Place.of(path)).rename(Place.of(path).name)


def _lay_out(name_of_file: str, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> tuple[bytes, list[int], int]:
    """Return the padded prefix and header, where each array begins, and how long the file is.

    The name is in the header: otherwise a sound file in place of another would go unnoticed.
    """
    entries: list[dict[str, Any]] = []
    offset_bytes = end_bytes = 0
    for name, array in arrays.items():
        if array.ndim != 1 or array.dtype.kind not in _NUMERIC_KINDS:
            raise ValueError(f"{name} is not a one-dimensional array of numbers")
        # Computed before anything is written, as the header comes first. A second pass over memory costs less than writing.
        crc32 = 0
        for chunk in _chunks(array):
            crc32 = zlib.crc32(chunk, crc32)
        dtype = array.dtype.newbyteorder("<").str
        entries.append({"name": name, "dtype": dtype, "length": len(array), "offset": offset_bytes, "crc32": crc32})
        end_bytes = offset_bytes + array.nbytes
        offset_bytes = _aligned(end_bytes)
    header = json.dumps({"name": name_of_file, "arrays": entries, "about": dict(about)}).encode()
    start_bytes = _aligned(_PREFIX.size + len(header))
    file_bytes = start_bytes + end_bytes
    lengths = struct.pack("<QQ", len(header), file_bytes)
    padding = bytes(start_bytes - _PREFIX.size - len(header))
    crc32 = zlib.crc32(lengths + header + padding)
    prefix = _PREFIX.pack(MAGIC, FORMAT_VERSION, crc32, len(header), file_bytes)
    return prefix + header + padding, [start_bytes + entry["offset"] for entry in entries], file_bytes


def _aligned(position_bytes: int) -> int:
    return -(-position_bytes // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES


def _chunks(array: NDArray[Any]) -> Iterator[memoryview]:
    """Yield the bytes of an array, little endian. Strided and big-endian arrays are copied a chunk at a time."""
    step = _CHUNK_BYTES // array.dtype.itemsize
    for start in range(0, len(array), step):
        part = np.ascontiguousarray(array[start : start + step], array.dtype.newbyteorder("<"))
        yield part.view(np.uint8).data


def read_about(path: Path | Place) -> dict[str, Any]:
    """Return the description in a file of arrays."""
    with _opened(path) as (file, path):
        return _read_header(file, path).about


def map_arrays(path: Path | Place) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Map a file into memory; return its arrays, read-only, and their description. No array is read."""
    with _opened(path) as (file, path):
        header = _read_header(file, path)
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if hasattr(mmap, "MADV_RANDOM"):
        # Lookups touch single pages all over the file; read-ahead would fetch what is not needed.
        mapping.madvise(mmap.MADV_RANDOM)
    if len(mapping) != header.file_bytes:
        raise _damaged(path, "changed while it was being opened")
    arrays: dict[str, NDArray[Any]] = {}
    for stored in header.arrays:
        arrays[stored.name] = np.empty(0, stored.dtype)  # NumPy makes no view of zero bytes
        if stored.length:
            arrays[stored.name] = np.frombuffer(mapping, stored.dtype, stored.length, stored.start_bytes)
        arrays[stored.name].flags.writeable = False
    return arrays, header.about


def check_arrays(path: Path | Place, run_tasks: RunTasks = in_turn) -> None:
    """Read a whole file and raise `IndexDamagedError` if a single bit has changed.

    It is read in pieces, not through a mapping, whose pages would count as memory of this process.
    """
    with _opened(path) as (file, path):
        header = _read_header(file, path)
        position_bytes = file.tell()
        for stored in header.arrays:
            _check_padding(file, path, position_bytes, stored.start_bytes)
            position_bytes = stored.end_bytes
        _check_padding(file, path, position_bytes, header.file_bytes)

        def checksum(stored: _StoredArray) -> int:
            crc32 = 0
            for chunk in _read_chunks(file, path, stored.start_bytes, stored.end_bytes):
                crc32 = zlib.crc32(chunk, crc32)
            return crc32

        # The largest come first, so that threads end together.
        largest_first = sorted(header.arrays, key=lambda stored: stored.start_bytes - stored.end_bytes)
        for stored, crc32 in zip(largest_first, run_tasks(checksum, largest_first), strict=True):
            if crc32 != stored.crc32:
                raise _damaged(path, f"is damaged in its array `{stored.name}`: the checksum differs")


def _check_padding(file: IO[bytes], path: Path, begin_bytes: int, end_bytes: int) -> None:
    for chunk in _read_chunks(file, path, begin_bytes, end_bytes):
        if any(chunk):
            raise _damaged(path, "is damaged between its arrays")


def _read_chunks(file: IO[bytes], path: Path, begin_bytes: int, end_bytes: int) -> Iterator[bytes]:
    """Yield a part of a file in pieces; for any number of threads at a time."""
    while begin_bytes < end_bytes:
        chunk = read_at(file.fileno(), min(end_bytes - begin_bytes, _CHUNK_BYTES), begin_bytes)
        if not chunk:
            raise _damaged(path, "is cut off")
        begin_bytes += len(chunk)
        yield chunk


def _read_header(file: IO[bytes], path: Path) -> _Header:
    """Read and check everything before the first array; the file is left at that position."""
    size_bytes = os.fstat(file.fileno()).st_size
    prefix = file.read(_PREFIX.size)
    if len(prefix) < _PREFIX.size:
        raise _damaged(path, f"is cut off: it has {size_bytes} bytes")
    magic, version, crc32, header_bytes, file_bytes = _PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise _damaged(path, "is not a file of an index")
    if version != FORMAT_VERSION:
        step = f"If a newer ibidem wrote it, update ibidem. {REPAIR_STEP}"
        raise _damaged(path, f"has format version {version}; this ibidem reads version {FORMAT_VERSION}", step)
    if file_bytes != size_bytes:
        raise _damaged(path, f"has {size_bytes:,} bytes and should have {file_bytes:,}")
    start_bytes = _aligned(_PREFIX.size + header_bytes)
    if start_bytes > size_bytes:
        raise _damaged(path, "is damaged in its header: it is too long")
    rest = b"".join(_read_chunks(file, path, _PREFIX.size, start_bytes))
    file.seek(start_bytes)
    if zlib.crc32(prefix[_CRC_START_BYTES:] + rest) != crc32:
        raise _damaged(path, "is damaged in its header: the checksum differs")
    try:
        header = json.loads(rest[:header_bytes])
        arrays = tuple(_stored_array(entry, start_bytes) for entry in header["arrays"])
        about = dict(header["about"])
        name = header.get("name", path.name)  # earlier versions did not write it
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise _damaged(path, f"has a header that makes no sense: {error}") from error
    if name != path.name.removesuffix(NEW):
        raise _damaged(path, f"is not the file of that name but a copy of {name}")
    previous_end_bytes = start_bytes
    for stored in arrays:
        is_possible = stored.start_bytes % _ALIGNMENT_BYTES == 0 and stored.length >= 0
        if not (is_possible and previous_end_bytes <= stored.start_bytes and stored.end_bytes <= size_bytes):
            raise _damaged(path, f"is damaged in its header: the array `{stored.name}` lies outside the file")
        previous_end_bytes = stored.end_bytes
    return _Header(arrays, about, file_bytes)


def _stored_array(entry: Mapping[str, Any], start_bytes: int) -> _StoredArray:
    dtype = np.dtype(str(entry["dtype"]))
    if dtype.kind not in _NUMERIC_KINDS:
        raise ValueError(f"not numbers: {dtype}")
    length = int(entry["length"])
    start_bytes += int(entry["offset"])
    end_bytes = start_bytes + length * dtype.itemsize
    return _StoredArray(str(entry["name"]), dtype, length, start_bytes, end_bytes, int(entry["crc32"]))


@contextmanager
def _opened(place: Path | Place) -> Iterator[tuple[IO[bytes], Path]]:
    """Open a file, under its first name if it has no other yet; yield it with its path for messages."""
    place = Place.of(place)
    path = place.path
    try:
        with _open(place) as file:
            yield file, path
    except FileNotFoundError as error:
        raise _damaged(path, "is missing") from error
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
        if error.errno in _OUT_OF_REACH:
            raise IndexStoreError(f"{path} {reason}", "Check permissions, free memory and the limit on open files.") from error
        raise _damaged(path, reason) from error


def _open(place: Place) -> IO[bytes]:
    for name in (place, _before_commit(place)):
        with suppress(FileNotFoundError):
            return name.open()
    return place.open()  # it may have been renamed in between


def _damaged(path: Path, what: str, next_step: str = REPAIR_STEP) -> IndexDamagedError:
    return IndexDamagedError(f"{path} {what}", next_step)


def write_problem(path: Path, error: OSError) -> IndexWriteError:
    """Return the error for a file that could not be written, with what to do about it."""
    if error.errno in _NO_SPACE:
        step = "Free some space there, or raise the limit, and run it again; the index is unchanged."
        return IndexSpaceError(f"cannot write {path}: {error.strerror or error}", step)
    if error.errno in _NOT_ALLOWED:
        step = "Check permissions, and that the disk is not mounted read-only."
    else:
        step = "Check the folder and its disk, and run it again; the index is unchanged."
    return IndexWriteError(f"cannot write {path}: {error.strerror or error}", step)
