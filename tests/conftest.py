"""What holds for all tests.

`HYPOTHESIS_PROFILE=quick` tries few examples of each property: enough to see that ibidem runs on a version of Python or of a
dependency, where another run has tried them all.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from ibidem import parts

QUICK_EXAMPLES = 10
_PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "full")

# How long an example takes says something of the machine, and of what else it has to do.
settings.register_profile("full", deadline=None)
settings.register_profile("quick", max_examples=QUICK_EXAMPLES, deadline=None)


@pytest.fixture(autouse=True, scope="session")
def work_is_shared_however_little_there_is() -> None:
    """Cut even the smallest collection into parts, as large ones are: the outcome must not depend on it."""
    parts.LEAST_COST = 1


def pytest_configure() -> None:
    """Load the profile that the environment names."""
    settings.load_profile(_PROFILE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bound the examples of tests that ask for a number of their own, which a profile does not change."""
    if _PROFILE != "quick":
        return
    own = "_hypothesis_internal_use_settings"  # where hypothesis keeps what @settings says
    for item in items:
        function = getattr(item, "function", None)
        if hasattr(function, own) and getattr(function, own).max_examples > QUICK_EXAMPLES:
            setattr(function, own, settings(getattr(function, own), max_examples=QUICK_EXAMPLES))
