"""`tune`: a plan that looks at few shingles and keeps its promise, on other documents of the same kind too."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ibidem
from ibidem.resemblance import GROUPS
from ibidem.resemblance.sampling_trials import Trial
from tests import cluster_twins as twins
from tests.texts import documents, text, word

Record = dict[str, str]

BOUNDS = (0, 75, 200, 450)
_SIZES = (40, 120, 300, 700)
_N_WORDS = 12**4


@lru_cache(maxsize=8)
def collection(seed: int, n_families: int = 60, sizes: tuple[int, ...] = _SIZES) -> tuple[Record, ...]:
    """Families of texts of each size: one and four copies of it, more and less of whose words are exchanged or left out."""
    random = np.random.default_rng(seed)
    texts = []
    for size in sizes:
        for _ in range(n_families):
            base = random.integers(0, _N_WORDS, size)
            texts.append(base)
            for _ in range(4):
                copy = base.copy()
                places = random.choice(size, int(random.integers(0, 1 + size // 5)), replace=False)
                copy[places] = random.integers(0, _N_WORDS, len(places))
                texts.append(copy[: size - int(random.integers(0, 1 + size // 10))])
    order = random.permutation(len(texts)).tolist()
    return tuple({"id": f"d{i}", "text": " ".join(map(word, texts[j].tolist()))} for i, j in enumerate(order))


@lru_cache(maxsize=32)
def tuned(limit: str, min_precision: float, seed: int = 1) -> ibidem.Tuning:
    items = list(collection(seed))
    return ibidem.tune(items, shingle_size=2, min_similarity=limit, min_precision=min_precision, groups=BOUNDS)


@lru_cache(maxsize=8)
def truth(limit: str, seed: int) -> frozenset[tuple[str, str]]:
    return frozenset(pairs(seed, limit))


def pairs(seed: int, limit: str, **call: Any) -> set[tuple[str, str]]:
    return set(twins.listed(ibidem.cluster(list(collection(seed)), shingle_size=2, min_similarity=limit, **call)))


# The promise.


@pytest.mark.parametrize(("limit", "promised"), [("0.5", 0.85), ("0.6", 0.8), ("0.6", 0.9), ("0.7", 0.8)])
def test_the_promise_holds_on_other_documents(limit: str, promised: float) -> None:
    plan = tuned(limit, promised).plan
    assert max(plan.every) > 1
    true = truth(limit, 2)
    guessed = pairs(2, limit, plan=plan, verify=False)
    assert guessed != true
    assert len(guessed & true) / len(guessed) >= promised - 0.02
    verified = pairs(2, limit, plan=plan)
    assert verified <= true, "what is compared in full is right"
    assert len(verified) / len(true) >= 0.97


@pytest.mark.parametrize(("limit", "promised"), [("0.5", 0.85), ("0.6", 0.8), ("0.7", 0.8)])
def test_what_was_measured_keeps_the_promise(limit: str, promised: float) -> None:
    tuning = tuned(limit, promised)
    assert [group.every for group in tuning.groups] == list(tuning.plan.every) == sorted(tuning.plan.every)
    assert tuple(tuning.plan.from_shingles) == BOUNDS
    for group in tuning.groups:
        assert group.chosen.every == group.every
        assert group.chosen.precision >= promised
    # What the plan does on the documents that it was made for is what was measured.
    true, guessed = truth(limit, 1), pairs(1, limit, plan=tuning.plan, verify=False)
    assert abs(len(guessed & true) / len(guessed) - measured(tuning)) < 0.04


def measured(tuning: ibidem.Tuning) -> float:
    chosen = [group.chosen for group in tuning.groups]
    return sum(trial.right for trial in chosen) / sum(trial.accepted for trial in chosen)


def test_ratios_never_fall_with_size() -> None:
    """Short documents are easily judged, long ones are not: pairs of both kinds are compared by the ratio of the long."""
    random = np.random.default_rng(5)
    texts = []
    for size, least, most in ((200, 1, 4), (400, 60, 75)):
        for _ in range(80):
            base = random.integers(0, _N_WORDS, size)
            copy = base.copy()
            n_changed = int(random.integers(least, most))
            copy[random.choice(size, n_changed, replace=False)] = random.integers(0, _N_WORDS, n_changed)
            texts += [base, copy]
    items = documents(*[" ".join(map(word, words.tolist())) for words in texts])
    call: dict[str, Any] = {"shingle_size": 1, "min_similarity": "0.7"}
    short, both = (ibidem.tune(some, groups=(0, 300), **call).plan for some in (items[:160], items))
    assert short.every[0] > 2
    assert both.every[0] == both.every[1] < short.every[0]


def test_a_higher_promise_never_means_smaller_samples() -> None:
    for low, high in pairwise((0.01, 0.8, 0.9, 0.99)):
        one, other = tuned("0.6", low), tuned("0.6", high)
        assert all(a >= b for a, b in zip(one.plan.every, other.plan.every, strict=True))
        assert one.share < other.share


def test_the_plan_looks_at_fewer_shingles() -> None:
    tuning = tuned("0.6", 0.8)
    known = ibidem.cluster(list(collection(1)), shingle_size=2).backing.documents.known_by  # type: ignore[union-attr]
    sizes = np.diff(known.first)
    every = np.repeat(tuning.plan.every_of(sizes).astype(np.uint64), sizes)
    looked_at = np.count_nonzero(known.hashes % every == 0) / len(known.hashes)
    assert looked_at < 0.3
    assert abs(tuning.share - looked_at) < 0.02


# What is measured.


def by_hand(items: list[Record], limit: Fraction, bounds: tuple[int, ...], every: int) -> list[tuple[float, float, int]]:
    """The pairs that samples accept, those of them that are right, and all that are true, by size group."""
    known = ibidem.cluster(items, shingle_size=2, hash_seed=0).backing.documents.known_by  # type: ignore[union-attr]
    hashes = [set(known.hashes[a:b].tolist()) for a, b in zip(known.first[:-1], known.first[1:], strict=True)]
    found = [[0.0, 0.0, 0] for _ in bounds]
    remainders = range(min(every, 4))
    for one, other in combinations(hashes, 2):
        larger = max(len(one), len(other))
        mine = found[sum(larger >= bound for bound in bounds) - 1]
        is_true = twins.resemblance(one, other)[0] >= limit  # type: ignore[arg-type]
        mine[2] += is_true
        for remainder in remainders:
            a, b = ({h for h in some if h % every == remainder} for some in (one, other))
            if a and b and len(a & b) >= limit * len(a | b):
                mine[0] += 1 / len(remainders)
                mine[1] += is_true / len(remainders)
    return [(accepted, right, int(true)) for accepted, right, true in found]


@pytest.mark.parametrize("limit", ["1/2", "0.7"])
def test_trials_are_what_comparing_all_pairs_gives(limit: str) -> None:
    items = list({item["text"]: item for item in collection(7, 4, (20, 50, 90))}.values())
    bounds = (0, 17, 46, 85)  # through the middle of families
    tuning = ibidem.tune(items, shingle_size=2, min_similarity=limit, min_precision=0.01, groups=bounds)
    for place, every in enumerate((1, 2, 4, 8, 16, 32, 64)):
        trials = [group.trials[place] for group in tuning.groups]
        assert {trial.every for trial in trials} == {every}
        expected = by_hand(items, Fraction(limit), bounds, every)
        assert [(trial.accepted, trial.right, trial.true) for trial in trials] == [
            (pytest.approx(accepted), pytest.approx(right), true) for accepted, right, true in expected
        ]
    sizes = [len(set(twins.shingles(item["text"].split(), 2))) for item in items]
    for group, upper in zip(tuning.groups, [*bounds[1:], 10**9], strict=True):
        mine = [size for size in sizes if group.from_shingles <= size < upper]
        assert (group.n_documents, group.n_shingles) == (len(mine), sum(mine))


def precision(limits: tuple[str, ...], place: int, group: int | None = None) -> float:
    """The precision of the samples of one in 2 ** place shingles, over all limits and groups given."""
    trials = [
        trial
        for limit in limits
        for number, size_group in enumerate(tuned(limit, 0.01).groups)
        for trial in [size_group.trials[place]]
        if group in (None, number)
    ]
    return sum(trial.right for trial in trials) / sum(trial.accepted for trial in trials)


def test_precision_falls_with_the_limit_and_with_shortness_and_rises_with_the_share() -> None:
    every_limit = ("0.5", "0.6", "0.8")
    for place in range(1, 6):
        by_limit = [precision((limit,), place) for limit in every_limit]
        assert by_limit == sorted(by_limit, reverse=True)
        by_size = [precision(every_limit, place, group) for group in range(4)]
        assert by_size == sorted(by_size)
    by_share = [precision(every_limit, place) for place in range(7)]
    assert by_share == sorted(by_share, reverse=True)
    assert by_share[0] == 1


def test_the_binomial_model_predicts_what_is_measured() -> None:
    n_compared = 0
    for limit in ("0.5", "0.6"):
        for group in tuned(limit, 0.01).groups:
            if group.trials[0].true > 200:
                for trial in group.trials[:6]:
                    n_compared += 1
                    assert abs(trial.predicted_precision - trial.precision) < 0.07
                    assert abs(trial.predicted_recall - trial.recall) < 0.07
    assert n_compared >= 30


def test_how_sure_a_precision_is() -> None:
    assert Trial(2, 19, 19, 19, 1, 1).sure_precision == 0
    assert 0.75 < Trial(2, 20, 20, 20, 1, 1).sure_precision < 1
    assert Trial(2, 100, 90, 95, 1, 1).sure_precision == pytest.approx(0.8085, abs=1e-3)  # Wilson, one-sided 99 %
    assert Trial(2, 10**6, 9 * 10**5, 10**6, 1, 1).sure_precision == pytest.approx(0.9, abs=1e-3)
    nothing = Trial(2, 0, 0, 0, 1, 1)
    assert (nothing.precision, nothing.recall) == (1, 1)


def test_copies_are_counted_once() -> None:
    items = list(collection(7, 4, (20, 50, 90)))
    call: dict[str, Any] = {"shingle_size": 2, "min_similarity": "0.6", "groups": (0, 40)}
    copies = [{"id": f"{item['id']}-copy", "text": item["text"].upper()} for item in items[::3]]
    assert ibidem.tune(items + copies, **call).groups == ibidem.tune(items, **call).groups


def test_without_evidence_everything_is_looked_at() -> None:
    for items in (documents(text(1, 2, 3), text(1, 2, 4)), documents("***", "…"), list(collection(7, 1, (90,)))):
        tuning = ibidem.tune(items, shingle_size=2)
        assert set(tuning.plan.every) == {1}
        assert tuning.share == 1
        assert tuple(tuning.plan.from_shingles) == GROUPS


def test_only_the_first_documents_are_measured_if_asked_for() -> None:
    items = list(collection(7, 4, (20, 50, 90)))
    call: dict[str, Any] = {"shingle_size": 2, "min_similarity": "0.6"}
    some = ibidem.tune(iter(items), max_documents=25, **call)
    assert (some.groups, some.plan) == (ibidem.tune(items[:25], **call).groups, ibidem.tune(items[:25], **call).plan)
    assert some.plan.made_for["documents"] == 25
    assert ibidem.tune(items, max_documents=10**6, **call).plan.made_for["documents"] == 60


def test_workers_change_nothing() -> None:
    items = list(collection(7, 4, (20, 50, 90)))
    one, other = (ibidem.tune(items, shingle_size=2, min_similarity="0.6", workers=n) for n in (1, 3))
    assert (one.groups, one.plan) == (other.groups, other.plan)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ({"min_precision": 0}, "min_precision must be .* not 0"),
        ({"min_precision": 1}, "min_precision must be .* not 1"),
        ({"max_documents": -1}, "max_documents must be at least 0, not -1"),
        ({"groups": ()}, "groups"),
        ({"groups": (1, 5)}, "groups"),
        ({"groups": (0, 5, 5)}, "groups"),
        ({"min_similarity": 0}, "min_similarity must be above 0"),
        ({"min_precision": 2, "max_documents": -1, "groups": [3]}, "min_precision.*max_documents.*groups"),
    ],
)
def test_settings_that_do_not_hold(call: dict[str, Any], problem: str) -> None:
    with pytest.raises(ibidem.UsageError, match=problem):
        ibidem.tune(documents(text(1)), **call)


def test_inputs_without_documents_and_records_left_out() -> None:
    with pytest.raises(ibidem.InputError, match="no documents"):
        ibidem.tune([])
    assert [record.position for record in ibidem.tune([{"text": text(1)}, {"id": "x"}]).skipped] == [2]


# The plan as a file.


def test_a_plan_is_saved_and_read_again(tmp_path: Path) -> None:
    plan = tuned("0.6", 0.8).plan
    plan.save(tmp_path / "plan.json")
    read = ibidem.SamplingPlan.load(tmp_path / "plan.json")
    assert (list(read.from_shingles), list(read.every)) == (list(plan.from_shingles), list(plan.every))
    assert read.made_for == plan.made_for == {
        "min_similarity": 0.6, "min_precision": 0.8, "shingle_size": 2, "documents": len(collection(1)),
    }  # fmt: skip
    read.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "plan.json").read_bytes()
    assert pairs(2, "0.6", plan=str(tmp_path / "plan.json")) == pairs(2, "0.6", plan=plan)
    sizes = np.array([0, 1, 74, 75, 199, 200, 449, 450, 10**6])
    assert read.every_of(sizes).tolist() == np.repeat(plan.every, [3, 2, 2, 2]).tolist()


def plan_text(groups: object, **changes: object) -> str:
    return json.dumps({"format": "ibidem sampling plan", "made_for": {}, "groups": groups} | changes)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "7",
        "null",
        "{}",
        "\udc80",
        plan_text([{"from_shingles": 0, "every": 1}], format="other"),
        plan_text([{"from_shingles": 0, "every": 1}], made_for=None),
        plan_text(None),
        plan_text([]),
        plan_text([1]),
        plan_text([{"from_shingles": 0}]),
        plan_text([{"from_shingles": 0, "every": "many"}]),
        plan_text([{"from_shingles": 5, "every": 1}]),
        plan_text([{"from_shingles": 0, "every": 3}]),
        plan_text([{"from_shingles": 0, "every": 0}]),
        plan_text([{"from_shingles": 0, "every": -2}]),
        plan_text([{"from_shingles": 0, "every": 2}, {"from_shingles": 0, "every": 4}]),
        plan_text([{"from_shingles": 0, "every": 2}, {"from_shingles": -5, "every": 4}]),
        plan_text([{"from_shingles": 0, "every": float("inf")}]),
        plan_text([{"from_shingles": 0, "every": 1 << 70}]),
        plan_text([{"from_shingles": 0, "every": 1}], made_for={"min_similarity": "high"}),
    ],
)
def test_what_is_no_plan_is_an_input_error_that_names_the_file(tmp_path: Path, content: str) -> None:
    (tmp_path / "plan.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ibidem.InputError, match=r"(?s)plan\.json.*ibidem tune"):
        ibidem.cluster(documents(text(1), text(2)), plan=tmp_path / "plan.json")


def test_a_plan_for_other_settings_is_refused() -> None:
    plan = tuned("0.6", 0.8).plan
    for call, problem in (
        ({"min_similarity": "0.7", "shingle_size": 2}, r"min_similarity is 0\.7, .* made for 0\.6"),
        ({"min_similarity": "0.6"}, "shingle_size is 10, .* made for 2"),
    ):
        with pytest.raises(ibidem.UsageError, match=problem):
            ibidem.cluster(documents(text(1), text(2)), plan=plan, **call)  # type: ignore[arg-type]


def test_a_plan_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.json", tmp_path):
        with pytest.raises(ibidem.InputError, match=f"{path.name}.*"):
            ibidem.SamplingPlan.load(path)
