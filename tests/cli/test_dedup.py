"""`ibidem dedup` as a user runs it: exit codes, what is said where, and what is in the output folder afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ibidem
from ibidem.cli.options import flag
from ibidem.config import setting_fields
from ibidem.config.settings import DIFFERENCE_SETTINGS, REPORTED_LIMITS
from tests.cli.test_find import Run, process, rows, said, write_jsonl
from tests.formats.copy_oracle import decompressed
from tests.test_dedup import FORMATS, NEWS, OURS, cleaned_files, contents, write_news
from tests.texts import documents, text


@pytest.fixture
def news(tmp_path: Path) -> str:
    """A file of four documents: the third is a copy of the first, the second contains a passage of it."""
    return write_jsonl(tmp_path / "news.jsonl", NEWS)


def test_a_run_writes_the_files_again_and_says_what_went(run: Run, news: str, tmp_path: Path) -> None:
    answer = run("dedup", news, "-o", "clean")
    n_chars, gone = sum(len(item["text"]) for item in NEWS), len(NEWS[2]["text"])
    said(
        answer, 0, f"4 documents, {n_chars} characters", "1 whole document was removed, 3 remain",
        f"{gone} characters were removed ({gone / n_chars:.1%})", "cleaned collection: clean",
    )  # fmt: skip
    assert "passage" not in answer.err
    assert set(contents(tmp_path / "clean")) == OURS | {news}
    lines = (tmp_path / news).read_bytes().splitlines(keepends=True)
    assert (tmp_path / "clean" / news).read_bytes() == b"".join([*lines[:2], lines[3]])
    (row,) = rows(tmp_path / "clean" / "removed.jsonl")
    assert " ".join(NEWS[2]["text"].split()).startswith(row.pop("snippet").removesuffix("…"))
    assert row == {
        "id": "c", "source": news, "position": 3, "removed": "document", "start": 0, "end": gone, "n_sentences": None,
        "matched_id": "a", "matched_source": news, "matched_position": 1, "matched_start": 0,
        "matched_end": len(NEWS[0]["text"]), "similarity": 1.0,
    }  # fmt: skip
    report = json.loads((tmp_path / "clean" / "run.json").read_text("utf-8"))
    assert report["written"] == [news]
    expected = {"documents": 4, "removed_documents": 1, "removed_characters": gone, "removals": 1, "skipped": 0}
    assert expected.items() <= report["counts"].items()
    assert report["settings"]["signatures"]["signature"] == "exact"


def test_passages(run: Run, news: str, tmp_path: Path) -> None:
    said(
        run("dedup", news, "-o", "clean", "--level", "passage"),
        0,
        "1 passage was removed from 1 document",
        "1 whole document was removed, 3 remain",
    )
    assert [d.text for d in ibidem.read(tmp_path / "clean" / news)][1] == f"{text(50)}\n"
    assert [row["n_sentences"] for row in rows(tmp_path / "clean" / "removed.jsonl")] == [3, 4]
    said(run("dedup", news, "-o", "clean2", "--level", "passage", "--keep", "earliest"), 0, "1 passage was removed")
    assert [d.id for d in ibidem.read(tmp_path / "clean2" / news)] == ["b", "c", "d"]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("level", ["document", "passage"])
def test_every_format_and_back(run: Run, tmp_path: Path, kind: str, level: str) -> None:
    source = write_news(tmp_path / "source", kind)
    before = contents(tmp_path / "source")
    arguments = ["--level", level, "-q"]
    assert run("dedup", str(source), "-o", "clean", *arguments) == (0, "", "")
    assert run("dedup", str(source), "-o", "again", *arguments) == (0, "", "")
    assert contents(tmp_path / "source") == before
    one, other = contents(tmp_path / "clean"), contents(tmp_path / "again")
    assert {name: data for name, data in one.items() if name != "run.json"} == {
        name: data for name, data in other.items() if name != "run.json"
    }
    copies = cleaned_files(tmp_path / "clean")
    assert [path.name for path in copies] == (["a.txt", "b.txt", "d.txt"] if kind == "txt" else [source.name])
    left = list(ibidem.read(copies))
    assert [d.text for d in left] == [
        NEWS[0]["text"], NEWS[1]["text"] if level == "document" else f"{text(50)}\n", NEWS[3]["text"]
    ]  # fmt: skip
    if kind == "jsonl.gz":
        lines = decompressed(source).splitlines(keepends=True)
        assert decompressed(copies[0]).splitlines(keepends=True)[0::2] == [lines[0], lines[3]]
    # Nothing is left to remove.
    assert run("dedup", *map(str, copies), "-o", "third", "-q").code == 0
    assert [path.read_bytes() for path in cleaned_files(tmp_path / "third")] == [path.read_bytes() for path in copies]


def test_a_dry_run_writes_nothing_and_shows_examples(run: Run, news: str, tmp_path: Path) -> None:
    before = contents(tmp_path)
    for more in ([], ["-o", "clean"], ["-q"]):
        answer = run("dedup", news, "--dry-run", *more)
        assert (answer.code, answer.err) == (0, "")
        assert "1 whole document would be removed, 3 remain" in answer.out
        assert f"c [0:{len(NEWS[2]['text'])}] also appears in a [0:{len(NEWS[0]['text'])}], similarity 1.00" in answer.out
        assert NEWS[2]["text"][:80] in answer.out
        assert "cleaned collection" not in answer.out
    assert contents(tmp_path) == before
    answer = run("dedup", news, "--dry-run", "--level", "passage", "--mark-only")
    assert "1 passage would be marked in 1 document\n1 whole document would be marked, all 4 remain" in answer.out
    write_jsonl(tmp_path / "crowd.jsonl", documents(*[text(1, 2, 3)] * 13))
    answer = run("dedup", "crowd.jsonl", "--dry-run")
    assert "the first 10:" in answer.out
    assert answer.out.count("also appears in d0") == 10
    write_jsonl(tmp_path / "other.jsonl", documents(text(1, 2), text(3, 4)))
    assert "nothing would be removed" in run("dedup", "other.jsonl", "--dry-run").out


def test_marks_instead_of_changes(run: Run, news: str, tmp_path: Path) -> None:
    said(run("dedup", news, "-o", "clean", "--mark-only"), 0, "1 whole document was marked, all 4 remain")
    marked = rows(tmp_path / "clean" / news)
    assert [{n: v for n, v in row.items() if not n.startswith("ibidem_")} for row in marked] == NEWS
    assert [row["ibidem_duplicate_of"] for row in marked] == [None, None, "a", None]
    assert [row["ibidem_cluster"] for row in marked] == [0, None, 0, None]
    said(
        run("dedup", f"clean/{news}", "-o", "again", "--mark-only"),
        3,
        "already has a column 'ibidem_cluster'",
        "Rename it: ibidem adds a column of that name.",
    )


def test_against_a_reference(run: Run, news: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "test.jsonl", documents(t=text(20, 21, 22)))
    said(run("dedup", news, "--against", "test.jsonl", "-o", "clean", "--level", "sentence", "--min-quote-words", "5"), 0)
    assert [d.id for d in ibidem.read(tmp_path / "clean" / news)] == ["a", "b", "c"]
    assert set(contents(tmp_path / "clean")) == OURS | {news}


def test_against_a_reference_copies_inside_the_inputs_stay(run: Run, news: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "test.jsonl", documents(t=text(20, 21, 22)))
    said(run("dedup", news, "--against", "test.jsonl", "-o", "clean"), 0, "1 whole document was removed, 3 remain")
    assert [d.id for d in ibidem.read(tmp_path / "clean" / news)] == ["a", "b", "c"]


def test_ids_may_stand_twice_and_skipped_records_stay(run: Run, tmp_path: Path) -> None:
    lines = [*documents(x=text(1, 2)), '{"broken', *documents(x=text(1, 2)), {"id": "no text"}, *documents(y=text(3))]
    name = write_jsonl(tmp_path / "x.jsonl", lines)
    said(run("dedup", name, "-o", "clean"), 0, "2 records skipped (listed in skipped.jsonl)", "they are copied unchanged")
    kept = (tmp_path / name).read_text("utf-8").splitlines()
    assert (tmp_path / "clean" / name).read_text("utf-8").splitlines() == [*kept[:2], *kept[3:]]
    assert len(rows(tmp_path / "clean" / "skipped.jsonl")) == 2
    said(run("dedup", name, "-o", "clean2", "--strict"), 3, "x.jsonl:2", "--strict")
    assert not (tmp_path / "clean2").exists()


def test_pages_cannot_be_cut(run: Run, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(f"<html><body><p>{text(1, 2, 3)}</p></body></html>", "utf-8")
    name = write_jsonl(tmp_path / "html.jsonl", [{"text": f"<p>{text(1, 2, 3)}</p>"}])
    for arguments in (["page.html"], [name, "--html"]):
        for level in ("passage", "sentence"):
            said(
                run("dedup", *arguments, "-o", "clean", "--level", level),
                3,
                arguments[0],
                "cannot be cut out of HTML",
                "Use --mark-only or --level document",
            )
    assert not (tmp_path / "clean").exists()
    said(run("dedup", "page.html", "-o", "clean"), 0, "0 whole documents were removed, 1 remain")


# The output folder.


def test_results_are_not_overwritten_unless_asked_for(run: Run, news: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "more.jsonl", documents(text(70, 71)))
    assert run("dedup", news, "more.jsonl", "-o", "clean", "-q").code == 0
    before = contents(tmp_path / "clean")
    said(run("dedup", news, "-o", "clean"), 2, "clean already contains results", "--overwrite")
    assert contents(tmp_path / "clean") == before
    said(run("dedup", news, "-o", "clean", "--overwrite"), 0, "cleaned collection: clean")
    assert set(contents(tmp_path / "clean")) == OURS | {news}
    said(run("dedup", f"clean/{news}", "-o", "clean", "--overwrite"), 2, "inputs are among", "-o")
    assert (tmp_path / "clean" / news).read_bytes() == before[news]


def test_folders_that_are_none(run: Run, news: str, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("mine")
    said(run("dedup", news, "-o", "plain"), 2, "plain is a file, not a folder", "-o")
    said(run("dedup", news, "-o", "clean.jsonl"), 2, "a folder", "get their own names")
    said(run("dedup", news, "-o", "."), 2, ". contains other files than a cleaned collection", "-o")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.jsonl").write_bytes((tmp_path / news).read_bytes())
    said(run("dedup", "own/a.jsonl", "-o", "own", "--overwrite"), 2, "own")
    said(run("dedup", news), 2, "with -o, or try it with --dry-run")
    said(run("dedup", "-o", "clean"), 2, "INPUT")
    (tmp_path / "run.json").write_bytes(b'{"text": "x"}')
    said(run("dedup", "run.json", "-o", "clean"), 3, "ibidem itself writes a file run.json", "Rename")
    assert not (tmp_path / "clean").exists()


def test_the_folder_is_looked_at_before_the_inputs_are_read(run: Run, tmp_path: Path) -> None:
    name = write_jsonl(tmp_path / "broken.jsonl", ["{"])
    said(run("dedup", name, "-o", "plain", "--strict"), 3)
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "thesis.txt").write_text("mine")
    said(run("dedup", name, "-o", "plain", "--strict"), 2, "other files")


def test_a_folder_below_a_file(run: Run, news: str) -> None:
    said(run("dedup", news, "-o", f"{news}/clean"), 2, "a folder")


# Settings.


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--min-similarity", "0"], ["--min-similarity must be above 0"]),
        (["--keep", "best"], ["--keep must be one of", "not 'best'"]),
        (["--level", "word"], ["--level must be one of", "passage", "'word'"]),
        (["--memory", "abc"], ["--memory must be", "not 'abc'"]),
        (["--filter-bits", "7"], ["--filter-bits must be one of"]),
        (["--sample-every", "2", "--sample-remainder", "2"], ["--sample-remainder must be below --sample-every (2), not 2"]),
        (["--min-sentences", "0"], ["--min-sentences must be between 1 and 1000, not 0"]),
        (["--max-places", "3"], ["--max-places"]),
        (["--format", "csv"], ["--format"]),
    ],
)
def test_settings_that_do_not_hold(run: Run, news: str, tmp_path: Path, arguments: list[str], parts: list[str]) -> None:
    said(run("dedup", news, "-o", "clean", *arguments), 2, *parts)
    assert not (tmp_path / "clean").exists()


def test_similar_sentences_only_if_the_signature_says_so(run: Run, tmp_path: Path) -> None:
    name = write_jsonl(tmp_path / "n.jsonl", documents(text(1, 2, 3, count=12), text(1, 2, 3, count=11)))
    said(run("dedup", name, "-o", "one", "--level", "passage"), 0, "0 passages were removed")
    said(run("dedup", name, "-o", "two", "--level", "passage", "--signature", "words"), 0, "1 whole document was removed")
    (tmp_path / "run.toml").write_text('[cleaning]\nlevel = "passage"\n[signatures]\nsignature = "words"\n')
    said(run("dedup", name, "-o", "three", "--config", "run.toml"), 0, "1 whole document was removed")
    said(run("dedup", name, "-o", "four", "--config", "run.toml", "--signature", "exact"), 0, "0 passages were removed")


def test_the_help_lists_its_settings(run: Run) -> None:
    answer = run("dedup", "--help-all")
    assert (answer.code, answer.err) == (0, "")
    flat = answer.out.replace("/", " ").replace("\n", " ")
    left_out = {"max_gap_sentences", "max_places", "skip_same_group", "keep_text", "format", "work_dir", "by_group"}
    left_out |= {"families", "runs", "summaries", "sentence_pairs", "postings", "paper"}
    left_out |= {"extend_ends", *DIFFERENCE_SETTINGS, *REPORTED_LIMITS}
    for stage, setting in setting_fields():
        is_wanted = setting.name not in left_out and stage not in ("index", "contamination")
        assert (f"{flag(setting.name)} " in flat) == is_wanted, setting.name
    for option in ("--against", "--output", "--dry-run", "--config", "--progress", "--quiet"):
        assert option in answer.out
    assert "dedup" in run("--help").out


# As a process of its own.


def test_standard_input(news: str, tmp_path: Path) -> None:
    lines = (tmp_path / news).read_text("utf-8")
    done = process("dedup", "-", "-o", "clean", cwd=tmp_path, input=lines)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert set(contents(tmp_path / "clean")) == OURS | {"stdin.jsonl"}
    assert [row["id"] for row in rows(tmp_path / "clean" / "stdin.jsonl")] == ["a", "b", "d"]
    done = process("dedup", "-", "--dry-run", cwd=tmp_path, input=lines)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 whole document would be removed" in done.stdout
    done = process("dedup", "-", "-o", "clean2", cwd=tmp_path, input="")
    assert (done.returncode, done.stdout) == (3, "")


def test_standard_input_has_no_temporary_name(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"text": text(1, 2, n)}) + "\n" for n in (3, 3, 4))
    for folder in ("one", "two"):
        assert process("dedup", "-", "-o", folder, cwd=tmp_path, input=lines).returncode == 0
    (row,) = rows(tmp_path / "one" / "removed.jsonl")
    assert (tmp_path / "one" / "removed.jsonl").read_bytes() == (tmp_path / "two" / "removed.jsonl").read_bytes()
    assert "tmp" not in row["id"]


def test_the_exit_code_of_the_process(tmp_path: Path) -> None:
    done = process("dedup", "absent.jsonl", "-o", "clean2", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("ibidem: there is no file or folder absent.jsonl\n")
