"""Precision and recall by limit, ratio and size: figures 2 and 3 of Ye, Wen and Ma. Used by sampling.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
from evidence import Study
from sampling_inputs import COLLECTIONS

from ibidem.resemblance import SizeGroup
from ibidem.resemblance.sampling_trials import Trial

PAPER_GROUPS = (0, 500, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000)
PAPER_RATIOS = (2, 4, 8, 16)
LIMITS = ("0.5", "0.6", "0.7", "0.8", "0.85", "0.9", "0.95", "0.97", "0.99")
EVIDENT = 50  # pairs that a group must have before its precision counts
SHOWN = 20

Grid = dict[str, list[SizeGroup]]


def group_names() -> list[str]:
    """Return the names of the paper's groups of sizes."""
    ends = [*PAPER_GROUPS[1:], None]
    return [f"{low:,}-{high:,}" if high else f"{low:,} and more" for low, high in zip(PAPER_GROUPS, ends, strict=True)]


def trial(grid: Grid, limit: str, every: int, group: int) -> Trial:
    """Return what was found in one cell of the grid."""
    return next(trial for trial in grid[limit][group].trials if trial.every == every)


def together(grid: Grid, limit: str, every: int) -> tuple[float, float]:
    """Return precision and recall over all sizes."""
    trials = [trial(grid, limit, every, group) for group in range(len(PAPER_GROUPS))]
    accepted, right, true = (sum(getattr(t, what) for t in trials) for what in ("accepted", "right", "true"))
    return right / max(1e-9, accepted), right / max(1, true)


def listed(values: Sequence[float]) -> str:
    """Return figures in words."""
    return ", ".join(f"{value:.2f}" for value in values)


def show_grid(study: Study, grid: Grid) -> None:
    """Show precision and recall, and judge figures 2 and 3."""
    rows: list[tuple[Any, ...]] = []
    points: list[dict[str, Any]] = []
    for limit in LIMITS:
        for every in [t.every for t in grid[limit][0].trials[1:]]:
            trials = [trial(grid, limit, every, group) for group in range(len(PAPER_GROUPS))]
            cells = [f"{t.precision:.2f} / {t.recall:.2f}" if t.accepted >= SHOWN else "" for t in trials]
            precision, recall = together(grid, limit, every)
            rows.append((limit, f"1/{every}", *cells, f"{precision:.2f} / {recall:.2f}"))
            points += [
                {"limit": float(limit), "ratio": f"1/{every}", "size": name, "precision": t.precision, "recall": t.recall}
                for name, t in zip(group_names(), trials, strict=True)
                if t.accepted >= SHOWN
            ]
    pairs = [(f"{limit}: pairs", *(group.trials[0].true for group in groups)) for limit, groups in grid.items()]
    study.table(
        "shapes", "Precision / recall by limit, ratio and shingles in a document (figures 2 and 3)",
        ("limit", "ratio", *group_names(), "all"), rows, f"Averaged over all n samples; empty below {SHOWN} pairs found.",
    )  # fmt: skip
    study.table("pairs", "True pairs by limit and shingles in a document", ("limit", *group_names()), pairs)
    for what, ratios, figure in (("precision", ("1/4", "1/16"), 2), ("recall", ("1/16",), 3)):
        chosen = [point for point in points if point["ratio"] in ratios]
        chart = alt.Chart(alt.Data(values=chosen)).mark_line(point=True).encode(
            x=alt.X("limit:Q", scale=alt.Scale(zero=False), title="similarity limit"), y=alt.Y(f"{what}:Q"),
            color=alt.Color("size:N", sort=group_names(), title="shingles"), column=alt.Column("ratio:N", title="sampled"),
        ).properties(width=260, height=200)  # fmt: skip
        study.plot(what, f"{what.capitalize()} by limit and document size (figure {figure})", chart)
    judge_precision(study, grid)
    judge_ratios(study, grid)
    judge_recall(study, grid)


