"""Request bodies, read in time proportional to their bytes whatever they contain.

A body is a flat object of strings. A general JSON parser would turn ten megabytes of brackets into a million lists and hold the
interpreter's lock for a second; this one stops at the first nested bracket.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from encodings.aliases import aliases
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from ibidem.viewer.server.api_errors import ApiError, invalid

ShapeT = TypeVar("ShapeT", bound=BaseModel)

MOST_FIELDS = 20
_BLANK = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS: dict[str, Any] = {"null": None, "true": True, "false": False}
_NO_OBJECT = "the body must be a JSON object, with content type application/json"
# The accepted encodings: those whose decoders take linear time for any bytes. Python has others: its `punycode` takes quadratic
# time.
ACCEPTED = (
    "UTF-8, UTF-16, UTF-32, US-ASCII, ISO-8859-1 to -16, windows-1250 to -1258, windows-874, KOI8-R, KOI8-U, macintosh, "
    "IBM866, GB18030, GBK, Big5, EUC-KR, EUC-JP, ISO-2022-JP, Shift_JIS"
)
_CODECS = (
    *("ascii", "utf_8", "utf_8_sig", "utf_16", "utf_16_le", "utf_16_be", "utf_32", "utf_32_le", "utf_32_be"),
    *("latin_1", *(f"iso8859_{part}" for part in (*range(2, 12), *range(13, 17)))),
    *(f"cp{page}" for page in (*range(1250, 1259), 874, 866, 932, 949, 950)),
    *("koi8_r", "koi8_u", "mac_roman", "gb2312", "gbk", "gb18030", "big5", "big5hkscs"),
    *("euc_jp", "euc_kr", "iso2022_jp", "shift_jis"),
)
_MARKS = {
    "utf_16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    "utf_32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
}
_SLICE_BYTES = 1 << 16  # decoding one takes a millisecond; other threads run between slices


class Body(NamedTuple):
    """The bytes that were sent, and their declared type."""

    data: bytes
    media_type: str
    charset: str | None


async def read_body(request: Request) -> Body:
    """Return the whole body of a request."""
    media_type, _, options = request.headers.get("content-type", "").partition(";")
    return Body(await request.body(), media_type.strip().lower(), _charset(options))


def object_of(shape: type[ShapeT], body: Body) -> ShapeT:
    """Return a JSON body as an object of that shape; raise an error that explains what is wrong."""
    if not (body.media_type == "application/json" or re.fullmatch(r"application/[^/]+\+json", body.media_type)):
        raise invalid(_NO_OBJECT)
    try:
        return shape.model_validate(flat_object(body.data))
    except ValidationError as problem:
        errors = problem.errors(include_url=False, include_input=False)
        raise RequestValidationError([{**error, "loc": ("body", *error["loc"])} for error in errors]) from None


def text_of(body: Body) -> str:
    """Return a plain-text body as a string."""
    codec = accepted_codec(body.charset) or "utf_8"
    try:
        text = decode_slices(body.data, codec).removeprefix("\ufeff")
        text.encode("utf-8")  # some encodings allow half of a surrogate pair
    except UnicodeError:
        next_step = (
            "Save it as UTF-8 text, or send it as a file with its name. Programs can set another encoding in the header: "
            "Content-Type: text/plain; charset=latin-1."
        )
        raise invalid(f"this is not text in {(body.charset or 'utf-8').upper()}", next_step) from None
    return text


def accepted_codec(charset: str | None) -> str | None:
    """Return the decoder for a charset, None if none was given; raise if it is not accepted."""
    if charset is None:
        return None
    codec = codec_of(charset)
    if codec is None:
        raise ApiError(415, "invalid", f"the charset {charset[:40]!r} is not accepted", f"Send it in one of {ACCEPTED}.")
    return codec


def flat_object(data: bytes) -> dict[str, Any]:
    """Return a JSON object (RFC 8259, in UTF-8) whose values are not nested. Numbers are read as 0: no field accepts one."""
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise _not_json("it is not UTF-8") from None
    try:
        return _flat_object(text)
    except JSONDecodeError as problem:
        raise _not_json(f"{problem.msg[:1].lower()}{problem.msg[1:]} at character {problem.pos}") from None


def _flat_object(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    place = _blank(text, 0)
    if text[place : place + 1] != "{":
        if text[place : place + 1] in ("", "}", "]"):
            raise JSONDecodeError("a JSON object is missing", "", place)
        raise invalid(_NO_OBJECT)
    place = _blank(text, place + 1)
    if text[place : place + 1] == "}":
        return _ended(text, place, found)
    for _ in range(MOST_FIELDS):
        if text[place : place + 1] != '"':
            raise JSONDecodeError("a name in quotation marks is missing", "", place)
        name, place = _string(text, place)
        if not name.isprintable():  # it appears in messages
            raise invalid(f"{ascii(name)[:100]} is not the name of a field")
        place = _blank(text, place)
        if text[place : place + 1] != ":":
            raise JSONDecodeError("a colon is missing", "", place)
        found[name], place = _value(text, _blank(text, place + 1), name)
        place = _blank(text, place)
        sign = text[place : place + 1]
        if sign == "}":
            return _ended(text, place, found)
        if sign != ",":
            raise JSONDecodeError("a comma is missing", "", place)
        place = _blank(text, place + 1)
    raise invalid(f"the body has more than {MOST_FIELDS} fields")


def _value(text: str, place: int, name: str) -> tuple[Any, int]:
    first = text[place : place + 1]
    if first == '"':
        return _string(text, place)
    if first in ("[", "{") and first:
        raise invalid(f"{name[:100]} must be text, not a list or an object")
    for word, value in _WORDS.items():
        if text.startswith(word, place):
            return value, place + len(word)
    if number := _NUMBER.match(text, place):
        return 0, number.end()
    raise JSONDecodeError("a value is missing", "", place)


def _string(text: str, place: int) -> tuple[str, int]:
    try:
        value, end = scanstring(text, place + 1, True)
    except JSONDecodeError as problem:
        raise JSONDecodeError(problem.msg.lower(), "", problem.pos) from None
    return value, end


def _ended(text: str, place: int, found: dict[str, Any]) -> dict[str, Any]:
    end = _blank(text, place + 1)
    if end != len(text):
        raise JSONDecodeError("more than one value", "", end)
    return found


def _blank(text: str, place: int) -> int:
    found = _BLANK.match(text, place)
    return found.end() if found else place


def _not_json(reason: str) -> ApiError:
    return invalid(f"the body is not JSON: {reason}")


def _charset(options: str) -> str | None:
    for option in options.split(";"):
        name, _, value = option.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'")
    return None


def described(shape: type[BaseModel], *texts: str) -> dict[str, Any]:
    """Return how OpenAPI describes a body: JSON of that shape, or text of these media types."""
    content: dict[str, Any] = {"application/json": {"schema": shape.model_json_schema()}}
    content.update((media_type, {"schema": {"type": "string"}}) for media_type in texts)
    return {"requestBody": {"required": True, "content": content}}


def _plain(name: str) -> str:
    return re.sub(r"[^0-9a-z]", "", name.lower())


# Our own table: Python would cache every name it is asked for.
_BY_NAME = {
    **{_plain(codec): codec for codec in _CODECS},
    **{_plain(alias): codec for alias, codec in aliases.items() if codec in _CODECS},
    "unicode": "utf_16",
    "windows874": "cp874",
    "windows31j": "cp932",
    "xsjis": "shift_jis",
    "xgbk": "gbk",
}


def codec_of(charset: str) -> str | None:
    """Return the decoder for a charset in a Content-Type header; None if it is not accepted."""
    return _BY_NAME.get(_plain(charset)) if len(charset) <= 40 else None


def decode_slices(data: bytes, codec: str) -> str:
    """Return or raise what `data.decode(codec)` does, holding the interpreter's lock for only a millisecond at a time."""
    if codec in _MARKS and not data.startswith(_MARKS[codec]):
        codec += "_le"  # an incremental decoder requires the byte order mark
    decoder = codecs.getincrementaldecoder(codec)()
    return "".join(_decoded(decoder, data))


def _decoded(decoder: codecs.IncrementalDecoder, data: bytes) -> Iterator[str]:
    for begin in range(0, len(data), _SLICE_BYTES):
        yield decoder.decode(data[begin : begin + _SLICE_BYTES])
    yield decoder.decode(b"", final=True)
