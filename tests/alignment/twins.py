"""Slow and plain twins of the kernels of the alignment: counters, sets, and every possibility tried."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, groupby, pairwise
from typing import NamedTuple

Words = Sequence[int]
Seed = tuple[int, int]
Rectangle = tuple[int, int, int, int]

FREQUENT = 64
CLOSE = 1e-9  # sums of logarithms in another order


def sentences_of(n_words: int, bounds: Sequence[bool], least_words: int = 3) -> list[list[int]]:
    """Return the places of each sentence's words: short ones are put to the next one, the last one to the one before."""
    sentences: list[list[int]] = []
    current: list[int] = []
    for k in range(n_words):
        if bounds[k] and len(current) >= least_words:
            sentences.append(current)
            current = []
        current.append(k)
    if sentences and len(current) < least_words:
        sentences[-1] += current
    else:
        sentences.append(current)
    return sentences


class Likeness(NamedTuple):
    """What two sentences have in common."""

    cosine: float
    is_alike: bool


def likenesses(a: list[list[int]], b: list[list[int]], least_dice: float, least_share: float) -> dict[Seed, Likeness]:
    """Return how alike the sentences of two texts are, given as words: tf-isf over the sentences of both."""
    bags = [Counter(sentence) for sentence in a + b]
    n_sentences = Counter(word for bag in bags for word in bag)
    most = FREQUENT + len(bags) // 8
    weights = [
        {word: n * math.log(len(bags) / n_sentences[word]) for word, n in bag.items() if n_sentences[word] <= most}
        for bag in bags
    ]
    found = {}
    for i in range(len(a)):
        for j in range(len(a), len(bags)):
            shared = weights[i].keys() & weights[j].keys()
            norms = math.hypot(*weights[i].values()) * math.hypot(*weights[j].values())
            dot = sum(weights[i][word] * weights[j][word] for word in shared)
            sizes = len(bags[i]), len(bags[j])
            is_alike = 2 * len(shared) >= least_dice * sum(sizes)
            is_alike |= len(shared) >= 4 and len(shared) >= least_share * min(sizes)
            if shared:
                found[i, j - len(a)] = Likeness(dot / norms if norms > 0 else 0.0, is_alike)
    return found


def octet_places(a: Words, b: Words, most: int = 4) -> list[tuple[int, int]]:
    """Return where eight words in a row are in both texts: the first few places in b for each of a, in reading order."""
    places: dict[tuple[int, ...], list[int]] = {}
    for j in range(len(b) - 7):
        places.setdefault(tuple(b[j : j + 8]), []).append(j)
    return [(i, j) for i in range(len(a) - 7) for j in places.get(tuple(a[i : i + 8]), [])[:most]]


class ExpectedGrade(NamedTuple):
    """How a word is in a stretch of the other text: not there, loose or in order. The level of a word in order is the higher
    one of two: by rarity, and by the order. Levels are four times the logarithm of one over the chance, not yet rounded.
    """

    state: str
    by_rarity: float = 0.0
    by_order: float = 0.0


def expected_grades(
    words: Words, other: tuple[int, int], low: int, high: int, unseen: float, highest_chance: int
) -> tuple[list[ExpectedGrade], list[ExpectedGrade]]:
    """Return the grades of words [low, high) by their neighbours, and those where words in place are in order too."""
    stretch = list(words[other[0] : other[1]])
    counts = Counter(stretch)
    pairs = {tuple(words[k : k + 2]) for k in range(*other) if k + 2 <= other[1]}
    runs = {tuple(words[k : k + 4]) for k in range(*other) if k + 4 <= other[1]}
    total = Counter(words)
    in_run: set[int] = set()
    for k in range(low, high - 3):
        if tuple(words[k : k + 4]) in runs:
            in_run.update(range(k, k + 4))
    used = Counter(words[k] for k in in_run)
    anchors = [k for k in range(low, high) if counts[words[k]] == 1]
    grades, in_place = [], []
    for k in range(low, high):
        word = words[k]
        if counts[word] == 0 or (k not in in_run and used[word] >= counts[word]):
            grades.append(ExpectedGrade("not there"))
            in_place.append(ExpectedGrade("not there"))
            continue
        rate = (max(total[word] - 2, 0) + unseen) / len(words)
        by_rarity = -4 * math.log(-math.expm1(-rate * len(stretch)))

        def in_order(n_places: int, rate: float = rate, by_rarity: float = by_rarity) -> ExpectedGrade:
            by_order = -4 * math.log(rate * n_places)
            return ExpectedGrade("in order", by_rarity, max(0.0, min(by_order, highest_chance)))

        neighbours = [counts[words[k - 1]]] if k > low and tuple(words[k - 1 : k + 1]) in pairs else []
        neighbours += [counts[words[k + 1]]] if k + 1 < high and tuple(words[k : k + 2]) in pairs else []
        if neighbours and 0 not in neighbours:
            grades.append(in_order(min(neighbours)))
            in_place.append(grades[-1])
            continue
        grades.append(ExpectedGrade("loose", by_rarity))
        places = [other[0] + stretch.index(words[at]) + k - at for at in asked_anchors(anchors, k)]
        is_there = [place in range(*other) and words[place] == word for place in places]
        in_place.append(in_order(is_there.index(True) + 1) if any(is_there) else grades[-1])
    return grades, in_place


