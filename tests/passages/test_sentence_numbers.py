"""The numbers of a passage's first sentences: counted from 0 in each document as it was split, however it was found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ibidem
from ibidem.api import sentence_places
from ibidem.config import SIGNATURES
from tests.execution.random_collections import random_records
from tests.texts import text


def check_numbers(passages: pa.Table, records: list[dict[str, Any]], whole_sentences: bool = True) -> None:
    """Each passage begins in the sentences that its numbers name; unless its ends were moved, at their very beginning."""
    places = sentence_places(records)
    ids = places.ids.to_pylist()
    starts = {name: places.start[places.document == n].tolist() for n, name in enumerate(ids)}
    ends = {name: places.end[places.document == n].tolist() for n, name in enumerate(ids)}
    assert passages.num_rows > 0
    for row in passages.to_pylist():
        for side in "ab":
            name, number, start = row[f"{side}_id"], row[f"{side}_sentence"], row[f"{side}_start"]
            assert starts[name][number] <= start < ends[name][number]
            assert not whole_sentences or starts[name][number] == start


@pytest.mark.parametrize("signature", SIGNATURES)
def test_in_memory_and_on_disk(signature: str) -> None:
    records = random_records(3, 30)
    call: dict[str, Any] = {"signature": signature, "min_sentences": 1, "max_gap_sentences": 2, "same_document": True}
    call["antecedents"] = 40
    check_numbers(ibidem.find(records, extend_ends=False, **call).passages, records)
    whole = ibidem.find(records, **call)
    check_numbers(whole.passages, records, whole_sentences=False)
    assert max(whole.passages["b_sentence"].to_pylist()) > 0
    with ibidem.find(records, partitions=3, **call) as stored:
        check_numbers(stored.passages, records, whole_sentences=False)
    assert [(p.a_sentence, p.b_sentence) for p in whole] == [
        (row["a_sentence"], row["b_sentence"]) for row in whole.passages.to_pylist()
    ]


def test_aligned_word_by_word() -> None:
    shared = "the ferry that left the old harbour on Monday evening with forty passengers and two dogs never reached the "
    shared += "island where a choir of fishermen was waiting in the rain because the captain had promised to sing with them "
    edited = shared.replace("Monday", "Sunday").replace("two dogs", "a dog")
    records = [
        {"id": "a", "text": f"It was loud. Nobody slept. We heard that {shared}and so on."},
        {"id": "b", "text": f"One. Two. Three. Four and five. They say {edited}or so."},
    ]
    found = ibidem.find(records, align=True)
    check_numbers(found.passages, records, whole_sentences=False)
    assert [(p.a_sentence, p.b_sentence) for p in found] == [(2, 4)]
    assert [(p.a_sentence, p.b_sentence) for p in ibidem.compare(records[0]["text"], records[1]["text"])] == [(2, 4)]


def test_in_an_index(tmp_path: Path) -> None:
    known = [{"id": "old", "text": " ".join([text(1, 2, 3, 4), text(20, 21, 22, 23, 24), text(5, 6)])}]
    new = [{"id": "new", "text": " ".join([text(40), text(20, 21, 22, 23, 24), text(41)])}]
    with ibidem.Index(tmp_path / "index") as index:
        index.add(known)
        passages = index.query(new).passages
    check_numbers(passages, known + new)
    assert passages.select(["a_sentence", "b_sentence", "n_sentences"]).to_pylist() == [
        {"a_sentence": 1, "b_sentence": 4, "n_sentences": 5}
    ]
