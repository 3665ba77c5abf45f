"""Bodies of web pages as sent: in chunks, compressed, or neither, whatever their headers say.

Archives contain pages whose headers announce chunks or compression that the crawler has undone already; these are used
unchanged. What cannot be decoded is an error of that page alone.
"""

from __future__ import annotations

import re
import zlib

import pyarrow as pa

from ibidem.config.quantities import size_of
from ibidem.formats.byte_streams import MAX_RECORD_BYTES, most_unfolded

_CHUNK_HEAD = re.compile(rb"[ \t]*([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
_GZIP_OR_ZLIB, _DEFLATE = 32 + zlib.MAX_WBITS, -zlib.MAX_WBITS
_READ_BYTES = 1 << 20
_ARROW_CODECS = {"br": "brotli", "zstd": "zstd"}
_GZIP_MAGIC, _ZSTD_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class BodyError(Exception):
    """A body is not what its headers say, from some place on."""


def decode_body(data: bytes, transfer_encoding: str | None, content_encoding: str | None) -> bytes:
    """Return the decoded body of a page; raise BodyError if that is impossible."""
    if "chunked" in (transfer_encoding or "").lower():
        data = _joined_chunks(data)
    # Several encodings are listed in the order in which they were applied.
    for name in reversed((content_encoding or "").lower().split(",")):
        data = _decompressed(data, name.strip().removeprefix("x-"))
    return data


def _joined_chunks(data: bytes) -> bytes:
    chunks: list[bytes] = []
    place = 0
    while head := _CHUNK_HEAD.match(data, place):
        start, n_bytes = head.end(), int(head[1], 16)
        if n_bytes == 0:
            return b"".join(chunks)
        chunks.append(data[start : start + n_bytes])
        place = start + n_bytes
        place += len(data[place : place + 2]) - len(data[place : place + 2].lstrip(b"\r\n"))
    if not chunks:
        return data
    if place < len(data):
        raise BodyError(f"no chunk begins at byte {place} of the body")
    return b"".join(chunks)  # truncated, as crawlers do with long pages


def _decompressed(data: bytes, name: str) -> bytes:
    try:
        if name == "gzip":
            return _inflated(data, _GZIP_OR_ZLIB) if data.startswith(_GZIP_MAGIC) else data
        if name == "deflate":
            # Some servers omit the zlib header.
            is_zlib = len(data) > 1 and data[0] & 15 == 8 and (data[0] << 8 | data[1]) % 31 == 0
            return data if data.lstrip().startswith(b"<") else _inflated(data, _GZIP_OR_ZLIB if is_zlib else _DEFLATE)
        if name in _ARROW_CODECS and data:
            is_plain = data.lstrip().startswith(b"<") if name == "br" else not data.startswith(_ZSTD_MAGIC)
            return data if is_plain else _streamed(data, _ARROW_CODECS[name])
    except (zlib.error, OSError, pa.ArrowException) as error:
        raise BodyError(f"{name}: {error}") from error
    return data


def _inflated(data: bytes, window_bits: int) -> bytes:
    """Return what is there, even of a truncated stream."""
    inflater = zlib.decompressobj(window_bits)
    found = _checked(inflater.decompress(data, _most(data) + 1), _most(data))
    return _streamed(data, "gzip") if inflater.unused_data.startswith(_GZIP_MAGIC) else found


def _streamed(data: bytes, codec: str) -> bytes:
    pieces: list[bytes] = []
    n_bytes, most = 0, _most(data)
    with pa.CompressedInputStream(pa.BufferReader(data), codec) as stream:
        while n_bytes <= most and (piece := stream.read(_READ_BYTES)):
            pieces.append(piece)
            n_bytes += len(piece)
    return _checked(b"".join(pieces), most)


def _most(data: bytes) -> int:
    return min(MAX_RECORD_BYTES, most_unfolded(len(data)))


def _checked(body: bytes, most_bytes: int) -> bytes:
    if len(body) > most_bytes:
        raise BodyError(f"it expands to more than {size_of(most_bytes)}")
    return body
