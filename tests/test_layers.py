"""The layout of the package: imports point from upper layers to lower ones, a stage imports from stages to its left only."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "ibidem"
ROOT_MODULES = {"__init__", "__main__", "api", "errors", "model", "pipeline", "submit", "version"}
STAGES = ["formats", "sentences", "signatures", "matches", "passages", "alignment", "resemblance", "clusters"]
# A module may import from its own layer and from those before it.
LAYERS = ["ground", "columns", *STAGES, "running", "results", "index", "programs", "api", "viewer", "cli"]
# What of `execution` every layer may use. The rest of it opens runs, or is a program.
GROUND = {
    "compiler", "disk_limit", "durable_files", "flow", "layout", "locks", "memory", "progress", "spill", "tasks", "threads",
}  # fmt: skip
PROGRAMS = {"execution.programs", "execution.spark.engine", "execution.warmup"}
# Imports that point the wrong way, each with the reason. The list may only become shorter.
MIXED = "the column types still make themselves out of texts"
SENT = "what later stages want sent is still decided where documents are split and classed"
EXCEPTIONS = {
    ("model", "alignment.differences"): "`Passage.differences`, inside of the function",
    ("results.result", "viewer.report"): "`to_html`, inside of the function: Altair is slow to load",
    ("columns.collection", "sentences"): MIXED,
    ("columns.collection", "signatures"): MIXED,
    ("columns.shingled", "resemblance"): MIXED,
    ("columns.shingled", "sentences"): MIXED,
    ("columns.shingled", "signatures"): MIXED,
    ("sentences.exchange", "passages.exchange.grams"): SENT,
    ("sentences.exchange", "signatures.exchange.vocabulary"): SENT,
    ("matches.exchange.classes", "passages.exchange.grams"): SENT,
    ("resemblance.exchange.shingles", "clusters.exchange.keep_rules"): SENT,
    ("matches.core", "clusters"): "the classes that cuts need, meant to move to clusters",
    ("passages.coverage", "clusters"): "`MIN_COVERAGE`, meant to move to passages",
    ("passages.tables", "clusters"): "the table of documents, meant to move to clusters",
    ("passages.families", "viewer.pairs"): "columns of places that the viewer made first",
    ("clusters.exchange.keep_rules", "execution.checks"): "the check of keep rules, meant to move beside them",
    ("execution.checks_exchange", "sentences.exchange"): "the schema of counts",
    ("execution.disk.run", "resemblance"): "sampling plans are facts of a run",
    ("execution.hash_seed", "resemblance.plan"): "a sampling plan says its seed",
    ("execution.run", "sentences.equal_digests"): "a run reads its sentences by itself, until `split` is a stage",
    ("execution.spark.inputs", "clusters.exchange.removals"): "remaining records are still read beside their decisions",
    ("execution.spark.readers", "clusters.exchange.removals"): "remaining records are still read beside their decisions",
    ("execution.disk.work_folder", "results.table_files"): "what an output folder may contain, meant to move to execution",
    ("execution.spark.files", "results.table_files"): "what an output folder may contain, meant to move to execution",
}
MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


NAMES = {name_of(path) for path in MODULES}


def imports_of(path: Path) -> Iterator[str]:
    """Yield the modules of ibidem that a file imports, wherever in it, without the leading `ibidem.`."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name.removeprefix("ibidem.") for alias in node.names if alias.name.startswith("ibidem.")]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if (node.module or "").partition(".")[0] != "ibidem":
                continue
            inside = (node.module or "").removeprefix("ibidem").removeprefix(".")
            full = [f"{inside}.{alias.name}".removeprefix(".") for alias in node.names]
            names = [name if name in NAMES or f"{name}.__init__" in NAMES else inside for name in full]
        else:
            continue
        yield from (name for name in names if name)


IMPORTS = sorted({(name_of(path), module) for path in MODULES for module in imports_of(path)})


def part(module: str) -> str:
    return module.split(".")[0]


def layer(module: str) -> str:
    folder, _, rest = module.partition(".")
    if folder in ("config", "errors", "model", "version") or (folder == "execution" and part(rest) in GROUND):
        return "ground"
    if folder == "pipeline" or any(module == name or module.startswith(f"{name}.") for name in PROGRAMS):
        return "programs"
    return {"__main__": "cli", "execution": "running", "submit": "cli"}.get(folder, folder)


def test_the_imports_were_found() -> None:
    assert ("pipeline", "passages") in IMPORTS
    assert ("api", "pipeline") in IMPORTS  # inside a function
    assert ("passages.chains", "passages.kernels.chains") in IMPORTS  # a module out of its folder
    assert {layer(importer) for importer, _ in IMPORTS} >= set(LAYERS)


