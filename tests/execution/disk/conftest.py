"""The command line in this process, and what a kill would leave of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_find import run
from tests.execution.disk.crashes import Crashes

__all__ = ["crashes", "run"]


@pytest.fixture
def crashes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Crashes:
    """Keeps copies of the working folder of a test, as kills would leave it."""
    return Crashes(monkeypatch, tmp_path, tmp_path_factory.mktemp("copies"))
