"""What the tests of all verbs share."""

from __future__ import annotations

import pytest

import ibidem
from ibidem.execution.warmup import announcement
from tests.cli.test_find import run
from tests.texts import documents, text

__all__ = ["compiled_alignment", "compiled_index", "run"]


@pytest.fixture(scope="session")
def compiled_index(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Have the kernels of the index compiled, so that no run says that it has to."""
    with ibidem.Index(tmp_path_factory.mktemp("index")) as index:
        index.add(documents(a=text(1, 2, 3)))
        assert index.check(documents(b=text(1, 2, 3))[0]).duplicated
    assert announcement("index check") == announcement("index add") == ""


@pytest.fixture(scope="session")
def compiled_alignment() -> None:
    """The same for the alignment."""
    assert ibidem.compare(text(1, 2, 3), text(1, 2, 3), min_aligned_words=1, min_evidence=0)
