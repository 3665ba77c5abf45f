"""A plain twin of passages whose ends move outwards: over lists of words, one pair of documents after the other."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from ibidem.sentences.code_points import BARE_STOP, CLOSER, ELLIPSIS, FULL_STOP, OPENER, QUOTE, STRONG_STOP
from ibidem.sentences.make_code_points import kind_of
from tests.alignment.written import words_of_text

CLOSING, OPENING = (FULL_STOP, STRONG_STOP, BARE_STOP, ELLIPSIS, CLOSER, QUOTE), (OPENER, QUOTE)
Place = tuple[int, int, int, int]


class Outcome(NamedTuple):
    """Where a passage is now, how many words it gained, and which later one continues it (or -1)."""

    place: Place
    added: int
    joined: int


def folded(word: str) -> str:
    """Return a word as it is compared: without case, without invisible characters, and in one normal form."""
    visible = "".join(c for c in word if unicodedata.category(c) != "Cf" and c != "\ufe0f")
    return unicodedata.normalize("NFD", unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", visible).casefold()))


def expected_ends(a: str, b: str, places: Sequence[Place], least_words: int, is_one: bool = False) -> list[Outcome]:
    """Return what becomes of the passages of two documents (or of one), given in the order of their places in a and in b."""
    spans = words_of_text(a), words_of_text(b)
    found = [list(place) for place in places]
    added, joined, reached = [0] * len(places), [-1] * len(places), set()
    for i, (_, a_end, b_start, b_end) in enumerate(places):
        after = [[span for span in spans[side] if span[0] >= end] for side, end in enumerate((a_end, b_end))]
        ends, n, n_equal, met = (a_end, b_end), 0, 0, -1
        for x, y in zip(*after, strict=False):
            inside = [
                k for k in range(i + 1, len(places)) if ends[0] <= places[k][0] <= x[0] and ends[1] <= places[k][2] <= y[0]
            ]
            if met < 0 and n and inside:
                met = inside[0]
            if folded(a[slice(*x)]) != folded(b[slice(*y)]) or (is_one and met < 0 and x[1] > b_start):
                break
            n_equal += 1
            if met < 0:
                ends, n = (x[1], y[1]), n + 1
        if n_equal < least_words:
            continue
        if met >= 0 and not is_one and met not in reached:
            joined[i], added[i] = met, n
        reached |= {met}
        if joined[i] < 0 and n >= least_words:
            k = 0
            while a[ends[0] + k : ends[0] + k + 1] and kind_of(a[ends[0] + k]) in CLOSING:
                if a[ends[0] + k] != b[ends[1] + k : ends[1] + k + 1] or (is_one and ends[0] + k == b_start):
                    break
                k += 1
            found[i][1], found[i][3], added[i] = ends[0] + k, ends[1] + k, n
    for i, (a_start, _, b_start, _) in enumerate(places):
        if i in reached:
            continue
        limit = found[i][1] if is_one else 0
        before = [[span for span in spans[side] if span[1] <= start][::-1] for side, start in enumerate((a_start, b_start))]
        starts, n = (a_start, b_start), 0
        for x, y in zip(*before, strict=False):
            if folded(a[slice(*x)]) != folded(b[slice(*y)]) or y[0] < limit:
                break
            starts, n = (x[0], y[0]), n + 1
        if n >= least_words:
            k = 0
            while starts[0] > k and starts[1] - k > limit and kind_of(a[starts[0] - k - 1]) in OPENING:
                if a[starts[0] - k - 1] != b[starts[1] - k - 1]:
                    break
                k += 1
            found[i][0], found[i][2] = starts[0] - k, starts[1] - k
            added[i] += n
    return [Outcome((w, x, y, z), *rest) for (w, x, y, z), *rest in zip(found, added, joined, strict=True)]
