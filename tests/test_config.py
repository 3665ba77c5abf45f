"""Settings: one word everywhere, exact numbers, and all that is wrong said at once."""

from __future__ import annotations

import dataclasses
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem import Config
from ibidem.cli.options import flag
from ibidem.config import FORMATS, SET_SIGNATURES, SIGNATURES, WordSource, setting_fields, setting_type, settings_from_toml
from ibidem.errors import SettingsError, UsageError

FIELDS = {setting.name: setting for _, setting in setting_fields()}


def value_of(config: Config, name: str) -> Any:
    (stage,) = [stage for stage, setting in setting_fields() if setting.name == name]
    return getattr(getattr(config, stage), name)


def problems(**wrong: Any) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        Config.of(**wrong)
    assert isinstance(caught.value, UsageError)
    assert caught.value.exit_code == 2
    for problem in caught.value.problems:
        assert problem in str(caught.value)
    return caught.value.problems


def test_every_setting_has_one_home_a_help_text_and_a_default_that_holds() -> None:
    names = Counter(setting.name for _, setting in setting_fields())
    assert [name for name, count in names.items() if count > 1] == []
    for stage, setting in setting_fields():
        assert setting.metadata["help"].endswith("."), f"{stage}.{setting.name}"
        assert setting_type(setting) in (str, int, float, bool, Fraction, WordSource)
    assert Config.of() == Config()


def test_a_flag_is_the_name_of_its_setting() -> None:
    from ibidem.cli.cluster import cluster
    from ibidem.cli.compare import compare
    from ibidem.cli.decontaminate import decontaminate
    from ibidem.cli.dedup import dedup
    from ibidem.cli.find import find
    from ibidem.cli.watch import watch

    verbs = (compare, watch, find, cluster, decontaminate, dedup)
    flags = {option: parameter.name for verb in verbs for parameter in verb.params for option in parameter.opts}
    for name in FIELDS.keys() - {"work_dir"}:  # the command line has a place for it
        assert flag(name) == ("--as" if name == "as_paper" else "--" + name.replace("_", "-"))
        assert flags[flag(name)] == name
    assert {flags[f"--{word}"] for word in ("against", "output", "config", "progress", "quiet")} == {
        "references", "output", "config_file", "progress", "quiet",
    }  # fmt: skip


def test_settings_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().passages.min_sentences = 1  # type: ignore[misc]


def test_a_keyword_finds_its_stage_and_a_base_is_kept() -> None:
    base = Config.of(min_sentences=5, signature="exact")
    config = Config.of(base, min_sentences=2)
    assert (config.passages.min_sentences, config.signatures.signature) == (2, "exact")
    assert base.passages.min_sentences == 5


def test_choices_are_those_of_the_design() -> None:
    assert SIGNATURES == ("exact", "words", "shingles", "imatch", "spotsigs", "fingerprint")
    assert set(SET_SIGNATURES) < set(SIGNATURES)
    assert FORMATS == ("parquet", "jsonl", "csv")


@pytest.mark.parametrize(
    ("given_value", "meant"),
    [
        (0.8, Fraction(4, 5)), ("0.8", Fraction(4, 5)), ("2/3", Fraction(2, 3)), (1, Fraction(1)),
        (0.1, Fraction(1, 10)), ("1e-2", Fraction(1, 100)), (0.333333, Fraction(333333, 10**6)),
        (Fraction(5, 7), Fraction(5, 7)), (Decimal("0.55"), Fraction(11, 20)),
    ],
)  # fmt: skip
def test_limits_are_exact(given_value: Any, meant: Fraction) -> None:
    assert Config.of(min_similarity=given_value).matches.min_similarity == meant


