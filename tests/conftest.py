"""What all tests share.

Properties say how many examples to try. `make test` tries at most 100 of them, `HYPOTHESIS_PROFILE=many` (`make soak`) all, and
`HYPOTHESIS_PROFILE=quick` ten: enough to see that ibidem runs on a version of Python or of a dependency. `--at-most SECONDS`
starts no further test after that time, for a quick look.
"""

from __future__ import annotations

import os
import signal
import time

import pytest
from hypothesis import HealthCheck, settings

from ibidem.execution import tasks

MOST_EXAMPLES = {"quick": 10, "full": 100, "many": 1_000_000}
_PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "full")
_STARTED = time.monotonic()

# How long an example takes says something of the machine, and of what else it has to do.
for name, most in MOST_EXAMPLES.items():
    settings.register_profile(
        name, max_examples=min(100, most), deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )


@pytest.fixture(autouse=True, scope="session")
def work_is_shared_however_little_there_is() -> None:
    """Cut even the smallest collection into parts, as large ones are: the outcome must not depend on it."""
    tasks.LEAST_COST = 1


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that bounds a run."""
    parser.addoption("--at-most", type=float, metavar="SECONDS", help="start no further test after this time")


def pytest_configure() -> None:
    """Load the profile that the environment names, and let programs be interrupted that tests start.

    A shell starts jobs in the background with interrupts ignored, and whatever they start ignores them too.
    """
    settings.load_profile(_PROFILE)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):  # which nohup has ignored
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that would start after the time that `--at-most` allows."""
    limit = item.config.getoption("--at-most")
    if limit is not None and time.monotonic() - _STARTED > limit:
        pytest.skip(f"not started: {limit:.0f} seconds are over, and `make test` runs the rest")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bound the examples of tests that ask for a number of their own, which a profile does not change."""
    own, most = "_hypothesis_internal_use_settings", MOST_EXAMPLES[_PROFILE]  # where hypothesis keeps what @settings says
    for item in items:
        function = getattr(item, "function", None)
        if hasattr(function, own) and getattr(function, own).max_examples > most:
            setattr(function, own, settings(getattr(function, own), max_examples=most))
