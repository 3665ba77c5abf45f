"""The search methods of the index against brute force: every score form, every limit, every radius."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.index import bits
from ibidem.index import search as search_module
from ibidem.index.arrivals import Arrivals, QueryTypes
from ibidem.index.comparison import Matches, Request
from ibidem.index.index import Index
from ibidem.index.search import search
from ibidem.index.segment import Segment, SegmentSettings
from ibidem.index.vocabulary import WordCounts
from tests.index_twins import (
    WORDS,
    Document,
    Frequencies,
    Sentence,
    arrivals_of,
    bit_signature,
    is_hit,
    kept_words,
    records_of,
    score,
    segment_of,
    sentences_of,
    temporary_folder,
)
from tests.oracles import jaccard
from tests.texts import render, word

EXACT_METHODS = ("overlap", "inverted", "scan")
SCORES = ("idf", "fraction", "product")
LIMITS = [Fraction(x) for x in ("1/10", "1/3", "1/2", "2/3", "4/5", "9/10", "1")]
BITS = [(8, 1), (16, 1), (32, 2), (64, 3), (80, 3), (128, 4)]
SHARE = Fraction(3, 5)

# Few words, so that sentences overlap; the first ones are in nearly every document of the snapshots.
COMMON, USUAL = WORDS[:3], WORDS[:9]
WORD = st.one_of(st.sampled_from(USUAL), st.sampled_from(USUAL), st.sampled_from(COMMON), st.sampled_from(WORDS[:16]))
SENTENCE = st.one_of(
    st.lists(WORD, min_size=1, max_size=8).map(tuple),
    st.lists(st.sampled_from(COMMON), min_size=1, max_size=4).map(tuple),
)
DOCUMENT = st.lists(SENTENCE, min_size=1, max_size=6)
BATCHES = st.lists(st.lists(DOCUMENT, min_size=1, max_size=3), min_size=1, max_size=3)
QUERIES = st.lists(DOCUMENT, min_size=1, max_size=2)


@st.composite
def frequencies(draw: st.DrawFn) -> Frequencies:
    """A snapshot that is older than the collection, or younger, or none: some words were seen, some not."""
    n_documents = draw(st.sampled_from([0, 1, 2, 12, 30, 1000]))
    if n_documents == 0:
        return Frequencies({}, 0)
    common = {w: draw(st.integers(max(1, n_documents - 3), n_documents)) for w in COMMON}
    seen = draw(st.lists(st.sampled_from(WORDS[3:16]), unique=True))
    return Frequencies(common | {w: draw(st.integers(1, n_documents)) for w in seen}, n_documents)


class Searched:
    """Batches as segments, queries, and the sentences behind their digests."""

    def __init__(
        self,
        batches: Sequence[Sequence[Document]],
        queries: Sequence[Document],
        snapshot: Frequencies,
        made_by: SegmentSettings,
    ) -> None:
        self.counts, self.settings, self.snapshot = snapshot.counts(), made_by, snapshot
        arrivals = arrivals_of(records_of(queries, "q"))
        self.sentences = sentences_of(arrivals, queries)
        self.queries: QueryTypes = arrivals.queries(self.counts, made_by)
        self.segments: list[Segment] = []
        for number, batch in enumerate(batches):
            documents = arrivals_of(records_of(batch, f"d{number} "))
            self.sentences |= sentences_of(documents, batch)
            self.segments.append(documents.segment(np.arange(len(batch)) + 100 * number, self.counts, made_by))

    def pairs(self) -> Iterable[tuple[int, Sentence, Sentence]]:
        """Yield each query with each type, segment by segment."""
        for number, segment in enumerate(self.segments):
            for query in self.queries.digests.tolist():
                for other in segment.digests.tolist():
                    yield number, self.sentences[query], self.sentences[other]

    def search(self, request: Request) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Return the hits and the similar types of all segments, with words in common, sizes and scores."""
        hits: dict[Any, Any] = {}
        similar: dict[Any, Any] = {}
        common = self.counts.common_hashes(self.settings.max_document_share)
        for number, segment in enumerate(self.segments):
            found = search(segment, self.queries, request, self.settings, common)
            scores = found.hits.scores(self.queries, request.score)
            hits |= self.named(number, segment, found.hits, scores.tolist())
            similar |= self.named(number, segment, found.similar, [None] * len(found.similar))
        return hits, similar

    def named(self, number: int, segment: Segment, matches: Matches, scores: list[Any]) -> dict[Any, Any]:
        assert np.all(np.diff(matches.query) >= 0), "matches come query after query"
        names: dict[Any, Any] = {}
        columns = (matches.query, matches.type, matches.common, matches.size)
        for query, of_type, common, size, value in zip(*(column.tolist() for column in columns), scores, strict=True):
            key = (
                number,
                self.sentences[int(self.queries.digests[query])],
                self.sentences[int(segment.digests[of_type])],
            )
            assert key not in names, "a type came twice"
            names[key] = (common, size, value)
        return names


