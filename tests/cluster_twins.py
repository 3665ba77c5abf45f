"""Documents compared as a whole in plain Python: shingles, similarities, clusters; and small collections to try them on."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import ibidem
from ibidem.resemblance.sketches import _draw_permutations
from ibidem.sentences import tokenise_texts

Shingles = Sequence[Hashable]
Pair = tuple[int, int]
Scores = tuple[Fraction, Fraction, Fraction]
Pairs = dict[Pair, Scores]

WORDS = ("velmo", "tarrin", "quovex", "lum", "besk", "orda", "fenn", "ippa")
_WHOLE = (Fraction(1), Fraction(1), Fraction(1))

# Small vocabularies make many overlaps, copies with a few words changed make pairs near every limit.
limits = st.sampled_from(["1/10", "0.3", "1/3", "0.5", "11/20", "3/5", "2/3", "5/7", "0.75", "0.8", "0.9", "1"])
shingle_sizes = st.integers(1, 4)


@st.composite
def word_lists(draw: Any, max_documents: int = 8) -> list[list[str]]:
    """Draw documents as lists of words: short ones of few words, and edited copies of longer ones; not all are empty."""
    words = st.sampled_from(WORDS[: draw(st.sampled_from([2, 4, 8]))])
    documents = draw(st.lists(st.lists(words, max_size=7), max_size=3))
    for n_copies in draw(st.sampled_from([(), (2,), (3,), (4,), (3, 2), (2, 3)])):
        template = draw(st.lists(words, min_size=6, max_size=20))
        for _ in range(n_copies):
            copy = list(template)
            for place, word, kind in draw(st.lists(st.tuples(st.integers(0, 19), words, st.integers(0, 2)), max_size=3)):
                place %= len(copy) + 1
                copy[place : place + (kind > 0)] = [word] * (kind < 2)  # put in, replaced, taken out
            documents.append(copy)
    documents = draw(st.permutations(documents))[:max_documents]
    return documents if any(documents) else [*documents, ["velmo"]]


def render(words: Sequence[str], style: int) -> str:
    """Return words as a text; styles differ in what is no word, and in case."""
    if not words:
        return ("…", "- * -", "?!")[style % 3]
    text = (" ", ", ", "\n\n", " — ")[style % 4].join(words)
    return (text, text.upper(), f"“{text.capitalize()}.”")[style % 3]


def records(documents: Iterable[Sequence[str]], prefix: str = "d", styles: Sequence[int] = (0,)) -> list[dict[str, Any]]:
    """Return records with the ids d0, d1, …"""
    return [{"id": f"{prefix}{i}", "text": render(words, styles[i % len(styles)])} for i, words in enumerate(documents)]


def tokens(text: str) -> tuple[int, ...]:
    """Return the token hashes of a text."""
    return tuple(tokenise_texts(pa.array([text], pa.large_string()))[0].tolist())


def shingles(words: Sequence[Hashable], size: int) -> list[Hashable]:
    """Return every `size` words in a row; fewer words are one shingle, no words none."""
    if 0 < len(words) < size:
        return [tuple(words)]
    return [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]


def resemblance(a: Shingles, b: Shingles) -> Scores:
    """Return shared shingles as a share of all, of those of a, and of those of b."""
    x, y = set(a), set(b)
    shared = len(x & y)
    return Fraction(shared, len(x | y)), Fraction(shared, len(x)), Fraction(shared, len(y))


def order(a: Shingles, b: Shingles) -> Scores:
    """Return the longest common subsequence as a share of both sequences together, of a, and of b."""
    row = [0] * (len(b) + 1)
    for x in a:
        above = list(row)
        for j, y in enumerate(b):
            row[j + 1] = above[j] + 1 if x == y else max(above[j + 1], row[j])
    return Fraction(2 * row[-1], len(a) + len(b)), Fraction(row[-1], len(a)), Fraction(row[-1], len(b))


MEASURES = {"resemblance": resemblance, "order": order}


def duplicates(
    documents: Sequence[Shingles], limit: Fraction, containment: Fraction = Fraction(0), measure: str = "resemblance",
    n_input: int | None = None,
) -> Pairs:  # fmt: skip
    """Return the pairs of documents that are alike enough; from `n_input` on they are the reference, and only it is met."""
    found = {}
    for i, j in combinations(range(len(documents)), 2):
        if documents[i] and documents[j] and (n_input is None or i < n_input <= j):
            scores = MEASURES[measure](documents[i], documents[j])
            if scores[0] >= limit or (containment and max(scores[1:]) >= containment):
                found[i, j] = scores
    return found


def identical(documents: Sequence[Sequence[str]], n_input: int | None = None) -> Pairs:
    """Return the pairs of documents with the same words in the same order; those without words have none."""
    pairs = combinations(range(len(documents)), 2)
    met = [(i, j) for i, j in pairs if n_input is None or i < n_input <= j]
    return {(i, j): _WHOLE for i, j in met if documents[i] and documents[i] == documents[j]}


def sampled_duplicates(
    texts: Sequence[Hashable], hashes: Sequence[Sequence[int]], every: Sequence[int], remainder: int, limit: Fraction
) -> Pairs:
    """Return the pairs that are alike by samples; one pair is judged by the smaller of the two samples, equal texts by none."""
    found = {}
    for i, j in combinations(range(len(hashes)), 2):
        n = max(every[i], every[j])
        a, b = ([h for h in hashes[d] if h % n == remainder % n] for d in (i, j))
        if hashes[i] and texts[i] == texts[j]:
            found[i, j] = _WHOLE
        elif a and b and resemblance(a, b)[0] >= limit:
            found[i, j] = resemblance(a, b)
    return found


def named(pairs: Pairs, ids: Sequence[str]) -> dict[tuple[str, str], tuple[float, ...]]:
    """Return pairs by ids, with plain numbers, as `listed` gives them."""
    return {(ids[i], ids[j]): tuple(map(float, scores)) for (i, j), scores in pairs.items()}


def listed(result: ibidem.ClusterResult) -> dict[tuple[str, str], tuple[float, ...]]:
    """Return the pairs of a result; they must come once each, in reading order."""
    rows = result.duplicates.to_pylist()
    found = {(r["a_id"], r["b_id"]): (r["similarity"], r["containment_a"], r["containment_b"]) for r in rows}
    assert len(found) == len(rows), "a pair came out twice"
    place = {doc_id: i for i, doc_id in enumerate(result.backing.documents.ids.to_pylist())}
    numbers = [(place[a], place[b]) for a, b in found]
    assert numbers == sorted(numbers)
    assert all(a < b for a, b in numbers)
    return found


def clusters(result: ibidem.ClusterResult) -> dict[str, list[str]]:
    """Return the members of each cluster, in reading order, by the document that stays."""
    place = {doc_id: i for i, doc_id in enumerate(result.backing.documents.ids.to_pylist())}
    members: dict[int, list[str]] = {}
    canonical: dict[int, str] = {}
    for row in result.clusters.to_pylist():
        members.setdefault(row["cluster"], []).append(row["id"])
        if row["canonical"]:
            assert row["cluster"] not in canonical, "two documents of a cluster stay"
            canonical[row["cluster"]] = row["id"]
    assert sorted(canonical) == sorted(members) == list(range(len(members)))
    assert all(ids == sorted(ids, key=place.__getitem__) and len(ids) > 1 for ids in members.values())
    assert [ids[0] for ids in members.values()] == sorted((ids[0] for ids in members.values()), key=place.__getitem__)
    everybody = [doc_id for ids in members.values() for doc_id in ids]
    assert len(everybody) == len(set(everybody)), "a document is in two clusters"
    return {canonical[number]: ids for number, ids in members.items()}


def led_clusters(pairs: Iterable[tuple[str, str]], in_order: Sequence[str]) -> dict[str, set[str]]:
    """Return clusters of which every member is paired with the first of them in the order that decides who stays."""
    friends = _friends(pairs)
    found: dict[str, set[str]] = {}
    taken: set[str] = set()
    for doc_id in in_order:
        if doc_id not in taken:
            mine = {doc_id} | friends.get(doc_id, set()) - taken
            taken |= mine
            if len(mine) > 1:
                found[doc_id] = mine
    return found


def chained_clusters(pairs: Iterable[tuple[str, str]], in_order: Sequence[str]) -> dict[str, set[str]]:
    """Return connected components of two and more, by the first of each in the order that decides who stays."""
    friends = _friends(pairs)
    found: dict[str, set[str]] = {}
    taken: set[str] = set()
    for doc_id in in_order:
        if doc_id in friends and doc_id not in taken:
            mine, new = {doc_id}, {doc_id}
            while new:
                new = {other for one in new for other in friends[one]} - mine
                mine |= new
            taken |= mine
            found[doc_id] = mine
    return found


def _friends(pairs: Iterable[tuple[str, str]]) -> Mapping[str, set[str]]:
    friends: dict[str, set[str]] = {}
    for a, b in pairs:
        friends.setdefault(a, set()).add(b)
        friends.setdefault(b, set()).add(a)
    return friends


def _place(shingle: int) -> int:
    """Return the place of a shingle in the order by which samples of a fixed size are taken."""
    return shingle * 0x9E3779B97F4A7C15 % 2**64


def smallest_duplicates(
    texts: Sequence[Hashable], hashes: Sequence[Sequence[int]], every: int, remainder: int, size: int, limit: Fraction
) -> Pairs:
    """Return the pairs that are alike by the first `size` shingles of each, as far as the samples of both go."""
    samples = [sorted(_place(h) for h in some if h % every == remainder)[:size] for some in hashes]
    found = {}
    for i, j in combinations(range(len(hashes)), 2):
        last = min(sample[-1] if len(sample) == size else 2**64 for sample in (samples[i], samples[j]))
        a, b = ([place for place in sample if place <= last] for sample in (samples[i], samples[j]))
        if hashes[i] and texts[i] == texts[j]:
            found[i, j] = _WHOLE
        elif a and b and set(a) & set(b) and resemblance(a, b)[0] >= limit:
            found[i, j] = resemblance(a, b)
    return found


def supershingles(hashes: Sequence[int], n: int, size: int) -> list[tuple[int, ...]]:
    """Return n tuples of the least of all hashes under `size` permutations each; none for no hashes."""
    offsets, factors = (column.tolist() for column in _draw_permutations(n * size, 1))
    elements = [h * 0x9E3779B97F4A7C15 % 2**64 >> 32 for h in hashes]
    least = []
    for offset, factor in zip(offsets, factors, strict=True):
        values = [(x ^ offset) * factor % 2**32 for x in elements]
        least.append(min((min((v ^ v >> 15) * 0x85EBCA6B % 2**32, 2**32 - 2) for v in values), default=0))
    return [tuple(least[k * size : (k + 1) * size]) for k in range(n)] if elements else []


def supershingled_pairs(
    texts: Sequence[Hashable], hashes: Sequence[Sequence[int]], n: int, size: int, least: int
) -> dict[Pair, float]:
    """Return the pairs that share `least` supershingles, and the share of the sampled shingles that are the same."""
    known = [supershingles(some, n, size) for some in hashes]
    found = {}
    for i, j in combinations(range(len(hashes)), 2):
        if hashes[i] and texts[i] == texts[j]:
            found[i, j] = 1.0
        elif sum(a == b for a, b in zip(known[i], known[j], strict=False)) >= least:
            one, other = (sum(some, ()) for some in (known[i], known[j]))
            found[i, j] = sum(a == b for a, b in zip(one, other, strict=True)) / len(one)
    return found
