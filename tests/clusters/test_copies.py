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
from ibidem.alignment import Words
from ibidem.clusters.copies import cut_words, in_order
from ibidem.clusters.kernels.copies import CUT, FEW_WORDS, GIVES
from ibidem.errors import UsageError
from ibidem.sentences.kernels.stems import SENTENCE_BOUND
from tests.texts import word

LENGTHS = st.lists(st.integers(1, 25), min_size=2, max_size=5)


def in_words(lengths: list[int], chance: random.Random) -> Words:
    """Return documents of few different words, with sentences of any length."""
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    stems = np.array([chance.randrange(chance.choice([3, 30])) for _ in range(first[-1])], np.uint32)
    bounds = np.array([chance.choice([0, 0, 0, SENTENCE_BOUND]) for _ in range(first[-1] + 1)], np.uint8)
    bounds[first] = SENTENCE_BOUND
    return Words(stems, bounds, first, first)


def is_copy(own: list[int], other: list[int], limit: Fraction) -> bool:
    """Return whether enough of some words are together somewhere in others; a few have to be there in a row."""
    size = len(own)
    if size < FEW_WORDS and not any(other[at : at + size] == own for at in range(len(other))):
        return False
    width = 2 * size + 10
    windows = [set(other[max(0, at - width) : at]) for at in range(len(other) + 1)]
    return max(len(set(own) & window) for window in windows) >= limit * len(set(own))


@settings(max_examples=1000, deadline=None)
@given(LENGTHS, st.randoms(use_true_random=False), st.sampled_from(["0", "1/2", "7/10", "1"]), st.booleans())
def test_cuts_are_those_decided_document_by_document(
    lengths: list[int], chance: random.Random, share: str, has_reference: bool
) -> None:
    """The twin looks at documents, passages and sentences one by one."""
    limit = Fraction(share)
    words, n_documents = in_words(lengths, chance), len(lengths)
    first, tokens = words.document_first.tolist(), words.stem.tolist()
    position = list(range(n_documents))
    chance.shuffle(position)
    is_reference = [has_reference and chance.random() < 0.4 for _ in range(n_documents)]
    if has_reference:  # as in a run: the reference comes first
        order = sorted(range(n_documents), key=lambda document: (not is_reference[document], position[document]))
        position = [order.index(document) for document in range(n_documents)]
    table = []
    for _ in range(chance.randrange(8)):
        row: list[int] = []
        for document in sorted(chance.sample(range(n_documents), 2)):
            start = chance.randrange(lengths[document])
            row += [first[document] + start, first[document] + chance.randrange(start, lengths[document]) + 1]
        table.append(row)
    states = np.array([chance.choice([0, 0, 0, 0, 0, CUT, GIVES]) for _ in range(first[-1])], np.uint8)
    reference = np.array(is_reference if has_reference else [], np.bool_)
    spans = in_order(np.array(table, np.int64).reshape(-1, 4), words, np.array(position), reference)
    pieces, after = cut_words(spans, words, states, limit)

    expected, sources = states.tolist(), {}
    document_of = [document for document, length in enumerate(lengths) for _ in range(length)]
    for document in sorted(range(n_documents), key=position.__getitem__):
        mine = []
        for a_start, a_end, b_start, b_end in table:
            sides = [(a_start, a_end), (b_start, b_end)]
            if position[document_of[a_start]] < position[document_of[b_start]]:
                sides.reverse()
            copy, stays = sides
            if document_of[copy[0]] != document:
                continue
            if has_reference and (is_reference[document] or not is_reference[document_of[stays[0]]]):
                continue
            mine.append((copy[0] - copy[1], copy[0], position[document_of[stays[0]]], *stays, copy, stays))
        for *_, copy, stays in sorted(mine):
            if any(expected[at] == CUT for at in range(*stays)):
                continue
            stretches: list[list[int]] = []
            for at in range(*copy):
                if expected[at] == 0:
                    if stretches and stretches[-1][-1] == at - 1 and words.bounds[at] != SENTENCE_BOUND:
                        stretches[-1].append(at)
                    else:
                        stretches.append([at])
            for stretch in stretches:
                if is_copy([tokens[at] for at in stretch], tokens[slice(*stays)], limit):
                    for at in stretch:
                        expected[at] = CUT
                        sources[at] = stays
    assert after.tolist() == expected
    found = {at: tuple(spans[n, 2:].tolist()) for n, start, end, *_ in pieces.tolist() for at in range(start, end)}
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


