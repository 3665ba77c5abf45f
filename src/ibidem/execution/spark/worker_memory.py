"""The memory of Spark's Python workers between tasks."""

from __future__ import annotations

import gc
import sys

_n_kept = 0


def keep_modules() -> None:
    """Take what is in memory as a task begins for what stays, if modules were imported since this was done last.

    Spark collects garbage after every task. Looking at all objects of our modules takes 50 ms each time, as long as many tasks.
    """
    global _n_kept
    if len(sys.modules) > _n_kept:
        _n_kept = len(sys.modules)
        gc.freeze()
