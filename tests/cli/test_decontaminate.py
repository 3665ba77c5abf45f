"""`ibidem decontaminate` as a user runs it: exit codes, what is said where, and what is in the output folder afterwards."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_find import Run, rows, run, said, write_jsonl

__all__ = ["run"]
EXAMPLE = Path(__file__).parents[2] / "examples" / "training"
QUIZ, EXAM = ("--benchmark", "quiz=quiz.jsonl"), ("--benchmark", "exam=exam.jsonl")
FIELDS = ("--prompt-fields", "exam=task.stem", "--answer-fields", "exam=task.keyword", "--item-id-field", "exam=number")


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The bundled example, in the current folder."""
    for path in EXAMPLE.glob("*.jsonl"):
        shutil.copy(path, tmp_path)
    return tmp_path


def test_a_run_writes_the_copy_and_the_tables(run: Run, example: Path) -> None:
    answer = run("decontaminate", "pages.jsonl", *QUIZ, *EXAM, *FIELDS, "-o", "clean", "--report")
    said(
        answer, 0, "8 documents, 1,984 characters", "quiz", "exam", "quiz-1 (question), whole, in forum/ferry-riddle [79:223]",
        "6 whole documents were removed", "cleaned collection: clean", "report: clean/report.html",
    )  # fmt: skip
    assert {path.name for path in (example / "clean").iterdir()} == {
        "pages.jsonl", "removed.jsonl", "skipped.jsonl", "run.json", "report.html", "benchmarks.jsonl", "found_items.jsonl",
        "item_places.jsonl",
    }  # fmt: skip
    assert [row["id"] for row in rows(example / "clean" / "pages.jsonl")] == ["news/harbour", "recipes/soup"]
    totals = [row for row in rows(example / "clean" / "benchmarks.jsonl") if row["part"] == "item"]
    assert [(row["benchmark"], row["n_whole"], row["n_part"]) for row in totals] == [("quiz", 4, 1), ("exam", 1, 0)]
    run_json = json.loads((example / "clean" / "run.json").read_text("utf-8"))
    assert [entry.get("benchmark") for entry in run_json["inputs"]] == [None, "quiz", "exam"]
    again = run("decontaminate", "pages.jsonl", *QUIZ, "-o", "clean", "--quiet")
    assert again.code == 2
    assert "already contains results" in again.err
    said(run("decontaminate", "pages.jsonl", *QUIZ, "-o", "clean", "--quiet", "--overwrite", "--report"), 0)


def test_items_are_cut_out_of_pages(run: Run, example: Path) -> None:
    said(
        run("decontaminate", "pages.jsonl", *QUIZ, "-o", "clean", "--level", "passage"), 0,
        "7 passages in 5 documents were removed", "0 whole documents were removed",
    )  # fmt: skip
    left = {row["id"]: row["text"] for row in rows(example / "clean" / "pages.jsonl")}
    assert left["blog/lighthouses"] == (
        "Notes from the coast walk.\n\nThe warden asks every visitor\nand nobody has ever known the answer.\n\n"
        "The path is steep after Gull Point, and there is no water until the village."
    )
    assert left["archive/boats"] == (
        "Old customs are hard to explain. \n\nAdvertisement: paint for every boat, delivered on the same day.\n\n"
        "My grandfather said it was for the hooks."
    )


def test_a_dry_run_and_a_check_write_nothing(run: Run, example: Path) -> None:
    before = set(example.iterdir())
    tried = run("decontaminate", "pages.jsonl", *QUIZ, "--dry-run")
    assert tried.code == 0, tried.err
    assert "5 whole documents would be removed" in tried.out
    failed = run("decontaminate", "pages.jsonl", *QUIZ, "--max-contaminated-share", "0.5", "--quiet")
    assert (failed.code, failed.out) == (1, "")
    assert "quiz: 83.3% of the items found" in failed.err
    assert "failed: 1 of 1 benchmark exceeds --max-contaminated-share 0.5" in failed.err
    passed = run("decontaminate", "pages.jsonl", *QUIZ, "--max-contaminated-share", "0.9")
    assert passed.code == 0
    assert "passed: no benchmark exceeds --max-contaminated-share 0.9" in passed.err
    assert set(example.iterdir()) == before


def test_what_is_said_of_items_that_do_not_count(run: Run, example: Path) -> None:
    answer = run("decontaminate", "pages.jsonl", *QUIZ, "--dry-run", "--max-item-pages", "1", "--min-item-words", "20")
    assert "items of fewer than 20 words not looked for (--min-item-words)" in answer.out
    question = rows(example / "quiz.jsonl")[1]["question"]
    write_jsonl(example / "more.jsonl", [{"id": f"m{n}", "text": question} for n in range(3)])
    answer = run("decontaminate", ".", *QUIZ, "--dry-run", "--max-item-pages", "2", "--text-field", "text")
    assert answer.code == 3
    assert "quiz.jsonl is both the benchmark quiz and training data" in answer.err
    answer = run("decontaminate", "pages.jsonl", "more.jsonl", *QUIZ, "--dry-run", "--max-item-pages", "2")
    assert "1 item is common text, in more than 2 documents each; it stays (--max-item-pages 0 removes it, too)" in answer.out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-o", "out"], 2, "Missing option '--benchmark'"),
        (["--benchmark", "quiz.jsonl", "-o", "out"], 2, "must have the form NAME=PATH, such as quiz=quiz.jsonl"),
        (["--benchmark", "quiz=-", "-o", "out"], 2, "a benchmark cannot be read from standard input"),
        ([*QUIZ], 2, "name a folder for the cleaned copy with -o, or try it with --dry-run"),
        ([*QUIZ, "--dry-run", "--report"], 2, "--report needs -o OUT"),
        ([*QUIZ, "--dry-run", "--resume"], 2, "--dry-run writes nothing"),
        ([*QUIZ, "--max-contaminated-share", "2"], 2, "--max-contaminated-share must be from 0 to 1, not 2"),
        ([*QUIZ, "-o", "out", "--level", "sentence"], 2, "knows --level document or --level passage, not --level sentence"),
        ([*QUIZ, "-o", "out", "--prompt-fields", "quiz=stem"], 3, "quiz.jsonl:1: "),
        (["--benchmark", "quiz=nothing.jsonl", "-o", "out"], 3, "there is no file or folder nothing.jsonl"),
        ([*QUIZ, "-o", "out", "--text-field", "body"], 3, "no field 'body'"),
    ],
)
def test_errors(run: Run, example: Path, arguments: list[str], code: int, message: str) -> None:
    answer = run("decontaminate", "pages.jsonl", *arguments)
    assert (answer.code, answer.out) == (code, "")
    assert message in " ".join(answer.err.split())
    assert "Traceback" not in answer.err


def test_standard_input(example: Path) -> None:
    command = [sys.executable, "-m", "ibidem", "decontaminate", "-", *QUIZ, "--dry-run"]
    with open(example / "pages.jsonl", "rb") as stream:
        done = subprocess.run(command, stdin=stream, cwd=example, capture_output=True, text=True, check=True)
    assert "5 whole documents would be removed" in done.stdout
