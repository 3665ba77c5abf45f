"""An event loop of its own for a test: Chromium's tests leave one running in their thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

ValueT = TypeVar("ValueT")


def run_in_own_loop(work: Coroutine[Any, Any, ValueT]) -> ValueT:
    """Return what a coroutine returns that runs in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
