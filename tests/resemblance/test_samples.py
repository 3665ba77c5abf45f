"""Samples of a fixed size, supershingles and shingles of lines: equal to comparing all pairs, wherever a run works."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.columns.sets import HashSets
from ibidem.config import Config
from ibidem.execution.threads import Threads
from ibidem.resemblance.samples import looked_at
from tests import cluster_twins as twins
from tests.cluster_twins import limits, listed, named, records, shingle_sizes, word_lists
from tests.resemblance.test_exchange import check_equal, mixture, most_documents, seeds
from tests.texts import documents

sample_sizes = st.integers(1, 9)
rates = st.sampled_from([1, 2, 3])


def ids(items: list[dict[str, Any]]) -> list[str]:
    return [item["id"] for item in items]


def hashes(result: Any) -> list[list[int]]:
    known = result.backing.documents.known_by
    return [known.hashes[a:b].tolist() for a, b in zip(known.first[:-1], known.first[1:], strict=True)]


# The smallest hashes.


@settings(max_examples=150, deadline=None)
@given(word_lists(), limits, shingle_sizes, sample_sizes, rates, st.sampled_from(["join", "shingling"]), st.data())
def test_pairs_by_the_smallest_hashes(
    words: list[list[str]], limit: str, size: int, n: int, every: int, method: str, data: st.DataObject
) -> None:
    items = records(words)
    remainder = data.draw(st.integers(0, every - 1))
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "workers": 1, "method": method}
    sample = {"sampling": "smallest", "sample_size": n, "sample_every": every, "sample_remainder": remainder}
    guessed = ibidem.cluster(items, **call, **sample, verify=False)
    expected = twins.smallest_duplicates(words, hashes(guessed), every, remainder, n, Fraction(limit))
    assert listed(guessed) == named(expected, ids(items))
    exact, verified = (listed(ibidem.cluster(items, **call, **more)) for more in ({}, sample))
    assert verified.items() <= exact.items()
    assert verified.items() >= {pair: exact[pair] for pair in listed(guessed) if pair in exact}.items()


@settings(max_examples=40, deadline=None)
@given(word_lists(), limits, shingle_sizes, sample_sizes, rates, st.booleans(), most_documents, seeds)
def test_the_smallest_hashes_over_partitions(
    words: list[list[str]], limit: str, size: int, n: int, every: int, verify: bool, most: int, seed: int
) -> None:
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "verify": verify, "max_shingle_documents": most}
    call |= {"sampling": "smallest", "sample_size": n, "sample_every": every}
    check_equal(records(words), seed=seed, n_partitions=(1, 4), **call)
    if verify:
        one, other = records([*words[:4], ["lum"]]), records([*words[4:], ["lum"]], "b")
        check_equal(one, other, seed=seed, n_partitions=(3,), **call)
        check_equal(records(words), seed=seed, n_partitions=(4,), measure="order", **call)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=40, unique=True), max_size=8), sample_sizes, st.data())
def test_which_hashes_are_the_smallest(sets: list[list[int]], n: int, data: st.DataObject) -> None:
    wanted = np.array(data.draw(st.lists(st.booleans(), min_size=len(sets), max_size=len(sets))), np.bool_)
    first = np.concatenate([[0], np.cumsum([len(some) for some in sets], dtype=np.int64)]).astype(np.int64)
    flat = np.array([h for some in sets for h in some], np.uint64)
    config = Config.of(sampling="smallest", sample_size=n)
    with Threads(3) as threads:
        found = looked_at(HashSets(flat, first), wanted, 1, config, threads.run_tasks)
    for d, (some, is_wanted) in enumerate(zip(sets, wanted.tolist(), strict=True)):
        mine = found.hashes[found.first[d] : found.first[d + 1]].tolist()
        assert set(mine) == (set(sorted(some, key=twins._place)[:n]) if is_wanted else set())


def test_a_sample_of_a_fixed_size_estimates_resemblance_of_documents_of_any_length() -> None:
    """One contains the other: the samples of both share less than the whole, but as far as both go they are fair."""
    random = np.random.default_rng(4)
    estimates = []
    for k in range(40):
        words = [f"w{k}x{n}" for n in random.integers(0, 10**9, 3000)]
        items = documents(whole=" ".join(words), part=" ".join(words[:2100]))
        call: dict[str, Any] = {"min_similarity": "0.3", "shingle_size": 1, "sampling": "smallest", "sample_size": 200}
        estimates.append(listed(ibidem.cluster(items, verify=False, **call))["whole", "part"][0])
    assert abs(np.mean(estimates) - 0.7) < 0.02


# Supershingles.

shapes = st.sampled_from([(6, 14, 2), (3, 2, 1), (4, 1, 2), (2, 3, 2), (1, 1, 1), (8, 2, 3)])


@settings(max_examples=100, deadline=None)
@given(word_lists(), limits, shingle_sizes, shapes, st.sampled_from(["join", "shingling"]))
def test_pairs_by_supershingles(
    words: list[list[str]], limit: str, size: int, shape: tuple[int, int, int], method: str
) -> None:
    items = records(words)
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "workers": 1, "method": method}
    sample = dict(zip(("supershingles", "supershingle_size", "min_supershingles"), shape, strict=True))
    sample |= {"sampling": "supershingles"}
    guessed = ibidem.cluster(items, **call, **sample, verify=False)
    expected = twins.supershingled_pairs(words, hashes(guessed), *shape)
    names = ids(items)
    found = {pair: scores[0] for pair, scores in listed(guessed).items()}
    assert found == {(names[i], names[j]): pytest.approx(share) for (i, j), share in expected.items()}
    exact, verified = (listed(ibidem.cluster(items, **call, **more)) for more in ({}, sample))
    assert verified == {pair: exact[pair] for pair in found if pair in exact}


@settings(max_examples=40, deadline=None)
@given(word_lists(), limits, shingle_sizes, shapes, st.booleans(), most_documents, seeds)
def test_supershingles_over_partitions(
    words: list[list[str]], limit: str, size: int, shape: tuple[int, int, int], verify: bool, most: int, seed: int
) -> None:
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "verify": verify, "max_shingle_documents": most}
    call |= dict(zip(("supershingles", "supershingle_size", "min_supershingles"), shape, strict=True))
    check_equal(records(words), seed=seed, n_partitions=(1, 4), sampling="supershingles", **call)
    if verify:
        check_equal(records(words), seed=seed, n_partitions=(3,), sampling="supershingles", measure="order", **call)


# Lines.

lines = st.lists(st.lists(st.sampled_from(["lum", "besk", "orda fenn", "velmo", "", "…"]), max_size=3), min_size=1, max_size=8)
line_ends = st.sampled_from(["\n", "\r\n", "\r", "\u2028", "\u0085", "\n\n"])


def lined(texts: list[list[list[str]]], end: str) -> list[dict[str, Any]]:
    return [{"id": f"d{i}", "text": end.join(" ".join(line) for line in some)} for i, some in enumerate(texts)]


@settings(max_examples=150, deadline=None)
@given(st.lists(lines, min_size=1, max_size=6), line_ends, limits, st.integers(0, 3), seeds)
@example([[["lum"]], [["lum"], ["lum", "lum"]], [["lum", "lum", "lum"]]], "\n", "1/10", 0, 0)
@example([[["lum"]], [["lum", "lum", "lum"]], [["lum"], ["lum", "lum"]]], "\n", "1/10", 0, 0)
def test_shingles_of_lines(texts: list[list[list[str]]], end: str, limit: str, size: int, seed: int) -> None:
    items = lined(texts, end)
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "shingle_unit": "line"}
    if not any(word not in ("", "…") for some in texts for line in some for word in line):
        return
    units = [[twins.tokens(" ".join(line)) for line in some] for some in texts]
    words = [[token for unit in some for token in unit] for some in units]
    # Documents of the same words are copies of the first one, whatever their lines.
    known = [twins.shingles([unit for unit in units[words.index(each)] if unit], size or 1) for each in words]
    expected = twins.duplicates(known, Fraction(limit))
    for i in range(len(words)):
        for j in range(i + 1, len(words)):
            if words[i] and words[i] == words[j]:
                expected[i, j] = (Fraction(1), Fraction(1), Fraction(1))
    assert listed(ibidem.cluster(items, workers=1, **call)) == named(expected, ids(items))
    check_equal(items, seed=seed, n_partitions=(3,), **call)


# A number of shared shingles.


@settings(max_examples=100, deadline=None)
@given(word_lists(), limits, shingle_sizes, st.integers(1, 12), st.sampled_from(["join", "shingling"]), most_documents, seeds)
def test_pairs_that_share_so_many_shingles(
    words: list[list[str]], limit: str, size: int, least: int, method: str, most: int, seed: int
) -> None:
    items = records(words)
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "min_shared_shingles": least, "method": method}
    known = [set(twins.shingles(some, size)) for some in words]
    expected = {
        (i, j): twins.resemblance(list(known[i]), list(known[j]))
        for i in range(len(known))
        for j in range(i + 1, len(known))
        if known[i] and known[j]
        and (len(known[i] & known[j]) >= least or twins.resemblance(list(known[i]), list(known[j]))[0] >= Fraction(limit))
    }  # fmt: skip
    assert listed(ibidem.cluster(items, workers=1, **call)) == named(expected, ids(items))
    check_equal(items, seed=seed, n_partitions=(1, 3), max_shingle_documents=most, **call)
    one, other = records([*words[:4], ["lum"]]), records([*words[4:], ["lum"]], "b")
    check_equal(one, other, seed=seed, n_partitions=(3,), max_shingle_documents=most, **call)


@pytest.mark.parametrize(
    "call",
    [
        {"sampling": "smallest", "sample_size": 20},
        {"sampling": "smallest", "sample_size": 40, "sample_every": 2, "verify": False},
        {"sampling": "smallest", "sample_size": 30, "max_shingle_documents": 5},
        {"sampling": "supershingles", "supershingle_size": 3},
        {"sampling": "supershingles", "supershingle_size": 3, "max_shingle_documents": 5, "verify": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("with_reference", [False, True])
def test_a_mixture(call: dict[str, Any], with_reference: bool) -> None:
    items, against = mixture(), None
    if with_reference:
        items, against = items[:70], [{**item, "id": f"{item['id']}-r"} for item in items[60:]]
    usual: dict[str, Any] = {"shingle_size": 2, "min_similarity": "0.3", "n_partitions": (1, 7), "seed": 5}
    assert len(check_equal(items, against, **usual, **call)) > 0


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ({"sampling": "smallest", "method": "minhash"}, 'sampling="smallest" works with the methods join and shingling'),
        ({"sampling": "smallest", "min_containment": 0.5}, 'min_containment does not work with sampling="smallest"'),
        ({"sampling": "supershingles", "sample_every": 2}, 'sample_every does not work with sampling="supershingles"'),
        (
            {"min_supershingles": 7, "sampling": "supershingles"},
            r"min_supershingles must be at most supershingles \(6\), not 7",
        ),
        ({"min_shared_shingles": 3, "method": "minhash"}, "min_shared_shingles works with the methods join and shingling"),
        ({"min_shared_shingles": 3, "sample_every": 2}, "min_shared_shingles counts all shingles"),
        ({"min_shared_shingles": 3, "min_containment": 0.5}, 'min_shared_shingles does not work with measure="order" or min_c'),
        ({"shingle_unit": "line", "method": "imatch"}, 'shingle_unit="line" does not work with the method imatch'),
    ],
)
def test_what_does_not_go_together_is_refused(call: dict[str, Any], problem: str) -> None:
    with pytest.raises(ibidem.UsageError, match=problem):
        ibidem.cluster(documents("one", "two"), **call)


def test_a_plan_is_for_samples_by_remainder_and_for_one_unit() -> None:
    plan = ibidem.SamplingPlan((0,), (2,), {"shingle_size": 2})
    for call, problem in (
        ({"sampling": "smallest", "shingle_size": 2}, 'sampling="smallest" does not work with a sampling plan'),
        ({"shingle_unit": "line", "shingle_size": 2}, "shingle_unit is line, but the sampling plan"),
    ):
        with pytest.raises(ibidem.UsageError, match=problem):
            ibidem.cluster(documents("one", "two"), plan=plan, **call)  # type: ignore[arg-type]
