"""Words that two texts have in common, but at another place in the order of the words."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ibidem.alignment.differences import word_bounds, words_of
from ibidem.model import Difference

# Fewer equal words among what was removed and what was added are a common phrase, not a move.
LEAST_MOVED_WORDS = 4
_LEAST_MOVED_CHARS = 20
_ENOUGH_WORDS = 10  # whatever their length: where each character is a word, this is half a sentence
# Four words in more places among what was removed lead nowhere: they are a refrain or a rule of a table.
_MOST_PLACES = 16


class Move(NamedTuple):
    """Places of the same words in both texts, in characters, without the space behind them."""

    a_start: int
    a_end: int
    b_start: int
    b_end: int


def moved_words(differences: Sequence[Difference], text_a: str, text_b: str) -> list[Move]:
    """Return the runs of words that were removed at one place and added at another, in the order of a.

    `differences` are those of the two texts. Longer runs come first: a run that overlaps with a longer one in either text is
    none. Words are the same as in `word_differences`.
    """
    changed = [difference for difference in differences if difference.operation != "equal"]
    most_removed = max((d.a_end - d.a_start for d in changed), default=0)
    most_added = max((d.b_end - d.b_start for d in changed), default=0)
    if min(most_removed, most_added) < _ENOUGH_WORDS:  # most edits are short: no need to look at words
        return []
    (words_a, _), (words_b, _) = words_of(text_a), words_of(text_b)
    bounds_a, bounds_b = word_bounds(text_a), word_bounds(text_b)
    removed = [(bisect_left(bounds_a, d.a_start), bisect_left(bounds_a, d.a_end)) for d in changed if d.a_start < d.a_end]
    added = [(bisect_left(bounds_b, d.b_start), bisect_left(bounds_b, d.b_end)) for d in changed if d.b_start < d.b_end]
    runs = [run for run in _common_runs(words_a, words_b, removed, added) if _is_long(bounds_a, *run)]
    taken_a, taken_b = bytearray(len(words_a)), bytearray(len(words_b))
    moves = []
    for a, b, n in sorted(runs, key=lambda run: (-run[2], run)):
        if any(taken_a[a : a + n]) or any(taken_b[b : b + n]):
            continue
        taken_a[a : a + n] = taken_b[b : b + n] = b"\1" * n
        spans = (_span(text_a, bounds_a, a, n), _span(text_b, bounds_b, b, n))
        moves.append(Move(*spans[0], *spans[1]))
    return sorted(moves)


def _common_runs(
    a: Sequence[str], b: Sequence[str], in_a: Sequence[tuple[int, int]], in_b: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, int]]:
    """Yield equal words within the given ranges that cannot be extended: first word in a, in b, number of words."""
    places: dict[tuple[str, ...], list[tuple[int, int, int]]] = {}
    for first, last in in_a:
        for i in range(first, last - LEAST_MOVED_WORDS + 1):
            places.setdefault(tuple(a[i : i + LEAST_MOVED_WORDS]), []).append((i, first, last))
    for b_first, b_last in in_b:
        for j in range(b_first, b_last - LEAST_MOVED_WORDS + 1):
            known = places.get(tuple(b[j : j + LEAST_MOVED_WORDS]), ())
            for i, first, last in known if len(known) <= _MOST_PLACES else ():
                if i > first and j > b_first and a[i - 1] == b[j - 1]:
                    continue  # it began earlier
                most = min(last - i, b_last - j)
                yield i, j, next((n for n in range(LEAST_MOVED_WORDS, most) if a[i + n] != b[j + n]), most)


def _is_long(bounds: Sequence[int], first: int, _: int, n_words: int) -> bool:
    return n_words >= _ENOUGH_WORDS or bounds[first + n_words] - bounds[first] >= _LEAST_MOVED_CHARS


def _span(text: str, bounds: Sequence[int], first: int, n_words: int) -> tuple[int, int]:
    start = bounds[first]
    return start, start + len(text[start : bounds[first + n_words]].rstrip())
