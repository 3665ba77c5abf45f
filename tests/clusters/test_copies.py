"""Edited copies are cut from the later document only, and only where the earlier one keeps its side."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.alignment import Aligned, Words
from ibidem.clusters.copies import cut_words, decided
from ibidem.clusters.kernels.copies import CUT, GIVES
from ibidem.errors import UsageError
from tests.texts import word

LENGTHS = st.lists(st.integers(1, 12), min_size=2, max_size=5)


def in_words(lengths: list[int]) -> Words:
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Words(np.zeros(first[-1], np.uint32), np.zeros(first[-1] + 1, np.uint8), first, first)


@settings(max_examples=1000, deadline=None)
@given(LENGTHS, st.randoms(use_true_random=False), st.sampled_from([0.0, 0.5, 1.0]), st.booleans())
def test_cuts_are_those_decided_document_by_document(
    lengths: list[int], chance: random.Random, limit: float, has_reference: bool
) -> None:
    """The twin looks at documents, words and passages one by one."""
    words, n_documents = in_words(lengths), len(lengths)
    first = words.document_first.tolist()
    position = list(range(n_documents))
    chance.shuffle(position)
    is_reference = [has_reference and chance.random() < 0.4 for _ in range(n_documents)]
    if has_reference:  # as in a run: the reference comes first
        order = sorted(range(n_documents), key=lambda document: (not is_reference[document], position[document]))
        position = [order.index(document) for document in range(n_documents)]
    table = []
    for _ in range(chance.randrange(8)):
        a, b = sorted(chance.sample(range(n_documents), 2))
        row = [0]
        for document in (a, b):
            start = chance.randrange(lengths[document])
            row += [first[document] + start, first[document] + chance.randrange(start, lengths[document]) + 1]
        table.append([*row, chance.randrange(min(row[2] - row[1], row[4] - row[3]) + 1)])
    states = np.array([chance.choice([0, 0, 0, CUT, GIVES]) for _ in range(first[-1])], np.uint8)
    aligned = Aligned(np.array(table, np.int64).reshape(-1, 6))
    reference = np.array(is_reference if has_reference else [], np.bool_)
    passages = decided(aligned, words, np.array(position), reference, Fraction(str(limit)))
    pieces, after = cut_words(passages.spans, states)

    expected, sources = states.tolist(), {}
    document_of = [document for document, length in enumerate(lengths) for _ in range(length)]
    for document in sorted(range(n_documents), key=position.__getitem__):
        mine = []
        for _, a_start, a_end, b_start, b_end, common in table:
            if 2 * common / (a_end - a_start + b_end - b_start) < limit:
                continue
            sides = [(a_start, a_end), (b_start, b_end)]
            if position[document_of[a_start]] < position[document_of[b_start]]:
                sides.reverse()
            copy, stays = sides
            if document_of[copy[0]] != document:
                continue
            if has_reference and (is_reference[document] or not is_reference[document_of[stays[0]]]):
                continue
            mine.append((copy[0] - copy[1], copy[0], position[document_of[stays[0]]], stays[0], copy, stays))
        for *_, copy, stays in sorted(mine):
            if any(expected[at] == CUT for at in range(*stays)):
                continue
            for at in range(*copy):
                if expected[at] == 0:
                    expected[at] = CUT
                    sources[at] = stays
    assert after.tolist() == expected
    found = {at: tuple(passages.spans[n, 2:].tolist()) for n, start, end in pieces.tolist() for at in range(start, end)}
    assert found == sources
    for stays in found.values():  # whatever was cut is kept elsewhere in the end
        assert all(after[at] != CUT for at in range(*stays))


def sentences(chance: random.Random, n: int) -> list[list[str]]:
    return [[word(chance.randrange(4000)) for _ in range(12)] for _ in range(n)]


def joined(lines: list[list[str]]) -> str:
    return " ".join(" ".join(line).capitalize() + "." for line in lines)


def edited(lines: list[list[str]], chance: random.Random) -> list[list[str]]:
    """Return the same with two words of every sentence replaced."""
    changed = [list(line) for line in lines]
    for line in changed:
        for at in chance.sample(range(len(line)), 2):
            line[at] = word(chance.randrange(4000, 8000))
    return changed


def collection(seed: int = 1) -> tuple[list[dict[str, str]], str]:
    """Return three documents, the second with an edited copy from the first between its own text, and that copy."""
    chance = random.Random(seed)
    shared, own = sentences(chance, 8), sentences(chance, 8)
    copy = joined(edited(shared, chance))
    return [
        {"id": "a", "text": joined([*sentences(chance, 4), *shared, *sentences(chance, 4)])},
        {"id": "b", "text": f"{joined(own[:4])} {copy} {joined(own[4:])}"},
        {"id": "c", "text": joined(sentences(chance, 10))},
    ], copy


def cleaned(records: list[dict[str, str]], **settings: Any) -> dict[str, str]:
    return {row["id"]: row["text"] for row in ibidem.dedup(records, level="passage", **settings).cleaned()}


def test_an_edited_copy_is_cut_and_the_rest_stays() -> None:
    records, copy = collection()
    assert cleaned(records) == {row["id"]: row["text"] for row in records}  # nothing is the same, word for word
    result = ibidem.dedup(records, level="passage", align=True)
    after = {row["id"]: row["text"] for row in result.cleaned()}
    assert after["a"] == records[0]["text"]
    assert after["c"] == records[2]["text"]
    assert after["b"] == records[1]["text"].replace(copy + " ", "")
    (row,) = result.removed.to_pylist()
    assert row["id"] == "b"
    assert row["matched_id"] == "a"
    assert 0.7 < row["similarity"] < 0.95
    assert row["n_sentences"] == 8


def test_the_kept_one_is_chosen_by_the_rule() -> None:
    records, _copy = collection()
    records[1]["text"] += " " + joined(sentences(random.Random(9), 30))
    after = cleaned(records, align=True, keep="longest")
    assert after["b"] == records[1]["text"]
    assert len(after["a"]) < len(records[0]["text"])


def test_how_similar_a_copy_must_be_can_be_set() -> None:
    records, _ = collection()
    assert cleaned(records, align=True, min_copy_similarity=0.99)["b"] == records[1]["text"]


def test_what_other_documents_rely_on_is_kept() -> None:
    """c repeats sentences of b word for word; they stay in b, although a has an edited copy of them."""
    chance = random.Random(3)
    shared = sentences(chance, 9)
    copy = edited(shared, chance)
    records = [
        {"id": "a", "text": joined(shared)},
        {"id": "b", "text": joined(copy)},
        {"id": "c", "text": joined([*sentences(chance, 3), *copy[3:6], *sentences(chance, 3)])},
    ]
    after = cleaned(records, align=True)
    for sentence in copy[3:6]:
        assert joined([sentence]) in after["b"] + after["c"]
    assert joined([copy[0]]) not in after["b"]


def test_half_a_sentence_is_cut() -> None:
    chance = random.Random(5)
    (long,) = [[word(chance.randrange(4000)) for _ in range(40)]]
    records = [
        {"id": "a", "text": joined([*sentences(chance, 3), long])},
        {"id": "b", "text": joined([[word(9000 + n) for n in range(10)] + long, *sentences(chance, 3)])},
    ]
    before = records[1]["text"]
    after = cleaned(records, align=True)["b"]
    assert len(after) < len(before) - 150
    assert after.startswith(before[:40])
    assert after.endswith(before[-100:])


def test_with_a_reference_only_copies_from_it_are_cut() -> None:
    records, copy = collection()
    others, _ = collection(seed=2)
    inputs = [{**row, "id": f"{row['id']}{n}"} for n, some in enumerate(([records[1]], others)) for row in some]
    after = {
        row["id"]: row["text"] for row in ibidem.dedup(inputs, against=[records[0]], level="passage", align=True).cleaned()
    }
    assert copy not in after["b0"]
    assert {row["id"]: row["text"] for row in inputs[1:]}.items() <= after.items()


def test_in_partitions_it_is_refused_before_anything_is_read() -> None:
    with pytest.raises(UsageError, match="needs the whole collection in memory"):
        ibidem.dedup(collection()[0], level="passage", align=True, partitions=2)


@pytest.mark.parametrize("level", ["document", "sentence"])
def test_only_passages_are_aligned(level: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="removes no edited passages"):
        ibidem.dedup([{"id": "a", "text": "One."}], level=level, align=True)
