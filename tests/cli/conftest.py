"""What the tests of all verbs share."""

from tests.cli.test_find import run

__all__ = ["run"]
