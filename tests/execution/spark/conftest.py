"""Collections of tests are small: without this, nearly all of their stages would run in the driver."""

from __future__ import annotations

import pytest

from ibidem.execution.spark.folder_flow import FolderFlow


@pytest.fixture(autouse=True)
def workers_have_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stages of a few kilobytes be run by workers, in several tasks; smaller ones still run in the driver."""
    monkeypatch.setattr(FolderFlow, "n_small_bytes", 3000)
