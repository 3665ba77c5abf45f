"""A stream finds what a batch finds: passages of the index, put together, are those of `find`, in every order of arrival."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.config import Config
from ibidem.errors import IndexSettingsError
from ibidem.index import watcher
from ibidem.index.index import Index
from ibidem.index.merge import merge_segments
from ibidem.index.segment import Segment
from ibidem.index.settings import segment_settings
from ibidem.index.vocabulary import WordCounts
from tests.index_twins import Record, Sentence, arrivals_of, ask, temporary_folder, text_of
from tests.oracles import jaccard
from tests.test_document_order import ALONE, POOL
from tests.texts import render, words

Passages = Counter[tuple[Any, ...]]

UNCAPPED = 10**6
SENTENCES = st.one_of(st.sampled_from(POOL[::4]), st.sampled_from(POOL), st.sampled_from(POOL), st.sampled_from(ALONE[:12]))
DOCUMENTS = st.lists(SENTENCES, min_size=1, max_size=10)
COLLECTIONS = st.lists(DOCUMENTS, min_size=2, max_size=5)
LIMITS = {
    "min_sentences": st.integers(1, 4),
    "min_words": st.sampled_from([1, 1, 12]),
    "max_gap_sentences": st.integers(0, 4),
    "min_quote_words": st.sampled_from([0, 3, 6, 10]),
}
FIXED = st.fixed_dictionaries(
    {"signature": st.sampled_from(["words", "words", "exact"]), "min_similarity": st.sampled_from(["1/2", "4/5", "1"])}
)
SETTINGS = st.fixed_dictionaries(
    {
        **LIMITS,
        "signature": st.sampled_from(["words", "words", "exact"]),
        "min_similarity": st.sampled_from(["1/2", "4/5", "1"]),
        "skip_same_group": st.sampled_from([False, False, True]),
    }
)
_TURNED = {"a_to_b": "b_to_a", "b_to_a": "a_to_b", "unknown": "unknown"}


def records_of(collection: Sequence[Sequence[Sentence]]) -> list[Record]:
    """Return records, some with times and groups."""
    records: list[Record] = []
    for number, document in enumerate(collection):
        record: Record = {"id": f"document {number}", "text": text_of(document)}
        if number % 3:
            record |= {"time": 10**9 + number % 2, "group": f"g{len(document) % 2}"}
        records.append(record)
    return records


def found_in(rows: Iterable[Mapping[str, Any]]) -> Passages:
    """Return passages without their order: the side of the smaller id first, similarities to the last bit."""
    found: Passages = Counter()
    for row in rows:
        a, b, direction = (*(tuple(row[f"{side}_{x}"] for x in ("id", "start", "end")) for side in "ab"), row["direction"])
        if b[0] < a[0]:
            a, b, direction = b, a, _TURNED[direction]
        found[(*a, *b, row["n_sentences"], row["similarity"].hex(), row["kind"], direction)] += 1
    return found


def batch(records: Sequence[Record], **limits: Any) -> Passages:
    """Return what `find` finds."""
    return found_in(ibidem.find(records, workers=1, **limits).passages.to_pylist()) if records else Counter()


def queried(index: Index, record: Record, **limits: Any) -> Passages:
    """Return what a query finds; the new document is side a."""
    rows = index.query(record, **limits).passages.to_pylist()
    assert {row["a_id"] for row in rows} <= {record["id"]}
    return found_in(rows)


def twice(passages: Passages) -> Passages:
    return passages + passages


@settings(max_examples=400, deadline=None)
@given(COLLECTIONS, SETTINGS, st.randoms(use_true_random=False))
def test_answers_one_by_one_are_those_of_find(
    collection: list[list[Sentence]], limits: dict[str, Any], chance: random.Random
) -> None:
    """Without a disk: documents come one by one or together, and segments are merged now and then."""
    records = records_of(collection)
    config = Config.of(**limits, max_places=UNCAPPED)
    expected = batch(records, **limits, max_places=UNCAPPED)
    chance.shuffle(records)
    assert answered_in_turn(records, config, WordCounts.empty(), chance, also_queried=True) == expected


def answered_in_turn(
    records: Sequence[Record], config: Config, counts: WordCounts, chance: random.Random, also_queried: bool = False
) -> Passages:
    """Return all passages that an index finds as documents arrive, one by one or a few together; segments are merged now and
    then. With `also_queried`, some documents are only asked about before they are added.
    """
    made = segment_settings(config)
    found: Passages = Counter()
    segments: list[Segment] = []
    at = 0
    while at < len(records):
        together = records[at : at + chance.choice([1, 1, 2, 3])]
        arrivals = arrivals_of(together)
        own = arrivals.segment(np.arange(at, at + len(together)), counts, made)
        parts = [(segment, np.ones(segment.n_documents, np.bool_)) for segment in segments]
        is_stream = len(together) > 1 or not also_queried or chance.random() < 0.5
        result = ask(arrivals, parts, own if is_stream else None, counts, config)
        found += found_in(result.passages.to_pylist())
        segments.append(own)
        if chance.random() < 0.3:
            kept = [np.ones(segment.n_documents, np.bool_) for segment in segments]
            segments = [merge_segments(segments, kept, counts, made)]
        at += len(together)
    return found


@pytest.mark.parametrize("seed", range(40))
def test_answers_are_those_of_find_for_longer_documents(seed: int) -> None:
    """As above, and a stream finds what stands twice in one document too."""
    chance = random.Random(seed)
    pool = [*POOL, *POOL[::4], *POOL[::4], *ALONE[:6]]
    records = records_of([[chance.choice(pool) for _ in range(chance.randint(5, 25))] for _ in range(chance.randint(3, 6))])
    limits: dict[str, Any] = {
        "signature": chance.choice(["words", "words", "exact"]), "min_similarity": chance.choice(["1/3", "1/2", "4/5", "1"]),
        "min_sentences": chance.randint(1, 4), "max_gap_sentences": chance.randint(0, 4),
        "min_quote_words": chance.choice([0, 3, 10]), "same_document": True,
    }  # fmt: skip
    expected = batch(records, **limits, max_places=UNCAPPED)
    config = Config.of(**limits, max_places=UNCAPPED)
    chance.shuffle(records)
    found: Passages = Counter()
    parts: list[tuple[Segment, Any]] = []
    for at in range(0, len(records), 2):
        arrivals = arrivals_of(records[at : at + 2])
        serials = np.arange(at, at + arrivals.collection.n_documents)
        own = arrivals.segment(serials, WordCounts.empty(), segment_settings(config))
        found += found_in(ask(arrivals, parts, own, WordCounts.empty(), config).passages.to_pylist())
        parts.append((own, np.ones(own.n_documents, np.bool_)))
    assert found == expected


@settings(max_examples=60, deadline=None)
@given(COLLECTIONS, SETTINGS, st.sampled_from(["1", "2", "1000"]), st.randoms(use_true_random=False))
def test_an_index_finds_what_find_finds(
    collection: list[list[Sentence]], limits: dict[str, Any], rhythm: str, chance: random.Random
) -> None:
    limits |= {"max_places": UNCAPPED}
    records = records_of(collection)
    expected = batch(records, **limits)
    chance.shuffle(records)
    # Each one is asked about and then added.
    with temporary_folder() as folder, Index(folder, workers=1, **limits) as index:
        found: Passages = Counter()
        for record in records:
            found += queried(index, record)
            index.add([record])
        assert found == expected
        assert index.verify() == []
    # All are watched, in batches of some size; commits come between.
    with temporary_folder() as folder, Index(folder, workers=1, **limits) as index, pytest.MonkeyPatch.context() as patch:
        patch.setattr(watcher, "MOST_TOGETHER", chance.randint(1, len(records)))
        found = Counter()
        before: set[str] = set()
        for record, arrival in zip(records, index.watch(records, commit_every=rhythm), strict=True):
            assert arrival.id == record["id"]
            assert {row["a_id"] for row in arrival.passages} <= {arrival.id}
            assert {row["b_id"] for row in arrival.passages} <= before
            found += found_in(arrival.passages)
            before.add(arrival.id)
        assert found == expected
        assert len(index) == len(records)
        assert index.verify() == []
    # All are added at once; each is asked about under its own id, so that every pair is told from both sides.
    with temporary_folder() as folder, Index(folder, workers=1, **limits) as index:
        assert index.add(records) == len(records)
        assert sum((queried(index, record) for record in records), Counter()) == twice(expected)
        assert found_in(index.query(records).passages.to_pylist()) == twice(expected)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(st.tuples(st.integers(0, 6), DOCUMENTS), min_size=1, max_size=3)),
        st.tuples(st.just("watch"), st.lists(st.tuples(st.integers(0, 6), DOCUMENTS), min_size=1, max_size=4)),
        st.tuples(st.just("remove"), st.lists(st.integers(0, 6), min_size=1, max_size=3)),
        st.tuples(st.sampled_from(["compact", "recount", "reopen"]), st.none()),
    ),
    min_size=2,
    max_size=7,
)


@settings(max_examples=60, deadline=None)
@given(STEPS, FIXED, st.fixed_dictionaries(LIMITS), st.integers(1, 4))
def test_it_does_so_through_removals_replacements_and_compactions(
    steps: list[tuple[str, Any]], fixed: dict[str, Any], limits: dict[str, Any], together: int
) -> None:
    limits |= {"max_places": UNCAPPED}
    there: dict[str, Record] = {}
    with temporary_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(watcher, "MOST_TOGETHER", together)
        index = Index(folder, workers=1, **fixed)
        for step, detail in steps:
            if step == "add":
                new = {f"d{number}": {"id": f"d{number}", "text": text_of(document)} for number, document in detail}
                index.add(list(new.values()), replace=True)
                there |= new
            elif step == "watch":
                # What arrives is compared with all that is there at that moment, the one it replaces excepted.
                new_records = [{"id": f"d{number}", "text": text_of(document)} for number, document in detail]
                for record, arrival in zip(new_records, index.watch(new_records, replace=True, **limits), strict=True):
                    there[record["id"]] = record
                    everything = batch(list(there.values()), **fixed, **limits)
                    mine = {p: n for p, n in everything.items() if record["id"] in (p[0], p[3])}
                    assert found_in(arrival.passages) == Counter(mine)
            elif step == "remove":
                ids = [f"d{number}" for number in detail]
                assert index.remove(ids) == len({name for name in ids if name in there})
                for name in ids:
                    there.pop(name, None)
            elif step == "reopen":
                index.close()
                index = Index(folder, create=False, workers=1)
            else:
                index.compact(recount=step == "recount")
            assert len(index) == len(there)
            assert {name for name in (f"d{n}" for n in range(7)) if name in index} == set(there)
        assert index.verify() == []
        everything = batch(list(there.values()), **fixed, **limits)
        found = sum((queried(index, record, **limits) for record in there.values()), Counter())
        index.close()
    assert found == twice(everything)


def matching(a: Sentence, b: Sentence, limit: Fraction, exact: bool) -> bool:
    if exact:
        return a == b
    return bool(a) and bool(b) and jaccard(frozenset(a), frozenset(b)) >= limit  # type: ignore[arg-type]


def n_places(sentence: Sentence, known: Iterable[Sequence[Sentence]], limit: Fraction, exact: bool) -> int:
    return sum(matching(sentence, other, limit, exact) for document in known for other in document)


def cells_of(place: tuple[Any, ...], collection: Mapping[str, Sequence[Sentence]], mine: str) -> list[Sentence]:
    """Return the sentences of a document that a passage goes through; without gaps, these are all in its span."""
    name, start, end = place[:3] if place[0] == mine else place[3:6]
    starts = [len(text_of(collection[name][:k])) + 2 * (k > 0) for k in range(len(collection[name]))]
    return [sentence for sentence, at in zip(collection[name], starts, strict=True) if start <= at < end]


@settings(max_examples=250, deadline=None)
@given(st.lists(DOCUMENTS, min_size=3, max_size=7), SETTINGS, st.integers(2, 5), st.integers(1, 3))
def test_with_a_cap_every_passage_through_a_rarer_sentence_is_found(
    collection: list[list[Sentence]], limits: dict[str, Any], max_places: int, n_segments: int
) -> None:
    """And nothing is found that is not there without a cap. Places count at the time of the query."""
    limits |= {"skip_same_group": False}
    records = records_of(collection)
    config = Config.of(**limits, max_places=max_places)
    made, counts = segment_settings(config), WordCounts.empty()
    new, known = records[-1], records[:-1]
    parts = []
    for part in np.array_split(np.arange(len(known)), n_segments):
        if len(part):
            segment = arrivals_of([known[k] for k in part]).segment(part, counts, made)
            parts.append((segment, np.ones(len(part), np.bool_)))
    everything = batch(records, **limits, max_places=UNCAPPED)
    mine = {p: n for p, n in everything.items() if new["id"] in (p[0], p[3])}
    result = ask(arrivals_of([new]), parts, None, counts, config)
    found = found_in(result.passages.to_pylist())
    if limits["max_gap_sentences"] > 0:  # chains are made of what is not hot, and others than without a cap
        assert {(p[0], p[3]) for p in found} <= {(p[0], p[3]) for p in mine}
    else:
        assert found <= Counter(mine)
        by_name = {record["id"]: document for record, document in zip(records, collection, strict=True)}
        limit, exact = Fraction(limits["min_similarity"]), limits["signature"] == "exact"
        for place, times in mine.items():
            cells = cells_of(place, by_name, new["id"])
            if is_promised(cells, collection[:-1], limit, exact, max_places, config):
                assert found[place] == times


def is_promised(
    cells: Sequence[Sentence], known: Sequence[Sequence[Sentence]], limit: Fraction, exact: bool, most: int, config: Config
) -> bool:
    """Return whether a passage has to be found: it goes through a sentence of few places; a quote, through a long one."""
    long_enough = config.passages.min_quote_words if len(cells) < config.passages.min_sentences else 0
    return any(len(cell) >= long_enough and n_places(cell, known, limit, exact) <= most for cell in cells)


def cold_and_hot(folder: str) -> tuple[Index, Record]:
    """A hot sentence of ten words stands four times in the index, once before a sentence of its own."""
    hot, cold = words(1, 10), words(2, 5)
    index = Index(folder, workers=1, min_quote_words=10, min_sentences=3, max_places=3)
    index.add([{"id": f"d{n}", "text": render(hot)} for n in range(3)])
    index.add([{"id": "d3", "text": f"{render(hot)} {render(cold)} {render(words(3))}"}])
    return index, {"id": "q", "text": f"{render(words(4))} {render(hot)} {render(cold)} {render(words(5))}"}


def test_a_quote_needs_a_long_sentence_that_is_not_hot() -> None:
    """As in a batch: a short run is kept for its long sentences."""
    with temporary_folder() as folder:
        index, new = cold_and_hot(folder)
        passages = index.query(new).passages.to_pylist()
        index.close()
    assert passages == []


def test_removed_documents_are_no_places() -> None:
    records = [{"id": f"d{n}", "text": render(words(1, 10))} for n in range(6)]
    with temporary_folder() as folder, Index(folder, workers=1, max_places=4) as index:
        index.add(records)
        index.remove(["d0", "d1"])
        before = queried(index, {"id": "q", "text": render(words(1, 10))})
        index.compact()
        assert len(queried(index, {"id": "q", "text": render(words(1, 10))})) == 4
    assert len(before) == 4


def test_documents_without_hits_are_answered() -> None:
    records = [{"id": f"d{n}", "text": render(words(n))} for n in range(3)]
    with temporary_folder() as folder, Index(folder, workers=1) as index:
        arrivals = list(index.watch(records))
        assert len(index) == 3
    assert [arrival.skipped for arrival in arrivals] == [None] * 3
    assert [arrival.verdict is not None for arrival in arrivals] == [True] * 3


def test_an_index_keeps_its_settings_from_the_first_commit_on() -> None:
    with temporary_folder() as folder:
        Index(folder, min_similarity=0.5).close()
        with Index(folder, min_similarity=0.9) as index:  # nothing was added: they may still be chosen
            index.add([{"id": "a", "text": render(words(1))}])
        for other in ({"min_similarity": 0.8}, {"config": Config.of(min_similarity=0.7)}, {"signature": "exact", "lang": "de"}):
            with pytest.raises(IndexSettingsError) as error:
                Index(folder, **other)  # type: ignore[arg-type]
            names = [name for name in other if name != "config"] or ["min_similarity"]
            assert all(name in error.value.message for name in names)
        with Index(folder) as index:
            assert index.config.matches.min_similarity == Fraction(9, 10)
            with pytest.raises(IndexSettingsError, match="signature_bits"):
                index.query({"id": "b", "text": render(words(1))}, signature_bits=32)
        Index(folder, min_similarity=0.9, config=Config.of(lang="auto", signature="auto")).close()
