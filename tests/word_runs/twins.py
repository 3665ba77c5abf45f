"""The slow twin of word runs: every window of every document, listed and compared."""

from __future__ import annotations

from collections.abc import Sequence

Place = tuple[int, int]  # document, word


def repeated_windows(documents: Sequence[Sequence[str]], size: int, n_reference: int = 0) -> list[list[Place]]:
    """Return the places of every window of `size` words that occurs twice, the source first.

    With a reference, which comes first, only its places are sources, and only the others are compared with them.
    """
    places: dict[tuple[str, ...], list[Place]] = {}
    for document, words in enumerate(documents):
        for word in range(len(words) - size + 1):
            places.setdefault(tuple(words[word : word + size]), []).append((document, word))
    found = []
    for group in places.values():
        if n_reference:
            others = [place for place in group if place[0] >= n_reference]
            group = [group[0], *others] if group[0][0] < n_reference else []
        if len(group) > 1:
            found.append(group)
    return found


def words_of(places: Sequence[Place], size: int) -> set[Place]:
    """Return all words of windows at these places."""
    return {(document, word + k) for document, word in places for k in range(size)}


def words_in_runs(groups: list[list[Place]], size: int) -> set[Place]:
    """Return the words that are in a run: of all places except the sources."""
    return words_of([place for group in groups for place in group[1:]], size)


def words_to_cut(groups: list[list[Place]], size: int) -> set[Place]:
    """Return the words that are removed: those in runs, unless they are in the source of a window."""
    return words_in_runs(groups, size) - words_of([group[0] for group in groups], size)
