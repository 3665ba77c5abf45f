"""Sentences made of real ones, as many as wanted, with copies planted among them. Used by qsign_disk.py.

Each is put together from thirds of three posts' sentences, so that words are as common as in texts and hardly two sentences are
alike. One in ten is PLANTED instead: a copy of a sentence of an earlier document with none to four of its words replaced.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from inputs import Record

SENTENCES_A_DOCUMENT = 52
FEWEST_WORDS, MOST_WORDS = 3, 30  # of the sentences that are put together
LEAST_QUERY_WORDS = 5
PLANTED_SHARE = 0.1
# How many copies have none, one, … of their words replaced: fitted to the shares of the levels in the paper's table 2.
REPLACED_SHARES = (0.58, 0.26, 0.07, 0.05, 0.04)


class Sentences:
    """As many documents of made sentences as wanted, always the same; with fewer documents, the first of them."""

    def __init__(self, posts: Sequence[Record], max_document_share: float) -> None:
        words = [[re.findall(r"[a-z]{2,}", line.lower()) for line in re.split(r"[.!?]\s|\n\s*\n", p["text"])] for p in posts]
        counts = Counter(word for post in words for word in {word for sentence in post for word in sentence})
        common = {word for word, count in counts.items() if count > max_document_share * len(posts)}
        left = ([word for word in sentence if word not in common] for post in words for sentence in post)
        self.pool = [sentence for sentence in left if FEWEST_WORDS <= len(sentence) <= MOST_WORDS]
        self._thirds = [[s[k * len(s) // 3 : (k + 1) * len(s) // 3] for s in self.pool] for k in range(3)]

    def _drawn(self, number: int) -> tuple[list[list[int]], list[bool]]:
        """Return for each sentence of a document the three it is made of, and whether it is a copy instead."""
        chance = np.random.default_rng(number)
        pieces = chance.integers(0, len(self.pool), (SENTENCES_A_DOCUMENT, 3)).tolist()
        return pieces, (chance.random(SENTENCES_A_DOCUMENT) < (PLANTED_SHARE if number else 0)).tolist()

    def _made(self, pieces: Sequence[int]) -> list[str]:
        return [word for third, piece in zip(self._thirds, pieces, strict=True) for word in third[piece]]

    def copy(self, before: int, chance: random.Random) -> tuple[list[str], int, tuple[int, int]]:
        """Return a copy of a sentence before a document, how many of its words are replaced, and where it is from.

        The source is what would be there if it were no copy itself.
        """
        source = chance.randrange(before), chance.randrange(SENTENCES_A_DOCUMENT)
        words = self._made(self._drawn(source[0])[0][source[1]])
        (n_replaced,) = chance.choices(range(len(REPLACED_SHARES)), REPLACED_SHARES)
        places = chance.sample(range(len(words)), min(n_replaced, len(words)))
        for place in places:
            words[place] = chance.choice(self.pool[chance.randrange(len(self.pool))])
        return words, len(places), source

    def is_planted(self, document: int, number: int) -> bool:
        """Tell whether a sentence is a copy."""
        return self._drawn(document)[1][number]

    def document(self, number: int) -> Record:
        """Return a document: each sentence is a paragraph, so that it is cut as it was put together."""
        pieces, planted = self._drawn(number)
        chance = random.Random(number)
        sentences = [self.copy(number, chance)[0] if planted[k] else self._made(pieces[k]) for k in range(SENTENCES_A_DOCUMENT)]
        return {"id": f"d{number}", "text": "\n\n".join(" ".join(words) + "." for words in sentences if words)}

    def write(self, path: Path, n_sentences: int) -> None:
        """Write documents with so many sentences together as lines of JSON."""
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(self.document(k)) + "\n" for k in range(n_sentences // SENTENCES_A_DOCUMENT))


class Queries(NamedTuple):
    """Documents that are asked about, and for each of their sentences the words that were replaced, and its source."""

    records: list[Record]
    replaced: dict[tuple[str, int], int]
    source: dict[tuple[str, int], str]

    @property
    def n_words(self) -> float:
        """The average number of words in a sentence."""
        sentences = [sentence for record in self.records for sentence in record["text"].split("\n\n")]
        return sum(sentence.count(" ") + 1 for sentence in sentences) / len(sentences)


def make_queries(sentences: Sentences, n_documents: int, n_queries: int, n_query_documents: int) -> Queries:
    """Return queries: copies of sentences that are there. Where the source is a copy itself, there is no match to be found."""
    chance = random.Random(7)
    queries = Queries([], {}, {})
    for document in range(n_query_documents):
        name, lines = f"q{document}", list[str]()
        while len(lines) < n_queries // n_query_documents:
            words, n_replaced, source = sentences.copy(n_documents, chance)
            if len(set(words)) < LEAST_QUERY_WORDS or sentences.is_planted(*source):
                continue
            queries.replaced[name, len(lines)], queries.source[name, len(lines)] = n_replaced, f"d{source[0]}"
            lines.append(" ".join(words) + ".")
        queries.records.append({"id": name, "text": "\n\n".join(lines)})
    return queries


def first_documents(path: Path, n_sentences: int) -> Iterator[Record]:
    """Yield the first documents of a file of made sentences, with so many of them together."""
    with path.open(encoding="utf-8") as file:
        for _, line in zip(range(n_sentences // SENTENCES_A_DOCUMENT), file, strict=False):
            yield json.loads(line)
