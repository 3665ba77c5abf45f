"""A result scored against a truth file: the measure that its columns call for, the scores, and how they are printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ibidem.errors import InputError
from ibidem.evaluation import measures
from ibidem.evaluation.counts import CountEvaluation, CountGroup
from ibidem.evaluation.document_numbers import PLACES
from ibidem.evaluation.passage_scores import Evaluation, GroupScores, evaluate_passages
from ibidem.evaluation.truth_files import read_pairs, read_table, table_columns

# What is measured: the columns that truth and result need, and which tables of a folder of results have them.
MEASURES = {
    "passages": (PLACES, ("passages",)),
    "sentences": (PLACES, ("passages",)),
    "sentence-pairs": (("a_id", "a_sentence", "b_id", "b_sentence"), ("hits",)),
    "pairs": (("a_id", "b_id"), ("duplicates", "passages")),
    "clusters": (("cluster", "id"), ("clusters",)),
    "verdicts": (("id", "duplicated"), ("verdicts", "clusters")),
}
_RECOGNISED = ("sentence-pairs", "passages", "pairs", "clusters", "verdicts")  # by their columns, in this order
_ANY_TABLE = ("passages", "hits", "clusters", "duplicates")
_NOT_SHOWN = ("micro_precision", "micro_recall")


def measure_of(truth_path: Path) -> str:
    """Return what the columns of the truth are for."""
    columns = table_columns(truth_path, _ANY_TABLE)
    measure = next((name for name in _RECOGNISED if columns.issuperset(MEASURES[name][0])), None)
    if measure is None and columns:
        known = "; ".join(f"{name}: {' '.join(MEASURES[name][0])}" for name in _RECOGNISED)
        raise InputError(f"{truth_path}: its columns ({', '.join(sorted(columns))}) match no known kind of ground truth", known)
    return measure or "passages"


def evaluate_files(
    measure: str,
    truth_path: Path,
    result_path: Path,
    pairs_path: Path | None,
    sentences: Callable[[], measures.Sentences],
    n_samples: int,
) -> Evaluation | CountEvaluation:
    """Return the scores of a result; `sentences` gives those of the documents, for the measure that needs them."""
    columns, names = MEASURES[measure]
    truth, found = (
        _read_verdicts(path) if measure == "verdicts" else read_table(path, columns, names)
        for path in (truth_path, result_path)
    )
    pairs = None if pairs_path is None else read_pairs(pairs_path)
    match measure:
        case "sentences":
            return measures.evaluate_sentences(truth, found, sentences(), pairs, n_samples)
        case "sentence-pairs":
            return measures.evaluate_sentence_pairs(truth, found, pairs, n_samples)
        case "pairs":
            return measures.evaluate_pairs(truth, found, pairs, n_samples)
        case "clusters":
            return measures.evaluate_clusters(truth, found, n_samples)
        case "verdicts":
            return measures.evaluate_verdicts(truth, found, n_samples)
    return evaluate_passages(truth, found, pairs, n_samples)


def _read_verdicts(path: Path) -> pa.Table:
    """Return the verdicts on documents, from a table of them or from clusters."""
    _, names = MEASURES["verdicts"]
    columns = table_columns(path, names)
    if "duplicated" in columns or "canonical" not in columns:
        return read_table(path, ("id", "duplicated"), names)
    table = read_table(path, ("id", "canonical"), names)
    return table.append_column("duplicated", pc.invert(table["canonical"]))


def evaluation_rows(evaluation: Evaluation | CountEvaluation) -> list[list[str]]:
    """Return the head of a table of scores, and its rows; intervals are beside their scores."""
    groups = [("all", evaluation.overall), *evaluation.categories.items()]
    overall = evaluation.overall.scores._asdict()
    scores = [name for name, value in overall.items() if isinstance(value, float) and name not in _NOT_SHOWN]
    with_intervals = [name for name in scores if any(name in group.intervals for _, group in groups)]
    header = [cell for name in scores for cell in ([name, "95 %"] if name in with_intervals else [name])]
    rows = [["", *(cell.replace("_", " ") for cell in header), "true", "found"]]
    return rows + [[_shown(name), *_cells(group, scores, with_intervals)] for name, group in groups]


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
