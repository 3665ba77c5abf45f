"""`ibidem compare` as a user runs it: two files side by side, as JSON or as a page; many listed pairs."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from ibidem.cli.options import flag
from ibidem.config import setting_fields
from ibidem.model import PASSAGES
from tests.cli.test_find import COMMAND, Run, rows, said, write_jsonl
from tests.texts import changed, documents, text

pytestmark = pytest.mark.usefixtures("compiled_alignment")
SHARED = tuple(range(1, 13))
OLD = f"{text(30, 31)}\n\n{text(*SHARED)}\n\n{text(32, 33)}"
NEW = f"{text(*SHARED[:6])} {changed(7, 2)} {text(*SHARED[7:])}"

# A stream and two texts have no table beside them.
METADATA = ("metadata", "metadata_key", "date_format", "time_from", "group_from")


@pytest.fixture
def two(tmp_path: Path) -> tuple[str, str]:
    """Two files, one of which contains a slightly changed part of the other."""
    (tmp_path / "old.txt").write_text(OLD, "utf-8")
    (tmp_path / "new.txt").write_text(NEW, "utf-8")
    return "old.txt", "new.txt"


# Two texts.


def test_two_files_are_shown_side_by_side(run: Run, two: tuple[str, str]) -> None:
    answer = run("compare", *two)
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0].startswith("passage 1  near ")
    assert lines[1].startswith("old.txt [")
    assert "│ new.txt [" in lines[1]
    assert "[-" in answer.out
    assert "{+" in answer.out
    assert "\x1b" not in answer.out
    assert lines[-1].startswith("1 passage: ")
    assert max(map(len, lines)) <= 100


def test_the_width_may_be_given_and_long_stretches_wanted(
    run: Run, two: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    short = run("compare", *two).out
    assert max(map(len, short.splitlines())) <= 60
    full = run("compare", *two, "--full").out
    assert "equal characters" not in full
    assert len(full) >= len(short)


def test_json_lines_hold_the_columns_the_texts_and_the_differences(run: Run, two: tuple[str, str]) -> None:
    answer = run("compare", *two, "--format", "jsonl")
    assert (answer.code, answer.err) == (0, "")
    (row,) = [json.loads(line) for line in answer.out.splitlines()]
    assert list(row) == [*PASSAGES.names, "a_text", "b_text", "differences"]
    assert (row["a_id"], row["b_id"], row["direction"]) == ("old.txt", "new.txt", "unknown")
    assert row["a_text"] == OLD[row["a_start"] : row["a_end"]]
    assert row["b_text"] == NEW[row["b_start"] : row["b_end"]]
    assert row["a_text"].strip() == text(*SHARED)
    assert [list(difference) for difference in row["differences"]] == [
        ["operation", "a_start", "a_end", "b_start", "b_end", "kind"]
    ] * len(row["differences"])
    assert "".join(row["a_text"][d["a_start"] : d["a_end"]] for d in row["differences"]) == row["a_text"]
    assert {d["operation"] for d in row["differences"]} == {"equal", "replace"}


def test_a_page_is_written(run: Run, two: tuple[str, str], tmp_path: Path) -> None:
    answer = run("compare", *two, "--html", "page.html")
    said(answer, 0, "1 passage: ", "page: page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert text(30) in page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.txt", "old.txt", "page.html"]
    said(run("compare", *two, "--html", "page.html"), 2, "page.html already", "--overwrite")
    assert run("compare", *two, "--html", "page.html", "--overwrite", "-q") == (0, "", "")
    both = run("compare", *two, "--html", "page.html", "--overwrite", "--format", "jsonl")
    assert json.loads(both.out)["a_id"] == "old.txt"
    assert "passage 1" in run("compare", *two, "--html", "page.html", "--overwrite", "--format", "text").out


def test_a_page_goes_where_it_can(run: Run, two: tuple[str, str], tmp_path: Path) -> None:
    said(run("compare", *two, "--html", "absent/page.html"), 2, "there is no folder absent")
    said(run("compare", *two, "--html", str(tmp_path)), 2, "is a folder")
    said(run("compare", *two, "--html", "old.txt", "--overwrite"), 2, "one of the two texts")
    assert (tmp_path / "old.txt").read_text("utf-8") == OLD


NOTHING = "a.txt and b.txt share no passage of {} words or more; lower --min-aligned-words to find shorter ones\n"


def test_nothing_shared_is_no_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(text(1, 2, 3))
    (tmp_path / "b.txt").write_text(text(4, 5, 6))
    assert run("compare", "a.txt", "b.txt") == (0, NOTHING.format(25), "")
    assert run("compare", "a.txt", "b.txt", "--min-aligned-words", "10") == (0, NOTHING.format(10), "")
    assert run("compare", "a.txt", "b.txt", "--format", "jsonl") == (0, "", "")
    said(run("compare", "a.txt", "b.txt", "--html", "page.html"), 0, "share no passage", "page: page.html")


def test_files_of_other_kinds(run: Run, two: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "old.md.gz").write_bytes(gzip.compress(OLD.encode()))
    (tmp_path / "new.html").write_text(f"<html><body><nav>Menu</nav><p>{NEW}</p></body></html>", "utf-8")
    write_jsonl(tmp_path / "one.jsonl", documents(only=NEW))
    for name in ("new.html", "one.jsonl"):
        (row,) = map(json.loads, run("compare", "old.md.gz", name, "--format", "jsonl").out.splitlines())
        assert (row["a_id"], row["b_id"]) == ("old.md.gz", name)
        assert row["b_text"] in NEW


def test_the_fields_of_a_record_and_html_in_it(run: Run, two: tuple[str, str], tmp_path: Path) -> None:
    write_jsonl(tmp_path / "one.jsonl", [{"body": f"<p>{NEW}</p><p>1 &amp;lt; 2</p>"}])
    (tmp_path / "run.toml").write_text('[documents]\nhtml = true\ntext_field = "body"\n')
    answer = run("compare", "one.jsonl", "one.jsonl", "--format", "jsonl", "--config", "run.toml")
    assert "1 &lt; 2" in json.loads(answer.out)["a_text"], "HTML is taken off once"
    assert run("compare", "old.txt", "one.jsonl", "--text-field", "body").out.splitlines()[-1].startswith("1 passage")


def test_standard_input_is_one_of_the_two(two: tuple[str, str], tmp_path: Path) -> None:
    for names in (("-", "new.txt"), ("new.txt", "-")):
        done = subprocess.run(
            [*COMMAND, "compare", *names, "--format", "jsonl"], cwd=tmp_path, input=OLD, capture_output=True,
            encoding="utf-8", timeout=120, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        row = json.loads(done.stdout)
        assert (row["a_id"], row["b_id"]) == names


def test_standard_input_is_read_once_only(run: Run) -> None:
    said(run("compare", "-", "-"), 2, "only once")


def test_terminal_escapes_in_texts_and_names_are_shown(run: Run, tmp_path: Path) -> None:
    nasty = OLD.replace(". ", ". \x1b]0;owned\x07 \x9b31m ", 3)
    (tmp_path / "old.txt").write_text(nasty, "utf-8")
    name = "new\x1b[31m.txt"
    (tmp_path / name).write_text(nasty, "utf-8")
    for arguments in ([], ["--full"], ["--format", "jsonl"]):
        answer = run("compare", "old.txt", name, *arguments)
        assert answer.code == 0
        assert not {"\x1b", "\x07", "\x9b"} & set(answer.out)
    assert json.loads(answer.out)["a_text"] in nasty


# What is not right.


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["old.txt"], ["only one file given", "--pairs"]),
        (["old.txt", "new.txt", "old.txt"], ["3 files given", "--pairs"]),
        ([], ["INPUT"]),
        (["old.txt", "new.txt", "-o", "out"], ["-o OUT needs --pairs", "--pairs"]),
        (["old.txt", "new.txt", "--pairs", "pairs.csv"], ["--pairs needs an output folder", "-o"]),
        (["old.txt", "--pairs", "pairs.csv", "-o", "out", "--html", "page.html"], ["--html", "leave out --pairs"]),
        (["old.txt", "--pairs", "pairs.csv", "-o", "out", "--format", "text"], ["--format text", "leave out --pairs"]),
        (["old.txt", "--pairs", "pairs.csv", "-o", "out", "--full"], ["--full", "leave out --pairs"]),
        (["old.txt", "new.txt", "--format", "parquet"], ["--format parquet", "--pairs"]),
        (["old.txt", "new.txt", "--format", "jsonl", "--full"], ["--full"]),
        (["old.txt", "new.txt", "--min-aligned-words", "0"], ["--min-aligned-words must be at least 1, not 0"]),
    ],
)
def test_options_that_do_not_go_together(
    run: Run, two: tuple[str, str], tmp_path: Path, arguments: list[str], parts: list[str]
) -> None:
    said(run("compare", *arguments), 2, *parts)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.txt", "old.txt"]


def test_files_that_are_no_texts(run: Run, two: tuple[str, str], tmp_path: Path) -> None:
    said(run("compare", "absent.txt", "new.txt"), 3, "absent.txt")
    said(run("compare", "old.txt", "absent.txt"), 3, "absent.txt")
    (tmp_path / "empty.txt").write_text("")
    said(run("compare", "old.txt", "empty.txt"), 3, "empty.txt contains no text", "empty text")
    (tmp_path / "latin.txt").write_bytes("Größe".encode("latin-1"))
    said(run("compare", "latin.txt", "old.txt"), 3, "latin.txt", "--encoding")
    assert run("compare", "latin.txt", "old.txt", "--encoding", "latin-1").code == 0
    (tmp_path / "binary.txt").write_bytes(b"\x00\x01\x02\xff" * 100)
    said(run("compare", "old.txt", "binary.txt"), 3, "binary.txt")
    said(run("compare", "old.txt", "."), 3, "folder", "--pairs")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions that hold")
def test_a_file_that_may_not_be_read(run: Run, two: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "old.txt").chmod(0)
    said(run("compare", *two), 3, "old.txt", "Permission denied")


def test_a_file_of_many_records_is_for_pairs(run: Run, two: tuple[str, str], tmp_path: Path) -> None:
    write_jsonl(tmp_path / "many.jsonl", documents(OLD, NEW))
    said(run("compare", "old.txt", "many.jsonl"), 3, "many.jsonl contains more than one text", "--pairs")
    write_jsonl(tmp_path / "broken.jsonl", [*documents(OLD), {"id": "no text"}])
    said(run("compare", "old.txt", "broken.jsonl"), 3, "broken.jsonl", "--pairs")
    write_jsonl(tmp_path / "none.jsonl", [{"id": "no text"}])
    said(run("compare", "old.txt", "none.jsonl"), 3, "none.jsonl contains no text", "--text-field")


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_that_has_gone_is_no_error(two: tuple[str, str], tmp_path: Path) -> None:
    for arguments in (["--full"], ["--format", "jsonl"]):
        reading, writing = os.pipe()
        os.close(reading)
        try:
            done = subprocess.run(
                [*COMMAND, "compare", *two, *arguments], stdout=writing, stderr=subprocess.PIPE, cwd=tmp_path, timeout=120,
                check=False,
            )  # fmt: skip
        finally:
            os.close(writing)
        assert (done.returncode, done.stderr) == (0, b"")


# Many pairs.


@pytest.fixture
def listed(tmp_path: Path) -> list[str]:
    """Documents and a file that lists two pairs of them, one of which shares a passage."""
    write_jsonl(tmp_path / "texts.jsonl", documents(old=OLD, new=NEW, other=text(50, 51, 52)))
    (tmp_path / "pairs.csv").write_text("a_id,b_id\nold,new\nold,other\n")
    return ["texts.jsonl", "--pairs", "pairs.csv", "-o", "out"]


def test_listed_pairs_are_compared_and_written(run: Run, listed: list[str], tmp_path: Path) -> None:
    said(run("compare", *listed), 0, "3 documents, 2 pairs, 1 passage", "results: out")
    (row,) = pyarrow.parquet.read_table(tmp_path / "out" / "passages.parquet").to_pylist()
    assert list(row) == PASSAGES.names
    assert (row["a_id"], row["b_id"]) == ("old", "new")
    assert OLD[row["a_start"] : row["a_end"]].strip() == text(*SHARED)
    assert (tmp_path / "out" / "run.json").exists()


def test_listed_pairs_in_other_formats_with_texts(run: Run, listed: list[str], tmp_path: Path) -> None:
    assert run("compare", *listed, "--format", "jsonl", "--keep-text", "-q") == (0, "", "")
    (row,) = rows(tmp_path / "out" / "passages.jsonl")
    assert row["b_text"] in NEW
    said(run("compare", *listed, "--format", "csv"), 2, "out already contains results", "--overwrite")
    said(run("compare", *listed, "--format", "csv", "--overwrite"), 0, "results: out")
    assert (tmp_path / "out" / "passages.csv").exists()


def test_settings_come_from_a_file_too(run: Run, listed: list[str], tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text('[alignment]\nmin_aligned_words = 5000\n[output]\nformat = "jsonl"\n')
    said(run("compare", *listed, "--config", "run.toml"), 0, "0 passages")
    assert (tmp_path / "out" / "passages.jsonl").read_text() == ""
    assert run("compare", *listed, "--config", "run.toml", "--min-aligned-words", "25", "--overwrite", "-q").code == 0
    assert len(rows(tmp_path / "out" / "passages.jsonl")) == 1


def test_other_fields_and_skipped_records(run: Run, tmp_path: Path) -> None:
    records: list[Any] = [{"name": "x", "body": OLD}, {"name": "y", "body": NEW}, {"name": "z"}]
    write_jsonl(tmp_path / "texts.jsonl", records)
    (tmp_path / "pairs.csv").write_text("a_id,b_id\nx,y\n")
    arguments = ["texts.jsonl", "--pairs", "pairs.csv", "-o", "out", "--text-field", "body", "--id-field", "name"]
    said(run("compare", *arguments), 0, "1 passage", "1 record skipped (listed in skipped.jsonl)")
    said(run("compare", *arguments, "--overwrite", "--strict"), 3, "texts.jsonl:3", "--strict")


def test_pairs_that_cannot_be_read(run: Run, listed: list[str], tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").unlink()
    said(run("compare", *listed), 3, "pairs.csv")
    assert not (tmp_path / "out").exists()


def test_the_folder_is_looked_at_before_the_inputs_are_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    said(run("compare", "absent.jsonl", "--pairs", "absent.csv", "-o", "out"), 2, "files that are not results")


# Help.


def test_the_help_lists_every_setting(run: Run) -> None:
    answer = run("compare", "--help-all")
    assert (answer.code, answer.err) == (0, "")
    without = (
        "html",
        "group_field",
        "align",
        "engine",
        "memory",
        "max_disk",
        "tmp_dir",
        "partitions",
        "resume",
        "work_dir",
        "ignore",
        *METADATA,
    )
    for stage, setting in setting_fields():
        if stage in ("documents", "sentences", "alignment", "engine", "output") and setting.name not in without:
            assert f"{flag(setting.name)} " in answer.out.replace("/", " ").replace("\n", " "), setting.name
    for option in ("--pairs", "--html FILE", "--full", "--config", "--progress", "--quiet"):
        assert option in answer.out
    assert "compare" in run("--help").out


def test_help_loads_no_kernels() -> None:
    code = (
        "import sys\nfrom ibidem.cli.main import main\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numba', 'numpy', 'pyarrow', 'rich'} & set(sys.modules)), file=sys.stderr)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code, "compare", "--help"], capture_output=True, text=True, check=True, timeout=60
    )
    assert answer.stderr.strip() == "[]"
