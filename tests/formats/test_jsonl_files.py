"""JSON lines: the fast way and the line-by-line way agree, and blocks may be cut anywhere."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibidem.config import DocumentsConfig
from ibidem.formats import json_columns, jsonl_files, line_streams, read_batches
from ibidem.formats.records import Wanted
from ibidem.model import Skipped

Found = tuple[list[dict[str, Any]], list[Skipped]]


def collect(path: Path, **config: Any) -> Found:
    skipped: list[Skipped] = []
    rows = [row for batch in read_batches(path, DocumentsConfig(**config), skipped.append) for row in batch.to_pylist()]
    return rows, skipped


def parse(block: bytes, way: str, monkeypatch: pytest.MonkeyPatch) -> Found:
    with monkeypatch.context() as patch:
        if way == "line by line":
            patch.setattr(jsonl_files, "_parse_fast", lambda *_: None)
        patch.setattr(json_columns, "N_ARROW_BLOCKS", 0 if way == "kernel" else 8)
        wanted = Wanted(DocumentsConfig())
        types = json_columns.FieldTypes(wanted)
        for line in block.split(b"\n")[:1]:
            first = jsonl_files.parse_line(line)
            if isinstance(first, dict):
                types.learn(first)
        outcome = jsonl_files._parse_block(block, 1, "docs.jsonl", wanted, types, len(block))
    return [row for batch in outcome.batches for row in batch.to_pylist()], outcome.skipped


# Lone surrogates included: JSON can spell them, UTF-8 cannot.
words = st.text(st.one_of(st.sampled_from('aé漢😀 \n\t"\\{}[],:\u2028\x85\x00'), st.characters()), max_size=12)
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), words),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(words, inner, max_size=2)),
    max_leaves=4,
)
spellings = st.sampled_from(["2020-01-02", "2020-01-02T03:04:05Z", "2020", "soon", "", 5, 1.5, 1.6e12, None, True, [1]])
doc_ids = st.one_of(words, st.integers(), st.floats(), st.none(), st.booleans())
plain = st.fixed_dictionaries({"text": words}, optional={"id": words, "time": spellings, "group": words, "extra": json_values})
numbered = st.fixed_dictionaries({"id": st.integers(-(2**70), 2**70), "text": words})
strange = st.fixed_dictionaries(
    {}, optional={"text": json_values, "id": doc_ids, "time": spellings, "group": json_values, "": json_values}
)

# No lone surrogates, which no column of texts can have; the names of fields without escapes.
printed = st.text(st.one_of(st.sampled_from('aé漢😀 \n\t"\\{}[],:\u2028\x85\x00'), st.characters(codec="utf-8")), max_size=24)
whole = st.integers(-(10**18) + 1, 10**18 - 1)
unused = st.recursive(
    st.one_of(st.none(), st.booleans(), whole, st.floats(allow_nan=False, allow_infinity=False), printed),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(printed, inner, max_size=2)),
    max_leaves=6,
)
ordinary = st.fixed_dictionaries(
    {"text": st.one_of(printed, st.none())},
    optional={
        "id": st.one_of(printed, whole, st.none()), "group": st.one_of(printed, whole, st.none()),
        "time": st.one_of(printed, st.none()), "extra": unused, "t": unused,
    },
)  # fmt: skip


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    kind = draw(st.sampled_from([plain, numbered, strange, st.one_of(plain, numbered, strange)]))
    written = []
    for record in draw(st.lists(kind, max_size=5)):
        line = json.dumps(record, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
        twist = draw(st.sampled_from([""] * 12 + ["twice", "repeated key", "cut", "blank", "spaces", "null", "bytes"]))
        if twist == "twice":
            line += line
        elif twist == "repeated key":
            line = line[:-1] + (b", " if len(line) > 2 else b"") + b'"text": "again"}'
        elif twist == "cut":
            line = line[: draw(st.integers(0, len(line)))]
        elif twist == "blank":
            line += b"\n \n"
        elif twist == "spaces":
            line = b" " + line + b" "
        elif twist == "null":
            line = b"null\n" + line
        elif twist == "bytes":
            line = line.replace(b"a", b"\xff")
        written.append(line)
    return draw(st.sampled_from([b"\n", b"\r\n"])).join(written) + draw(st.sampled_from([b"", b"\n"]))


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines())
def test_the_fast_ways_give_what_line_by_line_gives(monkeypatch: pytest.MonkeyPatch, block: bytes) -> None:
    given = parse(block, "line by line", monkeypatch)
    assert parse(block, "kernel", monkeypatch) == given
    assert parse(block, "arrow", monkeypatch) == given


@settings(max_examples=400, deadline=None)
@given(st.lists(ordinary, min_size=1, max_size=5), st.booleans(), st.sampled_from(["\n", "\r\n", "\n\n"]))
def test_the_kernel_reads_ordinary_records(records: list[dict[str, Any]], is_ascii: bool, end: str) -> None:
    block = end.join(json.dumps(record, ensure_ascii=is_ascii) for record in records).encode()
    names = ("text", "id", "time", "group")
    found = json_columns.read_plain(block, names)
    assert found is not None
    step = 2 if end == "\n\n" else 1
    assert found.lines.tolist() == [step * row for row in range(len(records))]
    assert [block[start : start + 1] for start in found.starts.tolist()] == [b"{"] * len(records)
    for name, column in zip(names, found.values, strict=True):
        assert column.to_pylist() == [None if (value := record.get(name)) is None else str(value) for record in records]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines(), st.integers(1, 60))
def test_blocks_may_be_cut_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: bytes, block_bytes: int) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(block)
    whole = collect(path)
    with monkeypatch.context() as patch:
        patch.setattr(line_streams, "BLOCK_BYTES", block_bytes)
        assert collect(path) == whole


def test_ordinary_records_take_the_fast_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(jsonl_files, "_parse_lines", lambda *_: pytest.fail("read line by line"))
    path = tmp_path / "docs.jsonl"
    for records in (
        [{"id": str(n), "text": f"text {n}", "time": "2020-01-01", "extra": {"deep": [n]}} for n in range(50)],
        [{"id": n, "text": f"text {n}", "time": n, "group": n} for n in range(50)],
        [{"text": f"text {n}", "time": n + 0.5} for n in range(50)],
    ):
        for end in ("\n", "\r\n", "\n\n"):
            path.write_text(end.join(json.dumps(record) for record in records), encoding="utf-8", newline="")
            rows, skipped = collect(path)
            assert [row["text"] for row in rows] == [record["text"] for record in records]
            assert rows[7]["id"] == (str(records[7]["id"]) if "id" in records[7] else f"{path}:{rows[7]['position']}")
            assert not skipped


def test_a_stray_nul_does_not_cost_a_document(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    text = "The ferry\0 was late on Monday."
    path.write_text(json.dumps({"id": "1", "text": text}), encoding="utf-8")
    rows, skipped = collect(path)
    assert [row["text"] for row in rows] == [text]
    assert not skipped


def test_every_record_that_is_left_out_has_its_line_and_reason(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    cases = [
        (b'{"id": "1", "text": "good"}', ""),
        (b"", ""),
        (b'{"id": "2"}', "no field 'text'"),
        (b'{"id": "3", "text": "  \\n"}', "empty text"),
        (b'{"id": "4", "text": "a\\u0000b"}', "NUL characters, the first at character 1"),
        (b'{"id": "5", "text": "\\ud800"}', "lone surrogate \\ud800 in field 'text'"),
        (b'{"id": "6", "text": "\xff"}', "invalid UTF-8 at byte 22"),
        (b'{"id": "7", "text": 5}', "field 'text' contains a number, not text"),
        (b'{"id": [8], "text": "eight"}', "field 'id' contains a list"),
        (b'{"id": true, "text": "nine"}', "field 'id' contains a boolean"),
        (b'{"id": "10", "text": "cut', "broken JSON"),
        (b"[1, 2]", "not a JSON object but a list"),
        (b"null", "not a JSON object but null"),
        (b'{"id": "last", "text": "good", "other": "\xff"}', ""),
        (b"[" * 100_000, "broken JSON"),
    ]
    path.write_bytes(b"\n".join(line for line, _ in cases))
    rows, skipped = collect(path)
    assert [(row["id"], row["position"]) for row in rows] == [("1", 1), ("last", 14)]
    expected = [(line, reason) for line, (_, reason) in enumerate(cases, 1) if reason]
    assert [record.position for record in skipped] == [line for line, _ in expected]
    for record, (_, reason) in zip(skipped, expected, strict=True):
        assert reason in record.reason
        assert record.source == str(path)
    assert [record.id for record in skipped[:4]] == ["2", "3", "4", "5"]


def test_ids_are_kept_or_made(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"text": "one", "id": 7}\n{"text": "two", "id": " x "}\n{"text": "three", "id": ""}\n'
        b'{"text": "four"}\n{"text": "five", "id": 1.5}'
    )
    assert [row["id"] for row in collect(path)[0]] == ["7", " x ", f"{path}:3", f"{path}:4", "1.5"]


def test_a_line_longer_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_streams, "BLOCK_BYTES", 1000)
    path = tmp_path / "docs.jsonl"
    records = [{"id": str(n), "text": "word " * (3000 if n == 2 else 3)} for n in range(5)]
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    assert [(row["id"], row["text"]) for row in collect(path)[0]] == [(r["id"], r["text"]) for r in records]


def test_two_settings_may_name_one_field(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(b'{"text": "one", "when": 1600000000}\n')
    (row,), _ = collect(path, id_field="when", time_field="when", group_field="when")
    assert (row["id"], row["group"], row["time"].year) == ("1600000000", "1600000000", 2020)


def test_a_cut_off_file_gives_the_records_before_the_cut(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_bytes(b'{"id": "b", "text": "from the next file"}\n')
    text = [json.dumps({"id": f"a{n}", "text": f"{n * 7919} words {n * n}"}) for n in range(20_000)]
    packed = gzip.compress("\n".join(text).encode())
    (tmp_path / "a.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    rows, skipped = collect(tmp_path)
    assert [row["id"] for row in rows[:3]] == ["a0", "a1", "a2"]
    assert rows[-1]["id"] == "b"
    assert len(rows) > 5000
    assert [(record.source, record.position) for record in skipped] == [(str(tmp_path / "a.jsonl.gz"), 0)]
    assert "Truncated" in skipped[0].reason
