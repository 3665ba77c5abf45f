"""Bytes of files elsewhere, in order or at any place.

A file is read by ranges, so that a connection that breaks is taken up again where it broke; from servers without ranges, it is
read again from its beginning up to there. What does not come back is an error that names the address: a run never continues
with a part of a file because of its network.
"""

from __future__ import annotations

import io
import json
from collections import OrderedDict
from typing import Any

from ibidem.config.addresses import is_web, shown_address
from ibidem.errors import InputError
from ibidem.formats.printable_names import printable
from ibidem.formats.remote_access import NoRangesError, system, tried
from ibidem.formats.remote_files import RemotePath, is_changed, look_up

# How much is read at once: little at first, as often only the beginning of a file is wanted.
FIRST_BYTES, MOST_BYTES = 1 << 18, 1 << 23
_PAGE_BYTES, _MOST_PAGES = 1 << 22, 32  # of a file that is read at any place


class _Ranges:
    """Parts of one file, each asked for by itself."""

    def __init__(self, path: RemotePath) -> None:
        self.path = path
        self.n_requests = 0

    def fetch(self, start: int, end: int) -> bytes:
        """Return the bytes from start to end, all of them; NoRangesError if the server sends whole files only."""
        data = tried(self.path, lambda: self._fetch(start, end))
        if len(data) > end - start:  # more was there than the file has
            raise _changed(self.path)
        return data

    def _fetch(self, start: int, end: int) -> bytes:
        self.n_requests += 1
        files, place = system(self.path)
        n_wanted = end - start
        if end == self.path.n_bytes:
            end += 1  # a byte after the end shows a file that has grown
        if is_web(self.path):
            with files.open(place, "rb", size=end, block_size=MOST_BYTES, cache_type="none") as file:
                try:
                    file.seek(start)
                    data: bytes = file.read(end - start)
                except ValueError:  # a part was asked for, and the whole was sent
                    raise NoRangesError from None
        else:
            data = files.cat_file(place, start=start, end=end)
        if len(data) < n_wanted:
            raise OSError(f"received {len(data):,} bytes instead of {n_wanted:,}")
        return data


class RemoteStream(io.RawIOBase):
    """A file elsewhere, read from its beginning to its end."""

    def __init__(self, path: RemotePath) -> None:
        super().__init__()
        self._path = path
        self._ranges = _Ranges(path)
        # On the web, a size of 0 may mean that it is not known.
        self._has_ranges = path.n_bytes is not None and (path.n_bytes > 0 or not is_web(path))
        self._block = memoryview(b"")
        self._n_next = FIRST_BYTES
        self._place = 0  # where the next bytes begin that have to be fetched
        self._body: Any = None
        self._n_failures = 0

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read as much as is there, or the next bytes of the file; nothing at its end."""
        if not self._block and len(buffer):
            self._block = memoryview(self._next(len(buffer)))
            self._place += len(self._block)
        n_bytes = min(len(buffer), len(self._block))
        buffer[:n_bytes] = self._block[:n_bytes]
        self._block = self._block[n_bytes:]
        return n_bytes

    def close(self) -> None:
        """Close the connection."""
        self._close_body()
        super().close()

    def is_changed(self, in_pages: bool = False) -> bool:
        """Return whether the file was replaced while it was read. One answer of a server is never a mixture."""
        return (in_pages or self._ranges.n_requests > 1) and is_changed(self._path)

    def _next(self, n_bytes: int) -> bytes:
        if self._has_ranges:
            assert self._path.n_bytes is not None
            end = min(self._path.n_bytes, self._place + max(min(n_bytes, MOST_BYTES), self._n_next))
            self._n_next = min(2 * self._n_next, MOST_BYTES)
            try:
                return self._ranges.fetch(self._place, end) if end > self._place else b""
            except NoRangesError:
                self._has_ranges = False
        return tried(self._path, lambda: self._next_of_body(max(n_bytes, FIRST_BYTES)))

    def _next_of_body(self, n_bytes: int) -> bytes:
        """Return the next bytes of the one answer that contains the whole file."""
        try:
            if self._body is None:
                self._body = self._open_body()
            data: bytes = self._body.read(n_bytes)
            if not data and self._path.n_bytes and self._place < self._path.n_bytes:
                raise OSError(f"it ended after {self._place:,} of {self._path.n_bytes:,} bytes")
        except BaseException:
            self._close_body()
            raise
        return data

    def _open_body(self) -> Any:
        """Return the whole file as a stream, at the place where reading goes on."""
        self._ranges.n_requests += 1
        if self._place and is_changed(self._path):
            raise _changed(self._path)
        files, place = system(self._path)
        body = files.open(place, "rb", block_size=0) if is_web(self._path) else files.open(place, "rb")
        n_left = self._place
        while n_left and (data := body.read(min(n_left, FIRST_BYTES))):
            n_left -= len(data)
        return body

    def _close_body(self) -> None:
        body, self._body = self._body, None
        if body is not None:
            body.close()


class RemotePages(io.RawIOBase):
    """A file elsewhere, read at any place; NoRangesError at once where that cannot be."""

    def __init__(self, path: RemotePath) -> None:
        super().__init__()
        if not path.n_bytes:
            raise NoRangesError
        self._n_bytes = path.n_bytes
        self._ranges = _Ranges(path)
        self._pages: OrderedDict[int, bytes] = OrderedDict()
        self._place = 0
        self._page(max(0, path.n_bytes - 1) // _PAGE_BYTES)  # where Parquet begins to read

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def seekable(self) -> bool:
        """Return that it can be read at any place."""
        return True

    def tell(self) -> int:
        """Return the place of the next byte."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        self._place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._n_bytes}[whence]
        return self._place

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes, all that the buffer has room for, as far as there are any."""
        n_read = 0
        while n_read < len(buffer) and self._place < self._n_bytes:
            number, begin = divmod(self._place, _PAGE_BYTES)
            piece = self._page(number)[begin : begin + len(buffer) - n_read]
            buffer[n_read : n_read + len(piece)] = piece
            n_read += len(piece)
            self._place += len(piece)
        return n_read

    def _page(self, number: int) -> bytes:
        if number not in self._pages:
            start = number * _PAGE_BYTES
            self._pages[number] = self._ranges.fetch(start, min(self._n_bytes, start + _PAGE_BYTES))
            if len(self._pages) > _MOST_PAGES:
                self._pages.popitem(last=False)
        self._pages.move_to_end(number)
        return self._pages[number]


def _changed(path: RemotePath) -> InputError:
    message = f"{printable(shown_address(path))} changed while it was being read"
    return InputError(message, "Run again when it no longer changes.")


def read_json(address: str) -> Any:
    """Return what a small JSON file contains; None if it contains none."""
    path = look_up(address)
    try:
        if path is None:
            return None
        with RemoteStream(path) as stream:
            return json.loads(stream.readall() or b"")
    except ValueError:
        return None
