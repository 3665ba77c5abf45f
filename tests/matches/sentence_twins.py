"""Sentence pairs and postings in plain Python: every sentence compared with every other one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from ibidem.sentences import split_sentences
from tests.signatures import twins
from tests.signatures.twins import Corpus, Words

Row = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """A sentence: the record it is in, its number there, and its words."""

    record: Row
    side: int
    number: int
    words: Words


def places_of(records: Sequence[Row], reference: Sequence[Row] | None = None) -> list[Place]:
    """Return the sentences of all records in reading order."""
    return [
        Place(record, side, number, tuple(record["text"][start:end].lower().rstrip(".").split()))
        for side, records_of_side in enumerate([records, reference or []])
        for record in records_of_side
        for number, (start, end) in enumerate(split_sentences(record["text"]))
    ]


def known_by(places: Sequence[Place], signature: str, paper: bool = False, **settings: Any) -> list[frozenset[Hashable]]:
    """Return the signatures of every sentence; those of a key are one, or none."""
    documents: dict[tuple[int, str], list[Words]] = defaultdict(list)
    for place in places:
        documents[place.side, place.record["id"]].append(place.words)
    corpus = Corpus(list(documents.values()))

    def of(words: Words) -> frozenset[Hashable]:
        match signature:
            case "exact":
                return frozenset([words])
            case "words":
                return frozenset(words)
            case "shingles":
                return frozenset(twins.shingles(words, settings.get("shingle_size", 2), paper))
            case "imatch":
                key: Hashable = twins.imatch(words, corpus, settings.get("min_idf", 0.1), settings.get("max_idf", 1.0), paper)
            case "fingerprint":
                key = twins.fingerprint(words, corpus, Fraction(str(settings.get("max_document_share", 0.6))), paper)
            case _:
                raise ValueError(signature)
        return frozenset([key]) if key is not None else frozenset()

    return [of(place.words) for place in places]


def postings(places: Sequence[Place], signatures: Sequence[frozenset[Hashable]]) -> Counter[frozenset[tuple[str, int]]]:
    """Return the lists of places of all signatures: the signatures have other names than in the table."""
    lists: dict[Hashable, set[tuple[str, int]]] = defaultdict(set)
    for place, known in zip(places, signatures, strict=True):
        for signature in known:
            lists[signature].add((place.record["id"], place.number))
    return Counter(map(frozenset, lists.values()))


def sentence_pairs(
    places: Sequence[Place], signatures: Sequence[frozenset[Hashable]], limit: Fraction, by_sets: bool, max_places: int,
    same_document: bool = False, skip_same_group: bool = False,
) -> tuple[list[Row], int]:  # fmt: skip
    """Return the pairs that match, in reading order, and how many sentences have more than `max_places` places."""

    def jaccard(x: frozenset[Hashable], y: frozenset[Hashable]) -> Fraction:
        return Fraction(len(x & y), len(x | y))

    def match(i: int, j: int) -> bool:
        x, y = signatures[i], signatures[j]
        return bool(x and y) and (jaccard(x, y) >= limit if by_sets else x == y)

    matching = [(i, j) for i, j in combinations(range(len(places)), 2) if match(i, j)]
    # A sentence has the places of all that it is connected with.
    component = list(range(len(places)))
    for i, j in matching:
        old, new = component[j], component[i]
        component = [new if c == old else c for c in component]
    n_places = Counter(c for c, known in zip(component, signatures, strict=True) if known)
    hot = [n_places[c] > max_places and bool(known) for c, known in zip(component, signatures, strict=True)]
    has_reference = any(place.side for place in places)

    def may_pair(a: Place, b: Place) -> bool:
        if (a.side, a.record["id"]) == (b.side, b.record["id"]):
            return same_document
        group = a.record.get("group")
        return not (has_reference and a.side == b.side) and not (skip_same_group and group and group == b.record.get("group"))

    rows = []
    for i, j in matching:
        a, b = places[i], places[j]
        if not hot[i] and may_pair(a, b):
            x, y = (signatures[i], signatures[j]) if by_sets else (frozenset(a.words), frozenset(b.words))
            similarity = 1.0 if a.words == b.words else float(jaccard(x, y))
            names = {"a_id": a.record["id"], "a_sentence": a.number, "b_id": b.record["id"], "b_sentence": b.number}
            rows.append(names | {"similarity": similarity})
    return rows, sum(hot)
