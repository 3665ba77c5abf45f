"""What `eval` prints: a table of scores, over all and by category, or the same for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ibidem.evaluation.counts import CountEvaluation, CountGroup
from ibidem.evaluation.passage_scores import Evaluation, GroupScores

_NOT_SHOWN = ("micro_precision", "micro_recall")


def evaluation_table(evaluation: Evaluation | CountEvaluation) -> str:
    """Return the scores as text; intervals stand beside their scores."""
    groups = [("all", evaluation.overall), *evaluation.categories.items()]
    told = evaluation.overall.scores._asdict()
    scores = [name for name, value in told.items() if isinstance(value, float) and name not in _NOT_SHOWN]
    with_intervals = [name for name in scores if any(name in group.intervals for _, group in groups)]
    header = [cell for name in scores for cell in ([name, "95 %"] if name in with_intervals else [name])]
    rows = [["", *(cell.replace("_", " ") for cell in header), "true", "found"]]
    rows += [[_shown(name), *_cells(group, scores, with_intervals)] for name, group in groups]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    )


def evaluation_record(evaluation: Evaluation | CountEvaluation) -> dict[str, Any]:
    """Return the scores as plain values, and what was left out of them."""
    return {
        "all": _record(evaluation.overall),
        "categories": {name: _record(group) for name, group in evaluation.categories.items()},
        **{name: value for name, value in evaluation._asdict().items() if name.startswith("n_")},
    }


def _shown(name: str) -> str:
    """Return a name without what a terminal would obey."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in name)


def _cells(group: GroupScores | CountGroup, scores: list[str], with_intervals: list[str]) -> Iterator[str]:
    for name in scores:
        yield f"{getattr(group.scores, name):.3f}"
        if name in with_intervals:
            interval = group.intervals.get(name)
            yield f"{interval.low:.3f}-{interval.high:.3f}" if interval else "-"
    yield f"{group.scores.n_truth:,}"
    yield f"{group.scores.n_found:,}"


def _record(group: GroupScores | CountGroup) -> dict[str, Any]:
    record = {name: value for name, value in group.scores._asdict().items() if value is not None}
    if group.intervals:
        record["intervals"] = {name: list(interval) for name, interval in group.intervals.items()}
    return record