def made(n_bits: int = 64, bits_per_word: int = 3, limit: Fraction = LIMITS[4], exact: bool = False) -> SegmentSettings:
    """Return what segments are made by, as an index has it."""
    return SegmentSettings(n_bits, bits_per_word, float(SHARE), Fraction(1) if exact else limit, exact)


def request(method: str, form: str = "idf", limit: Fraction = LIMITS[2], **others: Any) -> Request:
    usual = {"radius": -1, "max_false_positive": 0.1, "words_flexible": 2, "min_contained_words": 1}
    return Request(method=method, score=form, min_score=limit, **(usual | others))


def expected_hits(searched: Searched, form: str, limit: Fraction, min_contained_words: int = 1) -> dict[Any, Any]:
    return {
        (n, q, r): (len(set(q) & set(r)), len(set(r)), score(q, r, form, searched.snapshot))
        for n, q, r in searched.pairs()
        if is_hit(q, r, form, limit, searched.snapshot, min_contained_words)
    }


def expected_similar(searched: Searched) -> dict[Any, Any]:
    limit, exact = searched.settings.min_similarity, searched.settings.exact
    return {
        (n, q, r): (len(set(q) & set(r)), len(set(r)), None)
        for n, q, r in searched.pairs()
        if (q == r if exact else q and r and jaccard(frozenset(q), frozenset(r)) >= limit)  # type: ignore[arg-type]
    }


def assert_same_hits(found: dict[Any, Any], expected: dict[Any, Any]) -> None:
    """Words in common and sizes are whole numbers; a score may be one rounding off."""
    assert found.keys() == expected.keys()
    for key, (common, size, value) in found.items():
        assert (common, size) == expected[key][:2]
        assert value == pytest.approx(float(expected[key][2]), rel=1e-12)


@settings(max_examples=400, deadline=None)
@given(
    BATCHES, QUERIES, frequencies(), st.sampled_from(SCORES), st.sampled_from(LIMITS),
    st.sampled_from([1, 1, 2, 4, 9]), st.sampled_from([None, *LIMITS]), st.sampled_from(BITS), st.sampled_from([1, 3, 1 << 14]),
)  # fmt: skip
def test_exact_methods_find_what_brute_force_finds(
    batches: list[list[Document]],
    queries: list[Document],
    snapshot: Frequencies,
    form: str,
    limit: Fraction,
    min_contained: int,
    match_limit: Fraction | None,
    size: tuple[int, int],
    room: int,
) -> None:
    searched = Searched(batches, queries, snapshot, made(*size, match_limit or LIMITS[0], match_limit is None))
    hits, similar = expected_hits(searched, form, limit, min_contained), expected_similar(searched)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "_ROOM", room)  # so small that it has to grow
        for method in EXACT_METHODS:
            found, alike = searched.search(request(method, form, limit, min_contained_words=min_contained))
            assert_same_hits(found, hits)
            assert alike == similar, method


