"""Every bad input that docs/operations/bad-input.md tells of does what the page says; and what a table cannot show."""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
import threading
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ibidem
from ibidem.cli.main import main
from ibidem.config import DocumentsConfig
from ibidem.errors import InputError, NoDocumentsError, SkippedRecordsError
from ibidem.formats import byte_streams, file_access, line_streams, read_batches, text_files
from ibidem.formats import csv_files as csv_reader
from ibidem.formats.html_text import extract_text
from ibidem.formats.inputs import describe_inputs, files_of_unknown_kind
from ibidem.formats.printable_names import printable
from ibidem.model import Skipped
from ibidem.results.summary import skipped_lines, unknown_files_lines

DOCS = Path(__file__).parent.parent / "docs"
sys.path.insert(0, str(DOCS))

from bad_input_cases import SECTIONS, Case, lines  # type: ignore[import-not-found]  # noqa: E402
from make_bad_input import PAGE, can_try, row, see  # type: ignore[import-not-found]  # noqa: E402

ARROW = int(pa.__version__.partition(".")[0])
CASES = [(section, case) for section, cases in SECTIONS.items() for case in cases]
NAMES = [f"{section}: {case.title}" for section, case in CASES]
# What is said there by Python or Arrow, and differently by older versions than those that made the page.
OTHERWISE = {
    "NUL bytes": (sys.version_info < (3, 11), "bad.csv:3: broken row: line contains NUL"),
    "bits turned over in the footer": (ARROW < 25, "bad.parquet: cannot be read to its end: "),
}


def collect(inputs: Any, **settings: Any) -> tuple[list[str], list[Skipped]]:
    skipped: list[Skipped] = []
    batches = read_batches(inputs, DocumentsConfig(**settings), skipped.append)
    return [found for batch in batches for found in batch.column("text").to_pylist()], skipped


def section_of_page(name: str) -> str:
    return PAGE.read_text("utf-8").split(f"\n## {name}\n", 1)[1].split("\n## ", 1)[0]


@pytest.mark.parametrize(("section", "case"), CASES, ids=NAMES)
def test_the_page_says_what_happens(section: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"\n| {case.title} |" in section_of_page(section)
    if case.is_large or not can_try(case):
        pytest.skip("takes too long, or cannot be made by the superuser")
    monkeypatch.setattr(file_access, "MAX_PIPE_WAIT_SECONDS", 0.2)
    seen = see(case, tmp_path)
    is_otherwise, told = OTHERWISE.get(case.title, (False, ""))
    if is_otherwise:
        assert seen.exit_code == 0
        assert seen.told[0].startswith(told)
    else:
        assert row(case, seen) in section_of_page(section).splitlines()


def test_the_page_has_no_other_rows() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ") and not line.startswith("| input |")]
    assert len(rows) == len(CASES)


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_streams, "MAX_RECORD_BYTES", 2000)
    monkeypatch.setattr(line_streams, "BLOCK_BYTES", 300)
    path = tmp_path / "a.jsonl"
    long = {"text": "word " * 2000}
    path.write_bytes(lines({"text": "one"}, long, {"text": "two"}, long, long, {"text": "three"}) + b'{"text": "' + b"x" * 9000)
    found, skipped = collect(path)
    assert found == ["one", "two", "three"]
    assert [record.position for record in skipped] == [2, 4, 5, 7]
    path = tmp_path / "a.csv"
    path.write_bytes(b"n,text\n1,one\n2," + b"x" * 9000 + b"\n3,three\n")
    found, skipped = collect(path)
    assert found == ["one", "three"]
    assert [record.position for record in skipped] == [3]


def test_a_text_that_is_too_long_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "MAX_RECORD_BYTES", 2000)
    (tmp_path / "a.txt").write_text("word " * 2000, "utf-8")
    (tmp_path / "b.txt").write_text("words", "utf-8")
    found, skipped = collect(tmp_path)
    assert found == ["words"]
    assert "split it" in skipped[0].reason


@pytest.mark.parametrize("n_lines", [3, 10_000])
def test_quotations_that_are_not_closed_cost_one_line_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_lines: int
) -> None:
    monkeypatch.setattr(csv_reader, "MAX_ROW_CHARS", 30_000)
    path = tmp_path / "a.csv"
    rows = [f"{number},text {number}\n" for number in range(n_lines)]
    rows[1] = '1,"text 1\n'
    path.write_text("n,text\n" + "".join(rows), "utf-8")
    found, skipped = collect(path)
    assert found == [f"text {number}" for number in range(n_lines) if number != 1]
    assert [(record.position, record.reason) for record in skipped] == [(3, csv_reader.UNCLOSED)]


def unfolded(path: Path) -> bytes:
    """Return what Python's own decompressor makes of a file that was cut off."""
    return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(path.read_bytes())


