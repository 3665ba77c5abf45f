"""The pairs of a results folder that people confirmed or rejected in the app, as `tune` needs them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ibidem.errors import InputError
from ibidem.passages.reported import Spans
from ibidem.results.limit_choice import Judged
from ibidem.viewer.material import read_run, table_paths
from ibidem.viewer.rows import UNIT
from ibidem.viewer.store_cache import views_at_hand

_FOUND_BY = "Give a folder of `ibidem find` or `ibidem cluster` whose pairs were judged in `ibidem serve`."


@dataclass(frozen=True)
class JudgedResults:
    """What was judged in a folder of results: the pairs, and how many verdicts do not count, by reason.

    `verb` is the one whose limits they are; `settings` are those of the run, by stage.
    """

    verb: str
    settings: dict[str, Any]
    judged: Judged
    n_unsure: int
    n_gone: int


def read_judged(folder: Path, documents: Sequence[str] = ()) -> JudgedResults:
    """Return the judged pairs of a results folder. `documents` are the texts, if they have moved and no views exist."""
    run = read_run(folder)
    tables = {path.name.partition(".")[0] for path in table_paths(folder)}
    if not {"duplicates"} <= tables and not {"passages", "documents"} <= tables:
        raise InputError(f"{folder} does not contain results of `find` or `cluster`", _FOUND_BY)
    verb = "cluster" if "duplicates" in tables else "find"
    with views_at_hand(folder, documents) as store:
        pairs, passages, n_verdicts = store.judged()
    decided = [row for row in pairs if row["verdict"] in ("confirmed", "rejected")]
    number = {row["number"]: at for at, row in enumerate(decided)}
    spans = _alone(decided) if verb == "cluster" else _spans([row for row in passages if row["pair"] in number], number)
    n_chars = np.array([[row["a_chars"] or 0, row["b_chars"] or 0] for row in decided], np.int64).reshape(-1, 2)
    confirmed = np.array([row["verdict"] == "confirmed" for row in decided], np.bool_)
    n_unsure = sum(row["verdict"] == "unsure" for row in pairs)
    return JudgedResults(verb, run.get("settings", {}), Judged(confirmed, spans, n_chars), n_unsure, n_verdicts - len(pairs))


def _spans(passages: Sequence[sqlite3.Row], number: dict[int, int]) -> Spans:
    pair = [number[row["pair"]] for row in passages]
    places = [
        (row["a_start"], row["a_start"] + row["a_length"], row["b_start"], row["b_start"] + row["a_length"] + row["b_longer"])
        for row in passages
    ]
    similarity = [1 - row["distance"] / UNIT for row in passages]
    a_start, a_end, b_start, b_end = np.array(places, np.int64).reshape(-1, 4).T
    return Spans(np.array(pair, np.int64), a_start, a_end, b_start, b_end, np.array(similarity, np.float64))


def _alone(pairs: Sequence[sqlite3.Row]) -> Spans:
    """Return whole documents as one passage for each pair, of which only the similarity counts."""
    similarity = np.array([1 - row["distance"] / UNIT for row in pairs], np.float64)
    nothing = np.zeros(len(pairs), np.int64)
    return Spans(np.arange(len(pairs)), nothing, nothing, nothing, nothing, similarity)
