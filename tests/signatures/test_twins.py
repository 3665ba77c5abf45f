"""Every signature is equal to its plain twin: the same types share the same keys and hashes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.columns.sets import HashSets
from ibidem.config import SIGNATURES, SignaturesConfig
from ibidem.signatures import (
    KeySignature,
    SetSignature,
    Vocabulary,
    collapse_sentences,
    count_vocabulary,
    load_signature,
)
from ibidem.signatures.fingerprint import SIGNATURE as FINGERPRINT
from ibidem.signatures.sentence_types import TypeTokens, number_hashes
from tests.signatures import twins
from tests.signatures.twins import Corpus
from tests.texts import word

VOCABULARY = [word(37 * i) for i in range(12)]
# Some words are in nearly every sentence, others are rare.
WORDS = st.one_of(st.sampled_from(VOCABULARY[:3]), st.sampled_from(VOCABULARY))
SENTENCES = st.lists(WORDS, min_size=1, max_size=9).map(tuple)
CORPORA = st.lists(st.lists(SENTENCES, min_size=0, max_size=4), min_size=1, max_size=14).map(Corpus).filter(lambda c: c.types)
STOPS = st.sets(st.sampled_from([*VOCABULARY, "nowhere"]), max_size=4)
CHAINS = st.tuples(st.integers(1, 3), st.integers(1, 3), st.booleans())  # distance, words, whether short ones count


def config(**settings: object) -> SignaturesConfig:
    return SignaturesConfig(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SIGNATURES)
def test_every_signature_has_one_of_the_two_interfaces(name: str) -> None:
    signature = load_signature(name)
    assert isinstance(signature, KeySignature) != isinstance(signature, SetSignature)
    assert isinstance(signature.needs_vocabulary, bool)


@settings(max_examples=150, deadline=None)
@given(CORPORA)
def test_exact_is_the_words_in_order(corpus: Corpus) -> None:
    keys = load_signature("exact").key(corpus.tokens(), None, config())  # type: ignore[union-attr]
    assert twins.same_keys(keys, corpus.types)


@settings(max_examples=150, deadline=None)
@given(CORPORA)
def test_words_are_the_words(corpus: Corpus) -> None:
    sets = load_signature("words").hashes(corpus.tokens(), None, config())  # type: ignore[union-attr]
    assert twins.same_sets(sets, corpus.types)


@settings(max_examples=200, deadline=None)
@given(CORPORA, st.integers(1, 5), st.booleans())
def test_shingles_are_words_in_a_row(corpus: Corpus, size: int, paper: bool) -> None:
    sets = load_signature("shingles").hashes(corpus.tokens(), None, config(shingle_size=size, paper=paper))  # type: ignore[union-attr]
    assert twins.same_sets(sets, [twins.shingles(words, size, paper) for words in corpus.types])


@settings(max_examples=300, deadline=None)
@given(CORPORA, st.sampled_from([0.0, 0.1, 0.3, 0.47]), st.sampled_from([0.47, 0.7, 0.9, 1.0]), st.booleans(), STOPS)
def test_imatch_is_the_distinct_words_within_the_range(
    corpus: Corpus, low: float, high: float, paper: bool, stops: set[str]
) -> None:
    tokens = corpus.tokens()
    wanted = config(min_idf=low, max_idf=high, paper=paper)
    keys = load_signature("imatch").key(tokens, corpus.vocabulary(tokens, stops), wanted)  # type: ignore[union-attr]
    assert twins.same_keys(keys, [twins.imatch(words, corpus, low, high, paper, stops) for words in corpus.types])


def test_imatch_without_a_word_is_nothing_and_on_paper_all_the_same() -> None:
    common, rare = VOCABULARY[0], VOCABULARY[1:4]
    corpus = Corpus([[(common,), (common, common), (common, name)] for name in rare])
    tokens = corpus.tokens()
    vocabulary = corpus.vocabulary(tokens)
    imatch = load_signature("imatch")
    keys = imatch.key(tokens, vocabulary, config())  # type: ignore[union-attr]
    assert [key != 0 for key in keys] == [common not in words or len(set(words)) > 1 for words in corpus.types]
    on_paper = imatch.key(tokens, vocabulary, config(paper=True))  # type: ignore[union-attr]
    assert on_paper[0] == on_paper[1] != 0
    assert len(set(on_paper.tolist())) == 4


@settings(max_examples=300, deadline=None)
@given(CORPORA, st.sampled_from(["0", "0.2", "0.5", "0.6", "1"]), st.booleans(), STOPS)
def test_fingerprint_is_the_sorted_words_without_the_common_ones(
    corpus: Corpus, share: str, paper: bool, stops: set[str]
) -> None:
    tokens = corpus.tokens()
    wanted = config(max_document_share=float(share), paper=paper)
    keys = load_signature("fingerprint").key(tokens, corpus.vocabulary(tokens, stops), wanted)  # type: ignore[union-attr]
    assert twins.same_keys(keys, [twins.fingerprint(words, corpus, Fraction(share), paper, stops) for words in corpus.types])


def test_fingerprint_keeps_repeats_and_forgets_the_order() -> None:
    a, b = VOCABULARY[:2]
    corpus = Corpus([[(a, b), (b, a), (a, a, b), (a, b, a)]])
    tokens = corpus.tokens()
    keys = FINGERPRINT.key(tokens, corpus.vocabulary(tokens), config()).tolist()
    assert keys[0] == keys[1] != keys[2] == keys[3]


def test_the_share_of_a_fingerprint_is_inclusive() -> None:
    tokens = twins.tokens_of([(VOCABULARY[0],)])
    vocabulary = Vocabulary(np.zeros(1, np.int32), tokens.tokens, np.array([29]), np.array([29], np.int32), 50)
    assert FINGERPRINT.key(tokens, vocabulary, config(max_document_share=0.58))[0] != 0


def spots_of(corpus: Corpus, wanted: SignaturesConfig, stops: Iterable[str] = ()) -> HashSets:
    tokens = corpus.tokens()
    return load_signature("spotsigs").hashes(tokens, corpus.vocabulary(tokens, stops), wanted)  # type: ignore[union-attr]


@settings(max_examples=250, deadline=None)
@given(CORPORA, st.integers(0, 13), CHAINS, STOPS)
def test_spots_of_the_most_frequent_words(corpus: Corpus, count: int, chains: tuple[int, int, bool], stops: set[str]) -> None:
    distance, chain, short = chains
    wanted = config(antecedents=str(count), spot_distance=distance, spot_chain=chain, spot_short_chains=short)
    antecedents = twins.most_frequent(corpus, count)
    expected = [twins.spots(words, antecedents, distance, chain, stops, short) for words in corpus.types]
    assert twins.same_sets(spots_of(corpus, wanted, stops), expected)


@settings(max_examples=200, deadline=None)
@given(CORPORA, st.integers(0, 13), st.integers(0, 13), CHAINS)
def test_chains_skip_the_most_frequent_words_whatever_begins_spots(
    corpus: Corpus, count: int, n_skipped: int, chains: tuple[int, int, bool]
) -> None:
    distance, chain, short = chains
    wanted = config(
        antecedents=str(count), spot_stop_words=str(n_skipped),
        spot_distance=distance, spot_chain=chain, spot_short_chains=short,
    )  # fmt: skip
    antecedents, skipped = (twins.most_frequent(corpus, n) for n in (count, n_skipped))
    expected = [twins.spots(words, antecedents, distance, chain, skipped, short) for words in corpus.types]
    assert twins.same_sets(spots_of(corpus, wanted, ["nowhere"]), expected)


@settings(max_examples=150, deadline=None)
@given(
    CORPORA,
    st.sets(st.sampled_from([*VOCABULARY, "nowhere"])),
    st.integers(1, 2),
    st.integers(1, 3),
    st.sampled_from([" ", ",", ", "]),
)
def test_spots_of_listed_words(corpus: Corpus, listed: set[str], distance: int, chain: int, comma: str) -> None:
    wanted = config(antecedents=comma.join(sorted(listed)).upper(), spot_distance=distance, spot_chain=chain)
    expected = [twins.spots(words, listed, distance, chain) for words in corpus.types]
    assert twins.same_sets(spots_of(corpus, wanted), expected)


@settings(max_examples=150, deadline=None)
@given(CORPORA, CHAINS, STOPS, st.integers(0, 12), st.integers(0, 12))
def test_more_antecedents_give_more_spots(
    corpus: Corpus, chains: tuple[int, int, bool], stops: set[str], fewer: int, more: int
) -> None:
    distance, chain, short = chains
    fewer, more = sorted((fewer, more))
    few, many = (
        config(antecedents=str(n), spot_distance=distance, spot_chain=chain, spot_short_chains=short) for n in (fewer, more)
    )
    for t in range(len(corpus.types)):
        some, all_of_them = (spots_of(corpus, wanted, stops) for wanted in (few, many))
        assert set(_set(some, t)) <= set(_set(all_of_them, t))


def test_by_default_every_word_begins_a_spot() -> None:
    corpus = Corpus([[tuple(VOCABULARY[:5])], [tuple(VOCABULARY[3:9])]])
    expected = [twins.spots(words, set(words), 1, 2) for words in corpus.types]
    assert [len(spots) for spots in expected] == [3, 4]
    assert twins.same_sets(spots_of(corpus, config()), expected)


def _set(sets: HashSets, t: int) -> list[int]:
    return sets.hashes[sets.first[t] : sets.first[t + 1]].tolist()


def test_the_choice_of_antecedents_does_not_depend_on_the_order_of_documents() -> None:
    documents = [[tuple(VOCABULARY[i:] + VOCABULARY[:i])] for i in range(6)]
    spotsigs = load_signature("spotsigs")

    def spots(order: list[list[tuple[str, ...]]]) -> dict[tuple[str, ...], list[int]]:
        corpus = Corpus(order)
        tokens = corpus.tokens()
        sets = spotsigs.hashes(tokens, corpus.vocabulary(tokens), config(antecedents="4"))  # type: ignore[union-attr]
        return {t: sets.hashes[sets.first[i] : sets.first[i + 1]].tolist() for i, t in enumerate(corpus.types)}

    assert spots(documents) == spots(documents[::-1])


# Types and the vocabulary.

DIGESTS = st.one_of(
    st.integers(1, 2**64 - 1),
    st.integers(1, 6),
    st.integers(0, 6).map(lambda i: (0xABCDEF << 40) + i),
    st.sampled_from([1 << 63, 2**64 - 1]),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(DIGESTS, max_size=60))
def test_types_are_the_distinct_digests_in_reading_order(digests: list[int]) -> None:
    types = collapse_sentences(np.array(digests, np.uint64))
    numbers = {digest: number for number, digest in enumerate(dict.fromkeys(digests))}
    assert types.of_sentence.tolist() == [numbers[digest] for digest in digests]
    assert types.first_sentence.tolist() == [digests.index(digest) for digest in numbers]
    assert len(types) == len(numbers)


@settings(max_examples=200, deadline=None)
@given(CORPORA)
def test_the_vocabulary_counts_like_a_counter(corpus: Corpus) -> None:
    tokens = corpus.tokens()
    vocabulary = corpus.vocabulary(tokens)
    names = {twins.hash_of(name): name for name in corpus.counts}
    found = [names[h] for h in vocabulary.hashes.tolist()]
    assert dict(zip(found, vocabulary.counts.tolist(), strict=True)) == corpus.counts
    assert dict(zip(found, vocabulary.document_counts.tolist(), strict=True)) == corpus.document_counts
    assert vocabulary.hashes[vocabulary.ids].tolist() == tokens.tokens.tolist()
    assert vocabulary.n_documents == corpus.n_documents


def test_a_vocabulary_larger_than_its_first_table() -> None:
    random = np.random.default_rng(11)
    words = random.integers(0, 2**64, 60_000, np.uint64)
    tokens = words[random.integers(0, len(words), 200_000)]
    first = np.arange(0, len(tokens) + 1, 8, dtype=np.int64)
    n_sentences = len(first) - 1
    document = (np.arange(n_sentences) // 10).astype(np.int32)
    of_sentence = np.arange(n_sentences, dtype=np.int32)
    vocabulary = count_vocabulary(TypeTokens(tokens, first), of_sentence, document, int(document[-1]) + 1)
    assert dict(zip(vocabulary.hashes.tolist(), vocabulary.counts.tolist(), strict=True)) == Counter(tokens.tolist())
    pairs = {(token, i // 80) for i, token in enumerate(tokens.tolist())}
    by_document = Counter(token for token, _ in pairs)
    assert dict(zip(vocabulary.hashes.tolist(), vocabulary.document_counts.tolist(), strict=True)) == by_document


def test_numbers_of_more_hashes_than_the_first_table_has_room_for() -> None:
    drawn = np.random.default_rng(7).integers(0, 1 << 64, 60_000, np.uint64)
    extremes = np.array([0, (1 << 64) - 1, 0], np.uint64)
    hashes = np.concatenate([drawn, extremes, drawn[::3], np.repeat(drawn[:5], 1_000)])
    numbered = number_hashes(hashes)
    np.testing.assert_array_equal(numbered.hashes[numbered.ids], hashes)
    assert len(np.unique(numbered.hashes)) == len(numbered.hashes)
    np.testing.assert_array_equal(numbered.counts, np.bincount(numbered.ids))
