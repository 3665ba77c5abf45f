"""What the docs say is so: examples run, columns and settings are the ones there are."""

from __future__ import annotations

import doctest
import os
import re
import runpy
from pathlib import Path

import pytest

import ibidem.api
import ibidem.index.index
from ibidem import model
from ibidem.config import setting_fields
from ibidem.version import __version__

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_examples_in_docstrings() -> None:
    for module in (ibidem.api, ibidem.index.index):
        outcome = doctest.testmod(module)
        assert outcome.attempted > 0
        assert outcome.failed == 0


def test_the_python_example_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    lines = [line for line in code.splitlines() if "to_pandas" not in line]  # pandas is the user's own
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    assert (tmp_path / "found" / "run.json").exists()
    call, answer = re.search(r'(ibidem\.split_sentences\(".*"\))\s*#\s*(.*)', code).groups()  # type: ignore[union-attr]
    assert eval(call, names) == eval(answer)


@pytest.mark.parametrize(
    ("table", "schema"),
    [
        ("passages", model.PASSAGES), ("repeats", model.REPEATS), ("documents", model.DOCUMENTS),
        ("duplicates", model.DUPLICATES), ("clusters", model.CLUSTERS), ("removed.jsonl", model.REMOVED),
    ],
)  # fmt: skip
def test_the_readme_names_the_columns(table: str, schema: object) -> None:
    (row,) = re.findall(rf"^\| `{table}` \|.*$", README, re.MULTILINE)
    columns = re.sub(r"\[.*?\]", "", row.split("|")[3].split("(")[0].strip(" `")).strip("`").split()
    assert columns == schema.names  # type: ignore[attr-defined]


def test_flags_in_the_readme_exist() -> None:
    known = {"--" + setting.name.replace("_", "-") for _, setting in setting_fields()}
    known |= {"--against", "--config", "--help", "--progress", "--quiet", "--set", "--data", "--growth"}
    known |= {"--plan", "--min-precision", "--dry-run", "--replace", "--recount", "--from", "--exit-code"}
    known |= {"--report", "--documents", "--max-pairs", "--index", "--host", "--token", "--arrivals", "--max-upload"}
    known |= {"--read-only", "--work", "--clients", "--seconds", "--verbose"}
    known |= {"--pairs", "--full", "--bootstrap", "--json", "--tune", "--only", "--share"}
    known |= {"--no-" + setting.name.replace("_", "-") for _, setting in setting_fields() if setting.default is True}
    assert set(re.findall(r"--[a-z][a-z-]+", README)) <= known


def test_the_page_of_settings_is_fresh() -> None:
    page = runpy.run_path(os.fspath(ROOT / "docs" / "make_settings.py"))
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == page["settings_page"](), "run docs/make_settings.py"


def test_the_changelog_knows_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {__version__}" in changelog or "## Unreleased" in changelog


def test_the_page_of_attacks_names_tests_that_exist() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs/attacks.md").read_text(encoding="utf-8"))
    assert named
    missing = [f"{path}::{name}" for path, name in named if f"def {name}(" not in (ROOT / path).read_text(encoding="utf-8")]
    assert missing == []
