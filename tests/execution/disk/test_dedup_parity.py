"""`dedup` in parts that are stored decides and writes what `dedup` in memory decides and writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibidem
from tests.cluster_twins import limits, records, word_lists
from tests.execution.disk.sameness import check_same_dedup, examples, ways, written
from tests.execution.random_collections import edited_records, odd_records, random_records
from tests.test_dedup import write_news

KEEP = ["first", "longest", "earliest", "group:max", "group:min"]
THREE = {"partitions": 3, "memory": "50MB", "workers": 2}


@pytest.mark.parametrize(
    ("level", "signature"),
    [("passage", "exact"), ("passage", "words"), ("sentence", "exact"), ("sentence", "imatch"), ("sentence", "shingles")],
)
@examples(6)
@given(data=st.data(), way=ways)
def test_parts_of_random_collections(level: str, signature: str, data: Any, way: dict[str, Any]) -> None:
    seed = data.draw(st.integers(0, 10**6))
    items = random_records(seed, data.draw(st.integers(2, 14)))
    items[0] |= {"time": "2020-01-05", "group": "x"}
    reference = None
    if data.draw(st.booleans()):
        reference = random_records(seed + 1, data.draw(st.integers(1, 6)), data.draw(st.sampled_from("de")))
    call = {
        "level": level,
        "signature": signature,
        "keep": data.draw(st.sampled_from(KEEP)),
        "min_sentences": data.draw(st.sampled_from([1, 2, 3])),
        "min_quote_words": data.draw(st.sampled_from([5, 10])),
        "same_document": data.draw(st.booleans()),
        "min_similarity": data.draw(st.sampled_from(["0.5", "0.8"])),
    }
    with written(items, reference) as (inputs, against):
        check_same_dedup(inputs, against, way=way, **call)


@pytest.mark.parametrize("signature", ["exact", "words"])
@examples(5)
@given(data=st.data(), way=ways)
def test_edited_copies(signature: str, data: Any, way: dict[str, Any]) -> None:
    seed = data.draw(st.integers(0, 10**6))
    items = edited_records(seed, data.draw(st.integers(2, 14)))
    items[0] |= {"time": "2020-01-05", "group": "x"}
    reference = edited_records(seed, 5, data.draw(st.sampled_from("de"))) if data.draw(st.booleans()) else None
    chosen = {"signature": signature, "keep": data.draw(st.sampled_from(KEEP)), "min_aligned_words": 12}
    with written(items, reference) as (inputs, against):
        check_same_dedup(inputs, against, way=way, level="passage", align=True, **chosen)


@examples(15)
@given(data=st.data(), way=ways)
def test_whole_documents(data: Any, way: dict[str, Any]) -> None:
    items = records(data.draw(word_lists()))
    items[0] |= {"time": 3, "group": "x"}
    others = data.draw(st.one_of(st.none(), word_lists(5)))
    reference = None if others is None else records(others, data.draw(st.sampled_from("db")))
    call = {
        "keep": data.draw(st.sampled_from(KEEP)),
        "min_similarity": data.draw(limits),
        "min_containment": data.draw(st.sampled_from(["0", "0.8"])),
        "shingle_size": 2,
        "max_shingle_documents": data.draw(st.sampled_from([2, 1000])),
        "chains": data.draw(st.booleans()),
    }
    with written(items, reference) as (inputs, against):
        check_same_dedup(inputs, against, way=way, **call)


@pytest.mark.parametrize("kind", ["json", "csv", "parquet", "txt", "jsonl.gz", "csv.zst"])
@pytest.mark.parametrize("level", ["document", "passage"])
def test_files_of_every_format(kind: str, level: str, tmp_path: Path) -> None:
    whole = check_same_dedup(str(write_news(tmp_path / "news", kind)), way=THREE, level=level)
    assert len(whole) > 0


def test_many_files_of_which_some_hold_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, item in enumerate([*odd_records(), *random_records(8, 20), *odd_records()]):
        (folder / f"{number:03d}.txt").write_text(item["text"], "utf-8")
    for level in ("document", "passage", "sentence"):
        assert len(check_same_dedup(str(folder), way={"partitions": 5, "workers": 2}, level=level, shingle_size=2)) > 0


@pytest.mark.parametrize("level", ["document", "passage"])
def test_records_in_memory(level: str) -> None:
    items = [*random_records(21, 12), *({**item, "id": f"again {item['id']}"} for item in random_records(21, 6))]
    whole = ibidem.dedup(items, level=level)
    with ibidem.dedup(iter(items), level=level, **THREE) as stored:
        assert stored.removed.to_pylist() == whole.removed.to_pylist()
        assert list(stored.remaining()) == list(whole.remaining())
        assert len(stored) > 0