def asked_anchors(anchors: Sequence[int], k: int) -> list[int]:
    """Return the anchors that say where word k should be: two on each side, in reading order, at most eight words away.

    If the word is an anchor itself, it takes the place of the first one after it; otherwise there are up to three after it.
    """
    n_before = bisect_left(anchors, k)
    around = anchors[max(n_before - 2, 0) : n_before + 3]
    return [at for at in around if at != k and abs(at - k) <= 8]


def divisions(weights: Sequence[float], most_fall: float) -> list[int]:
    """Return before which words a text is divided: where evidence has fallen by more than that since it was highest."""
    found: list[int] = []
    total = highest = 0.0
    for k in range(len(weights) + 1):
        if highest - total > most_fall:
            found.append(k)
            highest = total
        if k < len(weights):
            total += weights[k]
            highest = max(highest, total)
    return found


def stretches(
    weights: Sequence[float], bounds: Sequence[int], core: tuple[int, int], end_costs: Sequence[float], most_fall: float
) -> dict[tuple[int, int], float]:
    """Return the evidence of every stretch that meets the core and neither crosses a division nor ends at one."""
    found = {}
    divided = divisions(weights, most_fall)
    for start, end in combinations(range(len(weights) + 1), 2):
        if start < core[1] and end > core[0] and not any(start < k <= end for k in divided):
            found[start, end] = sum(weights[start:end]) - end_costs[bounds[start]] - end_costs[bounds[end]]
    return found


def expected_clusters(seeds: Sequence[Seed], gap: int) -> list[list[Seed]]:
    """Return clusters of seeds: cut by gaps on one side, then on the other, until nothing is cut."""
    clusters = [sorted(seeds)]
    while True:
        cut = [part for cluster in clusters for half in _cut(cluster, 0, gap) for part in _cut(half, 1, gap)]
        if len(cut) == len(clusters):
            return sorted(sorted(cluster) for cluster in cut)
        clusters = cut


def _cut(seeds: list[Seed], side: int, gap: int) -> list[list[Seed]]:
    parts: list[list[Seed]] = []
    for seed in sorted(seeds, key=lambda seed: seed[side]):
        if parts and seed[side] - parts[-1][-1][side] <= gap + 1:
            parts[-1].append(seed)
        else:
            parts.append([seed])
    return parts


class Bond(NamedTuple):
    """Two rare words, smaller one first, where the first of them is, in which document, and whether one of them is open."""

    key: tuple[int, int]
    place: int
    document: int
    is_open: bool


def bonds_of(documents: Sequence[Words], is_open: Sequence[Sequence[bool]], most: int, reach: int = 8) -> list[Bond]:
    """Return the bonds of all documents: pairs of rare words with one more between them at most."""
    counts = Counter(word for words in documents for word in words)
    bonds, first = [], 0
    for document, words in enumerate(documents):
        rare = [k for k, word in enumerate(words) if counts[word] <= most]
        for k, following in [*pairwise(rare), *zip(rare, rare[2:], strict=False)]:
            pair = words[k], words[following]
            if following - k <= reach and pair[0] != pair[1]:
                opens = is_open[document][k] or is_open[document][following]
                bonds.append(Bond((min(pair), max(pair)), first + k, document, opens))
        first += len(words)
    return bonds


