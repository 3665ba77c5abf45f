"""The hits of a query against brute force: places, order, cap and verdicts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.config import Config
from ibidem.errors import RepeatedIdError
from ibidem.index import answers, hits
from ibidem.index.answers import MOST_SOURCES, QueryResult
from ibidem.index.index import Index
from ibidem.index.segment import Segment
from ibidem.index.settings import segment_settings
from ibidem.model import HITS
from tests.index_twins import (
    WORDS,
    Document,
    Frequencies,
    Record,
    Sentence,
    arrivals_of,
    ask,
    is_hit,
    looked_at,
    temporary_folder,
    text_of,
)
from tests.texts import render

WORD = st.sampled_from([*WORDS[:4], *WORDS[:8]])
SENTENCE = st.one_of(
    st.lists(WORD, min_size=1, max_size=5).map(tuple),
    st.sampled_from([(WORDS[0], WORDS[1]), (WORDS[0], WORDS[1], WORDS[2]), (WORDS[3],)]),
)
DOCUMENT = st.lists(st.tuples(SENTENCE, st.sampled_from([1, 1, 1, 2, 5])), min_size=1, max_size=4).map(
    lambda runs: [sentence for sentence, times in runs for _ in range(times)]
)
BATCHES = st.lists(st.lists(DOCUMENT, min_size=1, max_size=5), min_size=0, max_size=4)
FORMS = st.sampled_from(["idf", "fraction", "product"])
LIMITS = st.sampled_from([Fraction(x) for x in ("1/3", "1/2", "4/5", "1")])
GAPS = ["\n\n", " ", " " * 254, " " * 255, "\n\n" + " " * 300, "\n\n😀 —\n\n", "\n\n" + "…" * 400 + "\n\n"]


@dataclass
class Known:
    """A document of the index: its sentences, its place in the order of arrival, whether it was removed."""

    id: str
    document: Document
    serial: int
    removed: bool = False


@dataclass
class World:
    """An index in memory: segments of documents, some removed, as the index would hand them to a query."""

    config: Config = field(repr=False)
    frequencies: Frequencies
    known: list[Known] = field(default_factory=list)
    parts: list[tuple[Segment, Any]] = field(default_factory=list, repr=False)

    def add(self, batch: Sequence[Known]) -> None:
        records = [{"id": one.id, "text": text_of(one.document)} for one in batch]
        serials = np.array([one.serial for one in batch])
        segment = arrivals_of(records).segment(serials, self.frequencies.counts(), segment_settings(self.config))
        self.parts.append((segment, np.array([not one.removed for one in batch])))
        self.known += batch

    def ask(self, records: Sequence[Record], is_stream: bool) -> QueryResult:
        """Ask about documents; as a stream, they count for one another too."""
        made, counts = segment_settings(self.config), self.frequencies.counts()
        arrivals = arrivals_of(records)
        own = arrivals.segment(np.arange(len(records)) + 10**6, counts, made) if is_stream else None
        return ask(arrivals, self.parts, own, counts, self.config)


def score(query: Sentence, other: Sentence, form: str, frequencies: Frequencies) -> float:
    """Return the score as a float, rounded as it is reported: the order of hits goes by it."""
    mine, common, weights = set(query), set(query) & set(other), frequencies.weights
    by_words = len(common) / len(mine)
    by_weight = sum(weights[w] for w in common) / sum(weights[w] for w in mine)
    return {"idf": by_weight, "fraction": by_words, "product": by_weight * by_words}[form]


def expected_places(
    query: Sentence, my_id: str, known: Sequence[Known], config: Config, frequencies: Frequencies
) -> tuple[list[tuple[str, int, float]], int]:
    """Return the places of a sentence, best and oldest first, of as many documents as may be; and how many have it.

    A document may hold a sentence several times, with several scores.
    """
    form, limit, least = config.index.score, config.index.min_score, config.index.min_contained_words
    places = []
    for one in known:
        for number, other in enumerate(one.document):
            if not one.removed and is_hit(query, other, form, limit, frequencies, least):
                places.append((-score(query, other, form, frequencies), one.serial, number, one.id, query == other))
    most = answers.places_needed(config.passages.max_places)
    chosen = looked_at([(serial, number, is_equal) for _, serial, number, _, is_equal in places], most)
    places = sorted(place for place in places if place[1:3] in chosen and place[3] != my_id)
    documents = list(dict.fromkeys(name for *_, name, _ in places))
    first = set(documents[: config.passages.max_places])
    return [(name, number, -value) for value, _, number, name, _ in places if name in first], len(documents)


def check(result: QueryResult, queries: Sequence[tuple[str, Document]], world: World, is_stream: bool) -> None:
    """Compare hits and verdicts with brute force."""
    expected = []
    most, config = world.config.passages.max_places, world.config
    before: list[Known] = []
    assert result.hits.schema == HITS
    for position, (name, document) in enumerate(queries):
        n_documents: list[int] = []
        counts: dict[str, int] = {}
        for number, sentence in enumerate(document):
            places, n = expected_places(sentence, name, world.known + before, config, world.frequencies)
            expected += [(name, number, *place) for place in places]
            if len(sentence) < config.index.min_hit_words:  # located, but it does not count
                continue
            n_documents.append(n)
            if n <= most:
                for other in {place[0] for place in places}:
                    counts[other] = counts.get(other, 0) + 1
        verdict = result.verdicts[position]
        n_known, n_common = sum(0 < n <= most for n in n_documents), sum(n > most for n in n_documents)
        assert (verdict.id, verdict.n_sentences) == (name, len(document))
        assert (verdict.n_known, verdict.n_common) == (n_known, n_common)
        least = config.index.min_hits
        assert verdict.duplicated == (n_known > least if config.signatures.paper else n_known >= least)
        assert [source.n_sentences for source in verdict.sources] == sorted(counts.values(), reverse=True)[:MOST_SOURCES]
        assert all(counts[source.id] == source.n_sentences for source in verdict.sources)
        assert [hit for hit in result if hit.a_id == name] == list(verdict.hits)
        if is_stream:
            before.append(Known(name, document, 10**6 + position))
    found = [(h.a_id, h.a_sentence, h.b_id, h.b_sentence, h.score) for h in result]
    if answers.places_needed(most) <= hits.MANY_PLACES:  # then only one place in a document is told of most sentences
        assert [place for place in expected if place in set(found)] == found
        assert first_only(found) == first_only(expected)
    elif len(world.known) + len(before) <= most:
        assert found == expected
    else:  # of documents that are listed, places with a lower score than their best one may be left out
        assert [place for place in expected if place in set(found)] == found
        assert best_only(found) == best_only(expected)


def best_only(places: Sequence[tuple[str, int, str, int, float]]) -> list[tuple[str, int, str, int, float]]:
    """Return the places at which a document has its best score for a sentence; the best one comes first."""
    best: dict[tuple[str, int, str], float] = {}
    return [place for place in places if place[4] == best.setdefault(place[:3], place[4])]


def first_only(places: Sequence[tuple[str, int, str, int, float]]) -> list[tuple[str, int, str, int, float]]:
    """Return the first of the best places of a sentence in each document."""
    seen: set[tuple[str, int, str]] = set()
    return [place for place in places if place[:3] not in seen and not seen.add(place[:3])]  # type: ignore[func-returns-value]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    config = Config.of(
        score=draw(FORMS), min_score=draw(LIMITS), max_places=draw(st.sampled_from([2, 3, 5, 100])),
        min_hits=draw(st.integers(1, 3)), paper=draw(st.booleans()),
        search_engine=draw(st.sampled_from(["overlap", "inverted", "scan"])),
        min_contained_words=draw(st.sampled_from([1, 1, 3])), min_hit_words=draw(st.sampled_from([1, 1, 3])),
        signature="words",
    )  # fmt: skip
    batches = draw(BATCHES)
    documents = [document for batch in batches for document in batch]
    world = World(config, draw(st.sampled_from([Frequencies.of(documents), Frequencies({}, 0)])))
    serial = 0
    for batch in batches:
        removed = draw(st.lists(st.sampled_from([False, False, False, True]), min_size=len(batch), max_size=len(batch)))
        world.add([Known(f"d{serial + n}", document, serial + n, removed[n]) for n, document in enumerate(batch)])
        serial += len(batch)
    return world


@settings(max_examples=600, deadline=None)
@given(worlds(), st.lists(st.tuples(st.sampled_from(["q", "d"]), DOCUMENT), min_size=1, max_size=3), st.booleans())
def test_hits_are_those_of_brute_force(world: World, queries: list[tuple[str, Document]], is_stream: bool) -> None:
    """Some queries have the id of a document that is there: they are not compared with it. In a stream only the last may."""
    last = len(queries) - 1
    named = [(f"{'q' if is_stream and n < last else prefix}{n}", document) for n, (prefix, document) in enumerate(queries)]
    records = [{"id": name, "text": text_of(document)} for name, document in named]
    check(world.ask(records, is_stream), named, world, is_stream)


def look_at(patch: pytest.MonkeyPatch, most: int) -> None:
    """Let so few similar places of a sentence be looked at."""
    for module in (answers, hits):
        patch.setattr(module, "places_needed", lambda max_places: most)


@settings(max_examples=400, deadline=None)
@given(
    worlds(), st.lists(st.tuples(st.sampled_from(["q", "d"]), DOCUMENT), min_size=1, max_size=3), st.booleans(),
    st.sampled_from([1, 2, 3, 7]),
)  # fmt: skip
def test_they_are_so_where_few_similar_places_are_looked_at(
    world: World, queries: list[tuple[str, Document]], is_stream: bool, most: int
) -> None:
    """The oldest ones, removed documents aside, and all of the very sentence; in a stream, those before the document."""
    with pytest.MonkeyPatch.context() as patch:
        look_at(patch, most)
        test_hits_are_those_of_brute_force.hypothesis.inner_test(world, queries, is_stream)  # type: ignore[attr-defined]


@settings(max_examples=300, deadline=None)
@given(
    worlds(), st.lists(st.tuples(st.sampled_from(["q", "d"]), DOCUMENT), min_size=1, max_size=3), st.booleans(),
    st.sampled_from([1, 2, 3, 7, 10**6]),
)  # fmt: skip
def test_engines_that_find_everything_agree_with_a_cap(
    world: World, queries: list[tuple[str, Document]], is_stream: bool, most: int
) -> None:
    """Overlap, inverted and scan list the same places in the same order, however few are looked at."""
    last = len(queries) - 1
    named = [(f"{'q' if is_stream and n < last else prefix}{n}", document) for n, (prefix, document) in enumerate(queries)]
    records = [{"id": name, "text": text_of(document)} for name, document in named]
    found = []
    with pytest.MonkeyPatch.context() as patch:
        look_at(patch, most)
        for engine in ("overlap", "inverted", "scan"):
            config = Config.of(world.config, search_engine=engine)
            result = World(config, world.frequencies, world.known, world.parts).ask(records, is_stream)
            found.append((result.hits.to_pylist(), result.verdicts, result.passages.to_pylist()))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("seed", range(50))
def test_they_are_so_where_sentences_stand_in_many_documents(seed: int) -> None:
    """Several types match each sentence, with scores high and low, often in the same documents, in every segment."""
    chance = random.Random(seed)
    pool = [tuple(chance.choice(WORDS[:5]) for _ in range(chance.randint(1, 4))) for _ in range(12)]
    if seed % 2:  # many types that hold all of a sentence, so many that not all of them are looked at
        pool += [(*chance.choice(pool[:4]), *chance.sample(WORDS[5:], chance.randint(1, 3))) for _ in range(150)]
        pool += pool[:12] * 3
    config = Config.of(
        score=chance.choice(["idf", "fraction", "product"]), min_score=Fraction(1, chance.randint(2, 5)), signature="words",
        max_places=chance.choice([2, 3, 7, 20]), min_contained_words=1,
    )  # fmt: skip

    def document() -> Document:
        return [chance.choice(pool) for _ in range(chance.randint(1, 5))]

    world = World(config, Frequencies.of([document() for _ in range(10)]))
    serial = 0
    for n in (60, 1, 5, 12):
        world.add([Known(f"d{serial + k}", document(), serial + k, chance.random() < 0.2) for k in range(n)])
        serial += n
    queries = [(f"q{n}", document()) for n in range(4)]
    for is_stream in (False, True):
        check(world.ask([{"id": name, "text": text_of(d)} for name, d in queries], is_stream), queries, world, is_stream)


def test_hits_do_not_depend_on_the_segments() -> None:
    """The same documents in one segment, in two, in six: as before and after a compaction."""
    for seed in range(60):
        chance = random.Random(seed)
        pool = [tuple(chance.choice(WORDS[:5]) for _ in range(chance.randint(1, 4))) for _ in range(12)]
        documents = [[chance.choice(pool) for _ in range(chance.randint(1, 5))] for _ in range(31)]
        limit, most = Fraction(1, chance.randint(2, 5)), chance.choice([2, 3, 7])
        config = Config.of(score="fraction", min_score=limit, signature="words", max_places=most, min_contained_words=1)
        found = []
        for size in (30, 15, 5):
            world = World(config, Frequencies({}, 0))
            for at in range(0, 30, size):
                world.add([Known(f"d{k}", documents[k], k) for k in range(at, at + size)])
            found.append(list(world.ask([{"id": "q", "text": text_of(documents[30])}], False)))
        assert found[0] == found[1] == found[2]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.lists(WORD, min_size=1, max_size=4).map(tuple), st.sampled_from(GAPS)), min_size=1, max_size=6))
def test_spans_are_the_characters_of_the_sentences(pieces: list[tuple[Sentence, str]]) -> None:
    """Also after long gaps, characters of four bytes, and once more after segments were merged."""
    head = "\n😀\n\n"
    text = head + "".join(render(sentence) + gap for sentence, gap in pieces)
    starts, at = [], len(head)
    for sentence, gap in pieces:
        starts.append(at)
        at += len(render(sentence)) + len(gap)
    texts = {"a": text, "b": "  " + text.strip(), "c": text + "\n\n" + text}
    with temporary_folder() as folder, Index(folder, workers=1, min_score=1, min_contained_words=1) as index:
        for name, value in texts.items():
            index.add([{"id": name, "text": value}])
        for _ in range(2):
            result = index.query({"id": "q", "text": text})
            assert len(result) > 0
            for hit in result:
                mine, other = text[hit.a_start : hit.a_end], texts[hit.b_id][hit.b_start : hit.b_end]
                assert mine in {render(sentence) for sentence, _ in pieces}
                assert hit.a_start == starts[hit.a_sentence]
                assert set(mine.lower().strip(".").split()) <= set(other.lower().strip(".").split())
                assert other == other.strip()
                assert other in {render(sentence) for sentence, _ in pieces}
                n = len(pieces)
                copy = hit.b_sentence // n * (len(text) + 2)
                shift = {"a": 0, "b": 2 - len(text) + len(text.lstrip()), "c": copy}[hit.b_id]
                assert hit.b_start == starts[hit.b_sentence % n] + shift
            index.compact()


def test_a_document_is_not_compared_with_itself() -> None:
    text = text_of([(WORDS[0], WORDS[1], WORDS[2], WORDS[3])])
    with temporary_folder() as folder, Index(folder, workers=1) as index:
        index.add([{"id": "a", "text": text}, {"id": "b", "text": text}])
        assert [hit.b_id for hit in index.query({"id": "a", "text": text})] == ["b"]
        assert [hit.b_id for hit in index.query({"id": "c", "text": text})] == ["a", "b"]
        assert [hit.b_id for hit in index.query([{"id": "b", "text": text}, {"id": "c", "text": text}])] == ["a", "a", "b"]


def test_what_arrives_later_in_a_batch_hides_nothing() -> None:
    """Ten documents of one sentence arrive together; a similar one is in the index, found with a lower score."""
    known, new = text_of([(*WORDS[:4], WORDS[8])]), text_of([tuple(WORDS[:5])])
    limits: dict[str, Any] = {"score": "fraction", "min_score": "4/5", "max_places": 2, "min_contained_words": 1}
    with temporary_folder() as folder, Index(folder, workers=1, **limits) as index:
        index.add([{"id": "x", "text": known}])
        verdicts = [arrival.verdict for arrival in index.watch([{"id": f"q{n}", "text": new} for n in range(10)])]
    assert [[hit.b_id for hit in verdict.hits] for verdict in verdicts[:3] if verdict] == [["x"], ["q0", "x"], ["q0", "q1"]]
    assert [(verdict.n_known, verdict.n_common) for verdict in verdicts if verdict] == [(1, 0)] * 2 + [(0, 1)] * 8


def test_an_id_comes_once_in_a_query() -> None:
    text = text_of([(WORDS[0], WORDS[1], WORDS[2], WORDS[3])])
    with temporary_folder() as folder, Index(folder, workers=1) as index:
        index.add([{"id": "a", "text": text}])
        with pytest.raises(RepeatedIdError):
            index.query([{"id": "a", "text": text}, {"id": "a", "text": text}])


def test_verdicts_as_printed_want_one_more() -> None:
    sentences = [tuple(WORDS[4 * n : 4 * n + 4]) for n in range(4)]
    with temporary_folder() as folder, Index(folder, workers=1) as index:
        index.add([{"id": "a", "text": text_of(sentences)}])
        for n in range(5):
            record = {"id": "q", "text": text_of([*sentences[:n], tuple(WORDS[30:35])])}
            assert index.check(record, min_hits=3).duplicated == (n >= 3)
            assert index.check(record, min_hits=3, paper=True).duplicated == (n > 3)
