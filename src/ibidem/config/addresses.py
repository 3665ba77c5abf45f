"""Addresses of files elsewhere, such as s3://bucket/file: what is one, and how it is shown: without what may be secret."""

from __future__ import annotations

import os
import re
from pathlib import PurePath

# At least two letters: c:// may be a drive.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
# Two file systems, one in the other, as fsspec writes them: zip://a.txt::s3://bucket/all.zip.
_CHAIN = re.compile(r"::(?=[A-Za-z][A-Za-z0-9+.-]+://)")
_WEB = ("http", "https")
HIDDEN = "…"


def scheme_of(path: str) -> str | None:
    """Return the protocol of an address, such as s3; None for a path on this machine."""
    found = _SCHEME.match(path)
    return None if found is None or found[1].lower() == "file" else found[1].lower()


def is_remote(path: object) -> bool:
    """Return whether a path is the address of a file or folder elsewhere."""
    return isinstance(path, str) and scheme_of(path) is not None


def is_web(path: str) -> bool:
    """Return whether an address is that of a web server."""
    return scheme_of(path) in _WEB


def is_chained(path: str) -> bool:
    """Return whether an address is that of a file system in a file elsewhere."""
    return _CHAIN.search(path) is not None


def file_part(path: str) -> str:
    """Return an address of the web without what follows the path of the file; everything else as it is.

    >>> file_part("https://example.org/news.jsonl.gz?version=3")
    'https://example.org/news.jsonl.gz'
    """
    return path.partition("#")[0].partition("?")[0] if is_web(path) else path


def shown_address(path: str) -> str:
    """Return an address without passwords and tokens: every value in a query is hidden. A path stays as it is.

    >>> shown_address("https://me:secret@example.org/news.jsonl?version=3&signature=abc")
    'https://…@example.org/news.jsonl?version=…&signature=…'
    """
    if (scheme := scheme_of(path)) is None:
        return path
    if is_chained(path):
        return "::".join(map(shown_address, _CHAIN.split(path)))
    start = len(scheme) + len("://")
    rest, query = path[start:], ""
    if scheme in _WEB:
        rest, _, given = rest.partition("#")[0].partition("?")
        names = [name + separator for name, separator, _ in (each.partition("=") for each in given.split("&"))]
        query = "?" + "&".join(f"{name}{HIDDEN}" if name.endswith("=") else HIDDEN for name in names) if given else ""
    host, slash, place = rest.partition("/")
    user, at, host = host.rpartition("@")
    # A container of Azure is written as a user is, but has no password.
    user = HIDDEN if at and (scheme in _WEB or ":" in user) else user
    return f"{path[:start]}{user}{at}{host}{slash}{place}{query}"


def id_of_file(name: str) -> str:
    """Return the id of a file that is one document: its address, or its path with `/` on all systems."""
    return name if is_remote(name) else PurePath(name).as_posix()


def extension_of(path: str) -> str:
    """Return the last extension of a file's name, in lower case."""
    return os.path.splitext(file_part(path))[1].lower()