def judge_precision(study: Study, grid: Grid) -> None:
    """Figure 2: by limit and size."""

    def found(limit: str, every: int, groups: Sequence[int], least: int = EVIDENT) -> list[float]:
        trials = [trial(grid, limit, every, group) for group in groups]
        return [t.precision for t in trials if t.accepted >= least]

    n_pairs = ", ".join(f"{grid[limit][0].trials[0].true:,}" for limit in LIMITS)
    data = f"{COLLECTIONS}; true pairs below 500 shingles, by limit: {n_pairs}"
    small = {every: [trial(grid, limit, every, 0).precision for limit in LIMITS] for every in (4, 16)}
    words = f"Below 500 shingles at limits {', '.join(LIMITS)}: 1/4 {listed(small[4])}; 1/16 {listed(small[16])}. "
    words += "Precision is best in the middle: at low limits there are far more pairs just below than above."
    falls = [values == sorted(values, reverse=True) for values in small.values()]
    falls.append(all(values[-1] < min(values[:5]) for values in small.values()))
    study.judge("Sampling, figure 2: precision falls as the limit rises", falls, words, data)
    above = small[16][1:]
    words = f"1/16, below 500 shingles, limits above .5: at most {max(above):.2f}."
    study.judge(
        "Sampling, figure 2(b): never above .8 below 500 words, at 1/16 and limits above .5", max(above) < 0.8, words, data
    )
    high = [limit for limit in LIMITS if float(limit) > 0.95]
    by_group = {limit: [trial(grid, limit, 16, group) for group in range(4)] for limit in high}
    told = "; ".join(
        f"{limit}: {', '.join(f'{t.precision:.2f} ({t.accepted:,.0f} pairs)' for t in of if t.accepted >= SHOWN)}"
        for limit, of in by_group.items()
    )
    holds = [t.precision < 0.1 for of in by_group.values() for t in of if t.accepted >= SHOWN]
    words = f"1/16, by size (0-500, 500-1,000, 1,000-2,000, 2,000-3,000; fewer where too few are found): {told}."
    study.judge("Sampling, figure 2(b): below .1 above limit .95 for documents below 3,000 words", holds, words, data)
    long = {every: [p for limit in LIMITS for p in found(limit, every, range(4, 11), SHOWN)] for every in (4, 16)}
    told = "; ".join(f"1/{every} {min(values):.2f} to {max(values):.2f}" for every, values in long.items())
    words = f"From 3,000 shingles on, over all limits: {told} ({len(long[16])} groups and limits with at least {SHOWN} "
    words += "pairs at 1/16)."
    study.judge("Sampling, figure 2: high and stable for long documents", min(long[16]) >= 0.8, words, data)
    by_size = {limit: found(limit, 16, range(11)) for limit in ("0.6", "0.85", "0.9")}
    told = "; ".join(f"{limit}: {listed(values)}" for limit, values in by_size.items())
    rises = [values[0] < min(values[1:]) for values in by_size.values()]
    words = f"1/16 by size, groups with at least {EVIDENT} pairs: {told}. The smallest are always the worst."
    study.judge("Sampling, section 5.3: small documents are more sensitive than large ones", rises, words, data)


def judge_ratios(study: Study, grid: Grid) -> None:
    """The headline, Broder's ratio, and precision by ratio."""
    small, all_sizes = trial(grid, "0.85", 16, 0), together(grid, "0.85", 16)[0]
    n = sum(group.trials[0].true for group in grid["0.85"])
    data = f"{COLLECTIONS}; {n:,} true pairs at .85, {grid['0.85'][0].trials[0].true:,} of them below 500 shingles"
    words = f"{small.precision:.2f} below 500 shingles, {all_sizes:.2f} over all (paper: .57 and .70)."
    near = [abs(small.precision - 0.57) <= 0.05, abs(all_sizes - 0.70) <= 0.05]
    of = "Sampling, section 1: at 1/16 and limit .85 precision is .57 below 500 words and .70 over all"
    if all(near):
        study.verdict(of, "reproduced", words, data)
    else:
        study.judge(of, [small.precision < all_sizes, *near], words, data)
    values = {limit: trial(grid, limit, 25, 0).precision for limit in LIMITS}
    documents = grid["0.5"][0].n_documents / sum(group.n_documents for group in grid["0.5"])
    told = ", ".join(f"{limit}: {value:.2f}" for limit, value in values.items())
    words = f"1/25, below 500 shingles ({documents:.0%} of the documents), by limit: {told}."
    n_pairs = ", ".join(f"{grid[limit][0].trials[0].true:,}" for limit in LIMITS)
    study.judge(
        "Sampling, section 5.1: Broder's 1/25 has at most .55 for 68 % of the documents", max(values.values()) <= 0.55, words,
        f"{COLLECTIONS}; true pairs below 500 shingles, by limit: {n_pairs}",
    )  # fmt: skip
    by_ratio = {
        limit: [trial(grid, limit, every, 0).precision for every in (2, 4, 8, 16, 25)] for limit in ("0.6", "0.85", "0.95")
    }
    told = "; ".join(f"{limit}: {listed(some)}" for limit, some in by_ratio.items())
    falls = [some == sorted(some, reverse=True) for some in by_ratio.values()]
    words = f"Below 500 shingles at 1/2, 1/4, 1/8, 1/16, 1/25: {told}."
    study.judge("Sampling, section 5.3: precision drops with the ratio, most for small documents", falls, words, data)


def judge_recall(study: Study, grid: Grid) -> None:
    """Figure 3."""
    cells = [
        (trial(grid, limit, 16, group).recall, limit, group_names()[group])
        for limit in LIMITS
        for group in range(len(PAPER_GROUPS))
        if trial(grid, limit, 16, group).true >= SHOWN
    ]
    lowest, limit, size = min(cells)
    overall = [together(grid, each, 16)[1] for each in LIMITS]
    data = f"{COLLECTIONS}; {len(cells)} groups and limits with at least {SHOWN} true pairs"
    words = f"At 1/16 the lowest recall of a group is {lowest:.2f} ({size}, limit {limit}; paper: above .6); over all sizes "
    words += f"{listed(overall)} at limits {', '.join(LIMITS)}."
    study.judge("Sampling, figure 3: recall stays above .6 at 1/16", lowest > 0.6, words, data)
    below = sum(1 - recall > 0.05 for recall, _, _ in cells) / len(cells)
    half = [together(grid, each, 2)[1] for each in LIMITS]
    words = f"Over all sizes 1/2 loses {1 - max(half):.0%} to {1 - min(half):.0%} of the true pairs, 1/16 "
    words += f"{1 - max(overall):.0%} to {1 - min(overall):.0%}; at 1/16, {below:.0%} of the groups lose more than 5 %. "
    words += "A sample errs both ways."
    study.judge("Sampling, section 5.2: sampling only makes false positives", min(half) > 0.99, words, data)
