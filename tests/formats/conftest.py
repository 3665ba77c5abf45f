"""The command line in this process."""

from __future__ import annotations

from tests.cli.test_find import run

__all__ = ["run"]
