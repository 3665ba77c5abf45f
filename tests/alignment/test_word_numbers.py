"""Words and their runs have equal numbers exactly where they are equal."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.sentences.kernels.stems import SENTENCE_BOUND
from tests.alignment.wrapping import Pair

TEXTS = st.integers(1, 6).flatmap(lambda n: st.lists(st.integers(1, n), max_size=60))
STEMS = st.lists(st.sampled_from([0, 1, 2, 2**31, 2**32 - 1]) | st.integers(0, 2**32 - 1), max_size=40)


def runs_of(words: list[int], length: int) -> list[tuple[int, ...]]:
    """Return the runs that start at every word; the last ones are shorter."""
    return [tuple(words[k : k + length]) for k in range(len(words))]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(TEXTS | STEMS, TEXTS | STEMS), min_size=1, max_size=3))
def test_equal_numbers_are_equal_runs(pairs: list[tuple[list[int], list[int]]]) -> None:
    """In a room that was used before, too; numbers rise from 0 on in reading order."""
    largest = max(pairs, key=lambda pair: len(pair[0]) + len(pair[1]))
    room = Pair(*largest, [True] * len(largest[0]), [True] * len(largest[1])).room
    for a, b in pairs:
        Pair(a, b, [False] * len(a), [False] * len(b), room).number()
        assert room is not None
        words = a + b
        for numbers, length in ((room.words, 1), (room.pairs, 2), (room.runs, 4), (room.octets, 8)):
            known: dict[tuple[int, ...], int] = {}
            expected = [known.setdefault(run, len(known)) for run in runs_of(words, length)]
            assert numbers[: len(words)].tolist() == expected


@settings(max_examples=100, deadline=None)
@given(TEXTS, TEXTS, st.randoms(use_true_random=False))
def test_sentences_start_where_they_did_and_with_each_text(a: list[int], b: list[int], random) -> None:  # type: ignore[no-untyped-def]
    bounds = [[random.random() < 0.3 for _ in text] for text in (a, b)]
    room = Pair(a, b, bounds[0], bounds[1]).number()
    found = (room.bounds[: len(a) + len(b) + 1] == SENTENCE_BOUND).tolist()
    for at in (0, len(a), len(a) + len(b)):
        assert found[at]
    expected = [*bounds[0], *bounds[1], True]
    assert all(found[k] == expected[k] for k in range(len(expected)) if k not in (0, len(a)))