def expected_rectangles(
    bonds: Sequence[Bond], most_places: int, comparable: Callable[[int, int], bool], least_bonds: int = 4, max_gap: int = 100
) -> list[Rectangle]:
    """Return where enough bonds, different ones on either side, meet close to one another in two documents."""
    meetings: dict[tuple[int, int], list[Seed]] = {}
    for _, group in groupby(sorted(bonds), key=lambda bond: bond.key):
        places = sorted(group, key=lambda bond: bond.place)
        if 2 <= len(places) <= most_places:
            for x, y in combinations(places, 2):
                if x.document != y.document and comparable(x.document, y.document) and (x.is_open or y.is_open):
                    meetings.setdefault((x.document, y.document), []).append((x.place, y.place))
    found = []
    for seeds in meetings.values():
        close = [cluster for cluster in expected_clusters(seeds, max_gap) if is_enough(cluster, least_bonds)]
        far = [cluster for cluster in expected_clusters(seeds, 2 * max_gap) if is_enough(cluster, least_bonds)]
        for cluster in close or filter(are_in_place, far):
            a, b = zip(*cluster, strict=True)
            found.append((min(a), max(a) + 1, min(b), max(b) + 1))
    return sorted(found)


def is_enough(cluster: Sequence[Seed], least_bonds: int) -> bool:
    """Return whether there are enough different bonds on both sides."""
    return min(len({seed[side] for seed in cluster}) for side in (0, 1)) >= least_bonds


def are_in_place(cluster: Sequence[Seed]) -> bool:
    """Return whether bonds are as far from one another on one side as on the other, but for a few words."""
    shifts, places = [b - a for a, b in cluster], [a for a, _ in cluster]
    return max(shifts) - min(shifts) <= 8 + (max(places) - min(places)) // 8


class Quoting(NamedTuple):
    """What makes a run of words a quotation: the fewest words, and bits; counts up to `few` say nothing."""

    least_words: int
    least_bits: float
    few: int
    most_words: int = 32
    most_places: int = 8


def quotation_marks(documents: Sequence[Words], quoting: Quoting) -> list[list[tuple[int, ...]]]:
    """Return, for every word of every document, the shortest run from it on that says enough; () if there is none."""
    n_words = sum(map(len, documents))
    counts = Counter(word for words in documents for word in words)
    pairs = Counter(pair for words in documents for pair in pairwise(words))

    def beyond(n: int) -> int:
        return max(0, n - quoting.few)

    def units(run: Words) -> int:
        total = 0
        for before, word in zip([None, *run], run, strict=False):
            chance = (beyond(counts[word]) + 0.5) / n_words
            if before is not None:
                share = beyond(pairs[before, word]) / max(beyond(counts[before]), 1)
                chance = 0.75 * share + 0.25 * chance
            total += int(-16 * math.log2(chance))
        return total

    def mark(words: Words, start: int) -> tuple[int, ...]:
        for end in range(start + max(2, quoting.least_words), min(len(words), start + quoting.most_words) + 1):
            if units(words[start:end]) >= int(16 * quoting.least_bits):
                return tuple(words[start:end])
        return ()

    return [[mark(words, start) for start in range(len(words))] for words in documents]


def expected_quotations(
    documents: Sequence[Words], is_open: Sequence[Sequence[bool]], quoting: Quoting, comparable: Callable[[int, int], bool]
) -> list[Rectangle]:
    """Return the maximal runs of equal words around marks in two documents, where few places have them and one is open."""
    marks = quotation_marks(documents, quoting)
    n_places = Counter(mark for some in marks for mark in some)
    first = [sum(map(len, documents[:d])) for d in range(len(documents))]
    found = set()
    for d, e in combinations(range(len(documents)), 2):
        a, b = documents[d], documents[e]
        for i, mark in enumerate(marks[d]):
            for j, other in enumerate(marks[e]):
                if not mark or mark != other or n_places[mark] > quoting.most_places or not comparable(d, e):
                    continue
                last = len(mark) - 1
                if not (is_open[d][i] or is_open[d][i + last] or is_open[e][j] or is_open[e][j + last]):
                    continue
                before = after = 0
                while before < min(i, j) and a[i - before - 1] == b[j - before - 1]:
                    before += 1
                while max(i - len(a), j - len(b)) + after < 0 and a[i + after] == b[j + after]:
                    after += 1
                place = first[d] + i, first[e] + j
                found.add((place[0] - before, place[0] + after, place[1] - before, place[1] + after))
    return sorted(found)
