"""`tune --from-verdicts`: limits against a plain search, what they promise against what `find` does, and honesty about few."""

from __future__ import annotations

import random
import re
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibidem
from ibidem.errors import InputError, UsageError
from ibidem.passages.reported import Spans
from ibidem.results.limit_choice import Grid, Judged, Values, count_pairs, share_interval
from ibidem.results.limits_from_verdicts import choose_limits
from ibidem.viewer.store_cache import open_views
from tests.cli.test_find import write_jsonl
from tests.texts import text

Row = tuple[int, int, int, int, int, float]


def judged_of(chance: random.Random) -> tuple[list[bool], list[Row], list[tuple[int, int]]]:
    """Return pairs with a few passages each: verdicts, passages, and the lengths of both documents."""
    n_pairs = chance.randrange(2, 9)
    verdicts = [True, False, *(chance.random() < 0.5 for _ in range(n_pairs - 2))]
    lengths = [(chance.randrange(10, 60), chance.randrange(10, 60)) for _ in range(n_pairs)]
    rows = []
    for pair in range(n_pairs):
        for _ in range(chance.randrange(1, 4)):
            sides = []
            for n_chars in lengths[pair]:
                start = chance.randrange(n_chars)
                sides += [start, chance.randrange(start + 1, n_chars + 1)]
            rows.append((pair, sides[0], sides[1], sides[2], sides[3], chance.choice([0.5, 0.7, 0.9, 1.0])))
    return verdicts, rows, lengths


def columns_of(verdicts: list[bool], rows: list[Row], lengths: list[tuple[int, int]]) -> Judged:
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Judged(np.array(verdicts), Spans(*columns), np.array(lengths))


def kept_plainly(rows: list[Row], lengths: list[tuple[int, int]], limits: tuple[Fraction, int, Fraction]) -> list[bool]:
    """Return which pairs have passages that are similar and long enough, and cover enough of a document."""
    similarity, chars, coverage = limits
    kept = []
    for pair, sizes in enumerate(lengths):
        own = [row for row in rows if row[0] == pair and row[5] >= float(similarity)]
        left = [row for row in own if min(row[2] - row[1], row[4] - row[3]) >= chars]
        covered = [len({place for row in left for place in range(row[1 + 2 * s], row[2 + 2 * s])}) for s in (0, 1)]
        kept.append(bool(left) and any(covered[s] >= coverage * sizes[s] for s in (0, 1)))
    return kept


def score_plainly(kept: list[bool], verdicts: list[bool], wanted: float | None) -> float:
    right = sum(k and v for k, v in zip(kept, verdicts, strict=True))
    wrong = sum(k and not v for k, v in zip(kept, verdicts, strict=True))
    if wanted is None:
        return 2 * right / (right + wrong + sum(verdicts))
    precision = right / (right + wrong) if right + wrong else 0.0
    return 1 + right / sum(verdicts) if right and precision >= wanted else precision


@given(st.integers(0, 1 << 30), st.sampled_from([None, 0.5, 0.8, 1.0]))
def test_the_choice_is_the_best_of_all_combinations(number: int, wanted: float | None) -> None:
    verdicts, rows, lengths = judged_of(random.Random(number))
    judged = columns_of(verdicts, rows, lengths)
    values = Values.between(judged)
    grid = Grid(judged, values)
    choice = grid.best(np.ones(len(verdicts)), wanted)
    found = grid.counted(np.ones(len(verdicts)))
    best = {}
    for place in product(*(range(len(each)) for each in values)):
        kept = kept_plainly(rows, lengths, (values.similarity[place[0]], values.chars[place[1]], values.coverage[place[2]]))
        assert grid.keeps(place).tolist() == kept
        assert found.right[place] + found.wrong[place] == sum(kept)
        best[place] = score_plainly(kept, verdicts, wanted)
    assert best[choice] == pytest.approx(max(best.values()))
    fewest = min(sum(map(bool, place)) for place, score in best.items() if score >= max(best.values()) - 1e-9)
    assert sum(map(bool, choice)) == fewest


@given(st.integers(0, 1 << 30))
def test_weights_count_as_repeated_pairs(number: int) -> None:
    chance = random.Random(number)
    verdicts, rows, lengths = judged_of(chance)
    weights = [chance.randrange(3) for _ in verdicts]
    judged = columns_of(verdicts, rows, lengths)
    grid = Grid(judged, Values.between(judged))
    found = grid.counted(np.array(weights, np.float64))
    for place in product(*map(range, grid.shape)):
        kept = grid.keeps(place)
        assert found.right[place] == sum(w for w, k, v in zip(weights, kept, verdicts, strict=True) if k and v)
        assert found.wrong[place] == sum(w for w, k, v in zip(weights, kept, verdicts, strict=True) if k and not v)


