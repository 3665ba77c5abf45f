"""Collections of unusual shapes: one very long text, very many tiny ones, texts without words, partitions of any number."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.execution.progress import Progress
from tests.cli.test_find import process, rows, write_jsonl
from tests.execution.disk.sameness import (
    check_same_cluster,
    check_same_dedup,
    check_same_find,
    check_same_run,
    check_same_table,
    plain,
    write_lines,
    written,
)
from tests.execution.random_collections import random_records
from tests.test_dedup import OURS
from tests.texts import text, word


def check_same_tables(verb: Any, names: tuple[str, ...], inputs: Any, way: dict[str, Any], **call: Any) -> Any:
    """Check tables and counts only: for collections that are too large for everything."""
    call = {"hash_seed": 1, **call}
    whole = verb(inputs, **call)
    with verb(inputs, **way, **call) as stored:
        for name in names:
            check_same_table(getattr(stored, name), getattr(whole, name))
        check_same_run(stored, whole)
        return whole, dict(stored.resources)


def long_text(n_sentences: int) -> str:
    chance = random.Random(5)
    sentences = (" ".join(word(chance.randrange(20_000)) for _ in range(8)).capitalize() for _ in range(n_sentences))
    return ". ".join(sentences) + "."


def test_one_long_text_among_small_ones(tmp_path: Path) -> None:
    novel = long_text(70_000)
    assert len(novel) > 5_000_000
    sentences = novel.split(". ")
    quotes = [". ".join(sentences[n : n + 4]) + "." for n in range(0, 60_000, 4_000)]
    records = [{"id": f"q{n}", "text": f"{text(n)} {quote} {text(50 + n)}"} for n, quote in enumerate(quotes)]
    records.insert(7, {"id": "novel", "text": novel})
    path = str(write_lines(tmp_path / "novel.jsonl", records))
    way = {"memory": "20MB", "workers": 2}
    found, used = check_same_tables(ibidem.find, ("passages", "documents", "repeats"), path, way, signature="exact")
    assert len(found) == len(quotes)
    assert used["partitions"] > 1
    with ibidem.find(path, partitions=6, signature="exact") as stored:
        assert stored.longest(2) == found.longest(2)
    check_same_tables(ibidem.cluster, ("duplicates", "clusters"), path, {"partitions": 6})
    check_same_tables(ibidem.dedup, ("removed",), path, {"partitions": 6}, level="sentence")


def test_very_many_tiny_texts(tmp_path: Path) -> None:
    chance = random.Random(6)
    texts = [f"{word(chance.randrange(20_000))} {word(chance.randrange(20_000))} {word(n % 20)}." for n in range(30_000)]
    records = [{"id": f"{n}", "text": chance.choice(texts)} for n in range(50_000)]
    path = str(write_lines(tmp_path / "tiny.jsonl", records))
    way = {"memory": "4MB", "workers": 2}
    call: dict[str, Any] = {"min_sentences": 1, "min_quote_words": 3, "max_places": 5, "signature": "exact"}
    found, used = check_same_tables(ibidem.find, ("passages", "documents", "repeats"), path, way, **call)
    assert len(found) > 1000
    assert found.repeats.num_rows > 10
    assert used["partitions"] > 2
    found, _ = check_same_tables(ibidem.cluster, ("duplicates", "clusters"), path, way, shingle_size=2)
    assert len(found) > 1000
    found, _ = check_same_tables(ibidem.dedup, ("removed",), path, way, shingle_size=2)
    assert len(found) > 1000


def test_texts_without_words() -> None:
    odd = [{"id": f"o{n}", "text": value} for n, value in enumerate(["!!!", "…", "?", "- * -", "\u200b.", "   ."])]
    for records in (odd, [*random_records(2, 5), *odd, *random_records(3, 5, "e")]):
        with written(records, odd) as (inputs, against):
            for way in ({"partitions": 1}, {"partitions": 4, "workers": 2}):
                check_same_find(inputs, way=way)
                check_same_find(inputs, against, way=way)
                check_same_cluster(inputs, way=way)
                check_same_dedup(inputs, way=way)
                check_same_dedup(inputs, way=way, level="sentence")


@pytest.mark.parametrize("partitions", [1, 2, 1000])
def test_any_number_of_partitions(partitions: int) -> None:
    records = random_records(7, 9)
    with written(records) as (inputs,):
        way = {"partitions": partitions, "workers": 2}
        check_same_find(inputs, way=way)
        check_same_cluster(inputs, way=way, shingle_size=2, min_similarity="0.5")
        check_same_dedup(inputs, way=way, level="passage")
        with ibidem.find(inputs, **way) as stored:
            assert stored.resources["partitions"] <= len(records)


def test_one_document() -> None:
    with written([{"id": "a", "text": text(1, 2, 3, 1, 2, 3)}]) as (inputs,):
        for way in ({"partitions": 1}, {"partitions": 5}):
            assert len(check_same_find(inputs, way=way, same_document=True)) > 0
            check_same_cluster(inputs, way=way)
            check_same_dedup(inputs, way=way, level="passage", same_document=True)


def test_an_empty_reference(tmp_path: Path) -> None:
    path = str(write_lines(tmp_path / "news.jsonl", random_records(7, 9)))
    (tmp_path / "empty.jsonl").write_text("")
    for verb in (ibidem.find, ibidem.cluster, ibidem.dedup):
        for against in (str(tmp_path / "empty.jsonl"), []):
            told = []
            for way in ({}, {"partitions": 3}):
                with pytest.raises(ibidem.IbidemError) as caught:
                    verb(path, against=against, **way)
                told.append(str(caught.value))
            assert told[0] == told[1]


def test_texts_that_outgrow_their_files(tmp_path: Path) -> None:
    # Packed so well that nobody could know: the run begins in memory, and again in parts.
    told: list[str] = []

    class Listening(Progress):
        def tell(self, message: str) -> None:
            told.append(message)

    records = [{"id": f"d{n}", "text": f"{text(n % 50, n % 50 + 1)} {' '.join([text(200)] * 200)}"} for n in range(100)]
    records.append({"id": "empty", "text": ""})
    path = tmp_path / "packed.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(record) + "\n" for record in records).encode()))
    assert sum(len(record["text"]) for record in records) > 1_000_000
    whole = ibidem.find(str(path), signature="exact")
    with ibidem.find(str(path), signature="exact", memory="301MB", progress=Listening()) as stored:
        check_same_table(stored.passages, whole.passages)
        check_same_table(stored.documents, whole.documents)
        check_same_run(stored, whole)
    assert any("restarting on disk" in message for message in told)


def test_standard_input_with_a_limit(tmp_path: Path) -> None:
    records = [*random_records(7, 12), {"id": "no text"}]
    data = "".join(json.dumps(record) + "\n" for record in records)
    write_jsonl(tmp_path / "news.jsonl", records)
    for call in (("find", "--format", "jsonl", "--memory", "1GB"), ("dedup", "--level", "passage", "--partitions", "3")):
        done = process(*call, "-", "-o", call[0], cwd=tmp_path, input=data)
        assert done.returncode == 0, done.stderr
        assert "temporary files go to" in done.stderr
    found, cleaned = ibidem.find(str(tmp_path / "news.jsonl")), ibidem.dedup(str(tmp_path / "news.jsonl"), level="passage")
    for name in ("passages", "documents", "repeats"):
        assert rows(tmp_path / "find" / f"{name}.jsonl") == plain(getattr(found, name)).to_pylist()
    (file,) = (path for path in (tmp_path / "dedup").iterdir() if path.name not in OURS)
    assert [record.get("text") for record in rows(file)] == [document.text for document in cleaned.remaining()] + [None]
