"""What `tune` prints: the size groups, what was measured and predicted for each, and what the plan saves."""

from __future__ import annotations

from collections.abc import Iterator

from ibidem.config.surface import given, named
from ibidem.results.result import Tuning
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
    bounds = [group.from_shingles for group in tuning.groups]
    for group, upper in zip(tuning.groups, [*bounds[1:], None], strict=True):
        size = f"{group.from_shingles:,}+" if upper is None else f"{group.from_shingles:,}-{upper - 1:,}"
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
        yield "there are no pairs to measure: the precision of samples is unknown here"
        return
    yield (
        f"pairs found at similarity {made_for['min_similarity']:g}: precision {right / accepted if accepted else 1:.3f} "
        f"(promised {made_for['min_precision']:g}), recall {right / true if true else 1:.3f}"
    )
    yield (
        f"`cluster` with {named('plan')} compares every pair in full, so that precision is 1, and lets doubtful pairs "
        f"through, so that nearly all are found; the figures above are those of {given('verify', False)}"
    )
