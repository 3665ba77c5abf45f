"""Collections on which document tools go wrong: crowds of near copies, references, odd fields, inputs that end."""

from __future__ import annotations

import random
from typing import Any

import pytest

import ibidem
from ibidem.errors import SettingsError

WORDS = [a + b + c for a in ("ba", "do", "fi", "ku") for b in ("ma", "no", "ri", "su") for c in ("l", "n", "r", "s")]


def words(n: int, seed: int) -> list[str]:
    chosen = random.Random(seed)
    return [chosen.choice(WORDS) + str(chosen.randrange(100)) for _ in range(n)]


def sentence(seed: int, n: int = 12) -> str:
    return " ".join(words(n, seed)).capitalize() + "."


def crowd(n: int, prefix: str, seed: int = 1) -> list[dict[str, Any]]:
    """Documents that all resemble one another, each with a word of its own."""
    base = words(200, seed)
    changed = [[*base[: i % 200], f"{prefix}own{i}", *base[i % 200 + 1 :]] for i in range(n)]
    return [{"id": f"{prefix}{i}", "text": " ".join(text)} for i, text in enumerate(changed)]


def gone(result: ibidem.CleaningResult) -> set[str]:
    return set(result.removed["id"].to_pylist())


def test_a_crowd_of_near_copies_leaves_one() -> None:
    result = ibidem.dedup(crowd(1500, "d"))
    assert len(list(result.remaining())) == 1


@pytest.mark.parametrize("n_reference", [1, 1500])
def test_a_crowd_against_a_reference_goes(n_reference: int) -> None:
    result = ibidem.dedup(crowd(1200, "d"), against=crowd(n_reference, "r"))
    assert len(gone(result)) >= 1195
    assert all(name.startswith("r") for name in result.removed["matched_id"].to_pylist())


def test_what_is_not_in_the_reference_stays_however_often_it_stands_in_the_inputs() -> None:
    a, b, c = (" ".join(words(60, seed)) for seed in (1, 2, 3))
    records = [{"id": "a1", "text": a}, {"id": "a2", "text": a}, {"id": "b1", "text": b}, {"id": "b2", "text": b}]
    result = ibidem.dedup(records, against=[{"id": "r1", "text": b}, {"id": "r2", "text": b}, {"id": "r3", "text": c}])
    assert gone(result) == {"b1", "b2"}
    pairs = ibidem.cluster(records, against=[{"id": "r1", "text": b}]).duplicates.to_pylist()
    assert [(row["a_id"], row["b_id"]) for row in pairs] == [("b1", "r1"), ("b2", "r1")]


def test_copies_of_the_reference_are_found_by_any_sample() -> None:
    records = [{"id": str(i), "text": " ".join(words(30, i))} for i in range(50)]
    assert len(gone(ibidem.dedup(records, against=records, sample_every=64))) == 50


def test_sentences_known_by_nothing_do_not_go_with_their_neighbours() -> None:
    run = [sentence(seed) for seed in range(8)]
    own = "Of the and to, the of."
    records = [{"id": f"b{i}", "text": "The and of to it " + " ".join(words(10, 50 + i)) + "."} for i in range(20)]
    records += [{"id": "source", "text": " ".join(run)}, {"id": "copy", "text": " ".join([*run[:4], own, *run[4:]])}]
    left = {d.id: d.text for d in ibidem.dedup(records, level="passage", signature="imatch").remaining()}
    assert own in left["copy"]
    assert run[0] not in left["copy"]


def test_text_is_cut_word_for_word_however_the_settings_come() -> None:
    near = sentence(1, 20)
    records = [{"id": "a", "text": near}, {"id": "b", "text": near.replace(".", " today.")}]
    assert len(ibidem.dedup(records, level="sentence")) == 0
    assert len(ibidem.dedup(records, config=ibidem.Config.of(level="sentence"))) == 0
    assert len(ibidem.dedup(records, level="sentence", signature="words")) == 1


