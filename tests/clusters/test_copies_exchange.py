"""Edited copies over many partitions: what is removed is what is removed in memory, row for row, in one task or in rounds."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.clusters.exchange import copy_rounds, edited_copies
from ibidem.clusters.exchange.copy_rounds import united_spans
from ibidem.clusters.kernels.copies import mark_waiting
from ibidem.execution.flow import Sent
from tests.clusters.test_copies import edited, joined, sentences
from tests.execution.parity import Rows, removed_apart, rows_of
from tests.execution.random_collections import edited_records, random_records
from tests.memory_flow import MemoryFlow

KEEP = ["first", "longest", "earliest", "group:max", "group:min"]


def removed_here(records: Any, against: Any, **chosen: Any) -> Rows:
    return rows_of(ibidem.dedup(records, against=against, level="passage", align=True, **chosen).removed)


@pytest.mark.parametrize("signature", ["exact", "words", "shingles", "imatch", "spotsigs"])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_random_collections(signature: str, data: Any) -> None:
    seed = data.draw(st.integers(0, 10**6))
    make = data.draw(st.sampled_from([edited_records, edited_records, random_records]))
    records = make(seed, data.draw(st.integers(2, 14)))
    records[0] |= {"time": "2020-01-05", "group": "x"}
    against = make(seed, data.draw(st.integers(1, 8)), data.draw(st.sampled_from("de"))) if data.draw(st.booleans()) else None
    chosen = {
        "signature": signature,
        "keep": data.draw(st.sampled_from(KEEP)),
        "min_aligned_words": data.draw(st.sampled_from([5, 12, 25])),
        "min_copy_similarity": data.draw(st.sampled_from(["0", "0.5", "0.7", "1"])),
        "min_sentences": data.draw(st.sampled_from([1, 3])),
        "min_words": data.draw(st.sampled_from([1, 20])),
        "same_document": data.draw(st.booleans()),
        "min_similarity": data.draw(st.sampled_from(["0.5", "0.8"])),
    }
    expected = removed_here(records, against, **chosen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copy_rounds, "MOST_AT_ONCE", data.draw(st.sampled_from([0, 200, 1 << 22])))
        patch.setattr(edited_copies, "_MOST_SENT_BYTES", data.draw(st.sampled_from([50, 16 << 20])))
        for partitions in (1, 2, 5):
            found = removed_apart(records, against, partitions, 3, seed, level="passage", align=True, **chosen)
            assert found == expected


@pytest.mark.parametrize("keep", ["first", "longest"])
@pytest.mark.parametrize("partitions", [1, 2, 5])
def test_what_an_edited_copy_was_cut_for_stays(keep: str, partitions: int) -> None:
    """Nothing that is kept instead of a copy is itself removed, in whichever partition either was decided."""
    records = [record for seed in range(6) for record in edited_records(seed, 12, f"{seed}-")]
    rows = removed_apart(records, None, partitions, 7, level="passage", align=True, keep=keep)
    assert sum(row["similarity"] is not None for row in rows) > 100
    cut: dict[str, set[int]] = {}
    for row in rows:
        cut.setdefault(row["id"], set()).update(range(row["start"], row["end"]))
    for row in rows:
        assert not cut.get(row["matched_id"], set()).intersection(range(row["matched_start"], row["matched_end"])), row


def versions(n_documents: int) -> list[dict[str, Any]]:
    """Return documents of which each shares a passage with the one before and another one with the next, both edited."""
    chance = random.Random(7)
    stories = [sentences(chance, 6) for _ in range(n_documents + 1)]
    return [
        {"id": f"v{n}", "text": joined([*edited(stories[n], chance), *sentences(chance, 2), *edited(stories[n + 1], chance)])}
        for n in range(n_documents)
    ]


@pytest.mark.parametrize(("keep", "most_at_once"), [("first", 0), ("group:min", 0), ("group:min", 400), ("group:min", 1 << 22)])
def test_a_chain_takes_rounds_unless_little_is_left(keep: str, most_at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    records = versions(12)
    for n, record in enumerate(records):  # neighbours are decided one after the other, and are far apart
        record["group"] = str(n)
    records = [records[n] for n in (0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11)]
    flows: list[MemoryFlow] = []
    plain = MemoryFlow.__init__

    def watched(self: MemoryFlow, *given: Any, **named: Any) -> None:
        flows.append(self)
        plain(self, *given, **named)

    monkeypatch.setattr(MemoryFlow, "__init__", watched)
    monkeypatch.setattr(copy_rounds, "MOST_AT_ONCE", most_at_once)
    expected = removed_here(records, None, keep=keep)
    assert len({row["id"] for row in expected}) >= 10
    assert removed_apart(records, None, 6, 3, level="passage", align=True, keep=keep) == expected
    rounds = sum(stage.startswith("copies-round-") for stage in flows[0].stages)
    gathered = sum(stage.startswith("copies-left-") for stage in flows[0].stages)
    if most_at_once > 1000:
        assert (rounds, gathered) == (2, 1)
    elif most_at_once:
        assert rounds > 3
        assert gathered == 1
    else:
        assert rounds > 3
        assert gathered == 0


@settings(max_examples=300, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 8))
def test_who_waits(chance: random.Random, n_documents: int) -> None:
    """A document waits if one that it needs is elsewhere and undecided, or waits itself; the twin asks for each again."""
    edges = sorted((chance.randrange(n_documents), chance.randrange(-1, n_documents)) for _ in range(chance.randrange(12)))
    edges = [(document, kept) for document, kept in edges if kept < document]
    is_open = np.array([chance.random() < 0.7 for _ in edges], np.bool_)

    def waits(document: int) -> bool:
        needed = [kept for (at, kept), still in zip(edges, is_open.tolist(), strict=True) if at == document and still]
        return any(kept < 0 or waits(kept) for kept in needed)

    expected = [waits(document) for document in range(n_documents)]
    still_open = [still and (kept < 0 or waits(kept)) for (_, kept), still in zip(edges, is_open.tolist(), strict=True)]
    found, documents = np.zeros(n_documents, np.bool_), np.array(edges, np.int64).reshape(-1, 2)
    mark_waiting(documents[:, 0].copy(), documents[:, 1].copy(), is_open, found)
    assert found.tolist() == expected
    assert is_open.tolist() == still_open


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 20), st.integers(1, 6)), max_size=12))
def test_united_spans(spans: list[tuple[int, int, int]]) -> None:
    owner, low, size = (
        (np.array(column, np.int64) for column in zip(*spans, strict=True)) if spans else (np.empty(0, np.int64),) * 3
    )
    united = list(zip(*(column.tolist() for column in united_spans(owner, low, low + size)), strict=True))
    covered = {(who, at) for who, begin, n in spans for at in range(begin, begin + n)}
    assert sorted((who, at) for who, begin, end in united for at in range(begin, end)) == sorted(covered)
    for (who, _, end), (next_who, begin, _) in pairwise(united):
        assert (who, end) < (next_who, begin)  # they do not even touch


def test_the_words_of_documents_are_hashed_under_the_seed_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """What decides about removals must not be known to whoever wrote the texts."""
    sent: list[pa.Table] = []
    store = MemoryFlow._store

    def watched(self: MemoryFlow, stage: str, emitted: Any, outputs: Any) -> Any:
        rows: list[Sent] = list(emitted)
        sent.extend(one.rows for one in rows if stage == "copies-words" and one.table == "excerpts")
        return store(self, stage, rows, outputs)

    monkeypatch.setattr(MemoryFlow, "_store", watched)
    records = edited_records(1, 8)
    hashes = []
    for seed in (1, 1, 2):
        sent.clear()
        removed_apart(records, None, 1, level="passage", align=True, hash_seed=seed)
        hashes.append({value for table in sent for words in table["words"].to_pylist() for value in words})
    assert hashes[0] == hashes[1]
    assert len(hashes[0]) > 20
    assert not hashes[0] & hashes[2]


@pytest.mark.parametrize("most_at_once", [0, 1 << 22])
def test_documents_with_nothing_left_to_decide_do_not_keep_others_waiting(
    most_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What c shares with b begins in text that is cut from b, so nothing is cut from c; d waits for c, elsewhere."""
    chance = random.Random(3)
    story, more, others = sentences(chance, 6), sentences(chance, 6), [sentences(chance, 5) for _ in range(6)]
    copy = edited(story, chance)
    texts = [
        [*story, *others[0]],
        [*others[1], *copy, *more],
        [*copy[-1:], *edited(more, chance), *others[2]],
        others[3],
        [*others[4], *edited(more, chance)],
        others[5],
    ]
    records = [{"id": name, "text": joined(lines)} for name, lines in zip("abcdef", texts, strict=True)]
    monkeypatch.setattr(copy_rounds, "MOST_AT_ONCE", most_at_once)
    expected = removed_here(records, None)
    assert {row["id"] for row in expected} == {"b", "e"}
    assert removed_apart(records, None, 3, level="passage", align=True) == expected
