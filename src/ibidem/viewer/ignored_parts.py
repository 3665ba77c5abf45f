"""What a run ignored (`--ignore`), kept in `view.sqlite`: pages show it in grey, also when its files are gone."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ibidem.config.addresses import is_remote
from ibidem.errors import IbidemError
from ibidem.sentences.ignored_text import NOTHING, IgnoredText, load_ignored


def keep_ignored(connection: sqlite3.Connection, run: Mapping[str, Any]) -> str | None:
    """Store what a run ignored; return why that is not possible, None if it is or nothing was ignored."""
    names = str(run.get("settings", {}).get("sentences", {}).get("ignore", NOTHING))
    if names == NOTHING:
        return None
    folder = str(run.get("folder", ""))
    paths = [name if is_remote(name) else os.path.join(folder, name) for name in names.split(",")]
    try:
        ignored = load_ignored(",".join(paths))
    except (IbidemError, OSError):
        return f"{names} cannot be read, so ignored text is not grey"
    assert ignored is not None
    values = (ignored.grams.tobytes(), ignored.short.tobytes(), str(ignored.seed))
    connection.execute("INSERT INTO ignored VALUES (?, ?, ?)", values)
    return None


def kept_ignored(one: Callable[[str, list[Any]], Any]) -> IgnoredText | None:
    """Return what `keep_ignored` stored; `one` returns a row of a query."""
    row = one("SELECT grams, short, seed FROM ignored", [])
    if row is None:
        return None
    return IgnoredText(np.frombuffer(row[0], np.uint64), np.frombuffer(row[1], np.uint64), int(row[2]))
