"""What the tests of agents share: the command."""

from __future__ import annotations

from tests.cli.test_find import run

__all__ = ["run"]
