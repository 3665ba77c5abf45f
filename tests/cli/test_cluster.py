"""`ibidem cluster` as a user runs it: exit codes, what is said where, and what is in the output folder afterwards."""

from __future__ import annotations

import csv
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ibidem.cli.options import flag
from ibidem.config import setting_fields
from tests.cli.test_find import Run, process, rows, said, write_jsonl
from tests.clusters.test_mirrors import crowd
from tests.texts import documents, text

STAGES = ("documents", "reference", "signatures", "matches", "resemblance", "clusters", "engine", "output")


@pytest.fixture
def news(tmp_path: Path) -> str:
    """A file of five documents: two that are the same, one that is similar, two others."""
    records = documents(
        first=text(*range(1, 9)), second=text(*range(1, 8)), third=text(20, 21, 22), fourth=text(*range(1, 9)).upper(),
        fifth=text(30),
    )  # fmt: skip
    return write_jsonl(tmp_path / "news.jsonl", records)


PAIRS = [("first", "second"), ("first", "fourth"), ("second", "fourth")]


def read_table(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()  # type: ignore[no-any-return]
    if path.suffix == ".jsonl":
        return rows(path)
    with open(path, encoding="utf-8", newline="") as file:
        return [{name: _value(cell) for name, cell in row.items()} for row in csv.DictReader(file)]


def _value(cell: str) -> Any:
    try:
        return json.loads(cell)
    except ValueError:
        return cell


@pytest.mark.parametrize("table_format", ["parquet", "jsonl", "csv"])
def test_a_run_writes_its_tables_and_says_what_it_found(run: Run, news: str, tmp_path: Path, table_format: str) -> None:
    answer = run("cluster", news, "-o", "out", "--format", table_format)
    said(
        answer, 0, "5 documents, 121 shingles", "3 pairs of similar documents\n",
        "1 cluster of 3 documents: 2 could be removed", "this one:",
        "3 documents: keep first, remove second, fourth", "results: out",
    )  # fmt: skip
    names = {f"duplicates.{table_format}", f"clusters.{table_format}", "run.json", "skipped.jsonl"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    found = read_table(tmp_path / "out" / f"duplicates.{table_format}")
    assert [(row["a_id"], row["b_id"]) for row in found] == PAIRS
    assert found[0] == {
        "a_id": "first", "b_id": "second", "similarity": pytest.approx(33 / 39),
        "containment_a": pytest.approx(33 / 39), "containment_b": 1,
    }  # fmt: skip
    assert read_table(tmp_path / "out" / f"clusters.{table_format}") == [
        {"cluster": 0, "id": name, "canonical": name == "first"} for name in ("first", "second", "fourth")
    ]
    assert (tmp_path / "out" / "skipped.jsonl").read_text() == ""


def test_run_json_says_what_was_done(run: Run, news: str, tmp_path: Path) -> None:
    assert run("cluster", news, "-o", "out", "--min-similarity", "2/3", "--keep", "longest", "--chains").code == 0
    report = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    told = {"version", "finished", "settings", "folder", "inputs", "counts", "timings_seconds", "peak_memory_bytes"}
    assert set(report) == told
    assert report["settings"]["matches"]["min_similarity"] == "2/3"
    assert report["settings"]["clusters"] == {"keep": "longest", "chains": True, "by_group": False}
    assert (report["inputs"][0]["path"], report["inputs"][0]["bytes"]) == (news, (tmp_path / news).stat().st_size)
    expected = {"documents": 5, "shingles": 121, "duplicates": 3, "clusters": 1, "clustered": 3, "skipped": 0}
    assert expected.items() <= report["counts"].items()
    assert {"shingles", "pairs", "clusters", "tables"} <= set(report["timings_seconds"])


def test_who_stays(run: Run, tmp_path: Path) -> None:
    records = [{"id": n, "text": text(1, 2), "time": t, "score": s} for n, t, s in (("a", 3, 9), ("b", 1, 10), ("c", 2, 8))]
    name = write_jsonl(tmp_path / "n.jsonl", records)
    for keep, stays in {"first": "a", "earliest": "b", "score:max": "b", "score:min": "c"}.items():
        said(run("cluster", name, "-o", f"out-{keep[-3:]}", "--keep", keep, "--overwrite"), 0, f"3 documents: keep {stays},")
    said(run("cluster", name, "-o", "o", "--keep", "rank:max"), 3, "no record has a field 'rank'", "Check --keep")
    name = write_jsonl(tmp_path / "m.jsonl", documents(text(1, 2), text(1, 2)))
    said(run("cluster", name, "-o", "o", "--keep", "earliest"), 3, "no record has a time", "--time-field")


def test_a_collection_against_another(run: Run, tmp_path: Path) -> None:
    news = write_jsonl(
        tmp_path / "news.jsonl", documents(first=text(*range(1, 9)), second=text(*range(1, 8)), third=text(20, 21, 22))
    )
    write_jsonl(tmp_path / "archive.jsonl", documents(old=text(*range(1, 9)), older=text(20, 21, 22)))
    said(
        run("cluster", news, "--against", "archive.jsonl", "-o", "out", "--format", "jsonl"),
        0,
        "3 documents and 2 reference documents, ",
        "2 clusters of 5 documents",
        "keep old,",
    )
    found = [(row["a_id"], row["b_id"]) for row in rows(tmp_path / "out" / "duplicates.jsonl")]
    assert found == [("first", "old"), ("second", "old"), ("third", "older")]
    report = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    assert [described["path"] for described in report["inputs"]] == [news, "archive.jsonl"]
    write_jsonl(tmp_path / "empty.jsonl", [{"id": "r", "text": ""}])
    said(
        run("cluster", news, "--against", "empty.jsonl", "-o", "out2"),
        3,
        "the reference contains no documents: empty.jsonl\n",
        "1 record skipped",
    )


def test_quiet_says_nothing_but_errors(run: Run, news: str) -> None:
    assert run("cluster", news, "-o", "out", "-q") == (0, "", "")
    assert run("cluster", news, "-o", "out2", "-q", "--method", "minhash", "--no-verify") == (0, "", "")
    said(run("cluster", news, "-o", "out", "-q"), 2, "out already contains results", "--overwrite")


def test_without_verifying_it_says_that_these_are_estimates(run: Run, news: str) -> None:
    said(
        run("cluster", news, "-o", "out", "--no-verify", "--method", "minhash"),
        0,
        "pairs are not verified: similarities are estimates",
        "pairs of similar documents, not verified",
    )
    answer = run("cluster", news, "-o", "out2")
    assert "verified" not in answer.err


@pytest.mark.parametrize("mode", ["on", "off", "auto"])
def test_progress_goes_to_stderr(run: Run, news: str, mode: str) -> None:
    said(run("cluster", news, "-o", "out", "--progress", mode), 0, "3 pairs of similar documents")


# The output folder.


def test_results_are_not_overwritten_unless_asked_for(run: Run, news: str, tmp_path: Path) -> None:
    assert run("cluster", news, "-o", "out", "--format", "csv").code == 0
    before = (tmp_path / "out" / "run.json").read_bytes()
    said(run("cluster", news, "-o", "out"), 2, "out already contains results", "--overwrite")
    assert (tmp_path / "out" / "run.json").read_bytes() == before
    said(run("cluster", news, "-o", "out", "--overwrite", "--format", "jsonl"), 0, "results: out")
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".jsonl", ".json"}
    # Results of another verb are results too.
    assert run("find", news, "-o", "out", "--overwrite", "--format", "jsonl").code == 0
    assert not (tmp_path / "out" / "clusters.jsonl").exists()


def test_folders_that_are_none_of_ours(run: Run, news: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    for arguments in ([], ["--overwrite"]):
        said(run("cluster", "absent.jsonl", "-o", "out", *arguments), 2, "out contains files that are not results", "-o")
    said(run("cluster", news, "-o", news), 2, "a folder")
    said(run("cluster", news, "-o", f"{news}/out"), 2, "a folder")


# Inputs.


def test_skipped_records_are_counted_and_listed(run: Run, tmp_path: Path) -> None:
    broken = ['{"id": "broken', {"id": "x"}, {"id": "y", "text": ""}, *documents(a=text(1, 2), b=text(1, 2))]
    name = write_jsonl(tmp_path / "broken.jsonl", broken)
    said(run("cluster", name, "-o", "out"), 0, "2 documents", "3 records skipped (listed in skipped.jsonl)", "broken.jsonl:1")
    assert [record["position"] for record in rows(tmp_path / "out" / "skipped.jsonl")] == [1, 2, 3]
    said(run("cluster", name, "-o", "out2", "--strict"), 3, "broken.jsonl:1", "--strict")
    assert not (tmp_path / "out2").exists()


def test_inputs_that_are_not_right(run: Run, tmp_path: Path) -> None:
    said(run("cluster", "absent.jsonl", "-o", "out"), 3, "absent.jsonl", "Check the spelling")
    write_jsonl(tmp_path / "other.jsonl", [{"id": 1, "body": text(1)}])
    said(run("cluster", "other.jsonl", "-o", "out"), 3, "--text-field")
    said(run("cluster", "other.jsonl", "-o", "out", "--text-field", "body"), 0, "there is only one document")
    write_jsonl(tmp_path / "twice.jsonl", [*documents(same=text(1)), *documents(same=text(2))])
    said(run("cluster", "twice.jsonl", "-o", "out3"), 3, "'same' occurs twice", "--id-field")


def test_texts_without_words(run: Run, tmp_path: Path) -> None:
    name = write_jsonl(tmp_path / "signs.jsonl", documents("***", "???"))
    said(run("cluster", name, "-o", "out"), 0, "2 documents, 0 shingles", "nothing found")


@pytest.mark.parametrize(
    ("texts", "arguments", "reason"),
    [
        ([text(1, 2, 3)], [], "only one document"),
        (["Velmo tarrin.", "Quovex lum."], [], "few have more than 10 words; try a smaller --shingle-size"),
        ([text(1, 2, 3), text(4, 5, 6)], [], "try a lower --min-similarity, or --min-containment"),
        ([text(1, 2, 3), text(4, 5, 6)], ["--shingle-size", "1"], "`ibidem find` finds the passages"),
    ],
)
def test_finding_nothing_is_no_error_and_is_explained(
    run: Run, tmp_path: Path, texts: list[str], arguments: list[str], reason: str
) -> None:
    name = write_jsonl(tmp_path / "texts.jsonl", documents(*texts))
    said(run("cluster", name, "-o", "out", *arguments), 0, "0 pairs of similar documents", "nothing found", reason)
    assert pq.read_table(tmp_path / "out" / "clusters.parquet").num_rows == 0


# Settings.


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--min-similarity", "0"], ["--min-similarity must be above 0"]),
        (["--min-similarity", "1.01"], ["--min-similarity must be between 0 and 1, not 1.01"]),
        (["--min-containment", "2"], ["--min-containment must be between 0 and 1, not 2"]),
        (["--keep", "best"], ["--keep must be one of first, longest, earliest, FIELD:max, FIELD:min, not 'best'"]),
        (["--keep", ":max"], ["--keep must be", "not ':max'"]),
        (["--keep", "score:most"], ["--keep must be", "not 'score:most'"]),
        (["--filter-bits", "7"], ["--filter-bits must be one of 0, 64, 128, 256, not 7"]),
        (["--sample-every", "4", "--sample-remainder", "4"], ["--sample-remainder must be below --sample-every (4), not 4"]),
        (["--sample-remainder", "1"], ["--sample-remainder must be below --sample-every (1), not 1"]),
        (["--sample-every", "0"], ["--sample-every must be at least 1, not 0"]),
        (["--memory", "abc"], ["--memory must be", "500MB", "not 'abc'"]),
        (["--permutations", "100"], ["--permutations must be a multiple of --bands (16), not 100"]),
        (["--max-bits-apart", "17"], ["--max-bits-apart must be between 0 and 16, not 17"]),
        (["--method", "magic"], ["magic", "minhash"]),
        (["--measure", "cosine"], ["cosine", "order"]),
        (["--min-similarity", "0", "--memory", "abc"], ["--min-similarity must be above 0", "not 'abc'"]),
        (["--level", "document"], ["`--level` belongs to `ibidem dedup`"]),
        (["--min-sentences", "3"], ["--min-sentences"]),
    ],
)
def test_settings_that_do_not_hold(run: Run, news: str, tmp_path: Path, arguments: list[str], parts: list[str]) -> None:
    said(run("cluster", news, "-o", "out", *arguments), 2, *parts)
    assert not (tmp_path / "out").exists()


