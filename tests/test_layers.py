"""The layout of the package: imports point from upper layers to lower ones, a stage imports from stages to its left only."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "ibidem"
ROOT_MODULES = {
    "__init__",
    "__main__",
    "api",
    "errors",
    "model",
    "pipeline",
    "submit",
    "version",
    "word_api",
    "contamination_api",
}
STAGES = [
    "formats", "sentences", "word_runs", "signatures", "matches", "passages", "alignment", "resemblance", "clusters",
    "contamination",
]  # fmt: skip
# A module may import from its own layer and from those before it.
LAYERS = [
    "ground", "columns", *STAGES, "running", "results", "index", "programs", "api", "viewer", "agents", "integrations", "cli",
]  # fmt: skip
# What of `execution` every layer may use. The rest of it opens runs, or is a program.
GROUND = {
    "compiler", "descriptors", "disk_limit", "durable_files", "flow", "kernel_cache", "layout", "locks", "memory",
    "operating_system", "output_folder", "progress", "spill", "tasks", "threads",
}  # fmt: skip
PROGRAMS = {"execution.warmup"}
# Imports that point the wrong way, each with the reason. The list may only become shorter.
EXCEPTIONS = {
    ("model", "alignment.difference_kinds"): "`Passage.differences`, inside of the function",
    ("results.result", "viewer.report"): "`to_html`, inside of the function: Altair is slow to load",
    ("results.result", "viewer.exports.export_formats"): "`export`, inside of the function, like `to_html`",
}
# These imports inside functions lead upwards for good.
UPWARDS = set(EXCEPTIONS)
# Modules that import others inside functions, each with the reason: they start faster. The list may only become shorter.
LATE_IMPORTS = {
    "--help and --version answer before NumPy, Arrow and kernels are loaded": {
        "cli.cluster", "cli.collapse", "cli.compare", "cli.decontaminate", "cli.dedup", "cli.eval", "cli.export", "cli.find",
        "cli.index_check",
        "cli.index_edit", "cli.index_query", "cli.libraries", "cli.main", "cli.mcp", "cli.report", "cli.serve", "cli.spark",
        "cli.tune", "cli.verbs", "cli.verify", "cli.warmup", "cli.watch", "cli.words",
    },
    "a verb loads what it runs, and where it runs": {"api", "contamination_api", "execution.verb_runs", "results.backings"},
    "a format is loaded when the first file of it is met": {
        "formats.records", "formats.text_files",
    },
    "kernels are looked up, and compiled by a second process, while the first one loads": {"execution.warmup"},
    "upwards, from what most modules import": {importer for importer, _ in UPWARDS},
}  # fmt: skip
MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


NAMES = {name_of(path) for path in MODULES}


class Import(NamedTuple):
    """A module of ibidem, without the leading `ibidem.`, that another one imports."""

    importer: str
    module: str
    is_late: bool  # inside a function
    is_for_types: bool  # never carried out


def imports_of(path: Path) -> Iterator[Import]:
    """Yield what a file imports of ibidem, wherever in it."""
    waiting: list[tuple[ast.AST, bool, bool]] = [(ast.parse(path.read_text("utf-8")), False, False)]
    while waiting:
        node, is_late, is_for_types = waiting.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (Import(name_of(path), module, is_late, is_for_types) for module in modules_in(node) if module)
        is_late |= isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        is_for_types |= isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        waiting += [(child, is_late, is_for_types) for child in ast.iter_child_nodes(node)]


def modules_in(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.removeprefix("ibidem.") for alias in node.names if alias.name.startswith("ibidem.")]
    assert node.level == 0, "relative import"
    if (node.module or "").partition(".")[0] != "ibidem":
        return []
    inside = (node.module or "").removeprefix("ibidem").removeprefix(".")
    full = [f"{inside}.{alias.name}".removeprefix(".") for alias in node.names]
    return [name if name in NAMES or f"{name}.__init__" in NAMES else inside for name in full]


ALL_IMPORTS = [each for path in MODULES for each in imports_of(path)]
IMPORTS = sorted({each[:2] for each in ALL_IMPORTS})


def part(module: str) -> str:
    return module.split(".")[0]


def layer(module: str) -> str:
    folder, _, rest = module.partition(".")
    if folder in ("config", "errors", "model", "version") or (folder == "execution" and part(rest) in GROUND):
        return "ground"
    if folder == "pipeline" or any(module == name or module.startswith(f"{name}.") for name in PROGRAMS):
        return "programs"
    return {
        "__main__": "cli",
        "execution": "running",
        "submit": "cli",
        "word_api": "api",
        "contamination_api": "api",
        "client": "api",
    }.get(folder, folder)


def test_the_imports_were_found() -> None:
    assert ("pipeline", "passages.stage") in IMPORTS
    assert ("api", "pipeline") in IMPORTS  # inside a function
    assert ("passages.chains", "passages.kernels.chains") in IMPORTS  # a module out of its folder
    assert {layer(importer) for importer, _ in IMPORTS} >= set(LAYERS)


def test_imports_point_to_lower_layers_and_stages_to_the_left() -> None:
    known = [(i, m) for i, m in IMPORTS if i != "__init__" and "evaluation" not in (part(i), part(m))]
    wrong = {(i, m) for i, m in known if LAYERS.index(layer(m)) > LAYERS.index(layer(i))}
    # Whoever opens runs knows how documents are read, and nothing else of what stages compute.
    wrong |= {(i, m) for i, m in known if layer(i) == "running" and layer(m) in STAGES[1:]}
    assert wrong == set(EXCEPTIONS)


def test_imports_inside_functions_serve_start_up_and_nothing_else() -> None:
    late = {each.importer for each in ALL_IMPORTS if each.is_late}
    assert late == set().union(*LATE_IMPORTS.values())


@pytest.mark.parametrize("with_late", [False, True], ids=["as modules load", "with those inside functions"])
def test_imports_form_no_loop(with_late: bool) -> None:
    graph: dict[str, set[str]] = {name: set() for name in NAMES}
    for importer, module, is_late, is_for_types in ALL_IMPORTS:
        if is_for_types or (is_late and not with_late) or (importer, module) in UPWARDS:
            continue
        # A module loads the packages that it is in, unless they are being loaded already.
        packages = [".".join(module.split(".")[:depth]) for depth in range(1, module.count(".") + 1)]
        doors = [f"{each}.__init__" for each in (*packages, module) if f"{each}.__init__" in NAMES]
        doors = [door for door in doors if not importer.startswith(door.removesuffix("__init__")) or door[:-9] == module]
        graph[importer] |= {*doors, *({module} & NAMES)}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the loop


def test_execution_and_columns_load_nothing_by_themselves() -> None:
    doors = ("execution.__init__", "columns.__init__", "results.__init__")
    assert [(i, m) for i, m in IMPORTS if i in doors] == []


def test_a_core_knows_nothing_of_its_exchange() -> None:
    cores = [(i, m) for i, m in IMPORTS if part(i) in STAGES and not {"exchange", "stage"} & set(i.split("."))]
    assert [(i, m) for i, m in cores if "exchange" in m.split(".") and "kernels" not in m.split(".")] == []


def test_only_a_stage_chooses_between_core_and_exchange() -> None:
    """`InMemory` is known to what makes it, to checks and results, and to the doors of the stages: nobody else branches."""
    users = {name_of(path) for path in MODULES if re.search(r"\bInMemory\b", path.read_text("utf-8"))}
    doors = {f"{stage}.stage" for stage in STAGES if f"{stage}.stage" in NAMES}
    assert users - doors == {"execution.checks", "execution.flow", "execution.run", "execution.warmup"}


def test_the_index_is_built_of_stages() -> None:
    may_use = {"ground", "columns", *STAGES, "index"}
    others = [(i, m) for i, m in IMPORTS if part(i) == "index" and layer(m) not in may_use]
    assert others == [("index.index", "execution.unique_ids")]
    allowed = {"index", "cli", "viewer", "agents", "integrations", "__init__"}
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
    allowed = {"viewer", "cli", "__init__"}
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
    may_use = {"ground", "formats", "evaluation", "results", "running", "index", "api", "viewer", "agents", "cli"}
    allowed = {"execution.warmup", "execution.spark.engine"}
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


def test_a_name_says_which_module_is_meant() -> None:
    """A stage has its door, core and exchange, and a core, its exchange and its kernels share a name; others are unique."""
    by_design = {"__init__", "stage", "core", "exchange", "kernels"}
    counts = Counter(path.stem for path in MODULES if path.stem not in by_design)
    assert {name for name, count in counts.items() if count > 3} == set()


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
