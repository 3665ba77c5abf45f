"""What `tune` prints: the size groups, what was measured and predicted for each, and what the plan saves."""

from __future__ import annotations

from collections.abc import Iterator

from ibidem.config.surface import given, named
from ibidem.results.result import Tuning
from ibidem.results.sampling_grid import size_names
from ibidem.results.screen_lines import fit_lines, table_lines

_COLUMNS = ("shingles", "documents", "shingles in all", "looked at", "precision", "by model", "recall", "by model", "pairs")
_SHORT_COLUMNS = ("shingles", "documents", "in all", "sample", "precision", "model", "recall", "model", "pairs")


def tuning_table(tuning: Tuning, width: int | None = None) -> str:
    """Return the table as text; `width` is that of the screen."""
    rows = list(_rows(tuning))
    whole = list(table_lines([_COLUMNS, *rows], None))
    if width is not None and len(whole[0]) > width:
        whole = list(table_lines([_SHORT_COLUMNS, *rows], width))
    return "\n".join([*whole, *fit_lines(_remarks(tuning), width)])


def _rows(tuning: Tuning) -> Iterator[tuple[str, ...]]:
    for group, size in zip(tuning.groups, size_names(tuning.groups), strict=True):
        share = "all" if group.every == 1 else f"1/{group.every}"
        trial = group.chosen
        figures = (trial.precision, trial.predicted_precision, trial.recall, trial.predicted_recall)
        measured = [f"{figure:.3f}" if trial.true else "-" for figure in figures]
        yield (size, f"{group.n_documents:,}", f"{group.n_shingles:,}", share, *measured, f"{trial.true:,}")


def _remarks(tuning: Tuning) -> Iterator[str]:
    made_for = tuning.plan.made_for
    trials = [group.chosen for group in tuning.groups]
    accepted, right, true = (sum(getattr(trial, name) for trial in trials) for name in ("accepted", "right", "true"))
    yield f"the plan uses {tuning.share:.1%} of the shingles; identical documents count once"
    if not true:
        yield "there are no pairs to measure, so the precision of a sample cannot be estimated"
        return
    yield (
        f"pairs found at similarity {made_for['min_similarity']:g}: precision {right / accepted if accepted else 1:.3f} "
        f"(promised {made_for['min_precision']:g}), recall {right / true if true else 1:.3f}"
    )
    yield (
        f"`cluster` with {named('plan')} verifies every pair, so precision is 1, and keeps borderline candidates, so recall "
        f"is close to 1. The figures above apply to {given('verify', False)}."
    )
