"""`ibidem export` and `Result.export`: what is said, what is written where, and what is refused."""

from __future__ import annotations

import builtins
import csv
import json
import os
import tracemalloc
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import pytest

import ibidem
from ibidem import UsageError
from ibidem.cli import export as command
from ibidem.errors import OutputExistsError, ResourceError
from ibidem.results import result as results
from ibidem.viewer.exports import graph_files
from ibidem.viewer.exports.export_formats import EXPORT_FORMATS, ExportOptions, write_export
from ibidem.viewer.exports.flat_tables import COLUMNS
from ibidem.viewer.exports.networks import NETWORKS
from ibidem.viewer.store_cache import open_views, views_at_hand
from tests.cli.test_find import Run, said, write_jsonl
from tests.texts import documents, text

RECORDS = [
    {**record, "title": f"Titel {record['id']} ä", "group": group, "time": f"2031-0{month}-01"}
    for month, (record, group) in enumerate(
        zip(documents(a=text(1, 2, 3, 4), b=text(50, 1, 2, 3, 4), c=text(60, 1, 2, 3)), "xyx", strict=True), 1
    )
]
FILES = {
    "xlsx": "out.xlsx", "csv": "out.csv", "gexf": "out.gexf", "graphml": "out.graphml", "pan": "out-pan",
    "tei": "out.tei.xml", "annotations": "out.annotations.jsonld", "sarif": "out.sarif", "html-table": "out.html",
}  # fmt: skip


@pytest.fixture
def out(run: Run, tmp_path: Path) -> Path:
    ibidem.find(write_jsonl(tmp_path / "news.jsonl", RECORDS)).write(tmp_path / "out")
    return tmp_path / "out"


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_names_are_the_same_everywhere() -> None:
    assert tuple(EXPORT_FORMATS) == command._FORMATS == get_args(results.ExportFormat) == tuple(FILES)
    assert tuple(COLUMNS) == command._TABLES == get_args(results.ExportTable)
    assert NETWORKS == command._NETWORKS == get_args(results.ExportNetwork)


@pytest.mark.parametrize("form", FILES)
def test_an_export_goes_beside_the_results_and_changes_nothing_there(run: Run, out: Path, form: str, tmp_path: Path) -> None:
    if form == "xlsx":
        pytest.importorskip("xlsxwriter")
    before = snapshot(out)
    answer = run("export", "out", "--to", form)
    said(answer, 0, f"export: {FILES[form]}")
    assert snapshot(out) == before
    assert {path.name for path in tmp_path.iterdir()} == {"news.jsonl", "out", FILES[form]}
    first = snapshot(tmp_path)
    said(run("export", "out", "--to", form), 2, f"{FILES[form]} already exists", "--overwrite")
    assert snapshot(tmp_path) == first
    said(run("export", "out", "--to", form, "--overwrite", "-q"), 0)
    if form != "xlsx":  # which contains the time it was made
        assert snapshot(tmp_path) == first


def test_views_at_hand_are_used_and_verdicts_exported(run: Run, out: Path, tmp_path: Path) -> None:
    store = open_views(out)
    store.set_verdict(0, "confirmed", "=seen")
    store.close()
    said(run("export", "out", "--to", "csv", "--table", "pairs"), 0, "export: out-pairs.csv")
    first = (tmp_path / "out-pairs.csv").read_text("utf-8-sig")
    rows = {row["pair"]: row for row in csv.DictReader(first.splitlines())}
    assert (rows["0"]["verdict"], rows["0"]["note"]) == ("confirmed", "'=seen")
    (out / "view.sqlite").unlink()  # verdicts are kept elsewhere
    said(run("export", "out", "--to", "csv", "--table", "pairs", "--overwrite"), 0)
    assert (tmp_path / "out-pairs.csv").read_text("utf-8-sig") == first


def test_standard_output(run: Run, out: Path) -> None:
    answer = run("export", "out", "--to", "sarif", "-o", "-", "-q")
    assert answer.code == 0
    assert answer.err == ""
    assert len(json.loads(answer.out)["runs"][0]["results"]) == 3
    said(run("export", "out", "--to", "pan", "-o", "-"), 2, "pan cannot be written to standard output")