def test_imports_point_to_lower_layers_and_stages_to_the_left() -> None:
    known = [(i, m) for i, m in IMPORTS if i != "__init__" and "evaluation" not in (part(i), part(m))]
    wrong = {(i, m) for i, m in known if LAYERS.index(layer(m)) > LAYERS.index(layer(i))}
    # Whoever opens runs knows how documents are read, and nothing else of what stages compute.
    wrong |= {(i, m) for i, m in known if layer(i) == "running" and layer(m) in STAGES[1:]}
    assert wrong == set(EXCEPTIONS)


def test_execution_and_columns_load_nothing_by_themselves() -> None:
    doors = ("execution.__init__", "columns.__init__", "results.__init__")
    assert [(i, m) for i, m in IMPORTS if i in doors] == []


def test_a_core_knows_nothing_of_its_exchange() -> None:
    cores = [(i, m) for i, m in IMPORTS if part(i) in STAGES and "exchange" not in i.split(".")]
    assert [(i, m) for i, m in cores if "exchange" in m.split(".") and "kernels" not in m.split(".")] == []


def test_the_index_is_built_of_stages() -> None:
    may_use = {"ground", "columns", *STAGES, "index"}
    others = [(i, m) for i, m in IMPORTS if part(i) == "index" and layer(m) not in may_use]
    assert others == [("index.index", "execution.unique_ids")]
    allowed = {"index", "cli", "viewer", "__init__"}
    wrong = [(i, m) for i, m in IMPORTS if part(m) == "index" and part(i) not in allowed and i != "execution.warmup"]
    assert wrong == []


def test_measures_know_nothing_of_what_they_measure() -> None:
    assert [(i, m) for i, m in IMPORTS if part(i) == "evaluation" and layer(m) not in ("ground", "evaluation")] == []
    assert [(i, m) for i, m in IMPORTS if part(m) == "evaluation" and part(i) not in {"api", "cli", "evaluation"}] == []


def test_views_are_made_of_results() -> None:
    may_use = {"ground", "columns", *STAGES, "results", "viewer", "api"}
    views = [(i, m) for i, m in IMPORTS if part(i) == "viewer" and not i.startswith("viewer.server.")]
    assert [(i, m) for i, m in views if layer(m) not in may_use] == []
    assert [(i, m) for i, m in views if m.startswith("viewer.server")] == []
    allowed = {"viewer", "cli"}
    wrong = [(i, m) for i, m in IMPORTS if part(m) == "viewer" and part(i) not in allowed]
    assert set(wrong) <= set(EXCEPTIONS)


def test_the_web_app_shows_views_and_asks_the_index() -> None:
    may_use = {"ground", "columns", "formats", "sentences", "results", "index", "viewer"}
    web = [(i, m) for i, m in IMPORTS if i.startswith("viewer.server.")]
    assert web
    assert [(i, m) for i, m in web if layer(m) not in may_use] == []
    shown = [(i, m) for i, m in IMPORTS if m.startswith("viewer.server") and not i.startswith("viewer.server")]
    assert [(i, m) for i, m in shown if part(i) != "cli"] == []


def test_the_command_line_uses_the_public_api_and_little_else() -> None:
    may_use = {"ground", "formats", "evaluation", "results", "running", "index", "api", "viewer", "cli"}
    allowed = {"execution.warmup", "execution.spark.engine", "resemblance.plan"}
    assert [(i, m) for i, m in IMPORTS if part(i) == "cli" and layer(m) not in may_use and m not in allowed] == []


def test_every_part_of_the_package_has_its_place() -> None:
    assert {path.stem for path in SOURCE.glob("*.py")} == ROOT_MODULES
    known = {*LAYERS, "evaluation"}
    assert sorted({layer(name_of(path)) for path in MODULES} - known - {"__init__"}) == []


def test_a_module_is_named_after_a_thing() -> None:
    words = {word for path in MODULES for word in path.stem.split("_")} | {path.parent.name for path in MODULES}
    assert words & {"util", "utils", "helper", "helpers", "common", "misc"} == set()
    assert [name_of(path) for path in MODULES if path.stem.endswith("ing")] == []
    assert sorted({path.stem for path in MODULES} & set(sys.stdlib_module_names) - {"__main__"}) == []


def test_kernels_are_in_modules_and_folders_of_that_name() -> None:
    assert [name_of(path) for path in MODULES if path.stem.endswith("_kernels")] == []
    decorated = re.compile(r"^@(\w+_kernel|(numba\.)?n?jit)\b", re.MULTILINE)
    others = [path for path in MODULES if "kernels" not in name_of(path).split(".")]
    assert [name_of(path) for path in others if decorated.search(path.read_text("utf-8"))] == ["execution.compiler"]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_fits_on_a_few_screens_and_says_what_it_is(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") <= 450
    assert ast.get_docstring(ast.parse(text)) or not text.strip(), "no docstring"
