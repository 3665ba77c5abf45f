"""Bodies are read as the standard library reads them, in bounded time, and not on the thread that serves everybody."""

from __future__ import annotations

import codecs
import json
import threading
from encodings.aliases import aliases
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.viewer.server import bodies, index_routes
from ibidem.viewer.server.api_errors import ApiError
from ibidem.viewer.server.bodies import MOST_FIELDS, codec_of, decode_slices, flat_object
from tests.texts import text

CHECK = "/api/v1/check"
VALUES = st.one_of(st.text(max_size=20), st.none(), st.booleans())
NAMES = st.text(max_size=8).filter(str.isprintable)


@given(st.dictionaries(NAMES, VALUES, max_size=MOST_FIELDS), st.booleans(), st.sampled_from([None, 0, 3]))
def test_a_flat_object_is_read_as_json_reads_it(values: dict[str, Any], is_ascii: bool, indent: int | None) -> None:
    data = json.dumps(values, ensure_ascii=is_ascii, indent=indent).encode("utf-8", "surrogatepass")
    assert flat_object(data) == json.loads(data)


def slow_flat_object(data: bytes) -> Any:
    """What a body may be, by the parser of the standard library; None for what is refused."""
    try:
        # `int` raises for the constants, NaN and the like: they are no JSON.
        numbers = {"parse_int": lambda _: 0, "parse_float": lambda _: 0, "parse_constant": int}
        found = json.loads(data.decode("utf-8").removeprefix("\ufeff"), **numbers)
    except ValueError:
        return None
    is_flat = isinstance(found, dict) and not any(isinstance(value, (list, dict)) for value in found.values())
    return found if is_flat and all(name.isprintable() for name in found) else None


FRAGMENTS = [
    *("{", "}", '"', '"a"', '"b"', ":", ",", " ", "\n", "null", "true", "1", "-2.5e3", "01", "[", "]", "\\u00e9", "\\", "é"),
    *("NaN", "-Infinity"),
]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join).map(str.encode) | st.binary(max_size=12))
def test_whatever_is_no_flat_object_is_refused(data: bytes) -> None:
    expected = slow_flat_object(data)
    if expected is None:
        with pytest.raises(ApiError):
            flat_object(data)
    else:
        assert flat_object(data) == expected


def test_an_object_of_many_fields_is_refused_before_it_is_read() -> None:
    with pytest.raises(ApiError, match="more than 20 fields"):
        flat_object(b"{" + b",".join(b'"f%d":0' % number for number in range(100_000)))


@given(
    st.sampled_from(sorted(set(bodies._BY_NAME.values()))),
    st.binary(max_size=40) | st.text(max_size=20).map(lambda value: value.encode("utf-8", "replace")),
    st.integers(1, 7),
)
def test_slices_are_decoded_as_the_whole(codec: str, data: bytes, slice_bytes: int) -> None:
    def outcome(decode: Any) -> Any:
        try:
            return decode()
        except UnicodeError:
            return UnicodeError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bodies, "_SLICE_BYTES", slice_bytes)
        assert outcome(lambda: decode_slices(data, codec)) == outcome(lambda: data.decode(codec))


@pytest.mark.parametrize(
    ("charset", "codec"),
    [
        ("utf-8", "utf_8"), ("UTF8", "utf_8"), ("UTF-16LE", "utf_16_le"), ("latin-1", "latin_1"), ("ISO-8859-1", "latin_1"),
        ("iso-8859-15", "iso8859_15"), ("windows-1252", "cp1252"), ("Windows-1251", "cp1251"), ("KOI8-R", "koi8_r"),
        ("gb18030", "gb18030"), ("Shift_JIS", "shift_jis"), ("sjis", "shift_jis"), ("EUC-JP", "euc_jp"), ("euc-kr", "euc_kr"),
        ("big5", "big5"), ("us-ascii", "ascii"), ("macintosh", "mac_roman"), ("ISO-2022-JP", "iso2022_jp"),
        ("punycode", None), ("idna", None), ("utf-7", None), ("unicode_escape", None), ("raw_unicode_escape", None),
        ("undefined", None), ("hex", None), ("rot13", None), ("zlib", None), ("", None), ("utf-8" * 1000, None), ("mbcs", None),
    ],
)  # fmt: skip
def test_charsets_with_linear_decoders_are_accepted(charset: str, codec: str | None) -> None:
    assert codec_of(charset) == codec


def test_every_accepted_codec_exists_and_reads_by_slices() -> None:
    for codec in set(bodies._BY_NAME.values()):
        assert codecs.getincrementaldecoder(codec)
    assert not {"punycode", "utf_7", "idna", "unicode_escape"} & set(bodies._BY_NAME.values())
    assert set(aliases.values()) > {"utf_7", "hex_codec"}  # what Python would take


def test_names_of_charsets_are_not_remembered(reader: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python keeps every name that it was asked for."""
    asked: list[str] = []
    monkeypatch.setattr(codecs, "lookup", asked.append)
    headers = {"Content-Type": "text/plain; charset=no-such-name-7"}
    assert reader.post(CHECK, content=b"x", headers=headers).status_code == 415
    assert not [name for name in asked if "7" in str(name)]


@pytest.mark.parametrize(
    ("module", "name", "content_type"),
    [
        (bodies, "decode_slices", "text/plain"),
        (bodies, "flat_object", "application/json"),
        (index_routes, "decode_html", "text/html"),
        (index_routes, "_check_fields", "text/plain"),
        (index_routes, "JsonAnswer", "text/plain"),
    ],
)
def test_work_on_a_body_is_not_done_on_the_thread_that_serves_everybody(
    reader: httpx.Client, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, content_type: str
) -> None:
    threads: list[str] = []
    work = getattr(module, name)

    def watched(*arguments: Any) -> Any:
        threads.append(threading.current_thread().name)
        return work(*arguments)

    monkeypatch.setattr(module, name, watched)
    content = json.dumps({"text": text(1, 2)}) if content_type == "application/json" else text(1, 2)
    assert reader.post(CHECK, content=content, headers={"Content-Type": content_type}).status_code == 200
    assert threads
    assert all("AnyIO" in thread for thread in threads)
