"""JSON lines: what stays keeps its bytes, what is cut keeps everything but the text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibidem.errors import InputError
from ibidem.formats.decisions import Decision
from ibidem.formats.inputs import resolve_inputs
from ibidem.formats.json_fields import cut_field, cut_string, fields
from tests.formats import json_sources
from tests.formats.copy_oracle import COMPRESSIONS, check_copy, clean, decided, decompressed, folders, texts

ODD_LINES = [
    b"",
    b"   ",
    b"\r",
    b"broken",
    b'{"text": "no end',
    b'["text", "in a list"]',
    b"null",
    b'{"n": 1}',
    b'{"text": null}',
    b'{"text": 7}',
    b'{"text": "   "}',
    b'{"text": "\\ud800 lone"}',
    b'{"text": "caf\xe9 in another encoding", "n": 1.0}',
    b'{"text": "good", "n": "caf\xe9 in another encoding"}',
    b'{"text": "tab\there", "n": 1e5}',
    b'{"text": "nul \\u0000"}',
]


@st.composite
def files(draw: Any) -> bytes:
    lines = draw(st.lists(st.one_of(json_sources.objects().map(str.encode), st.sampled_from(ODD_LINES)), max_size=12))
    ends = draw(st.lists(st.sampled_from([b"\n", b"\r\n"]), min_size=len(lines), max_size=len(lines)))
    data = b"".join(line + end for line, end in zip(lines, ends, strict=True))
    if draw(st.booleans()):
        data = data.removesuffix(b"\n")
    return (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + data


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_file(data: Any) -> None:
    with folders(data.draw(st.sampled_from([7, 50, 4 << 20]))) as (inputs, output):
        suffix = data.draw(st.sampled_from(["", "", ".gz", ".zst"]))
        path = inputs / f"docs.jsonl{suffix}"
        content = data.draw(files())
        path.write_bytes(COMPRESSIONS[suffix](content))
        found = data.draw(decided(texts(path)))
        copy = check_copy(path, found, output)

        before = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        kept = [n for n in range(1, len(before) + 1) if not found.get((str(path), n), Decision()).drop]
        after = decompressed(copy).removeprefix(b"\xef\xbb\xbf").split(b"\n")
        if len(before) not in kept:
            assert after.pop() == b""  # the last line had no end, the one before it has
        assert len(after) == len(kept)
        for number, line in zip(kept, after, strict=True):
            if (str(path), number) not in found:
                assert line == before[number - 1]
            else:
                old, new = (_other_fields(source) for source in (before[number - 1], line))
                assert new == old
        assert decompressed(copy).startswith(b"\xef\xbb\xbf") == content.startswith(b"\xef\xbb\xbf")


def _other_fields(line: bytes) -> Any:
    source = line.decode("utf-8", "surrogateescape")
    found = json_sources.pairs(source)
    last = max(place for place, (name, _) in enumerate(found) if name == "text")
    return [*found[:last], *found[last + 1 :]]


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_a_string_is_cut_as_its_text_is(data: Any) -> None:
    text = data.draw(json_sources.TEXTS)
    token = data.draw(json_sources.strings(text))
    bounds = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    cuts = tuple(zip(bounds[::2], bounds[1::2], strict=False))
    assert json.loads(cut_string(token, text, cuts), strict=False) == Decision(cuts=cuts).remaining(text)


@settings(max_examples=100, deadline=None)
@given(json_sources.objects(line_breaks=True))
def test_fields_are_found_as_json_finds_them(source: str) -> None:
    found = [(name, json_sources.pairs(source[start:end])) for name, start, end in fields(source)]
    assert found == [tuple(pair) for pair in json_sources.pairs(source)]


def test_escapes_and_numbers_stay_as_they_are_written() -> None:
    source = '{"n": 1.0,"text":"\\u0041\\/b\\ud83d\\ude00 caf\u00e9 end", "m" : 1e5}'
    assert cut_field(source, "text", [(1, 2), (3, 5)]) == '{"n": 1.0,"text":"\\u0041b' + 'caf\u00e9 end", "m" : 1e5}'
    repeated = '{"text": 1, "text": "two", "text": "three"}'
    assert cut_field(repeated, "text", [(0, 2)]) == '{"text": 1, "text": "two", "text": "ree"}'
    assert cut_field(source, "text", [(0, 3)]) == '{"n": 1.0,"text":"\\ud83d\\ude00 caf\u00e9 end", "m" : 1e5}'


@pytest.mark.parametrize("other", [b"9" * 5000, b"[" * 1500 + b"]" * 1500])
def test_what_arrow_reads_and_python_does_not(tmp_path: Path, other: bytes) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_bytes((b'{"n": ' + other + b', "text": "one two"}\n') * 2)
    found = {(str(path), 1): Decision(cuts=((0, 4),), marks={"m": 1}), (str(path), 2): Decision(drop=True)}
    assert set(found) == set(texts(path))
    (copy,) = clean(path, found, tmp_path / "out")
    assert copy.read_bytes() == b'{"n": ' + other + b', "text": "two"}\n'
    (copy,) = clean(path, found, tmp_path / "marked", pa.schema({"m": pa.int64()}))
    assert copy.read_bytes().split(b"\n")[0] == b'{"n": ' + other + b', "text": "one two", "m": 1}'


@pytest.mark.parametrize("cuts", [((0, 99),), ((3, 4), (99, 100))])
def test_a_file_that_changed_meanwhile_is_an_error(tmp_path: Path, cuts: Any) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(b'{"text": "short"}\n{"n": 1}\n')
    for place in ((str(path), 1), (str(path), 2), (str(path), 3)):
        with pytest.raises(InputError, match="changed after it was read"):
            clean(path, {place: Decision(cuts=cuts)}, tmp_path / "out")
    assert not any(part.is_file() for part in (tmp_path / "out").rglob("*"))
    assert resolve_inputs(path)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-be", "utf-32", "cp1252", "shift_jis", "gb18030", "ascii"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_encodings(tmp_path: Path, encoding: str, suffix: str) -> None:
    rare = {"shift_jis": "\u65e5\u672c\u8a9e", "gb18030": "\u4e2d\U0001f600", "ascii": "plain"}.get(encoding, "\u00e9\u00fc")
    lines = [f'{{"text": "{rare} number {n} \\u20ac\\u4e2d", "n": 1.0, "r": "{rare}"}}' for n in range(9)]
    content = "\r\n".join(lines).encode(encoding)
    path = tmp_path / f"docs.jsonl{suffix}"
    path.write_bytes(COMPRESSIONS[suffix](content))
    name = str(path)
    found = {(name, 2): Decision(drop=True), (name, 4): Decision(cuts=((0, 1), (5, 9)))}
    copy = check_copy(path, found, tmp_path / "out", encoding=encoding)
    expected = lines[:1] + lines[2:]
    expected[2] = expected[2].replace(f'"{rare} number 3', f'"{rare[1:] + " number 3"}', 1)
    text = f"{rare} number 3 "
    expected[2] = lines[3].replace(text, Decision(cuts=((0, 1), (5, 9))).remaining(text), 1)
    assert decompressed(copy) == "\r\n".join(expected).encode(encoding)


def test_bytes_that_the_encoding_does_not_know_stay(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    lines = [b'{"text": "one \xc3\xa9"}\n', b'{"text": "two", "n": "\xff\x81"}\n', b'{"text": "three"}\n']
    path.write_bytes(b"".join(lines))
    for encoding in ("ascii", "cp1252", "latin-1"):
        out = tmp_path / encoding
        found = {(str(path), 3): Decision(drop=True), (str(path), 1): Decision(cuts=((0, 1),))}
        (copy,) = clean(path, found, out, encoding=encoding)
        assert copy.read_bytes() == b'{"text": "ne \xc3\xa9"}\n' + lines[1]


def test_what_cannot_be_decoded_is_handed_on(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    lines = [f'{{"text": "number {n}"}}\n'.encode("utf-16-le") for n in range(9)]
    broken = b"\x00\xd8" + '"}\n{"text": "the rest"}\n'.encode("utf-16-le")
    path.write_bytes(b"".join(lines) + broken)
    with folders(16):
        found = {(str(path), 2): Decision(drop=True)}
        assert 2 < len(texts(path, encoding="utf-16-le")) <= 9
        with pytest.raises(InputError, match="cannot be read to its end"):
            clean(path, found, tmp_path / "out", encoding="utf-16-le")
        (copy,) = clean(path, found, tmp_path / "out", encoding="utf-16-le", damaged=[str(path)])
    assert copy.read_bytes() == b"".join(lines[:1] + lines[2:]) + broken
