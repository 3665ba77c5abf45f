"""Parts of files of lines: together they give what the whole file gives."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.config import DocumentsConfig
from ibidem.formats import line_ranges, line_streams
from ibidem.formats.jsonl_files import read
from ibidem.formats.line_ranges import LineRange, can_be_cut, count_lines, count_lines_between, lines_of
from ibidem.formats.reader import file_jobs
from ibidem.formats.records import Wanted
from ibidem.formats.sources import FileSource

RECORD = st.builds(
    lambda text, number: json.dumps({"id": f"d{number}", "text": text}, ensure_ascii=False).encode(),
    st.text(max_size=9),
    st.integers(0, 99),
)
ODD = [b"", b"{", b"[]", b'{"text": "a"}\r', '{"text": "\u2028é"}'.encode(), b'{"id": 3}', b'\xef\xbb\xbf{"text": "b"}']
CONTENT = st.builds(
    lambda lines, end: b"\n".join(lines) + end,
    st.lists(st.one_of(RECORD, st.sampled_from(ODD)), max_size=8),
    st.sampled_from([b"", b"\n", b"\n\n"]),
)


def outcomes(jobs: Any) -> tuple[list[Any], list[Any]]:
    documents, skipped = [], []
    for outcome in (job() for job in jobs):
        documents += [row for batch in outcome.batches for row in batch.to_pylist()]
        skipped += outcome.skipped
    return documents, skipped


@given(content=CONTENT, cuts=st.lists(st.integers(0, 400), max_size=5), encoding=st.sampled_from(["utf-8", "latin-1"]))
@pytest.mark.parametrize("block_bytes", [1, 7, 1 << 20])
def test_parts_give_what_the_file_gives(block_bytes: int, content: bytes, cuts: list[int], encoding: str) -> None:
    size = len(content)
    bounds = sorted({0, size, *(cut for cut in cuts if cut < size)})
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for module in (line_ranges, line_streams):
            patch.setattr(module, "BLOCK_BYTES", block_bytes)
        path = Path(folder, "a.jsonl")
        path.write_bytes(content)
        source = FileSource("a.jsonl", "a.jsonl", "jsonl", str(path))
        wanted = Wanted(replace(DocumentsConfig(), encoding=encoding))
        documents: list[Any] = []
        skipped: list[Any] = []
        n_lines, raw = 0, []
        for begin, end in pairwise(bounds):
            with LineRange(str(path), begin, end) as part:
                found = outcomes(read(part, source, wanted, n_lines + 1))
            with LineRange(str(path), begin, end) as part:
                raw += [line for some in lines_of(part, "utf-8") for line in some]
            n_lines += count_lines_between(str(path), begin, end)
            documents += found[0]
            skipped += found[1]
        assert (documents, skipped) == outcomes(file_jobs([source], wanted))
        assert n_lines == count_lines(str(path)) == content.count(b"\n") + (size > 0 and not content.endswith(b"\n"))
        lines = content.split(b"\n")[:n_lines]
        lines[:1] = [line.removeprefix(b"\xef\xbb\xbf") for line in lines[:1]]
        assert raw == lines


def test_which_files_can_be_cut(tmp_path: Path) -> None:
    line = '{"text": "a"}\n'
    files = {"a.jsonl": line.encode(), "b.jsonl": gzip.compress(line.encode()), "c.jsonl": line.encode("utf-16")}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert [can_be_cut(str(tmp_path / name), "utf-8") for name in ("a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl")] == [
        True, False, False, False,
    ]  # fmt: skip
    assert count_lines(str(tmp_path / "b.jsonl")) == 1