@settings(max_examples=40, deadline=None)
@given(BATCHES, QUERIES, frequencies())
def test_they_do_so_for_every_score_and_limit(
    batches: list[list[Document]], queries: list[Document], snapshot: Frequencies
) -> None:
    searched = Searched(batches, queries, snapshot, made(32, 2))
    for form in SCORES:
        for limit in LIMITS:
            expected = expected_hits(searched, form, limit)
            for method in EXACT_METHODS:
                assert_same_hits(searched.search(request(method, form, limit))[0], expected)


@settings(max_examples=100, deadline=None)
@given(BATCHES, QUERIES, frequencies(), st.sampled_from(BITS), st.sampled_from(SCORES), st.sampled_from(LIMITS))
def test_bits_finds_the_hits_within_every_radius(
    batches: list[list[Document]],
    queries: list[Document],
    snapshot: Frequencies,
    size: tuple[int, int],
    form: str,
    limit: Fraction,
) -> None:
    searched = Searched(batches, queries, snapshot, made(*size))
    everything = expected_hits(searched, form, limit)
    apart = {(q, r): (bit_signature(q, *size) ^ bit_signature(r, *size)).bit_count() for _, q, r in everything}
    for radius in range(65):
        found, _ = searched.search(request("bits", form, limit, radius=radius))
        assert_same_hits(found, {key: value for key, value in everything.items() if apart[key[1:]] <= radius})


@settings(max_examples=200, deadline=None)
@given(
    BATCHES, QUERIES, frequencies(), st.sampled_from(BITS), st.sampled_from(LIMITS),
    st.sampled_from([0.0, 0.01, 0.1, 0.5, 1.0]), st.integers(0, 4), st.sampled_from(LIMITS),
)  # fmt: skip
def test_bits_derives_a_radius_for_each_query(
    batches: list[list[Document]],
    queries: list[Document],
    snapshot: Frequencies,
    size: tuple[int, int],
    limit: Fraction,
    max_false_positive: float,
    words_flexible: int,
    match_limit: Fraction,
) -> None:
    searched = Searched(batches, queries, snapshot, made(*size, match_limit))
    expected = {}
    for key, value in expected_hits(searched, "idf", limit).items():
        _, q, r = key
        radius = bits.radius_for(*size, len(set(q)), words_flexible, max_false_positive) or 0
        if (bit_signature(q, *size) ^ bit_signature(r, *size)).bit_count() <= radius:
            expected[key] = value
    asked = request("bits", "idf", limit, max_false_positive=max_false_positive, words_flexible=words_flexible)
    found, similar = searched.search(asked)
    assert_same_hits(found, expected)
    # Passages do not hang on the method: what is similar is found whatever the radius.
    assert similar == expected_similar(searched)


@settings(max_examples=400, deadline=None)
@given(BATCHES, QUERIES, frequencies(), st.sampled_from(SCORES), st.sampled_from(LIMITS), st.booleans())
def test_fingerprint_finds_equal_words_common_ones_aside(
    batches: list[list[Document]],
    queries: list[Document],
    snapshot: Frequencies,
    form: str,
    match_limit: Fraction,
    shuffles: bool,
) -> None:
    if shuffles:  # else equal words in another order, or with a common word more, hardly ever meet
        chance = random.Random(7)
        mixed = [tuple(chance.sample(s, len(s))) + tuple(COMMON[: chance.randrange(3)]) for d in batches[0] for s in d if s]
        queries = [*queries, mixed]
    searched = Searched(batches, queries, snapshot, made(16, 1, match_limit))
    expected = {}
    for n, q, r in searched.pairs():
        kept = kept_words(q, snapshot, SHARE)
        if kept and kept == kept_words(r, snapshot, SHARE):
            expected[n, q, r] = (len(set(q) & set(r)), len(set(r)), score(q, r, form, snapshot))
    found, similar = searched.search(request("fingerprint", form, Fraction(1)))
    assert_same_hits(found, expected)
    assert similar == expected_similar(searched)


