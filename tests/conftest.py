"""What all tests share.

Properties say how many examples to try. `make test` tries at most 50 of them, `HYPOTHESIS_PROFILE=many` (`make soak`) all, and
`HYPOTHESIS_PROFILE=quick` ten: enough to see that ibidem runs on a version of Python or of a dependency. `--at-most SECONDS`
starts no further test after that time, for a quick look.

A run ends with the files that took the most processor time, including processes that they started and that have ended. Unlike
seconds of a clock, it is nearly the same on a machine that has other things to do.
"""

from __future__ import annotations

import gc
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from ibidem.execution import tasks

MOST_EXAMPLES = {"quick": 10, "full": 50, "many": 1_000_000}
_PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "full")
_STARTED = time.monotonic()
_N_SLOWEST = 20
_processor_seconds: Counter[str] = Counter()  # by file; in the process that reports
_seen = 0.0

# How long an example takes says something of the machine, and of what else it has to do.
for name, most in MOST_EXAMPLES.items():
    settings.register_profile(name, max_examples=min(100, most), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(autouse=True, scope="session")
def work_is_shared_however_little_there_is() -> None:
    """Cut even the smallest collection into parts, as large ones are: the outcome must not depend on it."""
    tasks.LEAST_COST = 1


@pytest.fixture(autouse=True, scope="session")
def programs_in_this_process_leave_garbage_collection_alone() -> None:
    """Ignore what a program sets for the rest of its life, which is short: files that nobody uses would stay open."""
    gc.collect()
    gc.set_threshold(20_000)
    gc.set_threshold = gc.freeze = lambda *_: None


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


def _processor_time() -> float:
    """Return the seconds that processors have worked for this process and for those it started that have ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol() -> None:
    """Begin to count the processor time of a test."""
    global _seen
    _seen = _processor_time()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Add the processor time of a phase to its report, which travels to the process that sums up."""
    global _seen
    outcome: Any = yield
    now = _processor_time()
    outcome.get_result().processor_seconds = now - _seen
    _seen = now


def pytest_runtest_logreport(report: Any) -> None:
    """Add up the processor time of a file."""
    _processor_seconds[report.location[0]] += getattr(report, "processor_seconds", 0.0)  # a worker that died has none


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """List the files that took the most processor time."""
    if hasattr(config, "workerinput") or len(_processor_seconds) < 2:
        return
    terminalreporter.section(f"processor time: {sum(_processor_seconds.values()):.0f} s")
    for path, seconds in _processor_seconds.most_common(_N_SLOWEST):
        terminalreporter.line(f"{seconds:8.1f} s  {path}")
