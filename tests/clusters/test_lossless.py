"""`dedup --lossless`: every few words in a row of what is removed are also in what remains, whatever proves what."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ibidem
from tests.execution.parity import removed_apart

LEVELS: dict[str, dict[str, Any]] = {
    "document": {"level": "document"},
    "passage": {"level": "passage"},
    "sentence": {"level": "sentence"},
    "run": {"level": "run"},
    "aligned": {"level": "passage", "align": True, "min_aligned_words": 5, "min_sentences": 2},
    "similar": {"level": "passage", "signature": "words", "min_similarity": 0.5, "min_sentences": 1},
}
Records = list[dict[str, str]]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def records_of(chance: random.Random) -> tuple[Records, Records | None]:
    """Return documents made of few sentences, some with another word, and perhaps a reference."""
    n_words = chance.choice([2, 3, 6, 30])
    pool = [[f"w{chance.randrange(n_words)}" for _ in range(chance.randrange(1, 9))] for _ in range(chance.choice([2, 4, 8]))]

    def document() -> str:
        sentences = []
        for _ in range(chance.randrange(1, 7)):
            sentence = list(chance.choice(pool))
            if chance.random() < 0.2:
                sentence[chance.randrange(len(sentence))] = f"x{chance.randrange(5)}"
            sentences.append(" ".join(sentence).capitalize() + ". ")
        return "".join(sentences)

    inputs = [{"id": f"d{number}", "text": document()} for number in range(chance.randrange(2, 9))]
    has_reference = chance.random() < 0.3
    return inputs, [{"id": f"r{number}", "text": document()} for number in range(3)] if has_reference else None


def settings_of(level: str, chance: random.Random) -> dict[str, Any]:
    more: dict[str, dict[str, Any]] = {
        "document": {"shingle_size": chance.choice([1, 2, 3]), "min_similarity": chance.choice([0.3, 0.6, 0.8])},
        "passage": {"min_sentences": chance.choice([1, 2, 3])},
        "sentence": {"min_quote_words": chance.choice([1, 4])},
        "run": {"min_run_words": chance.choice([2, 4, 8])},
    }
    return {**LEVELS[level], **more.get(level, {})}


def kept_and_gone(texts: dict[str, str], rows: list[dict[str, Any]]) -> tuple[list[list[str]], list[list[str]]]:
    """Return the words of every stretch that remains, and of every stretch that is removed: those that touch are one."""
    spans: dict[str, list[list[int]]] = {}
    for row in rows:
        of_text = spans.setdefault(row["id"], [])
        if of_text and of_text[-1][1] == row["start"]:
            of_text[-1][1] = row["end"]
        else:
            of_text.append([row["start"], row["end"]])
    kept, gone = [], []
    for name, text in texts.items():
        at = 0
        for start, end in spans.get(name, []):
            kept.append(words(text[at:start]))
            gone.append(words(text[start:end]))
            at = end
        kept.append(words(text[at:]))
    return kept, gone


@given(st.sampled_from(sorted(LEVELS)), st.integers(0, 1 << 30), st.sampled_from([1, 2, 3, 4]))
def test_what_is_removed_remains(level: str, number: int, size: int) -> None:
    chance = random.Random(number)
    inputs, against = records_of(chance)
    settings = settings_of(level, chance)
    rows = ibidem.dedup(inputs, against=against, lossless=True, lossless_words=size, **settings).removed.to_pylist()
    texts = {record["id"]: record["text"] for record in [*inputs, *(against or [])]}
    kept, gone = kept_and_gone(texts, rows)
    remaining = {tuple(part[i : i + n]) for part in kept for n in range(1, size + 1) for i in range(len(part) - n + 1)}
    for part in gone:
        n = min(size, len(part))
        assert all(tuple(part[i : i + n]) in remaining for i in range(len(part) - n + 1))
    assert {(row["id"], row["start"], row["end"]) for row in rows} <= {
        (row["id"], row["start"], row["end"]) for row in ibidem.dedup(inputs, against=against, **settings).removed.to_pylist()
    }
    for row in rows:
        text = texts[row["id"]]
        for receipt in row["receipt"]:
            there = texts[receipt["id"]][receipt["matched_start"] : receipt["matched_end"]]
            assert words(text[receipt["start"] : receipt["end"]]) == words(there)
        if settings["level"] == "document" and len(words(text)) >= size:
            spans = [(receipt["start"], receipt["end"]) for receipt in row["receipt"]]
            places = [(match.start(), match.end()) for match in re.finditer(r"\w+", text)]
            assert all(any(start <= begin and end <= stop for start, stop in spans) for begin, end in places)


def test_copies_that_prove_one_another_do_not_both_go() -> None:
    common = " ".join(f"word{number}" for number in range(40))
    texts = [f"{common}.", f"{common} only these two.", f"{common} only these two."]
    settings: dict[str, Any] = {"shingle_size": 3, "min_similarity": 0.7}
    assert [row["id"] for row in ibidem.dedup(texts, **settings).removed.to_pylist()] == ["1", "2"]
    result = ibidem.dedup(texts, lossless=True, **settings)
    assert [row["id"] for row in result.removed.to_pylist()] == ["2"]
    assert result.counts["unique_removals"] == 1
    assert result.counts["unique_characters"] == len(texts[1])


def test_a_receipt_names_every_place(tmp_path: Any) -> None:
    first, second = (" ".join(f"{name}{number}" for number in range(12)) for name in ("one", "two"))
    texts = [f"{first}. {second}. {' '.join(f'three{n}' for n in range(4))}.", f"{second}. {first}."]
    settings: dict[str, Any] = {"shingle_size": 2, "min_similarity": 0.7}
    assert ibidem.dedup(texts, lossless=True, **settings).removed.num_rows == 0  # the joint of the two is nowhere else
    texts.append(f"A joint: {second}. {first}. Of nothing else but of many other words that nobody wrote before or since then.")
    (row,) = ibidem.dedup(texts, lossless=True, **settings).removed.to_pylist()
    shown = [(texts[int(r["id"])][r["matched_start"] : r["matched_end"]], r["id"]) for r in row["receipt"]]
    assert (second, "0") in shown
    assert {name for _, name in shown} == {"0", "2"}


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(sorted(LEVELS)), st.integers(0, 1 << 30), st.sampled_from([1, 2, 3, 4]), st.sampled_from([1, 2, 5]),
    st.sampled_from([1, 50]),
)  # fmt: skip
def test_in_partitions_the_same_is_removed(level: str, number: int, size: int, n_partitions: int, batch_rows: int) -> None:
    chance = random.Random(number)
    inputs, against = records_of(chance)
    settings = {**settings_of(level, chance), "lossless": True, "lossless_words": size}
    expected = ibidem.dedup(inputs, against=against, **settings).removed.to_pylist()
    assert removed_apart(inputs, against, n_partitions, batch_rows, number, **settings) == expected


def test_copies_of_many_are_kept_apart_from_those_that_stay(tmp_path: Any) -> None:
    """What the marks say of clusters: a document that stays after all is a duplicate of nothing."""
    common = " ".join(f"word{number}" for number in range(40))
    path = tmp_path / "in.jsonl"
    texts = [f"{common}.", f"{common} only these two.", f"{common} only these two."]
    path.write_text("".join(json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate(texts)))
    found = []
    for storage in ({}, {"partitions": 3}):
        with ibidem.dedup(path, lossless=True, mark_only=True, shingle_size=3, min_similarity=0.7, **storage) as result:
            result.write(tmp_path / "out", overwrite=True)
            assert result.counts["unique_removals"] == 1
            assert result.counts["unique_characters"] == len(texts[1])
            found.append((tmp_path / "out" / "in.jsonl").read_text())
            found.append((tmp_path / "out" / "removed.jsonl").read_text())
    assert found[:2] == found[2:]
    marks = [json.loads(line)["ibidem_duplicate_of"] for line in found[0].splitlines()]
    assert marks == [None, None, "0"]


@pytest.mark.parametrize("level", ["document", "passage", "sentence", "run"])
def test_on_disk_the_same_copies_are_written(tmp_path: Any, level: str) -> None:
    chance = random.Random(4)
    inputs = [record for number in range(12) for record in records_of(chance)[0]]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({**record, "id": str(n)}) + "\n" for n, record in enumerate(inputs)))
    settings = {**settings_of(level, chance), "lossless": True}
    found = []
    for storage in ({}, {"partitions": 3}):
        with ibidem.dedup(path, **settings, **storage) as result:
            assert (result.backing.storage == "disk") == bool(storage)
            result.write(tmp_path / "out", overwrite=True)
        files = sorted(file for file in (tmp_path / "out").iterdir() if file.name not in ("run.json", "skipped.jsonl"))
        found.append([file.read_text() for file in files])
    assert found[0] == found[1]
    assert len(found[0][1]) > 0
