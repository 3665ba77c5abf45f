"""`find` over partitions gives what `find` on this machine gives, row for row."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibidem.alignment import candidates, quotations
from ibidem.config import SIGNATURES, Config
from ibidem.errors import InputError, NoDocumentsError, RepeatedIdError
from ibidem.matches.exchange import join
from ibidem.passages.exchange import extension
from tests.execution.parity import found_apart, local_tables
from tests.execution.random_collections import edited_records, glued_records, odd_records, random_records, skewed_records
from tests.texts import text, word

# Limits of what is reported; mostly none.
REPORTED = st.sampled_from(
    [{}, {}, {"min_coverage": "0.5"}, {"min_passage_chars": 80, "min_passage_similarity": "0.9", "min_coverage": "0.2"}]
)


@pytest.mark.parametrize("signature", SIGNATURES)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_random_collections(signature: str, data: Any) -> None:
    seed = data.draw(st.integers(0, 10**6))
    records = random_records(seed, data.draw(st.integers(2, 14)))
    against = (
        random_records(seed, data.draw(st.integers(1, 8)), data.draw(st.sampled_from("de")))
        if data.draw(st.booleans())
        else None
    )
    chosen = {
        "signature": signature,
        "max_places": data.draw(st.sampled_from([2, 3, 5, 100])),
        "min_sentences": data.draw(st.sampled_from([1, 2, 3])),
        "same_document": data.draw(st.booleans()),
        "skip_same_group": data.draw(st.booleans()),
        "max_gap_sentences": data.draw(st.sampled_from([0, 2, 4])),
        "min_quote_words": data.draw(st.sampled_from([0, 5, 10])),
        "min_similarity": data.draw(st.sampled_from(["0.5", "0.8", "1"])),
        **data.draw(REPORTED),
    }
    partitions, rows = data.draw(st.sampled_from([1, 2, 3, 7])), data.draw(st.sampled_from([1, 3, 50]))
    assert found_apart(records, against, partitions, rows, seed, **chosen) == local_tables(records, against, **chosen)


@pytest.mark.parametrize("signature", SIGNATURES)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_passages_aligned_word_by_word(signature: str, data: Any) -> None:
    seed = data.draw(st.integers(0, 10**6))
    make = data.draw(st.sampled_from([edited_records, edited_records, random_records]))
    records = make(seed, data.draw(st.integers(2, 14)))
    against = make(seed, data.draw(st.integers(1, 8)), data.draw(st.sampled_from("de"))) if data.draw(st.booleans()) else None
    chosen = {
        "align": True,
        "signature": signature,
        "min_aligned_words": data.draw(st.sampled_from([5, 12, 25])),
        "min_evidence": data.draw(st.sampled_from([2.0, 10.0, 25.0])),
        "max_places": data.draw(st.sampled_from([2, 100])),
        "min_sentences": data.draw(st.sampled_from([1, 3])),
        "same_document": data.draw(st.booleans()),
        "skip_same_group": data.draw(st.booleans()),
        "max_gap_sentences": data.draw(st.sampled_from([0, 2])),
        "min_quote_words": data.draw(st.sampled_from([0, 5, 10])),
        "min_similarity": data.draw(st.sampled_from(["0.5", "0.8"])),
        **data.draw(REPORTED),
    }
    partitions, rows = data.draw(st.sampled_from([1, 2, 5])), data.draw(st.sampled_from([1, 3, 50]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "LEAST_RARE", data.draw(st.sampled_from([0, 100])))  # so that some words are common
        patch.setattr(quotations, "LEAST_BITS", 15.0)  # so that there are short quotations
        assert found_apart(records, against, partitions, rows, seed, **chosen) == local_tables(records, against, **chosen)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_ends_that_are_glued_to_other_text(data: Any) -> None:
    """However much text is sent at first."""
    seed = data.draw(st.integers(0, 10**6))
    records = glued_records(seed, data.draw(st.integers(2, 12)))
    against = glued_records(seed, data.draw(st.integers(1, 6)), "e") if data.draw(st.booleans()) else None
    chosen = {
        "signature": data.draw(st.sampled_from(["exact", "words"])),
        "min_sentences": data.draw(st.sampled_from([1, 2, 3])),
        "same_document": data.draw(st.booleans()),
        "max_gap_sentences": data.draw(st.sampled_from([0, 4])),
        "min_quote_words": data.draw(st.sampled_from([0, 5, 10])),
    }
    partitions, rows = data.draw(st.sampled_from([1, 2, 5])), data.draw(st.sampled_from([1, 3, 50]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extension, "_FIRST_BYTES", data.draw(st.sampled_from([1, 8, 30, 512])))
        assert found_apart(records, against, partitions, rows, seed, **chosen) == local_tables(records, against, **chosen)


def test_ends_move_and_passages_are_joined() -> None:
    """Otherwise the test above could pass without it."""
    records = [record for seed in range(6) for record in glued_records(seed, 12, f"{seed}-")]
    chosen: dict[str, Any] = {"signature": "exact", "max_gap_sentences": 0, "min_sentences": 1}
    moved, plain = (local_tables(records, None, extend_ends=extend, **chosen)[0] for extend in (True, False))
    assert found_apart(records, None, 5, 7, **chosen)[0] == moved
    assert 0 < len(moved) < len(plain)
    assert 0 < len([row for row in moved if row in plain]) < len(moved)


@pytest.mark.parametrize("summaries", [False, True])
def test_alignment_adds_passages_drops_others_and_changes_copies(summaries: bool) -> None:
    """Otherwise the test above could pass without it."""
    records = [record for seed in range(6) for record in edited_records(seed, 12, f"{seed}-")]
    config = Config.of(align=True, signature="exact", min_aligned_words=12, summaries=summaries)
    aligned = local_tables(records, None, config=config)
    assert found_apart(records, None, 5, 7, config=config) == aligned
    plain = local_tables(records, None, signature="exact")
    kept = [row for row in aligned[0] if row in plain[0]]
    assert 0 < len(kept) < min(len(aligned[0]), len(plain[0]))
    assert [row["cluster"] for row in aligned[1]] != [row["cluster"] for row in plain[1]]


def test_marks_with_too_many_places() -> None:
    """Words in a row in eight documents lead to all pairs, in nine to hardly any: wherever the documents are."""
    run = " ".join(word(9000 + k) for k in range(30))
    n_pairs = []
    for n_documents in (8, 9):
        records = [{"id": str(n), "text": f"{text(20 + n)[:-1]} {run} {text(60 + n)}"} for n in range(n_documents)]
        expected = local_tables(records, None, align=True)
        n_pairs.append(len(expected[0]))
        for partitions in (1, 3):
            assert found_apart(records, None, partitions, 2, align=True) == expected
    assert n_pairs[0] == 28 > n_pairs[1]


@pytest.mark.parametrize("signature", ["exact", "words"])
@pytest.mark.parametrize("batch_rows", [7, 1000])
def test_one_footer_everywhere(signature: str, batch_rows: int) -> None:
    records = skewed_records(400)
    expected = local_tables(records, None, signature=signature)
    assert expected[0]
    assert len(expected[2]) == 1
    assert found_apart(records, None, 4, batch_rows, signature=signature) == expected


@pytest.mark.parametrize("signature", SIGNATURES)
def test_unusual_texts(signature: str) -> None:
    for chosen in ({}, {"same_document": True, "max_places": 2}, {"min_sentences": 1}, {"paper": True}):
        expected = local_tables(odd_records(), None, signature=signature, **chosen)
        assert found_apart(odd_records(), None, 3, signature=signature, **chosen) == expected


@pytest.mark.parametrize(
    "chosen",
    [
        {"signature": "imatch", "min_idf": 0.3, "max_idf": 0.7},
        {"signature": "fingerprint", "max_document_share": 0.1, "paper": True},
        {"signature": "spotsigs", "antecedents": "3"},
        {"signature": "spotsigs", "antecedents": "20", "spot_stop_words": "5", "spot_short_chains": True},
        {"signature": "spotsigs", "antecedents": "badobafi babadoba", "spot_stop_words": "4", "spot_chain": 1},
        {"signature": "spotsigs", "spot_stop_words": "badobafi,babadoba", "stop_words": "dobafi"},
        {"signature": "spotsigs", "stop_words": "badobafi babadoba", "spot_distance": 2, "min_similarity": "0.5"},
        {"signature": "spotsigs", "antecedents": "badobafi babadoba"},
        {"signature": "shingles", "shingle_size": 3, "min_similarity": "0.4"},
        {"signature": "shingles", "shingle_size": 9, "paper": True},
    ],
)
def test_settings_of_signatures(chosen: dict[str, Any]) -> None:
    records = random_records(5, 60)
    expected = local_tables(records, None, **chosen)
    assert found_apart(records, None, 3, **chosen) == expected


@pytest.mark.parametrize("seed", range(12))
def test_members_of_many_sets_meet_in_blocks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join, "_LONG_LIST", 2)
    monkeypatch.setattr(join, "_LEAST_COUNT", 1)
    records = random_records(seed, 30)
    # Sizes far apart: blocks of short and of long sentences do not meet, and each has its own pairs.
    shared = [
        f"{word(7)} " * (1 + 40 * (n % 2)) + " ".join(word(8000 + 50 * (n % 2) + k) for k in range(20 * (n % 2) + 5 + n % 3))
        for n in range(12)
    ]
    records += [{"id": f"s{n}", "text": f"{value.capitalize()}. {text(500 + n)}"} for n, value in enumerate(shared)]
    chosen = {"min_similarity": "0.4" if seed % 2 else "0.8", "signature": "words" if seed % 3 else "shingles"}
    assert found_apart(records, None, 3, seed=seed, **chosen) == local_tables(records, None, **chosen)


def test_what_is_wrong_is_said() -> None:
    records = random_records(1, 4)
    with pytest.raises(RepeatedIdError, match="'d1' occurs twice"):
        found_apart([*records, {"id": "d1", "text": "Once more."}], None, 3)
    with pytest.raises(InputError, match="no record has a time in the field 'when'"):
        found_apart(records, None, 3, time_field="when")
    with pytest.raises(NoDocumentsError, match="the inputs contain no documents"):
        found_apart([{"id": "x", "text": ""}], records, 3)