def test_many_queries_in_parts_and_many_types() -> None:
    """More queries than are searched in one part, more types than directories and interpolation leave alone."""
    chance = random.Random(3)
    batches = [
        [[tuple(chance.choice(WORDS) for _ in range(chance.randrange(1, 12))) for _ in range(20)] for _ in range(16)]
        for _ in range(2)
    ]
    queries = [[chance.choice(chance.choice(chance.choice(batches))) for _ in range(20)] for _ in range(4)]
    queries[0] += [tuple(chance.choice(WORDS) for _ in range(chance.randrange(1, 30))) for _ in range(30)]
    snapshot = Frequencies.of(batches[0])
    searched = Searched(batches, queries, snapshot, made(64, 3, LIMITS[2]))
    assert len(searched.queries) > 90
    for form, limit in (("idf", LIMITS[1]), ("fraction", LIMITS[2]), ("product", LIMITS[1])):
        expected = expected_hits(searched, form, limit)
        assert len(expected) > 200
        for method in EXACT_METHODS:
            found, similar = searched.search(request(method, form, limit))
            assert_same_hits(found, expected)
            assert similar == expected_similar(searched)


def test_long_sentences_keep_whole_numbers() -> None:
    """Scores are compared as products of whole numbers: with 6,000 words and three decimals these are large."""
    words = [word(number) for number in range(6000)]
    limit = Fraction(333, 1000)
    counts = WordCounts.of(np.empty(0, np.uint64), np.empty(0, np.int64), 10**9, 1)
    rows = [{"id": "d", "text": render(words[:2000])}]
    segment = segment_of(rows, counts, made(), max_sentence_words=10_000)
    queries = arrivals_of([{"id": "q", "text": render(words)}], max_sentence_words=10_000).queries(counts, made())
    assert queries.sizes.tolist() == [6000]
    for method in EXACT_METHODS:
        for form, is_found in (("idf", True), ("fraction", True), ("product", False)):  # 1/3, 1/3, 1/9
            found = search(segment, queries, request(method, form, limit), made(), np.empty(0, np.uint64))
            assert len(found.hits) == is_found, (method, form)


def long_sentences(settings_: SegmentSettings) -> tuple[Segment, QueryTypes, list[int]]:
    """Return sentences that hold one another, as a segment and as queries, and their sizes: around 255, and far above."""
    sizes = [200, 254, 255, 256, 300, 400, 600]
    records = [{"id": f"d{n}", "text": render([word(number) for number in range(n)])} for n in sizes]
    arrivals, counts = arrivals_of(records, max_sentence_words=10_000), WordCounts.empty()
    queries = arrivals.queries(counts, settings_)
    assert queries.sizes.tolist() == sizes
    return arrivals.segment(np.arange(len(sizes)), counts, settings_), queries, sizes


def sizes_of(matches: Matches, sizes: list[int]) -> list[tuple[int, int]]:
    return sorted((sizes[query], size) for query, size in zip(matches.query.tolist(), matches.size.tolist(), strict=True))


def test_sentences_of_very_many_words_are_similar() -> None:
    settings_ = made(64, 3, LIMITS[4])
    segment, queries, sizes = long_sentences(settings_)
    expected = sorted((a, b) for a in sizes for b in sizes if Fraction(min(a, b), max(a, b)) >= LIMITS[4])
    found = search(segment, queries, request("overlap"), settings_, np.empty(0, np.uint64))
    assert sizes_of(found.similar, sizes) == expected