def test_all_that_stands_before_damage_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    whole = lines(*({"text": f"text {number} " + "ab" * (number % 50)} for number in range(5000)))
    packed = gzip.compress(whole, mtime=0)
    for cut in (len(packed) // 3, len(packed) - 9):
        path.write_bytes(packed[:cut])
        n_whole_lines = len(unfolded(path).split(b"\n")) - 1
        assert len(collect(path)[0]) == n_whole_lines > 1000


def test_batches_stay_small_where_sizes_are_uneven(tmp_path: Path) -> None:
    texts = ["x"] * 20_000 + ["word " * 60_000] * 200
    columns = pa.table({"text": texts})
    pq.write_table(columns, tmp_path / "plain.parquet", use_dictionary=False)
    pq.write_table(columns, tmp_path / "once.parquet")
    encoded = pa.table({"text": columns["text"].dictionary_encode()})
    for inputs in (columns, encoded, tmp_path / "plain.parquet", tmp_path / "once.parquet"):
        sizes = [batch.column("text").nbytes for batch in read_batches(inputs, DocumentsConfig(), pytest.fail)]
        assert max(sizes) < 20 << 20


def test_fields_that_nobody_asked_for_are_not_kept(tmp_path: Path) -> None:
    from ibidem.formats.python_records import RecordCollector
    from ibidem.formats.records import Wanted

    collector = RecordCollector("a", Wanted(DocumentsConfig()))
    collector.add({"text": "words", "html": "x" * 1000}, 1)
    assert collector._found == [{"text": "words"}]


def test_a_pipe_that_somebody_writes_to_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe.jsonl"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(lines({"text": "one"}, {"text": "two"})))
    writer.start()
    assert collect(path) == (["one", "two"], [])
    writer.join()


def test_a_file_that_is_written_to_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines({"text": "one"}))
    states = iter([(1, 1), (2, 2)])
    monkeypatch.setattr(byte_streams.ByteStream, "_state", lambda stream: next(states))
    found, skipped = collect(path)
    assert found == ["one"]
    assert [record.reason for record in skipped] == [byte_streams.CHANGED]


def test_a_file_that_is_taken_away_after_it_was_read(tmp_path: Path) -> None:
    assert describe_inputs([tmp_path / "gone.jsonl"]) == [{"kind": "stream", "path": str(tmp_path / "gone.jsonl")}]


def test_other_tables_are_read_where_one_does_not_fit(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"id,body\n1,one\n")
    (tmp_path / "b.csv").write_bytes(b"id,text\n1,one\n")
    found, skipped = collect(tmp_path)
    assert found == ["one"]
    assert "no column 'text'; its columns are id, body" in skipped[0].reason
    with pytest.raises(InputError, match="no column 'text'"):
        collect(tmp_path / "a.csv")


def test_every_file_of_unknown_kind_is_named(tmp_path: Path) -> None:
    for name in ("a.xlsx", "b.XLSX", "c.pptx", "README", "_SUCCESS", ".hidden", "d.txt"):
        (tmp_path / name).write_bytes(b"words")
    found, skipped = collect(tmp_path)
    assert found == ["words"]
    assert [(Path(record.source).name, record.position, record.reason) for record in skipped] == [
        ("README", 0, "unknown kind of file (no extension)"),
        ("a.xlsx", 0, "unknown kind of file (.xlsx)"),
        ("b.XLSX", 0, "unknown kind of file (.xlsx)"),
        ("c.pptx", 0, "unknown kind of file (.pptx)"),
    ]
    assert files_of_unknown_kind(tmp_path) == skipped
    assert files_of_unknown_kind([tmp_path / "d.txt"]) == []
    assert list(unknown_files_lines(skipped)) == [
        "4 files of unsupported types were not read (2 .xlsx, 1 no extension, 1 .pptx); skipped.jsonl lists them"
    ]
    assert list(skipped_lines(skipped)) == []
    with pytest.raises(SkippedRecordsError, match=r"README: unknown kind of file \(no extension\)\nFix the file"):
        ibidem.find(tmp_path, strict=True)


def test_a_record_without_text_lists_its_fields(tmp_path: Path) -> None:
    records = [{"id": "1", "body": "one", "when": 3}, {"id": "2", "text": None}, {"id": "3", "text": "three"}]
    expected = ["no field 'text'; its fields are id, body, when", "field 'text' is null"]
    (tmp_path / "fast.jsonl").write_bytes(lines(*records))
    (tmp_path / "slow.jsonl").write_bytes(lines(*records, {"id": "4", "text": 4}))
    (tmp_path / "all.json").write_text(json.dumps(records))
    for name in ("fast.jsonl", "all.json"):
        found, skipped = collect(tmp_path / name)
        assert (found, [record.reason for record in skipped]) == (["three"], expected), name
    assert [record.reason for record in collect(tmp_path / "slow.jsonl")[1]][:2] == expected
    assert [record.reason for record in collect(records)[1]] == expected
    many = [{f"f{number}": "" for number in range(200)}]
    assert re.search(r"; its fields are f0, .*, and \d+ more$", collect(many)[1][0].reason)