def test_iterators_are_read_twice() -> None:
    def records() -> Any:
        return ({"id": str(i), "text": sentence(i)} for i in range(3))

    assert len(list(ibidem.dedup(records()).remaining())) == 3
    assert len(list(ibidem.dedup([records()]).remaining())) == 3


@pytest.mark.parametrize(
    ("values", "rule", "kept"),
    [
        ([1234567890123456788, 1234567890123456789], "s:max", 1),
        (["9", "10", "n/a"], "s:max", 1),
        (["9", "10", ""], "s:min", 0),
        (["pear", "apple", "12"], "s:min", 2),
        ([None, 2.5, 2.25], "s:max", 1),
        ([None, "1e3", "999"], "s:max", 1),
        ([float("nan"), 1, 2], "s:max", 2),
    ],
)
def test_the_field_that_decides(values: list[Any], rule: str, kept: int) -> None:
    text = " ".join(words(40, 5))
    records = [{"id": str(i), "text": text, "s": value} for i, value in enumerate(values)]
    assert [d.id for d in ibidem.dedup(records, keep=rule).remaining()] == [str(kept)]
    documents = [ibidem.Document(record["id"], text, fields={"s": record["s"]}) for record in records]
    assert [d.id for d in ibidem.dedup(documents, keep=rule).remaining()] == [str(kept)]


def test_the_field_decides_on_the_side_of_the_reference_too() -> None:
    text = " ".join(words(40, 5))
    reference = [{"id": "r1", "text": text, "s": 1, "group": "9"}, {"id": "r2", "text": text + " more", "s": 5, "group": "1"}]
    result = ibidem.dedup([{"id": "a", "text": text + " again"}], against=reference, keep="s:max")
    assert result.removed["matched_id"].to_pylist() == ["r2"]


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "pairs", "verify": False},
        {"measure": "order", "verify": False},
        {"measure": "order", "min_containment": 0.9},
        {"method": "minhash", "sample_every": 4},
    ],
)
def test_settings_that_do_not_go_together(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        ibidem.cluster([{"id": "a", "text": "one two"}], **settings)


def test_tuning_counts_pairs_that_common_shingles_hide() -> None:
    tuning = ibidem.tune(crowd(1200, "d"), max_shingle_documents=200, min_precision=0.5)
    trial = next(group for group in tuning.groups if group.n_documents).trials[1]
    assert trial.accepted > 0
    assert trial.precision > 0.9


def test_a_plan_is_told_in_the_run(tmp_path: Any) -> None:
    plan = ibidem.SamplingPlan([0], [2], {"min_similarity": 0.8})
    result = ibidem.cluster(crowd(5, "d"), plan=plan)
    result.write(tmp_path / "out")
    assert '"every": 2' in (tmp_path / "out" / "run.json").read_text("utf-8")


def test_only_what_is_left_to_choose_can_be_chosen_when_writing(tmp_path: Any) -> None:
    with pytest.raises(SettingsError, match="level"):
        ibidem.dedup(crowd(2, "d")).write(tmp_path / "out", level="passage")


def test_of_a_text_inside_another_the_other_stays() -> None:
    short, rest = words(80, 1), words(900, 2)
    records = [{"id": "teaser", "text": " ".join(short)}, {"id": "article", "text": " ".join(short + rest)}]
    assert gone(ibidem.dedup(records, min_containment=0.9)) == {"teaser"}
    assert gone(ibidem.dedup(records[::-1], min_containment=0.9, keep="first")) == {"teaser"}
    # What only holds a text of the reference stays.
    assert gone(ibidem.dedup(records[1:], against=records[:1], min_containment=0.9)) == set()
    assert gone(ibidem.dedup(records[:1], against=records[1:], min_containment=0.9)) == {"teaser"}


def test_a_file_is_no_reference_for_itself(tmp_path: Any) -> None:
    path = tmp_path / "a.txt"
    path.write_text(sentence(1))
    with pytest.raises(ibidem.InputError, match="is both an input and a reference"):
        ibidem.dedup(path, against=[str(path)])
