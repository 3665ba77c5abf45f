"""CSV: records that stay keep their bytes, whatever their quotation marks and line ends."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.formats.decisions import Decision
from tests.formats.copy_oracle import COMPRESSIONS, check_copy, clean, decided, decompressed, folders, texts

VALUES = st.one_of(
    st.sampled_from(["", "word", "two words", 'a "quoted" one', "a,b;c\td", "line\nbreak", "line\r\nbreak", '"', "7", " x "]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8),
)


@st.composite
def cells(draw: Any, delimiter: str) -> str:
    value = draw(VALUES)
    if draw(st.booleans()) or any(sign in value for sign in f'{delimiter}"\r\n'):
        # What follows a closing quotation mark belongs to the cell.
        return '"' + value.replace('"', '""') + '"' + draw(st.sampled_from(["", "", "", "tail"]))
    return str(value)


@st.composite
def files(draw: Any, delimiter: str) -> str:
    columns = draw(st.sampled_from([["text"], ["id", "text"], ["text", "n", "text"], ["text", "time", "more"]]))
    written = [delimiter.join(columns)]
    for number in range(draw(st.integers(0, 8))):
        n_cells = len(columns) + draw(st.sampled_from([0, 0, 0, 0, 1, -1]))
        row = [draw(cells(delimiter)) for _ in range(n_cells)]
        if columns[0] == "id" and row:
            row[0] = f"d{number}"
        written.append(delimiter.join(row))
    ends = [draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n"])) for _ in written]
    text = "".join(row + end for row, end in zip(written, ends, strict=True))
    return text + draw(st.sampled_from(["", "", '"', f'"not{delimiter} closed', f'a{delimiter}"not\nclosed\n', "last"]))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_file(data: Any) -> None:
    with folders(data.draw(st.sampled_from([7, 50, 4 << 20]))) as (inputs, output):
        extension, delimiter = data.draw(st.sampled_from([("csv", ","), ("csv", ";"), ("tsv", "\t")]))
        suffix = data.draw(st.sampled_from(["", "", ".gz", ".zst"]))
        path = inputs / f"docs.{extension}{suffix}"
        mark = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
        content = data.draw(files(delimiter)).encode("utf-8", "surrogateescape")
        path.write_bytes(COMPRESSIONS[suffix](mark + content))
        found = data.draw(decided(texts(path)))
        copy = check_copy(path, found, output)
        if all(decision.drop for decision in found.values()):
            assert decompressed(copy) == mark + _without_rows(content, {place[1] for place in found}, delimiter)


def _without_rows(content: bytes, gone: set[int], delimiter: str) -> bytes:
    """Return the content without the records that start in given lines."""
    lines = list(io.StringIO(content.decode("utf-8"), newline=""))
    if delimiter == ";" and ";" not in lines[0]:
        delimiter = ","  # with one column there is nothing to tell the sign by
    kept: list[str] = []
    start = 0
    while start < len(lines):
        rows = csv.reader([*lines[start:], "one more"], delimiter=delimiter)
        next(rows)
        # A quotation that is not closed takes up the line that was added; then its first line alone is given up.
        n_lines = rows.line_num if rows.line_num <= len(lines) - start else 1
        if start + 1 not in gone:
            kept += lines[start : start + n_lines]
        start += n_lines
    return "".join(kept).encode("utf-8")


def test_only_the_text_of_a_record_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "docs.csv"
    path.write_bytes(b'"n";"text";more\r\n"1";"one ""two""\nthree";4\r\n01;plain; x\n2;gone;\n')
    found = {
        (str(path), 2): Decision(cuts=((0, 4),)),
        (str(path), 4): Decision(cuts=((0, 2),)),
        (str(path), 5): Decision(drop=True),
    }
    copy = check_copy(path, found, tmp_path / "out")
    assert copy.read_bytes() == b'"n";"text";more\r\n"1";"""two""\nthree";4\r\n01;ain; x\n'


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252", "ascii"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "docs.csv"
    e = "e" if encoding == "ascii" else "\u00e9"
    rows = ["text,n", f"caf{e} one,1.0", f"caf{e} two,{e}", f'"caf{e}, three",3']
    path.write_bytes("\r\n".join(rows).encode(encoding))
    found = {(str(path), 2): Decision(drop=True), (str(path), 4): Decision(cuts=((0, 4),))}
    copy = check_copy(path, found, tmp_path / "out", encoding=encoding)
    assert copy.read_bytes() == "\r\n".join([rows[0], rows[2], '", three",3']).encode(encoding)


def test_the_last_column_of_that_name_counts(tmp_path: Path) -> None:
    path = tmp_path / "docs.csv"
    path.write_bytes(b"text,text\none two,three four\n")
    (copy,) = clean(path, {(str(path), 2): Decision(cuts=((0, 6),))}, tmp_path / "out")
    assert copy.read_bytes() == b"text,text\none two,four\n"
