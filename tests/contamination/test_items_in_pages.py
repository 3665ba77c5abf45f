"""Items in pages against brute force: what is there word for word is found whole, and nothing is removed without an item."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibidem
from tests.contamination.twins import (
    answers_by_hand,
    contains,
    found_apart,
    n_common,
    random_items,
    random_pages,
    rows_found,
    words_of,
)
from tests.execution.disk.sameness import examples

QUESTION = "How many ferries leave the northern harbour on the morning of a stormy market day in early spring"
PAGE = "The office opens at seven. {} Nobody has counted them since the war, says the harbour master."
QUIZ = [{"id": "q1", "question": QUESTION, "answer": "Forty-two"}]


def drawn(data: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    chance = random.Random(data.draw(st.integers(0, 10**9)))
    vocabulary = data.draw(st.sampled_from([6, 40, 400]))
    items = random_items(chance, data.draw(st.integers(1, 12)), vocabulary)
    return items, random_pages(chance, items, data.draw(st.integers(1, 12)), vocabulary)


@examples(40)
@given(data=st.data())
def test_an_item_that_is_there_word_for_word_is_found_whole(data: Any) -> None:
    items, pages = drawn(data)
    found = ibidem.decontaminate(pages, {"quiz": items}, max_item_pages=0).item_places.to_pylist()
    whole = {(row["item"], row["id"]) for row in found if row["field"] == "question" and row["found"] == "whole"}
    for item in items:
        for page in pages:
            if contains(words_of(page["text"]), words_of(item["question"])):
                assert (item["id"], page["id"]) in whole
                shares = [row["share"] for row in found if (row["item"], row["id"]) == (item["id"], page["id"])]
                assert max(shares) == 1.0


@examples(40)
@given(data=st.data(), part=st.sampled_from([0, 6, 13]))
def test_what_is_found_has_the_words_of_the_item(data: Any, part: int) -> None:
    items, pages = drawn(data)
    texts = {page["id"]: page["text"] for page in pages}
    fields = {(item["id"], name): item[name] for item in items for name in ("question", "answer")}
    result = ibidem.decontaminate(pages, {"quiz": items}, min_part_words=part)
    for row in result.item_places.to_pylist():
        here, of_item = texts[row["id"]][row["start"] : row["end"]], fields[row["item"], row["field"]]
        there = of_item[row["item_start"] : row["item_end"]]
        assert row["n_words"] <= n_common(words_of(here), words_of(there))
        n_words = len(words_of(of_item))
        if row["found"] == "whole":
            assert row["share"] >= 0.8
            # All rows of the item in the page together have so many of its words.
            rows = [r for r in result.item_places.to_pylist() if all(r[n] == row[n] for n in ("id", "item", "field"))]
            assert sum(r["n_words"] for r in rows) >= 0.8 * n_words
        else:
            assert part
            assert row["share"] < 0.8


@examples(30)
@given(data=st.data())
def test_a_cleaned_copy_lacks_the_items_and_nothing_else(data: Any) -> None:
    items, pages = drawn(data)
    result = ibidem.decontaminate(pages, {"quiz": items}, level="passage", max_item_pages=0)
    left = {document.id: document.text for document in result.remaining()}
    texts = {page["id"]: page["text"] for page in pages}
    removed = result.removed.to_pylist()
    for row in removed:
        assert row["items"], "whatever is removed names the items there"
        for item in row["items"]:
            assert row["start"] <= item["start"] < item["end"] <= row["end"]
        inside = [words_of(texts[row["id"]][item["start"] : item["end"]]) for item in row["items"]]
        assert len(words_of(texts[row["id"]][row["start"] : row["end"]])) <= sum(map(len, inside))
    for name, text in texts.items():
        cuts = [(row["start"], row["end"]) for row in removed if row["id"] == name]
        kept = "".join(char for at, char in enumerate(text) if not any(start <= at < end for start, end in cuts))
        assert left.get(name, "") == kept or (name not in left and not words_of(kept))
    whole = ibidem.decontaminate(pages, {"quiz": items}, max_item_pages=0)
    assert {row["id"] for row in whole.removed.to_pylist()} == {row["id"] for row in removed}
    assert [d.id for d in whole.remaining()] == [page["id"] for page in pages if page["id"] not in {r["id"] for r in removed}]


@pytest.mark.parametrize("level", ["document", "passage"])
@examples(15)
@given(data=st.data())
def test_partitions_find_and_remove_the_same(level: str, data: Any) -> None:
    items, pages = drawn(data)
    settings = {"level": level, "max_item_pages": data.draw(st.sampled_from([0, 1, 3])), "min_part_words": 8}
    here = rows_found(ibidem.decontaminate(pages, {"a": items[::2] or items, "b": items}, **settings))
    there = found_apart(
        pages, {"a": items[::2] or items, "b": items}, data.draw(st.integers(1, 4)), seed=data.draw(st.integers(0, 99)),
        **settings,
    )  # fmt: skip
    assert there == here


@pytest.mark.parametrize("level", ["document", "passage"])
def test_on_disk(level: str) -> None:
    chance = random.Random(3)
    items = random_items(chance, 30, 60)
    pages = random_pages(chance, items, 60, 60)
    here = rows_found(ibidem.decontaminate(pages, {"quiz": items}, level=level))
    with ibidem.decontaminate(pages, {"quiz": items}, level=level, partitions=4) as result:
        assert result.backing.storage == "disk"
        assert rows_found(result) == here
        assert result.run()["counts"]["benchmark_items"] == 30
    assert here["removed"]


FULL_WIDTH = {ord(char): chr(ord(char) + 0xFEE0) for char in "abcdefghijklmnopqrstuvwxyzH"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (QUESTION, "whole"),
        (QUESTION.upper(), "whole"),
        ("\n".join(" ".join(QUESTION.split()[k : k + 3]) for k in range(0, 18, 3)), "whole"),
        (QUESTION.replace("ferries", "farries").replace("market", "marker"), "whole"),
        (QUESTION.replace(" on ", " early on ").replace("stormy ", ""), "whole"),
        (f"“{QUESTION.replace(' of ', ' — of — ')}？”", "whole"),
        (QUESTION.translate(FULL_WIDTH), "whole"),
        (QUESTION.replace(" morning of", " morning\n\nAn advertisement for paint, brushes and oil.\n\nof"), "whole"),
        (" ".join(QUESTION.split()[:14]), "part"),
        (" ".join(QUESTION.split()[:12]), None),
        (" ".join(QUESTION.split()[::-1]), None),
        ("On the morning of a market day the northern harbour is full", None),
    ],
)
def test_an_item_however_it_is_written(text: str, found: str | None) -> None:
    pages = [PAGE.format(text), PAGE.format("It rained.")]
    rows = ibidem.decontaminate(pages, {"quiz": QUIZ}).found_items.to_pylist()
    assert [row["found"] for row in rows] == ([found] if found else [])
    if found:
        assert rows[0]["id"] == "0"


def test_other_scripts() -> None:
    item = {"id": "j", "question": "港で一番古い灯台はどこにありますか。それはいつ建てられましたか。"}
    texts = [f"昔の話です。{item['question']}誰も知りません。", "昔の話です。誰も知りません。"]
    pages = [{"id": number, "text": text} for number, text in enumerate(texts)]
    result = ibidem.decontaminate(pages, {"quiz": [item]}, level="passage")
    assert result.shares == {"quiz": 1.0}
    assert [page["text"] for page in result.cleaned()] == ["昔の話です。誰も知りません。"] * 2


def test_an_answer_is_found_after_its_prompt_only() -> None:
    pages = [
        {"id": "after", "text": f"{QUESTION}? Forty-two, I think."},
        {"id": "before", "text": f"Forty-two. {QUESTION}?"},
        {"id": "far", "text": f"{QUESTION}? {' '.join(f'word{k}' for k in range(60))} forty-two"},
        {"id": "alone", "text": "It was forty-two."},
        {"id": "part", "text": " ".join(QUESTION.split()[:14]) + " forty-two"},
    ]
    result = ibidem.decontaminate(pages, {"quiz": QUIZ}, level="passage")
    rows = [row for row in result.item_places.to_pylist() if row["role"] == "answer"]
    assert [(row["id"], row["found"]) for row in rows] == [("after", "whole")]
    assert result.cleaned()[0]["text"] == "I think."
    letter = [{**QUIZ[0], "answer": "B"}]
    (row,) = ibidem.decontaminate([f"{QUESTION}? B"], {"quiz": letter}).item_places.to_pylist()
    assert row["field"] == "question", "a single letter is there by chance"


@examples(40)
@given(data=st.data())
def test_answers_after_prompts(data: Any) -> None:
    chance = random.Random(data.draw(st.integers(0, 10**9)))
    items, pages = [], []
    for n in range(data.draw(st.integers(1, 4))):
        prompts = {name: " ".join(f"{name}{n}w{k}" for k in range(9)) for name in ("context", "question")}
        answer = " ".join(f"ans{chance.randrange(2)}" for _ in range(chance.randint(1, 5)))
        items.append({"id": f"i{n}", **prompts, "answer": answer})
    for n in range(data.draw(st.integers(1, 8))):
        item = chance.choice(items)
        parts = chance.sample([item["context"], item["question"], chance.choice(items)["answer"], item["answer"]], k=4)
        fill = (" ".join(f"f{chance.randrange(9)}" for _ in range(chance.choice([0, 0, 3, 4, 5, 6, 44, 50]))) for _ in parts)
        pages.append({"id": f"p{n}", "text": " ".join(f"{part} {more}" for part, more in zip(parts, fill, strict=True))})
    most = data.draw(st.sampled_from([0, 1, 2]))
    settings = {"max_item_pages": most, "level": "passage"}
    here = rows_found(ibidem.decontaminate(pages, {"quiz": items}, **settings))
    texts = {page["id"]: page["text"] for page in pages}
    rows = [row for row in here["item_places"] if row["field"] == "answer"]
    starts = [(r["item"], r["id"], len(words_of(texts[r["id"]][: r["start"]])), r["is_common"]) for r in rows]
    expected = answers_by_hand(pages, items, most)
    assert sorted(starts) == sorted(expected)
    documents: dict[tuple[str, bool], set[str]] = {}
    for item_id, page, _, common in expected:
        documents.setdefault((item_id, common), set()).add(page)
    for row in (row for row in here["found_items"] if row["field"] == "answer"):
        assert row["is_common"] == ((row["item"], False) not in documents)
        assert row["n_documents"] == len(documents[row["item"], row["is_common"]])
    kept = {row["item"] for row in here["item_places"] if not row["is_common"]}
    assert {row["item"] for row in here["found_items"] if not row["is_common"]} == kept
    assert here["benchmarks"][0]["share"] == len(kept) / len(items), "what is found is what can be removed"
    assert {i["item"] for row in here["removed"] for i in row["items"]} == kept
    assert found_apart(pages, {"quiz": items}, 3, **settings) == here


@pytest.mark.parametrize("answer", ["3", "yes", "not"])
def test_a_word_of_other_sentences_is_no_answer(answer: str) -> None:
    pages = [f"{QUESTION}? He found a note about it on page 3 of the book, and yes the harbour was not calm."]
    quiz = [{"id": "q", "question": QUESTION, "answer": answer}]
    result = ibidem.decontaminate([*pages, f"{QUESTION}? The correct answer is: {answer}."], {"quiz": quiz}, level="passage")
    assert result.cleaned() == [
        "He found a note about it on page 3 of the book, and yes the harbour was not calm.", "The correct answer is: ",
    ]  # fmt: skip


def test_an_answer_after_common_text_is_not_found() -> None:
    pages = [PAGE.format(f"Number {number}. {QUESTION}? {'Forty-two.' if number < 3 else ''}") for number in range(8)]
    result = ibidem.decontaminate(pages, {"quiz": QUIZ}, max_item_pages=5)
    assert [(row["field"], row["is_common"], row["n_documents"]) for row in result.found_items.to_pylist()] == [
        ("question", True, 8), ("answer", True, 3),
    ]  # fmt: skip
    assert result.shares == {"quiz": 0.0}
    assert result.exceeding(0) == []
    assert [(row["n_common"], row["n_whole"]) for row in result.benchmarks.to_pylist()] == [(1, 0)] * 3


def test_text_in_many_documents_is_common_and_stays() -> None:
    pages = [PAGE.format(f"Number {number}. {QUESTION}") for number in range(5)]
    result = ibidem.decontaminate(pages, {"quiz": QUIZ}, max_item_pages=4)
    (item, *_) = result.found_items.to_pylist()
    assert (item["is_common"], item["n_documents"]) == (True, 5)
    assert result.benchmarks.to_pylist()[0]["n_common"] == 1
    assert result.shares == {"quiz": 0.0}
    assert len(result) == 0
    assert result.cleaned() == pages
    assert ibidem.decontaminate(pages, {"quiz": QUIZ}, max_item_pages=5).cleaned() == []


def test_templates_of_a_benchmark_lead_to_none_of_its_items() -> None:
    template = "Read the following passage with care and then choose the one answer that is best of all"
    items = [{"id": n, "question": f"{template}: {' '.join(f'x{n}y{k}' for k in range(9))}"} for n in range(40)]
    pages = [f"{template}. That is how every test begins.", f"Well. {items[7]['question']}"]
    rows = ibidem.decontaminate(pages, {"quiz": items}).found_items.to_pylist()
    assert [(row["item"], row["share"]) for row in rows if row["found"] == "whole"] == [("7", 1.0)]
    assert {row["id"] for row in rows} == {"1"}


def test_ignored_text_does_not_count(tmp_path: Any) -> None:
    (tmp_path / "ignored.txt").write_text(QUESTION, "utf-8")
    longer = [{"id": "q", "question": f"{QUESTION}. {' '.join(f'own{k}' for k in range(10))}"}]
    pages = [PAGE.format(QUESTION), f"So. {longer[0]['question']}"]
    without = ibidem.decontaminate(pages, {"quiz": longer, "old": QUIZ})
    assert {row["id"] for row in without.item_places.to_pylist()} == {"0", "1"}
    result = ibidem.decontaminate(pages, {"quiz": longer, "old": QUIZ}, ignore=str(tmp_path / "ignored.txt"))
    assert [(r["id"], r["benchmark"], r["found"]) for r in result.item_places.to_pylist()] == [("1", "quiz", "whole")]


def test_words_that_repeat_take_little_time() -> None:
    items = [{"id": "w", "question": "so " * 2000}, {"id": "x", "question": "so very " * 1000}]
    pages = ["so " * 40_000, "so very very " * 20_000]
    result = ibidem.decontaminate(pages, {"quiz": items})
    assert {row["item"] for row in result.found_items.to_pylist()} >= {"w"}


MANY_ITEMS = """
import pyarrow, ibidem
items = [{"id": f"i{n}", "question": " ".join(f"n{n}w{k}" for k in range(12))} for n in range(400)]
page = ". ".join(item["question"] for item in items) + " ".join(f" more{n}" for n in range(20_000))
assert ibidem.decontaminate([page], {"quiz": items}).found_items.num_rows == 400
print(pyarrow.default_memory_pool().max_memory() / len(page))
"""


def test_many_items_in_a_document_do_not_copy_it() -> None:
    run = subprocess.run([sys.executable, "-c", MANY_ITEMS], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 40, "the text once for every item is 400 times as much"
