"""The wheel and the source distribution have everything that an installation needs, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


def test_the_wheel_has_all_files_of_the_package(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        packed = {name for name in wheel.namelist() if not name.partition("/")[0].endswith(".dist-info")}
    tracked = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode == 0 and tracked.stdout:
        assert packed >= {name.removeprefix("src/") for name in tracked.stdout.splitlines()}
    assert all(name.startswith("ibidem/") for name in packed)
    assert not any("__pycache__" in name for name in packed)


def test_the_installed_wheel_reads_documents(built: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    example = ROOT / "examples/newsroom/documents.jsonl"
    script = "import ibidem, sys; print(ibidem.__file__); print(sum(1 for _ in ibidem.read(sys.argv[1])))"
    done = subprocess.run(
        [sys.executable, "-c", script, str(example)], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    place, n_documents = done.stdout.splitlines()
    assert place.startswith(str(tmp_path / "site"))
    assert n_documents == "45"
    shown = [sys.executable, "-m", "ibidem", "--version", "--verbose"]
    told = subprocess.run(shown, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout
    assert "pyarrow" in told
    assert str(tmp_path / "site") in told


def test_the_source_distribution_can_be_tested(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "Makefile", "src/ibidem/py.typed", "tests/conftest.py"} <= names
    assert not any(name.startswith((".venv", "out")) for name in names)


def test_missing_extras_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from ibidem.cli import installed

    really = installed._version
    monkeypatch.setattr(installed, "_version", lambda name: None if name == "fastapi" else really(name))
    told = "\n".join(installed.described())
    assert "web: not installed (fastapi); pip install 'ibidem[web]'" in told
