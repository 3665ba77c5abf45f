"""Messages name settings as their reader writes them: `--text-field` in the shell, `text_field` in Python."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ibidem
from ibidem.cli.options import flag
from ibidem.config import Config, setting_fields
from ibidem.config.surface import given, in_shell, named, speak, speaking, spoken
from ibidem.errors import IbidemError, SettingsError
from tests.texts import documents, text

sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))

from list_messages import messages  # type: ignore[import-not-found]

NAMES = {setting.name for _, setting in setting_fields()}
# Settings whose names are no words of English.
CODED = {name for name in NAMES if "_" in name}
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
# What only the command line says, and what only its users can read.
OF_THE_SHELL = (
    "src/ibidem/cli/", "src/ibidem/submit.py", "src/ibidem/viewer/server/", "src/ibidem/viewer/material.py",
    "src/ibidem/viewer/assets/",
    "src/ibidem/viewer/comparison_page.py", "src/ibidem/config/papers.py",  # the last is what `ibidem papers` prints
)  # fmt: skip
RECORDS = documents(a=text(1, 2, 3), b=text(1, 2, 9))


def test_no_message_names_a_flag_or_a_keyword_by_itself() -> None:
    everywhere = [message for message in messages() if not message.place.startswith(OF_THE_SHELL)]
    assert len(everywhere) > 300
    for message in everywhere:
        spoken_text = re.sub(r"\{[^{}]*\}", "{}", message.text)  # names come from functions
        spoken_text = re.sub(r"; name (its|the) documents.* with --documents", "", spoken_text)  # `in_shell` adds it
        assert not FLAG.search(spoken_text), message
        words = set(re.findall(r"[a-z_]+", spoken_text))
        assert not words & CODED, message


def test_the_shell_does_not_speak_of_keywords() -> None:
    for message in messages():
        if message.place.startswith("src/ibidem/cli/") and "topics.py" not in message.place:  # topics explain both
            words = set(re.findall(r"(?<![\w{.'\"\[])[a-z_]+(?![\w'\"\]=])", re.sub(r"\{[^{}]*\}", "{}", message.text)))
            assert not words & CODED, message


def test_names() -> None:
    assert spoken() == "python"
    assert (named("text_field"), given("text_field", "body")) == ("text_field", 'text_field="body"')
    assert (given("overwrite", True), given("verify", False), given("min_sentences", 1)) == (
        "overwrite=True", "verify=False", "min_sentences=1",
    )  # fmt: skip
    assert (in_shell(" with -o"), in_shell("this", "that")) == ("", "that")
    with speaking("shell"):
        assert (named("text_field"), given("text_field", "body")) == ("--text-field", "--text-field body")
        assert (given("overwrite", True), given("verify", False)) == ("--overwrite", "--no-verify")
        assert (given("min_sentences", 1), in_shell(" with -o")) == ("--min-sentences 1", " with -o")
        speak("python")
    assert spoken() == "python"


WRONG: list[dict[str, Any]] = [
    {"min_similarity": 0}, {"min_similarity": 1.5}, {"min_similarity": "much"}, {"min_similarity": 1 / 3},
    {"min_copy_similarity": 2},
    {"min_containment": 2}, {"min_score": 0}, {"signature": "wrds"}, {"text_field": ""}, {"min_sentences": 0},
    {"max_places": 1}, {"max_bits_apart": 17}, {"bits_per_word": 9, "signature_bits": 8}, {"commit_every": "often"},
    {"only_differences": "numbers"}, {"keep_if_differs": "number", "method": "imatch"},
    {"sample_remainder": 4}, {"filter_bits": 7}, {"measure": "order", "min_containment": 0.5},
    {"verify": False, "method": "pairs"}, {"sample_every": 2, "method": "simhash"}, {"permutations": 100},
    {"memory": "much"}, {"memory": "2"},
    {"max_disk": "0"}, {"resume": True, "engine": "spark"},
    {"keep": "best"}, {"antecedents": "-1"}, {"min_idf": 0.9, "max_idf": 0.1}, {"html": "yes"}, {"workers": 1.5},
    {"by_group": True, "keep": "score:max"}, {"min_shared_shingles": 3, "method": "pairs"}, {"supershingle_size": 0},
    {"min_supershingles": 9, "sampling": "supershingles"}, {"supershingles": 0},
]  # fmt: skip


@pytest.mark.parametrize("settings", WRONG, ids=lambda settings: "-".join(settings))
def test_wrong_settings_are_named_on_both_surfaces(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingsError) as in_python:
        Config.of(**settings)
    with speaking("shell"), pytest.raises(SettingsError) as in_the_shell:
        Config.of(**settings)
    name = next(iter(settings))
    for problem, flagged in zip(in_python.value.problems, in_the_shell.value.problems, strict=True):
        assert problem != flagged
        assert not FLAG.search(problem)
        assert not set(re.findall(r"[a-z_]+", FLAG.sub("", flagged))) & CODED
    assert name in str(in_python.value)
    assert flag(name) in str(in_the_shell.value)


def test_every_check_of_settings_is_provoked() -> None:
    source = (Path(ibidem.__file__).parent / "config" / "checks.py").read_text("utf-8")
    checked = set(re.findall(r'named\([\'"](\w+)[\'"]\)', source)) - {"max_idf", "bands", "signature_bits"}
    assert checked <= {name for settings in WRONG for name in settings}


PROVOKED: dict[str, tuple[Callable[[Path], Any], str, str]] = {
    "no column": (lambda folder: ibidem.find(pa.table({"body": ["x"]})), 'text_field="NAME"', "--text-field NAME"),
    "no text": (lambda folder: ibidem.find([{"body": "x"}]), 'text_field="NAME"', "--text-field NAME"),
    "not text": (lambda folder: ibidem.find(pa.table({"text": [1]})), 'text_field="NAME"', "--text-field NAME"),
    "no id": (lambda folder: ibidem.find(RECORDS, id_field="nope"), "Check id_field.", "Check --id-field."),
    "no time": (lambda folder: ibidem.find(RECORDS, time_field="nope"), "Check time_field.", "Check --time-field."),
    "no group": (lambda folder: ibidem.find(RECORDS, group_field="nope"), "Check group_field.", "Check --group-field."),
    "keep": (lambda folder: ibidem.dedup(RECORDS, keep="rank:max"), "Check keep.", "Check --keep."),
    "repeated id": (lambda folder: ibidem.find([RECORDS[0], RECORDS[0]]), "another id_field", "another --id-field"),
    "encoding": (lambda folder: ibidem.find(RECORDS, encoding="utf-9"), "encoding must be", "--encoding must be"),
    "language": (lambda folder: ibidem.find(RECORDS, lang="xx"), "lang must be", "--lang must be"),
    "strict": (lambda folder: ibidem.find([*RECORDS, {}], strict=True), "strict=True", "--strict"),
    "method": (lambda folder: ibidem.cluster(RECORDS, method="simhash", resume=True), "resume=True", "--resume"),
    "resume": (lambda folder: ibidem.find(RECORDS, resume=True), "resume needs", "--resume needs"),
    "folder": (lambda folder: ibidem.find(RECORDS, tmp_dir=str(folder / "no")), "with tmp_dir", "with --tmp-dir"),
    "disk": (lambda folder: ibidem.find(RECORDS, partitions=2, max_disk="1b"), 'max_disk="2B"', "--max-disk 2B"),
    "overwrite": (lambda folder: [ibidem.find(RECORDS).write(folder / "o") for _ in "ab"], "overwrite=True", "--overwrite"),
    "report": (lambda folder: ibidem.find(RECORDS).to_html(_file(folder)), "overwrite=True", "--overwrite"),
    "precision": (lambda folder: ibidem.tune(RECORDS, min_precision=2), "min_precision must", "--min-precision must"),
    "known id": (lambda folder: _added_twice(folder), "replace=True", "--replace"),
    "index": (lambda folder: _opened_otherwise(folder), "min_similarity is", "--min-similarity is"),
}


def _file(folder: Path) -> Path:
    (folder / "notes.html").write_text("mine")
    return folder / "notes.html"


def _added_twice(folder: Path) -> None:
    with ibidem.Index(folder / "index") as index:
        index.add(RECORDS)
        index.add(RECORDS)


def _opened_otherwise(folder: Path) -> None:
    with ibidem.Index(folder / "index", min_similarity=0.7) as index:
        index.add(RECORDS)
    ibidem.Index(folder / "index", min_similarity=0.9)


@pytest.mark.parametrize("what", PROVOKED)
def test_messages_on_both_surfaces(what: str, tmp_path: Path) -> None:
    call, in_python, in_the_shell = PROVOKED[what]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with pytest.raises(IbidemError) as caught:
        call(tmp_path / "a")
    assert in_python in str(caught.value)
    assert not FLAG.search(str(caught.value))
    with speaking("shell"), pytest.raises(IbidemError) as caught:
        call(tmp_path / "b")
    assert in_the_shell in str(caught.value)