@pytest.mark.parametrize(
    "value", [0, -0.5, 1.01, "abc", "", None, "1/0", True, [0.8], float("nan"), float("inf"), 1 / 3, "0.1234567"]
)
def test_invalid_limits(value: Any) -> None:
    (problem,) = problems(min_similarity=value)
    assert problem.startswith("min_similarity must ")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"min_similarity": 90}, "min_similarity must be between 0 and 1, not 90 (did you mean 0.9?)"),
        ({"min_similarity": 1.5}, "min_similarity must be between 0 and 1, not 1.5"),
        ({"min_similarity": 0}, "min_similarity must be above 0, not 0"),
        ({"min_containment": -1}, "min_containment must be between 0 and 1, not -1"),
        ({"min_score": "0.1234"}, "min_score must not have more than 3 decimals: 617/5000"),
        ({"min_sentences": 0}, "min_sentences must be between 1 and 1000, not 0"),
        ({"max_places": 1}, "max_places must be at least 2, not 1"),
        ({"max_places": 10**10}, "max_places must be at most 1000000000, not 10000000000"),
        ({"min_sentences": "many"}, "min_sentences must be a whole number, not 'many'"),
        ({"paper": "no"}, "paper must be True or False, not 'no'"),
        ({"format": "jsonlines"}, "format must be one of parquet, jsonl, csv, not 'jsonlines' (did you mean jsonl?)"),
        ({"text_field": ""}, "text_field must not be empty"),
        ({"memory": "much"}, "memory must be auto or a size such as 500MB or 4GB, not 'much'"),
        ({"min_sentence": 3}, "there is no setting 'min_sentence' (did you mean min_sentences?)"),
    ],
)
def test_a_problem_says_what_is_allowed(wrong: dict[str, Any], said: str) -> None:
    assert problems(**wrong) == (said,)
    with pytest.raises(SettingsError, match=r"^invalid settings: "):
        Config.of(**wrong)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min_sentences", 2.5), ("min_sentences", "two"), ("min_sentences", True), ("min_sentences", None),
        ("min_sentences", 0), ("engine", "ray"),
        ("max_gap_sentences", -1), ("max_places", 1), ("workers", -1), ("max_sentence_words", 3), ("shingle_size", -1),
        ("same_document", 1), ("same_document", "yes"), ("paper", None), ("html", 0), ("min_idf", "low"),
        ("min_idf", None), ("signature", "minhash"), ("signature", None), ("format", "xlsx"), ("min_idf", -0.1),
    ],
)  # fmt: skip
def test_values_of_the_wrong_kind_are_refused(name: str, value: Any) -> None:
    (problem,) = problems(**{name: value})
    assert problem.startswith(f"{name} must ")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min_sentences", float("inf")), ("min_idf", float("nan")), ("max_document_share", float("nan")),
        ("min_idf", True),
        ("text_field", None), ("text_field", 5), ("text_field", ""),
    ],
)  # fmt: skip
def test_further_values_of_the_wrong_kind_are_refused(name: str, value: Any) -> None:
    problems(**{name: value})


def test_whole_numbers_may_come_as_text_or_float() -> None:
    assert Config.of(min_sentences="4", max_places=50.0).passages.min_sentences == 4
    assert type(Config.of(max_places=50.0).passages.max_places) is int


def test_a_list_of_antecedents_may_be_a_list() -> None:
    assert Config.of(antecedents=["the", "of"]).signatures.antecedents == "the,of"
    assert Config.of(antecedents=60).signatures.antecedents == "60"


@pytest.mark.parametrize(
    ("chosen", "is_aligned"),
    [
        ({}, True),
        ({"min_similarity": 0.9}, True),
        ({"align": False}, False),
        ({"signature": "words"}, False),
        ({"signature": "exact", "align": True}, True),
        ({"signature": "exact", "min_aligned_words": 12}, True),
        ({"as_paper": "pdc-mr"}, False),
        ({"as_paper": "swlr"}, False),
        ({"paper": True}, False),
        ({"paper": True, "align": True}, True),
    ],
)
def test_find_aligns_unless_something_else_is_chosen(chosen: dict[str, Any], is_aligned: bool) -> None:
    assert Config.of(**chosen).with_alignment().alignment.align is is_aligned


def test_limits_of_alignment_need_alignment() -> None:
    with pytest.raises(SettingsError, match="min_aligned_words and min_evidence need alignment"):
        Config.of(align=False, min_aligned_words=12).with_alignment()


def test_all_problems_are_named_at_once() -> None:
    found = problems(min_sentences=0, min_similarity=2, signature="x", min_word=3, min_idf=0.9, max_idf=0.5, paper="no")
    assert len(found) == 6
    text = "\n".join(found)
    for name in (
        "min_sentences",
        "min_similarity",
        "signature",
        "'min_word'",
        "min_idf must be at most max_idf (0.5), not 0.9",
        "paper must be True or False, not 'no'",
    ):
        assert name in text


# TOML.

VALUES = {
    Fraction: st.fractions(Fraction(1, 1000), 1, max_denominator=1000),
    int: st.integers(16, 10**6),
    float: st.floats(0, 1),
    bool: st.booleans(),
    str: st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=12),
    WordSource: st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=12),
}


