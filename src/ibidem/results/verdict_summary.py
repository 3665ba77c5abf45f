"""What `tune --from-verdicts` prints: the limits, how well they separate what was judged, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ibidem.config.surface import named
from ibidem.results.screen_lines import fit_lines, table_lines

if TYPE_CHECKING:
    from ibidem.results.limits_from_verdicts import Estimate, PairScores, VerdictTuning

_MOST_ROWS = 8
_SCORES = ("pairs", "precision", "recall", "F1")


def summary_text(tuning: VerdictTuning, width: int | None = None) -> str:
    """Return the summary; `width` is that of the screen."""
    lines: list[str] = []
    if tuning.limits:
        rows = [[named(name), f"{value:g}", _interval(*tuning.intervals[name])] for name, value in tuning.limits.items()]
        lines += [*table_lines([("limit", "value", "95 %"), *rows], width, align_left=1), ""]
    rows = [["as found", *_cells(tuning.without)]]
    rows += [["within the limits", *_cells(tuning.within)]] if tuning.limits else []
    if tuning.left_out is not None and tuning.limits:
        shown = [str(tuning.left_out[name]) for name in ("precision", "recall")]
        rows.append(["pairs left out", "", *shown, f"{tuning.left_out['f1'].value:.2f}"])
    lines += table_lines([("", *_SCORES), *rows], width, align_left=1)
    for setting in tuning.limits:
        lines += ["", *table_lines(list(_curve_rows(tuning, setting)), width)]
    return "\n".join([*lines, "", *fit_lines(remarks(tuning), width)])


def remarks(tuning: VerdictTuning) -> Iterator[str]:
    """Yield what the limits rest on, and how far they can be trusted."""
    judged = f"from {tuning.n_confirmed:,} confirmed and {tuning.n_rejected:,} rejected pairs"
    aside = [f"{n:,} {what}" for n, what in ((tuning.n_unsure, "unsure"), (tuning.n_gone, "no longer in the results")) if n]
    yield judged + (f"; {' and '.join(aside)} did not count" if aside else "")
    if not tuning.is_reliable:
        yield "these are few verdicts: take the limits as a first guess, and judge at least 20 pairs of each kind"
    if not tuning.limits:
        yield "no limit separates them: by every measure, rejected pairs score as high as confirmed ones"
    elif tuning.left_out is None:
        yield "too few verdicts to measure the limits on pairs that were left out"
    else:
        yield from _doubts(tuning, tuning.left_out)
    yield "the figures are about judged pairs; if you judged a selection, others may differ"


def _doubts(tuning: VerdictTuning, left_out: Mapping[str, Estimate]) -> Iterator[str]:
    """Yield what the limits do not reach, on the pairs they were chosen for or on others."""
    wanted, value = tuning.min_precision, left_out["f1" if tuning.min_precision is None else "precision"].value
    if wanted is None and value <= tuning.without.f1:
        yield (
            f"on pairs that were left out, the limits do not help: F1 {value:.2f} with them, {tuning.without.f1:.2f} without; "
            "judge more pairs before you use them"
        )
    elif wanted is not None and tuning.within.precision.value < wanted:
        yield f"no limits reach a precision of {wanted:g}; these come closest"
    elif wanted is not None and value < wanted:
        yield f"on pairs that were left out, the precision is {value:.2f}, not {wanted:g}: expect less than you asked for"


def _cells(scores: PairScores) -> list[str]:
    return [f"{scores.confirmed + scores.rejected:,}", str(scores.precision), str(scores.recall), f"{scores.f1:.2f}"]


def _interval(low: float, high: float) -> str:
    shown = [f"{end:g}" if end else "none" for end in (low, high)]
    return "-".join(shown) if low != high else shown[0]


def _curve_rows(tuning: VerdictTuning, setting: str) -> Iterator[tuple[str, ...]]:
    """Yield the curve of one setting: the chosen value, and a few others evenly on both sides."""
    rows = [row for row in tuning.curve.to_pylist() if row["setting"] == setting]
    chosen = next(at for at, row in enumerate(rows) if row["value"] == tuning.limits[setting])
    step = -(-len(rows) // _MOST_ROWS)
    yield (named(setting), "confirmed", "rejected", "precision", "recall", "")
    for at, row in enumerate(rows):
        if at % step == chosen % step or at in (0, len(rows) - 1):
            value = f"{row['value']:g}" if row["value"] else "none"
            figures = (f"{row['confirmed']:,}", f"{row['rejected']:,}", f"{row['precision']:.2f}", f"{row['recall']:.2f}")
            yield (value, *figures, "chosen" if at == chosen else "")