def test_some_of_the_pairs() -> None:
    judged = columns_of([True, False, True], [(0, 0, 5, 0, 5, 1.0), (1, 0, 3, 0, 3, 0.5), (2, 1, 9, 2, 9, 0.8)], [(9, 9)] * 3)
    some = judged.take(np.array([0, 2]))
    assert some.spans.pair.tolist() == [0, 1]
    assert some.spans.a_end.tolist() == [5, 9]


def test_intervals_of_shares() -> None:
    low, high = share_interval(8, 10)  # as in textbooks
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)
    assert share_interval(0, 0) == (0.0, 1.0)
    assert share_interval(0, 5)[0] == 0.0


def results(folder: Path, n_pairs: int, verb: str = "find") -> Path:
    """Return results of pairs of which some share much, some little."""
    records, chance = [], random.Random(5)
    for pair in range(n_pairs):
        shared, own = (12, 3) if pair % 2 == 0 else (3, 20)
        base = 100 * pair
        for side in range(2):
            n_own = own + chance.randrange(4)
            mine = [base + 40 + 25 * side + k for k in range(n_own)]
            records.append({"id": f"p{pair}-{side}", "text": text(*(base + k for k in range(shared)), *mine)})
    path = folder / "documents.jsonl"
    write_jsonl(path, records)
    if verb == "find":
        ibidem.find(path, min_sentences=2, align=False).write(folder / "out")
    else:
        ibidem.cluster(path, shingle_size=3, min_similarity=0.05).write(folder / "out")
    return folder / "out"


def judge(folder: Path, unsure: int = 0) -> None:
    """Confirm pairs that share much (even numbers), reject the others."""
    store = open_views(folder)
    for pair in list(store.rows("pairs")):
        number = int(re.findall(r"\d+", pair["a_id"])[0])
        verdict = "unsure" if number < unsure else "confirmed" if number % 2 == 0 else "rejected"
        store.set_verdict(pair["pair"], verdict, "")
    store.close()


def test_the_settings_file_makes_find_keep_what_was_confirmed(tmp_path: Path) -> None:
    out = results(tmp_path, 50)
    judge(out)
    tuning = ibidem.tune_from_verdicts(out)
    assert (tuning.n_confirmed, tuning.n_rejected, tuning.is_reliable) == (25, 25, True)
    assert tuning.limits
    assert (tuning.within.confirmed, tuning.within.rejected) == (25, 0)
    assert tuning.left_out is not None
    assert tuning.left_out["f1"].value > 0.9
    for name, (low, high) in tuning.intervals.items():
        assert low <= tuning.limits[name] <= high
    tuning.save(tmp_path / "limits.toml")
    config = ibidem.Config.from_toml(tmp_path / "limits.toml")
    assert config.passages.min_sentences == 2  # as in the run that was judged
    for storage in ({}, {"partitions": 3}):
        with ibidem.find(tmp_path / "documents.jsonl", config=config, **storage) as again:
            pairs = {(row["a_id"], row["b_id"]) for row in again.passages.to_pylist()}
            assert again.counts["passages_below_limits"] == 25
        assert pairs == {(f"p{n}-0", f"p{n}-1") for n in range(0, 50, 2)}


def test_the_curve_and_the_picture(tmp_path: Path) -> None:
    out = results(tmp_path, 50)
    judge(out)
    tuning = ibidem.tune_from_verdicts(out, min_precision=0.9)
    rows = tuning.curve.to_pylist()
    assert {row["setting"] for row in rows} == {"min_passage_similarity", "min_passage_chars", "min_coverage"}
    for row in rows:
        assert row["precision_low"] <= row["precision"] <= row["precision_high"]
        assert row["recall_low"] <= row["recall"] <= row["recall_high"]
        assert row["recall"] == row["confirmed"] / 25
    for setting, limit in tuning.limits.items():
        (chosen,) = [row for row in rows if row["setting"] == setting and row["value"] == limit]
        assert (chosen["confirmed"], chosen["rejected"]) == (tuning.within.confirmed, tuning.within.rejected)
    picture = ElementTree.fromstring(tuning.to_svg())
    assert f"{25} confirmed" in "".join(picture.itertext())
    assert "min_coverage" in repr(tuning) or "min_passage_chars" in repr(tuning)


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"align": False},
        {"signature": "exact"},
        {"signature": "exact", "align": True},
        {"signature": "words", "align": True},
    ],
)
def test_the_settings_file_aligns_as_the_run_did(tmp_path: Path, chosen: dict[str, Any]) -> None:
    results(tmp_path, 44)
    with ibidem.find(tmp_path / "documents.jsonl", min_sentences=2, **chosen) as run:
        run.write(tmp_path / "judged")
        is_aligned = run.config.alignment.align
    judge(tmp_path / "judged")
    ibidem.tune_from_verdicts(tmp_path / "judged").save(tmp_path / "limits.toml")
    again = ibidem.Config.from_toml(tmp_path / "limits.toml").with_alignment()
    assert again.alignment.align is is_aligned


