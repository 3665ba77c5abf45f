"""Chooses the tests of what changed: `make check`.

    python -m tests.changed [--base REV]

Prints the test files that changed since REV (default: HEAD; files that git does not track yet count), those that import a
changed module or helper, those in the folder of a changed stage, and a few that watch over the whole package.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
ALWAYS = (
    "tests/test_layers.py", "tests/test_public_names.py", "tests/test_docs.py", "tests/test_map.py", "tests/test_example.py",
)  # fmt: skip
# They take minutes: only if they changed themselves.
LONG = ("tests/browser", "tests/crash", "tests/execution/spark/test_spark.py", "tests/execution/spark/test_local_cluster.py")


def changed_files(base: str) -> list[Path]:
    """Return the files that differ from a revision, relative to the project, without those that were deleted."""
    commands = (["diff", "--name-only", "--diff-filter=d", base], ["ls-files", "--others", "--exclude-standard"])
    outputs = (subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True) for command in commands)
    return sorted({Path(line) for output in outputs for line in output.stdout.splitlines()})


def module_name(path: Path) -> str:
    """Return the name under which Python imports a file."""
    parts = path.with_suffix("").parts
    parts = parts[1:] if parts[0] == "src" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_names(path: Path) -> Iterator[str]:
    """Yield what a file imports, wherever in it: modules, and names in modules, which may be modules too."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def tests_of(changed: Iterable[Path]) -> list[str]:
    """Return the test files to run, those nearest to the change first."""
    changed = [path for path in changed if path.suffix == ".py"]
    tests = sorted(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py"))
    own = [path for path in tests if path in changed]
    names = {module_name(path) for path in changed if path not in own}
    folders = {name.split(".")[1] for name in names if name.startswith("ibidem.") and name.count(".") > 1}
    others = [path for path in tests if path not in own and not str(path).startswith(LONG)]
    importing = [path for path in others if names.intersection(imported_names(ROOT / path))]
    beside = [path for path in others if len(path.parts) > 2 and path.parts[1] in folders]
    chosen = [*map(str, [*own, *importing, *beside]), *ALWAYS]
    return list(dict.fromkeys(chosen))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="HEAD", help="the revision to compare with")
    print("\n".join(tests_of(changed_files(parser.parse_args().base))))


if __name__ == "__main__":
    main()
