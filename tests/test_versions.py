"""What keeps ibidem running on every Python and on every version of its dependencies that pyproject.toml allows.

`make test-versions` runs the suite on them; these tests find on any of them what would fail on another.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import MOST_EXAMPLES
from tests.oldest import constraints, oldest_versions, read_project
from tests.versions import OLDEST_ON, declared_versions

ROOT = Path(__file__).parent.parent
NEWS = ROOT / "examples" / "newsroom" / "documents.jsonl"
# Attributes of pyarrow that need pandas in some of the allowed versions.
NOT_EVERYWHERE = {"to_pandas_dtype"}


def nodes() -> Iterator[tuple[str, ast.AST]]:
    """Yield every node of the package with its place."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            yield f"{path.name}:{getattr(node, 'lineno', 0)}", node


def test_sqlite_connections_take_one_positional_argument() -> None:
    """More of them are deprecated since Python 3.13."""
    calls = {
        place: len(node.args)
        for place, node in nodes()
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "sqlite3.connect"
    }
    assert len(calls) > 5
    assert {place for place, n_args in calls.items() if n_args != 1} == set()


def test_attributes_that_some_versions_lack_are_not_used() -> None:
    used = [(place, node.attr) for place, node in nodes() if isinstance(node, ast.Attribute)]
    assert len(used) > 1000
    assert [(place, name) for place, name in used if name in NOT_EVERYWHERE] == []


@pytest.mark.skipif(not NEWS.exists(), reason="the example is not here")
def test_no_command_loads_pandas(tmp_path: Path) -> None:
    """It is no dependency, and would take a quarter of a second of every run where it happens to be installed."""
    fake = tmp_path / "packages" / "pandas"
    fake.mkdir(parents=True)
    (fake / "__init__.py").write_text("raise SystemExit('pandas was loaded')", "utf-8")
    paths = [str(fake.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    code = """
import sys
from ibidem.cli.main import main
for command in sys.argv[1:]:
    sys.argv = ["ibidem", *command.split()]
    try:
        main()
    except SystemExit as end:
        assert not end.code, f"{command}: {end.code}"
    assert "ibidem.model" in sys.modules
    assert "pandas" not in sys.modules, command
"""
    commands = [
        f"find {NEWS} -o found --report",
        f"find {NEWS} -o parts --memory 300MB --format csv",
        f"cluster {NEWS} -o clusters",
        f"dedup {NEWS} -o cleaned",
        f"index add news.idx {NEWS}",
        f"index check news.idx {NEWS}",
        f"index query news.idx {NEWS} -o answers",
        "index info news.idx",
        "report found -o page.html",
    ]
    run = [sys.executable, "-c", code, *commands]
    answer = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr


def test_only_processes_with_one_thread_fork() -> None:
    """Other forks are deprecated since Python 3.12; `tests/forking.py` makes sure of it."""
    folders = ("src", "tests", "benchmarks", "studies", "fuzz")
    forking = re.compile(r"\bos\.fork(pty)?\(|get_context\(\"fork|set_start_method\(\"fork|ProcessPoolExecutor\(\)")
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if forking.search(path.read_text("utf-8"))
    }
    assert found == {"tests/forking.py"}


def test_the_declared_pythons_are_a_range_that_begins_where_the_package_says() -> None:
    declared = declared_versions()
    first = int(declared[0].partition(".")[2])
    assert declared == [f"3.{minor}" for minor in range(first, first + len(declared))]
    assert read_project()["requires-python"] == f">={declared[0]}"
    assert set(OLDEST_ON) <= set(declared)


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    given = ["a>=5.4", "b-c>=2; python_version < '3.11'", "d[e,f]>=1,<3"]
    assert oldest_versions(given) == ["a==5.4", "b-c==2; python_version < '3.11'", "d==1"]
    for requirement in ("a", "a==1", "a<2"):
        with pytest.raises(ValueError, match=f"{requirement}: write it as NAME>=VERSION"):
            oldest_versions([requirement])
    names = {line.partition("==")[0] for line in constraints()}
    assert names >= {"numba", "numpy", "pyarrow", "fastapi", "pytest", "hypothesis"}


@pytest.mark.parametrize(
    ("profile", "expected"), [("quick", MOST_EXAMPLES["quick"]), ("full", MOST_EXAMPLES["full"]), ("many", 250)]
)
def test_profiles_bound_tests_with_a_number_of_their_own(tmp_path: Path, profile: str, expected: int) -> None:
    (tmp_path / "test_counted.py").write_text(
        "from pathlib import Path\nfrom hypothesis import given, settings, strategies as st\n"
        "@settings(max_examples=250, database=None)\n@given(st.integers())\ndef test_it(number):\n"
        f"    with open({str(tmp_path / 'tried')!r}, 'a') as file:\n        file.write('.')\n",
        "utf-8",
    )
    plugins = ("tests.conftest", "no:cacheprovider", "no:xdist", "no:langsmith_plugin")
    command = [sys.executable, "-m", "pytest", *(word for name in plugins for word in ("-p", name))]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "HYPOTHESIS_PROFILE": profile, "PYTHONPATH": os.pathsep.join(paths)}
    subprocess.run([*command, "test_counted.py"], cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert len((tmp_path / "tried").read_text()) == expected
