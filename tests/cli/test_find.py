"""`ibidem find` as a user runs it: exit codes, what is said where, and what is in the output folder afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet
import pytest

from ibidem.cli.main import main
from ibidem.cli.options import flag
from ibidem.config import setting_fields
from ibidem.version import __version__
from tests.texts import documents, text
from tests.waiting import LIMIT_SECONDS, wait_until_taken

COMMAND = [sys.executable, "-m", "ibidem"]


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Answer]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Run the command in this process, in an empty folder: quick, and all of `main` but the process around it."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["ibidem", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        code = end.value.code
        return Answer(code if isinstance(code, int) else -1, *capfd.readouterr())

    return call


def write_jsonl(path: Path, records: list[Any]) -> str:
    lines = (record if isinstance(record, str) else json.dumps(record, ensure_ascii=False) for record in records)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path.name


@pytest.fixture
def news(tmp_path: Path) -> str:
    """A file of three documents, two of which share a passage."""
    records = documents(first=text(1, 2, 3, 10), second=f"{text(11)}\n\n{text(1, 2, 3)}", third=text(20, 21, 22))
    return write_jsonl(tmp_path / "news.jsonl", records)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def said(answer: Answer, code: int, *parts: str) -> None:
    """Check the exit code, that nothing went to stdout, that no traceback is shown, and what is said."""
    assert answer.code == code, answer.err
    assert answer.out == ""
    assert "Traceback" not in answer.err
    for part in parts:
        assert part in answer.err, answer.err


# A run that works.


def test_a_run_writes_its_tables_and_says_what_it_found(run: Run, news: str, tmp_path: Path) -> None:
    answer = run("find", news, "-o", "out")
    said(
        answer,
        0,
        "3 documents, 11 sentences",
        "1 passage",
        "(1 exact)",
        "2 of 3 documents",
        "first [0:",
        "second [",
        "results: out",
    )
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "documents.parquet", "passages.parquet", "repeats.parquet", "run.json", "skipped.jsonl",
    ]  # fmt: skip
    (row,) = pa.parquet.read_table(tmp_path / "out" / "passages.parquet").to_pylist()
    length = len(text(1, 2, 3))
    start = len(text(11)) + 2
    assert row == {
        "a_id": "first", "a_start": 0, "a_end": length, "b_id": "second", "b_start": start, "b_end": start + length,
        "n_sentences": 3, "similarity": 1.0, "kind": "exact", "direction": "unknown",
        "a_sentence": 0, "b_sentence": 1,
    }  # fmt: skip
    assert (tmp_path / "out" / "skipped.jsonl").read_text() == ""


def test_run_json_says_what_was_done(run: Run, news: str, tmp_path: Path) -> None:
    assert run("find", news, "-o", "out", "--min-similarity", "0.85", "--same-document").code == 0
    report = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    told = {"version", "finished", "settings", "folder", "inputs", "counts", "timings_seconds", "peak_memory_bytes"}
    assert set(report) == told
    assert report["version"] == __version__
    assert report["finished"].endswith("+00:00")
    for stage, setting in setting_fields():
        assert (setting.name in report["settings"][stage]) == (setting.name != "work_dir")  # it lasts as long as the run
    assert report["settings"]["matches"]["min_similarity"] == "17/20"
    assert report["settings"]["passages"]["same_document"] is True
    (described,) = report["inputs"]
    assert (described["path"], described["bytes"]) == (news, (tmp_path / news).stat().st_size)
    assert {"documents": 3, "sentences": 11, "passages": 1, "repeats": 0, "skipped": 0}.items() <= report["counts"].items()
    assert set(report["timings_seconds"]) >= {"sentences", "matches", "passages", "tables"}


@pytest.mark.parametrize("table_format", ["jsonl", "csv"])
def test_other_formats_and_kept_texts(run: Run, news: str, tmp_path: Path, table_format: str) -> None:
    assert run("find", news, "-o", "out", "--format", table_format, "--keep-text", "--quiet") == (0, "", "")
    lines = (tmp_path / "out" / f"passages.{table_format}").read_text("utf-8").splitlines()
    assert text(1, 2, 3) in lines[-1]
    assert lines[-1].count(text(1, 2, 3)) == 2
    assert (tmp_path / "out" / f"documents.{table_format}").exists()
    assert not list((tmp_path / "out").glob("*.parquet"))


def test_a_collection_against_another(run: Run, news: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "archive.jsonl", documents(old=text(1, 2, 3), older=text(20, 21, 22)))
    answer = run("find", news, "--against", "archive.jsonl", "-o", "out", "--format", "jsonl")
    said(answer, 0, "3 documents and 2 reference documents, 17 sentences", "3 of 3 documents")
    assert [(r["a_id"], r["b_id"]) for r in rows(tmp_path / "out" / "passages.jsonl")] == [
        ("first", "old"), ("second", "old"), ("third", "older"),
    ]  # fmt: skip
    report = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    assert [described["path"] for described in report["inputs"]] == [news, "archive.jsonl"]


def test_without_a_folder_one_is_asked_for(run: Run, news: str) -> None:
    said(run("find", news), 2, "Name a folder for the results with -o FOLDER.")


def test_groups_that_are_objects_are_no_groups(run: Run, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "meta.jsonl", [{"id": name, "text": text(1, 2, 3), "meta": {"a": 1}} for name in "ab"])
    answer = run("find", "meta.jsonl", "-o", "out", "--group-field", "meta")
    said(answer, 3, "no record has a field 'meta' with text or a number", "Check --group-field")


def test_a_reference_without_documents_is_an_input_error(run: Run, news: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "archive.jsonl", [{"id": "r", "text": ""}])
    said(run("find", news, "--against", "archive.jsonl", "-o", "out"), 3)


def test_quiet_says_nothing_but_errors(run: Run, news: str) -> None:
    assert run("find", news, "-o", "out", "-q") == (0, "", "")
    said(run("find", news, "-o", "out", "-q"), 2, "already contains results")


@pytest.mark.parametrize("mode", ["on", "off", "auto"])
def test_progress_goes_to_stderr(run: Run, news: str, mode: str) -> None:
    said(run("find", news, "-o", "out", "--progress", mode), 0, "1 passage")


# The output folder.


def test_results_are_not_overwritten_unless_asked_for(run: Run, news: str, tmp_path: Path) -> None:
    assert run("find", news, "-o", "out", "--format", "csv").code == 0
    before = (tmp_path / "out" / "run.json").read_bytes()
    said(run("find", news, "-o", "out"), 2, "out already contains results", "--overwrite")
    assert (tmp_path / "out" / "run.json").read_bytes() == before
    said(run("find", news, "-o", "out", "--overwrite", "--format", "jsonl"), 0, "results: out")
    assert {p.suffix for p in (tmp_path / "out").iterdir()} == {".jsonl", ".json"}


@pytest.mark.parametrize("arguments", [[], ["--overwrite"]])
def test_a_folder_with_other_files_is_left_alone(run: Run, news: str, tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    said(run("find", news, "-o", "out", *arguments), 2, "out contains files that are not results of ibidem", "-o")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["thesis.txt"]


def test_an_empty_folder_is_taken_and_a_missing_one_made(run: Run, news: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run("find", news, "-o", "empty").code == 0
    assert run("find", news, "-o", "deep/er/out").code == 0
    assert (tmp_path / "deep" / "er" / "out" / "run.json").exists()


def test_a_file_is_no_output_folder(run: Run, news: str, tmp_path: Path) -> None:
    said(run("find", news, "-o", news), 2, "a folder")
    said(run("find", news, "-o", f"{news}/out"), 2, "a folder")
    assert (tmp_path / news).read_text("utf-8")


def test_the_folder_is_looked_at_before_the_inputs_are_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    said(run("find", "absent.jsonl", "-o", "out"), 2, "files that are not results")


# Inputs that are not right.

BROKEN = [
    {"id": "first", "text": text(1, 2, 3)},
    '{"id": "broken", "text": "Velmo',
    {"id": "no text"},
    {"id": "empty", "text": ""},
    {"id": "second", "text": text(1, 2, 3)},
]


def test_skipped_records_are_counted_and_listed(run: Run, tmp_path: Path) -> None:
    name = write_jsonl(tmp_path / "broken.jsonl", BROKEN)
    answer = run("find", name, "-o", "out")
    said(answer, 0, "2 documents", "1 passage", "3 records skipped (listed in skipped.jsonl)", "broken.jsonl:2")
    skipped = rows(tmp_path / "out" / "skipped.jsonl")
    assert [set(record) for record in skipped] == [{"source", "position", "reason", "id"}] * 3
    assert [(record["source"], record["position"]) for record in skipped] == [(name, 2), (name, 3), (name, 4)]
    assert skipped[2]["reason"] == "empty text"
    assert skipped[2]["id"] == "empty"
    assert all(record["reason"] for record in skipped)


def test_strict_stops_at_the_first_record_that_would_be_skipped(run: Run, tmp_path: Path) -> None:
    name = write_jsonl(tmp_path / "broken.jsonl", BROKEN)
    said(run("find", name, "-o", "out", "--strict"), 3, "broken.jsonl:2", "--strict")
    assert not (tmp_path / "out").exists()
    good = write_jsonl(tmp_path / "good.jsonl", [BROKEN[0], BROKEN[-1]])
    said(run("find", good, "-o", "out", "--strict"), 0)


def test_a_missing_file_is_an_input_error(run: Run, tmp_path: Path) -> None:
    said(run("find", "absent.jsonl", "-o", "out"), 3, "absent.jsonl", str(tmp_path))
    said(run("find", "nothing-*.jsonl", "-o", "out"), 3, "no file matches nothing-*.jsonl")
    assert not (tmp_path / "out").exists()


def test_inputs_without_documents(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    said(run("find", "empty", "-o", "out"), 3, "no documents", "jsonl")
    (tmp_path / "empty.jsonl").write_text("")
    said(run("find", "empty.jsonl", "-o", "out"), 3, "no documents")
    write_jsonl(tmp_path / "other.jsonl", [{"id": 1, "body": text(1)}, {"id": 2, "body": text(2)}])
    said(run("find", "other.jsonl", "-o", "out"), 3, "2 records skipped", "other.jsonl:1", "--text-field")
    said(run("find", "other.jsonl", "-o", "out", "--text-field", "body"), 0, "2 documents")


def test_a_repeated_id_names_both_places(run: Run, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", documents(same=text(1), other=text(2)))
    write_jsonl(tmp_path / "b.jsonl", documents(some=text(3), same=text(4)))
    said(run("find", "a.jsonl", "b.jsonl", "-o", "out"), 3, "'same'", "a.jsonl, line 1", "b.jsonl, line 2", "--id-field")


# Settings.


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--min-similarity", "1.5"], ["--min-similarity must be between 0 and 1, not 1.5"]),
        (["--min-similarity", "much"], ["'much' is not a number"]),
        (
            ["--min-sentences", "0", "--max-places", "1"],
            ["--min-sentences must be between 1", "not 0", "--max-places must be at least 2, not 1"],
        ),
        (["--signature", "minhash"], ["--signature must be one of", "fingerprint", "not 'minhash'"]),
        (["--min-sentence", "3"], ["there is no option `--min-sentence`. Did you mean `--min-sentences`?"]),
        (["--lang", "tlh"], ["--lang must be one of", "en, de", "not 'tlh'"]),
        (["--encoding", "utf-99"], ["utf-99"]),
    ],
)
def test_settings_that_do_not_hold(run: Run, news: str, tmp_path: Path, arguments: list[str], parts: list[str]) -> None:
    said(run("find", news, "-o", "out", *arguments), 2, *parts)
    assert not (tmp_path / "out").exists()


def test_inputs_and_output_are_needed(run: Run, news: str) -> None:
    said(run("find", "-o", "out"), 2, "INPUT")
    said(run("find", news), 2, "-o")
    said(run("finde", news), 2, "finde", "Did you mean `find`?")


def test_a_file_of_settings_and_flags_above_it(run: Run, news: str, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text('[passages]\nmin_sentences = 4\nmin_quote_words = 0\n[output]\nformat = "jsonl"\n')
    said(run("find", news, "-o", "out", "--config", "run.toml"), 0, "nothing found", "no 4 consecutive sentences match")
    assert (tmp_path / "out" / "passages.jsonl").exists()
    said(run("find", news, "-o", "out2", "--config", "run.toml", "--min-sentences", "3"), 0, "1 passage")


def test_the_problems_of_a_settings_file_are_all_named(run: Run, news: str, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("[passages]\nmin_sentence = 4\n[match]\nmin_similarity = 1\n")
    said(
        run("find", news, "-o", "out", "--config", "run.toml"),
        2,
        "min_sentence'",
        "[passages]",
        "'min_similarity'",
        "[match]",
    )
    (tmp_path / "run.toml").write_text('[passages]\nmin_sentences = 0\nmin_words = "many"\n[matches]\nmin_similarity = 7\n')
    said(
        run("find", news, "-o", "out", "--config", "run.toml"),
        2,
        "--min-sentences must be between 1 and 1000, not 0",
        "--min-words must be a whole number, not 'many'",
        "--min-similarity must be between 0 and 1, not 7",
    )
    said(run("find", news, "-o", "out", "--config", "absent.toml"), 2, "absent.toml")
    (tmp_path / "run.toml").write_text("passages = [")
    said(run("find", news, "-o", "out", "--config", "run.toml"), 2, "run.toml")


# Nothing found.


@pytest.mark.parametrize(
    ("texts", "arguments", "reason"),
    [
        ([text(1, 2, 3)], [], "only one document"),
        (["Velmo tarrin.", "Quovex lum."], [], "the texts are short"),
        ([text(1, 2, 3), text(4, 5, 6)], ["--min-similarity", "1"], "no 3 consecutive sentences match"),
        ([text(1, 2, 3), text(4, 5, 6)], ["--signature", "exact"], "no 3 consecutive sentences are equal"),
    ],
)
def test_finding_nothing_is_no_error_and_is_explained(
    run: Run, tmp_path: Path, texts: list[str], arguments: list[str], reason: str
) -> None:
    name = write_jsonl(tmp_path / "texts.jsonl", documents(*texts))
    said(run("find", name, "-o", "out", *arguments), 0, "0 passages", "nothing found", reason)
    assert pa.parquet.read_table(tmp_path / "out" / "passages.parquet").num_rows == 0


# Help.


def test_the_help_of_find_lists_every_setting(run: Run) -> None:
    answer = run("find", "--help-all")
    assert (answer.code, answer.err) == (0, "")
    stages = ("documents", "sentences", "signatures", "matches", "passages", "engine", "output")
    for stage, setting in setting_fields():
        if stage not in stages or setting.name == "work_dir" or setting.metadata["is_hidden"]:
            continue
        assert f"{flag(setting.name)} " in answer.out.replace("/", " ").replace("\n", " "), setting.name
    for option in ("--against", "--output", "--config", "--progress", "--quiet"):
        assert option in answer.out


def test_the_help_and_the_version(run: Run) -> None:
    answer = run("--help")
    assert (answer.code, answer.err) == (0, "")
    assert "find" in answer.out
    assert "Exit codes: 0 done, 1 check failed, 2 usage" in answer.out
    assert run("-h") == answer
    assert run("--version") == (0, f"ibidem, version {__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["find", "--help"], ["--version"]])
def test_help_loads_no_kernels_and_little_else(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom ibidem.cli.main import main\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numba', 'numpy', 'pyarrow', 'rich'} & set(sys.modules)), len(sys.modules), file=sys.stderr)"
    )
    answer = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    heavy, _, n_modules = answer.stderr.rpartition(" ")
    assert heavy == "[]"
    assert int(n_modules) < 300  # pyarrow alone has more
    assert answer.stdout


# As a process of its own.


def process(*arguments: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, capture_output=True, encoding="utf-8", timeout=120, check=False, **options
    )


def test_exit_codes_of_the_process(news: str, tmp_path: Path) -> None:
    done = process("find", news, "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "1 passage" in done.stderr
    usage = process("find", news, "-o", "out", cwd=tmp_path)
    assert (usage.returncode, usage.stdout) == (2, "")
    missing = process("find", "absent.jsonl", "-o", "out3", cwd=tmp_path)
    assert (missing.returncode, missing.stdout) == (3, "")
    assert missing.stderr.startswith("ibidem: there is no file or folder absent.jsonl\n")


def test_documents_from_standard_input(tmp_path: Path) -> None:
    lines = "".join(json.dumps(record) + "\n" for record in documents(x=text(1, 2, 3), y=text(1, 2, 3)))
    done = process("find", "-", "-o", "out", "--format", "jsonl", cwd=tmp_path, input=lines)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert [(row["a_id"], row["b_id"]) for row in rows(tmp_path / "out" / "passages.jsonl")] == [("x", "y")]
    assert json.loads((tmp_path / "out" / "run.json").read_text())["inputs"][0]["kind"] == "stream"


def test_empty_standard_input_is_an_input_error(tmp_path: Path) -> None:
    done = process("find", "-", "-o", "out", cwd=tmp_path, input="")
    assert (done.returncode, done.stdout) == (3, "")


def test_empty_standard_input_is_called_empty(tmp_path: Path) -> None:
    done = process("find", "-", "-o", "out", cwd=tmp_path, input="")
    assert "--text-field" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX")
def test_a_reader_that_has_gone_is_no_error(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*COMMAND, "find", "--help"], stdout=writing, stderr=subprocess.PIPE, cwd=tmp_path, timeout=60, check=False
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX")
def test_an_interrupted_run_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "find", "-", "-o", "out"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as started:
        assert started.stdin is not None
        started.stdin.write(json.dumps(documents(text(1))[0]).encode() + b"\n")
        wait_until_taken(started.stdin)
        started.send_signal(signal.SIGINT)
        started.wait(LIMIT_SECONDS)
        assert started.stdout is not None
        assert started.stderr is not None
        assert (started.returncode, started.stdout.read()) == (130, b"")
        assert started.stderr.read().decode().splitlines()[-1] == "ibidem: interrupted"
    assert not (tmp_path / "out").exists()


def test_results_below_the_input_folder_are_no_input(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for name in ("a", "b"):
        (tmp_path / "notes" / f"{name}.txt").write_text(text(1, 2, 3), "utf-8")
    said(run("find", "notes", "-o", "notes/out"), 0, "2 documents")
    said(run("find", "notes", "-o", "notes/out", "--overwrite"), 0, "2 documents")


def test_standard_input_is_read_once_only(run: Run) -> None:
    said(run("find", "-", "--against", "-", "-o", "out"), 2, "only once")


@pytest.mark.parametrize("verb", ["find", "cluster", "dedup"])
def test_ids_and_texts_cannot_steer_a_terminal(run: Run, tmp_path: Path, verb: str) -> None:
    records = [{"id": f"{name}\x1b[2Jx\nibidem: all is well", "text": "\x1b]0;mine\x07 " + text(*range(9))} for name in "ab"]
    path = write_jsonl(tmp_path / "odd.jsonl", records)
    answer = run(verb, path, "-o", "out", *(["--shingle-size", "3"] if verb == "cluster" else []))
    assert answer.code == 0
    assert "\x1b" not in answer.err
    assert "\nibidem: all is well" not in answer.err
    repeated = write_jsonl(tmp_path / "twice.jsonl", [records[0]] * 2)
    if verb != "dedup":
        said(run(verb, repeated, "-o", "out2"), 3, r"a\x1b[2Jx\nibidem: all is well")
