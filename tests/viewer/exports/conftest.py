"""Results with everything that other programs may stumble over: formulas, markup, control characters, old times, scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.viewer.exports.flat_tables import FlatTables
from ibidem.viewer.store import ViewStore
from ibidem.viewer.store_cache import views_at_hand
from tests.texts import text

# What a document begins with, its title, its group, its time.
_HOSTILE: dict[str, tuple[str, str | None, str | None, str | None]] = {
    "=1+2": ('=HYPERLINK("http://x") is\ta formula. ', "=cmd|' /C calc'!A0", "+Bote", "1848-03-18T06:30:00Z"),
    "Bücher/Äpfel ö.txt": ("Grüße aus Köln: ÄÖÜ äöü ß.\r\n", "Über die Brücke", "Kölner Blatt", "1848-03-19"),
    "a<b>&\"c'd]]>": ("Control \x01\x02\x08\x0b\x0c\x1f \ufffe\uffff.\n", "A \x07 bell <b>&amp;</b>", "+Bote", "2031-01-02"),
    "日報/1": ("桜が咲く。😀😀\u2028", "新聞 [快報](1) \\ ]", "日報", "2031-01-01T12:00:00+02:00"),
    "https://example.org/a?b=c#d": ("-1 is a number, @user is not. ", None, None, None),
    "الخبر": ("هذا خبر طويل. \u202egnp\u202c ", "@عنوان", "日報", "2031-05-05"),
}
# Sentences that they share, by their numbers.
_SHARED: dict[str, tuple[int, ...]] = {
    "=1+2": (1, 2, 3, 4, 40),
    "Bücher/Äpfel ö.txt": (50, 1, 2, 3, 4),
    "a<b>&\"c'd]]>": (60, 1, 2, 3, 61, 5, 6, 7, 8),
    "日報/1": (5, 6, 7, 8, 71),
    "https://example.org/a?b=c#d": (5, 6, 7, 81),
    "الخبر": (91, 92, 93),
}


def hostile_records() -> list[dict[str, Any]]:
    return [
        {"id": name, "text": begin + text(*_SHARED[name]), "title": title, "group": group, "time": time}
        for name, (begin, title, group, time) in _HOSTILE.items()
    ]


def write_records(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


@pytest.fixture(scope="session")
def hostile_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of results."""
    folder = tmp_path_factory.mktemp("hostile")
    result = ibidem.find(write_records(folder / "hostile.jsonl", hostile_records()))
    result.write(folder / "out")
    assert len(result) >= 5
    return folder / "out"


@pytest.fixture
def hostile(hostile_out: Path) -> Iterator[ViewStore]:
    with views_at_hand(hostile_out) as store:
        yield store


@pytest.fixture
def tables(hostile: ViewStore) -> FlatTables:
    return FlatTables(hostile)
