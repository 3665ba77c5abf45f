"""Texts that were made to have the digest of others remove nothing and are reported equal to nothing, at every level."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ibidem
from tests.execution.parity import rows_of
from tests.forging import digest_of, forged, forged_words

VICTIM = "The council said on Monday that the old bridge over the river would be closed for repairs until the end of May."
BAIT = "Nothing in here has anything to do with what the others wrote about"
LONG = (VICTIM, "Nobody had expected it.", "The ferry to the islands leaves from the northern quay in the meantime.")
SEEDS = pytest.mark.parametrize("seed", [{}, {"hash_seed": 0}], ids=["secret", "public"])
LEVELS = pytest.mark.parametrize("level", ["document", "passage", "sentence"])


def attack(level: str) -> tuple[str, str]:
    """Return a text made to remove another, and that other one."""
    if level == "passage":
        return " ".join(f"{forged(f'{BAIT} {number}', each)}." for number, each in enumerate(LONG)), " ".join(LONG)
    return f"{forged(BAIT, VICTIM)}.", VICTIM


def records(*texts: str) -> list[dict[str, str]]:
    return [{"id": f"d{number}", "text": text} for number, text in enumerate(texts)]


def in_files(folder: Path, **sides: str) -> list[str]:
    for name, text in sides.items():
        (folder / f"{name}.jsonl").write_text(json.dumps({"id": name, "text": text}) + "\n", encoding="utf-8")
    return [str(folder / f"{name}.jsonl") for name in sides]


def removed(result: Any) -> list[dict[str, Any]]:
    return rows_of(result.removed)


def test_the_forger_forges() -> None:
    assert digest_of(forged(BAIT, VICTIM)) == digest_of(VICTIM)
    assert digest_of(forged_words(VICTIM)) == digest_of(VICTIM)


@LEVELS
@SEEDS
def test_a_forged_digest_removes_nothing(level: str, seed: dict[str, int]) -> None:
    made, victim = attack(level)
    assert removed(ibidem.dedup(records(made, victim), level=level, **seed)) == []
    assert removed(ibidem.dedup(records(victim), against=records(made), level=level, **seed)) == []


@LEVELS
@SEEDS
def test_what_is_equal_is_removed_beside_a_forged_text(level: str, seed: dict[str, int]) -> None:
    made, victim = attack(level)
    found = removed(ibidem.dedup(records(made, victim, victim.upper()), level=level, **seed))
    assert [(row["id"], row["matched_id"]) for row in found] == [("d2", "d1")]


@SEEDS
def test_a_forged_sentence_does_not_make_up_a_passage(seed: dict[str, int]) -> None:
    """The forged sentence goes nowhere: only its neighbour, which is equal, would be removed."""
    opening, (first, _, last) = "A sentence of the forger's own opens both of these pages, and is of no interest.", LONG
    made = f"{opening} {forged(BAIT, first)}."
    found = removed(ibidem.dedup(records(made, f"{made} {last}", f"{first} {last}"), level="passage", min_sentences=2, **seed))
    assert [(row["id"], row["matched_id"]) for row in found] == [("d1", "d0")]


@LEVELS
@SEEDS
@pytest.mark.parametrize("signature", ["exact", "words"])
def test_a_forged_digest_removes_nothing_on_disk(level: str, seed: dict[str, int], signature: str, tmp_path: Path) -> None:
    made, victim = attack(level)
    inputs = in_files(tmp_path, made=made, victim=victim)
    with ibidem.dedup(inputs, level=level, signature=signature, partitions=2, **seed) as result:
        assert removed(result) == []
    inputs = in_files(tmp_path, made=made, victim=victim, copy=victim.upper())
    with ibidem.dedup(inputs, level=level, signature=signature, partitions=2, **seed) as result:
        assert [(row["id"], row["matched_id"]) for row in removed(result)] == [("copy", "victim")]


@SEEDS
@pytest.mark.parametrize("signature", ["exact", "words", "shingles", "imatch", "fingerprint"])
def test_a_forged_sentence_is_no_passage_on_disk(signature: str, seed: dict[str, int], tmp_path: Path) -> None:
    inputs = in_files(tmp_path, made=attack("sentence")[0], victim=VICTIM)
    with ibidem.find(inputs, partitions=2, signature=signature, **seed) as result:
        assert rows_of(result.passages) == []


@SEEDS
def test_a_forged_digest_is_no_duplicate(seed: dict[str, int]) -> None:
    result = ibidem.cluster(records(f"{forged(BAIT, VICTIM)}.", VICTIM), **seed)
    assert (rows_of(result.duplicates), rows_of(result.clusters)) == ([], [])


@pytest.mark.parametrize("signature", ["auto", "exact", "words", "shingles", "imatch", "fingerprint"])
@SEEDS
def test_a_forged_sentence_is_no_passage(signature: str, seed: dict[str, int]) -> None:
    documents = records(f"{forged(BAIT, VICTIM)}.", VICTIM)
    assert rows_of(ibidem.find(documents, signature=signature, **seed).passages) == []


@LEVELS
def test_forged_words_remove_nothing_under_a_secret_seed(level: str) -> None:
    victim = " ".join(LONG)
    made = " ".join(forged_words(each) for each in LONG)
    assert removed(ibidem.dedup(records(made, victim), level=level, shingle_size=3)) == []
    assert removed(ibidem.dedup(records(victim), against=records(made), level=level, signature="words")) == []


def test_an_index_does_not_know_what_was_forged(tmp_path: Path) -> None:
    with ibidem.Index(tmp_path / "index") as index:
        index.add(records(forged_words(VICTIM)))
        assert index.config.sentences.hash_seed > 0
        verdict = index.check({"id": "victim", "text": VICTIM})
        assert (verdict.duplicated, verdict.n_known) == (False, 0)
