"""`ibidem eval` as a user runs it: the table, JSON, listed pairs, formats, and what is said of files that are not right."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from ibidem.cli.eval import MEASURES
from ibidem.evaluation import file_scores
from ibidem.evaluation.document_numbers import PLACES
from tests.cli.test_find import Run, said, write_jsonl
from tests.texts import documents, text


def record(a_id: str, a_start: Any, a_end: Any, b_id: str, b_start: Any, b_end: Any, **more: Any) -> dict[str, Any]:
    return dict(zip(PLACES, (a_id, a_start, a_end, b_id, b_start, b_end), strict=True)) | more


TRUTH = [
    record("x", 0, 100, "y", 200, 300, category="copied"),
    record("x", 0, 100, "z", 0, 100, category="edited"),
    record("u", 0, 100, "v", 0, 100, category="edited"),
]
FOUND = [
    record("y", 200, 300, "x", 0, 100, kind="exact", text="ä\nb"),
    record("x", 0, 50, "z", 0, 50, kind="near", text=""),
    record("p", 0, 50, "q", 0, 50, kind="near", text=""),
]
TABLE = """\
        plagdet  precision  recall  granularity  true  found
all       0.571      0.667   0.500        1.000     3      3
copied    1.000      1.000   1.000        1.000     1      1
edited    0.400      1.000   0.250        1.000     2      1
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with truth, found passages and pairs."""
    write_jsonl(tmp_path / "truth.jsonl", TRUTH)
    write_jsonl(tmp_path / "found.jsonl", FOUND)
    (tmp_path / "pairs.csv").write_text("a_id,b_id,category\nx,y,copied\nx,z,edited\nu,v,edited\nv,w,none\n", "utf-8")
    return tmp_path


def test_the_table(run: Run, files: Path) -> None:
    assert run("eval", "truth.jsonl", "found.jsonl") == (0, TABLE, "")


def test_listed_pairs(run: Run, files: Path) -> None:
    answer = run("eval", "truth.jsonl", "found.jsonl", "--pairs", "pairs.csv")
    assert answer.err == "1 found in pairs of documents that pairs.csv does not list: ignored\n"
    assert [line.split() for line in answer.out.splitlines()[1:]] == [
        ["all", "0.667", "1.000", "0.500", "1.000", "3", "2"],
        ["copied", "1.000", "1.000", "1.000", "1.000", "1", "1"],
        ["edited", "0.400", "1.000", "0.250", "1.000", "2", "1"],
        ["none", "1.000", "1.000", "1.000", "1.000", "0", "0"],
    ]


def test_json(run: Run, files: Path) -> None:
    answer = run("eval", "truth.jsonl", "found.jsonl", "--json", "--pairs", "pairs.csv", "--bootstrap", "50")
    outcome = json.loads(answer.out)
    assert outcome["measure"] == "passages"
    assert set(outcome) == {"measure", "all", "categories", "n_ignored_truth", "n_ignored_found"}
    assert outcome["n_ignored_found"] == 1
    assert list(outcome["categories"]) == ["copied", "edited", "none"]
    edited = outcome["categories"]["edited"]
    intervals = edited.pop("intervals")
    assert edited == {
        "plagdet": 0.4, "precision": 1, "recall": 0.25, "granularity": 1, "micro_precision": 1, "micro_recall": 0.25,
        "n_truth": 2, "n_found": 1, "n_matched": 1, "n_pairs": 2,
    }  # fmt: skip
    assert intervals["recall"] == [0, 0.5]
    assert "intervals" not in json.loads(run("eval", "truth.jsonl", "found.jsonl", "--json").out)["all"]


def test_intervals_stand_beside_their_scores(run: Run, files: Path) -> None:
    answer = run("eval", "truth.jsonl", "found.jsonl", "--bootstrap", "50")
    header, _, copied, _ = answer.out.splitlines()
    assert " ".join(header.split()) == "plagdet 95 % precision 95 % recall 95 % granularity true found"
    assert copied.split()[:3] == ["copied", "1.000", "1.000-1.000"]
    assert len({len(line) for line in answer.out.splitlines()}) == 1


@pytest.mark.parametrize("suffix", ["JSONL", "jsonl.gz", "jsonl.zst", "csv", "csv.gz", "csv.zst", "parquet"])
def test_formats(run: Run, files: Path, suffix: str) -> None:
    for stem, rows in (("truth", TRUTH), ("found", FOUND)):
        table = pa.Table.from_pylist(rows)
        table = table.set_column(0, "a_id", table["a_id"].dictionary_encode())
        table = table.set_column(1, "a_start", table["a_start"].cast(pa.uint32()))
        with pa.output_stream(files / f"{stem}.{suffix}", compression="detect") as stream:
            if suffix == "parquet":
                pa.parquet.write_table(table, stream)
            elif "csv" in suffix:
                pa.csv.write_csv(pa.Table.from_pylist(rows), stream)
            else:
                stream.write((files / f"{stem}.jsonl").read_bytes())
    assert run("eval", f"truth.{suffix}", f"found.{suffix}") == (0, TABLE, "")


@pytest.mark.parametrize("table_format", ["parquet", "jsonl", "csv"])
def test_a_folder_of_results(run: Run, tmp_path: Path, table_format: str) -> None:
    records = documents(first=text(1, 2, 3, 10), second=f"{text(11)}\n\n{text(1, 2, 3)}", third=text(20, 21, 22))
    write_jsonl(tmp_path / "news.jsonl", records)
    assert run("find", "news.jsonl", "-o", "out", "--format", table_format, "--keep-text").code == 0
    answer = run("eval", "out", "out")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines()[1].split() == ["all", "1.000", "1.000", "1.000", "1.000", "1", "1"]


def test_tables_in_parts(run: Run, files: Path) -> None:
    folder = files / "out" / "passages.jsonl"
    folder.mkdir(parents=True)
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.json.crc").write_bytes(b"\x00")
    write_jsonl(folder / "part-0.json", FOUND[:1])
    write_jsonl(folder / "part-1.json", [])
    with gzip.open(folder / "part-2.json.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in FOUND[1:])
    assert run("eval", "truth.jsonl", "out").out == TABLE
    assert run("eval", "truth.jsonl", "out/passages.jsonl").out == TABLE


def test_ids_and_offsets_may_be_numbers_or_text(run: Run, files: Path) -> None:
    write_jsonl(files / "numbers.jsonl", ["", record(7, 0, 9, 8, 0, 9), "  "])  # type: ignore[arg-type]
    (files / "texts.csv").write_text("\ufeffa_id,a_start,a_end,b_id,b_start,b_end\r\n7,0,9,8,0,9\r\n\r\n", "utf-8")
    assert run("eval", "numbers.jsonl", "texts.csv").out.splitlines()[1].split()[1] == "1.000"


def test_nothing_found_and_nothing_true(run: Run, files: Path) -> None:
    write_jsonl(files / "empty.jsonl", [])
    assert run("eval", "empty.jsonl", "empty.jsonl").out.splitlines()[1].split() == ["all", *["1.000"] * 4, "0", "0"]
    assert run("eval", "truth.jsonl", "empty.jsonl").out.splitlines()[1].split() == [
        "all", "0.000", "0.000", "0.000", "1.000", "3", "0",
    ]  # fmt: skip
    assert run("eval", "empty.jsonl", "found.jsonl", "--bootstrap", "5").code == 0


def test_ids_that_do_not_fit_are_told(run: Run, files: Path) -> None:
    write_jsonl(files / "other.jsonl", [record("docs/x", 0, 100, "docs/y", 200, 300)])
    assert "do both files use the same ids?" in run("eval", "truth.jsonl", "other.jsonl").err


# What is not right.


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ({"a_id": "x", "a_start": 0}, ["missing columns a_end, b_id, b_start, b_end"]),
        ({k: v for k, v in TRUTH[0].items() if k != "b_end"}, ["missing column b_end", "Required columns: a_id a_start"]),
        ("{", ["is not JSON"]),
        ("[1]", ["is not a JSON object"]),
        (record("x", 1.5, 3, "y", 0, 1), ["a_start is 1.5, not a whole number"]),
        (record("x", True, 3, "y", 0, 1), ["a_start is True"]),
        (record("x", None, 3, "y", 0, 1), ["a_start is None"]),
        (record("x", 10**30, 3, "y", 0, 1), ["a_start is 1000"]),
        (record("", 0, 3, "y", 0, 1), ["a_id is '', not an id"]),
        (record("x", 5, 3, "y", 0, 1), ["a [5:3] and b [0:1] are not inside two texts", "characters from 0"]),
        (record("x", -5, 3, "y", 0, 1), ["a [-5:3]"]),
    ],
)
def test_lines_that_are_no_passages(run: Run, files: Path, line: Any, parts: list[str]) -> None:
    write_jsonl(files / "broken.jsonl", [FOUND[0], line])
    said(run("eval", "truth.jsonl", "broken.jsonl"), 3, "broken.jsonl, line 2", *parts)
    said(run("eval", "broken.jsonl", "found.jsonl"), 3, "broken.jsonl, line 2", *parts)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("", ["missing columns a_id, a_start"]),
        ("a_id,a_start,a_end,b_id,b_start\n", ["missing column b_end"]),
        (f"{','.join(PLACES)}\nx,0,9,y,0,9\nx,0,9\n", ["line 3 has 3 cells, but the header has 6"]),
        (f"{','.join(PLACES)}\nx,0,9,y,zero,9\n", ["line 2: b_start is 'zero', not a whole number"]),
    ],
)
def test_csv_that_is_not_right(run: Run, files: Path, content: str, parts: list[str]) -> None:
    (files / "broken.csv").write_text(content, "utf-8")
    said(run("eval", "truth.jsonl", "broken.csv"), 3, "broken.csv", *parts)


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        ([{"a_id": "x"}], ["missing columns a_start"]),
        ([FOUND[0], record("x", 5, 3, "y", 0, 1)], ["row 2: a [5:3]"]),
        ([FOUND[0], record("x", None, 3, "y", 0, 1)], ["row 2: no a_start"]),
        ([record("x", 1.5, 3, "y", 0, 1)], ["column a_start does not contain a whole number"]),
    ],
)
def test_parquet_that_is_not_right(run: Run, files: Path, rows: list[dict[str, Any]], parts: list[str]) -> None:
    pa.parquet.write_table(pa.Table.from_pylist(rows), files / "broken.parquet")
    said(run("eval", "truth.jsonl", "broken.parquet"), 3, "broken.parquet", *parts)


def test_files_that_are_not_right(run: Run, files: Path) -> None:
    said(run("eval", "truth.jsonl"), 2, "RESULT")
    said(run("eval", "absent.jsonl", "found.jsonl"), 3, "absent.jsonl", "Check the spelling")
    said(run("eval", "truth.jsonl", "found.jsonl", "--pairs", "absent.csv"), 3, "absent.csv")
    said(run("eval", "truth.jsonl", "found.jsonl", "--bootstrap", "-1"), 2, "--bootstrap")
    (files / "pairs.csv").write_text("a,b\nx,y\n", "utf-8")
    said(run("eval", "truth.jsonl", "found.jsonl", "--pairs", "pairs.csv"), 3, "pairs.csv: missing columns a_id, b_id")
    (files / "found.txt").write_text("x", "utf-8")
    said(run("eval", "truth.jsonl", "found.txt"), 3, "found.txt", ".parquet, .jsonl or .csv")
    for name in ("damaged.parquet", "damaged.jsonl.gz", "damaged.csv.zst", "damaged.jsonl"):
        (files / name).write_bytes(b"\xff\xfe\x00 no table")
        said(run("eval", "truth.jsonl", name), 3, name, "cannot be read as")
    (files / "out").mkdir()
    said(run("eval", "truth.jsonl", "out"), 3, "out contains no table of passages")
    (files / "out" / "passages.csv").touch()
    (files / "out" / "passages.jsonl").touch()
    said(run("eval", "truth.jsonl", "out"), 3, "more than one table of passages")
    (files / "parts.jsonl").mkdir()
    said(run("eval", "truth.jsonl", "parts.jsonl"), 3, "parts.jsonl contains no part of a table")


def test_every_measure_can_be_chosen() -> None:
    assert tuple(file_scores.MEASURES) == MEASURES


def test_help_names_the_verb_and_loads_nothing_heavy(run: Run) -> None:
    assert "eval" in run("--help").out
    assert "--bootstrap" in run("eval", "--help").out
    code = "import sys, ibidem.cli.eval; sys.exit(str({'numba', 'numpy', 'pyarrow'} & set(sys.modules) or ''))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).stderr.strip() == b""


MEASURED = {
    "pairs": ({"a_id": "x", "b_id": "y"}, {"a_id": "y", "b_id": "x", "similarity": 0.9}, "f1  precision  recall"),
    "sentence-pairs": (
        {"a_id": "x", "a_sentence": 1, "b_id": "y", "b_sentence": 2},
        {"a_id": "x", "a_sentence": 1, "b_id": "y", "b_sentence": 2, "score": 1.0},
        "f1  precision  recall",
    ),
    "clusters": ({"cluster": 1, "id": "x"}, {"cluster": 7, "id": "x", "canonical": True}, "adjusted rand"),
    "sentence-pairs, as hits": (
        record("x", 0, 5, "y", 0, 5, a_sentence=1, b_sentence=2),
        record("x", 0, 5, "y", 0, 5, a_sentence=1, b_sentence=2),
        "f1  precision  recall",
    ),
    "verdicts": ({"id": "x", "duplicated": True}, {"id": "x", "duplicated": True, "n_known": 3}, "accuracy"),
}


@pytest.mark.parametrize("measure", MEASURED)
def test_the_columns_of_the_truth_say_what_is_measured(run: Run, tmp_path: Path, measure: str) -> None:
    truth, found, header = MEASURED[measure]
    write_jsonl(tmp_path / "truth.jsonl", [truth])
    write_jsonl(tmp_path / "found.jsonl", [found])
    answer = run("eval", "truth.jsonl", "found.jsonl")
    assert (answer.code, answer.err) == (0, "")
    assert header in answer.out
    assert json.loads(run("eval", "truth.jsonl", "found.jsonl", "--json").out)["measure"] == measure.split(",")[0]


def test_sentences_of_passages_that_find_found(run: Run, tmp_path: Path) -> None:
    texts = [text(*range(8)), text(*range(8, 16))]
    write_jsonl(tmp_path / "documents.jsonl", documents(texts[0] + " " + texts[1], texts[0]))
    assert run("find", "documents.jsonl", "-o", "out", "-q").code == 0
    length = len(texts[0])
    write_jsonl(tmp_path / "truth.jsonl", [record("d0", 0, length, "d1", 0, length)])
    answer = run("eval", "truth.jsonl", "out", "--measure", "sentences", "--documents", "documents.jsonl", "--json")
    scores = json.loads(answer.out)["all"]
    assert (scores["f1"], scores["n_truth"], scores["n_found"]) == (1, 16, 16)
    assert "needs the documents" in run("eval", "truth.jsonl", "out", "--measure", "sentences").err


def test_clusters_and_verdicts_of_a_folder_that_cluster_wrote(run: Run, tmp_path: Path) -> None:
    whole, other = text(*range(9)), text(*range(9, 18))
    write_jsonl(tmp_path / "documents.jsonl", documents(whole, other, whole))
    assert run("cluster", "documents.jsonl", "-o", "out", "-q").code == 0
    (tmp_path / "clusters.csv").write_text("cluster,id\nA,d0\nA,d2\nB,d1\n", "utf-8")
    assert json.loads(run("eval", "clusters.csv", "out", "--json").out)["all"]["adjusted_rand"] == 1
    (tmp_path / "verdicts.csv").write_text("id,duplicated\nd0,no\nd1,no\nd2,yes\n", "utf-8")
    outcome = json.loads(run("eval", "verdicts.csv", "out", "--json").out)["all"]
    assert (outcome["accuracy"], outcome["n_truth"], outcome["n_found"], outcome["n_units"]) == (1, 1, 1, 3)
    (tmp_path / "pairs.csv").write_text("a_id,b_id\nd2,d0\n", "utf-8")
    assert json.loads(run("eval", "pairs.csv", "out", "--json").out)["all"]["f1"] == 1


@pytest.mark.parametrize(
    ("written", "options", "message"),
    [
        ("id,duplicated\n0,perhaps\n", (), "truth.csv, line 2: duplicated is 'perhaps', not true or false"),
        (
            "cluster,id\nA,0\n",
            ("--pairs", "truth.csv"),
            "--pairs lists pairs of documents, which --measure clusters does not use",
        ),
        ("cluster,id\nA,0\n", ("--measure", "pairs"), "missing columns a_id, b_id"),
        ("a_id,b_id\n0,1\n", ("--documents", "truth.csv"), "--documents works with --measure sentences only"),
        ("id,label\n0,1\n", (), "its columns (id, label) match no known kind of ground truth"),
        ("a_id,a_sentence,b_id,b_sentence\n0,-1,1,2\n", (), "a_sentence is '-1', not a whole number"),
    ],
)
def test_what_cannot_be_measured(run: Run, tmp_path: Path, written: str, options: tuple[str, ...], message: str) -> None:
    (tmp_path / "truth.csv").write_text(written, "utf-8")
    answer = run("eval", "truth.csv", "truth.csv", *options)
    assert answer.code in (2, 3)
    assert message in answer.err


def test_folders_of_parts_as_spark_writes_them(run: Run, tmp_path: Path) -> None:
    for name, clusters in (("truth", "AAB"), ("out", "XYY")):
        folder = tmp_path / name / "clusters.jsonl"
        folder.mkdir(parents=True)
        (folder / "_SUCCESS").touch()
        (folder / "part-00000.json").touch()
        rows = [{"cluster": label, "id": str(k), "canonical": k == 1} for k, label in enumerate(clusters)]
        write_jsonl(folder / "part-00001.json", rows)
    assert json.loads(run("eval", "truth", "out", "--json").out)["all"]["n_found"] == 1
    verdicts = json.loads(run("eval", "truth", "out", "--json", "--measure", "verdicts").out)["all"]
    assert (verdicts["accuracy"], verdicts["n_truth"]) == (1, 2)


def test_nesting_without_end_in_the_truth(run: Run, tmp_path: Path) -> None:
    (tmp_path / "truth.jsonl").write_text("[" * 200_000, "utf-8")
    said(run("eval", "truth.jsonl", "truth.jsonl"), 3, "truth.jsonl, line 1 is not JSON")


def test_parquet_is_judged_as_csv_is(run: Run, tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pa.table({"id": ["a", "b"], "duplicated": [1, 0]}), tmp_path / "numbers.parquet")
    pyarrow.parquet.write_table(pa.table({"id": ["a", "b"], "duplicated": [0.3, 0]}), tmp_path / "shares.parquet")
    columns = {"id": ["a", "b"], "duplicated": ["yes", "no"], "category": ["", None]}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "words.parquet")
    outcome = json.loads(run("eval", "words.parquet", "numbers.parquet", "--json").out)
    assert (outcome["all"]["accuracy"], outcome["categories"]) == (1, {})
    said(run("eval", "words.parquet", "shares.parquet"), 3, "column duplicated does not contain true or false: 0.3 in row 1")


def test_passages_that_hold_no_sentence_are_told_of(run: Run, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "documents.jsonl", [{"id": name, "body": text(1, 2)} for name in "xy"])
    write_jsonl(tmp_path / "truth.jsonl", [record("x", 0, 5, "y", 0, 5)])
    flags = ("--measure", "sentences", "--documents", "documents.jsonl", "--text-field", "body")
    answer = run("eval", "truth.jsonl", "truth.jsonl", *flags)
    assert (answer.code, answer.err.count("passages cover less than half of any sentence")) == (0, 2)