def test_inputs_and_output_are_needed(run: Run, news: str) -> None:
    said(run("cluster", "-o", "out"), 2, "INPUT")
    said(run("cluster", news), 2, "-o")
    said(run("cluster", "-", "--against", "-", "-o", "out"), 2, "only once")


def test_a_file_of_settings_and_flags_above_it(run: Run, news: str, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text('[matches]\nmin_similarity = 0.9\n[output]\nformat = "jsonl"\n')
    said(run("cluster", news, "-o", "out", "--config", "run.toml"), 0, "1 pair of similar documents")
    assert (tmp_path / "out" / "clusters.jsonl").exists()
    said(
        run("cluster", news, "-o", "out2", "--config", "run.toml", "--min-similarity", "0.8"), 0, "3 pairs of similar documents"
    )
    (tmp_path / "run.toml").write_text("[clusters]\nkeeping = 1\n[resemblance]\nfilter_bits = 7\n")
    said(run("cluster", news, "-o", "out3", "--config", "run.toml"), 2, "'keeping'", "--filter-bits must be")


def test_plans(run: Run, news: str, tmp_path: Path) -> None:
    said(run("cluster", news, "-o", "out", "--plan", "absent.json"), 3, "absent.json", "`ibidem tune`")
    (tmp_path / "plan.json").write_text("{}")
    said(run("cluster", news, "-o", "out", "--plan", "plan.json"), 3, "plan.json is not a sampling plan", "`ibidem tune`")
    assert not (tmp_path / "out").exists()
    said(run("tune", news, "-o", "plan.json"), 2, "the file exists and is not a sampling plan")
    (tmp_path / "plan.json").unlink()
    assert run("tune", news, "-o", "plan.json", "-q").code == 0
    assert run("tune", news, "-o", "plan.json", "-q").code == 0  # a plan may be replaced
    said(run("cluster", news, "-o", "out", "--plan", "plan.json"), 0, "3 pairs of similar documents")
    said(run("cluster", news, "-o", "out2", "--plan", "plan.json", "--min-similarity", "0.5"), 2, "was made for 0.8")
    said(
        run("dedup", news, "-o", "clean", "--plan", "plan.json"),
        0,
        "looked for by the sampling plan: all shingles, by document size",
    )
    assert json.loads((tmp_path / "clean" / "run.json").read_text("utf-8"))["plan"]["format"] == "ibidem sampling plan"
    said(
        run("dedup", news, "--dry-run", "--level", "passage", "--plan", "plan.json"),
        2,
        "a sampling plan is for --level document",
    )


def test_how_pairs_are_sampled_is_said(run: Run, news: str) -> None:
    call = ("cluster", news, "-o", "out", "--overwrite", "--sampling")
    said(
        run(*call, "smallest", "--sample-every", "25"), 0,
        "pairs looked for by at most 400 shingles per document, the smallest hashes of one in 25 shingles",
    )  # fmt: skip
    said(
        run(*call, "supershingles"), 0,
        "pairs looked for by 6 supershingles of 14 shingles each, 2 of them in common", "1 pair of similar documents",
    )  # fmt: skip
    assert "looked for" not in run(*call, "modulo").err


@pytest.mark.parametrize("method", ["shingling", "pairs", "minhash", "simhash", "imatch", "spotsigs"])
def test_other_methods(run: Run, news: str, tmp_path: Path, method: str) -> None:
    said(run("cluster", news, "-o", "out", "--method", method, "--format", "jsonl"), 0, " of similar documents")
    found = {(row["a_id"], row["b_id"]) for row in rows(tmp_path / "out" / "duplicates.jsonl")}
    assert ("first", "fourth") in found
    assert found <= set(PAIRS)


def test_little_memory(run: Run, news: str, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    assert run("cluster", news, "-o", "out", "--format", "jsonl").code == 0
    said(
        run("cluster", news, "-o", "out2", "--format", "jsonl", "--memory", "0.1kB", "--tmp-dir", "tmp"),
        0,
        "3 pairs of similar documents",
    )
    for name in ("duplicates.jsonl", "clusters.jsonl"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "out2" / name).read_bytes()
    assert list((tmp_path / "tmp").iterdir()) == []
    said(
        run("cluster", news, "-o", "out3", "--memory", "0.1kB", "--tmp-dir", "absent"),
        5,
        "cannot write temporary files to absent",
        "--tmp-dir",
    )


# Help.


def test_groups_that_share_documents(run: Run, tmp_path: Path) -> None:
    sites = write_jsonl(tmp_path / "sites.jsonl", [{**item, "site": item.pop("group")} for item in crowd(7)])
    answer = run("cluster", sites, "-o", "out", "--by-group", "--group-field", "site", "--format", "jsonl")
    said(
        answer, 0, "groups that share documents: 21 pairs, 21 with at least half of both groups",
        "  site3 (2 of 2 documents) and site5 (2 of 2)", "  and 16 other pairs",
    )  # fmt: skip
    rows = [json.loads(line) for line in (tmp_path / "out" / "mirrors.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == 21
    assert json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))["counts"]["mirrors"] == 21
    # Another run into the folder leaves nothing of this one behind.
    said(run("cluster", sites, "-o", "out", "--overwrite", "--format", "jsonl"), 0)
    assert not (tmp_path / "out" / "mirrors.jsonl").exists()
    alone = write_jsonl(tmp_path / "alone.jsonl", [{"id": "a", "group": "x", "text": text(1)}])
    said(run("cluster", alone, "-o", "two", "--by-group"), 0, "no two groups share documents")


def test_the_help_lists_every_setting(run: Run) -> None:
    answer = run("cluster", "--help-all")
    assert (answer.code, answer.err) == (0, "")
    flat = answer.out.replace("/", " ").replace("\n", " ")
    left_out = {"signature", "max_document_share", "keep_text", "work_dir", "sentence_pairs", "postings", "paper"}
    for stage, setting in setting_fields():
        wanted = (stage in STAGES and setting.name not in left_out) or setting.name in ("hash_seed", "ignore")
        assert (f"{flag(setting.name)} " in flat) == wanted, setting.name
    for option in ("--against", "--output", "--plan", "--config", "--progress", "--quiet"):
        assert option in answer.out
    assert "cluster" in run("--help").out


# As a process of its own.


def test_documents_from_standard_input_and_exit_codes(news: str, tmp_path: Path) -> None:
    lines = (tmp_path / news).read_bytes()
    (tmp_path / "news.jsonl.gz").write_bytes(gzip.compress(lines))
    done = process("cluster", "-", "-o", "out", "--format", "jsonl", cwd=tmp_path, input=lines.decode())
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert [(row["a_id"], row["b_id"]) for row in rows(tmp_path / "out" / "duplicates.jsonl")] == PAIRS
    usage = process("cluster", "news.jsonl.gz", "-o", "out", cwd=tmp_path)
    assert (usage.returncode, usage.stdout) == (2, "")
    assert usage.stderr.startswith("ibidem: out already contains results\n")


def test_a_report_is_written_with_the_clusters(run: Run, news: str, tmp_path: Path) -> None:
    out = tmp_path / "found"
    answer = run("cluster", news, "-o", str(out), "--report")
    said(answer, 0, f"report: {out / 'report.html'}")
    assert "to view:" not in answer.err
    page = (out / "report.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<title>found" in page
    said(run("report", str(out)), 0)
    made = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
    assert made.sub("", (out / "report.html").read_text("utf-8")) == made.sub("", page)
