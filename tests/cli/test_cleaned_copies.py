"""What `dedup` shows of its work: snippets, copies on survivors, what was cut most often, and the report of a cleaned copy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ibidem
from tests.cli.test_find import Run, said

FOOTER = "This footer is printed below every page. It has three sentences in all. Nobody reads any of them twice."
TEXTS = {
    "a": "The first page speaks of harbours and of the ships that wait there. " + FOOTER,
    "b": "The second page is about mills, and what they grind in a dry year. " + FOOTER,
    "c": "A third page lists the bridges of a town that has no river at all. " + FOOTER,
    "d": "The first page speaks of harbours and of the ships that wait there. " + FOOTER,
    "e": "The first page speaks of harbours and of the ships that wait there. " + FOOTER,
}


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in TEXTS.items()))
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("level", ["document", "passage", "sentence", "run"])
@pytest.mark.parametrize("storage", [{}, {"partitions": 2}])
def test_every_row_shows_how_the_removed_text_begins(pages: Path, level: str, storage: dict[str, Any]) -> None:
    with ibidem.dedup(pages, level=level, min_run_words=12, **storage) as result:
        for mark_only in (False, True):
            result.write("clean", mark_only=mark_only, overwrite=True)
            rows = lines(Path("clean/removed.jsonl"))
            assert rows
            for row in rows:
                line = " ".join(TEXTS[row["id"]][row["start"] : row["end"]].split())
                assert row["snippet"] == (line if len(line) <= 120 else line[:119].rstrip() + "…")


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "parquet", "txt"])
@pytest.mark.parametrize("storage", [{}, {"partitions": 2}])
def test_survivors_say_how_many_copies_there_were(pages: Path, suffix: str, storage: dict[str, Any]) -> None:
    source = Path(f"in.{suffix}")
    records = [{"id": name, "text": text} for name, text in TEXTS.items()]
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist(records), source)
    elif suffix == "csv":
        source.write_text("id,text\n" + "".join(f'{name},"{text}"\n' for name, text in TEXTS.items()))
    elif suffix == "json":
        source.write_text(json.dumps(records))
    elif suffix == "jsonl":
        source.write_text(pages.read_text().rstrip("\n"))  # the last line, which is removed, has no break
    else:
        source = Path("texts")
        source.mkdir()
        for name, text in TEXTS.items():
            (source / f"{name}.txt").write_text(text)
    with ibidem.dedup(source, mark_copies=True, min_similarity=0.9, **storage) as result:
        result.write("out")
    if suffix == "txt":
        copies = {Path(row["id"]).stem: row["ibidem_copies"] for row in lines(Path("out/marks.jsonl"))}
        assert copies == {"a": 3}  # listed are members of clusters only
        assert {path.stem for path in Path("out").rglob("*.txt")} == {"a", "b", "c"}
        return
    if suffix == "parquet":
        left = pq.read_table("out/in.parquet").to_pylist()
    elif suffix == "csv":
        import csv

        with open("out/in.csv", newline="") as file:
            left = [{**row, "ibidem_copies": int(row["ibidem_copies"])} for row in csv.DictReader(file)]
    else:
        text = Path(f"out/in.{suffix}").read_text()
        left = json.loads(text) if suffix == "json" else [json.loads(line) for line in text.splitlines()]
    assert left == [{"id": name, "text": TEXTS[name], "ibidem_copies": n} for name, n in (("a", 3), ("b", 1), ("c", 1))]


def test_copies_are_of_whole_documents_and_need_fields(run: Run, pages: Path) -> None:
    said(run("dedup", pages.name, "-o", "x", "--level", "passage", "--mark-copies"), 2, "--mark-copies counts whole documents")
    with pytest.raises(ibidem.UsageError, match="mark_copies"):
        ibidem.dedup(list(TEXTS.values()), mark_copies=True).cleaned()
    found = ibidem.dedup([{"text": text} for text in TEXTS.values()], mark_copies=True, keep_copies=2, min_similarity=0.9)
    assert [row["ibidem_copies"] for row in found.cleaned()] == [3, 1, 1, 3]


@pytest.mark.parametrize("level", ["document", "passage"])
def test_a_cleaned_copy_has_a_report(run: Run, pages: Path, level: str) -> None:
    run("dedup", pages.name, "-o", "clean", "--level", level)
    said(run("report", "clean"), 0, "report: clean/report.html")
    page = Path("clean/report.html").read_text()
    assert "Text removed in clean" in page
    assert "harbours" in page
    run("dedup", pages.name, "-o", "clean", "--overwrite", "--level", "sentence", "--min-quote-words", "100")
    said(run("report", "clean"), 3, "nothing was removed in clean")


def test_the_summary_says_what_was_cut_most_often(run: Run, pages: Path) -> None:
    answer = run("dedup", pages.name, "-o", "clean", "--level", "passage").err
    start = TEXTS["a"].index(FOOTER)
    n_chars = 2 * len(FOOTER)  # d and e are whole copies of a
    assert f"most copies removed:\n  2 copies ({2 * len(TEXTS['a'])} characters) of a [0:{len(TEXTS['a'])}]" in answer
    assert f"  2 copies ({n_chars} characters) of a [{start}:{len(TEXTS['a'])}]\n    {FOOTER[:60]}" in answer
    assert "most copies would be removed:\n  2 copies" in run("dedup", pages.name, "--dry-run", "--min-similarity", "0.9").out