def test_bad_times_are_shown_with_the_accepted_forms(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines({"id": "1", "text": "one", "when": "13.9.31"}, {"id": "2", "text": "two", "when": "14.9.31"}))
    for further in ({}, {"partitions": 2}):
        with pytest.raises(
            InputError, match=r"field 'when' could be parsed, such as '13\.9\.31' in .*a\.jsonl:1\n.*2031-09-13"
        ):
            ibidem.find(path, time_field="when", **further)
        with pytest.raises(
            InputError,
            match=r"no record has a time in the field 'wen'; the fields of .* are id, text, when\nCheck time_field\.",
        ):
            ibidem.find(path, time_field="wen", **further)


def test_the_side_without_documents_is_named(tmp_path: Path) -> None:
    good, bad, worse = (tmp_path / name for name in ("good.jsonl", "bad.jsonl", "worse.jsonl"))
    good.write_bytes(lines({"id": "1", "text": "one"}, {"id": "2"}))
    bad.write_bytes(lines({"id": "3", "words": "three"}))
    worse.write_bytes(b"{")
    for further in ({}, {"partitions": 2}):
        message = r"the reference contains no documents: .*bad\.jsonl\n1 record skipped: .*bad\.jsonl:1: no field 'text'; "
        with pytest.raises(NoDocumentsError, match=message):
            ibidem.find(good, against=bad, **further)
        message = r"the inputs contain no documents: .*bad\.jsonl, .*worse\.jsonl\n2 records skipped; the first, .*bad\.jsonl:1"
        with pytest.raises(NoDocumentsError, match=message):
            ibidem.find([bad, worse], **further)


def test_a_mistyped_id_field_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines({"id": "1", "text": "one"}, {"key": "2", "text": "two"}))
    with pytest.raises(InputError, match="no record has a field 'kye'"):
        collect(path, id_field="kye")
    assert collect(path, id_field="key") == (["one", "two"], [])
    (tmp_path / "b.txt").write_bytes(b"words")
    assert collect(tmp_path / "b.txt", id_field="key") == (["words"], [])


def test_names_are_printable() -> None:
    assert printable("plain ü.txt") == "plain ü.txt"
    assert printable("a\nb\x1b\udce9\u202e.txt") == "a\\nb\\x1b\\xe9\\u202e.txt"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>one</p>" + "<i title='>'>" * 6000 + "two", "one\n\ntwo"),
        ("<div/>" * 6000 + "one" + "</div>" * 6000 + "<p>two</p>", "one\n\ntwo"),
        ("<svg>" + "<path d='M0'/>" * 6000 + "</svg><p>one</p><p>two</p>", "one\n\ntwo"),
        ("<!--" + "<div>" * 6000 + "--><p>one</p><p>two</p>", "one\n\ntwo"),
        ("<script>" + "'<div>';" * 6000 + "</script><p>one</p><p>two</p>", "one\n\ntwo"),
        ("<p>one</p><p " + "a=1 " * 6000 + ">two</p>", "one\n\ntwo"),
        ("<p>one</p><p " + "a " * 20_000 + ">two</p>", "one\n\ntwo"),
    ],
)
def test_pages_are_tamed_without_losing_their_text(page: str, expected: str) -> None:
    assert extract_text(page, main_content=False) == expected


def test_dedup_copies_what_it_cannot_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    good = lines({"id": "1", "text": "One text. And more of it."}, {"id": "2", "text": "One text. And more of it."})
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "good.jsonl").write_bytes(good)
    (tmp_path / "in" / "unfit.csv").write_bytes(b"id,body\n1,one\n")
    name = os.fsdecode(b"caf\xe9.jsonl")
    (tmp_path / "in" / name).write_bytes(lines({"id": "3", "text": "One text. And more of it."}, b"broken"))
    for flags in ([], ["--mark-only"]):
        folder = tmp_path / f"out{len(flags)}"
        monkeypatch.setattr(sys, "argv", ["ibidem", "dedup", "in", "-o", folder.name, "--quiet", *flags])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
        assert (folder / "unfit.csv").read_bytes() == b"id,body\n1,one\n"
        n_kept = [len((folder / file).read_bytes().splitlines()) for file in ("good.jsonl", "caf\\xe9.jsonl")]
        assert n_kept == ([2, 2] if flags else [0, 2]), "what cannot be read stays"
        assert {json.loads(line)["source"] for line in (folder / "skipped.jsonl").read_text("utf-8").splitlines()} == {
            "in/unfit.csv", "in/caf\\xe9.jsonl"
        }  # fmt: skip
