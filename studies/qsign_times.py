"""What the paper on qSign claims about time, judged by the ways that were timed. Used by qsign.py and qsign_disk.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
from evidence import Study
from qsign_paper import PAPER_MASKS
from qsign_search import RADII, Outcome, Results, deciding, way_name

LEAST_RECALL, MOST_RECALL = 0.7, 0.9  # the claims of the abstract are about these

Outcomes = Mapping[str, Outcome]


def by_radius(outcomes: Outcomes, mask: tuple[int, int]) -> list[Outcome]:
    """Return the outcomes of one width of signatures, by radius."""
    return [outcomes[way_name(*mask, d)] for d in RADII]


def of_paper(outcomes: Outcomes) -> list[Outcome]:
    """Return the outcomes with the paper's signatures."""
    return [outcome for mask in PAPER_MASKS for outcome in by_radius(outcomes, mask)]


def fastest(outcomes: Outcomes, family: str, least_recall: float) -> Outcome:
    """Return the fastest way of a family that finds as much; the one with the lowest limit finds everything."""
    able = [one for name, one in outcomes.items() if name.split(",")[0] == family and one.overall >= least_recall]
    return min(able, key=lambda one: one.seconds)


def at_equal_recall(outcomes: Outcomes, family: str) -> list[tuple[float, Outcome]]:
    """Return how many times as fast the paper's signatures are as a family of ways that finds as much, with each of them."""
    return [(fastest(outcomes, family, one.overall).seconds / one.seconds, one) for one in of_paper(outcomes)]


def time_rows(outcomes: Outcomes) -> list[tuple[object, ...]]:
    """Return rows for `TIME_COLUMNS`."""
    rows = []
    for one in outcomes.values():
        steps = [] if one.selecting is None else [one.selecting, one.comparing or 0.0]
        cells = [f"{1e6 * taken:,.1f}" for taken in (one.seconds, *steps)]
        gain = f"{outcomes['scan'].seconds / one.seconds:,.0f}"
        rows.append((one.name, one.overall, *cells, *([""] * (3 - len(cells))), gain))
    return rows


TIME_COLUMNS = ("search", "recall", "µs per sentence", "selecting candidates", "comparing them", "times as fast as scan")


def judge_gains(study: Study, outcomes: Outcomes, figure: str, panels: str, data: str) -> None:
    """Figures 8 and 9: gains over a scan and over inverted lists. `figure` and `panels` name the part of the paper's."""
    scan, overlap, paper = outcomes["scan"], outcomes["overlap"], of_paper(outcomes)
    enough = [one for one in paper if one.overall >= LEAST_RECALL]
    most = max((scan.seconds / one.seconds for one in enough), default=0.0)
    best = min(enough, key=lambda one: one.seconds, default=None)
    told = f"{most:,.0f} times with {best.name}, recall {best.overall:.3f}" if best else "no setting finds so much"
    below = [f"{scan.seconds / one.seconds:,.0f} at {one.overall:.2f}" for one in paper if one.overall < LEAST_RECALL]
    words = f"Largest gain over a full scan ({1e3 * scan.seconds:,.1f} ms per sentence) with a recall of 70 % or more: {told} "
    words += f"(paper: 100 to 1,000 times at up to 70 %). Below 70 %: {', '.join(below) or 'no setting'}. `overlap`, which "
    words += f"misses nothing: {scan.seconds / overlap.seconds:,.0f} times."
    study.judge(f"qSign, figure {figure}: 100 to 1,000 times as fast as a scan at 70 % recall", most >= 100, words, data)

    gains = at_equal_recall(outcomes, "inverted")
    claimed = [gain for gain, one in gains if LEAST_RECALL <= one.overall <= MOST_RECALL]
    anywhere, at = max(((gain, one) for gain, one in gains), key=lambda both: both[0])
    told = f"{min(claimed):,.2f} to {max(claimed):,.2f} times" if claimed else "no setting"
    words = f"Against inverted lists with a limit that finds as much: with a recall of 70 to 90 %, {told} as fast "
    words += f"({len(claimed)} settings); at most {anywhere:,.1f} times, at {at.overall:.0%} ({at.name}). "
    words += f"Against `overlap` with such a limit: {at_most(outcomes)}."
    parts = [bool(claimed) and max(claimed) >= 10, anywhere >= 10]
    of = f"qSign, abstract and figure {figure}: 10 to 100 times as fast as inverted lists up to 90 % recall"
    study.judge(of, parts, words, data)

    slower = [one for gain, one in gains if gain <= 1]
    selects = sum((one.selecting or 0) < (fastest(outcomes, "inverted", one.overall).selecting or 0) for one in paper)
    compares = sum((one.comparing or 0) > (fastest(outcomes, "inverted", one.overall).comparing or 0) for one in paper)
    words = f"At equal recall, of {len(paper)} settings, qSign is faster in {len(paper) - len(slower)}"
    words += f" (slower from {min(one.overall for one in slower):.0%} on)" if slower else ""
    words += f" and selects candidates faster in {selects}; inverted lists compare them faster in {compares}, as in the paper. "
    words += "Lists accumulate scores (All-Pairs), and their limit is raised from .5 to 1 to reach the recall of qSign, as in "
    words += "the paper; in place of its Hybrid tree, signatures are in tables of multi-index hashing."
    parts = [not slower, selects == len(paper), compares > len(paper) / 2]
    study.judge(f"qSign, figures {figure} and {panels}: faster than inverted lists at every recall", parts, words, data)

    low, high, words = compare_widths(outcomes)
    of = f"qSign, 3.2.2 and figure {panels}: 16 bits are faster at low recall, 32 bits at high recall"
    study.judge(of, [low, high], words, data)


