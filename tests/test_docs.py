"""What the docs say is so: every command runs and prints what is shown, columns and settings are the ones there are."""

from __future__ import annotations

import doctest
import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

import ibidem
import ibidem.api
import ibidem.index.index
from ibidem import model
from ibidem.cli.display import STAGES
from ibidem.config import setting_fields
from ibidem.version import __version__

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))

from make_examples import CHECKED, NEWS, WORKED, refreshed  # type: ignore[import-not-found]  # noqa: E402
from make_reference import FOLDER, PAGES  # type: ignore[import-not-found]  # noqa: E402
from make_screens import SCREENS  # type: ignore[import-not-found]  # noqa: E402

README = ROOT / "README.md"
GUIDES = ROOT / "docs/guides"
WITH_PYTHON = [
    README, ROOT / "docs/get-started.md", GUIDES / "trace-reprints.md", GUIDES / "mirrors-and-search-results.md",
    GUIDES / "use-other-programs.md", GUIDES / "give-agents-an-index.md",
]  # fmt: skip
WRITTEN = [page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "evidence"]
WITHOUT_SPARK = [page for page in WRITTEN if page.stem != "spark"]  # that page also shows flags of spark-submit


def test_examples_in_docstrings() -> None:
    for module in (ibidem.api, ibidem.index.index):
        outcome = doctest.testmod(module)
        assert outcome.attempted > 0
        assert outcome.failed == 0


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.stem)
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    lines = [line for line in code.splitlines() if "to_pandas" not in line]  # pandas is the user's own
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    for folder in re.findall(r'result\.write\("(\w+)"\)', code):
        assert (tmp_path / folder / "run.json").exists()
    for call, answer in re.findall(r'(ibidem\.split_sentences\(".*"\))\s*#\s*(.*)', code):
        assert eval(call, names) == eval(answer)


@pytest.mark.parametrize("page", [*WORKED, *CHECKED], ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_commands_run_and_print_what_is_shown(page: Path) -> None:
    if "$ jq " in page.read_text("utf-8") and not shutil.which("jq"):
        pytest.skip("jq is not installed")
    assert page.read_text("utf-8") == refreshed(page), "run docs/make_examples.py"


@pytest.mark.parametrize(
    ("table", "schema"),
    [
        ("passages", model.PASSAGES), ("repeats", model.REPEATS), ("documents", model.DOCUMENTS), ("hits", model.HITS),
        ("duplicates", model.DUPLICATES), ("clusters", model.CLUSTERS), ("removed", model.REMOVED),
    ],
)  # fmt: skip
def test_the_reference_names_the_columns(table: str, schema: object) -> None:
    text = (FOLDER / "tables.md").read_text("utf-8")
    (section,) = re.findall(rf"^## {table}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == schema.names  # type: ignore[attr-defined]


@pytest.mark.parametrize("page", [README, *WITHOUT_SPARK], ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_flags_exist(page: Path) -> None:
    known = {"--" + setting.name.replace("_", "-") for _, setting in setting_fields()}
    known |= {"--against", "--config", "--help", "--progress", "--quiet", "--set", "--data", "--growth"}
    known |= {"--plan", "--min-precision", "--dry-run", "--replace", "--recount", "--from", "--exit-code"}
    known |= {"--report", "--documents", "--max-pairs", "--index", "--host", "--token", "--arrivals", "--max-upload"}
    known |= {"--read-only", "--work", "--clients", "--seconds", "--verbose", "--version", "--pages", "--megabytes"}
    known |= {"--sizes", "--unlimited-at", "--round-mb", "--verbs"}  # of benchmarks/large.py
    known |= {"--rm", "--tmpfs", "--user", "--build-arg"}  # of docker
    known |= {"--pairs", "--full", "--bootstrap", "--json", "--tune", "--only", "--share", "--minutes", "--more"}
    known |= {"--queries", "--sentences"}
    known |= {"--no-" + setting.name.replace("_", "-") for _, setting in setting_fields() if setting.default in (True, None)}
    known |= set(re.findall(r"--[a-z][a-z-]+", (FOLDER / "commands.md").read_text("utf-8")))
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page.read_text("utf-8"))) - known == set()


@pytest.mark.parametrize("page", PAGES)
def test_the_reference_is_fresh(page: str) -> None:
    assert (FOLDER / page).read_text(encoding="utf-8") == PAGES[page](), "run docs/make_reference.py"


def test_the_screens_of_the_reference_fit_80_columns_and_name_every_stage() -> None:
    page = (FOLDER / "terminal.md").read_text("utf-8")
    lines = [line for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL) for line in block.splitlines()]
    assert lines
    assert [line for line in lines if cell_len(line) > 80] == []
    assert re.findall(r"^### (\w+)$", page, re.MULTILINE) == list(SCREENS)
    shown = {re.split(r" +[-\\|/━╸╺]", line)[0] for line in lines}
    for stage in ("sentences", "matches", "passages", "alignment", "pairs", "cuts", "adding", "writing"):
        assert STAGES[stage][0] in shown, "run docs/make_screens.py"