def test_the_documents_may_have_moved(run: Run, out: Path, tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").rename(tmp_path / "moved.jsonl")
    said(run("export", "out", "--to", "csv"), 0, "texts: news.jsonl cannot be found")
    said(run("export", "out", "--to", "csv", "--documents", "moved.jsonl", "--overwrite"), 0)
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text("utf-8-sig").splitlines()))
    assert {row["a_title"] for row in rows} == {"Titel a ä", "Titel b ä"}
    texts = {record["id"]: record["text"] for record in RECORDS}
    assert all(row["b_text"] == texts[row["b_id"]][int(row["b_start"]) : int(row["b_end"])] for row in rows)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("out", "--to", "docx"), 2, "--to must be one of xlsx"),
        (("out", "--to", "csv", "--table", "people"), 2, "--table must be one of pairs"),
        (("nowhere", "--to", "csv"), 3, "there is no folder nowhere"),
        (("out", "--to", "csv", "-o", "no/where.csv"), 2, "there is no folder no"),
        (("out", "--to", "csv", "-o", "out"), 2, "out is a folder"),
        (("out", "--to", "pan", "-o", "out", "--overwrite"), 2, "out contains other files, such as"),
        (("out", "--to", "pan", "-o", "letters", "--overwrite"), 2, "letters contains other files, such as a.xml"),
        (("out", "--to", "gexf", "--table", "pairs"), 2, "--table has no effect on gexf\nIt applies to csv, html-table."),
        (("out", "--to", "xlsx", "--network", "groups"), 2, "--network has no effect on xlsx\nIt applies to gexf, graphml."),
        (("out", "--to", "csv", "--base", "https://a.org/"), 2, "--base has no effect on csv\nIt applies to tei, annotations"),
        (("out",), 2, "Missing option '--to'"),
    ],
)
def test_mistakes_are_explained(run: Run, out: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    letters = out.parent / "letters"
    letters.mkdir()
    (letters / "a.xml").write_text("<letter>of somebody else</letter>", "utf-8")
    before = snapshot(out)
    answer = run("export", *arguments)
    assert answer.code == code
    assert message in answer.err
    assert snapshot(out) == before
    assert (letters / "a.xml").read_text("utf-8") == "<letter>of somebody else</letter>"


def test_a_missing_library_is_named(run: Run, out: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "xlsxwriter":
            raise ModuleNotFoundError(f"No module named {name!r}", name="xlsxwriter")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    said(run("export", "out", "--to", "xlsx"), 5, "exports to xlsx need xlsxwriter", "pip install 'ibidem[export]'")
    assert {path.name for path in tmp_path.iterdir()} == {"news.jsonl", "out"}


def test_a_failed_export_leaves_what_was_there(out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = ibidem.find(RECORDS)
    (tmp_path / "x.gexf").write_text("before")

    def fail(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(graph_files, "_attvalues", fail)
    with pytest.raises(ResourceError, match="No space left on device"):
        result.export(tmp_path / "x.gexf", to="gexf", overwrite=True)
    assert (tmp_path / "x.gexf").read_text() == "before"
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("form", [form for form in FILES if form != "xlsx"])
def test_a_result_in_memory_exports_the_same(run: Run, out: Path, form: Any, tmp_path: Path) -> None:
    said(run("export", "out", "--to", form, "-o", "folder"), 0)
    result = ibidem.find("news.jsonl")
    assert result.export(tmp_path / "memory", to=form) == tmp_path / "memory"
    with pytest.raises(OutputExistsError, match="overwrite=True"):
        result.export(tmp_path / "memory", to=form)
    files = [tmp_path / name for name in ("folder", "memory")]
    if form == "pan":
        assert snapshot(files[0]) == snapshot(files[1])
        return
    written = [file.read_text("utf-8").replace("Text reuse", "out") for file in files]
    assert written[0] == written[1]


def test_other_verbs_have_something_to_export(tmp_path: Path) -> None:
    clusters = ibidem.cluster(RECORDS, min_similarity=0.3)
    clusters.export(tmp_path / "pairs.csv", to="csv")
    rows = list(csv.DictReader((tmp_path / "pairs.csv").read_text("utf-8-sig").splitlines()))
    assert len(rows) == len(clusters) > 0
    compared = ibidem.compare_pairs(RECORDS, [("a", "b")], min_aligned_words=1, min_evidence=0)
    compared.export(tmp_path / "compared.sarif", to="sarif")
    assert len(json.loads((tmp_path / "compared.sarif").read_text("utf-8"))["runs"][0]["results"]) == len(compared) == 1
    with pytest.raises(UsageError, match="to must be one of xlsx"):
        clusters.export(tmp_path / "x", to="docx")  # type: ignore[arg-type]


class _Cells(HTMLParser):
    """Collects the cells of the first table."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip("\n")


@pytest.mark.parametrize("table", COLUMNS)
def test_an_html_table_has_every_row_and_no_markup_of_others(table: Any, tmp_path: Path) -> None:
    records: list[Mapping[str, Any]] = [{**record, "title": "<script>alert(1)</script>"} for record in RECORDS]
    path = tmp_path / write_jsonl(tmp_path / "news.jsonl", list(records))
    result = ibidem.find(path)
    result.export(tmp_path / "t.html", to="html-table", table=table)
    result.export(tmp_path / "t.csv", to="csv", table=table)
    cells = _Cells()
    cells.feed((tmp_path / "t.html").read_text("utf-8"))
    head, *rows = cells.rows
    assert [name.replace(" ", "_") for name in head] == list(COLUMNS[table])
    assert len(rows) == len(list(csv.reader((tmp_path / "t.csv").read_text("utf-8-sig").splitlines()))) - 1 > 0
    assert "script" not in cells.tags
    assert table == "families" or any("<script>alert(1)</script>" in row for row in rows)


def test_many_passages_take_little_memory(run: Run, tmp_path: Path) -> None:
    """Rows are streamed: the views are read row by row, and nothing is collected."""
    records = documents(*(text(*range(1, 7), *range(100 + 20 * n, 120 + 20 * n)) for n in range(60)))
    ibidem.find(write_jsonl(tmp_path / "many.jsonl", records), align=False).write(tmp_path / "out")
    with views_at_hand(tmp_path / "out") as store:
        assert store.summary()["totals"]["passages"] == 60 * 59 // 2
        for form in ("csv", "sarif", "gexf", "tei"):
            tracemalloc.start()
            write_export(store, tmp_path / "t", form, ExportOptions())
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert peak < 800_000 < os.path.getsize(tmp_path / "t"), form
