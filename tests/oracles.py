"""Slow and plain twins of the fast algorithms: they compare everything with everything."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations


def jaccard(a: frozenset[int], b: frozenset[int]) -> Fraction:
    """Return the Jaccard similarity of two sets that are not both empty."""
    return Fraction(len(a & b), len(a | b))


def components(sets: list[frozenset[int]], limit: Fraction) -> list[int]:
    """Return the smallest member of each set's component under Jaccard >= limit; -1 for empty sets."""
    parent = list(range(len(sets)))

    def root(x: int) -> int:
        while parent[x] != x:
            x = parent[x]
        return x

    for x, y in combinations(range(len(sets)), 2):
        if sets[x] and sets[y] and jaccard(sets[x], sets[y]) >= limit:
            x, y = sorted((root(x), root(y)))
            parent[y] = x
    return [root(x) if sets[x] else -1 for x in range(len(sets))]


def maximal_runs(n: int, m: int, match) -> list[tuple[int, int, int]]:  # type: ignore[no-untyped-def]
    """Return every maximal diagonal (i, j, length) of the cells for which `match(i, j)` holds."""
    runs = []
    for i in range(n):
        for j in range(m):
            if match(i, j) and not (i > 0 and j > 0 and match(i - 1, j - 1)):
                length = 1
                while i + length < n and j + length < m and match(i + length, j + length):
                    length += 1
                runs.append((i, j, length))
    return runs


def expected_diagonals(documents, words, size, min_words, max_places, comparable, same_document=False):  # type: ignore[no-untyped-def]
    """Return the diagonals that the gram join promises, as a set of (d, i, e, j, length).

    `documents` are lists of classes, `words` the word counts beside them.
    """
    windows = Counter(tuple(classes[i : i + size]) for classes in documents for i in range(len(classes) - size + 1))
    long_sentences = Counter(
        c
        for classes, counts in zip(documents, words, strict=True)
        for c, n in zip(classes, counts, strict=True)
        if n >= min_words
    )
    whole_texts = Counter(tuple(classes) for classes in documents if 0 < len(classes) < size)
    found = set()
    for d in range(len(documents)):
        for e in range(d, len(documents)):
            if (d == e and not same_document) or (d != e and not comparable(d, e)):
                continue
            a, b = documents[d], documents[e]
            for i, j, length in maximal_runs(len(a), len(b), lambda i, j, a=a, b=b: a[i] == b[j]):
                if d == e and i >= j:
                    continue
                if length >= size:
                    wanted = any(windows[tuple(a[k : k + size])] <= max_places for k in range(i, i + length - size + 1))
                elif min_words == 0:
                    continue
                else:
                    wanted = any(
                        words[d][i + k] >= min_words <= words[e][j + k] and long_sentences[a[i + k]] <= max_places
                        for k in range(length)
                    )
                    if d != e and length == len(a) == len(b) and whole_texts[tuple(a)] <= max_places:
                        wanted = True
                if wanted:
                    found.add((d, i, e, j, length))
    return found


def expected_passages(documents, size, likeness, limit, min_quote_words=0, same_document=False):  # type: ignore[no-untyped-def]
    """Return every passage without gaps, as a dictionary of (d, i, e, j, length) to (similarity, kind).

    `documents` are lists of sentences, each a tuple of words; `likeness` gives the similarity of two of them. A run
    shorter than `size` counts if a cell has `min_quote_words` words on both sides, or if it is both documents from end
    to end; neither if `min_quote_words` is 0.
    """
    found = {}
    for d in range(len(documents)):
        for e in range(d if same_document else d + 1, len(documents)):
            a, b = documents[d], documents[e]
            for i, j, length in maximal_runs(len(a), len(b), lambda i, j, a=a, b=b: likeness(a[i], b[j]) >= limit):
                if d == e and i >= j:
                    continue
                if d == e:
                    length = min(length, j - i)  # a text does not run into its own copy
                cells = [(a[i + k], b[j + k]) for k in range(length)]
                has_quote = min_quote_words and any(len(x) >= min_quote_words <= len(y) for x, y in cells)
                is_whole = min_quote_words > 0 and d != e and length == len(a) == len(b)
                if length < size and not has_quote and not is_whole:
                    continue
                weights = [len(x) + len(y) for x, y in cells]
                score = sum(likeness(x, y) * weight for (x, y), weight in zip(cells, weights, strict=True))
                same = "exact" if all(x == y for x, y in cells) else "near"
                found[d, i, e, j, length] = (
                    Fraction(score) / sum(weights),
                    "quote" if length < size and not is_whole else same,
                )
    return found
