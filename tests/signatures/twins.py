"""Signatures in plain Python, over words: what the kernels must agree with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence, Set
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ibidem.columns.sets import HashSets
from ibidem.sentences import tokenise_spans
from ibidem.signatures import TypeTokens, Vocabulary, count_vocabulary

Words = tuple[str, ...]


class Corpus:
    """Documents of sentences of words; types are the distinct sentences in reading order."""

    def __init__(self, documents: Sequence[Sequence[Words]]) -> None:
        self.n_documents = len(documents)
        sentences = [sentence for document in documents for sentence in document]
        self.types = list(dict.fromkeys(sentences))
        self.of_sentence = [self.types.index(sentence) for sentence in sentences]
        self.document = [d for d, document in enumerate(documents) for _ in document]
        self.counts = Counter(word for sentence in sentences for word in sentence)
        self.document_counts = Counter(
            word for document in documents for word in {word for sentence in document for word in sentence}
        )

    def tokens(self) -> TypeTokens:
        return tokens_of(self.types)

    def vocabulary(self, tokens: TypeTokens, stops: Iterable[str] = ()) -> Vocabulary:
        of_sentence, document = np.array(self.of_sentence, np.int32), np.array(self.document, np.int32)
        counted = count_vocabulary(tokens, of_sentence, document, self.n_documents)
        return replace(counted, stops=np.array([hash_of(word) for word in stops], np.uint64))


def tokens_of(types: Sequence[Words]) -> TypeTokens:
    """Return types as the tokeniser gives them."""
    texts = [" ".join(words).encode() for words in types]
    ends = np.cumsum([len(text) + 1 for text in texts], dtype=np.int64) - 1
    starts = ends - np.array([len(text) for text in texts], np.int64)
    return TypeTokens(*tokenise_spans(np.frombuffer(b" ".join(texts) + b" ", np.uint8), starts, ends))


def hash_of(word: str) -> int:
    return int(tokens_of([(word,)]).tokens[0])


def same_keys(keys: np.ndarray, twins: Sequence[Hashable | None]) -> bool:
    """Return whether keys are equal exactly where their twins are, and 0 where the twin is None."""
    assert [key == 0 for key in keys] == [twin is None for twin in twins]
    pairs = {(int(key), twin) for key, twin in zip(keys, twins, strict=True)}
    return len(pairs) == len({key for key, _ in pairs}) == len({twin for _, twin in pairs})


def same_sets(sets: HashSets, twins: Sequence[Sequence[Hashable]]) -> bool:
    """Return whether the hashes are the twins' elements one by one, renamed."""
    lists = [sets.hashes[sets.first[t] : sets.first[t + 1]].tolist() for t in range(len(sets.first) - 1)]
    assert [len(hashes) for hashes in lists] == [len(twin) for twin in twins]
    pairs = {pair for hashes, twin in zip(lists, twins, strict=True) for pair in zip(hashes, twin, strict=True)}
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def shingles(words: Words, size: int, paper: bool) -> list[Words]:
    if len(words) < size:
        return [] if paper else [words]
    return [words[i : i + size] for i in range(len(words) - size + 1)]


def imatch(
    words: Words, corpus: Corpus, low: float, high: float, paper: bool, stops: Set[str] = frozenset()
) -> frozenset[str] | None:
    def idf(word: str) -> float:
        if corpus.n_documents < 2:
            return 1.0
        return math.log(corpus.n_documents / corpus.document_counts[word]) / math.log(corpus.n_documents)

    kept = frozenset(word for word in words if low - 1e-12 <= idf(word) <= high + 1e-12 and word not in stops)
    return kept if kept or paper else None


def fingerprint(words: Words, corpus: Corpus, share: Fraction, paper: bool, stops: Set[str] = frozenset()) -> Words | None:
    most = share * corpus.n_documents if paper else max(share * corpus.n_documents, 10)
    return tuple(sorted(word for word in words if corpus.document_counts[word] <= most and word not in stops)) or None


def most_frequent(corpus: Corpus, count: int) -> set[str]:
    return set(sorted(corpus.counts, key=lambda word: (-corpus.counts[word], hash_of(word)))[:count])


def spots(
    words: Words, antecedents: Set[str], distance: int, chain: int, skipped: Set[str] = frozenset(), short: bool = False
) -> list[Words]:
    found = []
    for i, word in enumerate(words):
        content = [other for other in words[i + 1 :] if other not in skipped]
        links = content[distance - 1 :: distance][:chain]
        if word in antecedents and len(links) >= (1 if short else chain):
            found.append((word, *links))
    return found
