"""`ibidem words` as a user runs it: the files it writes, and the runs that use them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.test_find import Run, said, write_jsonl
from tests.texts import documents, text

RECORDS = documents(*(text(n, n + 1) + " The mayor of the harbour." for n in range(12)))


@pytest.fixture
def few(tmp_path: Path) -> str:
    return write_jsonl(tmp_path / "few.jsonl", RECORDS)


def counted() -> tuple[Counter[str], Counter[str]]:
    """Return the documents and the occurrences of each word."""
    texts = [record["text"].lower().replace(".", " ").split() for record in RECORDS]
    return Counter(word for words in texts for word in set(words)), Counter(word for words in texts for word in words)


def test_the_table_counts_documents_and_occurrences(run: Run, few: str, tmp_path: Path) -> None:
    in_documents, in_all = counted()
    answer = run("words", few, "-o", "words.tsv")
    assert (answer.code, answer.out) == (0, "")
    assert answer.err == f"{len(in_all):,} words of 12 documents: words.tsv\n"
    header, total, *rows = (line.split("\t") for line in (tmp_path / "words.tsv").read_text().splitlines())
    assert (header, total) == (["word", "documents", "occurrences"], ["*", "12", str(sum(in_all.values()))])
    order = sorted(in_all, key=lambda word: (-in_all[word], -in_documents[word], word))
    assert rows == [[word, str(in_documents[word]), str(in_all[word])] for word in order]
    run("words", few, "-o", "words.csv", "--min-documents", "2", "-q")
    assert (tmp_path / "words.csv").read_text().splitlines()[2] == "the,12,24"
    run("words", few, "-o", "words.parquet", "--max-words", "3", "-q")
    assert pq.read_table(tmp_path / "words.parquet")["word"].to_pylist() == ["*", *order[:3]]
    run("words", few, "-o", "stop.txt", "--max-words", "4", "-q")
    assert (tmp_path / "stop.txt").read_text().split() == order[:4]


def test_other_runs_use_the_file(run: Run, few: str, tmp_path: Path) -> None:
    run("words", few, "-o", "words.tsv", "-q")
    run("words", few, "-o", "stop.txt", "--max-words", "2", "-q")
    chosen = ("--signature", "imatch", "--format", "jsonl", "-q")
    assert run("find", few, "-o", "own", *chosen).code == 0
    assert run("find", few, "-o", "given", *chosen, "--word-counts", "words.tsv").code == 0
    assert (tmp_path / "own" / "passages.jsonl").read_text() == (tmp_path / "given" / "passages.jsonl").read_text()
    assert run("find", few, "-o", "parts", *chosen, "--word-counts", "words.tsv", "--partitions", "3").code == 0
    assert (tmp_path / "own" / "passages.jsonl").read_text() == (tmp_path / "parts" / "passages.jsonl").read_text()
    assert json.loads((tmp_path / "given" / "run.json").read_text())["words"]["word_counts"]["documents"] == 12
    stopped = run("cluster", few, "-o", "clusters", "--method", "spotsigs", "--stop-words", "stop.txt", "-q")
    assert stopped.code == 0
    assert json.loads((tmp_path / "clusters" / "run.json").read_text())["words"]["stop_words"]["words"] == 2


def test_what_is_wrong_is_said_before_the_work(run: Run, few: str, tmp_path: Path) -> None:
    said(run("words", few, "-o", "words.json"), 2, "the name must end in .tsv, .csv, .parquet or .txt")
    said(run("words", few, "-o", "nowhere/words.tsv"), 2, "there is no folder nowhere")
    (tmp_path / "there.tsv").write_text("precious")
    said(run("words", few, "-o", "there.tsv"), 2, "the file exists; --overwrite replaces it")
    assert (tmp_path / "there.tsv").read_text() == "precious"
    assert run("words", few, "-o", "there.tsv", "--overwrite", "-q").code == 0
    said(run("words", few, "-o", "w.tsv", "--min-documents", "0"), 2, "--min-documents must be at least 1, not 0")
    said(run("words", few, "-o", "w.tsv", "--max-words", "-1"), 2, "--max-words must be at least 0, not -1")
    (tmp_path / "empty.jsonl").write_text("")
    said(run("words", "empty.jsonl", "-o", "w.tsv"), 3, "no documents")
    assert not (tmp_path / "w.tsv").exists()
    (tmp_path / "bad.tsv").write_text("*\t9\nthe\tmany\n")
    wrong = run("find", few, "-o", "out", "--signature", "imatch", "--word-counts", "bad.tsv")
    said(wrong, 3, "bad.tsv, line 2: documents must be a whole number, not 'many'")
    assert not (tmp_path / "out" / "run.json").exists()


def test_skipped_records_are_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text(json.dumps({"id": "a", "text": text(1)}) + "\n{nothing\n")
    said(run("words", "broken.jsonl", "-o", "w.tsv"), 0, "1 record skipped")
