"""`ibidem tune` as a user runs it: the table, the plan, and what is said where."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import ibidem
from ibidem.cli.options import flag
from ibidem.config import setting_fields
from tests.cli.test_find import Run, process, said, write_jsonl
from tests.results.test_limits_from_verdicts import judge, results
from tests.test_tune import BOUNDS, collection, tuned
from tests.texts import documents, text

ARGUMENTS = ("--shingle-size", "2", "--min-similarity", "0.6", "--min-precision", "0.8", "--groups", "0,75,200,450")


@pytest.fixture
def pages(tmp_path: Path) -> str:
    """A file of documents of four sizes."""
    return write_jsonl(tmp_path / "pages.jsonl", list(collection(1)))


@pytest.fixture
def few(tmp_path: Path) -> str:
    """A file of three documents."""
    return write_jsonl(tmp_path / "few.jsonl", documents(text(1, 2, 3), text(1, 2, 4), text(5)))


def test_the_table_and_the_plan(run: Run, pages: str, tmp_path: Path) -> None:
    answer = run("tune", pages, *ARGUMENTS, "-o", "plan.json")
    assert (answer.code, answer.err) == (0, "plan: plan.json\n")
    header, *lines = answer.out.splitlines()
    columns = "shingles documents shingles in all looked at precision by model recall by model pairs"
    assert " ".join(header.split()) == columns
    expected = tuned("0.6", 0.8)
    sizes = ["0-74", "75-199", "200-449", "450+"]
    for line, size, group in zip(lines, sizes, expected.groups, strict=False):
        cells = line.split()
        assert cells[:3] == [size, str(group.n_documents), f"{group.n_shingles:,}"]
        assert cells[3] == ("all" if group.every == 1 else f"1/{group.every}")
        assert cells[4] == f"{group.chosen.precision:.3f}"
        assert cells[-1] == str(group.chosen.true)
    assert {len(line) for line in lines[:4]} == {len(header)}
    assert f"the plan uses {expected.share:.1%} of the shingles" in answer.out
    assert "(promised 0.8)" in answer.out
    assert "--no-verify" in answer.out
    plan = ibidem.SamplingPlan.load(tmp_path / "plan.json")
    assert (tuple(plan.from_shingles), list(plan.every)) == (BOUNDS, list(expected.plan.every))
    assert plan.made_for == expected.plan.made_for
    # And it is what `cluster` takes.
    taken = run("cluster", pages, *ARGUMENTS[:4], "--plan", "plan.json", "-o", "out")
    said(taken, 0, "pairs of similar documents")


def test_without_a_file_nothing_is_written(run: Run, few: str, tmp_path: Path) -> None:
    answer = run("tune", few)
    assert (answer.code, answer.err) == (0, "")
    assert "10,000+" in answer.out
    assert "the plan uses 100.0% of the shingles" in answer.out
    assert [path.name for path in tmp_path.iterdir()] == [few]


def test_quiet_leaves_the_table(run: Run, few: str, tmp_path: Path) -> None:
    answer = run("tune", few, "-q", "-o", "plan.json")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("   shingles")
    assert json.loads((tmp_path / "plan.json").read_text("utf-8"))["format"] == "ibidem sampling plan"


def test_the_first_documents_only(run: Run, pages: str, tmp_path: Path) -> None:
    assert run("tune", pages, *ARGUMENTS, "--max-documents", "50", "-o", "plan.json").code == 0
    assert json.loads((tmp_path / "plan.json").read_text("utf-8"))["made_for"] == {
        "min_similarity": 0.6, "min_precision": 0.8, "shingle_size": 2, "documents": 50,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--min-precision", "1"], ["--min-precision must be between 0 and 1 (neither included), not 1"]),
        (["--min-precision", "0"], ["--min-precision must be between 0 and 1 (neither included), not 0"]),
        (["--min-precision", "high"], ["high"]),
        (["--max-documents", "-1"], ["--max-documents must be at least 0, not -1"]),
        (["--groups", "5,10"], ["groups must begin with 0 and increase"]),
        (["--groups", "0,ten"], ["--groups must be whole numbers such as 0,500,1000, not '0,ten'"]),
        (["--groups", ""], ["--groups", "0,500,1000"]),
        (["--ratios", "2,1"], ["--ratios must be numbers such as 2,4,25 or 1/2,1/4,1/25, not '2,1'"]),
        (["--limits", "0.5,2"], ["--limits must be numbers such as 0.6,0.8, not '0.5,2'"]),
        (["--table", "grid.txt"], ["--table grid.txt", ".csv or .json"]),
        (["--table", "absent/grid.csv"], ["there is no folder absent"]),
        (["--engine", "spark"], ["runs on this machine only", "--max-documents"]),
        (["--sampling", "smallest"], ["--sampling"]),
        (["--min-similarity", "0"], ["--min-similarity must be above 0"]),
        (["--memory", "abc"], ["--memory must be", "not 'abc'"]),
        (["--method", "minhash"], ["`--method` belongs to `ibidem cluster` and `ibidem dedup`"]),
        (["--sample-every", "2"], ["--sample-every"]),
        (["--against", "few.jsonl"], ["--against"]),
    ],
)
def test_settings_that_do_not_hold(run: Run, few: str, tmp_path: Path, arguments: list[str], parts: list[str]) -> None:
    said(run("tune", few, "-o", "plan.json", *arguments), 2, *parts)
    assert not (tmp_path / "plan.json").exists()


def test_the_whole_grid(run: Run, pages: str, tmp_path: Path) -> None:
    call = ("--ratios", "2,1/4,8,16,25", "--limits", "0.6,0.8", "--all-remainders")
    answer = run("tune", pages, *ARGUMENTS, *call, "--table", "grid.csv")
    assert (answer.code, answer.err) == (0, "table: grid.csv\n")
    lines = answer.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.startswith("precision and")] == [
        "precision and recall at similarity 0.6", "precision and recall at similarity 0.8",
    ]  # fmt: skip
    with (tmp_path / "grid.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 5 * 5
    assert {row["samples"] for row in rows} == {"2", "4", "8", "16", "25"}
    cells = iter([line.split() for line in lines if line.split()[0] in ("0-74", "75-199", "200-449", "450+", "all")])
    by_place = {(row["min_similarity"], row["every"], row["from_shingles"]): row for row in rows}
    for limit in ("0.6", "0.8"):
        for block in (("2", "4", "8", "16"), ("25",)):
            for low in ("0", "75", "200", "450", ""):
                shown = next(cells)[3:]
                for k, every in enumerate(block):
                    row = by_place[limit, every, low]
                    expected = [f"{float(row[name]):.2f}" if row[name] else "-" for name in ("precision", "recall")]
                    assert shown[2 * k : 2 * k + 2] == expected
    # With a plan, its table follows; as JSON, the figures are numbers.
    answer = run("tune", pages, *ARGUMENTS, "--ratios", "2", "--table", "grid.json", "-o", "plan.json", "-q")
    assert (answer.code, answer.err) == (0, "")
    assert "(promised 0.8)" in answer.out
    assert {row["every"] for row in json.loads((tmp_path / "grid.json").read_text("utf-8"))} == {2}


def test_inputs_that_are_not_right(run: Run, tmp_path: Path) -> None:
    said(run("tune"), 2, "INPUT")
    said(run("tune", "absent.jsonl"), 3, "absent.jsonl", "Check the spelling")
    write_jsonl(tmp_path / "other.jsonl", [{"body": text(1)}])
    said(run("tune", "other.jsonl"), 3, "--text-field")
    write_jsonl(tmp_path / "broken.jsonl", ["{", *documents(text(1))])
    said(run("tune", "broken.jsonl", "--strict"), 3, "broken.jsonl:1", "--strict")
    assert run("tune", "broken.jsonl").code == 0
    (tmp_path / "folder").mkdir()
    said(run("tune", "broken.jsonl", "-o", "folder"), 2, "folder")


def test_records_that_were_skipped_are_told(run: Run, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "broken.jsonl", ["{", *documents(text(1))])
    assert "1 record skipped" in run("tune", "broken.jsonl").err


def test_a_plan_that_cannot_be_written_is_told_before_the_work(run: Run, few: str) -> None:
    answer = run("tune", few, "-o", "absent/plan.json")
    assert answer.code in (2, 5)
    said(answer, answer.code, "absent")


def test_the_help_lists_its_settings(run: Run) -> None:
    answer = run("tune", "--help-all")
    assert (answer.code, answer.err) == (0, "")
    flat = answer.out.replace("/", " ").replace("\n", " ")
    wanted = {"shingle_size", "min_similarity", "max_shingle_documents", "workers", "memory", "tmp_dir", "strict", "text_field"}
    for _, setting in setting_fields():
        assert f"{flag(setting.name)} " in flat or setting.name not in wanted
    for option in ("--output", "--min-precision", "--max-documents", "--groups", "--config", "--progress", "--quiet"):
        assert option in answer.out
    for absent in ("--keep", "--method", "--no-verify", "--level", "--format", "--sample-every", "--against"):
        assert f"{absent} " not in flat
    assert "tune" in run("--help").out


def test_standard_input(few: str, tmp_path: Path) -> None:
    done = process("tune", "-", cwd=tmp_path, input=(tmp_path / few).read_text("utf-8"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "of the shingles; identical documents count once" in done.stdout


def judged_folder(tmp_path: Path) -> Path:
    out = results(tmp_path, 44)
    judge(out)
    return out


def test_limits_from_verdicts(run: Run, tmp_path: Path) -> None:
    judged_folder(tmp_path)
    call = ("tune", "--from-verdicts", "out", "-o", "limits.toml", "--picture", "limits.svg", "--table", "curve.csv")
    answer = run(*call)
    assert answer.code == 0
    assert answer.err.splitlines()[:2] == ["table: curve.csv", "picture: limits.svg"]
    assert "from 22 confirmed and 22 rejected pairs" in answer.out
    assert "within the limits" in answer.out
    assert max(map(len, answer.out.splitlines())) <= 80
    assert (tmp_path / "limits.svg").read_text("utf-8").startswith("<svg")
    assert (tmp_path / "curve.csv").read_text("utf-8").startswith("setting,value,confirmed,rejected,precision,")
    assert run(*call, "-q").err == ""  # its own file may be replaced
    answer = run("find", "documents.jsonl", "--config", "limits.toml", "-o", "again")
    assert answer.code == 0
    assert "22 passages below the limits of what is reported" in answer.err


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["few.jsonl", "--from-verdicts", "out"], ["--from-verdicts does not use INPUT"]),
        (["--from-verdicts", "out", "--ratios", "2", "--shingle-size", "3"], ["does not use --ratios, --shingle-size"]),
        (["--from-verdicts", "out", "--table", "curve.txt"], [".csv or .json"]),
        (["--from-verdicts", "out", "--picture", "absent/a.svg"], ["there is no folder absent"]),
        (["--from-verdicts", "out", "-o", "few.jsonl"], ["few.jsonl", "was not written by"]),
        (["few.jsonl", "--picture", "a.svg"], ["--picture needs --from-verdicts OUT"]),
        (["--from-verdicts", "out", "--min-precision", "2"], ["--min-precision must be above 0"]),
        ([], ["Missing argument 'INPUT...'"]),
    ],
)
def test_calls_that_do_not_go_together(run: Run, few: str, arguments: list[str], parts: list[str]) -> None:
    said(run("tune", *arguments), 2, *parts)


def test_results_without_verdicts(run: Run, tmp_path: Path) -> None:
    results(tmp_path, 2)
    said(run("tune", "--from-verdicts", "out"), 3, "0 confirmed and 0 rejected pairs", "ibidem serve out")
    said(run("tune", "--from-verdicts", "absent"), 3, "there is no folder absent")
