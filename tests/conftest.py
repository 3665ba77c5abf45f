"""What holds for all tests."""

from __future__ import annotations

import pytest

from ibidem import parts


@pytest.fixture(autouse=True, scope="session")
def work_is_shared_however_little_there_is() -> None:
    """Cut even the smallest collection into parts, as large ones are: the outcome must not depend on it."""
    parts.LEAST_COST = 1
