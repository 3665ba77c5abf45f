"""Texts made to blow up: what is done, and how long it takes, grows with the text and not with its square.

`benchmarks/hostile.py` measures far more of them, and `fuzz/complexity.py` looks for new ones. Here times are compared loosely,
at eight times the size; a square is 64.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ibidem
from benchmarks.hostile_texts import UNITS
from ibidem.alignment.kernels.refinement import ENTRIES, choose_passages, mark_covered
from ibidem.config import SentencesConfig
from ibidem.evaluation.document_numbers import Passages
from ibidem.evaluation.passage_scores import find_meetings
from ibidem.sentences import split_texts, tokenise_texts

SENTENCE = "The ferry to the northern islands leaves the small harbour at seven. "


def seconds(action: Callable[[], object]) -> float:
    """The least time of three."""
    times = []
    for _ in range(3):
        begin = time.process_time()
        action()
        times.append(time.process_time() - begin)
    return min(times)


def assert_not_square(action: Callable[[int], Callable[[], object]], n: int) -> None:
    small, large = action(n), action(8 * n)
    small()
    assert seconds(large) < 24 * seconds(small) + 0.1


def cells(n_passages: int) -> tuple[np.ndarray, np.ndarray]:
    n_entries = ENTRIES * n_passages
    return np.full(1 << n_entries.bit_length(), -1, np.int64), np.empty(n_entries, np.int64)


def scattered(n: int) -> np.ndarray:
    """Passages of one pair of documents that lie over none of the others on both sides."""
    numbers = np.arange(n)
    order = np.random.default_rng(1).permutation(n)
    return np.stack([20 * numbers, 20 * numbers + 12, 20 * order, 20 * order + 12], axis=1).reshape(-1)


def test_many_passages_of_one_pair_are_not_compared_with_one_another() -> None:
    def choose(n: int) -> Callable[[], object]:
        spans, pairs, kept = scattered(n), np.zeros(n, np.int64), np.empty(n, np.bool_)

        def run() -> None:
            choose_passages(pairs, spans, np.zeros(n, np.bool_), *cells(n), kept)
            assert kept.all()

        return run

    assert_not_square(choose, 8000)


def test_many_places_are_not_compared_with_many_passages() -> None:
    def mark(n: int) -> Callable[[], object]:
        spans, pairs, covered = scattered(n), np.zeros(n, np.int64), np.empty(n, np.bool_)

        def run() -> None:
            mark_covered(spans + 1, pairs, spans, pairs, 0, *cells(n), covered)
            assert not covered.any()

        return run

    assert_not_square(mark, 8000)


def test_a_passage_that_spans_everything_makes_no_square_of_meetings() -> None:
    def meet(n: int) -> Callable[[], object]:
        starts = np.arange(n) * 10
        truth = Passages(np.zeros(n, np.int64), np.stack([starts, starts]), np.stack([starts + 5, starts + 5]))
        wide = np.array([[0], [0]]), np.array([[10 * n], [10 * n]])
        found = Passages(
            np.zeros(n + 1, np.int64), np.concatenate([wide[0], truth.starts], 1), np.concatenate([wide[1], truth.ends], 1)
        )

        def run() -> None:
            assert len(find_meetings(truth, found).truth) == 2 * n

        return run

    assert_not_square(meet, 10_000)


@pytest.mark.parametrize("unit", [*UNITS.values(), "word ", "No. "], ids=ascii)
def test_a_unit_over_and_over_is_split_and_tokenised_in_a_time_that_grows_with_it(unit: str) -> None:
    def split(n_bytes: int) -> Callable[[], object]:
        texts = pa.array([unit * (n_bytes // len(unit.encode()))], pa.large_string())

        def run() -> None:
            batch = split_texts(texts, SentencesConfig())
            starts, ends = batch.column("start_char").to_numpy(), batch.column("end_char").to_numpy()
            assert (starts < ends).all()
            assert (starts[1:] >= ends[:-1]).all()
            tokenise_texts(texts)

        return run

    assert_not_square(split, 40_000)


def test_equal_sentences_on_both_sides_are_no_square_of_hits(tmp_path: Path) -> None:
    with ibidem.Index(tmp_path / "index") as index:
        index.add([{"id": f"a{number}", "text": SENTENCE * 1500} for number in range(3)])
        result = index.query([{"id": "b", "text": SENTENCE * 2000}, {"id": "c", "text": SENTENCE}])
        hits = result.hits.to_pylist()
    assert len(hits) == 3 * 2001
    assert {(hit["b_id"], hit["b_sentence"]) for hit in hits} == {(f"a{number}", 0) for number in range(3)}


def test_places_that_are_not_too_many_are_all_told(tmp_path: Path) -> None:
    with ibidem.Index(tmp_path / "index") as index:
        index.add([{"id": "a", "text": SENTENCE * 300}, {"id": "b", "text": SENTENCE * 200}])
        result = index.query([{"id": "c", "text": SENTENCE * 20}, {"id": "d", "text": SENTENCE * 21}])
        n_hits = [sum(hit["a_id"] == name for hit in result.hits.to_pylist()) for name in ("c", "d")]
    assert n_hits == [20 * 500, 21 * 2]


@pytest.mark.parametrize("settings", [{}, {"signature": "exact"}, {"same_document": True}, {"align": True}], ids=str)
def test_equal_sentences_come_out_once(settings: dict[str, object]) -> None:
    documents = [{"id": str(number), "text": SENTENCE * (400 + number)} for number in range(2)]
    result = ibidem.find(documents, **settings)
    assert result.passages.num_rows <= 1
    assert result.repeats.num_rows == 1
