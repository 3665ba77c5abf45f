"""Files elsewhere: looked up, listed, written and deleted.

A file is known by a path that is its address, and knows its size and its version.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from ibidem.config.addresses import is_web, scheme_of, shown_address
from ibidem.errors import UsageError
from ibidem.formats.remote_access import MissingError, system, tried

_VERSIONS = (
    "ETag", "etag", "generation", "md5Hash", "Content-MD5", "content_md5", "blob_id", "Last-Modified", "LastModified",
    "last_modified", "last_commit", "updated", "mtime", "modified", "created",
)  # fmt: skip
# Libraries whose `find` asks the server for everything below a folder, and fails if the server does.
_LIST_ALL_AT_ONCE = ("s3fs", "gcsfs", "huggingface_hub")


class RemotePath(str):
    """The address of a file elsewhere, with its size and version as they were when it was looked up; None: not known."""

    n_bytes: int | None
    version: str | None

    def __new__(cls, address: str, n_bytes: int | None, version: str | None) -> RemotePath:
        """Return an address with what is known about its file."""
        path = super().__new__(cls, address)
        path.n_bytes, path.version = n_bytes, version
        return path

    @property
    def state(self) -> tuple[int | None, str | None]:
        """What changes when the file does."""
        return self.n_bytes, self.version


def look_up(address: str) -> RemotePath | None:
    """Return a file, None for a folder; InputError if there is nothing, or nothing that may be read."""
    return tried(address, lambda: _look_up(address))


def _look_up(address: str) -> RemotePath | None:
    files, path = system(address)
    files.invalidate_cache()
    info = files.info(path)
    return None if info.get("type") == "directory" else _described(address, info)


def files_matching(pattern: str) -> list[RemotePath]:
    """Return the files that an address with wildcards means, in order."""
    scheme = str(scheme_of(pattern))

    def listed() -> list[RemotePath]:
        from fsspec.utils import glob_translate

        files, path = system(pattern)
        files.invalidate_cache()
        fits = re.compile(glob_translate(path)).match
        parts = path.split("/")
        first = next(place for place in range(len(parts)) if has_magic(_address(scheme, "/".join(parts[: place + 1]))))
        root = "/".join([*parts[:first], ""])
        named = set(parts)  # as here, what is hidden has to be named
        return [
            _described(_address(scheme, name), info)
            for name, info in _found_below(files, root, None if "**" in path else len(parts) - first).items()
            if fits(name) and not any(part.startswith(".") for part in set(name.split("/")) - named)
        ]

    return sorted(tried(pattern, listed))


def files_under(folder: str) -> dict[str, RemotePath]:
    """Return all files below a folder, by their path in it."""
    scheme = str(scheme_of(folder))

    def listed() -> dict[str, RemotePath]:
        files, path = system(folder)
        files.invalidate_cache()
        root = path.strip("/")
        return {
            name.strip("/")[len(root) :].lstrip("/"): _described(_address(scheme, name), info)
            for name, info in _found_below(files, path, None).items()
        }

    return dict(sorted(tried(folder, listed).items(), key=lambda each: PurePosixPath(each[0]).parts))


def _found_below(files: Any, root: str, depth: int | None) -> dict[str, Mapping[str, Any]]:
    """Return all files below a folder, down to a depth; what cannot be listed is an error.

    fsspec's own `glob` and `find` leave out folders that they cannot list, except where a server lists all of them at once.
    """
    if depth is None and type(files).__module__.partition(".")[0] in _LIST_ALL_AT_ONCE:
        found = files.find(root, detail=True)
    else:
        found = dict(_walked(files, root, depth))
    return {name: info for name, info in found.items() if info.get("type") != "directory"}


def _walked(files: Any, folder: str, depth: int | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        listed = files.ls(folder, detail=True)
    except FileNotFoundError:  # removed meanwhile, or never there
        return
    for info in listed:
        name = str(info["name"])
        if info.get("type") != "directory":
            yield name, info
        elif name.rstrip("/") != folder.rstrip("/") and depth != 1:
            yield from _walked(files, name, None if depth is None else depth - 1)


def names_under(folder: str) -> list[str]:
    """Return the paths of all files below a folder where files may be written, without hidden ones; none if it is not there."""
    if is_web(folder):
        message = f"{shown_address(folder)} is on a web server, where ibidem cannot write"
        raise UsageError(message, "Write to s3://, gs:// or a local folder.")
    try:
        return [name for name in files_under(folder) if not name.startswith(".")]
    except MissingError:
        return []


def check_writable(folder: str) -> None:
    """Raise unless files can be written into a folder: before the work, not after it."""
    address = f"{folder.rstrip('/')}/.ibidem-{uuid.uuid4().hex}"

    def try_it() -> None:
        files, path = system(address)
        files.pipe_file(path, b"")
        with suppress(Exception):  # whoever may write may perhaps not delete
            files.rm_file(path)

    tried(folder, try_it, "write to")


def send(file: Path, address: str) -> None:
    """Write a file of this machine to an address; it is there as a whole, or not at all."""

    def put() -> None:
        files, path = system(address)
        files.makedirs(path.rpartition("/")[0], exist_ok=True)
        files.put_file(str(file), path)

    tried(address, put, "write to")


def remove(address: str) -> None:
    """Delete a file, if it is there."""

    def delete() -> None:
        files, path = system(address)
        with suppress(FileNotFoundError):
            files.rm_file(path)

    tried(address, delete, "write to")


def has_magic(address: str) -> bool:
    """Return whether an address is a pattern; on the web, a question mark begins a query."""
    place = address.partition("?")[0] if is_web(address) else address
    place = place.partition("://")[2].partition("/")[2] if is_web(address) else place  # [::1] is a host
    return any(sign in place for sign in ("*[" if is_web(address) else "*[?"))


def _address(scheme: str, path: str) -> str:
    return path if scheme_of(path) is not None else f"{scheme}://{path.lstrip('/')}"


def _described(address: str, info: Mapping[str, Any]) -> RemotePath:
    version = next((str(info[name]) for name in _VERSIONS if info.get(name)), None)
    size = info.get("size")
    return RemotePath(address, None if size is None else int(size), version)


def is_changed(path: RemotePath) -> bool:
    """Return whether a file is no longer what it was when it was looked up."""
    now = look_up(path)
    return now is None or now.state != path.state
