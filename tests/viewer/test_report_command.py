"""`ibidem report` and `find --report` as a user runs them: exit codes, what is said, and what lies where afterwards."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.viewer import report
from tests.cli.test_find import Run, said, write_jsonl
from tests.texts import documents, text
from tests.viewer.test_report_data import check_data, embedded


@pytest.fixture
def out(run: Run, tmp_path: Path) -> Path:
    """A folder of results, made in the folder that commands run in."""
    records = documents(a=text(1, 2, 3, 4), b=text(50, 1, 2, 3, 4), c=text(60, 1, 2, 3), d=text(70))
    ibidem.find(write_jsonl(tmp_path / "news.jsonl", records)).write(tmp_path / "out")
    return tmp_path / "out"


def data_of(path: Path) -> Any:
    found = embedded(path.read_text("utf-8"))
    check_data(found)
    return found


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_report_lies_beside_the_results(run: Run, out: Path) -> None:
    before = names(out)
    answer = run("report", "out")
    said(answer, 0, "report: out/report.html (")
    assert names(out) == sorted([*before, "report.html"])
    data = data_of(out / "report.html")
    assert data["summary"]["title"] == "out"
    assert len(data["pairs"]) == 3
    assert len(data["texts"]) == 3
    # Once more, over the first one; the page is the same.
    first = (out / "report.html").read_bytes()
    said(run("report", "out"), 0)
    assert (out / "report.html").read_bytes() == first
    assert len(first) < 10_000_000


def test_another_place_another_name_and_fewer_pairs(run: Run, out: Path, tmp_path: Path) -> None:
    before = names(out)
    answer = run("report", "out", "-o", "page.html", "--title", "Who <b>wrote</b> what", "--max-pairs", "1")
    further = "further pairs: of 3, this page shows the 1 strongest that fit"
    said(answer, 0, "report: page.html", further, "`ibidem serve` shows all")
    data = data_of(tmp_path / "page.html")
    assert data["summary"]["title"] == "Who <b>wrote</b> what"
    assert len(data["pairs"]) == 1
    assert "<title>Who &lt;b&gt;wrote&lt;/b&gt; what</title>" in (tmp_path / "page.html").read_text("utf-8")
    assert names(out) == before


def test_quiet(run: Run, out: Path) -> None:
    assert run("report", "out", "-q", "--max-pairs", "1") == (0, "", "")
    assert (out / "report.html").exists()


def test_documents_that_have_moved(run: Run, out: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    os.rename(tmp_path / "news.jsonl", tmp_path / "elsewhere" / "news.jsonl")
    said(run("report", "out"), 0, "texts: ", "news.jsonl cannot be found", "--documents")
    assert all(not told["segments"] for told in data_of(out / "report.html")["texts"].values())
    answer = run("report", "out", "--documents", "elsewhere/news.jsonl")
    said(answer, 0)
    assert "cannot be found" not in answer.err
    assert all(told["is_complete"] for told in data_of(out / "report.html")["texts"].values())
    said(run("report", "out", "--documents", "absent.jsonl"), 0, "absent.jsonl")


def found_in_folders(run: Run, tmp_path: Path, *inputs: str) -> None:
    """Make folders of texts that share names and passages, and results about them."""
    contents = {
        "essays/mia.txt": text(1, 2, 3, 4), "essays/noah.txt": text(9, 1, 2, 3), "papers/mia.txt": text(20, 1, 2, 3, 4),
        "papers/2024/mia.txt": text(30, 2, 3, 4),
    }  # fmt: skip
    for name, content in contents.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, "utf-8")
    (tmp_path / "papers/wire.jsonl").write_text(json.dumps({"text": text(40, 1, 2, 3)}) + "\n", "utf-8")
    said(run("find", *inputs, "-o", "out", "-q"), 0)


def shown_texts(page: Path) -> set[str]:
    """Return the documents whose whole texts a page contains; all others must say why they are not there."""
    data = data_of(page)
    names = {document["document"]: document["id"] for pair in data["pairs"] for document in (pair["a"], pair["b"])}
    return {names[int(number)] for number, told in data["texts"].items() if told["is_complete"]}


ALL_TEXTS = {"essays/mia.txt", "essays/noah.txt", "papers/mia.txt", "papers/2024/mia.txt", "papers/wire.jsonl:1"}


def test_documents_of_several_inputs(run: Run, tmp_path: Path) -> None:
    found_in_folders(run, tmp_path, "essays", "papers")
    said(run("report", "out", "--documents", "essays", "--documents", "papers"), 0)
    assert shown_texts(tmp_path / "out/report.html") == ALL_TEXTS
    said(run("report", "out", "--documents", "papers", "--documents", "essays/noah.txt"), 0)
    assert shown_texts(tmp_path / "out/report.html") == ALL_TEXTS - {"essays/mia.txt"}


@pytest.mark.parametrize(
    "places", [("moved/essays", "moved/papers"), ("old", "other/old-papers"), ("essays/essays", "papers/papers")]
)
def test_documents_of_several_inputs_that_have_moved(run: Run, tmp_path: Path, places: tuple[str, str]) -> None:
    found_in_folders(run, tmp_path, "./essays", "papers/")
    for name, place in zip(("essays", "papers"), places, strict=True):
        os.rename(tmp_path / name, tmp_path / "aside")
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        os.rename(tmp_path / "aside", tmp_path / place)
    said(run("report", "out"), 0, "cannot be found")
    assert not shown_texts(tmp_path / "out/report.html")
    answer = run("report", "out", "--documents", places[0], "--documents", str(tmp_path / places[1]))
    said(answer, 0)
    assert "cannot be found" not in answer.err
    assert shown_texts(tmp_path / "out/report.html") == ALL_TEXTS


def found_in_twins(run: Run, tmp_path: Path, times: tuple[int, int]) -> None:
    """Make two files of the same name and size in two folders, results about them, and move both to other folders."""
    first, second = "Alice wrote this at the sea.", "Bobby wrote this on a train."
    contents = {"a/1.txt": f"{first} {text(1, 2, 3)}", "b/1.txt": f"{text(1, 2, 3)} {second}"}
    for (name, content), time in zip(contents.items(), times, strict=True):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(content, "utf-8")
        os.utime(tmp_path / name, (time, time))
    said(run("find", "a", "b", "-o", "out", "-q"), 0)
    (tmp_path / "moved").mkdir()
    os.rename(tmp_path / "a", tmp_path / "moved/y")
    os.rename(tmp_path / "b", tmp_path / "moved/x")


def test_a_moved_file_is_told_from_its_twin_by_its_time(run: Run, tmp_path: Path) -> None:
    found_in_twins(run, tmp_path, (1_700_000_000, 1_700_000_100))
    said(run("report", "out", "--documents", "moved"), 0)
    data = data_of(tmp_path / "out/report.html")
    names = {document["document"]: document["id"] for pair in data["pairs"] for document in (pair["a"], pair["b"])}
    whole = {names[int(number)]: json.dumps(told["segments"]) for number, told in data["texts"].items()}
    assert ["Alice" in whole["a/1.txt"], "Bobby" in whole["b/1.txt"]] == [True, True]


def test_a_text_never_appears_under_the_id_of_its_twin(run: Run, tmp_path: Path) -> None:
    found_in_twins(run, tmp_path, (1_700_000_000, 1_700_000_000))
    said(run("report", "out", "--documents", "moved"), 0, "none of the documents of this run is in moved")
    assert not shown_texts(tmp_path / "out/report.html")
    said(run("report", "out", "--documents", "moved/x"), 0, "none of the documents of this run is in moved/x")
    assert not shown_texts(tmp_path / "out/report.html")


def test_results_that_moved_together_with_their_inputs(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found_in_folders(run, tmp_path, "essays", "papers")
    (tmp_path / "archive/2026").mkdir(parents=True)
    for name in ("essays", "papers", "out"):
        os.rename(tmp_path / name, tmp_path / "archive/2026" / name)
    (tmp_path / "archive/2026/essays/noah.txt").write_text("something else", "utf-8")  # no longer the file that was read
    said(run("report", "archive/2026/out"), 0, "essays/noah.txt cannot be found")
    assert shown_texts(tmp_path / "archive/2026/out/report.html") == ALL_TEXTS - {"essays/noah.txt"}


@pytest.mark.parametrize("verb", ["compare", "cluster"])
def test_results_of_other_verbs(run: Run, tmp_path: Path, verb: str) -> None:
    news = write_jsonl(tmp_path / "n.jsonl", documents(a=text(*range(9)), b=text(*range(9)), c=text(70, 71)))
    if verb == "compare":
        (tmp_path / "pairs.csv").write_text("a_id,b_id\na,b\n", "utf-8")
        said(run("compare", "--pairs", "pairs.csv", news, "-o", "out"), 0)
    else:
        said(run("cluster", news, "-o", "out"), 0)
    said(run("report", "out"), 0, "report: out/report.html")
    data = data_of(tmp_path / "out" / "report.html")
    assert (data["summary"]["verb"], len(data["pairs"])) == (verb, 1)


# What is wrong.


def test_folders_that_hold_no_results(run: Run, tmp_path: Path) -> None:
    said(run("report", "absent"), 3, "there is no folder absent", "Check the spelling")
    (tmp_path / "empty").mkdir()
    said(run("report", "empty"), 3, "no run.json", "Give a folder that `ibidem find`")
    write_jsonl(tmp_path / "file", [])
    said(run("report", "file"), 3, "file is a file")
    assert names(tmp_path / "empty") == []
    assert run("report").code == 2


def test_an_index_is_no_result(run: Run, tmp_path: Path) -> None:
    (tmp_path / "idx").mkdir()
    (tmp_path / "idx" / "run.json").write_text("{}", "utf-8")
    said(run("report", "idx"), 3, "neither passages nor duplicates", "find, compare or cluster")


@pytest.mark.parametrize("table", ["passages", "documents", "repeats"])
def test_half_written_tables(run: Run, out: Path, table: str) -> None:
    path = out / f"{table}.parquet"
    path.write_bytes(path.read_bytes()[:100])
    before = names(out)
    said(run("report", "out"), 3, f"{table}.parquet cannot be read", "--overwrite")
    assert names(out) == before


def test_a_run_that_was_broken_off(run: Run, out: Path) -> None:
    (out / "run.json").unlink()
    said(run("report", "out"), 3, "no run.json")


def test_places_where_no_page_can_be(run: Run, out: Path, tmp_path: Path) -> None:
    before = names(tmp_path), names(out)
    said(run("report", "out", "-o", "out"), 2, "out is a folder", "Give the name of a file")
    said(run("report", "out", "-o", "absent/page.html"), 2, "there is no folder absent", "Create it")
    said(run("report", "out", "-o", "news.jsonl/page.html"), 2, "there is no folder news.jsonl")
    assert (names(tmp_path), names(out)) == before


def test_a_name_that_is_too_long(run: Run, out: Path) -> None:
    said(run("report", "out", "-o", "x" * 300 + ".html"), 5, "cannot write")


def test_numbers_of_pairs_that_make_no_sense(run: Run, out: Path) -> None:
    for number in ("0", "-1", "many", "100001"):
        assert run("report", "out", "--max-pairs", number).code == 2
    assert "report.html" not in names(out)


def test_nothing_half_written_is_left(run: Run, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said(run("report", "out"), 0)
    first = (out / "report.html").read_bytes()
    before = names(out)

    replace = os.replace

    def full(source: Path, target: Path) -> None:
        if Path(target).name == "report.html":
            raise OSError(28, "No space left on device")
        replace(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(report.os, "replace", full)
        said(
            run("report", "out", "--title", "second"),
            5,
            "cannot write out/report.html: No space left on device",
            "Check disk space and permissions.",
        )
    assert names(out) == before
    assert (out / "report.html").read_bytes() == first


@pytest.mark.parametrize("title", ["half \ud800", "byte \udcff"])
def test_titles_that_are_no_text(run: Run, out: Path, title: str) -> None:
    said(run("report", "out", "--title", title), 0)
    assert names(out).count("report.html.part") == 0


# Together with the run.


def test_find_and_report_at_once(run: Run, tmp_path: Path) -> None:
    news = write_jsonl(tmp_path / "news.jsonl", documents(a=text(1, 2, 3), b=text(9, 1, 2, 3)))
    said(run("find", news, "-o", "found", "--report"), 0, "results: found", "report: found/report.html")
    assert "report.html" in names(tmp_path / "found")
    data = data_of(tmp_path / "found" / "report.html")
    assert (data["summary"]["title"], len(data["pairs"])) == ("found", 1)
    # The page is that of `ibidem report`, except for the moment it was made.
    said(run("report", "found", "-o", "later.html"), 0)
    later = data_of(tmp_path / "later.html")
    for told in (data, later):
        told["summary"].pop("made")
    assert later == data
    # Another run takes it away.
    said(run("find", news, "-o", "found", "--overwrite"), 0, "to view: ibidem report found")
    assert "report.html" not in names(tmp_path / "found")


def test_find_and_report_from_stdin(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(json.dumps(record) + "\n" for record in documents(a=text(1, 2, 3), b=text(9, 1, 2, 3)))
    (tmp_path / "stdin.jsonl").write_text(lines, "utf-8")
    with open(tmp_path / "stdin.jsonl", encoding="utf-8") as file:
        monkeypatch.setattr("sys.stdin", file)
        said(run("find", "-", "-o", "found", "--report"), 0)
    assert all(told["is_complete"] for told in data_of(tmp_path / "found" / "report.html")["texts"].values())


def test_no_report_with_spark(run: Run, tmp_path: Path) -> None:
    news = write_jsonl(tmp_path / "news.jsonl", documents(a=text(1, 2, 3), b=text(9, 1, 2, 3)))
    answer = run("find", news, "-o", "found", "--engine", "spark", "--report")
    said(answer, 2, "--report works with the local engine only", "ibidem report")
    assert not (tmp_path / "found").exists()


def test_a_run_that_fails_writes_no_report(run: Run, tmp_path: Path) -> None:
    said(run("find", "absent.jsonl", "-o", "found", "--report"), 3, "absent.jsonl")
    assert not (tmp_path / "found").exists()


# From Python.


def test_a_result_in_memory(tmp_path: Path) -> None:
    result = ibidem.find(documents(a=text(1, 2, 3), b=text(9, 1, 2, 3), c=text(8, 1, 2, 3)))
    path = result.to_html(tmp_path / "page.html", title="Mine", max_pairs=2)
    assert path == tmp_path / "page.html"
    data = data_of(path)
    assert (data["summary"]["title"], len(data["pairs"])) == ("Mine", 2)
    assert result.to_html(str(tmp_path / "other.html")) == tmp_path / "other.html"
    assert len(data_of(tmp_path / "other.html")["pairs"]) == 3
    clusters = ibidem.cluster(documents(a=text(*range(9)), b=text(*range(9))))
    assert len(data_of(clusters.to_html(tmp_path / "clusters.html"))["pairs"]) == 1
    with pytest.raises(ibidem.IbidemError):
        result.to_html(tmp_path)
    with pytest.raises(ibidem.IbidemError):
        result.to_html(tmp_path / "absent" / "page.html")
    assert names(tmp_path) == ["clusters.html", "other.html", "page.html"]
