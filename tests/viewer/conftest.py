"""What the tests of views share: an invented collection, its store, and the command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ibidem.viewer.store import ViewStore
from ibidem.viewer.store_build import build_views
from tests.cli.test_find import run
from tests.viewer.invented import Invented, invent

__all__ = ["run"]


@pytest.fixture(scope="session")
def invented(tmp_path_factory: pytest.TempPathFactory) -> Invented:
    return invent(tmp_path_factory.mktemp("invented"), seed=3)


@pytest.fixture(scope="session")
def view_file(invented: Invented, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("views") / "view.sqlite"
    build_views(invented.material, path)
    return path


@pytest.fixture(scope="session")
def store(view_file: Path) -> Iterator[ViewStore]:
    """A store that nobody writes verdicts to."""
    views = ViewStore(view_file, None)
    yield views
    views.close()


@pytest.fixture
def judged(view_file: Path, tmp_path: Path) -> Iterator[ViewStore]:
    """A store with a place for verdicts."""
    views = ViewStore(view_file, tmp_path / "verdicts.sqlite", may_judge=True)
    yield views
    views.close()
