"""Inputs read a second time, and copies written as the inputs are: compression, encoding and byte order mark."""

from __future__ import annotations

import bz2
import codecs
import gzip
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import pyarrow as pa

from ibidem.errors import InputError, ResourceError
from ibidem.execution.disk_limit import DiskBudget
from ibidem.formats.byte_streams import (
    BOM,
    COMPRESSIONS,
    READ_ERRORS,
    STDIN,
    ByteStream,
    compression_of,
    is_utf8,
    standard_input,
)
from ibidem.formats.file_access import open_file
from ibidem.formats.file_encodings import AUTO, LOOKED_AT, detected_encoding
from ibidem.formats.registry import FORMATS, sniff_format
from ibidem.formats.sources import FileSource

COPY_BYTES = 4 << 20
# Like the program gzip; level 9, the default of Python and Arrow, takes several times as long for one per cent.
_GZIP_LEVEL = 6
_BUFFER_BYTES = 1 << 20
_WIDE = {
    "utf-16": {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"},
    "utf-32": {codecs.BOM_UTF32_LE: "utf-32-le", codecs.BOM_UTF32_BE: "utf-32-be"},
}


def format_of_source(source: FileSource) -> str:
    """Return the format of a source as the reader sees it: by its name, or else by its beginning."""
    if source.format is not None:
        return source.format
    with ByteStream(source.path) as stream:
        return sniff_format(stream)


def encoding_of_source(source: FileSource, kind: str | None) -> str:
    """Return the encoding of a source as the reader detects it: in all of a text, at the beginning of everything else."""
    if kind is None or FORMATS[kind].is_binary or FORMATS[kind].is_html:
        return "utf-8"
    try:
        with ByteStream(source.path) as stream:
            is_whole = FORMATS[kind].is_document
            return detected_encoding(stream.read() if is_whole else stream.peek(LOOKED_AT), is_whole)
    except READ_ERRORS:
        return "utf-8"  # whoever reads it will report that


def _stored_compression(path: str | os.PathLike[str]) -> str | None:
    """Return how a file is compressed, by its first bytes as the reader does."""
    with open_file(os.fspath(path)) as file:
        return compression_of(file.read(4))


def spool_stdin(folder: Path, disk: DiskBudget) -> FileSource:
    """Store standard input in a folder, as a file called `stdin` with the extensions of its format and compression.

    More than `disk` allows raises ResourceError.

    The returned source is read instead of `-` and keeps that name; its copy is called `stdin`, like the file.
    """
    path = folder / "stdin.part"
    try:
        with open(path, "wb") as file:
            while data := standard_input().buffer.read(COPY_BYTES):
                disk.take("standard input", len(data))
                file.write(data)
        kind = format_of_source(FileSource(str(path), STDIN, None))
        suffixes = {compression: suffix for suffix, compression in COMPRESSIONS.items()}
        stored = path.with_name("stdin" + FORMATS[kind].extensions[0] + suffixes.get(_stored_compression(path) or "", ""))
        os.replace(path, stored)
    except OSError as error:
        raise ResourceError(
            f"cannot store standard input in {folder}: {error.strerror or error}", "Check disk space and permissions."
        ) from error
    return FileSource(STDIN, STDIN, kind, str(stored))


class InputFile(ByteStream):
    """An input read again, which knows its format and how it is written.

    Unreadable data does not raise: `damage` is the error, and the bytes end there.
    """

    def __init__(self, source: FileSource, kind: str | None, encoding: str, on_bytes: Callable[[int], None]) -> None:
        super().__init__(source.path)
        encoding = encoding_of_source(source, kind) if encoding == AUTO else encoding
        self.name = source.name
        self.format = kind
        self.compression = _stored_compression(source.path)
        self.encoding = encoding
        self.damage: Exception | None = None
        self._on_bytes = on_bytes
        self._not_decoded = b""
        self.byte_order_mark, self.codec = b"", codecs.lookup(encoding).name
        try:
            if is_utf8(encoding):
                self.codec, self.byte_order_mark = "utf-8", BOM if self.peek(len(BOM)) == BOM else b""
            if self.codec in _WIDE:
                marks = _WIDE[self.codec]
                # Without a mark Python takes the byte order of the machine.
                self.codec = f"{self.codec}-{'le' if sys.byteorder == 'little' else 'be'}"
                for mark, codec in marks.items():
                    if self.peek(len(mark)) == mark:
                        self.codec, self.byte_order_mark = codec, mark
        except READ_ERRORS as error:
            self.damage = error

    def chunks(self, n_bytes: int, encoding: str = "utf-8") -> Iterator[bytes]:
        """Yield the rest as UTF-8, without the byte order mark, as for the reader; end where damage begins."""
        if is_utf8(encoding):
            if self.damage is None:
                self.skip_bom()
            yield from self.raw_chunks(n_bytes)
            return
        decoder = codecs.getincrementaldecoder(encoding)(errors="surrogateescape")
        try:
            for data in self.raw_chunks(n_bytes):
                self._not_decoded = decoder.getstate()[0] + data
                yield decoder.decode(data).encode("utf-8", "surrogateescape")
            self._not_decoded = decoder.getstate()[0]
            if self.damage is None:
                yield decoder.decode(b"", final=True).encode("utf-8", "surrogateescape")
        except UnicodeError as error:
            self.damage = error

    def raw_chunks(self, n_bytes: int = COPY_BYTES) -> Iterator[bytes]:
        """Yield what is left as it is; end where damage begins."""
        while self.damage is None:
            try:
                data = self.read(n_bytes)
            except READ_ERRORS as error:
                self.damage = error
                return
            self.report()
            if not data:
                return
            yield data

    def copy_rest(self, output: OutputFile) -> None:
        """Copy what follows undecodable characters unchanged."""
        if isinstance(self.damage, UnicodeError):
            broken, self.damage = self.damage, None
            output.write_raw(self._not_decoded)
            for data in self.raw_chunks():
                output.write_raw(data)
            self.damage = self.damage or broken

    def stored_chunks(self) -> Iterator[bytes]:
        """Yield the whole file as it is stored; end where damage begins."""
        try:
            with open_file(self.path) as file:
                while data := file.read(COPY_BYTES):
                    self._on_bytes(len(data))
                    yield data
        except OSError as error:
            self.damage = error

    def report(self) -> None:
        """Report how many bytes of the file were read since the last call."""
        if n_bytes := self.take_count():
            self._on_bytes(n_bytes)


class OutputFile:
    """A copy being written: under a temporary name, renamed when the block ends without an error.

    Compression, encoding and byte order mark are those of `like`.
    """

    def __init__(self, path: Path, like: InputFile) -> None:
        self._path = path
        self._aside = path.with_name(path.name + ".part")
        self._like = like
        self._encoder = None if like.codec == "utf-8" else codecs.getincrementalencoder(like.codec)(_AS_IT_WAS)
        self._sink: Any = None

    def __enter__(self) -> OutputFile:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(self._aside, "wb", buffering=_BUFFER_BYTES)
        self._outlet = _Outlet(self._file)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if error is None:
                self._finish()
                os.replace(self._aside, self._path)
        finally:
            # A compressor writes what it has left when it is closed, and again when it is collected: that must not fail again.
            self._outlet.discard()
            with suppress(OSError, ValueError, pa.ArrowException):
                self.begin_member()
            with suppress(OSError):
                self._file.close()
            self._aside.unlink(missing_ok=True)

    def write_mark(self) -> None:
        """Write the byte order mark, if the input has one."""
        self.write_raw(self._like.byte_order_mark)

    def write(self, data: bytes | memoryview) -> None:
        """Write UTF-8, in the encoding of the input."""
        self.write_raw(data if self._encoder is None else self._encode(str(data, "utf-8", "surrogateescape")))

    def write_text(self, text: str) -> None:
        """Write text in the encoding of the input; undecodable bytes come as surrogates and are written unchanged."""
        self.write_raw(text.encode("utf-8", "surrogateescape") if self._encoder is None else self._encode(text))

    def write_raw(self, data: bytes | memoryview) -> None:
        """Write bytes as they are, compressed as the input."""
        if self._sink is None:
            self._sink = _compressor(self._outlet, self._like.compression) if self._like.compression else self._file
        self._sink.write(data)

    def write_stored(self, data: bytes | memoryview) -> None:
        """Write bytes that are already compressed."""
        self._file.write(data)

    def begin_member(self) -> None:
        """End what is compressed as one: tools for web archives seek to single records."""
        sink, self._sink = self._sink, None
        if sink is not None and sink is not self._file:
            sink.close()

    def _finish(self) -> None:
        if self._encoder is not None and (end := self._encode("", final=True)):
            self.write_raw(end)
        if not self._file.tell():
            self.write_raw(b"")  # an empty file is not a valid compressed file
        self.begin_member()
        self._file.close()

    def _encode(self, text: str, final: bool = False) -> bytes:
        try:
            return self._encoder.encode(text, final)  # type: ignore[union-attr]
        except UnicodeError as error:
            raise InputError(
                f"{self._like.name} cannot be written back as {self._like.codec}: {error}", "Convert the file to UTF-8."
            ) from error


class _Outlet:
    """A file as its compressors see it: closing them leaves it open, and `discard` stops what they write."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._is_open = True

    def write(self, data: Any) -> int:
        """Write to the file; after `discard`, do nothing."""
        return self._file.write(data) if self._is_open else len(data)

    def flush(self) -> None:
        """Flush the file; after `discard`, do nothing."""
        if self._is_open:
            self._file.flush()

    def discard(self) -> None:
        """Ignore whatever is still written."""
        self._is_open = False

    def close(self) -> None:
        """Leave the file to its owner."""


def _compressor(file: Any, compression: str) -> Any:
    if compression == "gzip":
        # Without name and time: the same input gives the same bytes.
        return gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0)
    if compression == "bz2":
        return bz2.BZ2File(file, "wb")
    return pa.CompressedOutputStream(pa.PythonFile(file, mode="w"), compression)


def _as_it_was(error: UnicodeError) -> tuple[bytes, int]:
    """Write what the encoding does not know as UTF-8: the reader takes such bytes as they are."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return error.object[error.start : error.end].encode("utf-8", "surrogateescape"), error.end


_AS_IT_WAS = "ibidem.formats.as_it_was"
codecs.register_error(_AS_IT_WAS, _as_it_was)