def at_most(outcomes: Outcomes) -> str:
    """Say how the paper's signatures compare with `overlap`."""
    gains = at_equal_recall(outcomes, "overlap")
    gain, one = max(gains, key=lambda both: both[0])
    n_faster = sum(gain > 1 for gain, _ in gains)
    return f"faster in {n_faster} of {len(gains)} settings, at most {gain:,.1f} times, at {one.overall:.0%}"


def compare_widths(outcomes: Outcomes) -> tuple[bool, bool, str]:
    """Return whether 16 bits are faster than 32 at the lowest recall that both have, and slower at the highest."""
    narrow, wide = (by_radius(outcomes, mask) for mask in PAPER_MASKS)
    recalls = max(narrow[0].overall, wide[0].overall), min(narrow[-1].overall, wide[-1].overall)
    taken = [[_at(ways, recall) for ways in (narrow, wide)] for recall in recalls]
    cells = [
        f"at {recall:.0%}, {1e6 * of[0]:,.1f} µs with 16 bits and {1e6 * of[1]:,.1f} with 32"
        for recall, of in zip(recalls, taken, strict=True)
    ]
    words = f"Between the radii, by interpolation: {'; '.join(cells)}."
    return taken[0][0] < taken[0][1], taken[1][0] > taken[1][1], words


def _at(ways: Sequence[Outcome], recall: float) -> float:
    """Return the time at a recall between those of the radii."""
    return float(np.exp(np.interp(recall, [one.overall for one in ways], np.log([one.seconds for one in ways]))))


def plot_times(study: Study, results: Results) -> None:
    """Figures 8 to 10 and 12."""
    points = [
        {"data": name, "search": way.split(",")[0], "recall": one.overall, "µs": 1e6 * one.seconds, "radius": way[-1]}
        for name, (_, outcomes) in results.items()
        for way, one in outcomes.items()
        if "θ" not in way
    ]
    chart = alt.Chart(alt.Data(values=points)).mark_line(point=True).encode(
        x=alt.X("recall:Q", scale=alt.Scale(zero=False)), order="radius:N", color=alt.Color("search:N", title=None),
        y=alt.Y("µs:Q", scale=alt.Scale(type="log"), title="µs a query sentence"),
        column=alt.Column("data:N", sort=list(results), title="sentences"),
    ).properties(width=260, height=220)  # fmt: skip
    study.plot("times", "Time per query sentence against recall, times logarithmic (figures 8 and 10)", chart)
    steps = [
        {"bits": f"{mask[0]} bits", "d": d, "step": step, "µs": 1e6 * taken}
        for mask in PAPER_MASKS
        for d, one in enumerate(by_radius(results["290 K"][1], mask))
        for step, taken in (("selecting", one.selecting or 0), ("comparing", one.comparing or 0))
    ]
    chart = alt.Chart(alt.Data(values=steps)).mark_bar().encode(
        x=alt.X("d:O", title="radius"), y=alt.Y("µs:Q", title="µs a query sentence"), color=alt.Color("step:N", title=None),
        column=alt.Column("bits:N", title=None),
    ).properties(width=180, height=180).resolve_scale(y="independent")  # fmt: skip
    study.plot("steps", "Selecting candidates and comparing them, 290 K sentences (figures 9 and 12)", chart)


def judge_times(study: Study, results: Results) -> None:
    """Figures 10 and 12."""
    times = {name: [1e6 * one.seconds for one in by_radius(every, PAPER_MASKS[1])] for name, (_, every) in results.items()}
    told = "; ".join(f"{name}: {taken[0]:,.1f} to {taken[-1]:,.1f} µs" for name, taken in times.items())
    words = (
        f"A query sentence with 32 bits, d = 0 to 5: {told} (paper: below a second among 100,000 documents, on a machine of "
    )
    words += "2008; the blogs are below)."
    rises = [all(taken[-1] > taken[0] for taken in times.values()), all(max(taken) < 1e6 for taken in times.values())]
    study.judge("qSign, figure 10 in memory: more time for more recall, below a second", rises, words, deciding(results))

    _, outcomes = results["290 K"]
    told, as_printed = "", []
    for mask in PAPER_MASKS:
        shares = [
            (one.selecting or 0) / ((one.selecting or 0) + (one.comparing or 0)) for one in by_radius(outcomes, mask)[1:3]
        ]
        told += f"{mask[0]} bits: {' and '.join(f'{share:.0%}' for share in shares)} of the time of both steps; "
        as_printed.append(all(share > 0.5 for share in shares) if mask[0] == 32 else all(share < 0.5 for share in shares))
    words = f"Selecting candidates takes, with d = 1 and 2, {told}in the paper comparing takes most with 16 bits, selecting "
    words += "with 32. Here sentences are in memory and do not change; the stream on disk is below."
    of = "qSign, figure 12 in memory: 16 bits spend time comparing, 32 bits selecting"
    study.judge(of, as_printed, words, deciding({"290 K": results["290 K"]}))
