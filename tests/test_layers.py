"""The layout of the package: a stage imports only from stages to its left, and the command line is thin."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "ibidem"
STAGES = [
    "documents", "sentences", "signatures", "matches", "passages", "alignment", "resemblance", "clusters", "cleaning",
    "reports",
]  # fmt: skip
# What stages may use besides one another, and what may use stages.
GROUND = {
    "blocks", "compiling", "config", "config_problems", "differences", "disk", "errors", "locking", "memory", "model",
    "overviews", "parts", "progress", "quantities", "spilling", "syncing", "version",
}  # fmt: skip
ABOVE = {
    "aligning", "api", "checking", "classifying", "cleaned", "collection", "distributed", "pipeline", "refining",
    "removals", "result", "running", "seeding", "settling", "shingled", "stored",
}  # fmt: skip
CLI_MAY_USE = {
    "api", "cleaned", "cleaning", "cli", "config", "disk", "distributed", "documents", "engines", "errors", "evaluation",
    "index", "memory", "model", "progress", "quantities", "reports", "resemblance", "spilling", "stored", "syncing", "version",
    "views",
    "warmup", "web",
}
INDEX_MAY_USE = {*STAGES, *GROUND, "classifying", "collection", "engines", "index"}  # fmt: skip
MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def imports_of(path: Path) -> Iterator[str]:
    """Yield the modules of ibidem that a file imports, wherever in it, without the leading `ibidem.`."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"ibidem.{alias.name}" for alias in node.names] if node.module == "ibidem" else [node.module or ""]
        else:
            continue
        yield from (name.removeprefix("ibidem.") for name in names if name.startswith("ibidem."))


IMPORTS = [(name_of(path), module) for path in MODULES for module in imports_of(path)]


def part(module: str) -> str:
    return module.split(".")[0]


def test_the_imports_were_found() -> None:
    assert ("pipeline", "passages") in IMPORTS
    assert ("api", "pipeline") in IMPORTS  # inside a function
    assert {part(importer) for importer, _ in IMPORTS} >= {*STAGES, "cli", "engines"}


def test_a_stage_imports_from_stages_to_its_left_only() -> None:
    wrong = [
        (importer, module)
        for importer, module in IMPORTS
        if part(importer) in STAGES and part(module) in STAGES and STAGES.index(part(module)) > STAGES.index(part(importer))
    ]
    assert wrong == []


def test_stages_know_nothing_of_engines_or_of_the_command_line() -> None:
    assert [(i, m) for i, m in IMPORTS if part(i) in STAGES and part(m) in ("engines", "cli", "pipeline", "api")] == []


def test_only_reports_look_at_results_and_collections() -> None:
    assert [(i, m) for i, m in IMPORTS if part(i) in STAGES[:-1] and part(m) in ABOVE] == []
    not_for_reports = ABOVE - {"cleaned", "collection", "result", "stored"}
    assert [(i, m) for i, m in IMPORTS if part(i) == "reports" and part(m) in not_for_reports] == []


def test_the_ground_rests_on_itself() -> None:
    assert [(i, m) for i, m in IMPORTS if part(i) in GROUND and part(m) not in GROUND] == []


def test_engines_know_how_stages_run_and_not_what_they_compute() -> None:
    may_use = {"blocks", "disk", "engines", "errors", "memory", "parts", "progress"}
    assert [(i, m) for i, m in IMPORTS if part(i) == "engines" and part(m) not in may_use] == []


def test_the_index_is_built_of_stages() -> None:
    assert [(i, m) for i, m in IMPORTS if part(i) == "index" and part(m) not in INDEX_MAY_USE] == []
    allowed = {"index", "cli", "warmup", "web", "__init__"}
    assert [(i, m) for i, m in IMPORTS if part(m) == "index" and part(i) not in allowed] == []


def test_what_runs_on_many_machines_is_built_of_stages() -> None:
    may_use = {*STAGES, *GROUND, *ABOVE, "engines"} - {"api", "pipeline", "running"}
    assert [(i, m) for i, m in IMPORTS if part(i) == "distributed" and part(m) not in may_use] == []
    allowed = {"distributed", "stored", "api", "cli", "__init__"}
    assert [(i, m) for i, m in IMPORTS if part(m) == "distributed" and part(i) not in allowed] == []


def test_stored_runs_are_built_of_what_runs_on_many_machines() -> None:
    may_use = {*STAGES, *GROUND, *ABOVE, "engines"} - {"api", "pipeline"}
    assert [(i, m) for i, m in IMPORTS if part(i) == "stored" and part(m) not in may_use] == []
    allowed = {"stored", "api", "cli", "reports"}  # summaries tell of them, too
    assert [(i, m) for i, m in IMPORTS if part(m) == "stored" and part(i) not in allowed] == []


def test_measures_know_nothing_of_what_they_measure() -> None:
    assert [(i, m) for i, m in IMPORTS if part(i) == "evaluation" and part(m) not in {*GROUND, "evaluation"}] == []
    assert [(i, m) for i, m in IMPORTS if part(m) == "evaluation" and part(i) not in {"api", "cli", "evaluation"}] == []


def test_views_are_made_of_results() -> None:
    may_use = {*STAGES, *GROUND, "api", "collection", "result", "views"}
    assert [(i, m) for i, m in IMPORTS if part(i) == "views" and part(m) not in may_use] == []
    allowed = {"views", "web", "cli", "result"}
    assert [(i, m) for i, m in IMPORTS if part(m) == "views" and part(i) not in allowed] == []


def test_the_web_app_shows_views_and_asks_the_index() -> None:
    may_use = {*GROUND, "collection", "documents", "index", "reports", "sentences", "views", "web"}
    assert [(i, m) for i, m in IMPORTS if part(i) == "web" and part(m) not in may_use] == []
    assert [(i, m) for i, m in IMPORTS if part(m) == "web" and part(i) not in {"web", "cli"}] == []


def test_the_command_line_uses_the_public_api_and_little_else() -> None:
    assert [(i, m) for i, m in IMPORTS if part(i) == "cli" and part(m) not in CLI_MAY_USE] == []


def test_every_part_of_the_package_has_its_place() -> None:
    known = {*STAGES, *GROUND, *ABOVE, "cli", "engines", "evaluation", "index", "submit", "views", "warmup", "web"}
    known |= {"__init__", "__main__"}
    assert sorted({part(name_of(path)) for path in MODULES} - known) == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    words = {word for path in MODULES for word in path.stem.split("_")} | {path.parent.name for path in MODULES}
    assert words & {"util", "utils", "helper", "helpers", "common", "misc"} == set()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_fits_on_a_few_screens_and_says_what_it_is(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") <= 450
    assert ast.get_docstring(ast.parse(text)) or not text.strip(), "no docstring"
