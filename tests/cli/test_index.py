"""`ibidem index` as a user runs it: exit codes, what is said where, and the shapes of the answers."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import ibidem
from ibidem.cli.options import NO_SEARCH_SETTINGS, flag
from ibidem.config import setting_fields
from ibidem.config.settings import REPORTED_LIMITS
from ibidem.index.commits import WriterLock
from ibidem.model import HITS, PASSAGES
from tests import texts
from tests.cli.test_find import COMMAND, Answer, Run, process, rows, said, write_jsonl
from tests.test_index_alignment import EDITED, TEXT
from tests.texts import documents

pytestmark = pytest.mark.usefixtures("compiled_index")
COMMANDS = ("add", "query", "check", "remove", "compact", "verify", "info")


def text(*numbers: int) -> str:
    """Return invented sentences of eight words: long enough to be found with one of them changed."""
    return texts.text(*numbers, count=8)


def changed(number: int) -> str:
    """Return such a sentence with its last word changed."""
    return texts.changed(number, count=8)


# Three sentences and the words of a fourth that both texts have.
SHARED = f"{text(1, 2, 3)} {text(4).rsplit(' ', 1)[0]}"


@pytest.fixture
def archive(run: Run, tmp_path: Path) -> str:
    """An index of three documents."""
    records = documents(old=text(1, 2, 3, 4, 10), older=text(11, 2, 12), other=text(20, 21, 22))
    name = write_jsonl(tmp_path / "archive.jsonl", records)
    said(run("index", "add", "news.idx", name), 0, "3 documents added, 11 sentences", "news.idx: 3 documents")
    return "news.idx"


@pytest.fixture
def today(tmp_path: Path) -> str:
    """A file of two documents, the first of which shares a passage with the index."""
    records = documents(new=f"{text(30)} {text(1, 2, 3)} {changed(4)}", fresh=text(40, 41))
    return write_jsonl(tmp_path / "today.jsonl", records)


def answers(answer: Answer, code: int = 0) -> list[dict[str, Any]]:
    """Return the JSON lines of an answer that says nothing else."""
    assert (answer.code, answer.err) == (code, "")
    return [json.loads(line) for line in answer.out.splitlines()]


def info(run: Run, folder: str, *arguments: str) -> dict[str, Any]:
    answer = run("index", "info", folder, "--format", "json", *arguments)
    assert (answer.code, answer.err) == (0, "")
    about: dict[str, Any] = json.loads(answer.out)
    return about


# Adding.


def test_adding_says_what_was_added_and_replaced(run: Run, archive: str, tmp_path: Path) -> None:
    name = write_jsonl(tmp_path / "more.jsonl", documents(old=text(50, 51), newest=text(52)))
    said(run("index", "add", archive, name), 4, "1 id is already in the index: 'old'", "--replace")
    assert info(run, archive)["documents"] == 3
    answer = run("index", "add", archive, name, "--replace")
    said(answer, 0, "2 documents added (1 replaced), 3 sentences", f"{archive}: 4 documents, ", "kB")
    assert answers(run("index", "check", archive, name, "--min-hits", "1"))[0]["n_known"] == 0


def test_adding_the_same_text_under_another_id_is_said(run: Run, tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"a{number}.txt").write_text(text(number, 20), "utf-8")
        (tmp_path / f"b{number}.txt").write_text(text(number, 20), "utf-8")
    assert "same text" not in run("index", "add", "i.idx", "a*.txt").err
    told = "the same text as another document in the index:\n"
    said(run("index", "add", "i.idx", "b0.txt"), 0, f"1 document has {told}  b0.txt = a0.txt\ni.idx: 6 documents")
    answer = run("index", "add", "i.idx", "b[1234].txt")
    said(answer, 0, f"4 documents have {told}  b1.txt = a1.txt\n", "  and 1 more\n")
    assert all(len(line) <= 80 for line in answer.err.splitlines())


def test_times_that_cannot_be_parsed_are_shown(run: Run, tmp_path: Path) -> None:
    records = [{"id": "a", "text": text(1, 2), "time": "32.13.2020"}, {"id": "b", "text": text(3), "time": "soon"}]
    write_jsonl(tmp_path / "t.jsonl", records)
    told = "2 timestamps could not be parsed and were ignored, such as '32.13.2020' in t.jsonl:1; accepted: 2031-09-13T04"
    said(run("index", "add", "i.idx", "t.jsonl"), 0, told)
    answer = run("index", "query", "i.idx", "t.jsonl")
    assert answer.code == 0
    assert told in answer.err
    assert told not in run("index", "query", "i.idx", "t.jsonl", "-q").err
    with ibidem.Index(tmp_path / "i.idx") as index:
        index.add(documents(c=text(4)))
        assert index.notices == []
        index.add([{"id": "d", "text": text(5), "time": "soon"}])
        assert index.notices[0].startswith("1 timestamp could not be parsed and was ignored, such as 'soon'")


@pytest.mark.parametrize("verb", ["add", "query", "check"])
def test_inputs_without_documents_are_named(run: Run, archive: str, tmp_path: Path, verb: str) -> None:
    write_jsonl(tmp_path / "odd.jsonl", [{"id": "a", "body": text(1)}])
    said(run("index", verb, archive, "odd.jsonl"), 3, ": odd.jsonl\n", "its fields are id, body")


def test_adding_quietly(run: Run, today: str) -> None:
    assert run("index", "add", "new.idx", today, "-q") == (0, "", "")


def test_skipped_records_are_counted_and_listed_if_asked(run: Run, tmp_path: Path) -> None:
    broken = ['{"id": "broken', {"id": "x"}, {"id": "y", "text": ""}, *documents(a=text(1, 2))]
    name = write_jsonl(tmp_path / "broken.jsonl", broken)
    said(run("index", "add", "i1", name), 0, "1 document added", "3 records skipped:", "broken.jsonl:1", "--skipped FILE")
    said(run("index", "add", "i2", name, "--skipped", "left.jsonl"), 0, "3 records skipped (listed in left.jsonl)")
    assert [(record["position"], record["id"]) for record in rows(tmp_path / "left.jsonl")] == [(1, None), (2, "x"), (3, "y")]
    said(run("index", "add", "i3", name, "--skipped", "left.jsonl"), 2, "the file already exists")
    said(run("index", "add", "i3", name, "--skipped", "absent/left.jsonl"), 2, "there is no folder absent")
    said(run("index", "add", "i3", name, "--strict"), 3, "broken.jsonl:1", "--strict")


def test_inputs_that_are_not_right_make_no_index(run: Run, tmp_path: Path) -> None:
    said(run("index", "add", "new.idx", "absent.jsonl"), 3, "absent.jsonl", "Check the spelling")
    said(run("index", "add", "new.idx"), 2, "INPUT")
    said(run("index", "add", "new.idx", "-", "-"), 2, "only once")
    assert not (tmp_path / "new.idx").exists()
    write_jsonl(tmp_path / "other.jsonl", [{"id": 1, "body": text(1)}])
    said(run("index", "add", "new.idx", "other.jsonl"), 3, "no documents", "--text-field")
    said(run("index", "add", "new.idx", "other.jsonl", "--text-field", "body"), 0, "1 document added")
    write_jsonl(tmp_path / "twice.jsonl", [*documents(same=text(1)), *documents(same=text(2))])
    said(run("index", "add", "new.idx", "twice.jsonl"), 4, "twice in the input: 'same'")


def test_a_folder_that_is_no_index_is_left_alone(run: Run, today: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    said(run("index", "add", "mine", today), 4, "mine is not empty and contains no index")
    said(run("index", "add", today, today), 4, "not a folder")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_settings_are_fixed_when_the_index_is_made(run: Run, today: str, tmp_path: Path) -> None:
    said(run("index", "add", "x.idx", today, "--signature", "exact", "--min-similarity", "0.9", "--lang", "de"), 0)
    assert {"signature": "exact", "min_similarity": 0.9, "lang": "de"}.items() <= info(run, "x.idx")["settings"].items()
    name = write_jsonl(tmp_path / "more.jsonl", documents(more=text(60)))
    said(run("index", "add", "x.idx", name, "--signature", "words"), 4, "signature is exact in the index, not words")
    (tmp_path / "run.toml").write_text('[signatures]\nsignature = "auto"\n[matches]\nmin_similarity = 0.9\n')
    said(run("index", "add", "x.idx", name, "--config", "run.toml"), 0, "1 document added")
    (tmp_path / "run.toml").write_text("[matches]\nmin_similarity = 0.7\n")
    said(run("index", "query", "x.idx", name, "--config", "run.toml"), 4, "--min-similarity is 0.9 in the index, not 0.7")
    said(run("index", "add", "y.idx", name, "--signature", "letters"), 2, "--signature must be one of", "imatch")
    few = "imatch depends on word counts, which were taken from 1 document and stay"
    said(run("index", "add", "i.idx", name, "--signature", "imatch", "--engine", "exact"), 0, few)
    about = info(run, "i.idx")
    assert (about["engine"], about["settings"]["min_idf"], about["word_counts"]["fixed"]) == ("exact", 0.1, True)
    said(run("index", "add", "y.idx", name, "--signature-bits", "4"), 2, "--signature-bits must be between 8 and 512, not 4")
    assert not (tmp_path / "y.idx").exists()


# Asking.


def test_a_query_answers_in_json_lines(run: Run, archive: str, today: str) -> None:
    new, fresh = answers(run("index", "query", archive, today))
    assert fresh == {"id": "fresh", "n_sentences": 2, "hits": [], "passages": []}
    assert (new["id"], new["n_sentences"]) == ("new", 5)
    assert [set(hit) | {"a_id"} for hit in new["hits"]] == [{*HITS.names, "a_text", "b_text"}] * len(new["hits"])
    places = {(hit["a_sentence"], hit["b_id"], hit["b_sentence"]) for hit in new["hits"]}
    assert places == {(1, "old", 0), (2, "old", 1), (2, "older", 1), (3, "old", 2), (4, "old", 3)}
    (passage,) = new["passages"]
    start = len(text(30)) + 1
    assert passage == {
        "a_start": start, "a_end": start + len(SHARED), "b_id": "old", "b_start": 0, "b_end": len(SHARED),
        "n_sentences": 3, "similarity": 1.0, "kind": "exact", "direction": "unknown",
        "a_sentence": 1, "b_sentence": 0, "a_text": SHARED, "b_text": SHARED,
    }  # fmt: skip
    (plain, _) = answers(run("index", "query", archive, today, "--no-keep-text"))
    assert [set(hit) | {"a_id"} for hit in plain["hits"]] == [set(HITS.names)] * len(new["hits"])
    assert plain["passages"] == [{name: value for name, value in passage.items() if not name.endswith("_text")}]


def test_texts_are_shown_where_they_differ_and_edited_copies_are_found(run: Run, tmp_path: Path) -> None:
    Path("source.jsonl").write_text(json.dumps({"id": "source", "text": TEXT}) + "\n")
    Path("copy.txt").write_text(EDITED)
    said(run("index", "add", "texts.idx", "source.jsonl"), 0)
    plain, aligned = (run("index", "query", "texts.idx", "copy.txt", "--format", "text", *more) for more in ([], ["--align"]))
    assert "    source: Two ferries stayed in port over night, and nobody was hurt.\n" in plain.out
    assert "3 sentences, near" in aligned.out
    (verdict,) = answers(run("index", "check", "texts.idx", "copy.txt", "--align"))
    assert verdict["covered_share"] > 0.7
    assert "first boats could leave" in verdict["passages"][0]["b_text"]
    checked = run("index", "check", "texts.idx", "copy.txt", "--align", "--format", "text")
    assert "aligned word by word, 91 % of the text is in 1 passage:\n" in checked.out
    Path("copies.jsonl").write_text("".join(json.dumps({"id": name, "text": EDITED}) + "\n" for name in "abc"))
    several = answers(run("index", "check", "texts.idx", "copies.jsonl", "--align"))
    assert [len(verdict["passages"]) for verdict in several] == [1, 1, 1]
    assert (
        run("index", "check", "texts.idx", "copies.jsonl", "--align", "--format", "text").out.count("aligned word by word") == 3
    )
    said(run("index", "query", "texts.idx", "copy.txt", "-o", "out", "--keep-text", "--format", "jsonl"), 0)
    (row,) = map(json.loads, Path("out/passages.jsonl").read_text().splitlines())
    assert row["b_text"] == "Two ferries stayed in port over night, and nobody was hurt."
    assert "b_text" in Path("out/hits.jsonl").read_text()


def test_an_index_without_texts_is_smaller_and_cannot_align(run: Run, archive: str, today: str) -> None:
    said(run("index", "add", "bare.idx", "archive.jsonl", "--no-texts"), 0)
    assert info(run, "bare.idx")["text_bytes"] == 0 < info(run, archive)["text_bytes"]
    assert info(run, "bare.idx")["bytes"] < info(run, archive)["bytes"]
    said(run("index", "query", "bare.idx", today, "--align"), 4, "alignment needs the texts of documents")
    (new, _) = answers(run("index", "query", "bare.idx", today))
    assert "b_text" not in new["passages"][0]
    said(run("index", "add", "bare.idx", today, "--texts"), 4, "--texts is off in the index, not on")


def test_a_query_does_not_change_the_index_or_find_the_document_itself(run: Run, archive: str, tmp_path: Path) -> None:
    before = info(run, archive)
    old, _, other = answers(run("index", "query", archive, "archive.jsonl"))
    assert {hit["b_id"] for hit in old["hits"]} == {"older"}
    assert other["hits"] == []
    assert info(run, archive) == before


def test_a_query_for_people(run: Run, archive: str, today: str) -> None:
    answer = run("index", "query", archive, today, "--format", "text")
    start = len(text(30)) + 1
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "new: 4 of 5 sentences (80 %) also appear in the index, in 1 passage",
        f"  [{start}:{start + len(SHARED)}] · old [0:{len(SHARED)}]  3 sentences, exact",
        f"    {SHARED[:95]}…",
        "  mostly from: old (4 sentences), older (1 sentence)",
        "fresh: none of its 2 sentences appear in the index",
    ]


@pytest.mark.parametrize("table_format", ["parquet", "jsonl", "csv"])
def test_a_query_writes_its_tables(run: Run, archive: str, today: str, tmp_path: Path, table_format: str) -> None:
    answer = run("index", "query", archive, today, "-o", "out", "--format", table_format)
    said(answer, 0, "2 documents, 7 sentences", "5 hits, 1 passage", "1 of 2 documents", "results: out")
    names = {f"hits.{table_format}", f"passages.{table_format}", "run.json", "skipped.jsonl"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    for name, schema, n_rows in (("hits", HITS, 5), ("passages", PASSAGES, 1)):
        path = tmp_path / "out" / f"{name}.{table_format}"
        if table_format == "parquet":
            table = pq.read_table(path).to_pylist()
        else:
            table = rows(path) if table_format == "jsonl" else list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))
        assert [list(row) for row in table] == [schema.names] * n_rows
    report = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    told = {"version", "finished", "settings", "folder", "inputs", "counts", "timings_seconds", "peak_memory_bytes"}
    assert set(report) == told
    assert report["counts"] == {"documents": 2, "sentences": 7, "hits": 5, "passages": 1, "skipped": 0}
    assert report["inputs"][0]["path"] == today
    said(run("index", "query", archive, today, "-o", "out"), 2, "out already contains results", "--overwrite")
    assert run("index", "query", archive, today, "-o", "out", "--overwrite", "-q") == (0, "", "")
    assert (tmp_path / "out" / "hits.parquet").exists()


def test_formats_that_do_not_go_together(run: Run, archive: str, today: str) -> None:
    said(run("index", "query", archive, today, "--format", "csv"), 2, "--format csv needs an output folder: -o OUT")
    said(run("index", "query", archive, today, "--format", "text", "-o", "out"), 2, "--format text cannot be combined with -o")


def test_settings_of_a_search(run: Run, archive: str, today: str) -> None:
    strict = answers(run("index", "query", archive, today, "--min-score", "1"))[0]
    assert max(hit["a_sentence"] for hit in strict["hits"]) == 3
    found = {}
    for engine in ("overlap", "fingerprint", "bits", "inverted", "scan"):
        found[engine] = answers(run("index", "query", archive, today, "--engine", engine, "--radius", "30"))
    assert found["overlap"] == found["inverted"] == found["scan"]
    assert len(found["fingerprint"][0]["hits"]) == 4
    assert answers(run("index", "query", archive, today, "--search-engine", "scan")) == found["scan"]
    few = answers(run("index", "query", archive, today, "--min-sentences", "9", "--min-quote-words", "0"))
    assert few[0]["passages"] == []
    said(run("index", "query", archive, today, "--engine", "magic"), 2, "magic", "fingerprint")
    said(run("index", "query", archive, today, "--min-score", "2"), 2, "--min-score must be between 0 and 1, not 2")


def test_a_verdict_in_json(run: Run, archive: str, today: str) -> None:
    new, fresh = answers(run("index", "check", archive, today))
    hits = new.pop("hits")
    assert new == {
        "id": "new", "duplicated": True, "n_sentences": 5, "n_known": 4, "n_common": 0,
        "sources": [{"id": "old", "n_sentences": 4}, {"id": "older", "n_sentences": 1}],
    }  # fmt: skip
    assert [set(hit) | {"a_id"} for hit in hits] == [{*HITS.names, "a_text", "b_text"}] * 5
    assert (fresh["id"], fresh["duplicated"], fresh["n_known"], fresh["sources"], fresh["hits"]) == ("fresh", False, 0, [], [])


def test_what_makes_a_duplicate(run: Run, archive: str, today: str, tmp_path: Path) -> None:
    def duplicated(*arguments: str) -> bool:
        return bool(answers(run("index", "check", archive, today, *arguments))[0]["duplicated"])

    assert [duplicated("--min-hits", n) for n in ("4", "5")] == [True, False]
    assert [duplicated("--min-hits", n, "--paper") for n in ("3", "4")] == [True, False]
    name = write_jsonl(tmp_path / "more.jsonl", documents(*(text(1, 70 + n) for n in range(3))))
    said(run("index", "add", archive, name), 0)
    (new, _) = answers(run("index", "check", archive, today, "--max-places", "2"))
    assert (new["n_known"], new["n_common"]) == (3, 1)
    assert run("index", "check", archive, today, "--format", "text", "--max-places", "2").out.splitlines()[:3] == [
        "new: 3 of 5 sentences (60 %) also appear in the index",
        "  reaches --min-hits 3",
        "  not counting 1 sentence found in more than 2 documents",
    ]


def test_a_verdict_for_people(run: Run, archive: str, today: str, tmp_path: Path) -> None:
    lines = run("index", "check", archive, today, "--format", "text").out.splitlines()
    first = text(1)
    assert lines[:5] == [
        "new: 4 of 5 sentences (80 %) also appear in the index",
        "  reaches --min-hits 3",
        "  mostly from: old (4 sentences), older (1 sentence)",
        f"  [{len(text(30)) + 1}:{len(text(30, 1))}] {first}",
        f"    old:0-{len(first)}",
    ]
    assert ", older:" in lines[6]
    assert lines[-1] == "fresh: none of its 2 sentences appear in the index"
    name = write_jsonl(tmp_path / "long.jsonl", documents(long=text(1, 2, 3, 4, 10, 11, 12)))
    short, full = (run("index", "check", archive, name, "--format", "text", *all_) for all_ in ((), ("--all",)))
    assert short.out.splitlines()[-1] == "  and 2 more known sentences; --all lists them"
    assert len(full.out.splitlines()) == 3 + 2 * 7
    assert full.out.startswith("long: duplicate: 7 of 7 sentences (100 %) also appear in the index\n  reaches --min-hits 3\n")
    paper = run("index", "check", archive, name, "--format", "text", "--paper").out
    assert "\n  above --min-hits 3 (the paper's rule)\n" in paper


def test_the_exit_code_tells_of_duplicates_if_asked(run: Run, archive: str, today: str, tmp_path: Path) -> None:
    assert run("index", "check", archive, today).code == 0
    answers(run("index", "check", archive, today, "--exit-code"), 1)
    name = write_jsonl(tmp_path / "fresh.jsonl", documents(fresh=text(40)))
    answers(run("index", "check", archive, name, "--exit-code"))


def test_records_that_cannot_be_looked_up(run: Run, archive: str, tmp_path: Path) -> None:
    name = write_jsonl(tmp_path / "broken.jsonl", ["{", *documents(new=text(1))])
    for arguments in (("query",), ("check",), ("query", "--format", "text"), ("check", "--format", "text")):
        command, *rest = arguments
        answer = run("index", command, archive, name, *rest)
        assert answer.code == 0
        assert "1 record skipped" in answer.err
        assert "broken.jsonl:1" in answer.err
        said(run("index", command, archive, name, *rest, "--strict"), 3, "broken.jsonl:1")
        write_jsonl(tmp_path / "empty.jsonl", [{"id": "x"}])
        said(run("index", command, archive, "empty.jsonl", *rest), 3, "no documents", "--text-field")


def test_html_is_cleaned_once_whatever_the_format(run: Run, archive: str, tmp_path: Path) -> None:
    name = write_jsonl(tmp_path / "page.jsonl", documents(page=f"<p>{text(1, 2)} a &lt; b {text(3)}</p>"))
    lines = run("index", "check", archive, name, "--html", "--format", "text").out.splitlines()
    (verdict,) = answers(run("index", "check", archive, name, "--html"))
    assert lines[0] == f"page: duplicate: {verdict['n_sentences']} of 3 sentences (100 %) also appear in the index"
    assert verdict["n_known"] == 3
    assert any(line.startswith("  [0:") and text(1)[:40] in line for line in lines)


# Removing, compacting, verifying.


def test_removing(run: Run, archive: str, tmp_path: Path) -> None:
    answer = run("index", "remove", archive, "old", "nobody", "old")
    said(answer, 4, "1 of 2 ids is not in the index: nobody\n1 other document was removed.")
    assert info(run, archive)["documents"] == 2
    said(
        run("index", "remove", archive, "other", "nobody", "--strict"),
        4,
        "1 of 2 ids is not in the index: nobody",
        "Nothing was",
    )
    said(run("index", "remove", archive, "nobody", "none"), 4, "ibidem: not in the index: nobody, none\nNothing was removed.")
    assert info(run, archive)["documents"] == 2
    (tmp_path / "ids.txt").write_text("other\r\n\nolder\n")
    assert run("index", "remove", archive, "--from", "ids.txt", "-q") == (0, "", "")
    assert info(run, archive)["documents"] == 0
    said(run("index", "remove", archive), 2, "--from")
    said(run("index", "remove", archive, "--from", "absent.txt"), 2, "absent.txt")
    (tmp_path / "ids.txt").write_bytes(b"\xff\n")
    said(run("index", "remove", archive, "--from", "ids.txt"), 3, "ids.txt is not UTF-8")


def test_compacting(run: Run, archive: str, today: str) -> None:
    said(run("index", "add", archive, today), 0)
    said(run("index", "remove", archive, "other"), 0)
    said(run("index", "compact", archive, "--memory", "500MB"), 0, "segment", " → 1 segment", "kB")
    about = info(run, archive)
    assert (about["segments"], about["removed_documents"], about["documents"]) == (1, 0, 4)
    version = about["word_counts"]["version"]
    assert run("index", "compact", archive, "--recount", "-q") == (0, "", "")
    assert info(run, archive)["word_counts"]["version"] == version + 1
    said(run("index", "compact", archive, "--memory", "much"), 2, "--memory must be", "not 'much'")


def test_verifying(run: Run, archive: str, tmp_path: Path) -> None:
    answer = run("index", "verify", archive)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("no damage: 3 documents, 1 segment, ")
    assert run("index", "verify", archive, "-q") == (0, "", "")
    (path,) = (tmp_path / archive).glob("segment-*")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    said(run("index", "verify", archive), 4, path.name, "news.idx is damaged: 1 problem", "backup")
    said(run("index", "query", archive, "archive.jsonl"), 4, path.name)


def test_info_for_people(run: Run, archive: str) -> None:
    answer = run("index", "info", archive)
    assert (answer.code, answer.err) == (0, "")
    table = {line[:22].strip(): line[22:] for line in answer.out.splitlines()}
    assert table["documents"] == "3"
    assert table["sentences"] == "11, 10 types"
    assert table["signature"] == "64 bits, 3 per word"
    assert table["min_similarity"] == "0.8"
    assert "predicted" in table["recall"]


def test_info_tells_what_other_bits_would_find(run: Run, archive: str) -> None:
    usual = info(run, archive)["bits"]
    other = info(run, archive, "--signature-bits", "32", "--words-flexible", "1", "--radius", "12")["bits"]
    assert (usual["signature_bits"], other["signature_bits"], other["radius"], other["words_flexible"]) == (64, 32, 12, 1)
    assert other["predicted_recall"] > usual["predicted_recall"]
    assert info(run, archive)["bits"] == usual
    said(run("index", "info", archive, "--bits-per-word", "65"), 2, "--bits-per-word")
    answer = run("index", "info", archive, "--signature-bits", "8", "--bits-per-word", "8", "--max-false-positive", "0")
    assert "no radius satisfies the limit" in answer.out


# Indexes that cannot be used.


@pytest.mark.parametrize(
    "arguments", [["query", "no.idx", "f"], ["check", "no.idx", "f"], ["remove", "no.idx", "x"], ["compact", "no.idx"],
                  ["verify", "no.idx"], ["info", "no.idx"]],
)  # fmt: skip
def test_a_missing_index_is_named_and_not_made(run: Run, tmp_path: Path, arguments: list[str]) -> None:
    write_jsonl(tmp_path / "f", documents(text(1)))
    said(run("index", *arguments), 4, "there is no index in no.idx", "create the index with `ibidem index add`")
    assert not (tmp_path / "no.idx").exists()


def test_one_writer_at_a_time(run: Run, archive: str, today: str, tmp_path: Path) -> None:
    with WriterLock(tmp_path / archive):
        for arguments in (["add", archive, today], ["remove", archive, "old"], ["remove", archive, "no"], ["compact", archive]):
            said(run("index", *arguments), 4, f"(pid {os.getpid()}) has been writing to the index in {archive}", "Wait until")
        assert len(answers(run("index", "check", archive, today))) == 2
        assert run("index", "verify", archive).code == 0


def test_the_first_run_says_that_it_compiles(run: Run, archive: str, today: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ibidem.execution.warmup._is_compiled", lambda part: False)
    for arguments in (["check", archive, today], ["query", archive, today], ["compact", archive], ["add", archive, today]):
        said = run("index", *arguments).err
        assert "ibidem: compiling code this run needs: about" in said
    assert run("index", "check", archive, today, "-q").err == ""


# Help.


def test_the_help_of_the_group_lists_the_commands_in_order(run: Run) -> None:
    answer = run("index", "--help")
    assert (answer.code, answer.err) == (0, "")
    listing = answer.out.split("Commands:")[1].split("Examples:")[0]
    assert tuple(line.split()[0] for line in listing.splitlines() if line.strip()) == COMMANDS
    assert "..." not in listing
    said(run("index", "finde"), 2, "finde")


@pytest.mark.parametrize(
    ("command", "stages", "without"),
    [
        ("add", ("documents", "sentences"), ()),
        (
            "query", ("documents", "passages", "index"),
            ("same_document", "families", "runs", "min_run_words", "min_hits", *REPORTED_LIMITS, *NO_SEARCH_SETTINGS),
        ),
        ("check", ("documents", "index"), NO_SEARCH_SETTINGS),
    ],
)  # fmt: skip
def test_the_help_lists_the_settings(run: Run, command: str, stages: tuple[str, ...], without: tuple[str, ...]) -> None:
    flat = run("index", command, "--help-all").out.replace("/", " ").replace(",", " ").replace("\n", " ")
    for stage, setting in setting_fields():
        assert (f"{flag(setting.name)} " in flat) or stage not in stages or setting.name in without, setting.name
        assert f"{flag(setting.name)} " not in flat or setting.name not in without, setting.name


def test_help_loads_no_kernels() -> None:
    code = (
        "import sys\nfrom ibidem.cli.main import main\n"
        f"for arguments in [['watch'], ['index'], *(['index', name] for name in {COMMANDS})]:\n"
        "    sys.argv = ['ibidem', *arguments, '--help']\n    try:\n        main()\n    except SystemExit:\n        pass\n"
        "print(sorted({'numba', 'numpy', 'pyarrow', 'rich'} & set(sys.modules)), file=sys.stderr)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stderr.strip() == "[]"
    assert answer.stdout.count("Usage:") == 9


# As a process of its own.


def test_standard_input(archive: str, today: str, tmp_path: Path) -> None:
    lines = (tmp_path / today).read_text("utf-8")
    done = process("index", "check", archive, "-", cwd=tmp_path, input=lines)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["new", "fresh"]
    done = process("index", "remove", archive, "--from", "-", cwd=tmp_path, input="old\nother\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "2 documents removed\n")


def test_on_a_terminal_the_answer_is_for_people(archive: str, today: str, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen([*COMMAND, "index", "check", archive, today], cwd=tmp_path, stdout=theirs) as started:
        os.close(theirs)
        shown = b""
        while True:
            try:
                block = os.read(ours, 1 << 16)
            except OSError:  # the other side has gone
                break
            if not block:
                break
            shown += block
        assert started.wait(60) == 0
    os.close(ours)
    assert shown.startswith(b"new: 4 of 5 sentences (80 %) also appear in the index\r\n")


def test_bits_of_a_vocabulary_and_of_no_radius(run: Run, today: str, tmp_path: Path) -> None:
    said(run("index", "add", "b.idx", today, "--bits-per-word", "auto", "--signature-bits", "40", "--engine", "bits"), 0)
    about = info(run, "b.idx")
    assert 40 < about["bits"]["vocabulary"] < 100
    assert (about["engine"], about["settings"]["bits_per_word"]) == ("bits", 2)
    longest = about["bits"]["longest_sentence"]
    told = f"for sentences of more than {longest} words no radius keeps false positives at 0.1"
    assert f"none for sentences of more than {longest} words, where it is 0" in run("index", "info", "b.idx").out
    (tmp_path / "long.txt").write_text(" ".join(f"word{n}" for n in range(longest + 1)) + ".")
    for verb in ("query", "check"):
        assert told in run("index", verb, "b.idx", "long.txt").err
        assert told not in run("index", verb, "b.idx", "long.txt", "--radius", "3").err
        assert run("index", verb, "b.idx", "long.txt", "-q").err == ""
    (tmp_path / "many.txt").write_text(" ".join(f"word{n}" for n in range(71)) + ".")
    auto = ("--bits-per-word", "auto", "--signature-bits")
    said(
        run("index", "add", "c.idx", "many.txt", *auto, "8"),
        2,
        "the documents have 71 words; set --signature-bits to 9 or more",
    )
    said(run("index", "add", "c.idx", today, "--bits-per-word", "some"), 2, "--bits-per-word")


def test_a_trec_run_ranks_the_documents_of_the_index(run: Run, compiled_index: None, tmp_path: Path) -> None:
    known = documents(**{"all of it": text(1, 2, 3, 4), "half%": text(3, 4, 90), "none": text(80, 81, 82)})
    write_jsonl(tmp_path / "known.jsonl", known)
    said(run("index", "add", "trec.idx", "known.jsonl"), 0)
    queries = {"q\u00a01": text(1, 2, 3, 4), "q2": text(3, 4), "q3": text(70, 71, 72)}
    write_jsonl(tmp_path / "queries.jsonl", documents(**queries))
    answer = run("index", "query", "trec.idx", "queries.jsonl", "--format", "trec", "-q")
    assert answer.code == 0
    lines = [line.split() for line in answer.out.splitlines()]
    assert [(query, document, int(rank)) for query, _, document, rank, _, _ in lines] == [
        ("q%C2%A01", "all%20of%20it", 1), ("q%C2%A01", "half%25", 2), ("q2", "all%20of%20it", 1), ("q2", "half%25", 2),
    ]  # fmt: skip
    assert {(zero, tag) for _, zero, _, _, _, tag in lines} == {("Q0", "ibidem")}
    texts = list(queries.values())
    n_blanks = 3  # between sentences that all match, only passages count them
    assert int(lines[0][4]) == len(texts[0])
    assert len(texts[1]) - n_blanks <= int(lines[1][4]) <= len(texts[1])
    said(run("index", "query", "trec.idx", "queries.jsonl", "--format", "trec", "-o", "out"), 2, "--format trec cannot be")
