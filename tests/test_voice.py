"""What people read is plain English: no word that reads oddly returns to messages, help, labels, docstrings or comments."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

LIST = Path(__file__).parents[1] / "docs" / "list_messages.py"


@pytest.fixture(scope="module")
def listed() -> ModuleType:
    spec = importlib.util.spec_from_file_location("list_messages", LIST)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["list_messages"] = module
    spec.loader.exec_module(module)
    return module


def test_messages_and_labels_read_well(listed: ModuleType) -> None:
    messages = list(listed.messages())
    kinds = {message.kind for message in messages}
    assert {"error", "told", "skipped", "summary", "answer", "help", "label"} <= kinds
    assert [message for message in messages if listed.is_odd(message.text)] == []


def test_docstrings_and_comments_read_well(listed: ModuleType) -> None:
    prose = list(listed.docstrings_and_comments())
    assert {message.kind for message in prose} == {"docstring", "comment"}
    assert [message for message in prose if listed.is_odd(message.text)] == []


@pytest.mark.parametrize(
    ("text", "is_odd"),
    [
        ("settings that do not hold", True),
        ("text that stands elsewhere", True),
        ("0 for one a core", True),
        ("the text is not at hand", True),
        ("lets other marks stand out", False),
        ("read from standard input", False),
        ("`held` is empty, and {told} is filled in", False),
    ],
)
def test_odd_words_are_noticed(listed: ModuleType, text: str, is_odd: bool) -> None:
    assert listed.is_odd(text) == is_odd
