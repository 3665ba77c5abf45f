"""`find` in parts that are stored gives what `find` in memory gives: every table, count, text and message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibidem
from ibidem.alignment.exchange import aligned_pairs, aligned_passages, marks
from ibidem.config import SIGNATURES
from ibidem.passages.exchange import pairs, repeat_groups
from tests.execution.disk.sameness import (
    check_same_find,
    check_same_table,
    examples,
    files_of,
    plain,
    ways,
    write_lines,
    written,
)
from tests.execution.random_collections import edited_records, odd_records, random_records, skewed_records
from tests.texts import text

THREE = {"partitions": 3, "memory": "50MB", "workers": 2}


@pytest.mark.parametrize("signature", SIGNATURES)
@examples(6)
@given(data=st.data(), way=ways)
def test_random_collections(signature: str, data: Any, way: dict[str, Any]) -> None:
    seed = data.draw(st.integers(0, 10**6))
    records = random_records(seed, data.draw(st.integers(2, 14)))
    reference = None
    if data.draw(st.booleans()):  # an id may be on both sides
        reference = random_records(seed + 1, data.draw(st.integers(1, 8)), data.draw(st.sampled_from("de")))
    call = {
        "signature": signature,
        "max_places": data.draw(st.sampled_from([2, 3, 5, 100])),
        "min_sentences": data.draw(st.sampled_from([1, 2, 3])),
        "same_document": data.draw(st.booleans()),
        "skip_same_group": data.draw(st.booleans()),
        "max_gap_sentences": data.draw(st.sampled_from([0, 2, 4])),
        "min_quote_words": data.draw(st.sampled_from([0, 5, 10])),
        "min_similarity": data.draw(st.sampled_from(["0.5", "0.8", "1"])),
    }
    with written(records, reference) as (inputs, against):
        check_same_find(inputs, against, way=way, **call)


@pytest.mark.parametrize("signature", ["exact", "words"])
def test_a_footer_in_every_document(signature: str) -> None:
    with written(skewed_records(300)) as (inputs,):
        whole = check_same_find(inputs, way=THREE, signature=signature)
    assert len(whole) > 0
    assert whole.repeats.num_rows == 1


@pytest.mark.parametrize("most_told", [0, 1 << 20])  # groups whose first documents the mappers are told of
def test_repeats_are_in_order_over_all_partitions(most_told: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeat_groups, "_MOST_TOLD", most_told)
    # Footers of several lengths and frequencies: the order of their table is not that of the partitions they are in.
    footers = {3: text(100, 101, 102, 103), 4: text(110, 111, 112), 5: text(120, 121, 122, 123, 124), 7: text(130, 131, 132)}
    records = [
        {"id": f"d{n}", "text": " ".join([text(200 + n), *(footer for every, footer in footers.items() if n % every == 0)])}
        for n in range(60)
    ]
    with written(records) as (inputs,):
        whole = check_same_find(inputs, way={"partitions": 7, "workers": 3}, max_places=4)
    n_documents = whole.repeats["n_documents"].to_pylist()
    assert len(n_documents) >= 4
    assert n_documents == sorted(n_documents, reverse=True)


@pytest.mark.parametrize("signature", ["exact", "words", "shingles"])
def test_unusual_texts(signature: str) -> None:
    with written(odd_records()) as (inputs,):
        for call in ({}, {"same_document": True, "max_places": 2}, {"min_sentences": 1}, {"paper": True}):
            check_same_find(inputs, way=THREE, signature=signature, **call)


@pytest.mark.parametrize(
    "call",
    [
        {"signature": "imatch", "min_idf": 0.3, "max_idf": 0.7},
        {"signature": "fingerprint", "max_document_share": 0.1, "paper": True},
        {"signature": "spotsigs", "antecedents": "badobafi babadoba"},
        {"signature": "shingles", "shingle_size": 3, "min_similarity": "0.4"},
    ],
    ids=str,
)
def test_settings_of_signatures(call: dict[str, Any]) -> None:
    with written(random_records(5, 50)) as (inputs,):
        check_same_find(inputs, way=THREE, **call)


def test_records_in_memory_and_streams_of_them() -> None:
    records = random_records(11, 20)
    whole = check_same_find(records, way=THREE)
    with ibidem.find(iter(records), partitions=3) as stored:
        check_same_table(stored.passages, whole.passages)


def test_skipped_records_and_times_that_cannot_be_read(tmp_path: Path) -> None:
    records = random_records(4, 20)
    records[3]["time"] = "the day before yesterday"
    records[9]["time"] = "soon"
    path = write_lines(tmp_path / "some.jsonl", records)
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"id": "no text"}\n{broken\n{"id": "empty", "text": ""}\n')
    whole = check_same_find(str(path), way=THREE)
    assert len(whole.skipped) == 3
    assert "2 timestamps could not be parsed and were ignored" in whole.notices[0]


def pages(folder: Path) -> Path:
    """Write pages that share passages, and a plain text beside them."""
    folder.mkdir()
    for number in range(6):
        shared = text(1, 2, 3) if number % 2 else text(4, 5, 6)
        body = f"<nav>Menu</nav><p>{text(20 + number)}</p><p>{shared} &amp; more.</p>"
        (folder / f"page{number}.html").write_text(f"<html><head><title>{number}</title></head><body>{body}</body></html>")
    (folder / "plain.txt").write_text(f"{text(40)} {text(1, 2, 3)}")
    return folder


def test_pages_have_their_texts_written_beside(tmp_path: Path) -> None:
    folder = pages(tmp_path / "pages")
    whole = check_same_find(str(folder), way=THREE)
    assert len(whole) > 0
    for table_format in ("parquet", "jsonl"):
        whole.write(tmp_path / f"whole-{table_format}", format=table_format, keep_text=True)
        with ibidem.find(str(folder), **THREE) as stored:
            stored.write(tmp_path / f"stored-{table_format}", format=table_format, keep_text=True)
    ours, theirs = (files_of(tmp_path / f"{name}-jsonl") for name in ("stored", "whole"))
    assert ours == theirs
    assert ours["texts.jsonl"].count(b"\n") == 6
    import pyarrow.parquet as pq

    for name in ("passages", "documents", "repeats", "texts"):
        sides = (pq.read_table(tmp_path / f"{side}-parquet" / f"{name}.parquet") for side in ("stored", "whole"))
        ours_table, theirs_table = map(plain, sides)
        assert ours_table.to_pylist() == theirs_table.to_pylist()


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    with written(random_records(2, 20)) as (inputs,):
        result = ibidem.find(inputs, partitions=3, tmp_dir=str(tmp_path))
        assert list(tmp_path.iterdir())
        result.close()
        assert not list(tmp_path.iterdir())
        result = ibidem.find(inputs, partitions=3, tmp_dir=str(tmp_path))
        del result  # forgotten, not closed
        assert not list(tmp_path.iterdir())
        with pytest.raises(ibidem.UsageError), ibidem.find(inputs, partitions=3, tmp_dir=str(tmp_path)) as result:
            result.write(tmp_path / "out", format="xml")
        assert not list(tmp_path.iterdir())
        with pytest.raises(ibidem.InputError):
            ibidem.find(inputs, partitions=3, tmp_dir=str(tmp_path), time_field="when")
        assert not list(tmp_path.iterdir())


def test_what_is_wrong_is_said_as_in_memory(tmp_path: Path) -> None:
    records = random_records(1, 8)
    wrong = [
        ([*records, {"id": "d1", "text": "Once more."}], None, {}),
        (records, None, {"time_field": "when"}),
        ([{"id": "x", "text": ""}], None, {}),
        (records, [{"id": "x", "text": ""}], {}),
        ([*records, {"id": "x", "text": ""}], None, {"strict": True}),
    ]
    for inputs, reference, call in wrong:
        with written(inputs, reference) as (path, against):
            errors = []
            for way in ({}, THREE):
                with pytest.raises(ibidem.IbidemError) as caught:
                    ibidem.find(path, against=against, **way, **call)
                errors.append((caught.type, str(caught.value)))
        assert errors[0] == errors[1]


@pytest.mark.parametrize("signature", ["words", "exact", "imatch"])
@examples(8)
@given(data=st.data(), way=ways)
def test_passages_aligned_word_by_word(signature: str, data: Any, way: dict[str, Any]) -> None:
    seed = data.draw(st.integers(0, 10**6))
    records = edited_records(seed, data.draw(st.integers(2, 16)))
    reference = edited_records(seed, data.draw(st.integers(1, 8)), "e") if data.draw(st.booleans()) else None
    call = {
        "align": True,
        "signature": signature,
        "min_aligned_words": data.draw(st.sampled_from([5, 12, 25])),
        "min_evidence": data.draw(st.sampled_from([5.0, 25.0])),
        "same_document": data.draw(st.booleans()),
        "skip_same_group": data.draw(st.booleans()),
    }
    with written(records, reference) as (inputs, against):
        check_same_find(inputs, against, way=way, **call)


def test_alignment_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, most in (
        (aligned_passages, "_ROWS_AT_A_TIME", 7),
        (marks, "_WORDS_AT_A_TIME", 100),
        (marks, "_MEETINGS_AT_A_TIME", 5),
        (aligned_pairs, "_MOST_SENT_BYTES", 300),
    ):
        monkeypatch.setattr(module, name, most)
    with written([record for seed in range(4) for record in edited_records(seed, 10, f"{seed}-")]) as (inputs,):
        assert len(check_same_find(inputs, way=THREE, align=True, min_aligned_words=12)) > 50


@pytest.mark.parametrize("signature", ["words", "exact"])
@examples(12)
@given(data=st.data())
def test_documents_that_meet_too_many_others_are_paired_in_portions(signature: str, data: Any) -> None:
    seed = data.draw(st.integers(0, 10**6))
    records = random_records(seed, data.draw(st.integers(4, 14)))
    reference = random_records(seed + 1, data.draw(st.integers(3, 8))) if data.draw(st.booleans()) else None
    with pytest.MonkeyPatch.context() as patch, written(records, reference) as (inputs, against):
        patch.setattr(pairs, "MOST_LATER_BYTES", data.draw(st.sampled_from([1, 500, 3000])))
        check_same_find(inputs, against, way={"partitions": 2, "workers": 1}, signature=signature, min_similarity="0.5")
