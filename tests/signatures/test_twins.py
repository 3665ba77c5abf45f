"""Every signature is equal to its plain twin: the same types share the same keys and hashes."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from ibidem.signatures.sentence_types import TypeTokens
from tests.signatures import twins
from tests.signatures.twins import Corpus
from tests.texts import word

VOCABULARY = [word(37 * i) for i in range(12)]
# Some words are in nearly every sentence, others are rare.
WORDS = st.one_of(st.sampled_from(VOCABULARY[:3]), st.sampled_from(VOCABULARY))
SENTENCES = st.lists(WORDS, min_size=1, max_size=9).map(tuple)
CORPORA = st.lists(st.lists(SENTENCES, min_size=0, max_size=4), min_size=1, max_size=14).map(Corpus).filter(lambda c: c.types)


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
@given(CORPORA, st.sampled_from([0.0, 0.1, 0.3, 0.47]), st.sampled_from([0.47, 0.7, 0.9, 1.0]), st.booleans())
def test_imatch_is_the_distinct_words_within_the_range(corpus: Corpus, low: float, high: float, paper: bool) -> None:
    tokens = corpus.tokens()
    wanted = config(min_idf=low, max_idf=high, paper=paper)
    keys = load_signature("imatch").key(tokens, corpus.vocabulary(tokens), wanted)  # type: ignore[union-attr]
    assert twins.same_keys(keys, [twins.imatch(words, corpus, low, high, paper) for words in corpus.types])


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
@given(CORPORA, st.sampled_from(["0", "0.2", "0.5", "0.6", "1"]), st.booleans())
def test_fingerprint_is_the_sorted_words_without_the_common_ones(corpus: Corpus, share: str, paper: bool) -> None:
    tokens = corpus.tokens()
    wanted = config(max_document_share=float(share), paper=paper)
    keys = load_signature("fingerprint").key(tokens, corpus.vocabulary(tokens), wanted)  # type: ignore[union-attr]
    assert twins.same_keys(keys, [twins.fingerprint(words, corpus, Fraction(share), paper) for words in corpus.types])


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


@settings(max_examples=250, deadline=None)
@given(CORPORA, st.integers(0, 13), st.integers(1, 3), st.integers(1, 3))
def test_spots_of_the_most_frequent_words(corpus: Corpus, count: int, distance: int, chain: int) -> None:
    tokens = corpus.tokens()
    wanted = config(antecedents=str(count), spot_distance=distance, spot_chain=chain)
    sets = load_signature("spotsigs").hashes(tokens, corpus.vocabulary(tokens), wanted)  # type: ignore[union-attr]
    antecedents = twins.most_frequent(corpus, count)
    assert twins.same_sets(sets, [twins.spots(words, antecedents, distance, chain) for words in corpus.types])


@settings(max_examples=150, deadline=None)
@given(
    CORPORA,
    st.sets(st.sampled_from([*VOCABULARY, "nowhere"])),
    st.integers(1, 2),
    st.integers(1, 3),
    st.sampled_from([" ", ",", ", "]),
)
def test_spots_of_listed_words(corpus: Corpus, listed: set[str], distance: int, chain: int, comma: str) -> None:
    tokens = corpus.tokens()
    wanted = config(antecedents=comma.join(sorted(listed)).upper(), spot_distance=distance, spot_chain=chain)
    sets = load_signature("spotsigs").hashes(tokens, corpus.vocabulary(tokens), wanted)  # type: ignore[union-attr]
    assert twins.same_sets(sets, [twins.spots(words, listed, distance, chain) for words in corpus.types])


@settings(max_examples=200, deadline=None)
@given(CORPORA, st.integers(1, 2), st.integers(1, 2))
def test_spots_of_as_many_words_as_give_most(corpus: Corpus, distance: int, chain: int) -> None:
    tokens = corpus.tokens()
    wanted = config(antecedents="auto", spot_distance=distance, spot_chain=chain)
    sets = load_signature("spotsigs").hashes(tokens, corpus.vocabulary(tokens), wanted)  # type: ignore[union-attr]
    assert twins.same_sets(sets, twins.auto_spots(corpus, distance, chain))


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