@pytest.mark.parametrize("level", ["document", "sentence"])
def test_only_passages_are_aligned(level: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="removes no edited passages"):
        ibidem.dedup([{"id": "a", "text": "One."}], level=level, align=True)


@pytest.mark.parametrize("level", ["document", "passage", "sentence"])
def test_a_limit_for_edited_copies_needs_them(level: str) -> None:
    with pytest.raises(UsageError, match="has no effect: edited copies are not removed"):
        ibidem.dedup([{"id": "a", "text": "One."}], level=level, min_copy_similarity=0.8)


def test_a_sentence_put_into_a_copied_passage_stays() -> None:
    chance = random.Random(7)
    shared, new = sentences(chance, 6), "My grandmother never forgave him for selling her beloved violin to strangers."
    head = [word(chance.randrange(4000)) for _ in range(16)]
    records = [
        {"id": "a", "text": joined([[*sentences(chance, 1)[0], *head], *shared])},
        {"id": "b", "text": f"{joined([[word(9000), word(9001), *head], *shared[:3]])} {new} {joined(shared[3:])}"},
    ]
    assert new in cleaned(records, align=True)["b"]
    copied = edited(shared, chance)
    records[1]["text"] = f"{joined(copied[:3])} {new} {joined(copied[3:])}"
    after = cleaned(records, align=True)
    assert after["b"].strip() == new


def test_other_words_with_the_same_beginning_and_other_numbers_stay() -> None:
    a = "The internal committee approved invoice 12345678 for the government contractor, and the responsible ministers"
    b = "The international committees approves invoice 12345699 for the governor contractions, and the responsibly ministerial"
    more = (
        " signed everything before the summer holidays began in the small town by the sea, as they always did in those years."
    )
    records = [{"id": "a", "text": a + more}, {"id": "b", "text": b + more}]
    after = cleaned(records, align=True, min_copy_similarity=1)
    assert after["b"] == records[1]["text"]


def test_every_run_removes_the_same() -> None:
    records, _ = collection(seed=4)
    outcomes = {tuple(sorted(cleaned(records, align=True, min_copy_similarity=0.5).items())) for _ in range(4)}
    outcomes |= {
        tuple(sorted(cleaned(records, align=True, min_copy_similarity=0.5, hash_seed=seed).items())) for seed in (1, 2)
    }
    assert len(outcomes) == 1


def test_sentences_too_few_for_a_passage_are_cut_with_what_was_edited_beside_them() -> None:
    chance = random.Random(11)
    shared = sentences(chance, 6)
    copy = [*shared[:2], [*shared[2][:5], "not", *shared[2][5:]], *shared[3:]]
    records = [{"id": "a", "text": joined(shared)}, {"id": "b", "text": joined([*copy, *sentences(chance, 2)])}]
    after = cleaned(records, align=True)["b"]
    assert all(joined([sentence]) not in after for sentence in copy)


def test_a_line_break_after_a_piece_stays() -> None:
    chance = random.Random(5)
    long = [word(chance.randrange(4000)) for _ in range(40)]
    own = [word(9000 + n) for n in range(10)]
    records = [
        {"id": "a", "text": joined([*sentences(chance, 3), long])},
        {"id": "b", "text": f"{joined([own + long])}\n\n{joined(sentences(chance, 3))}"},
    ]
    assert "\n\n" in cleaned(records, align=True)["b"]
