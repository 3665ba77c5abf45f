"""Invented sentences for tests: made of syllables, so that no abbreviation or real phrase gets in the way."""

from __future__ import annotations

from collections.abc import Sequence

from ibidem import Passage, Result

_SYLLABLES = ("ba", "do", "fi", "ku", "le", "mo", "ni", "pa", "ro", "su", "ta", "ve")


def word(number: int) -> str:
    """Return a word of its own for each number below 12 ** 4."""
    syllables = []
    for _ in range(4):
        number, rest = divmod(number, len(_SYLLABLES))
        syllables.append(_SYLLABLES[rest])
    return "".join(syllables)


def words(number: int, count: int = 6) -> tuple[str, ...]:
    """Return the words of an invented sentence; sentences of different numbers share none."""
    return tuple(word(20 * number + i) for i in range(count))


def render(sentence: Sequence[str]) -> str:
    """Return words as a sentence."""
    return " ".join(sentence).capitalize() + "."


def text(*numbers: int, count: int = 6) -> str:
    """Return the text of invented sentences, by their numbers."""
    return " ".join(render(words(number, count)) for number in numbers)


def changed(number: int, n_words: int = 1, count: int = 6) -> str:
    """Return an invented sentence with its last words replaced by others."""
    kept = words(number, count)[: count - n_words]
    return render(kept + tuple(word(9000 + 20 * number + i) for i in range(n_words)))


def documents(*texts: str, **named: str) -> list[dict[str, str]]:
    """Return records with the ids d0, d1, … or the names given."""
    numbered = {f"d{i}": value for i, value in enumerate(texts)}
    return [{"id": name, "text": value} for name, value in (numbered | named).items()]


def places(result: Result) -> list[tuple[str, int, int, str, int, int]]:
    """Return where the passages of a result are, in order."""
    return [(p.a.id, p.a.start, p.a.end, p.b.id, p.b.start, p.b.end) for p in result]


def only(result: Result) -> Passage:
    """Return the one passage of a result."""
    (passage,) = result
    return passage