@st.composite
def configs(draw: st.DrawFn) -> Config:
    chosen = {}
    for name in draw(st.sets(st.sampled_from(sorted(FIELDS)))):
        choices = FIELDS[name].metadata["choices"]
        chosen[name] = draw(st.sampled_from(choices) if choices else VALUES[setting_type(FIELDS[name])])
        if setting_type(FIELDS[name]) is int:
            chosen[name] = min(chosen[name], FIELDS[name].metadata["at_most"])
    if chosen.get("min_idf", 0.1) > chosen.get("max_idf", 1.0):
        chosen["max_idf"] = 1.0
    # Settings that have a form of their own, or hang together.
    forms = {
        "bands": st.sampled_from([1, 16, 64]), "permutations": st.just(128), "sample_remainder": st.just(0),
        "filter_bits": st.sampled_from([0, 64, 128, 256]), "memory": st.sampled_from(["auto", "500MB", "1.5 GB"]),
        "max_disk": st.sampled_from(["auto", "500MB", "1.5 GB"]),
        "keep": st.sampled_from(["longest", "a:b:max", "seen:min"]), "bits_per_word": st.integers(1, 16),
        "commit_every": st.sampled_from(["100", "0.5s", "1000, 10s"]), "keep_if_differs": st.just("none"),
        "only_differences": st.sampled_from(["all", "number", "name,order"]),
    }  # fmt: skip
    refused_by_some = (
        "verify",
        "min_containment",
        "sample_every",
        "min_shared_shingles",
        "sampling",
        "by_group",
        "min_supershingles",
    )
    for name in refused_by_some:  # methods and measures
        chosen.pop(name, None)
    if chosen.get("engine") == "spark":
        chosen.pop("align", None)
        chosen.pop("resume", None)
    chosen |= {name: draw(forms[name]) for name in chosen if name in forms}
    return Config.of(**chosen)


@settings(max_examples=150, deadline=None)
@given(configs())
def test_toml_is_read_back_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, config: Config) -> None:
    path = tmp_path_factory.getbasetemp() / "settings.toml"
    path.write_text(config.to_toml(), "utf-8")
    assert Config.from_toml(path) == config


def test_control_characters_in_toml(tmp_path: Path) -> None:
    config = Config.of(text_field="two\nlines")
    (tmp_path / "settings.toml").write_text(config.to_toml(), "utf-8")
    assert Config.from_toml(tmp_path / "settings.toml") == config


def test_plain_values_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(
        "[matches]\nmin_similarity = 0.8\n[passages]\nmin_sentences = 2\nsame_document = true\n"
        '[signatures]\nantecedents = ["the", "of"]\n'
    )
    config = Config.from_toml(path)
    assert config == Config.of(min_similarity="4/5", min_sentences=2, same_document=True, antecedents="the,of")
    assert settings_from_toml(path)["min_similarity"] == 0.8


def toml_problems(path: Path, text: str | bytes) -> tuple[str, ...]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SettingsError) as caught:
        Config.from_toml(path)
    return caught.value.problems


def test_invalid_toml(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    found = toml_problems(path, "[passages]\nmin_sentence = 2\nsignature = 'exact'\n[pasages]\nmin_words = 3\n")
    assert len(found) == 3
    assert all(str(path) in problem for problem in found)
    (broken,) = toml_problems(path, "[passages\n")
    assert str(path) in broken
    assert len(toml_problems(path, "[passages]\nmin_sentences = 0\nmin_words = 'many'\n")) == 2
    with pytest.raises(SettingsError, match="cannot read the settings file"):
        Config.from_toml(tmp_path / "absent.toml")


def test_unknown_keys_and_wrong_values_of_a_file_are_named_at_once(tmp_path: Path) -> None:
    found = toml_problems(tmp_path / "settings.toml", "[passages]\nmin_sentence = 2\nmin_words = 'many'\n")
    assert len(found) == 2


def test_a_key_outside_of_its_section_is_told_its_section(tmp_path: Path) -> None:
    (problem,) = toml_problems(tmp_path / "settings.toml", "min_sentences = 2\n")
    assert "[passages]" in problem


def test_toml_in_another_encoding(tmp_path: Path) -> None:
    toml_problems(tmp_path / "settings.toml", "[documents]\ntext_field = 'Größe'\n".encode("latin-1"))


@pytest.mark.parametrize("name", ["min_sentences", "min_quote_words", "max_gap_sentences", "min_words", "shingle_size"])
def test_numbers_beyond_all_bounds_are_refused(name: str) -> None:
    (problem,) = problems(**{name: 2**63 - 1})
    assert f"not {2**63 - 1}" in problem