def test_duplicates_have_one_limit(tmp_path: Path) -> None:
    out = results(tmp_path, 44, verb="cluster")
    judge(out)
    tuning = ibidem.tune_from_verdicts(out)
    assert set(tuning.limits) == {"min_similarity"}
    again = ibidem.cluster(tmp_path / "documents.jsonl", config=tuning.config)
    assert {row["a_id"] for row in again.duplicates.to_pylist()} == {f"p{n}-0" for n in range(0, 44, 2)}


def test_few_verdicts_are_said_to_be_few(tmp_path: Path) -> None:
    out = results(tmp_path, 8)
    judge(out, unsure=2)
    tuning = ibidem.tune_from_verdicts(out)
    assert (tuning.n_confirmed, tuning.n_rejected, tuning.n_unsure) == (3, 3, 2)
    assert not tuning.is_reliable
    assert tuning.left_out is None
    shown = str(tuning)
    assert "few verdicts" in shown
    assert "too few verdicts to measure" in shown
    assert "2 unsure" in shown
    assert "few verdicts" in tuning.to_toml()


def test_verdicts_of_one_kind_give_no_limits(tmp_path: Path) -> None:
    out = results(tmp_path, 2)
    judge(out, unsure=1)
    with pytest.raises(InputError, match="0 confirmed and 1 rejected pair; limits need both"):
        ibidem.tune_from_verdicts(out)
    with pytest.raises(UsageError, match="min_precision must be above 0"):
        ibidem.tune_from_verdicts(out, min_precision=0)


def test_pairs_that_nothing_separates() -> None:
    chance = random.Random(1)
    rows = [(pair, 0, 50, 0, 50, 1.0) for pair in range(60)]
    judged = columns_of([chance.random() < 0.5 for _ in rows], rows, [(100, 100)] * len(rows))
    tuning = choose_limits("find", {}, judged, 0, 0, None, "out")
    assert tuning.limits == {}
    assert "no limit separates them" in str(tuning)
    assert "No limit separates them" in tuning.to_svg()


def test_limits_learnt_from_noise_are_doubted() -> None:
    chance = random.Random(2)
    rows = [(pair, 0, chance.randrange(10, 99), 0, 99, chance.random()) for pair in range(60)]
    judged = columns_of([chance.random() < 0.5 for _ in rows], rows, [(100, 100)] * len(rows))
    tuning = choose_limits("find", {}, judged, 0, 0, 0.95, "out")
    assert tuning.left_out is not None
    assert tuning.left_out["precision"].value < 0.95
    assert "on pairs that were left out, the precision is" in str(tuning)


def test_duplicates_with_other_reasons_are_refused(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "few.jsonl", [{"id": n, "text": text(1, 2, 3)} for n in "abc"])
    ibidem.cluster(tmp_path / "few.jsonl", min_containment=0.5).write(tmp_path / "out")
    store = open_views(tmp_path / "out")
    store.set_verdict(0, "confirmed", "")
    store.set_verdict(1, "rejected", "")
    store.close()
    with pytest.raises(InputError, match="min_containment"):
        ibidem.tune_from_verdicts(tmp_path / "out")


def test_counts_of_one_combination() -> None:
    found = count_pairs(np.array([True, True, False]), np.array([True, False, True]))
    assert (float(found.precision), float(found.recall), float(found.f1)) == (0.5, 0.5, 0.5)


def test_a_table_of_passages_as_columns() -> None:
    table = pa.table({name: [1] for name in ("a_start", "a_end", "b_start", "b_end")} | {"similarity": [0.5]})
    spans: Any = Spans.of(table, np.array([0]))
    assert spans.similarity.tolist() == [0.5]
