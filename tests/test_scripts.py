"""Scripts beside the package import what exists: most of them run only by hand, and a module that moved would go unnoticed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted(path for folder in ("benchmarks", "studies", "fuzz", "docs") for path in (ROOT / folder).glob("*.py"))


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """Yield modules of the package and of the tests that a script imports, each with a name out of it, or without one."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.startswith("ibidem."))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in ("ibidem", "tests"):
            yield from ((node.module or "", alias.name) for alias in node.names)


def test_the_imports_were_found() -> None:
    assert len({module for path in SCRIPTS for module, _ in imported(path)}) > 20


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_script_imports_what_exists(path: Path) -> None:
    def exists(module: str, name: str) -> bool:
        if find_spec(module) is None:
            return False
        return not name or hasattr(import_module(module), name) or find_spec(f"{module}.{name}") is not None

    assert [found for found in imported(path) if not exists(*found)] == []
