"""What `eval` prints: a table of scores, over all and by category, or the same for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ibidem.evaluation.passages import Evaluation, GroupScores

_SCORES = ("plagdet", "precision", "recall", "granularity")


def evaluation_table(evaluation: Evaluation) -> str:
    """Return the scores as text; intervals stand beside their scores."""
    groups = [("all", evaluation.overall), *evaluation.categories.items()]
    with_intervals = [name for name in _SCORES if any(name in group.intervals for _, group in groups)]
    header = [cell for name in _SCORES for cell in ([name, "95 %"] if name in with_intervals else [name])]
    rows = [["", *header, "true", "found"]]
    rows += [[_shown(name), *_cells(group, with_intervals)] for name, group in groups]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    )


def evaluation_record(evaluation: Evaluation) -> dict[str, Any]:
    """Return the scores as plain values."""
    return {
        "all": _record(evaluation.overall),
        "categories": {name: _record(group) for name, group in evaluation.categories.items()},
        "n_ignored_truth": evaluation.n_ignored_truth,
        "n_ignored_found": evaluation.n_ignored_found,
    }


def _shown(name: str) -> str:
    """Return a name without what a terminal would obey."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in name)


def _cells(group: GroupScores, with_intervals: list[str]) -> Iterator[str]:
    for name in _SCORES:
        yield f"{getattr(group.scores, name):.3f}"
        if name in with_intervals:
            interval = group.intervals.get(name)
            yield f"{interval.low:.3f}-{interval.high:.3f}" if interval else "-"
    yield f"{group.scores.n_truth:,}"
    yield f"{group.scores.n_found:,}"


def _record(group: GroupScores) -> dict[str, Any]:
    record = group.scores._asdict()
    if group.intervals:
        record["intervals"] = {name: list(interval) for name, interval in group.intervals.items()}
    return record
