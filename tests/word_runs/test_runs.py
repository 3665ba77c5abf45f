"""Runs of words: the same as listing every window, in memory, on disk and over partitions; and nothing is lost."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibidem
from ibidem.config import Config
from ibidem.execution.layout import Layout
from ibidem.execution.progress import Progress
from ibidem.execution.tasks import in_turn
from ibidem.pipeline import find_tables, split_to_find
from ibidem.sentences import tokenise_texts
from ibidem.sentences.hashed_words import HashedWords, gram_keys, hash_texts, locate_texts, point_of
from ibidem.word_runs.core import WindowRule, anchors_of, find_runs, pieces_to_cut
from tests.execution.parity import numbered_batches, removed_apart, rows_of
from tests.memory_flow import MemoryFlow
from tests.word_runs import twins

SEED = 12345
SIZES = st.sampled_from([2, 3, 4, 5, 8])
Texts = list[list[str]]


@st.composite
def collections(draw: st.DrawFn) -> Texts:
    """Return documents of few words, some of which contain stretches of others."""
    chance = random.Random(draw(st.integers(0, 1 << 30)))
    n_different = chance.choice([1, 2, 3, 5, 30])
    documents = [
        [f"w{chance.randrange(n_different)}" for _ in range(chance.randrange(1, 30))] for _ in range(chance.randrange(1, 9))
    ]
    for _ in range(chance.randrange(5)):
        source, target = chance.choice(documents), chance.choice(documents)
        begin, at = chance.randrange(len(source)), chance.randrange(len(target) + 1)
        target[at:at] = source[begin : begin + chance.randrange(15)]
    return documents


def texts_of(documents: Texts, seed: int = 0) -> list[str]:
    """Return documents as texts, with punctuation, line breaks and capitals that make no difference."""
    chance = random.Random(seed)
    shown = (str.upper, str.lower, str.capitalize)
    return [
        chance.choice(["", '"'])
        + "".join(chance.choice(shown)(word) + chance.choice([" ", " ", ". ", ",\n"]) for word in words)
        for words in documents
    ]


def records_of(documents: Texts, seed: int = 0, prefix: str = "d") -> list[dict[str, Any]]:
    return [{"id": f"{prefix}{number}", "text": text} for number, text in enumerate(texts_of(documents, seed))]


def hashed(texts: Sequence[str]) -> HashedWords:
    return hash_texts(pa.array(texts, pa.large_string()), SEED)


def places(words: HashedWords, starts: Any, sizes: Any) -> set[twins.Place]:
    found = set()
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        document = int(words.documents(np.array([start]))[0])
        found |= {(document, start + k - int(words.first[document])) for k in range(size)}
    return found


@given(collections(), SIZES, st.integers(0, 3))
def test_runs_are_those_of_the_twin(documents: Texts, size: int, n_reference: int) -> None:
    n_reference = min(n_reference, len(documents) - 1)
    words = hashed(texts_of(documents))
    rule = WindowRule(size, point_of(SEED))
    runs = find_runs(words, np.arange(len(documents)), n_reference, rule, in_turn)
    groups = twins.repeated_windows(documents, size, n_reference)
    assert places(words, runs.start, runs.n_words) == twins.words_in_runs(groups, size)
    for start, n_words, source, at in zip(runs.start, runs.n_words, runs.source_document, runs.source_word, strict=True):
        own = int(words.documents(np.array([start]))[0])
        begin = int(start - words.first[own])
        assert documents[own][begin : begin + n_words] == documents[source][at : at + n_words]
    if n_reference:
        return
    pieces = pieces_to_cut(runs, len(words.hashes), size)
    assert places(words, pieces[:, 0], pieces[:, 1] - pieces[:, 0]) == twins.words_to_cut(groups, size)


@given(collections(), SIZES)
def test_equal_windows_have_equal_anchors(documents: Texts, size: int) -> None:
    words, rule = hashed(texts_of(documents)), WindowRule(size, point_of(SEED))
    chosen, keys = anchors_of(words, rule)
    by_window: dict[int, set[tuple[int, int]]] = {}
    for start, key in enumerate(gram_keys(words, size, point_of(SEED)).tolist()):
        assert (key == 0) == (chosen[start] < 0)
        if key:
            by_window.setdefault(key, set()).add((int(chosen[start]) - start, int(keys[chosen[start]])))
    assert all(len(anchors) == 1 for anchors in by_window.values())


@given(collections(), SIZES, st.sampled_from(["first", "longest"]), st.booleans())
def test_partitions_remove_what_memory_removes(documents: Texts, size: int, keep: str, split: bool) -> None:
    records, against = records_of(documents), None
    if split and len(records) > 1:
        against, records = records[: len(records) // 2], records[len(records) // 2 :]
    settings: dict[str, Any] = {"level": "run", "min_run_words": size, "keep": keep}
    whole = ibidem.dedup(records, against=against, **settings).removed.to_pylist()
    for n_partitions in (1, 2, 5):
        assert removed_apart(records, against, n_partitions, **settings) == whole


@given(collections(), SIZES, st.booleans())
def test_partitions_find_the_runs_of_memory(documents: Texts, size: int, split: bool) -> None:
    records, against = records_of(documents), None
    if split and len(records) > 1:
        against, records = records[: len(records) // 2], records[len(records) // 2 :]
    whole = rows_of(ibidem.find(records, against=against, runs=True, min_run_words=size).runs)
    config = Config.of(runs=True, min_run_words=size).with_signature("words")
    batches, n_records, n_input = numbered_batches(records, against, config, 2)
    flow = MemoryFlow(3, layout=Layout(n_records, n_input, 3))
    sentences = split_to_find(flow, batches, config, Progress())
    assert flow.collect(find_tables(flow, sentences, config, Progress())["runs"].table("runs")).to_pylist() == whole


@given(collections(), SIZES)
def test_whatever_is_removed_remains_in_one_piece_elsewhere(documents: Texts, size: int) -> None:
    records = records_of(documents)
    result = ibidem.dedup(records, level="run", min_run_words=size)
    remaining = {document.id: document.text for document in result.remaining()}
    texts = {record["id"]: record["text"] for record in records}

    def words(text: str) -> list[str]:
        return text.lower().replace(".", " ").replace(",", " ").replace('"', " ").split()

    # Cut where something is removed, so that words that were apart do not count as neighbours.
    kept: list[list[str]] = []
    cuts: dict[str, list[tuple[int, int]]] = {}
    for row in result.removed.to_pylist():
        cuts.setdefault(row["id"], []).append((row["start"], row["end"]))
    for name, text in texts.items():
        at = 0
        for start, end in [*cuts.get(name, []), (len(text), len(text))]:
            kept.append(words(text[at:start]))
            at = end
    kept_windows = {tuple(piece[k : k + size]) for piece in kept for k in range(len(piece) - size + 1)}
    for row in result.removed.to_pylist():
        gone = words(texts[row["id"]][row["start"] : row["end"]])
        there = words(texts[row["matched_id"]][row["matched_start"] : row["matched_end"]])
        assert gone == there
    # Every window that occurred twice still occurs.
    for group in twins.repeated_windows(documents, size):
        document, word = group[0]
        assert tuple(documents[document][word : word + size]) in kept_windows
    assert sum(len(words(text)) for text in remaining.values()) == sum(len(piece) for piece in kept)


def test_what_counts_as_a_word() -> None:
    texts = [
        "Straße und Café", "STRASSE, und Cafe\u0301!", "don't", "internationalisation Internationalisation", "港は静か",
        "x" * 100, "x" * 101, "ｆｕｌｌ full", "12345678 1234567 a1b2c3d4e5",
    ]  # fmt: skip
    words = hashed(texts)
    lists = [words.hashes[begin:end].tolist() for begin, end in zip(words.first[:-1], words.first[1:], strict=True)]
    assert lists[0] == lists[1]
    assert [len(each) for each in lists] == [3, 3, 2, 2, 4, 1, 1, 2, 3]
    assert lists[3][0] == lists[3][1]
    assert lists[7][0] == lists[7][1]
    assert lists[5] != lists[6]
    # Words of scripts with spaces are those of sentences, under the same seed.
    spaced = pa.array([text for text in texts if text != "港は静か"], pa.large_string())
    tokens, _ = tokenise_texts(spaced, SEED)
    assert len(tokens) == len(hash_texts(spaced, SEED).hashes)


def test_words_are_located_in_characters() -> None:
    text = "«Größe» 1,5 — ‘naïve’ 港は\n😀 end."
    words = hashed([text])
    n = len(words.hashes)
    begins, ends = locate_texts(pa.array([text], pa.large_string()), np.zeros(n + 1, np.int64), np.arange(n + 1))
    found = [text[begin:end] for begin, end in zip(begins, ends, strict=True)]
    assert found == ["Größe", "1", "5", "naïve", "港", "は", "end", ""]
    assert (begins[-1], ends[-1]) == (len(text), len(text))


def test_words_that_are_alike_for_64_bytes_are_different_words() -> None:
    long = "x" * 80
    texts = [f"{long}a one two three", f"{long}b one two three"]
    assert ibidem.dedup(texts, level="run", min_run_words=4).removed.num_rows == 0
    assert ibidem.dedup(texts, level="run", min_run_words=3).removed.num_rows == 1


@pytest.mark.parametrize("storage", [{}, {"memory": "1MB"}, {"partitions": 3}])
def test_runs_cross_sentences_and_documents(tmp_path: Path, storage: dict[str, Any]) -> None:
    shared = " ".join(f"word{number}" for number in range(60))
    texts = [f"Alpha starts here. {shared}. Then it ends.", f"{shared}, and more of it", f"So, {shared}"]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(f'{{"id": "{name}", "text": "{text}"}}\n' for name, text in zip("abc", texts, strict=True)))
    with ibidem.dedup(path, level="run", **storage) as result:
        result.write(tmp_path / "out")
    lines = (tmp_path / "out" / "in.jsonl").read_text().splitlines()
    assert lines[0] == path.read_text().splitlines()[0]
    assert [line.split('"text": ')[1] for line in lines[1:]] == ['"and more of it"}', '"So, "}']
    with ibidem.find(path, runs=True, min_run_words=50, **storage) as found:
        rows = rows_of(found.runs)
    first = texts[0].index("word0")
    assert [(row["id"], row["n_words"], row["first_id"], row["first_start"]) for row in rows] == [
        ("b", 60, "a", first), ("c", 60, "a", first),
    ]  # fmt: skip


def test_a_table_that_was_not_asked_for() -> None:
    with pytest.raises(ibidem.UsageError, match="no table runs"):
        _ = ibidem.find(["a b c", "d e f"]).runs
