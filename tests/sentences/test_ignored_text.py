"""`--ignore`: text that never counts matches nothing, is counted, and changes nothing else."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibidem
from ibidem.sentences.ignored_text import IGNORED_WORDS, IgnoredText, load_ignored
from tests.execution.parity import found_apart, local_tables, removed_apart, rows_of

Records = list[dict[str, str]]
HEADER = (
    "Licensed under the Example Licence. You may not use this file except in compliance with the licence that is "
    "printed below for everyone to read. All rights reserved."
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ignored")


def sentence(number: int, count: int) -> str:
    return " ".join(["The", *(f"w{number}x{k}" for k in range(count - 2)), "end."])


def collection(number: int) -> tuple[Records, Records, list[str]]:
    """Return documents made of few sentences; the same with other words where sentences are ignored; and these sentences."""
    chance = random.Random(number)
    pool = [sentence(k, chance.choice([3, 5, 9, 12])) for k in range(chance.choice([3, 6, 10]))]
    ignored = chance.sample(pool, chance.randrange(1, 3))
    given, expected = [], []
    for document in range(chance.randrange(2, 8)):
        chosen = [chance.choice(pool) for _ in range(chance.randrange(1, 9))]
        other = [text if text not in ignored else _unlike(text, document, place) for place, text in enumerate(chosen)]
        given.append({"id": f"d{document}", "text": " ".join(chosen)})
        expected.append({"id": f"d{document}", "text": " ".join(other)})
    return given, expected, ignored


def _unlike(text: str, document: int, place: int) -> str:
    """Return a sentence of the same length in words that no other text has."""
    words = text.split(" ")
    unlike = [f"q{document}p{place}k{k}".ljust(len(word), "z")[: len(word)] for k, word in enumerate(words)]
    chance = random.Random(f"{document}-{place}")
    letters = "abcdefghijklmnopqrstuvwxyz"
    return " ".join("".join(chance.choice(letters) for _ in word) for word in unlike)[: len(text) - 1].capitalize() + "."


def write(folder: Path, ignored: list[str]) -> str:
    path = folder / "ignored.txt"
    path.write_text("\n\n".join(ignored), "utf-8")
    return str(path)


@given(st.integers(0, 1 << 30), st.sampled_from(["exact", "words"]))
def test_ignored_sentences_are_like_words_of_their_own(folder: Path, number: int, signature: str) -> None:
    given, expected, ignored = collection(number)
    settings: dict[str, Any] = {"signature": signature, "min_sentences": 1, "min_quote_words": 3}
    found = ibidem.find(given, ignore=write(folder, ignored), **settings)
    other = ibidem.find(expected, **settings)

    def places(result: Any) -> list[dict[str, Any]]:
        return [{k: v for k, v in row.items() if k not in ("similarity", "kind")} for row in rows_of(result.passages)]

    assert places(found) == places(other)
    n_ignored = sum(row["text"].count(text) for row in given for text in ignored)
    assert found.counts["ignored_sentences"] == n_ignored


@given(st.integers(0, 1 << 30), st.sampled_from(["exact", "words"]), st.sampled_from(["find", "passage", "sentence", "run"]))
def test_partitions_ignore_the_same(folder: Path, number: int, signature: str, verb: str) -> None:
    records, _, ignored = collection(number)
    settings: dict[str, Any] = {
        "signature": signature,
        "min_sentences": 2,
        "min_quote_words": 3,
        "ignore": write(folder, ignored),
    }
    if verb == "find":
        assert found_apart(records, None, 3, **settings) == local_tables(records, None, **settings)
        return
    settings |= {"level": verb, "min_run_words": 4}
    removed = ibidem.dedup(records, **settings).removed.to_pylist()
    assert removed_apart(records, None, 3, **settings) == removed
    for row in removed:
        text = next(record["text"] for record in records if record["id"] == row["id"])[row["start"] : row["end"]]
        if verb in ("passage", "sentence"):
            assert not any(each in text for each in ignored)


@pytest.mark.parametrize("storage", [{}, {"memory": "1MB"}])
def test_documents_are_compared_without_it(folder: Path, tmp_path: Path, storage: dict[str, Any]) -> None:
    story = " ".join(f"story{k}" for k in range(10))
    texts = [f"{HEADER} {story}.", f"{story}.", f"{HEADER} {' '.join(f'other{k}' for k in range(8))}."]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(f'{{"id": "{k}", "text": "{text}"}}\n' for k, text in enumerate(texts)))
    settings: dict[str, Any] = {"min_similarity": 0.2, "shingle_size": 3, **storage}
    with ibidem.cluster(path, **settings) as plain, ibidem.cluster(path, ignore=write(folder, [HEADER]), **settings) as found:
        assert [(r["a_id"], r["b_id"]) for r in rows_of(plain.duplicates)] == [("0", "1"), ("0", "2")]
        assert [(r["a_id"], r["b_id"], r["similarity"]) for r in rows_of(found.duplicates)] == [("0", "1", 1.0)]


def test_a_header_is_found_wherever_its_lines_break(folder: Path) -> None:
    ignored = load_ignored(write(folder, [HEADER]))
    assert ignored is not None
    words = HEADER.split()
    lines = "\n".join("# " + " ".join(words[k : k + 6]) for k in range(0, len(words), 6))
    text = f"#!/bin/sh\n{lines}\necho You may not use this file\n"
    spans = ignored.spans(text)
    assert " ".join(text[start:end].replace("\n# ", " ") for start, end in spans) == HEADER.rstrip(".")
    texts = pa.array([text, "nothing of it"], pa.large_string())
    blank = ignored.blanked(texts).to_pylist()
    assert [len(each) for each in blank] == [len(text), 13]
    counted = [word for word in blank[0].split() if word.strip("#.")]
    assert counted == ["#!/bin/sh", "echo", "You", "may", "not", "use", "this", "file"]


@given(
    st.lists(st.text("ab cé.\n", max_size=60), min_size=1, max_size=4), st.lists(st.text("ab cé.\n", max_size=80), min_size=1)
)
def test_words_are_ignored_in_stretches(ignored: list[str], texts: list[str]) -> None:
    known = IgnoredText.of(pa.array(ignored, pa.large_string()))
    stretches = {tuple(w[k : k + IGNORED_WORDS]) for w in map(_words, ignored) for k in range(len(w) - IGNORED_WORDS + 1)}
    words, found = known.words(pa.array(texts, pa.large_string()))
    for number, text in enumerate(texts):
        own = _words(text)
        expected = [False] * len(own)
        for k in range(len(own) - IGNORED_WORDS + 1):
            if tuple(own[k : k + IGNORED_WORDS]) in stretches:
                expected[k : k + IGNORED_WORDS] = [True] * IGNORED_WORDS
        assert found[words.first[number] : words.first[number + 1]].tolist() == expected


def _words(text: str) -> list[str]:
    return text.replace(".", " ").split()


def test_several_files_and_a_missing_one(tmp_path: Path) -> None:
    for name, text in (("a.txt", "alpha beta gamma."), ("b.txt", "Delta epsilon zeta.")):
        (tmp_path / name).write_text(text)
    texts = ["alpha beta gamma. Something of its own. Delta epsilon zeta."] * 2
    plain = ibidem.find(texts, min_quote_words=2)
    assert plain.passages.num_rows == 1
    found = ibidem.find(texts, min_quote_words=2, ignore=[str(tmp_path / "a.txt"), str(tmp_path / "b.txt")])
    assert [(row["a_start"], row["a_end"]) for row in rows_of(found.passages)] == [(18, 39)]
    assert found.counts["ignored_sentences"] == 4
    with pytest.raises(ibidem.IbidemError, match="nowhere"):
        ibidem.find(texts, ignore=str(tmp_path / "nowhere.txt"))


def test_an_index_ignores_it_when_it_is_asked_and_when_it_grows(folder: Path, tmp_path: Path) -> None:
    ignore = write(folder, [HEADER])
    text = f"{HEADER} This sentence is long enough to be found in an index by its own words."
    with ibidem.Index(tmp_path / "plain.idx", create=True) as index:
        index.add([{"id": "a", "text": text}])
        assert len(index.query([{"id": "b", "text": text}]).hits) == 4
    with ibidem.Index(tmp_path / "plain.idx", ignore=ignore) as index:
        assert len(index.query([{"id": "b", "text": text}]).hits) == 1
    with ibidem.Index(tmp_path / "ignoring.idx", create=True, ignore=ignore) as index:
        index.add([{"id": "a", "text": text}])
    with ibidem.Index(tmp_path / "ignoring.idx") as index:
        assert len(index.query([{"id": "b", "text": text}], align=True).hits) == 1


def test_whole_texts_that_are_ignored() -> None:
    known = pa.array(["Keep this short. One two three four five six seven eight nine ten eleven."], pa.large_string())
    ignored = IgnoredText.of(known)
    texts = [
        "keep this SHORT", "two three four five six seven eight nine",
        "Keep this short. One two three four five six seven eight.", "two three four five six seven eight",
        "Keep this short. And more.", "", "…",
    ]  # fmt: skip
    assert ignored.whole_texts(texts) == [True, True, True, False, False, False, False]
    assert ignored.whole_texts([]) == []