def test_the_readme_is_one_page() -> None:
    text = README.read_text("utf-8")
    assert len(text.split()) <= 1500
    assert len(text.encode()) <= 13_000


def test_the_glossary_is_in_order_and_there_is_only_one() -> None:
    words = re.findall(r"^\*\*([^*]+)\*\*: ", (ROOT / "docs/glossary.md").read_text("utf-8"), re.MULTILINE)
    assert words == sorted(words, key=str.lower)
    assert {"Shingle", "Signature", "idf", "plagdet", "Canonical", "Coverage"} <= set(words)
    assert [page for page in WRITTEN if page.stem != "glossary" and re.search(r"^- \*\*Shingle", page.read_text("utf-8"))] == []


def test_the_essays_share_what_their_readme_says() -> None:
    essays = NEWS.parents[1] / "essays"
    shared = {
        (passage.a.id, passage.b.id)
        for against in (essays / "sources", None)
        for passage in ibidem.find(essays / "essays", against=against, align=True, min_aligned_words=12)
    }
    handbook, history = "tides-handbook.txt", "ferry-history.txt"
    assert {tuple(Path(name).name for name in pair) for pair in shared} == {
        ("amara.txt", handbook), ("bilal.txt", handbook), ("chen.txt", history), ("dora.txt", handbook),
        ("amara.txt", "dora.txt"),
    }  # fmt: skip


def test_the_sites_share_what_their_readme_says() -> None:
    pages = NEWS.parents[1] / "sites" / "pages.jsonl"
    result = ibidem.cluster(pages, by_group=True, group_field="site", min_similarity=0.6)
    found = {(row["a_group"], row["b_group"]): (row["a_shared"], row["b_shared"]) for row in result.mirrors.to_pylist()}
    club, mirror, portal = "kayak-club.example", "kayak-mirror.example", "river-portal.example"
    assert found == {(club, mirror): (5, 5), (club, portal): (2, 2), (mirror, portal): (1, 1)}
    said = dict(re.findall(r"^\| `(.*)` \| (\d+) \|", (pages.parent / "README.md").read_text("utf-8"), re.MULTILINE))
    sites = [json.loads(line)["site"] for line in pages.read_text("utf-8").splitlines()]
    assert said == {site: str(sites.count(site)) for site in sites}


def test_the_changelog_knows_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {__version__}" in changelog or "## Unreleased" in changelog


def test_the_page_of_attacks_names_tests_that_exist() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs/operations/attacks.md").read_text(encoding="utf-8"))
    assert named
    missing = [f"{path}::{name}" for path, name in named if f"def {name}(" not in (ROOT / path).read_text(encoding="utf-8")]
    assert missing == []
