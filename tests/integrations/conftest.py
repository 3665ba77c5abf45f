"""An index of ten invented documents, and documents that repeat parts of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ibidem import Index
from tests.texts import changed, text

COUNT = 12  # words in a sentence: more than `min_quote_words`
NEW = [
    text(500, 501, 502, 503, count=COUNT),  # new
    text(10, 11, 12, 13, count=COUNT),  # a copy
    text(504, 20, 21, 22, 505, 506, 507, 508, count=COUNT),  # a passage of three sentences
    " ".join([text(30, 31, count=COUNT), changed(32, 1, COUNT), text(33, count=COUNT)]),  # a copy with one edited sentence
    text(509, 40, count=COUNT),  # a single sentence
    "",
]
KNOWN = [False, True, False, True, False, False]
REMAINING = [
    NEW[0],
    "",
    text(504, 505, 506, 507, 508, count=COUNT),
    changed(32, 1, COUNT) + " ",
    text(509, count=COUNT) + " ",
    "",
]


def archive() -> list[dict[str, str]]:
    return [{"id": f"old {n}", "text": text(*range(10 * n, 10 * n + 4), count=COUNT)} for n in range(1, 11)]


@pytest.fixture(autouse=True)
def one_environment() -> Iterator[None]:
    """Keep the object `os.environ`: `datasets` replaces it by a copy when several processes map, others look at the first."""
    environment = os.environ
    yield
    os.environ = environment  # noqa: B003


@pytest.fixture(scope="session")
def index_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("known") / "archive.idx"
    with Index(path) as index:
        index.add(archive())
    return path