@pytest.mark.parametrize("min_contained_words", [1, 1000])
def test_sentences_of_very_many_words_are_hits(min_contained_words: int) -> None:
    segment, queries, sizes = long_sentences(made())
    expected = sorted(
        (a, b) for a in sizes for b in sizes if (a == b if a < min_contained_words else Fraction(min(a, b), a) >= LIMITS[4])
    )
    for method in EXACT_METHODS:
        asked = request(method, "fraction", LIMITS[4], min_contained_words=min_contained_words)
        found = search(segment, queries, asked, made(), np.empty(0, np.uint64))
        assert sizes_of(found.hits, sizes) == expected, method


@settings(max_examples=60, deadline=None)
@given(
    st.lists(DOCUMENT, min_size=1, max_size=4), st.lists(DOCUMENT, min_size=0, max_size=3), QUERIES,
    st.sampled_from(SCORES), st.sampled_from(LIMITS), st.sampled_from([*EXACT_METHODS, "fingerprint", "bits"]),
)  # fmt: skip
def test_an_index_finds_what_brute_force_finds(
    first: list[Document], later: list[Document], queries: list[Document], form: str, limit: Fraction, method: str
) -> None:
    """All documents come before the snapshot of words, or fewer than would make a new one after it."""
    later = later[: len(first) - 1]
    known = {f"d{n}": document for n, document in enumerate(first)} | {f"e{n}": document for n, document in enumerate(later)}
    with temporary_folder() as folder, Index(folder, signature_bits=32, bits_per_word=2, workers=1, hash_seed=0) as index:
        for record in records_of(first):
            index.add([record])
        index.compact(recount=True)
        for record in records_of(later, "e"):
            index.add([record])
        asked = {"search_engine": method, "score": form, "min_score": limit, "min_contained_words": 2, "radius": 4}
        result = index.query(records_of(queries, "q"), **asked)
    found = [(h.a_id, h.a_sentence, h.b_id, h.b_sentence, round(h.score, 9)) for h in result]
    snapshot = Frequencies.of(first)
    expected = []
    for n, query in enumerate(queries):
        for i, q in enumerate(query):
            for name, document in known.items():
                for j, r in enumerate(document):
                    if method == "fingerprint":
                        wanted = bool(q) and kept_words(q, snapshot, SHARE) == kept_words(r, snapshot, SHARE)
                    else:
                        wanted = is_hit(q, r, form, limit, snapshot, 2)
                        if method == "bits":
                            wanted &= (bit_signature(q, 32, 2) ^ bit_signature(r, 32, 2)).bit_count() <= 4
                    if wanted:
                        expected.append((f"q{n}", i, name, j, round(float(score(q, r, form, snapshot)), 9)))
    assert sorted(found) == sorted(expected)


def test_a_query_without_words_reads_nothing_that_was_not_written() -> None:
    """In a process of its own, with scratch that leads astray: such a kernel takes everything down."""
    code = """
import tempfile
from ibidem.index.comparison import Comparison
from ibidem.index.index import Index

made = Comparison.scratch

def astray(self):
    arrays = made(self)
    for array in arrays:
        array.fill(1 << 40)
    return arrays

Comparison.scratch = astray
with tempfile.TemporaryDirectory() as folder, Index(folder, hash_seed=0) as index:
    index.add([{"id": "a", "text": "One two three four five. Six seven eight nine ten."}])
    assert len(index.query({"id": "b", "text": "\\ufe70."})) == 0
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_arrivals_without_sentences() -> None:
    counts, small = WordCounts.empty(), made(16, 1)
    nothing: Arrivals = arrivals_of([{"id": "a", "text": "***"}])
    segment = nothing.segment(np.array([0]), counts, small)
    some = arrivals_of(records_of([[(WORDS[0], WORDS[1])]])).segment(np.array([1]), counts, small)
    for method in (*EXACT_METHODS, "fingerprint", "bits"):
        for queries in (nothing.queries(counts, small), arrivals_of(records_of([[(WORDS[0],)]])).queries(counts, small)):
            for where in (segment, some):
                found = search(where, queries, request(method), small, np.empty(0, np.uint64))
                if where is segment or not len(queries):
                    assert len(found.hits) == len(found.similar) == 0
